"""Numba kernels of the core: forms and gradients of packed cores, and steps of a climb.

Loops that sum have nothing else in them: with other writes in the loop the compiler chooses between
two orders of summation by where arrays lie in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.protocol import Array

__all__ = [
    "climb_triangles", "outer_triangles", "pull_pairs", "pull_triangles", "unpack_triangles",
]  # fmt: skip

announce_compiling()

_HALF = 0.7071067811865476  # off the diagonal, packed entries are sqrt(2) times those of a core


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def pull_triangles(R: NDArray[Any], x: Array, U: Array) -> None:
    """Fill ``U`` (r, s) with C_i x for packed symmetric cores, the rows of ``R`` (r, p)."""
    s = x.shape[0]
    off = _HALF * x
    for i in range(R.shape[0]):
        first = 0
        for row in range(s):
            entries = R[i, first : first + row + 1]
            total = 0.0
            for column in range(row):
                total += entries[column] * off[column]
            U[i, row] = total + entries[row] * x[row]
            first += row + 1
        first = 0
        for row in range(s):
            entries = R[i, first : first + row + 1]
            factor = off[row]
            for column in range(row):
                U[i, column] += entries[column] * factor
            first += row + 1


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def pull_pairs(R: NDArray[Any], x: Array, U: Array, s: int) -> None:
    """Fill ``U`` (r, s + t) with C_i z beside C_i^T y, for cores packed row by row in ``R``."""
    t = x.shape[0] - s
    for i in range(R.shape[0]):
        for column in range(t):
            U[i, s + column] = 0.0
        for row in range(s):
            entries = R[i, row * t : (row + 1) * t]
            total = 0.0
            for column in range(t):
                total += entries[column] * x[s + column]
            U[i, row] = total
            factor = x[row]
            for column in range(t):
                U[i, s + column] += entries[column] * factor


@njit(cache=True, nogil=True)
def outer_triangles(X: Array, Z: NDArray[Any]) -> None:
    """Fill ``Z`` (b, p) with packed x x^T of the rows of ``X`` (b, s)."""
    root = np.sqrt(2.0)
    for i in range(X.shape[0]):
        place = 0
        for row in range(X.shape[1]):
            factor = root * X[i, row]
            for column in range(row):
                Z[i, place + column] = factor * X[i, column]
            Z[i, place + row] = X[i, row] * X[i, row]
            place += row + 1


@njit(cache=True, nogil=True)
def unpack_triangles(Z: NDArray[Any], C: NDArray[Any]) -> None:
    """Fill ``C`` (b, s, s) with the symmetric matrices that are packed in ``Z`` (b, p)."""
    half = Z.dtype.type(_HALF)
    for i in range(Z.shape[0]):
        place = 0
        for row in range(C.shape[1]):
            for column in range(row):
                value = half * Z[i, place + column]
                C[i, row, column] = value
                C[i, column, row] = value
            C[i, row, row] = Z[i, place + row]
            place += row + 1


@njit(cache=True, nogil=True)
def climb_triangles(S: NDArray[Any], X: Array, n_steps: int) -> None:
    """Turn each row x of ``X`` (b, s), in place, towards the top eigenvector of its own S (s, s).

    Each step goes to the best vector in the plane of x and the gradient of x^T S x, so that this
    never falls. A hundred times cheaper than all eigenvectors, of which one is wanted.
    """
    s = X.shape[1]
    number = S.dtype.type
    x, g = np.empty(s, S.dtype), np.empty(s, S.dtype)
    for i in range(X.shape[0]):
        largest = np.float64(np.max(np.abs(S[i])))
        if largest == 0.0:
            continue
        scale = number(1.0 / (s * largest))  # then squares stay within the range of the type
        for row in range(s):
            x[row] = X[i, row]
        w = np.dot(S[i], x) * scale
        for _ in range(n_steps):
            rho = np.dot(w, x)
            for row in range(s):
                g[row] = w[row] - rho * x[row]
            size = np.sqrt(np.dot(g, g))
            if size <= number(1e-7) or size <= number(1e-6) * abs(rho):
                break
            for row in range(s):
                g[row] /= size
            v = np.dot(S[i], g) * scale
            corner = np.dot(v, g)
            half = (rho - corner) / number(2.0)
            along = half + np.sqrt(half * half + size * size)
            length = np.sqrt(along * along + size * size)
            cosine, sine = along / length, size / length
            for row in range(s):
                x[row] = cosine * x[row] + sine * g[row]
                w[row] = cosine * w[row] + sine * v[row]
        length = np.sqrt(np.dot(x, x))
        for row in range(s):
            X[i, row] = x[row] / length
