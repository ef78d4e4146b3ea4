"""How well a label is predicted from loadings, from principal components, and by chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference.label_prediction import CHANCE, PipelineScore, evaluate, make_folds
from eigengraphs.inference.prediction_pipelines import Split, quiet
from eigengraphs.report.columns import make_column, says_number
from eigengraphs.report.records import Column, MethodScore, Prediction
from eigengraphs.stack import GraphStack
from eigengraphs.system.labels import shortened

__all__ = ["predict_label", "tells_quantity"]

FOLDS = 5


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
    d = embedding.n_components_
    splits = _splits(y, groups, is_quantity)
    if isinstance(splits, str):
        return splits
    if d > min(len(train) for train, _ in splits):
        return f"there are fewer graphs to learn from than the {d} components"
    fixed = quiet(embedding).set_params(n_components=d)
    found = evaluate(
        stack,
        y,
        embedding=fixed,
        methods=("PCA",),
        rules="linear",
        task="quantity" if is_quantity else "classes",
        cv=FOLDS,
        groups=groups,
        on_fold=on_fold,
    )
    chance = found.score(CHANCE)
    what = "ridge regression" if is_quantity else "logistic regression"
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
        tuple(_method(score) for score in found.scores[:-1]),
        chance=chance.score,
        protocol=f"{len(splits)}-fold cross-validation, {what} on standardised features, "
        f"{found.measure} on the graphs left out; embedding and principal components are found "
        f"anew without them.{apart}",
        classes=found.classes,
        kind="quantity" if is_quantity else "classes",
        n_graphs=len(y),
        chance_folds=chance.folds,
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
        return f"all graphs have the same value, {shortened(column.text(known[0]))!r}"
    if column.kind == "number":
        return ""
    distinct = list(dict.fromkeys(column.text(i) for i in known))
    numbers = [text for text in distinct if says_number(text)]
    words = [text for text in distinct if not says_number(text)]
    if words and len(numbers) > len(words) and len(numbers) > FOLDS:
        some = ", ".join(repr(shortened(word)) for word in words[:3])
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


def _method(score: PipelineScore) -> MethodScore:
    # As if folds were independent, which they nearly are.
    se = float(np.std(score.folds, ddof=1) / np.sqrt(len(score.folds)))
    return MethodScore(score.method, score.score, se, score.n_parameters, score.folds)


def _splits(y: NDArray[Any], groups: NDArray[Any], is_quantity: bool) -> list[Split] | str:
    """Return the folds, or why there can be none."""
    try:
        target = y.astype(np.float64 if is_quantity else np.str_)
        return list(make_folds(target, cv=FOLDS, groups=groups.tolist()).splits)
    except InputError as error:
        return str(error)
