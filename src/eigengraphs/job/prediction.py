"""How well a label is predicted from loadings, from principal components, and by chance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

__all__ = ["MethodScore", "Prediction", "predict_label"]

FOLDS = 5
#: A column of numbers with more values than this is a quantity, not a class.
MOST_CLASSES = 10


@dataclass(frozen=True)
class MethodScore:
    """One way to predict: the score of every fold, and its number of parameters."""

    name: str
    scores: tuple[float, ...]
    n_parameters: int

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """Of the mean, as if folds were independent, which they nearly are."""
        return float(np.std(self.scores, ddof=1) / np.sqrt(len(self.scores)))


@dataclass(frozen=True)
class Prediction:
    """Scores of all ways; accuracy for classes, explained variance for quantities."""

    label: str
    kind: str  # "classes" or "quantity"
    classes: tuple[str, ...]
    methods: tuple[MethodScore, ...]
    n_graphs: int
    protocol: str


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
    known = np.array([value is not None and value == value for value in values])
    y = np.array([value for value, is_known in zip(values, known, strict=True) if is_known])
    stack = graphs[np.flatnonzero(known)]
    groups = np.array(participants if participants is not None else graphs.graph_names)[known]
    is_quantity = y.dtype.kind in "iuf" and len(np.unique(y)) > MOST_CLASSES
    if not is_quantity:
        y = y.astype(str)
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
            scores[name].append(float(model.score(stack[test], y[test])))
        always = dummy.fit(np.zeros((len(train), 1)), y[train])
        scores["chance"].append(float(always.score(np.zeros((len(test), 1)), y[test])))
        if on_fold is not None:
            on_fold(done, len(splits))
    methods = [MethodScore(name, tuple(scores[name]), ways[name][1]) for name in ways]
    methods.append(MethodScore("chance", tuple(scores["chance"]), 0))
    what = "ridge regression" if is_quantity else "logistic regression"
    measure = "explained variance" if is_quantity else "accuracy"
    apart = "" if len(np.unique(groups)) == len(y) else " Graphs of one participant stay together."
    return Prediction(
        label,
        "quantity" if is_quantity else "classes",
        () if is_quantity else tuple(np.unique(y).tolist()),
        tuple(methods),
        len(y),
        f"{len(splits)}-fold cross-validation, {what} on standardised features, {measure} on the "
        f"graphs left out; embedding and principal components are found anew without them.{apart}",
    )


def _splits(
    y: NDArray[Any], groups: NDArray[Any], is_quantity: bool
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]] | str:
    """Return the folds, or why there can be none."""
    if is_quantity:
        folds = min(FOLDS, len(np.unique(groups)))
        if folds < 2:
            return "there are too few participants"
        return list(GroupKFold(folds, shuffle=True, random_state=0).split(y, y, groups))
    classes = np.unique(y)
    if len(classes) < 2:
        return "all graphs have the same value"
    # Where each class is one participant, the label is the participant: sessions must be split.
    per_class = [len(np.unique(groups[y == name])) for name in classes]
    if max(per_class) == 1:
        groups = np.arange(len(y)).astype(str)
        per_class = [int((y == name).sum()) for name in classes]
    folds = min(FOLDS, *per_class)
    if folds < 2:
        rare = classes[int(np.argmin(per_class))]
        return f"there is but one graph or participant with the value {str(rare)!r}"
    split = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
    return list(split.split(np.zeros(len(y)), y, groups))


def _quiet(embedding: JointEmbedding, d: int) -> JointEmbedding:
    """Return the settings of an embedding, with the d that was chosen and without progress."""
    made: Any = clone(embedding)
    made.set_params(n_components=d, verbose=0, callback=None)
    assert isinstance(made, JointEmbedding)
    return made
