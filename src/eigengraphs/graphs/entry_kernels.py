"""Numba kernels on the entries of many small graphs: their lower triangles, row by row.

A graph on n vertices has p = n (n + 1) / 2 of these entries, entry (s, t), t <= s, being the
s (s + 1) / 2 + t th. Dense graphs come as ``A`` (b, n, n), sparse ones as the arrays of one flat
CSR matrix, as in :mod:`kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = ["dense_entries", "dense_forms", "flat_entries"]

announce_compiling()


@njit(cache=True, nogil=True)
def dense_entries(
    A: NDArray[Any],
    D: NDArray[np.float64],
    mu: NDArray[np.float64],
    scale: float,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` (b, p) with the entries of scale (A_i + Diag(D_i) - M).

    ``D`` is (b, n) or (0, n), which adds nothing; ``mu`` (p,) holds the entries of M.
    """
    b, n, _ = A.shape
    for i in range(b):
        first = 0
        for s in range(n):
            row, place, centre = A[i, s], out[i, first : first + s + 1], mu[first:]
            for t in range(s + 1):
                place[t] = scale * (np.float64(row[t]) - centre[t])
            if len(D):
                place[s] = scale * (np.float64(row[s]) + D[i, s] - centre[s])
            first += s + 1


@njit(cache=True, nogil=True)
def flat_entries(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    first: int,
    D: NDArray[np.float64],
    mu: NDArray[np.float64],
    scale: float,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` (b, p) as :func:`dense_entries` does, with the graphs from ``first`` on."""
    b, p = out.shape
    n = (int(np.sqrt(8 * p + 1)) - 1) // 2
    for i in range(b):
        place = out[i]
        for j in range(p):
            place[j] = -mu[j]
        for s in range(n):
            row, corner = (first + i) * n + s, s * (s + 1) // 2
            for e in range(indptr[row], indptr[row + 1]):
                if indices[e] > s:
                    break
                place[corner + indices[e]] += data[e]
            if len(D):
                place[corner + s] += D[i, s]
        for j in range(p):
            place[j] *= scale


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def dense_forms(A: NDArray[Any], X: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Fill ``out`` (b, d) with <A_i, X_k>, for ``A`` (b, q) and ``X`` (d, q), in float64."""
    for i in range(A.shape[0]):
        for k in range(X.shape[0]):
            total = 0.0
            for j in range(A.shape[1]):
                total += np.float64(A[i, j]) * X[k, j]
            out[i, k] = total
