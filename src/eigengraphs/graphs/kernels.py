"""Numba kernels that read every entry of a stack once. They take arrays, never objects.

Dense stacks come as ``A`` (m, n, n); sparse ones as the three arrays of one flat CSR matrix
(m * n, n) in canonical form, rows ``i * n`` to ``(i + 1) * n`` being graph ``i``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = [
    "SCAN_FIELDS",
    "dense_distances",
    "flat_diagonals",
    "flat_distances",
    "flat_transpose",
    "scan_dense",
    "scan_flat",
]

announce_compiling()

# Columns of a scan's result in the order in which the kernels fill them, one row a graph.
SCAN_FIELDS = (
    "max_abs",  # largest |entry|
    "off_squares",  # sum of squares off the diagonal
    "n_nonzero",  # stored nonzeros, diagonal included
    "n_loops",  # nonzeros on the diagonal
    "diagonal_low",  # smallest diagonal entry
    "diagonal_high",  # largest diagonal entry
    "n_other",  # nonzeros that are not 1: none means unweighted
    "asymmetry",  # largest |A_st - A_ts| that is not rounding of the two
    "bad",  # s * n + t of an entry that is not finite, or -1
    "diagonal_squares",  # sum of squares on the diagonal
)
_SAME = 1e-9
_TILE = 64  # rows and columns of a tile and of its mirror image fit in the first cache level


@njit(cache=True, nogil=True)
def _gap(x: float, y: float) -> float:
    """Return |x - y|, or 0 where it is a billionth of the larger."""
    gap = abs(x - y)
    return 0.0 if gap <= _SAME * max(abs(x), abs(y)) else gap


@njit(cache=True, nogil=True)
def scan_dense(A: NDArray[Any], out: NDArray[np.float64]) -> None:
    """Fill ``out`` (m, len(SCAN_FIELDS)) with the facts of each graph of ``A`` (m, n, n)."""
    m, n, _ = A.shape
    for i in range(m):
        max_abs, off_squares, diagonal_squares, asymmetry = 0.0, 0.0, 0.0, 0.0
        n_nonzero, n_loops, n_other, bad = 0, 0, 0, -1
        low, high = np.inf, -np.inf
        for s0 in range(0, n, _TILE):
            s1 = min(n, s0 + _TILE)
            for t0 in range(s0, n, _TILE):
                t1 = min(n, t0 + _TILE)
                for s in range(s0, s1):
                    for t in range(max(t0, s), t1):
                        x = np.float64(A[i, s, t])
                        y = np.float64(A[i, t, s])
                        if not (np.isfinite(x) and np.isfinite(y)):
                            found = s * n + t if not np.isfinite(x) else t * n + s
                            if bad < 0 or found < bad:
                                bad = found
                            continue
                        if s == t:
                            low, high = min(low, x), max(high, x)
                            diagonal_squares += x * x
                            n_loops += x != 0.0
                            n_nonzero += x != 0.0
                            n_other += x not in (0.0, 1.0)
                        else:
                            off_squares += x * x + y * y
                            n_nonzero += (x != 0.0) + (y != 0.0)
                            n_other += (x not in (0.0, 1.0)) + (y not in (0.0, 1.0))
                            asymmetry = max(asymmetry, _gap(x, y))
                        max_abs = max(max_abs, max(abs(x), abs(y)))
        row = out[i]
        row[0], row[1], row[2], row[3] = max_abs, off_squares, n_nonzero, n_loops
        row[4], row[5], row[6], row[7], row[8] = low, high, n_other, asymmetry, bad
        row[9] = diagonal_squares


@njit(cache=True, nogil=True)
def scan_flat(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n: int,
    first: int,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` (b, len(SCAN_FIELDS)) with the facts of graphs ``first`` to ``first + b``."""
    unmatched = np.empty(n, dtype=np.int64)  # first entry of each row whose mirror was not met
    for i in range(out.shape[0]):
        max_abs, off_squares, diagonal_squares, asymmetry = 0.0, 0.0, 0.0, 0.0
        n_nonzero, n_loops, n_other, bad = 0, 0, 0, -1
        low, high = np.inf, -np.inf
        base = (first + i) * n
        unmatched[:] = indptr[base : base + n]
        for s in range(n):
            on_diagonal = 0.0
            for e in range(indptr[base + s], indptr[base + s + 1]):
                t, x = indices[e], np.float64(data[e])
                if not np.isfinite(x):
                    if bad < 0:
                        bad = s * n + t
                    continue
                n_nonzero += 1
                n_other += x != 1.0
                max_abs = max(max_abs, abs(x))
                if t == s:
                    on_diagonal = x
                    diagonal_squares += x * x
                    n_loops += 1
                    continue
                off_squares += x * x
                if t < s:
                    if e >= unmatched[s]:  # row t came before and did not meet this entry
                        asymmetry = max(asymmetry, _gap(x, 0.0))
                    continue
                # Rows come in order, so the mirror images in row t are met in order, too.
                f, last = unmatched[t], indptr[base + t + 1]
                while f < last and indices[f] < s:
                    asymmetry = max(asymmetry, _gap(np.float64(data[f]), 0.0))
                    f += 1
                y = 0.0
                if f < last and indices[f] == s:
                    y = np.float64(data[f])
                    f += 1
                unmatched[t] = f
                asymmetry = max(asymmetry, _gap(x, y))
            low, high = min(low, on_diagonal), max(high, on_diagonal)
        row = out[i]
        row[0], row[1], row[2], row[3] = max_abs, off_squares, n_nonzero, n_loops
        row[4], row[5], row[6], row[7], row[8] = low, high, n_other, asymmetry, bad
        row[9] = diagonal_squares


