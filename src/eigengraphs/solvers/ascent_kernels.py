"""Numba kernel of :mod:`ascent`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.protocol import Array

__all__ = ["packed_products"]

announce_compiling()

_SQRT2 = np.sqrt(2.0)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def packed_products(R: Array, y: Array, which: NDArray[np.intp], out: Array) -> None:
    """Fill the rows of ``out`` (b, s) with C_i y, C_i a packed row of ``R`` (m, p), i in ``which``.

    An entry below the diagonal counts for its row, by a product of vectors, and for its column.
    """
    s = y.shape[0]
    for place in range(which.shape[0]):
        z, x = R[which[place]], out[place]
        x[:] = 0.0
        e = 0
        for row in range(s):
            half, total = y[row] / _SQRT2, 0.0
            for column in range(row):
                total += z[e + column] * y[column]
                x[column] += z[e + column] * half
            x[row] += total / _SQRT2 + z[e + row] * y[row]
            e += row + 1
