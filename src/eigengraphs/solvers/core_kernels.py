"""Numba kernels of the core problem: small symmetric matrices, packed, many at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from eigengraphs.solvers.protocol import Array

__all__ = ["packed_products", "raise_quotients"]

_SQRT2 = np.sqrt(2.0)
_DONE = 1e-4  # gradient over eigenvalue: no start needs more


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def raise_quotients(Z: Array, Y: Array, n_steps: int) -> None:
    """Turn each row y of ``Y`` (b, s), in place, towards the top eigenvector of its own matrix.

    Each step goes to the best vector in the plane of y and the gradient of y^T S y, so that the
    quotient never falls. A hundred times cheaper than all eigenvectors, of which one is wanted.

    Parameters
    ----------
    Z : (b, p)
        Packed symmetric matrices S.
    Y
        Unit vectors.
    n_steps
        Products with S at most.
    """
    b, s = Y.shape
    S = np.empty((s, s))
    w, g, Sg = np.empty(s), np.empty(s), np.empty(s)
    for i in range(b):
        e = 0
        for row in range(s):
            for column in range(row):
                S[row, column] = S[column, row] = Z[i, e] / _SQRT2
                e += 1
            S[row, row] = Z[i, e]
            e += 1
        y = Y[i]
        for row in range(s):
            w[row] = np.dot(S[row], y)
        for _ in range(n_steps):
            rho = np.dot(w, y)
            for row in range(s):
                g[row] = w[row] - rho * y[row]
            size = np.sqrt(np.dot(g, g))
            if size <= _DONE * abs(rho) or size == 0.0:
                break
            g /= size
            for row in range(s):
                Sg[row] = np.dot(S[row], g)
            # The plane's matrix is [[rho, size], [size, corner]]; the angle of its top vector:
            angle = 0.5 * np.arctan2(2 * size, rho - np.dot(g, Sg))
            cosine, sine = np.cos(angle), np.sin(angle)
            for row in range(s):
                y[row] = cosine * y[row] + sine * g[row]
                w[row] = cosine * w[row] + sine * Sg[row]
        y /= np.sqrt(np.dot(y, y))


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def packed_products(R: Array, y: Array, out: Array) -> None:
    """Fill ``out`` (r, s) with C y for each packed matrix C, a row of ``R`` (r, p)."""
    r, s = out.shape
    for i in range(r):
        row_of_R, products = R[i], out[i]
        e = 0
        for row in range(s):
            total = 0.0
            weight = y[row] / _SQRT2
            for column in range(row):
                value = row_of_R[e + column]
                total += value * y[column]
                products[column] += value * weight
            products[row] = total / _SQRT2 + row_of_R[e + row] * y[row]
            e += row + 1
