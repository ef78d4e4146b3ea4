"""How well each graph is described, and the graphs that are described worst."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.embedding import FitView
from eigengraphs.report.records import Edge, HeatMap, WorstGraph
from eigengraphs.stack import GraphStack

N_WORST = 3
N_EDGES = 5
_ROUNDING = 1e-12  # of squares
MOST_CELLS = 400  # a side of a heat map; a screen shows no more
_STEPS = 254


@dataclass(frozen=True)
class GraphFits:
    """How well each graph is described, over the entries that the loss counts, each (m,).

    Attributes
    ----------
    explained
        Explained share of the sum of squares (around the mean graph, if centered); nan for an
        empty graph.
    residual_with_mean
        Share of the graph's own squared weights that mean graph and components miss together; nan
        for an empty graph. Not centered: 1 - explained.
    """

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
    return GraphFits(explained, share)


def worst_graphs(fit: FitView, stack: GraphStack, fits: GraphFits) -> tuple[WorstGraph, ...]:
    """Draw the graphs of which the largest share is missed, the worst first.

    Of the whole graph, mean included: around the mean graph, the graphs that are most like it would
    be the worst, as noise is all that is left of them.
    """
    share = np.nan_to_num(fits.residual_with_mean, nan=-np.inf)
    order = np.argsort(-share, kind="stable")[:N_WORST]
    return tuple(_draw(fit, stack, int(i)) for i in order if share[i] > _ROUNDING)


def _draw(fit: FitView, stack: GraphStack, i: int) -> WorstGraph:
    block = block_size(stack.n_vertices)
    seen = block_means(stack, i, block)
    model = reconstruction(fit, i, block)
    left = seen - model
    limit = symmetric_limit(seen, model)
    # Pairs can be named where a cell is one pair.
    edges = _largest(left, symmetric=not fit.directed) if block == 1 else ()
    drawn = [_heat_map(matrix, limit, block) for matrix in (seen, model, left)]
    return WorstGraph(i, drawn[0], drawn[1], drawn[2], edges)


def reconstruction(fit: FitView, i: int, block: int) -> NDArray[np.float64]:
    """Return block means of what ``inverse_transform`` gives for a training graph.

    They come from block sums of the positions; no (n, n) array is made where blocks are larger.
    """
    embedding, treatment = fit.embedding, fit.treatment
    H = np.asarray(embedding.latent_positions_, dtype=np.float64)
    G = np.asarray(getattr(embedding, "latent_positions_right_", H), dtype=np.float64)
    lam = np.asarray(embedding.loadings_[i], dtype=np.float64)
    sums = sums_of_rows(H, block) * lam @ sums_of_rows(G, block).T
    diagonal = (H * lam * G).sum(axis=1)
    mean = treatment.mean
    if mean is not None:
        sums += _block_sums(mean, block)
        diagonal = diagonal + mean.diagonal()
    if treatment.hollow and treatment.diagonal_value is not None:
        here = np.diag_indices(len(sums))
        sums[here] += sums_of_rows(treatment.diagonal_value - diagonal, block)
    return np.asarray(sums / _block_counts(len(H), block), dtype=np.float64)


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


def sums_of_rows(X: NDArray[Any], block: int) -> NDArray[np.float64]:
    """Return the sums of each ``block`` neighboring rows, (cells, ...)."""
    return np.asarray(np.add.reduceat(X, np.arange(0, len(X), block), axis=0, dtype=np.float64))


def _block_sums(A: Any, block: int) -> NDArray[np.float64]:
    """Return the sums of blocks of a matrix, (cells, cells), from some of its rows at a time."""
    starts = range(0, A.shape[0], block)
    rows = [np.asarray(A[lo : lo + block].sum(axis=0, dtype=np.float64)).ravel() for lo in starts]
    return sums_of_rows(np.transpose(rows), block).T


def _block_counts(n: int, block: int) -> NDArray[np.float64]:
    sizes = sums_of_rows(np.ones(n), block)
    return np.outer(sizes, sizes)


def block_means(stack: GraphStack, i: int, block: int) -> NDArray[np.float64]:
    """Return one graph, (cells, cells), each the mean of its observed entries; nan without any."""
    sums = _block_sums(stack._graph(i), block)  # this one alone: there may be no room for all
    counts = _block_counts(stack.n_vertices, block)
    if stack.mask is not None:
        counts -= _block_sums(stack.mask.hidden_of(i), block)
    return np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)


def _heat_map(values: NDArray[Any], limit: float, block: int) -> HeatMap:
    """Quantize a matrix between -limit and limit; nan becomes step 255."""
    steps = np.rint((np.clip(values, -limit, limit) + limit) / (2 * limit) * _STEPS)
    data = np.where(np.isnan(steps), 255.0, steps).astype(np.uint8)
    text = base64.b64encode(np.ascontiguousarray(data).tobytes()).decode("ascii")
    rows, columns = data.shape
    return HeatMap(rows, columns, -limit, limit, block, text)


def symmetric_limit(*matrices: NDArray[Any]) -> float:
    """Return a value that all but the top half per cent of the magnitudes stay below.

    A single entry must not bleach all others; entries beyond it get the color of the end.
    """
    sizes = np.concatenate([np.abs(matrix[np.isfinite(matrix)]).ravel() for matrix in matrices])
    if sizes.size == 0:
        return 1.0
    return float(np.quantile(sizes, 0.995)) or float(sizes.max()) or 1.0
