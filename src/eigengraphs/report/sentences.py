"""What was found, in sentences."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

from eigengraphs.embedding import FitView
from eigengraphs.fitting.messages import explained_of
from eigengraphs.report.records import Column, Component, Prediction, Problem
from eigengraphs.system.labels import count_of, listed, shortened

if TYPE_CHECKING:
    from eigengraphs.report.records import Finding
    from eigengraphs.report.summary import Summary

__all__ = [
    "CITATIONS",
    "DOUBTFUL",
    "between_groups",
    "dimension_words",
    "doubt",
    "fit_problems",
    "methods_text",
    "opening_words",
    "own_version",
    "verdicts",
]  # fmt: skip

_ASKED = 4  # later answers in the opening
#: Verdicts on halves of the graphs that keep a component from being interpreted.
DOUBTFUL = ("not shown to replicate", "looks like noise")
_SIGNIFICANT = 0.05
ILL_CONDITIONED = 100.0  # of the inner products of components, where loadings lose two digits
CITATIONS = {
    "method": "Wang, S., Arroyo, J., Vogelstein, J. T., and Priebe, C. E. (2021). Joint embedding "
    "of graphs. IEEE Transactions on Pattern Analysis and Machine Intelligence 43(4), 1324-1336. "
    "doi:10.1109/TPAMI.2019.2948619",
    "numpy": "Harris, C. R., et al. (2020). Array programming with NumPy. Nature 585, 357-362. "
    "doi:10.1038/s41586-020-2649-2",
    "scipy": "Virtanen, P., et al. (2020). SciPy 1.0: fundamental algorithms for scientific "
    "computing in Python. Nature Methods 17, 261-272. doi:10.1038/s41592-019-0686-2",
    "scikit-learn": "Pedregosa, F., et al. (2011). Scikit-learn: machine learning in Python. "
    "Journal of Machine Learning Research 12, 2825-2830.",
}
_STEPS = {
    "log1p": "weights w were replaced by log(1 + w) (log1p)",
    "signed_log1p": "weights w were replaced by sign(w) log(1 + |w|) (signed_log1p)",
    "binarize": "weights other than zero were replaced by one (binarize)",
    "rank": "weights were replaced by their ranks within each graph (rank)",
    "signed_rank": "weights were replaced by their signed ranks within each graph (signed_rank)",
    "fisher_z": "correlations were replaced by Fisher's z (fisher_z)",
    "unit_norm": "each graph was scaled to unit norm (unit_norm)",
    "drop_loops": "self-loops were removed (drop_loops)",
}
_DIAGONALS = {
    "filled": "Diagonal entries carry no information: each was set to the mean of its row to find "
    "the components, and loadings and residuals were taken from pairs of different vertices.",
    "observed": "Self-loops (the diagonal) were part of the data.",
    "unobserved": "Self-loops (the diagonal) took no part in the fit.",
}
_LOADINGS = {
    "free": "Loadings were free: each graph had its own, of either sign.",
    "shared": "While components were sought, loadings were the same for all graphs; each graph was "
    "then projected by itself.",
    "class": "While components were sought, loadings were shared within classes; each graph was "
    "then projected by itself.",
    "nonnegative": "Loadings were constrained to be at least zero.",
    "sparse": "Loadings were sparse.",
}
_RULES = {
    "elbow": "the elbow of the objective",
    "loadings": "a test of the loadings of held-out graphs",
    "pairs": "the prediction of hidden pairs of vertices",
    "halves": "the agreement of components between halves of the graphs",
}


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
    measured = f"replicability {listed(agreement)}, p = {listed([f'{x:.2g}' for x in p])}"
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
            whose = "its loadings" if one else f"loadings of {many} {listed(differ)}"
            said += (
                f"; yet {whose} differ by {shortened(found.column)}: there is a difference, in a "
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
        f"{count_of(m, 'graph')} on {count_of(len(vertex_names), 'vertex', 'vertices')} "
        f"{'was' if m == 1 else 'were'} described by {count_of(d, 'component')}: "
        f"{'patterns' if d > 1 else 'a pattern'} of edges that all graphs share, each graph in its "
        f"own strength. {'Together they explain' if d > 1 else 'It explains'} {total:.1%} of "
        f"{explained_of(summary.centred)}."
    ]
    if summary.odd:
        said[0] += f" Look at the input first: {'; '.join(summary.odd[:3])}."
    strongest = max(range(d), key=lambda k: components[k].explained)
    names = [vertex_names[edge.source] for edge in components[strongest].edges[:6]]
    names += [vertex_names[edge.target] for edge in components[strongest].edges[:6]]
    shown = [shortened(name) for name in list(dict.fromkeys(names))[:4]]
    vertices = "the vertices" if len(shown) > 1 else "the vertex"
    if shown:
        said.append(
            f"The strongest is component {strongest + 1} ({components[strongest].explained:.1%}), "
            f"carried most by {vertices} {listed(shown)}."
            if d > 1
            else f"The pattern is carried most by {vertices} {listed(shown)}."
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
    said += [f"{shortened(found.title, 100)}: {found.words[0]}" for found in asked[:_ASKED]]
    if len(asked) > _ASKED:
        said.append(f"{len(asked) - _ASKED} more answers are below.")
    doubts = _doubts(summary)
    for verdict, ks in doubts.items():
        which = "Component" if len(ks) == 1 else "Components"
        said.append(f"{which} {listed(ks)}: {verdict}.")
    grave = sum(problem.level in ("refused", "warning") for problem in summary.problems)
    if grave:
        said.append(f"{count_of(grave, 'problem')} should be looked at first.")
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
    name = shortened(label.name)
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
        f"spread of its loadings lies between the {count_of(len(label.categories), 'group')}; "
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
    name = shortened(prediction.label)
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
        return ("Component " if len(ks) == 1 else "Components ") + listed([str(k) for k in ks])

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
    text = f"{count_of(d, 'component')} {'was' if d == 1 else 'were'} asked for."
    return (
        f"{text} No rule was asked how many there should be; -d auto on the command line, or "
        'n_components="auto" in Python, would ask.'
    )


def methods_text(
    embedding: Any, n_graphs: int, *, choice: Any = None, prediction: Prediction | None = None
) -> str:
    """Return a paragraph and its references, in Markdown.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    n_graphs
        Number of graphs it was fitted to.
    choice
        The :class:`~eigengraphs.DimensionChoice` behind the number of components, if any.
    prediction
        How a label was predicted, if one was.
    """
    fit = FitView.of(embedding)
    d = embedding.n_components_
    kind = "directed" if fit.directed else "undirected"
    pattern = "h g^T, from where edges start to where they end," if fit.directed else "h h^T"
    parts = [
        f"We embedded {count_of(n_graphs, f'{kind} graph')} on {embedding.n_vertices_} vertices "
        f"jointly (Wang et al., 2021) with eigengraphs {own_version()}.",
        _transformed(fit.steps),
        "The mean graph was subtracted." if fit.settings["center"] else "",
        _DIAGONALS[embedding.diagonal_],
        "Missing entries were left out of the loss."
        if fit.settings["missing"] == "unobserved"
        else "",
        f"By least squares, each graph is approximated by a weighted sum of "
        f"{count_of(d, 'rank-one pattern')} {pattern} that all graphs share; the weights, called "
        f"loadings, are {count_of(d, 'number')} for each graph.",
        _loadings(fit),
        _chosen(d, choice),
        "Components were found one after the other, and then all improved together."
        if fit.settings["refine"]
        else "Components were found one after the other.",
        f"Together they explain {embedding.explained_ratio_.sum():.1%} of "
        f"{explained_of(fit.settings['center'])}.",
        _search(embedding),
        _predicted(prediction),
        _software(prediction),
    ]
    cited = ["method", "numpy", "scipy", *(["scikit-learn"] if _learns(prediction) else [])]
    references = "\n".join(f"- {CITATIONS[name]}" for name in cited)
    return f"{' '.join(part for part in parts if part)}\n\n**References**\n\n{references}\n"


def own_version() -> str:
    """Return the version of this library."""
    try:
        return version("eigengraphs")
    except PackageNotFoundError:  # run from its folder, without an installation
        return "unknown"


def _transformed(steps: tuple[str, ...]) -> str:
    if not steps:
        return "Weights were taken as they are."
    words = [_STEPS.get(step, f"the function {step} was applied") for step in steps]
    return f"Before the fit, {', then '.join(words)}."


def _loadings(fit: FitView) -> str:
    text, most, penalty = (
        _LOADINGS[str(fit.settings["loadings"])],
        fit.settings["max_nonzeros"],
        fit.settings["l1_penalty"],
    )
    if most is not None:
        text += f" At most {most} of each graph differed from zero."
    if penalty is not None:
        text += f" The sum of their absolute values was penalised (l1_penalty {penalty:g})."
    return text


def _chosen(d: int, choice: Any) -> str:
    if choice is None:
        return f"The number of components, {d}, was set in advance."
    rules = [f"{_RULES.get(rule, rule)} ({number})" for rule, number in choice.choices.items()]
    text = f"The number of components, {d}, was chosen from the graphs. Rules were {listed(rules)}"
    decided = [_RULES.get(rule, rule) for rule in choice.decided_by]
    if 0 < len(decided) < len(rules):
        text += f"; what decided was {listed(decided)}"
    return f"{text}."


def _search(embedding: Any) -> str:
    seed = embedding.random_state
    return (
        f"The search (solver {embedding.solver}, n_init {embedding.n_init}) "
        f"{'converged' if embedding.converged_ else 'did NOT converge'} (largest relative gradient "
        f"{max(embedding.stationarity_):.1e}, random seed "
        f"{seed if isinstance(seed, int) else 'not fixed'})."
    )


def _predicted(prediction: Prediction | None) -> str:
    if prediction is None or not prediction.methods:
        return ""
    scores = [f"{way.name} {way.score:.1%}" for way in prediction.methods]
    scores.append(f"chance {prediction.chance:.1%}")
    how = f" How: {prediction.protocol}" if prediction.protocol else ""
    return (
        f"The {prediction.label} of held-out graphs was predicted ({prediction.measure}: "
        f"{', '.join(scores)}).{how}"
    )


def _learns(prediction: Prediction | None) -> bool:
    return prediction is not None and bool(prediction.methods)


def _software(prediction: Prediction | None) -> str:
    used = [
        f"Python {platform.python_version()}",
        f"NumPy {np.__version__} (Harris et al., 2020)",
        f"SciPy {scipy.__version__} (Virtanen et al., 2020)",
    ]
    if _learns(prediction):
        used.append(f"scikit-learn {sklearn.__version__} (Pedregosa et al., 2011)")
    return f"Computations used {listed(used)}."
