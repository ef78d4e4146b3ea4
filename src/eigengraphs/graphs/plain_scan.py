"""A quick scan of dense graphs that are finite and exactly symmetric, as nearly all are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = ["scan_plain"]

announce_compiling()


def _folded(bits: Any) -> Any:
    """Return bits of 32 or 64 as an int64, different for different bits."""


@overload(_folded, inline="always", strict=False)
def _folded_by_type(bits: Any) -> Any:
    # Constants, and no branch, where the loop is to become vector instructions.
    if bits == types.int32:
        return lambda bits: np.int64(bits)
    # The upper half into the lower, too: small whole numbers differ in their upper bits alone.
    return lambda bits: bits ^ ((bits >> 32) & 0xFFFFFFFF)


def _as(x: Any, like: Any) -> Any:
    """Return an integer in the type of another."""


@overload(_as, inline="always", strict=False)
def _as_by_type(x: Any, like: Any) -> Any:  # noqa: ARG001
    # Numba counts in 64 bits, of which a vector holds half as many.
    if like == types.int32:
        return lambda x, like: np.int32(x)  # noqa: ARG005
    return lambda x, like: np.int64(x)  # noqa: ARG005


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def scan_plain(
    A: NDArray[Any],
    bits: NDArray[Any],
    marks: NDArray[Any],
    probes: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` as :func:`kernels.scan_dense` does; a row of it with nan means: not plain.

    Loops go along rows and are plain enough for vector instructions. The bits of a float without
    its sign are in the order of the floats, with infinity and nan above all: one integer maximum
    finds the largest entry and whether all are finite. Symmetry of the bits B is told by two random
    vectors of integers, for which u^T B v = v^T B u modulo 2^64; one entry without its mirror
    image passes with a probability of about 2^-40. Comparing entries, half of which are columns
    away, takes four times as long.

    Parameters
    ----------
    A : (m, n, n)
        Graphs.
    bits : (m, n, n)
        The same memory as signed integers.
    marks : (3,)
        In the type of the bits: mask of all but the sign, infinity and 1.
    probes : (2, n)
        Random integers u and v.
    out
        (m, len(SCAN_FIELDS)).
    """
    m, n, _ = A.shape
    magnitude, infinite, one = marks[0], marks[1], marks[2]
    u, v = probes[0], probes[1]
    for i in range(m):
        off_squares, diagonal_squares = 0.0, 0.0
        n_nonzero, n_loops, n_other = 0, 0, 0
        largest = infinite & 0
        low, high = np.inf, -np.inf
        imbalance = np.int64(0)  # u^T B v - v^T B u
        for s in range(n):
            row, row_bits = A[i, s], bits[i, s]
            Bu, Bv = _probe(row_bits, u, v)
            imbalance += u[s] * Bv - v[s] * Bu
            nonzero, other, top = _count(row_bits, magnitude, one)
            n_nonzero += nonzero
            n_other += other
            largest = max(largest, top)
            x = np.float64(row[s])
            squares = _squares(row, 0, n)
            if 2 * x * x <= squares:
                squares -= x * x
            else:  # a large one would eat the digits of the others
                squares = _squares(row, 0, s) + _squares(row, s + 1, n)
            off_squares += squares
            diagonal_squares += x * x
            n_loops += x != 0.0
            low, high = min(low, x), max(high, x)
        if largest >= infinite or imbalance != 0:
            out[i] = np.nan
            continue
        max_abs = 0.0
        if largest > 0:
            max_abs = _largest(A[i], bits[i], magnitude, largest)
        values = out[i]
        values[0], values[1], values[2], values[3] = max_abs, off_squares, n_nonzero, n_loops
        values[4], values[5], values[6], values[7], values[8] = low, high, n_other, 0.0, -1.0
        values[9] = diagonal_squares


# A loop a function: with more in one, the compiler no longer finds its vector instructions.


@njit(cache=True, nogil=True)
def _probe(bits: NDArray[Any], u: NDArray[np.int32], v: NDArray[np.int32]) -> tuple[Any, Any]:
    """Return the inner products of the folded bits with u and v, modulo 2^64."""
    Bu, Bv = np.int64(0), np.int64(0)
    for t in range(bits.shape[0]):
        b = _folded(bits[t])
        Bu += b * u[t]
        Bv += b * v[t]
    return Bu, Bv


@njit(cache=True, nogil=True)
def _count(bits: NDArray[Any], magnitude: Any, one: Any) -> tuple[int, int, Any]:
    """Return the number of nonzeros, of those that are not 1, and the largest bits."""
    zeros, ones, top = _as(0, magnitude), _as(0, magnitude), _as(0, magnitude)
    for t in range(bits.shape[0]):
        size = _as(bits[t] & magnitude, magnitude)
        zeros = _as(zeros + (size == 0), magnitude)
        ones = _as(ones + (bits[t] == one), magnitude)
        top = max(top, size)
    nonzero = bits.shape[0] - zeros
    return nonzero, nonzero - ones, top


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _squares(row: NDArray[Any], first: int, last: int) -> float:
    """Return the sum of squares from first to last, in float64."""
    total = 0.0
    for t in range(first, last):
        x = np.float64(row[t])
        total += x * x
    return total


@njit(cache=True, nogil=True)
def _largest(A: NDArray[Any], bits: NDArray[Any], magnitude: Any, largest: Any) -> float:
    """Return the |entry| with these bits; the graph has it."""
    n = A.shape[0]
    for s in range(n):
        for t in range(n):
            if bits[s, t] & magnitude == largest:
                return abs(float(A[s, t]))
    return 0.0