@njit(cache=True, nogil=True)
def _entry(data: NDArray[Any], indices: NDArray[Any], lo: int, hi: int, t: int) -> float:
    """Return entry ``t`` of the row stored in ``lo:hi``, by bisection."""
    while lo < hi:
        mid = (lo + hi) // 2
        if indices[mid] < t:
            lo = mid + 1
        elif indices[mid] > t:
            hi = mid
        else:
            return float(data[mid])
    return 0.0


@njit(cache=True, nogil=True)
def flat_diagonals(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], out: NDArray[np.float64]
) -> None:
    """Fill ``out`` (m, n) with the diagonal of each graph."""
    m, n = out.shape
    for i in range(m):
        for s in range(n):
            row = i * n + s
            out[i, s] = _entry(data, indices, indptr[row], indptr[row + 1], s)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def dense_distances(
    A: NDArray[Any], M: NDArray[np.float64], scale: float, out: NDArray[np.float64]
) -> None:
    """Fill ``out`` (m,) with ||scale (A_i - M)||^2 off the diagonal."""
    m, n, _ = A.shape
    for i in range(m):
        total = 0.0
        for s in range(n):
            row, mean = A[i, s], M[s]
            for first, last in ((0, s), (s + 1, n)):
                for t in range(first, last):
                    x = scale * (np.float64(row[t]) - mean[t])
                    total += x * x
        out[i] = total


@njit(cache=True, nogil=True)
def flat_distances(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    M_data: NDArray[Any],
    M_indices: NDArray[Any],
    M_indptr: NDArray[Any],
    scale: float,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` (m,) with ||scale (A_i - M)||^2 off the diagonal, ``M`` one sparse matrix.

    Entry by entry: ||A||^2 - 2 <A, M> + ||M||^2 would lose all digits for graphs near their mean.
    """
    n = M_indptr.shape[0] - 1
    for i in range(out.shape[0]):
        total = 0.0
        for s in range(n):
            e, e1 = indptr[i * n + s], indptr[i * n + s + 1]
            f, f1 = M_indptr[s], M_indptr[s + 1]
            while e < e1 or f < f1:
                x = 0.0
                from_graph = f >= f1 or (e < e1 and indices[e] <= M_indices[f])
                t = indices[e] if from_graph else M_indices[f]
                if e < e1 and indices[e] == t:
                    x += data[e]
                    e += 1
                if f < f1 and M_indices[f] == t:
                    x -= M_data[f]
                    f += 1
                if t != s:
                    total += (scale * x) ** 2
        out[i] = total


@njit(cache=True, nogil=True)
def flat_transpose(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n: int,
    lo: int,
    hi: int,
    data_T: NDArray[Any],
    indices_T: NDArray[Any],
    indptr_T: NDArray[Any],
) -> None:
    """Fill the arrays of the transposes of graphs ``lo`` to ``hi``, in canonical form.

    A graph and its transpose have as many entries, so each keeps its place in the arrays. With
    ``data`` of size 0 every stored value is 1 and none is written.
    """
    place = np.empty(n + 1, dtype=np.int64)
    for i in range(lo, hi):
        first, last = indptr[i * n], indptr[(i + 1) * n]
        place[:] = 0
        for e in range(first, last):
            place[indices[e] + 1] += 1
        place[0] = first
        for t in range(n):
            place[t + 1] += place[t]
            indptr_T[i * n + t] = place[t]
        for s in range(n):  # rows come in order, so that every column is sorted
            for e in range(indptr[i * n + s], indptr[i * n + s + 1]):
                t = indices[e]
                f = place[t]
                indices_T[f] = s
                if data.size > 0:
                    data_T[f] = data[e]
                place[t] = f + 1
