"""Questions to a finished fit: which groups differ, when loadings change, which graphs are odd."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.errors import InputError, ManyAnomaliesWarning
from eigengraphs.inference.changes_and_anomalies import Anomalies, Changes, anomalies, change_points
from eigengraphs.inference.group_differences import Comparison, compare
from eigengraphs.job.finished import FinishedFit
from eigengraphs.job.people import NOBODY
from eigengraphs.report.columns import time_line
from eigengraphs.report.records import Finding, Intervals, TimeLine

__all__ = ["Changed", "changes_in", "compare_groups", "file_name"]

_REFERENCE = 0.0  # no difference, for every kind of effect


def compare_groups(
    fit: FinishedFit,
    group: str,
    *,
    covariates: Sequence[str] = (),
    subject: str | None = None,
    n_permutations: int = 9999,
    seed: int = 0,
) -> tuple[Comparison, list[Path]]:
    """Compare loadings by a column of the graphs; the answer goes into the report.

    Parameters
    ----------
    fit
        What ``eigengraphs fit`` left.
    group, covariates
        Names of columns.
    subject
        Name of the column that says whose each graph is. By default that of the participants, if
        some of them have several graphs; "none" takes every graph as somebody of its own.
    n_permutations, seed
        Permutations that are drawn where all are too many.

    Returns
    -------
    Comparison
    list of Path
        What was written.
    """
    twice = [name for name in covariates if name == group or covariates.count(name) > 1]
    if twice:
        raise InputError(f"{twice[0]!r} is named twice, by --group or --covariates")
    summary = fit.summary
    asked, subject = subject, _whose(fit, group, subject)
    found = compare(
        summary.loadings,
        fit.values(group, "--group"),
        covariates={name: fit.values(name, "--covariates") for name in covariates},
        subjects=None if subject is None else fit.values(subject, "--subject"),
        components=_names(fit),
        leave_out=_degenerate(fit),
        name=group,
        n_permutations=n_permutations,
        random_state=seed,
    )
    if subject is not None and asked is None:
        note = f"several graphs of one {subject} are taken together"
        found = replace(found, notes=(note, *found.notes))
    by = f", adjusted for {', '.join(covariates)}" if covariates else ""
    within = f", graphs of one {subject} together" if subject else ""
    notes = [
        "A larger loading on a component means more of its pattern in the graph; what the patterns "
        "are is told under the components.",
        f"Intervals cover {found.confidence:.0%}. p (FDR) holds the share of false discoveries "
        "among components, p (family) the chance of any.",
        *(f"{note[:1].upper()}{note[1:]}." for note in found.notes),
        found.methods,
    ]
    if summary.label is not None and _class_fit(fit):
        notes.insert(0, _CLASSES)
    # What is not the default is another question, and has a table of its own.
    unusual = subject != _whose(fit, group, None)
    named = [group, *covariates, *(["of", subject or NOBODY] if unusual else [])]
    finding = Finding(
        key=" ".join(["compare", *named]),
        title=f"Loadings by {group}{by}{within}",
        words=found.words,
        header=found.header,
        rows=tuple(tuple(_cell(cell) for cell in row) for row in found.rows),
        intervals=Intervals(1, 2, 3, _REFERENCE, found.effect_name),
        notes=tuple(notes),
        column=group,
    )
    name = "-".join(["compare", *named])
    return found, fit.add(finding, f"{file_name(name)}.tsv")


@dataclass(frozen=True, eq=False)
class Changed:
    """Change points and anomalies of a fit, and the order in which they were looked for."""

    changes: Changes
    anomalies: Anomalies
    """In the order of time."""
    line: TimeLine
    names: tuple[str, ...]
    """Of the graphs, in the order of time."""

    @property
    def words(self) -> tuple[str, ...]:
        """The answer in sentences: graphs by name, with the value that put them in order."""
        named = self.names
        if self.line.by:
            pairs = zip(self.names, self.line.labels, strict=True)
            named = tuple(f"{name} ({self.line.by} {label})" for name, label in pairs)
        return (*self.changes.words(named), *self.anomalies.words(named))


def changes_in(
    fit: FinishedFit,
    order: str | None = None,
    *,
    smallest: int = 3,
    n_permutations: int = 999,
    seed: int = 0,
) -> tuple[Changed, list[Path]]:
    """Look for changes of level and odd graphs in time; the answer goes into the report.

    Parameters
    ----------
    fit
        What ``eigengraphs fit`` left.
    order
        The column that says when; "input" for the order of the input. By default the order of the
        report's time line, or else that of the input.
    smallest
        Graphs between two changes, at least.
    n_permutations, seed
        Of the test.
    """
    summary = fit.summary
    line = summary.timeline
    if order is not None or line is None:
        by: bool | str = True if order in (None, "input") else str(order)
        columns = {} if by is True else {str(by): fit.values(str(by), "--order")}
        line = time_line(by, columns, summary.graph_names)
    assert line is not None
    rows = list(line.order)
    Lam, degenerate = summary.loadings[rows], _degenerate(fit)
    found = change_points(
        Lam, components=_names(fit), leave_out=degenerate, smallest=smallest,
        n_permutations=n_permutations, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManyAnomaliesWarning)  # said in words
        odd = anomalies(
            Lam, summary.residual_with_mean[rows], segments=found.segments, leave_out=degenerate,
            random_state=seed,
        )  # fmt: skip
    changed = Changed(found, odd, line, tuple(summary.graph_names[i] for i in rows))
    when = f"in the order of {line.by}" if line.by else "in the order of the input"
    table = tuple(
        (
            name, label, float(found.segments[i] + 1),
            "yes" if i in found.places else "",
            float(odd.distances[i]), _number(odd.residuals[i]), float(odd.p_fdr[i]),
        )
        for i, (name, label) in enumerate(zip(changed.names, line.labels, strict=True))
    )  # fmt: skip
    finding = Finding(
        key="changes",
        title=f"Changes and anomalies, {when}",
        words=changed.words,
        header=(
            "graph", "when", "segment", "change", "distance", "residual score", "p (FDR)",
        ),
        rows=table,
        notes=(
            "Graphs are compared with the level of their own segment: a change is no anomaly of "
            "what comes after it. Distance is of loadings, residual score of the logarithm of the "
            "residual of the whole graph, both in robust standard deviations, with the skewness "
            "and heavy tails of most graphs taken off.",
            *(f"{note[:1].upper()}{note[1:]}." for note in found.notes),
            found.methods,
            odd.methods,
        ),
    )  # fmt: skip
    return changed, fit.add(finding, "changes.tsv", timeline=line)


_CLASSES = (
    "The components were found with the classes of the label (loadings of classes): graphs are "
    "then not exchangeable, and p values of that label are too small."
)


def _whose(fit: FinishedFit, group: str, subject: str | None) -> str | None:
    """Return the column that says whose each graph is, or None if that does not matter."""
    if subject is not None:
        return None if subject == NOBODY else subject
    people = fit.people
    if people is None or people == group:
        return None
    pairs = set(zip(fit.values(group, "--group"), fit.values(people, "--subject"), strict=True))
    pairs = {pair for pair in pairs if None not in pair}
    # Where people themselves are compared, every graph is one of many of its group.
    one_to_one = all(len({pair[side] for pair in pairs}) == len(pairs) for side in (0, 1))
    return None if one_to_one else people


def _names(fit: FinishedFit) -> list[str]:
    return [f"je{k + 1}" for k in range(fit.summary.n_components)]


def _degenerate(fit: FinishedFit) -> Any:
    return np.array([component.degenerate for component in fit.summary.components], dtype=bool)


def _class_fit(fit: FinishedFit) -> bool:
    return bool(fit.embedding.get_params().get("loadings") == "class")


def _cell(value: str | float) -> str | float | None:
    return value if isinstance(value, str) else _number(value)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def file_name(text: str) -> str:
    """Return a name that every file system takes."""
    return re.sub(r"[^\w.-]+", "_", text)[:100]
