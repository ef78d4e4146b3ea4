"""How well a finished fit, made anew in every fold, predicts a column of its graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eigengraphs.errors import InputError
from eigengraphs.inference.label_prediction import CHANCE, Evaluation, evaluate
from eigengraphs.inference.prediction_pipelines import RULES, MethodsLike, quiet
from eigengraphs.job.comparing import file_name
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.job.finished import FinishedFit
from eigengraphs.job.people import NOBODY
from eigengraphs.job.prediction import tells_quantity
from eigengraphs.report.records import Finding, Intervals
from eigengraphs.system.labels import are_quantity

__all__ = ["HoldingOut", "evaluate_fit", "people_for"]


@dataclass(frozen=True)
class HoldingOut:
    """How graphs are held out; as the options of the command line."""

    cv: int | str = 5
    repeats: int = 1
    groups: str | None = None  # a column; None for the participants, "none" for no groups
    folds: str | None = None  # a column
    learn_from: str = "others"
    seed: int = 0
    n_jobs: int = 1
    covariates: Sequence[str] = ()  # columns whose effects are taken off, learnt in each fold
    rules: Sequence[str] = field(default=RULES)

    def options(self) -> dict[str, Any]:
        """Return them as arguments of `evaluate`, without columns."""
        return {
            "cv": self.cv, "repeats": self.repeats, "learn_from": self.learn_from,
            "seed": self.seed, "n_jobs": self.n_jobs, "rules": tuple(self.rules),
        }  # fmt: skip


def evaluate_fit(
    fit: FinishedFit,
    target: str,
    how: HoldingOut | None = None,
    *,
    methods: MethodsLike = "all",
    components: int | str | None = None,
    source: Path | None = None,
    listen: Listener = silent,
) -> tuple[Evaluation, list[Path]]:
    """Predict a column of held-out graphs with the settings of a fit; the report takes it up.

    Parameters
    ----------
    fit
        What ``eigengraphs fit`` left; of it, only settings and columns are used.
    target
        Name of the column.
    how
        How graphs are held out.
    methods
        What joint embedding is compared with.
    components
        Another number of components than the fit was asked for. "auto" is chosen in each fold.
    source
        Where the graphs are now, if they were moved.

    Returns
    -------
    Evaluation
    list of Path
        What was written.
    """
    how = how or HoldingOut()
    column = fit.column(target, "--target")
    y = fit.values(target, "--target")
    beside_target = [name for name in how.covariates
                     if name == target or how.covariates.count(name) > 1]  # fmt: skip
    if beside_target:
        raise InputError(f"{beside_target[0]!r} is named twice, by --target or --covariates")
    groups = None if how.groups in (None, NOBODY) else fit.values(str(how.groups), "--groups")
    folds = None if how.folds is None else fit.values(how.folds, "--folds")
    settings = quiet(fit.embedding)
    if components is not None:
        settings = settings.set_params(n_components=components)
    data = fit.inputs(source, listen)
    if tuple(data.graphs.graph_names) != tuple(fit.summary.graph_names):
        raise InputError(
            "the graphs have other names than those of the fit; fit them, and ask of that"
        )
    if how.groups is None:
        groups = people_for(data.participants, y, folds)
    listen(Event("predict", f"predicting {target} of graphs that are held out"))
    found = evaluate(
        data.graphs, y, embedding=settings, methods=methods, groups=groups, folds=folds,
        covariates={name: fit.values(name, "--covariates") for name in how.covariates},
        task="quantity" if tells_quantity(column) else "classes",
        on_fold=lambda done, total: listen(
            Event("predict", f"fold {done} of {total}", done, total)
        ),
        **how.options(),
    )  # fmt: skip
    where = found.header.index(found.measure.replace(" ", "_"))
    named = [target, *(["by", how.folds] if how.folds else []), *how.covariates]
    cut = f", folds by {how.folds}" if how.folds else ""
    beside = f", adjusted for {', '.join(how.covariates)}" if how.covariates else ""
    finding = Finding(
        key=" ".join(["evaluate", *named]),
        title=f"Prediction of {target}{beside}{cut}",
        words=found.words(),
        header=found.header,
        rows=found.rows(),
        intervals=Intervals(
            where, where + 1, where + 2, found.score(CHANCE).score, f"{found.measure} (held out)"
        ),
        notes=(
            f"{found.protocol[0].upper()}{found.protocol[1:]}",
            f"{found.n_graphs} graphs"
            + (f" of {found.n_units} groups." if found.n_units < found.n_graphs else "."),
            *(f"Said on the way: {text}" for text in found.warnings[:5]),
        ),
    )
    name = "-".join(["evaluate", *named])
    return found, fit.add(finding, f"{file_name(name)}.tsv")


def people_for(
    people: Sequence[Any] | None, y: Sequence[Any], folds: Sequence[Any] | None
) -> Sequence[Any] | None:
    """Return whose graphs stay together where no groups were named.

    Folds by a column are as they are, and people count in intervals if folds keep them together,
    or if people are what is told apart. What is to be predicted may vary within people (rest and
    task): then they may be in several folds.

    Raises
    ------
    InputError
        If a person with the same value in all graphs is in several folds: who is recognised would
        be what is learnt.
    """
    if people is None:
        return None
    people = [("alone", i) if who is None else who for i, who in enumerate(people)]
    if len(set(people)) == len(people):
        return None
    rows = [(who, value, fold) for who, value, fold
            in zip(people, y, folds or people, strict=True) if value is not None]  # fmt: skip
    pairs = {(who, value) for who, value, _ in rows}
    told_apart = all(len({pair[side] for pair in pairs}) == len(pairs) for side in (0, 1))
    if folds is None or told_apart:
        return people
    places, values = defaultdict(set), defaultdict(set)
    for who, value, fold in rows:
        places[who].add(fold)
        values[who].add(value)
    torn = [who for who in places if len(places[who]) > 1]
    if not torn:
        return people
    numbers = [value for _, value in pairs if isinstance(value, float | int)]
    same = torn if are_quantity(numbers) else [who for who in torn if len(values[who]) == 1]
    if not same:
        return None
    raise InputError(
        f"graphs of one participant ({same[0]} and {len(same) - 1} others) are in several folds of "
        "--folds, so that it is enough to recognise people to predict what is known of them; name "
        "folds that keep people together, or leave --folds out (--groups none allows it)"
    )
