"""A quick scan of sparse graphs that are finite and exactly symmetric, as nearly all are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = ["scan_plain_flat"]

announce_compiling()


@njit(cache=True, nogil=True)
def scan_plain_flat(
    data: NDArray[Any],
    bits: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n: int,
    first: int,
    marks: NDArray[Any],
    probes: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` as :func:`kernels.scan_flat` does; a row of it with nan means: not plain.

    Symmetry of the bits B is told by random odd integers p, for which the sum of B_st p_s p_t above
    the diagonal is that below it, modulo 2^64. One entry without its mirror image is seen for sure,
    several that make up for each other with a probability of about 1 - 2^-40. Looking for mirror
    images, which are anywhere in the graph, takes ten times as long.

    Parameters
    ----------
    data, indices, indptr, n, first
        As of :func:`kernels.scan_flat`.
    bits
        The memory of ``data`` as signed integers.
    marks : (3,)
        In the type of the bits: mask of all but the sign, infinity and 1.
    probes : (n,)
        Random odd integers.
    out
        (b, len(SCAN_FIELDS)).
    """
    magnitude, infinite, one = marks[0], marks[1], marks[2]
    for i in range(out.shape[0]):
        rows = indptr[(first + i) * n : (first + i + 1) * n + 1]
        begin, end = rows[0], rows[-1]
        n_other, largest = _survey(bits[begin:end], magnitude, one)
        if largest >= infinite:
            out[i] = np.nan
            continue
        if n_other == 0:
            imbalance, n_loops = _probe_ones(indices, rows, probes)
            off_squares, diagonal_squares = float(end - begin - n_loops), float(n_loops)
            low = 1.0 if n_loops == n else 0.0
            high = 1.0 if n_loops > 0 else 0.0
            max_abs = 1.0 if end > begin else 0.0
        else:
            imbalance, off_squares = _probe(data, bits, indices, rows, probes)
            n_loops, diagonal_squares, low, high = _diagonal(data, indices, rows)
            max_abs = _largest(data[begin:end], bits[begin:end], magnitude, largest)
        if imbalance != 0:
            out[i] = np.nan
            continue
        values = out[i]
        values[0], values[1], values[2], values[3] = max_abs, off_squares, end - begin, n_loops
        values[4], values[5], values[6], values[7], values[8] = low, high, n_other, 0.0, -1.0
        values[9] = diagonal_squares


@njit(cache=True, nogil=True)
def _survey(bits: NDArray[Any], magnitude: Any, one: Any) -> tuple[int, Any]:
    """Return the number of entries that are not 1, and the largest bits without a sign."""
    other, top = 0, magnitude & 0
    for e in range(bits.shape[0]):
        other += bits[e] != one
        top = max(top, bits[e] & magnitude)
    return other, top


@njit(cache=True, nogil=True)
def _probe_ones(
    indices: NDArray[Any], rows: NDArray[Any], probes: NDArray[np.int32]
) -> tuple[Any, int]:
    """Return sum_s<t (A_st - A_ts) p_s p_t modulo 2^64, and the number of loops of a graph of ones.

    An index without a sign: otherwise a negative one would be looked for.
    """
    imbalance, n_loops = np.int64(0), 0
    for s in range(rows.shape[0] - 1):
        total, loops = np.int64(0), 0
        for e in range(rows[s], rows[s + 1]):
            t = indices[e]
            p = np.int64(probes[np.uint64(t)])
            total += p if t > s else -p
            loops += t == s
        imbalance += probes[s] * (total + loops * np.int64(probes[s]))  # loops are on neither side
        n_loops += loops
    return imbalance, n_loops


@njit(cache=True, nogil=True)
def _probe(
    data: NDArray[Any],
    bits: NDArray[Any],
    indices: NDArray[Any],
    rows: NDArray[Any],
    probes: NDArray[np.int32],
) -> tuple[Any, float]:
    """Return sum_s<t (B_st - B_ts) p_s p_t modulo 2^64, and the sum of squares off the diagonal."""
    imbalance, squares = np.int64(0), 0.0
    for s in range(rows.shape[0] - 1):
        total = np.int64(0)
        for e in range(rows[s], rows[s + 1]):
            t, b = indices[e], np.int64(bits[e])
            # The upper half into the lower: small whole numbers differ in their upper bits alone.
            b ^= (b >> 32) & 0xFFFFFFFF
            term = b * probes[np.uint64(t)]
            total += term if t > s else -term if t < s else 0
            x = np.float64(data[e]) if t != s else 0.0
            squares += x * x
        imbalance += probes[s] * total
    return imbalance, squares


@njit(cache=True, nogil=True)
def _diagonal(
    data: NDArray[Any], indices: NDArray[Any], rows: NDArray[Any]
) -> tuple[int, float, float, float]:
    """Return the number of loops, their sum of squares, and the diagonal's range."""
    n_loops, squares, low, high = 0, 0.0, np.inf, -np.inf
    for s in range(rows.shape[0] - 1):
        lo, hi = rows[s], rows[s + 1]
        while lo < hi:
            mid = (lo + hi) // 2
            if indices[mid] < s:
                lo = mid + 1
            else:
                hi = mid
        x = 0.0
        if lo < rows[s + 1] and indices[lo] == s:
            x = np.float64(data[lo])
            n_loops += 1
        squares += x * x
        low, high = min(low, x), max(high, x)
    return n_loops, squares, low, high


@njit(cache=True, nogil=True)
def _largest(data: NDArray[Any], bits: NDArray[Any], magnitude: Any, largest: Any) -> float:
    """Return the |value| with these bits, which is there."""
    for e in range(bits.shape[0]):
        if bits[e] & magnitude == largest:
            return abs(float(data[e]))
    return 0.0
