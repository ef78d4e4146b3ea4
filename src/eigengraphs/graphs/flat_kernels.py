"""Numba kernels for products of a flat CSR matrix (m * n, n) with blocks of columns.

The matrix comes as its three arrays in canonical form (rows sorted, no duplicates), rows
``i * n`` to ``(i + 1) * n`` being graph ``i``. ``data`` of size 0 says that every stored value
is 1, and then no values are read. Symmetry is taken for granted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["add_weighted", "column_dots", "flat_multiply", "flat_row_sums"]


@njit(cache=True, nogil=True)
def flat_multiply(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    first: int,
    half: bool,
    D: NDArray[np.float64],
    B: NDArray[Any],
    C: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Fill ``out`` (r, w) with rows ``first`` to ``first + r`` of the treated graphs times ``B``.

    Row i n + s is A_i[s] B + D[i n + s] B[s] - C[s] for ``B`` (n, w), ``C`` (n, w) and ``D``
    (m n,); the last two may have size 0. With ``half``, entries below the diagonal count
    nothing, those on it, ``D`` and ``C`` half: then X = B^T out makes X + X^T the whole form.
    """
    n, w = B.shape
    share = B.dtype.type(0.5 if half else 1.0)
    for r in range(out.shape[0]):
        row = first + r
        s = row % n
        lo, hi = indptr[row], indptr[row + 1]
        on_diagonal = B.dtype.type(D[row]) if D.size > 0 else B.dtype.type(0)
        if half:
            above = 0
            for e in range(lo, hi):
                above += indices[e] > s
            e = hi - above - 1
            if e >= lo and indices[e] == s:
                on_diagonal += data[e] if data.size > 0 else B.dtype.type(1)
            lo = hi - above
        for k in range(w):
            out[r, k] = share * on_diagonal * B[s, k]
        if C.size > 0:
            for k in range(w):
                out[r, k] -= share * C[s, k]
        if data.size > 0:
            for e in range(lo, hi):
                for k in range(w):
                    out[r, k] += data[e] * B[indices[e], k]
        else:
            for e in range(lo, hi):
                for k in range(w):
                    out[r, k] += B[indices[e], k]


@njit(cache=True, nogil=True)
def add_weighted(
    P: NDArray[Any], weights: NDArray[np.float64], first: int, n: int, out: NDArray[np.float64]
) -> None:
    """Add ``weights[i, k] P[r, k]`` to ``out[s, k]``, row ``first + r`` being row s of graph i."""
    for r in range(P.shape[0]):
        i, s = divmod(first + r, n)
        for k in range(out.shape[1]):
            out[s, k] += weights[i, k] * P[r, k]


@njit(cache=True, nogil=True)
def column_dots(P: NDArray[Any], H: NDArray[Any], first: int, out: NDArray[np.float64]) -> None:
    """Add ``H[s, k] P[r, k]`` to ``out[i, k]``, row ``first + r`` being row s of graph i."""
    n = H.shape[0]
    for r in range(P.shape[0]):
        i, s = divmod(first + r, n)
        for k in range(out.shape[1]):
            out[i, k] += np.float64(H[s, k]) * np.float64(P[r, k])


@njit(cache=True, nogil=True)
def flat_row_sums(
    data: NDArray[Any], indptr: NDArray[Any], first: int, out: NDArray[np.float64]
) -> None:
    """Fill ``out`` (r,) with the sums of rows ``first`` to ``first + r``."""
    for r in range(out.shape[0]):
        total = 0.0
        for e in range(indptr[first + r], indptr[first + r + 1]):
            total += data[e]
        out[r] = total
