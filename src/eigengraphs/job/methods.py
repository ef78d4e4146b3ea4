"""A paragraph on what was done, to paste into a paper."""

from __future__ import annotations

from eigengraphs import __version__
from eigengraphs.embedding import JointEmbedding
from eigengraphs.graphs import GraphStack

__all__ = ["CITATIONS", "methods_paragraph"]

CITATIONS = (
    "Wang, S., Arroyo, J., Vogelstein, J. T., and Priebe, C. E. (2021). Joint embedding of graphs. "
    "IEEE Transactions on Pattern Analysis and Machine Intelligence 43(4), 1324-1336.",
)
_STEPS = {
    "log1p": "log(1 + w) of the weights",
    "signed_log1p": "sign(w) log(1 + |w|) of the weights",
    "binarize": "edges without weights",
    "rank": "ranks of the weights within each graph",
    "signed_rank": "signed ranks of the weights within each graph",
    "fisher_z": "Fisher's z of the correlations",
    "unit_norm": "graphs scaled to unit norm",
    "drop_loops": "graphs without their self-loops",
}
_DIAGONALS = {
    "filled": "Diagonal entries carry no information; each was set to the mean of its row to find "
    "the components, and loadings and residuals were taken from pairs of different vertices.",
    "observed": "Self-loops were part of the data.",
    "unobserved": "Self-loops took no part in the fit.",
}
_LOADINGS = {
    "free": "",
    "shared": " Loadings were the same for all graphs.",
    "class": " Loadings were shared within classes while components were sought, and each graph "
    "was then projected by itself.",
    "nonnegative": " Loadings were at least zero.",
    "sparse": " Loadings were sparse.",
}


def methods_paragraph(
    embedding: JointEmbedding,
    graphs: GraphStack,
    steps: tuple[str, ...] = (),
    chosen: str | None = None,
    prediction: str | None = None,
) -> str:
    """Return the paragraph, in Markdown.

    Parameters
    ----------
    embedding
        The fit.
    graphs
        What was fitted.
    steps
        Names of transforms of the weights.
    chosen
        How the number of components was chosen, if it was.
    prediction
        How a label was predicted, if one was.
    """
    d, kind = embedding.n_components_, "directed" if embedding.directed else "undirected"
    before = ", ".join(_STEPS.get(step, step) for step in steps)
    parts = [
        f"We embedded {graphs.n_graphs} {kind} graphs on {graphs.n_vertices} vertices jointly "
        f"(Wang et al., 2021) with eigengraphs {__version__}.",
        f"Before the fit we took {before}." if before else "",
        "The mean graph was subtracted." if embedding.center else "",
        _DIAGONALS[embedding.diagonal_],
        f"The model approximates each graph by a weighted sum of {d} rank-one patterns that all "
        f"graphs share; the weights, called loadings, are {d} numbers for each graph."
        + _LOADINGS[str(embedding.loadings)],
        f"The number of components was chosen by {chosen}." if chosen else "",
        "All components were improved together after the greedy search."
        if embedding.refine
        else "Components were found one after the other.",
        f"Together they explain {embedding.explained_ratio_.sum():.1%} of the sum of squares"
        + (" around the mean graph." if embedding.center else "."),
        f"The search {'converged' if embedding.converged_ else 'did NOT converge'} (largest "
        f"relative gradient {max(embedding.stationarity_):.1e}, random seed "
        f"{embedding.random_state}).",
        prediction or "",
    ]
    text = " ".join(part for part in parts if part)
    references = "\n".join(f"- {citation}" for citation in CITATIONS)
    return f"{text}\n\n**References**\n\n{references}\n"
