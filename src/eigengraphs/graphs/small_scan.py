"""A quick scan of small dense graphs that are finite and exactly symmetric, as nearly all are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.graphs.codegen import fetch
from eigengraphs.graphs.entry_kernels import WORD, lower_words

__all__ = ["SMALL", "scan_small"]

announce_compiling()

SMALL = 80  # vertices: a graph and its mirror image stay at hand in the first levels of cache
_LINE = 8  # entries of float64 in a line of the cache; those of float32 are asked for twice
_AHEAD = 512  # entries, of which the next so many are asked for: few graphs are as long


@njit(cache=True, nogil=True)
def scan_small(
    A: NDArray[Any],
    bits: NDArray[Any],
    marks: NDArray[Any],
    tops: NDArray[Any],
    kept: NDArray[np.uint64],
    out: NDArray[np.float64],
) -> bool:
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
    kept : (p, ceil(m / WORD)) or nothing
        Filled as :func:`entry_kernels.dense_bits` does, if all graphs are of zeros and ones.
    out
        (m, len(SCAN_FIELDS)).

    Returns
    -------
    bool
        Whether all graphs are symmetric and of zeros and ones.
    """
    m, n, _ = A.shape
    off = np.ones(n * n, dtype=A.dtype)  # 0 on the diagonal
    off[:: n + 1] = 0.0
    words = np.empty(n * n, dtype=np.uint64)
    all_ones = True
    for lo in range(0, m, WORD):
        hi = min(m, lo + WORD)
        if _are_ones(bits[lo:hi], marks[2], words, out[lo:hi]):
            for i in range(lo, hi):
                tops[i] = marks[2] if out[i, 2] > 0 else marks[2] & 0
            if kept.size > 0:
                lower_words(words, n, kept[:, lo // WORD])
            continue
        all_ones = False
        for i in range(lo, hi):
            _scan_one(A[i], bits[i], marks, off, tops[i : i + 1], out[i])
    return all_ones


@njit(cache=True, nogil=True)
def _scan_one(
    A: NDArray[Any],
    bits: NDArray[Any],
    marks: NDArray[Any],
    off: NDArray[Any],
    top: NDArray[Any],
    values: NDArray[np.float64],
) -> None:
    """Fill ``values`` and ``top`` for one graph of any weights."""
    n = A.shape[0]
    zeros, ones, top[0], off_squares = _count(
        A.reshape(n * n), bits.reshape(n * n), off, marks[0], marks[2]
    )
    if top[0] >= marks[1] or _is_lopsided(bits):
        values[:] = np.nan
        return
    diagonal_squares, n_loops = 0.0, 0
    low, high = np.inf, -np.inf
    for s in range(n):
        x = np.float64(A[s, s])
        diagonal_squares += x * x
        n_loops += x != 0.0
        low, high = min(low, x), max(high, x)
    values[0], values[1], values[2], values[3] = 0.0, off_squares, n * n - zeros, n_loops
    values[4], values[5], values[6] = low, high, n * n - zeros - ones
    values[7], values[8], values[9] = 0.0, -1.0, diagonal_squares


@njit(cache=True, nogil=True)
def _are_ones(
    bits: NDArray[Any], one: Any, words: NDArray[np.uint64], out: NDArray[np.float64]
) -> bool:
    """Fill ``out`` if all of at most WORD graphs are symmetric and of zeros and ones; or say no.

    With a bit a graph, one comparison of words looks at a pair of entries of all of them.
    """
    m, n, _ = bits.shape
    lowest = 0  # of the bits of 1
    while not (one >> lowest) & 1:
        lowest += 1
    words[:] = np.uint64(0)
    for i in range(m):
        graph, total = bits[i].reshape(n * n), 0
        for first in range(0, n * n, _AHEAD):
            last = min(first + _AHEAD, n * n)
            for j in range(last, last + _AHEAD, _LINE):
                fetch(graph, j)
            more, other = _set_ones(graph[first:last], one, lowest, np.uint64(i), words[first:last])
            if other != 0:
                return False
            total += more
        n_loops = 0.0
        for s in range(n):
            n_loops += graph[s * (n + 1)] == one
        values = out[i]
        values[0], values[1], values[2], values[3] = 0.0, total - n_loops, total, n_loops
        values[4], values[5] = n_loops == n, n_loops > 0
        values[6], values[7], values[8], values[9] = 0.0, 0.0, -1.0, n_loops
    differs = np.uint64(0)
    for s in range(1, n):
        for t in range(s):
            differs |= words[s * n + t] ^ words[t * n + s]
    return bool(differs == np.uint64(0))


# A function each: with both in one, the compiler no longer finds its vector instructions.


@njit(cache=True, nogil=True)
def _is_lopsided(bits: NDArray[Any]) -> bool:
    """Tell whether some entry is not, to the last bit, its mirror image."""
    differs = bits[0, 0] & 0
    for s in range(1, bits.shape[0]):
        for t in range(s):
            differs |= bits[s, t] ^ bits[t, s]
    return bool(differs != 0)


@njit(cache=True, nogil=True)
def _set_ones(
    graph: NDArray[Any], one: Any, lowest: int, bit: Any, words: NDArray[np.uint64]
) -> tuple[int, Any]:
    """Set a bit of the words, (q,), of those entries of ``graph`` (q,) that are 1.

    Entries are the bits of floats. Returns how many are 1, and bits that some have which neither 0
    nor 1 has, or has not where 1 has them.
    """
    total, other = 0, one & 0
    for j in range(graph.shape[0]):
        is_one = (graph[j] >> lowest) & 1
        other |= graph[j] ^ (-is_one & one)
        total += is_one
        words[j] |= np.uint64(is_one) << bit
    return total, other


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
