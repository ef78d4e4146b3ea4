"""How well each graph is described, and the graphs that are described worst."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.embedding import FitView
from eigengraphs.report.records import Edge, HeatMap, WorstGraph
from eigengraphs.stack import GraphStack

__all__ = [
    "GraphFits", "block_means", "block_size", "graph_fits", "indicator", "reconstruction",
    "symmetric_limit", "worst_graphs",
]  # fmt: skip

N_WORST = 3
N_EDGES = 5
_ROUNDING = 1e-12  # of squares
MOST_CELLS = 400  # a side of a heat map; a screen shows no more
_STEPS = 254


@dataclass(frozen=True)
class GraphFits:
    """Squared errors of the graphs, over the entries that the loss counts, each (m,).

    Attributes
    ----------
    residuals
        Sums of squared residuals.
    explained
        Explained share of the sum of squares (around the mean graph, if centered); nan for an
        empty graph.
    residual_with_mean
        Share of the graph's own squared weights that mean graph and components miss together; nan
        for an empty graph. Not centered: 1 - explained.
    """

    residuals: NDArray[np.float64]
    explained: NDArray[np.float64]
    residual_with_mean: NDArray[np.float64]


def graph_fits(fit: FitView, stack: GraphStack) -> GraphFits:
    """Return how well each graph is described; ``stack`` is aligned and preprocessed."""
    projection, treatment = fit.project(stack), fit.treatment
    Lam = np.asarray(fit.embedding.loadings_, dtype=np.float64) * treatment.scale
    residuals, squares = projection.residuals(Lam), projection.squared_norms
    norm = stack.facts.off_norm if treatment.hollow else stack.facts.norm
    with np.errstate(divide="ignore", invalid="ignore"):
        own = (norm * treatment.scale) ** 2
        share = np.where(own > 0, residuals / own, np.nan)
        explained = np.where(squares > 0, 1.0 - residuals / squares, np.nan)
    with np.errstate(over="ignore"):  # scale**2 may leave the range where residuals need not
        return GraphFits(residuals / treatment.scale / treatment.scale, explained, share)


def worst_graphs(
    fit: FitView, stack: GraphStack, fits: GraphFits, most: int = N_WORST
) -> tuple[WorstGraph, ...]:
    """Draw the graphs of which the largest share is missed, the worst first.

    Of the whole graph, mean included: around the mean graph, the graphs that are most like it would
    be the worst, as noise is all that is left of them.
    """
    share = np.nan_to_num(fits.residual_with_mean, nan=-np.inf)
    order = np.argsort(-share, kind="stable")[:most]
    return tuple(_draw(fit, stack, int(i)) for i in order if share[i] > _ROUNDING)


def _draw(fit: FitView, stack: GraphStack, i: int) -> WorstGraph:
    block = block_size(stack.n_vertices)
    seen = block_means(stack, i, block)
    model = reconstruction(fit, i, block)
    left = seen - model
    limit = symmetric_limit(seen, model)

    def drawn(matrix: NDArray[np.float64]) -> HeatMap:
        return heat_map(matrix, -limit, limit, block)

    # Pairs can be named where a cell is one pair.
    edges = _largest(left, symmetric=not fit.directed) if block == 1 else ()
    return WorstGraph(i, drawn(seen), drawn(model), drawn(left), edges)


def reconstruction(fit: FitView, i: int, block: int) -> NDArray[np.float64]:
    """Return block means of what ``inverse_transform`` gives for a training graph.

    They come from block sums of the positions; no (n, n) array is made where blocks are larger.
    """
    embedding, treatment = fit.embedding, fit.treatment
    H = np.asarray(embedding.latent_positions_, dtype=np.float64)
    G = np.asarray(getattr(embedding, "latent_positions_right_", H), dtype=np.float64)
    lam = np.asarray(embedding.loadings_[i], dtype=np.float64)
    P = indicator(len(H), block)
    sums = np.asarray((P @ H) * lam @ (P @ G).T)
    diagonal = (H * lam * G).sum(axis=1)
    mean = treatment.mean
    if mean is not None:
        sums += to_dense(P @ mean @ P.T)
        diagonal = diagonal + mean.diagonal()
    if treatment.hollow and treatment.diagonal_value is not None:
        sums[np.diag_indices(len(sums))] += P @ (treatment.diagonal_value - diagonal)
    sizes = np.asarray(P.sum(axis=1)).ravel()
    return np.asarray(sums / np.outer(sizes, sizes), dtype=np.float64)


def _largest(left: NDArray[np.float64], *, symmetric: bool) -> tuple[Edge, ...]:
    sizes = np.abs(np.nan_to_num(left))
    np.fill_diagonal(sizes, 0.0)
    if symmetric:
        sizes = np.triu(sizes)
    top = np.argsort(-sizes, axis=None, kind="stable")[:N_EDGES]
    pairs = zip(*(places.tolist() for places in np.unravel_index(top, sizes.shape)), strict=True)
    return tuple(Edge(s, t, float(left[s, t])) for s, t in pairs if sizes[s, t] > 0)


def block_size(n: int, most: int = MOST_CELLS) -> int:
    """Return how many vertices share a cell, so that a side has at most ``most`` cells."""
    return max(1, -(-n // most))


def indicator(n: int, block: int) -> sparse.csr_array:
    """Return which cell each vertex belongs to, (cells, n) of 0 and 1."""
    cells = -(-n // block)
    rows = np.arange(n) // block
    return sparse.csr_array((np.ones(n), (rows, np.arange(n))), shape=(cells, n))


def block_means(stack: GraphStack, i: int, block: int) -> NDArray[np.float64]:
    """Return one graph, (cells, cells), each the mean of its observed entries; nan without any."""
    n = stack.n_vertices
    if block == 1:
        return to_dense(stack[i])
    P = indicator(n, block)
    sums = _block_sums(stack._graph(i), block)  # this one alone: there may be no room for all
    sizes = to_dense(P.sum(axis=1)).ravel()
    counts = np.outer(sizes, sizes)
    if stack.mask is not None:
        hidden = stack.mask.hidden_of(i).astype(np.float64)
        counts -= to_dense(P @ hidden @ P.T)
    return np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)


def _block_sums(A: Any, block: int) -> NDArray[np.float64]:
    """Return the sums of blocks of a graph, (cells, cells), from some of its rows at a time."""
    n = A.shape[0]
    starts = np.arange(0, n, block)
    sums = np.zeros((len(starts), len(starts)))
    for cell, lo in enumerate(starts):
        hi = min(n, lo + block)
        if isinstance(A, np.ndarray):
            sums[cell] = np.add.reduceat(A[lo:hi].sum(axis=0, dtype=np.float64), starts)
        else:
            first, last = A.indptr[lo], A.indptr[hi]
            places, weights = A.indices[first:last] // block, A.data[first:last]
            sums[cell] = np.bincount(places, weights, minlength=len(starts))
    return sums


def heat_map(values: NDArray[Any], low: float, high: float, block: int) -> HeatMap:
    """Quantise a matrix between two values; nan becomes step 255."""
    width = high - low if high > low else 1.0
    steps = np.rint((np.clip(values, low, high) - low) / width * _STEPS)
    data = np.where(np.isnan(steps), 255.0, steps).astype(np.uint8)
    text = base64.b64encode(np.ascontiguousarray(data).tobytes()).decode("ascii")
    rows, columns = data.shape
    return HeatMap(rows, columns, float(low), float(high), block, text)


def symmetric_limit(*matrices: NDArray[Any]) -> float:
    """Return a value that all but the top half per cent of the magnitudes stay below.

    A single entry must not bleach all others; entries beyond it get the colour of the end.
    """
    sizes = np.concatenate([np.abs(matrix[np.isfinite(matrix)]).ravel() for matrix in matrices])
    if sizes.size == 0:
        return 1.0
    return float(np.quantile(sizes, 0.995)) or float(sizes.max()) or 1.0


def to_dense(matrix: Any) -> NDArray[np.float64]:
    """Return an array of a matrix of any kind."""
    full: Any = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return np.asarray(full, dtype=np.float64)
