"""A paragraph on what was done, to paste into a paper, with what it cites."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import scipy
import sklearn

from eigengraphs.embedding import FitView
from eigengraphs.fitting.messages import explained_of
from eigengraphs.report.parts import Prediction
from eigengraphs.system.labels import count_of

__all__ = ["CITATIONS", "methods_text", "own_version"]

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
    text = f"The number of components, {d}, was chosen from the graphs. Rules were {_listed(rules)}"
    decided = [_RULES.get(rule, rule) for rule in choice.decided_by]
    if 0 < len(decided) < len(rules):
        text += f"; what decided was {_listed(decided)}"
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
    return f"Computations used {_listed(used)}."


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
