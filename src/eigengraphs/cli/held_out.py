"""Prediction on held-out graphs, for ``fit``, ``evaluate`` and ``contest``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigengraphs import inference
from eigengraphs.cli.command_options import NOBODY, Harmonizing, HoldingOut
from eigengraphs.cli.input_files import Inputs, one_to_one
from eigengraphs.cli.several_sites import harmonizing, names_in
from eigengraphs.cli.terminal import Listener, counting
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference.prediction.folds import make_folds
from eigengraphs.inference.prediction.label_prediction import CHANCE
from eigengraphs.inference.prediction.prediction_pipelines import quiet
from eigengraphs.report.records import Column, MethodScore, Prediction, make_column, says_number
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.system.labels import are_quantity, count_of, shortened

FOLDS = 5  # of the prediction in a fit


def holding_out(
    how: HoldingOut,
    methods: str,
    column: Column,
    values: Callable[[str, str], Sequence[Any]],
    participants: Sequence[Any] | None,
    listen: Listener,
) -> dict[str, Any]:
    """Return the arguments that `inference.evaluate` and `inference.contest` share.

    Parameters
    ----------
    how, methods
        The options.
    column
        The column to predict.
    values
        Returns the values of a column for an option.
    participants
        The participant of each graph; their graphs stay together if no groups are named.
    listen
        Called after each fold.
    """
    folds = None if how.folds is None else values(how.folds, "--folds")
    if how.groups is None:
        groups = participants_for(participants, column.known, folds)
    else:
        groups = None if how.groups == NOBODY else values(how.groups, "--groups")
    compared: Any = names_in(methods)
    if compared in (["all"], ["none"]):
        compared = "all" if compared == ["all"] else ()
    return {
        "methods": compared,
        "groups": groups,
        "folds": folds,
        "task": column.task,
        "cv": int(how.cv) if how.cv.isdecimal() else how.cv,
        "repeats": how.repeats,
        "n_jobs": how.jobs,
        "on_fold": counting(listen, "predict", "fold"),
    }


def participants_for(
    participants: Sequence[Any] | None, y: Sequence[Any], folds: Sequence[Any] | None
) -> Sequence[Any] | None:
    """Return the participants whose graphs stay together if no groups were named.

    Folds by a column are used unchanged. Participants count in intervals if the folds keep them
    together, or if participants are predicted. The target may vary within participants
    (rest and task): then they may be in several folds.

    Raises
    ------
    InputError
        If a participant with the same value in all graphs is in several folds: recognizing the
        participant would be enough to predict it.
    """
    if participants is None:
        return None
    people = [("alone", i) if who is None else who for i, who in enumerate(participants)]
    if len(set(people)) == len(people):
        return None
    if folds is None or one_to_one(people, y):
        return people
    places, values = defaultdict(set), defaultdict(set)
    for who, value, fold in zip(people, y, folds, strict=True):
        if value is not None:
            places[who].add(fold)
            values[who].add(value)
    torn = [who for who in places if len(places[who]) > 1]
    if not torn:
        return people
    numbers = [x for some in values.values() for x in some if isinstance(x, float | int)]
    same = torn if are_quantity(numbers) else [who for who in torn if len(values[who]) == 1]
    if not same:
        return None
    others = f" and {count_of(len(same) - 1, 'other')}" if len(same) > 1 else ""
    raise InputError(
        f"graphs of one participant ({same[0]}{others}) are in several folds of --folds, so that "
        "recognizing participants would be enough to predict what is known of them; name folds "
        "that keep participants together, or leave --folds out (--groups none allows it)"
    )


def predict_label(
    embedding: JointEmbedding,
    data: Inputs,
    label: str,
    listen: Listener,
    sites: Harmonizing = Harmonizing(),  # noqa: B008
) -> Prediction | str:
    """Predict a label of held-out graphs; everything is learned from the others.

    Parameters
    ----------
    embedding
        Settings of the embedding; the object itself is not changed.
    data
        The graphs, before any centering, and their columns. Graphs of one participant are never on
        both sides, unless the label is the participant.
    label
        Name of a column.
    listen
        Called after each fold.
    sites
        Over which sites features are harmonized in each fold, if they are.

    Returns
    -------
    Prediction or str
        The reason, if prediction is not possible.
    """
    if embedding.directed:
        return "graphs are directed, and labels are predicted for undirected graphs only"
    if data.graphs.has_missing:
        return "graphs have missing entries, and labels are predicted for complete graphs only"
    if isinstance(data.graphs, BlockedStack):
        return (
            "this is done only for graphs in memory, since every fold is a fit of its own; "
            "loadings.tsv has the label beside the loadings"
        )
    column = make_column(label, data.column(label))
    known = [i for i, value in enumerate(column.values) if value is not None]
    if why_not := _no_label(column, known):
        return why_not
    quantity, d = column.task == "quantity", embedding.n_components_
    told = [column.values[i] if quantity else column.text(i) for i in known]
    y = np.array(told, dtype=np.float64 if quantity else np.str_)
    groups = np.array(data.participants or data.graphs.graph_names)[known]
    try:
        splits = make_folds(y, cv=FOLDS, groups=groups.tolist()).splits
    except InputError as error:
        return str(error)
    if d > min(len(train) for train, _ in splits):
        return f"there are fewer graphs to learn from than the {d} components"
    listen("predict", f"predicting {label} of held-out graphs")

    def values(name: str, option: str) -> Sequence[Any]:
        every = data.values(name, option)
        return [every[i] for i in known]

    try:
        found = inference.evaluate(
            data.graphs[known], y, embedding=quiet(embedding).set_params(n_components=d),
            methods=("PCA",), rules="linear", task=column.task, cv=FOLDS, groups=groups,
            on_fold=counting(listen, "predict", "fold"), **harmonizing(sites, values),
        )  # fmt: skip
    except InputError as error:  # a site that is rare is not in every fold
        if sites.harmonize is None:
            raise
        return str(error)
    notes = f" Features were harmonized over {sites.harmonize}." if sites.harmonize else ""
    if len(np.unique(groups)) < len(y):
        torn = any(set(groups[train]) & set(groups[test]) for train, test in splits)
        notes += (
            " Each class is one participant, whose graphs are in different folds."
            if torn
            else " Graphs of one participant stay together."
        )
    if embedding.n_components == "auto":
        notes += " The number of components is the one chosen from all graphs."
    chance = found.score(CHANCE)
    return Prediction(
        label,
        tuple(
            # The standard error is that of independent folds, which they nearly are.
            MethodScore(way.method, way.score,
                        float(np.std(way.folds, ddof=1) / np.sqrt(len(way.folds))),
                        way.n_parameters, way.folds,
                        tuple((name, value) for name, value in way.measures.items()
                              if name != found.measure))
            for way in found.scores[:-1]
        ),
        chance=chance.score,
        protocol=f"{len(splits)}-fold cross-validation, "
        f"{'ridge' if quantity else 'logistic'} regression on standardized features, "
        f"{found.measure} on the held-out graphs; embedding and principal components are computed "
        f"without them.{notes}",
        classes=found.classes,
        kind=column.task,
        n_graphs=len(y),
        chance_folds=chance.folds,
    )  # fmt: skip


def _no_label(column: Column, known: Sequence[int]) -> str:
    """Say why a column cannot be predicted; empty if it can."""
    if len(known) == 0:
        return "no graph has a value"
    if len({column.values[i] for i in known}) == 1:
        return f"all graphs have the same value, {shortened(column.text(known[0]))!r}"
    if column.kind == "number":
        return ""
    distinct = list(dict.fromkeys(column.text(i) for i in known))
    words = [text for text in distinct if not says_number(text)]
    numbers = len(distinct) - len(words)
    if words and numbers > max(len(words), FOLDS):
        some = ", ".join(repr(shortened(word)) for word in words[:3])
        return (
            f"it is neither a quantity nor classes: {numbers} of its values are numbers, and "
            f"{len(words)} {'is' if len(words) == 1 else 'are'} not ({some}). Write n/a where a "
            "value is not known"
        )
    if len(distinct) == len(known) and len(known) > 2:
        return (
            f"each of the {len(known)} graphs has a value of its own, as in a column of names, so "
            "that nothing can be learned from other graphs"
        )
    return ""
