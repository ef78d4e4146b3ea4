"""Numba kernels for packed matrices, and for roots of their second moments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = ["put_back", "squares_in_moment", "unpack_all"]

announce_compiling()

_SQRT2 = np.sqrt(2.0)


@njit(cache=True, nogil=True)
def put_back(factor: NDArray[np.float64], pivots: NDArray[Any], R: NDArray[np.float64]) -> None:
    """Fill ``R`` (r, p), zero so far, with the first r rows of a triangle (p, p).

    Column j of the upper triangle goes to place ``pivots[j] - 1``, as LAPACK counts.
    """
    r, p = R.shape
    for j in range(p):
        place = pivots[j] - 1
        for row in range(min(r, j + 1)):
            R[row, place] = factor[row, j]


@njit(cache=True, nogil=True)
def squares_in_moment(M: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Fill ``out`` (s, s) with sum_i C_i^2 for M (p, p) = sum_i c_i c_i^T, its upper triangle.

    c_i is the lower triangle of a symmetric C_i, row by row: what is summed up is in M already.
    """
    s = out.shape[0]
    for row in range(s):
        for column in range(row + 1):
            total = 0.0
            for k in range(s):
                one = max(row, k) * (max(row, k) + 1) // 2 + min(row, k)
                other = max(column, k) * (max(column, k) + 1) // 2 + min(column, k)
                total += M[min(one, other), max(one, other)]
            out[row, column] = out[column, row] = total


@njit(cache=True, nogil=True)
def unpack_all(Z: NDArray[np.float64], C: NDArray[np.float64]) -> None:
    """Fill ``C`` (b, s, s) with the symmetric matrices that the rows of ``Z`` (b, p) are of."""
    for i in range(Z.shape[0]):
        e = 0
        for row in range(C.shape[1]):
            for column in range(row):
                C[i, row, column] = C[i, column, row] = Z[i, e] / _SQRT2
                e += 1
            C[i, row, row] = Z[i, e]
            e += 1
