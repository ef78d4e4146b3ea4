"""What was found, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.fitting.messages import explained_of
from eigengraphs.report.components import ILL_CONDITIONED
from eigengraphs.report.parts import Column, Component, Prediction, Problem
from eigengraphs.system.labels import count_of as _count

if TYPE_CHECKING:
    from eigengraphs.report.findings import Finding
    from eigengraphs.report.summary import Summary

__all__ = [
    "DOUBTFUL", "between_groups", "dimension_words", "doubt", "fit_problems", "opening_words",
    "short", "verdicts",
]  # fmt: skip

_ASKED = 4  # later answers in the opening
#: Verdicts on halves of the graphs that keep a component from being interpreted.
DOUBTFUL = ("not shown to replicate", "looks like noise")
_SIGNIFICANT = 0.05


def verdicts(summary: Summary) -> dict[int, str]:
    """Return what halves of the graphs say of each component (from 0), where they were asked."""
    for found in summary.findings:
        if found.key == "read" and "verdict" in found.header:
            place = found.header.index("verdict")
            return {k: str(row[place]) for k, row in enumerate(found.rows)}
    return {}


def doubt(summary: Summary, verdict: str, ks: Sequence[int]) -> str:
    """Say why components (from 0) with a doubtful verdict are not to be interpreted."""
    read = next(found for found in summary.findings if found.key == "read")
    cells = [dict(zip(read.header, read.rows[k], strict=True)) for k in ks]
    p = [max(float(cell.get(name) or 0) for name in ("p (chance)", "p (noise)")) for cell in cells]
    agreement = [f"{float(cell.get('replicability') or 0):.2f}" for cell in cells]
    measured = f"replicability {_listed(agreement)}, p = {_listed([f'{x:.2g}' for x in p])}"
    one = len(ks) == 1
    if verdict == "looks like noise":
        said = f"{'looks' if one else 'look'} like noise on halves of the graphs ({measured})"
    else:
        said = (
            f"not shown to replicate on halves of the graphs ({measured}); do not interpret "
            f"{'it' if one else 'them'} alone"
        )
    for found in summary.findings:
        differ = [str(k + 1) for k in ks if found.key.startswith("compare ") and _differs(found, k)]
        if differ:
            many = "components" if len(differ) > 1 else "component"
            whose = "its loadings" if one else f"loadings of {many} {_listed(differ)}"
            said += (
                f"; yet {whose} differ by {short(found.column)}: there is a difference, in a "
                "pattern that is not certain"
            )
    return said


def _differs(found: Finding, k: int) -> bool:
    """Whether a comparison found a difference in component k (from 0)."""
    cells = next((row for row in found.rows if row[0] == f"je{k + 1}"), None)
    p = None if cells is None else cells[found.header.index("p (family)")]
    return p is not None and float(p) <= _SIGNIFICANT


def opening_words(summary: Summary) -> tuple[str, ...]:
    """Return a few sentences of what was found, in the fit and by later questions."""
    components, vertex_names = summary.components, summary.vertex_names
    m, d, total = summary.n_graphs, len(components), sum(part.explained for part in components)
    said = [
        f"{_count(m, 'graph')} on {_count(len(vertex_names), 'vertex', 'vertices')} "
        f"{'was' if m == 1 else 'were'} described by {_count(d, 'component')}: "
        f"{'patterns' if d > 1 else 'a pattern'} of edges that all graphs share, each graph in its "
        f"own strength. {'Together they explain' if d > 1 else 'It explains'} {total:.1%} of "
        f"{explained_of(summary.centred)}."
    ]
    if summary.odd:
        said[0] += f" Look at the input first: {'; '.join(summary.odd[:3])}."
    strongest = max(range(d), key=lambda k: components[k].explained)
    names = [vertex_names[edge.source] for edge in components[strongest].edges[:6]]
    names += [vertex_names[edge.target] for edge in components[strongest].edges[:6]]
    shown = [short(name) for name in list(dict.fromkeys(names))[:4]]
    vertices = "the vertices" if len(shown) > 1 else "the vertex"
    if shown:
        said.append(
            f"The strongest is component {strongest + 1} ({components[strongest].explained:.1%}), "
            f"carried most by {vertices} {_listed(shown)}."
            if d > 1
            else f"The pattern is carried most by {vertices} {_listed(shown)}."
        )
    label = next((column for column in summary.columns if column.name == summary.label), None)
    if label is not None:
        tested = any(found.column == label.name for found in summary.findings)
        said += _label_words(summary.loadings, label, tested)
    if summary.prediction is not None:
        said += _prediction_words(summary.prediction)
    asked = [
        found
        for found in summary.findings
        if found.key.split(" ")[0] in ("compare", "evaluate", "changes") and found.words
    ]
    said += [f"{short(found.title, 100)}: {found.words[0]}" for found in asked[:_ASKED]]
    if len(asked) > _ASKED:
        said.append(f"{len(asked) - _ASKED} more answers are below.")
    doubts = _doubts(summary)
    for verdict, ks in doubts.items():
        which = "Component" if len(ks) == 1 else "Components"
        said.append(f"{which} {_listed(ks)}: {verdict}.")
    grave = sum(problem.level in ("refused", "warning") for problem in summary.problems)
    if grave:
        said.append(f"{_count(grave, 'problem')} should be looked at first.")
    elif not summary.problems and not doubts:
        said.append("No problem was found in the input or in the fit.")
    return tuple(said)


def _doubts(summary: Summary) -> dict[str, list[str]]:
    """Return why components should be read with care, and which."""
    told = verdicts(summary)
    found: dict[str, list[str]] = {}
    doubted: dict[str, list[int]] = {}
    for k, part in enumerate(summary.components):
        if part.remarks:
            found.setdefault("should be read with care; see below why", []).append(str(k + 1))
        elif told.get(k, "replicates") in DOUBTFUL:
            doubted.setdefault(told[k], []).append(k)
    for verdict, ks in doubted.items():
        found[doubt(summary, verdict, ks)] = [str(k + 1) for k in ks]
    return found


def _label_words(loadings: NDArray[np.float64], label: Column, tested: bool) -> list[str]:
    shares = between_groups(loadings, label)
    if not np.isfinite(shares).any():
        return []
    k = int(np.nanargmax(shares))
    name = short(label.name)
    if label.kind == "number":
        return [
            f"Of all components, the loadings of component {k + 1} go along with {name} most: "
            f"{shares[k]:.0%} of their spread is shared with it (squared correlation"
            f"{'' if tested else '; described, not tested'})."
        ]
    share = _by_chance(label)
    usual = f"about {share:.0%}" if share >= 0.01 else "less than 1%"
    return [
        f"Graphs with different {name} differ most in component {k + 1}: {shares[k]:.0%} of the "
        f"spread of its loadings lies between the {_count(len(label.categories), 'group')}; "
        f"{usual} would if the groups meant nothing{'' if tested else ' (described, not tested)'}."
    ]


def _by_chance(label: Column) -> float:
    """Return the share between groups that loadings without any relation to them would have."""
    known = [value for value in label.values if value is not None]
    return (len(set(known)) - 1) / max(len(known) - 1, 1)


def between_groups(loadings: NDArray[np.float64], label: Column) -> NDArray[np.float64]:
    """Return the share of each component's spread that a label accounts for, (d,); nan if none.

    Of categories, the spread between their means; of numbers, the squared correlation.
    """
    known = np.array([value is not None for value in label.values])
    L = loadings[known]
    y = np.array([value for value in label.values if value is not None], dtype=np.float64)
    nothing = np.full(loadings.shape[1], np.nan)
    groups = np.unique(y)
    if len(groups) < 2 or (label.kind == "category" and len(groups) == len(y)):
        return nothing
    centred = L - L.mean(axis=0)
    total = (centred**2).sum(axis=0)
    if label.kind == "number":
        z = (y - y.mean()) / np.sqrt(((y - y.mean()) ** 2).sum())
        between = (z @ centred) ** 2
    else:
        means = [(y == c).sum() * centred[y == c].mean(axis=0) ** 2 for c in groups]
        between = np.sum(means, axis=0)
    return np.where(total > 0, between / np.where(total > 0, total, 1.0), nothing)


def _prediction_words(prediction: Prediction) -> list[str]:
    if not prediction.methods:
        return []
    first, *others = prediction.methods
    beside = [f"{other.name} {_share(other.score)}" for other in others]
    name = short(prediction.label)
    if prediction.kind == "quantity":
        beside.append(f"always naming the mean {_share(prediction.chance)}")
        share = _share(first.score)
        found = (
            f"explains {share} of its variance"
            if first.score > 0
            else f"explains nothing of its variance ({share}; below zero is worse than naming the "
            "mean)"
        )
        return [
            f"Predicting the {name} of graphs that were held out by {first.name} {found}; "
            f"beside it, {', '.join(beside)}."
        ]
    beside.append(f"chance {_share(prediction.chance)}")
    return [
        f"The {name} of graphs that were held out was found in {_share(first.score)} of the cases "
        f"by {first.name} ({', '.join(beside)})."
    ]


def _share(value: float) -> str:
    return f"{value:.1%}".replace("-0.0%", "0.0%").replace("-", "−")


def fit_problems(embedding: Any, components: Sequence[Component]) -> list[Problem]:
    """Return what went wrong in a fit, and which components are doubtful."""
    found = []

    def of(ks: list[int]) -> str:
        return ("Component " if len(ks) == 1 else "Components ") + _listed([str(k) for k in ks])

    def numbers(holds: Any) -> list[int]:
        return [k + 1 for k, part in enumerate(components) if holds(part)]

    late = numbers(lambda part: part.stop_reason in ("max_iter", "stalled", "interrupted"))
    if late:
        found.append(Problem("warning", f"{of(late)} did not converge: the search ended early."))
    nothing = numbers(lambda part: part.degenerate)
    if nothing:
        verb = "means" if len(nothing) == 1 else "mean"
        found.append(Problem("warning", f"{of(nothing)} {verb} nothing (degenerate)."))
    if embedding.gamma_condition_ > ILL_CONDITIONED:
        found.append(
            Problem(
                "warning",
                "Some components are nearly the same pattern or sums of each other (condition "
                f"{embedding.gamma_condition_:.3g}): their loadings may be large and cancel, and "
                "should not be read one by one. Use fewer components.",
            )
        )
    return found


def dimension_words(embedding: Any, choice: Any) -> str:
    """Say why there are as many components as there are."""
    if choice is not None:
        return str(choice.explain())
    d = embedding.n_components_
    text = f"{_count(d, 'component')} {'was' if d == 1 else 'were'} asked for."
    return (
        f"{text} No rule was asked how many there should be; -d auto on the command line, or "
        'n_components="auto" in Python, would ask.'
    )


def short(name: str, most: int = 40) -> str:
    """Cut the middle out of a long name: names of regions often differ at their end alone."""
    if len(name) <= most:
        return name
    tail = (most - 1) // 2
    return f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
