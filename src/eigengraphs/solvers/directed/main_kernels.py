"""Numba kernels that climb on main cores of directed graphs; see :mod:`solvers.main_kernels`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.core_kernels import weigh_overlaps
from eigengraphs.solvers.directed.kernels import (
    minus_hessian,
    multiply_pairs,
    pack_pairs,
    raise_pair,
    shorten_to_unit,
)
from eigengraphs.solvers.main_kernels import SHORTEST, solve_positive
from eigengraphs.solvers.protocol import Array

__all__ = ["climb_main_pairs", "newton_main_pairs"]

announce_compiling()


@njit(cache=True, nogil=True)
def climb_main_pairs(
    M: NDArray[np.float32],
    b: int,
    X: Array,
    s: int,
    n_steps: int,
    n_turns: int,
    by_falls: NDArray[np.bool_],
    least: float,
    falls: Array,
) -> None:
    """Climb from the pairs of ``X`` (d, s + t), in place, as :func:`main_kernels.climb_main` does.

    ``s`` is the length of y; all else is as there.
    """
    d, (k, p) = X.shape[0], M.shape
    Z, T = np.empty((d, p), np.float32), np.empty((d, k), np.float32)
    ones = np.ones(d)
    for step in range(n_steps + 1):
        pack_pairs(X, s, Z)
        np.dot(Z, M.T, T)
        weigh_overlaps(T, b, ones, least, falls)
        if step == n_steps:
            break
        for i in range(d):
            if not by_falls[i]:
                T[i, b:] = 0
        np.dot(T, M, Z)
        for i in range(d):
            raise_pair(Z[i], X[i], s, n_turns)


@njit(cache=True, nogil=True)
def newton_main_pairs(
    M: NDArray[np.float32], x: Array, s: int, tol: float, n_steps: int, n_turns: int
) -> bool:
    """Take the pair ``x`` (s + t,), in place, to a maximum of f on cores ``M`` (b, s t).

    As :func:`main_kernels.newton_main` does; ``s`` is the length of y.
    """
    length, (b, p) = x.shape[0], M.shape
    t = length - s
    Z, T = np.empty((1, p), np.float32), np.empty((1, b), np.float32)
    B, BtB = np.empty((b, length), np.float32), np.empty((length, length), np.float32)
    K, none = np.empty((length, length)), np.empty((0, 0))
    short = np.empty(length, np.float32)
    before, r = x.copy(), np.empty(length)
    f_before, concave = -1.0, False
    for _ in range(n_steps):
        pack_pairs(x.reshape(1, length), s, Z)
        np.dot(Z, M.T, T)
        f = 0.0
        for i in range(b):
            f += T[0, i] * T[0, i]
        if f <= f_before * (1.0 - SHORTEST):
            # Z was lost: climb from where it came from, which cannot lead down.
            x[:] = before
            pack_pairs(x.reshape(1, length), s, Z)
            np.dot(Z, M.T, T)
            np.dot(T, M, Z)
            raise_pair(Z[0], x, s, n_turns)
            f_before, concave = -1.0, False
            continue
        np.dot(T, M, Z)
        S = Z[0].reshape(s, t)
        short[:] = x
        r[:s] = np.dot(S, short[s:])
        r[s:] = np.dot(short[:s], S)
        r -= f * x
        if (r * r).sum() <= (tol * f) ** 2:
            return concave
        before[:] = x
        f_before = f
        multiply_pairs(M, short[:s], short[s:], B)
        np.dot(B.T, B, BtB)
        minus_hessian(BtB, S, x, f, none, K)
        concave = solve_positive(K, r)
        if concave:
            x += r
            shorten_to_unit(x, s)
        else:
            raise_pair(Z[0], x, s, n_turns)
    return False
