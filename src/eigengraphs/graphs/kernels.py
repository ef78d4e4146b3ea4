"""Numba kernels for distances from a mean, and for transposes. They take arrays, never objects.

Dense stacks come as ``A`` (m, n, n); sparse ones as the three arrays of one flat CSR matrix
(m * n, n) in canonical form, rows ``i * n`` to ``(i + 1) * n`` being graph ``i``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = ["dense_distances", "flat_distances", "flat_transpose"]

announce_compiling()


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
