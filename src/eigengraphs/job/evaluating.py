"""How well a finished fit, made anew in every fold, predicts a column of its graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eigengraphs.errors import InputError
from eigengraphs.inference.evaluating import evaluate
from eigengraphs.inference.evaluation import CHANCE, Evaluation
from eigengraphs.inference.methods import MethodsLike, quiet
from eigengraphs.inference.rules import RULES
from eigengraphs.job.comparing import file_name
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.job.finished import FinishedFit
from eigengraphs.job.prediction import tells_quantity
from eigengraphs.report.findings import Finding, Intervals

__all__ = ["HoldingOut", "evaluate_fit", "people_for"]


@dataclass(frozen=True)
class HoldingOut:
    """How graphs are held out; as the options of the command line."""

    cv: int | str = 5
    repeats: int = 1
    groups: str | None = None  # a column; None for the participants of the table
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
    groups = None if how.groups is None else fit.values(how.groups, "--groups")
    folds = None if how.folds is None else fit.values(how.folds, "--folds")
    settings = quiet(fit.embedding)
    if components is not None:
        settings = settings.set_params(n_components=components)
    data = fit.inputs(source, listen)
    if tuple(data.graphs.graph_names) != tuple(fit.summary.graph_names):
        raise InputError(
            "the graphs have other names than those of the fit; fit them, and ask of that"
        )
    if groups is None:
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
    beside = f", adjusted for {', '.join(how.covariates)}" if how.covariates else ""
    finding = Finding(
        key=" ".join(["evaluate", *named]),
        title=f"Prediction of {target}{beside}",
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
    people: Sequence[str] | None, y: Sequence[Any], folds: Sequence[Any] | None
) -> Sequence[str] | None:
    """Return whose graphs stay together where no groups were named.

    Folds by a column are as they are, and people count in intervals if they are what is told apart.
    """
    if people is None or len(set(people)) == len(people):
        return None
    pairs = {(value, who) for value, who in zip(y, people, strict=True) if value is not None}
    told_apart = len(pairs) == len({value for value, _ in pairs})
    return people if folds is None or told_apart else None
