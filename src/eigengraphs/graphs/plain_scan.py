"""A quick scan of dense graphs that are finite and exactly symmetric, as nearly all are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = ["scan_plain"]

announce_compiling()

_TILE = 64


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def scan_plain(
    A: NDArray[Any],
    bits: NDArray[Any],
    magnitude: Any,
    infinite: Any,
    one: Any,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` as :func:`kernels.scan_dense` does; a row of it with nan means: not plain.

    Loops are plain enough for vector instructions. The bits of a float without its sign are in
    the order of the floats, with infinity and nan above all: one integer maximum finds the
    largest entry and whether all are finite.

    Parameters
    ----------
    A : (m, n, n)
        Graphs.
    bits : (m, n, n)
        The same memory as signed integers.
    magnitude, infinite, one
        Mask of all bits but the sign, and the bits of infinity and of 1.
    out
        (m, len(SCAN_FIELDS)).
    """
    m, n, _ = A.shape
    for i in range(m):
        off_squares, diagonal_squares = 0.0, 0.0
        n_nonzero, n_loops, n_other = 0, 0, 0
        largest = infinite & 0
        low, high = np.inf, -np.inf
        for s in range(n):
            row, row_bits = A[i, s], bits[i, s]
            for first, last in ((0, s), (s + 1, n)):
                squares, nonzero, other, top = 0.0, 0, 0, infinite & 0
                for t in range(first, last):
                    x = np.float64(row[t])
                    size = row_bits[t] & magnitude
                    squares += x * x
                    nonzero += size != 0
                    other += (size != 0) & (row_bits[t] != one)
                    top = max(top, size)
                off_squares += squares
                n_nonzero += nonzero
                n_other += other
                largest = max(largest, top)
            x, size = np.float64(row[s]), row_bits[s] & magnitude
            diagonal_squares += x * x
            n_loops += size != 0
            n_nonzero += size != 0
            n_other += (size != 0) & (row_bits[s] != one)
            largest = max(largest, size)
            low, high = min(low, x), max(high, x)
        if largest >= infinite or not _is_symmetric(A[i]):
            out[i] = np.nan
            continue
        max_abs = 0.0
        if largest > 0:
            max_abs = _largest(A[i], bits[i], magnitude, largest)
        values = out[i]
        values[0], values[1], values[2], values[3] = max_abs, off_squares, n_nonzero, n_loops
        values[4], values[5], values[6], values[7], values[8] = low, high, n_other, 0.0, -1.0
        values[9] = diagonal_squares


@njit(cache=True, nogil=True)
def _is_symmetric(A: NDArray[Any]) -> bool:
    """Tell whether every entry equals its mirror image; tiles and their images stay in cache."""
    n = A.shape[0]
    for s0 in range(0, n, _TILE):
        s1 = min(n, s0 + _TILE)
        for t0 in range(s0, n, _TILE):
            t1 = min(n, t0 + _TILE)
            differ = False
            for t in range(t0, t1):
                for s in range(s0, s1):
                    differ |= A[s, t] != A[t, s]
            if differ:
                return False
    return True


@njit(cache=True, nogil=True)
def _largest(A: NDArray[Any], bits: NDArray[Any], magnitude: Any, largest: Any) -> float:
    """Return the |entry| with these bits; the graph has it."""
    n = A.shape[0]
    for s in range(n):
        for t in range(n):
            if bits[s, t] & magnitude == largest:
                return abs(float(A[s, t]))
    return 0.0
