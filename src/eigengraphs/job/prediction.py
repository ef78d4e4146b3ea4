"""How well a label is predicted from loadings, from principal components, and by chance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigengraphs.baselines import VectorizedPCA
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import DegenerateWarning
from eigengraphs.graphs import GraphStack
from eigengraphs.report.columns import make_column, says_number
from eigengraphs.report.parts import Column, MethodScore, Prediction
from eigengraphs.report.words import short

__all__ = ["predict_label", "tells_quantity"]

FOLDS = 5
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def predict_label(
    embedding: JointEmbedding,
    graphs: GraphStack,
    values: Sequence[Any],
    label: str,
    participants: Sequence[str] | None = None,
    on_fold: Callable[[int, int], None] | None = None,
) -> Prediction | str:
    """Predict a label of held-out graphs; all is learnt from the others, the embedding too.

    Parameters
    ----------
    embedding
        Settings of the embedding; the object itself is not changed.
    graphs
        The graphs, before any centring.
    values
        Label of each graph; None where it is not known.
    label
        Its name.
    participants
        Graphs of one participant are never on both sides, unless the label is the participant.
    on_fold
        Told after each fold: folds done, and all.

    Returns
    -------
    Prediction or str
        The reason in words if it cannot be done.
    """
    column = make_column(label, values)
    known = [i for i, value in enumerate(column.values) if value is not None]
    why_not = _refusal(column, known)
    if why_not:
        return why_not
    is_quantity = tells_quantity(column)
    told = [column.values[i] if is_quantity else column.text(i) for i in known]
    y = np.array(told, dtype=np.float64 if is_quantity else np.str_)
    stack = graphs[known]
    groups = np.array(participants if participants is not None else graphs.graph_names)[known]
    splits = _splits(y, groups, is_quantity)
    if isinstance(splits, str):
        return splits
    d = embedding.n_components_
    if d > min(len(train) for train, _ in splits):
        return f"there are fewer graphs to learn from than the {d} components"
    rule: Any = (
        RidgeCV(np.logspace(-3, 3, 13)) if is_quantity else LogisticRegression(max_iter=2000)
    )
    n = graphs.n_vertices
    ways: dict[str, tuple[Any, int]] = {
        "joint embedding": (_quiet(embedding, d), d * (n + len(y))),
        "PCA": (VectorizedPCA(d), d * (n * (n + 1) // 2 + len(y))),
    }
    dummy = DummyRegressor() if is_quantity else DummyClassifier()
    scores: dict[str, list[float]] = {name: [] for name in [*ways, "chance"]}
    for done, (train, test) in enumerate(splits, start=1):
        for name, (features, _) in ways.items():
            model = make_pipeline(clone(features), StandardScaler(), clone(rule))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", DegenerateWarning)
                model.fit(stack[train], y[train])
            scores[name].append(_score(y, test, model.predict(stack[test])))
        always = dummy.fit(np.zeros((len(train), 1)), y[train])
        scores["chance"].append(_score(y, test, always.predict(np.zeros((len(test), 1)))))
        if on_fold is not None:
            on_fold(done, len(splits))
    sizes = [len(test) for _, test in splits]
    what = "ridge regression" if is_quantity else "logistic regression"
    measure = "explained variance" if is_quantity else "accuracy"
    apart = ""
    if len(np.unique(groups)) < len(y):
        together = not any(set(groups[train]) & set(groups[test]) for train, test in splits)
        apart = (
            " Graphs of one participant stay together."
            if together
            else " Each class is one participant, whose graphs are shared out among the folds."
        )
    if embedding.n_components == "auto":
        apart += " The number of components is the one that was chosen from all graphs."
    return Prediction(
        label,
        tuple(_method(name, scores[name], sizes, ways[name][1]) for name in ways),
        chance=float(np.average(scores["chance"], weights=sizes)),
        protocol=f"{len(splits)}-fold cross-validation, {what} on standardised features, "
        f"{measure} on the graphs left out; embedding and principal components are found anew "
        f"without them.{apart}",
        classes=() if is_quantity else tuple(np.unique(y).tolist()),
        kind="quantity" if is_quantity else "classes",
        n_graphs=len(y),
        chance_folds=tuple(scores["chance"]),
    )


def tells_quantity(column: Column) -> bool:
    """Tell whether a label is a quantity; numbers of two values (0 and 1) are classes."""
    known = {value for value in column.values if value is not None}
    return column.kind == "number" and len(known) > 2


def _refusal(column: Column, known: Sequence[int]) -> str:
    """Say why a column can be no label; empty if it can."""
    if len(known) == 0:
        return "no graph has a value"
    if len({column.values[i] for i in known}) == 1:
        return f"all graphs have the same value, {short(column.text(known[0]))!r}"
    if column.kind == "number":
        return ""
    distinct = list(dict.fromkeys(column.text(i) for i in known))
    numbers = [text for text in distinct if says_number(text)]
    words = [text for text in distinct if not says_number(text)]
    if words and len(numbers) > len(words) and len(numbers) > FOLDS:
        some = ", ".join(repr(short(word)) for word in words[:3])
        return (
            f"it is neither a quantity nor classes: {len(numbers)} of its values are numbers, and "
            f"{len(words)} {'is' if len(words) == 1 else 'are'} not ({some}). Write n/a where a "
            "value is not known"
        )
    if len(distinct) == len(known) and len(known) > 2:
        return (
            f"each of the {len(known)} graphs has a value of its own, as in a column of names, and "
            "some graphs tell nothing about the others"
        )
    return ""


def _score(y: NDArray[Any], test: NDArray[np.intp], guesses: NDArray[Any]) -> float:
    """Return the share that is right, or explained.

    Squared errors are compared with the variance over all graphs, not over the fold: a fold of
    one participant may have none. The mean over folds, by their sizes, is that of all graphs.
    """
    if y.dtype.kind != "f":
        return float(np.mean(guesses == y[test]))
    return float(1.0 - np.mean((guesses - y[test]) ** 2) / np.var(y))


def _method(
    name: str, folds: Sequence[float], sizes: Sequence[int], n_parameters: int
) -> MethodScore:
    # As if folds were independent, which they nearly are.
    se = float(np.std(folds, ddof=1) / np.sqrt(len(folds)))
    mean = float(np.average(folds, weights=sizes))
    return MethodScore(name, mean, se, n_parameters, tuple(folds))


def _splits(y: NDArray[Any], groups: NDArray[Any], is_quantity: bool) -> list[Split] | str:
    """Return the folds, or why there can be none."""
    if is_quantity:
        folds = min(FOLDS, len(np.unique(groups)))
        if folds < 2:
            return "there are too few participants"
        return list(GroupKFold(folds, shuffle=True, random_state=0).split(y, y, groups))
    classes = np.unique(y)
    # Where each class is one participant, the label is the participant: sessions must be split.
    per_class = [len(np.unique(groups[y == name])) for name in classes]
    if max(per_class) == 1:
        groups = np.arange(len(y)).astype(str)
        per_class = [int((y == name).sum()) for name in classes]
    folds = min(FOLDS, *per_class)
    if folds < 2:
        rare = str(classes[int(np.argmin(per_class))])
        return (
            f"there is but one graph or participant with the value {short(rare)!r}, so that "
            f"it cannot be both learnt and held out{_meant(rare, classes)}"
        )
    split = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
    return list(split.split(np.zeros(len(y)), y, groups))


def _meant(rare: str, classes: NDArray[Any]) -> str:
    """Return a question, where a value may be another with a mistake in it."""
    others = {str(name).casefold(): str(name) for name in classes if str(name) != rare}
    close = get_close_matches(rare.casefold(), list(others), 1, cutoff=0.8)
    return f"; is {short(others[close[0]])!r} meant?" if close else ""


def _quiet(embedding: JointEmbedding, d: int) -> JointEmbedding:
    """Return the settings of an embedding, with the d that was chosen and without progress."""
    made: Any = clone(embedding)
    made.set_params(n_components=d, verbose=0, callback=None)
    assert isinstance(made, JointEmbedding)
    return made
