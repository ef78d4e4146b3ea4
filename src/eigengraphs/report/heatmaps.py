"""Matrices as pictures of bytes: in input order, block means where there are many vertices."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.report.parts import HeatMap
from eigengraphs.stack import GraphStack

__all__ = ["block_means", "block_size", "heat_map", "indicator", "symmetric_limit", "to_dense"]

MOST_CELLS = 400  # a side; a screen shows no more
_STEPS = 254


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
