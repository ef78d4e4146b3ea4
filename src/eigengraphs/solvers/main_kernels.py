"""Numba kernels that climb on main cores: few, in float32, in a near cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.core_kernels import (
    multiply_all,
    multiply_one,
    pack_outer,
    raise_one,
    stay_on_tangent,
    unpack_one,
    weigh_overlaps,
)
from eigengraphs.solvers.protocol import Array

__all__ = ["SHORTEST", "climb_main", "newton_main", "solve_positive"]

announce_compiling()

SHORTEST = 1e-6  # of f, by which it may seem to fall: float32 has no more to tell
_WIDE = 128  # cores from which products with few vectors are faster by a copy in the other order


@njit(cache=True, nogil=True)
def climb_main(
    M: NDArray[np.float32],
    b: int,
    Y: Array,
    n_steps: int,
    n_turns: int,
    by_falls: NDArray[np.bool_],
    least: float,
    falls: Array,
) -> None:
    """Climb from the unit rows of ``Y`` (d, s), in place; see :meth:`quotient.Quotient.explore`.

    Parameters
    ----------
    M : (b + k, p)
        Packed cores, and unit vectors along what components hold already.
    n_steps, n_turns
        Steps, and products of each with S at most.
    by_falls : (d,)
        Whether it is f over what is new that rises, or f.
    least
        Share of a component that counts as new at least.
    falls : (d,)
        Filled with f over what is new, where it ends.
    """
    d, s = Y.shape
    k, p = M.shape
    Z, T = np.empty((d, p), np.float32), np.empty((d, k), np.float32)
    S = np.empty((s, s), np.float32)
    ones = np.ones(d)
    MT = np.empty((p, k if k >= _WIDE else 0), np.float32)
    if k >= _WIDE:
        MT[:] = M.T
    for step in range(n_steps + 1):
        pack_outer(Y, Z)
        if k >= _WIDE:
            np.dot(Z, MT, T)
        else:
            np.dot(Z, M.T, T)
        weigh_overlaps(T, b, ones, least, falls)
        if step == n_steps:
            break
        for i in range(d):
            if not by_falls[i]:
                T[i, b:] = 0
        np.dot(T, M, Z)
        for i in range(d):
            raise_one(Z[i], Y[i], n_turns, S)


@njit(cache=True, nogil=True)
def newton_main(
    M: NDArray[np.float32],
    MT: NDArray[np.float32],
    y: Array,
    tol: float,
    n_steps: int,
    n_turns: int,
) -> bool:
    """Take the unit vector ``y`` (s,), in place, to a maximum of f on cores ``M`` (b, p).

    ``MT`` (p, b) is the same in the other order. By Newton's method where f is concave, and by a
    step that climbs where it is not, or where that leads down. Returns whether a step of Newton's
    method, from where f is concave, came to where it is stationary: a maximum, as good as sure.
    """
    s, (b, p) = y.shape[0], M.shape
    Z, T = np.empty((1, p), np.float32), np.empty((1, b), np.float32)
    S, K = np.empty((s, s), np.float32), np.empty((s, s))
    B, BtB = np.empty((s, b), np.float32), np.empty((s, s), np.float32)
    short, Sy = np.empty(s, np.float32), np.empty(s, np.float32)
    before, r = y.copy(), np.empty(s)
    f_before, concave = -1.0, False
    for _ in range(n_steps):
        pack_outer(y.reshape(1, s), Z)
        np.dot(Z, M.T, T)
        f = 0.0
        for i in range(b):
            f += np.float64(T[0, i]) * np.float64(T[0, i])
        if f <= f_before * (1.0 - SHORTEST):
            # The step led down: climb from where it began, which cannot.
            y[:] = before
            pack_outer(y.reshape(1, s), Z)
            np.dot(Z, M.T, T)
            np.dot(T, M, Z)
            raise_one(Z[0], y, n_turns, S)
            f_before, concave = -1.0, False
            continue
        np.dot(T, M, Z)
        unpack_one(Z[0], 1.0, S)
        short[:] = y
        multiply_one(S, short, Sy)
        square = 0.0
        for row in range(s):
            r[row] = Sy[row] - f * y[row]
            square += r[row] * r[row]
        if square <= (tol * f) ** 2:
            return concave
        before[:] = y
        f_before = f
        B[:] = 0
        multiply_all(MT, short, B)
        np.dot(B, B.T, BtB)
        for row in range(s):
            for column in range(s):
                K[row, column] = -2.0 * BtB[row, column] - S[row, column]
            K[row, row] += f
        stay_on_tangent(K, y, f)
        concave = solve_positive(K, r)
        if concave:
            y += r
            y /= np.sqrt((y * y).sum())
        else:
            raise_one(Z[0], y, n_turns, S)
    return False


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def solve_positive(K: NDArray[Any], x: Array) -> bool:
    """Replace ``x`` (s,) by K^-1 x, and ``K`` by its Cholesky factor; False if there is none."""
    s = x.shape[0]
    for row in range(s):
        line = K[row]
        for column in range(row):
            other = K[column]
            total = line[column]
            for e in range(column):
                total -= line[e] * other[e]
            line[column] = total / other[column]
        pivot = line[row]
        for e in range(row):
            pivot -= line[e] * line[e]
        if not pivot > 0.0:
            return False  # nor if it is no number
        line[row] = np.sqrt(pivot)
    for row in range(s):
        line, total = K[row], x[row]
        for e in range(row):
            total -= line[e] * x[e]
        x[row] = total / line[row]
    for row in range(s - 1, -1, -1):
        line = K[row]
        x[row] /= line[row]
        for e in range(row):
            x[e] -= line[e] * x[row]
    return True
