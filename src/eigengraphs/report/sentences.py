"""What a report says in sentences: the opening, problems of the fit, and the methods paragraph."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from importlib.resources import files
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

from eigengraphs import __version__
from eigengraphs.embedding import FitView
from eigengraphs.fitting.messages import explained_of
from eigengraphs.report.records import Cell, Column, Component, Finding, Prediction, Problem
from eigengraphs.system.extras import need
from eigengraphs.system.labels import component_column, component_name, count_of, listed, shortened

if TYPE_CHECKING:
    from eigengraphs.report.summary import Summary


_TOLD = ("compare", "effects", "evaluate", "changes", "trajectories")  # in the opening
_ANSWERS = 4  # of them in the opening
#: Verdicts on halves of the graphs that keep a component from being interpreted.
DOUBTFUL = ("not shown to replicate", "looks like noise")
_SIGNIFICANT = 0.05
_REFERENCES = "\n\n**References**\n\n"
_COLLINEAR = 100.0  # condition number of the components, where loadings lose two digits


def percent(share: float | None) -> str:
    """Return a share as a percentage, or a dash for None and nan."""
    if share is None or isnan(share):
        return "–"
    if abs(share) < 1e-6:
        return "0.0%"
    digits = ".2g" if abs(share) < 0.001 else ".1f"  # a little is not nothing
    return f"{100 * share:{digits}}%".replace("-", "−")


def opening_words(summary: Summary) -> tuple[str, ...]:
    """Return a few sentences on what was found, in the fit and in later analyses."""
    components, names = summary.components, summary.vertex_names
    m, d, total = summary.n_graphs, len(components), sum(part.explained for part in components)
    said = [
        f"{count_of(m, 'graph')} on {count_of(len(names), 'vertex')} "
        f"{'was' if m == 1 else 'were'} described by {count_of(d, 'component')}: "
        f"{'patterns' if d > 1 else 'a pattern'} of edges that all graphs share, each graph with a "
        f"strength of its own. {'Together they explain' if d > 1 else 'It explains'} "
        f"{percent(total)} of {explained_of(summary.centered)}."
    ]
    if summary.odd:
        said[0] += f" Check the input first: {'; '.join(summary.odd[:3])}."
    k = max(range(d), key=lambda k: components[k].explained)
    edges = components[k].edges[:6]
    ends = [*(edge.source for edge in edges), *(edge.target for edge in edges)]
    if ends:
        strongest = [shortened(names[s]) for s in list(dict.fromkeys(ends))[:4]]
        first = f"The strongest is {component_name(k)} ({percent(components[k].explained)}); its"
        which = "vertex is" if len(strongest) == 1 else "vertices are"
        said.append(f"{first if d > 1 else 'Its'} strongest {which} {listed(strongest)}.")
    label = next((column for column in summary.columns if column.name == summary.label), None)
    if label is not None:
        tested = any(found.column == label.name for found in summary.findings)
        said += _label_words(summary.loadings, label, tested)
    if summary.prediction is not None and summary.prediction.methods:
        said.append(_prediction_words(summary.prediction))
    answers = [
        f"{shortened(found.title, 100)}: {found.words[0]}"
        for found in summary.findings
        if found.key.split(" ")[0] in _TOLD and found.words
    ]
    said += answers[:_ANSWERS]
    if len(answers) > _ANSWERS:
        said.append(f"{len(answers) - _ANSWERS} more results are below.")
    verdict_of, doubted = verdicts(summary), dict[str, list[int]]()
    for k, part in enumerate(components):
        if part.remarks:
            doubted.setdefault("", []).append(k)
        elif verdict_of.get(k) in DOUBTFUL:
            doubted.setdefault(verdict_of[k], []).append(k)
    for verdict, ks in doubted.items():
        why = doubt(summary, verdict, ks) if verdict else "Interpret with care; see below why."
        said.append(f"{_component_numbers(ks)}: {why[0].lower()}{why[1:]}")
    grave = sum(problem.level in ("refused", "warning") for problem in summary.problems)
    if grave:
        said.append(f"{count_of(grave, 'problem')} should be checked first.")
    elif not summary.problems and not doubted:
        said.append("No problem was found in the input or in the fit.")
    return tuple(said)


def _component_numbers(ks: Sequence[int]) -> str:
    """Return "Component 1", or "Components 1, 2 and 4", of places that begin at 0."""
    return f"Component{'s' * (len(ks) > 1)} {listed([str(k + 1) for k in ks])}"


def verdicts(summary: Summary) -> dict[int, str]:
    """Return the verdict of halves of the graphs on each component (from 0), where tested."""
    return {k: str(cells.get("verdict")) for k, cells in enumerate(_readings(summary))}


def _readings(summary: Summary) -> list[dict[str, Cell]]:
    """Return what `eigengraphs read`, or the fit, found about each component."""
    return next((found.cells for found in summary.findings if found.key == "read"), [])


def doubt(summary: Summary, verdict: str, ks: Sequence[int]) -> str:
    """Say why components (from 0) with a doubtful verdict should not be interpreted."""
    cells = [_readings(summary)[k] for k in ks]
    p = [max(float(cell.get(name) or 0) for name in ("p (chance)", "p (noise)")) for cell in cells]
    agreement = [f"{float(cell.get('replicability') or 0):.2f}" for cell in cells]
    measured = f"replicability {listed(agreement)}, p = {listed([f'{x:.2g}' for x in p])}"
    it = "it" if len(ks) == 1 else "them"
    if verdict == "looks like noise":
        said = f"Look{'s' * (len(ks) == 1)} like noise on halves of the graphs ({measured})"
    else:
        said = (
            f"Not shown to replicate on halves of the graphs ({measured}); do not interpret {it} "
            "alone"
        )
    for found in summary.findings:
        differ = [k for k in ks if found.key.startswith("compare ") and _differs(found, k)]
        if differ:
            which = f"loadings of {_component_numbers(differ).lower()}"
            said += (
                f"; however, {'its loadings' if len(ks) == 1 else which} differ by "
                f"{shortened(found.column)}: there is a difference, in a pattern that is uncertain"
            )
    return f"{said}."


def _differs(found: Finding, k: int) -> bool:
    """Tell whether a comparison found a difference in component k (from 0)."""
    name = component_column(k)
    p = next((x.get("p_family") for x in found.cells if x.get("component") == name), None)
    return p is not None and float(p) <= _SIGNIFICANT


def _label_words(loadings: NDArray[np.float64], label: Column, tested: bool) -> list[str]:
    shares = between_groups(loadings, label)
    if not np.isfinite(shares).any():
        return []
    k = int(np.nanargmax(shares))
    name, how = shortened(label.name), "" if tested else "described, not tested"
    if label.kind == "number":
        return [
            f"Of all components, {component_name(k)} is related to {name} most: its loadings share "
            f"{shares[k]:.0%} of their variance with it (squared correlation"
            f"{how and f'; {how}'})."
        ]
    known = [value for value in label.values if value is not None]
    expected = (len(set(known)) - 1) / max(len(known) - 1, 1)  # without any relation
    usual = f"about {expected:.0%}" if expected >= 0.01 else "less than 1%"
    return [
        f"Graphs that differ in {name} differ most in {component_name(k)}: {shares[k]:.0%} of the "
        f"variance of its loadings is between the {count_of(len(label.categories), 'group')}, "
        f"where {usual} is expected by chance{how and f' ({how})'}."
    ]


def between_groups(loadings: NDArray[np.float64], label: Column) -> NDArray[np.float64]:
    """Return the share of the variance of each component's loadings that a label explains, (d,).

    Of categories, the variance between their means; of numbers, the squared correlation. nan where
    there is nothing to compare.
    """
    known = np.array([value is not None for value in label.values])
    y = np.array([value for value in label.values if value is not None], dtype=np.float64)
    nothing = np.full(loadings.shape[1], np.nan)
    groups = np.unique(y)
    if len(groups) < 2 or (label.kind == "category" and len(groups) == len(y)):
        return nothing
    around = loadings[known] - loadings[known].mean(axis=0)
    total = (around**2).sum(axis=0)
    if label.kind == "number":
        z = (y - y.mean()) / np.sqrt(((y - y.mean()) ** 2).sum())
        between = (z @ around) ** 2
    else:
        between = sum((y == c).sum() * around[y == c].mean(axis=0) ** 2 for c in groups)
    return np.where(total > 0, between / np.where(total > 0, total, 1.0), nothing)


def _prediction_words(prediction: Prediction) -> str:
    first, *others = prediction.methods
    name, score = shortened(prediction.label), percent(first.score)
    beside = [f"{other.name} {percent(other.score)}" for other in others]
    if prediction.kind == "classes":
        beside.append(f"chance {percent(prediction.chance)}")
        return (
            f"The {name} of held-out graphs was predicted correctly in {score} of the cases by "
            f"{first.name} ({', '.join(beside)})."
        )
    beside.append(f"always predicting the mean {percent(prediction.chance)}")
    found = f"explains {score} of its variance"
    if first.score <= 0:
        found = (
            f"explains nothing of its variance ({score}; below zero is worse than predicting the "
            "mean)"
        )
    return f"Predicting the {name} of held-out graphs, {first.name} {found}; {', '.join(beside)}."


def fit_problems(embedding: Any, components: Sequence[Component]) -> list[Problem]:
    """Return what went wrong in a fit, and which components are doubtful."""
    found = []
    late = [k for k, part in enumerate(components)
            if part.stop_reason in ("max_iter", "stalled", "interrupted")]  # fmt: skip
    if late:
        found.append(f"{_component_numbers(late)} did not converge: the search ended early.")
    empty = [k for k, part in enumerate(components) if part.degenerate]
    if empty:
        verb = "has" if len(empty) == 1 else "have"
        found.append(f"{_component_numbers(empty)} {verb} no meaning (degenerate).")
    if embedding.gamma_condition_ > _COLLINEAR:
        found.append(
            "Some components are nearly collinear (condition number "
            f"{embedding.gamma_condition_:.3g}): their loadings may be large and cancel, and "
            "should not be interpreted one by one. Use fewer components."
        )
    return [Problem("warning", text) for text in found]


def dimension_words(embedding: Any, choice: Any) -> str:
    """Say why there are as many components as there are."""
    if choice is not None:
        return str(choice.explain())
    d = embedding.n_components_
    return (
        f"{count_of(d, 'component')} {'was' if d == 1 else 'were'} requested. To choose the number "
        'from the graphs, use -d auto on the command line or n_components="auto" in Python.'
    )


def methods_text(
    embedding: Any,
    n_graphs: int,
    *,
    choice: Any = None,
    prediction: Prediction | None = None,
    harmonized: str = "",
) -> str:
    """Return a paragraph on what was done, to paste into a paper, and its references, in Markdown.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    n_graphs
        Number of graphs it was fitted to.
    choice
        The :class:`~eigengraphs.DimensionChoice` behind the number of components, if it is not that
        of the fit.
    prediction
        How a label was predicted, if one was.
    harmonized
        How loadings were harmonized over sites, if they were.
    """
    jinja2 = need("jinja2", "report", "writing a report")
    template = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(asset("methods.md"))
    body = template.render(
        je=embedding, fit=FitView.of(embedding), n_graphs=n_graphs, prediction=prediction,
        choice=choice or getattr(embedding, "dimension_choice_", None), harmonized=harmonized,
        versions=versions(), count_of=count_of, listed=listed, explained_of=explained_of,
    )  # fmt: skip
    return _with_references(" ".join(body.split()))


def whole_methods(summary: Summary) -> str:
    """Return the methods of a fit and of the analyses after it, and their references."""
    fit, mark, _ = summary.methods.partition(_REFERENCES)
    later = dict.fromkeys(found.methods for found in summary.findings if found.methods)
    return _with_references("\n\n".join([fit, *later])) if mark or later else fit


def _with_references(text: str) -> str:
    """Add the references that a text cites by name and year, "Wang et al., 2021"."""
    cited = []
    for line in asset("references.md").splitlines():
        author, year = re.findall(r"- (\w+),.*?\((\d{4})\)", line)[0]
        found = re.search(rf"{author}[\w ]*(?: et al\.)?, {year}", text)
        cited += [(found.start(), line)] if found else []
    return f"{text}{_REFERENCES}" + "".join(f"{line}\n" for _, line in sorted(cited))


def versions() -> dict[str, str]:
    """Return the versions of the software that a result rests on."""
    return {
        "eigengraphs": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def asset(name: str) -> str:
    """Return a file of the report: a template, a script, the style."""
    text = (files("eigengraphs.report") / "assets" / name).read_text(encoding="utf-8")
    # A checkout may have other line ends; the browser hashes what it reads, with \n.
    return text.replace("\r\n", "\n")
