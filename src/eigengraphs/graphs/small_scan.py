"""A quick scan of small dense graphs that are finite and exactly symmetric, as nearly all are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = ["SMALL", "scan_small"]

announce_compiling()

SMALL = 80  # vertices: a graph and its mirror image stay at hand in the first levels of cache


@njit(cache=True, nogil=True)
def scan_small(
    A: NDArray[Any],
    bits: NDArray[Any],
    marks: NDArray[Any],
    tops: NDArray[Any],
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` as :func:`kernels.scan_dense` does; a row of it with nan means: not plain.

    Rows of few entries are too short for vector instructions; a graph is one row here. Each entry
    is compared with its mirror image, which costs little as long as both are at hand.

    Parameters
    ----------
    A : (m, n, n)
        Graphs, C-contiguous.
    bits : (m, n, n)
        The same memory as signed integers.
    marks : (3,)
        In the type of the bits: mask of all but the sign, infinity and 1.
    tops : (m,)
        Filled with the bits of the largest |entry| of each graph, in place of the first column of
        ``out``: those without a sign are in the order of the floats, infinity and nan above all.
    out
        (m, len(SCAN_FIELDS)).
    """
    m, n, _ = A.shape
    off = np.ones(n * n, dtype=A.dtype)  # 0 on the diagonal
    off[:: n + 1] = 0.0
    for i in range(m):
        values = out[i]
        zeros, ones, tops[i], off_squares = _count(
            A[i].reshape(n * n), bits[i].reshape(n * n), off, marks[0], marks[2]
        )
        if tops[i] >= marks[1] or _is_lopsided(bits[i]):
            values[:] = np.nan
            continue
        diagonal_squares, n_loops = 0.0, 0
        low, high = np.inf, -np.inf
        for s in range(n):
            x = np.float64(A[i, s, s])
            diagonal_squares += x * x
            n_loops += x != 0.0
            low, high = min(low, x), max(high, x)
        values[0], values[1], values[2], values[3] = 0.0, off_squares, n * n - zeros, n_loops
        values[4], values[5], values[6] = low, high, n * n - zeros - ones
        values[7], values[8], values[9] = 0.0, -1.0, diagonal_squares


# A function each: with both in one, the compiler no longer finds its vector instructions.


@njit(cache=True, nogil=True)
def _is_lopsided(bits: NDArray[Any]) -> bool:
    """Tell whether some entry is not, to the last bit, its mirror image."""
    differs = bits[0, 0] & 0
    for s in range(1, bits.shape[0]):
        for t in range(s):
            differs |= bits[s, t] ^ bits[t, s]
    return bool(differs != 0)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _count(
    graph: NDArray[Any], bits: NDArray[Any], off: NDArray[Any], magnitude: Any, one: Any
) -> tuple[int, int, Any, float]:
    """Return the number of zeros and of ones, the largest bits, and the squares off the diagonal.

    The diagonal is not taken off afterwards: a large one would eat the digits.
    """
    zeros, ones, top, squares = 0, 0, magnitude & 0, 0.0
    for j in range(bits.shape[0]):
        size = bits[j] & magnitude
        zeros += size == 0
        ones += bits[j] == one
        top = max(top, size)
        x = np.float64(graph[j] * off[j])
        squares += x * x
    return zeros, ones, top, squares
