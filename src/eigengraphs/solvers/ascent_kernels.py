"""Numba kernels of :mod:`ascent`: one component on cores less what others hold of them.

C_i is a packed row of R - Lam Q, for ``R`` (m, p), ``Lam`` (m, k) and ``Q`` (k, p) of one type, in
which the long sums are taken. s(t) is t less ``penalty`` in magnitude, or 0, and its positive part
alone if ``nonnegative``; a graph takes part where s(t_i)^2 is above its ``costs``, c_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.core_kernels import (
    multiply_one,
    pack_outer,
    raise_one,
    stay_on_tangent,
    unpack_one,
)
from eigengraphs.solvers.main_kernels import SHORTEST, solve_positive
from eigengraphs.solvers.protocol import Array

__all__ = ["climb_ruled", "newton_ruled", "ruled_curvature", "ruled_state"]

announce_compiling()

_SQRT2 = np.sqrt(2.0)


@njit(cache=True, nogil=True)
def _shrunk(t: float, nonnegative: bool, penalty: float) -> float:
    """Return s(t)."""
    if t > penalty:
        return t - penalty
    return 0.0 if nonnegative or t >= -penalty else t + penalty


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def ruled_state(
    R: NDArray[Any],
    Lam: NDArray[Any],
    Q: NDArray[Any],
    w: Array,
    costs: Array,
    nonnegative: bool,
    penalty: float,
    y: Array,
    S: NDArray[Any],
    t: Array,
) -> tuple[float, float]:
    """Fill ``t`` (m,) with s(y^T C_i y), 0 where a graph takes no part, and S = sum_i w_i t_i C_i.

    Returns f and theta = sum_i w_i t_i y^T C_i y. Each core is read once.
    """
    s, (k, p) = y.shape[0], Q.shape
    number = R.dtype.type
    packed, total = np.empty((1, p), R.dtype), np.zeros(p, R.dtype)
    pack_outer(y.reshape(1, s), packed)
    z = packed[0]
    along, back = np.empty(k), np.zeros(k)
    for j in range(k):
        along[j] = np.dot(Q[j], z)
    f, theta = 0.0, 0.0
    for i in range(R.shape[0]):
        core = R[i]
        form = float(np.dot(core, z))
        for j in range(k):
            form -= along[j] * Lam[i, j]
        x = _shrunk(form, nonnegative, penalty)
        if x * x <= costs[i]:
            x = 0.0
        t[i] = x
        if x == 0.0:
            continue
        share = w[i] * x
        f += share * x - w[i] * costs[i]
        theta += share * form
        typed = number(share)
        for e in range(p):
            total[e] += typed * core[e]
        for j in range(k):
            back[j] += share * Lam[i, j]
    for j in range(k):
        typed, q = number(back[j]), Q[j]
        for e in range(p):
            total[e] -= typed * q[e]
    unpack_one(total, 1.0, S)
    return f, theta


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def ruled_curvature(
    R: NDArray[Any],
    Lam: NDArray[Any],
    Q: NDArray[Any],
    w: Array,
    t: Array,
    y: Array,
    out: NDArray[Any],
) -> None:
    """Fill ``out`` (s, s) with sum_i w_i (C_i y)(C_i y)^T over the graphs with t_i not zero."""
    m, s, k = R.shape[0], y.shape[0], Q.shape[0]
    number = R.dtype.type
    short = np.empty(s, R.dtype)
    for row in range(s):
        short[row] = y[row]
    off = np.empty((k, s), R.dtype)  # Q_j y
    for j in range(k):
        _packed_product(Q[j], short, off[j])
    B = np.empty((m, s), R.dtype)
    count = 0
    for i in range(m):
        if t[i] == 0.0:
            continue
        x = B[count]
        _packed_product(R[i], short, x)
        for j in range(k):
            share = Lam[i, j]
            if share != 0:
                for e in range(s):
                    x[e] -= share * off[j, e]
        root = number(np.sqrt(w[i]))
        for e in range(s):
            x[e] *= root
        count += 1
    np.dot(B[:count].T, B[:count], out)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _packed_product(z: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> None:
    """Fill ``x`` (s,) with C y, C packed in ``z`` (p,).

    An entry below the diagonal counts for its row, by a product of vectors, and for its column.
    """
    root = z.dtype.type(_SQRT2)
    x[:] = 0
    e = 0
    for row in range(y.shape[0]):
        entry, half = z[e : e + row], y[row] / root
        total = z.dtype.type(0.0)
        for column in range(row):
            total += entry[column] * y[column]
        for column in range(row):
            x[column] += entry[column] * half
        x[row] += total / root + z[e + row] * y[row]
        e += row + 1


@njit(cache=True, nogil=True)
def climb_ruled(
    R: NDArray[Any],
    Lam: NDArray[Any],
    Q: NDArray[Any],
    w: Array,
    costs: Array,
    nonnegative: bool,
    penalty: float,
    Y: Array,
    n_eager: int,
    n_steps: int,
    n_turns: int,
    gains: Array,
) -> None:
    """Climb from the unit rows of ``Y`` (b, s), in place; see :meth:`ascent.Ascent.climb`.

    Parameters
    ----------
    n_eager, n_steps
        Steps without penalty and costs, and then with them.
    n_turns
        Products of each with S at most.
    gains : (b,)
        Filled with f where it ends.
    """
    (b, s), (m, p), k = Y.shape, R.shape, Q.shape[0]
    Z, T, along = np.empty((b, p), R.dtype), np.empty((b, m), R.dtype), np.empty((b, k), R.dtype)
    S = np.empty((s, s), R.dtype)
    for step in range(n_eager + n_steps + 1):
        pack_outer(Y, Z)
        np.dot(Z, R.T, T)
        if k > 0:
            np.dot(Z, Q.T, along)
            T -= np.dot(along, Lam.T)
        eager = step < n_eager
        for place in range(b):
            total, row = 0.0, T[place]
            for i in range(m):
                x = _shrunk(float(row[i]), nonnegative, 0.0 if eager else penalty)
                if not eager and x * x <= costs[i]:
                    x = 0.0
                if x != 0.0:
                    total += w[i] * (x * x - costs[i])
                row[i] = w[i] * x
            gains[place] = total
        if step == n_eager + n_steps:
            break
        np.dot(T, R, Z)
        if k > 0:
            np.dot(T, Lam, along)
            Z -= np.dot(along, Q)
        for place in range(b):
            raise_one(Z[place], Y[place], n_turns, S)


@njit(cache=True, nogil=True)
def newton_ruled(
    R: NDArray[Any],
    Lam: NDArray[Any],
    Q: NDArray[Any],
    w: Array,
    costs: Array,
    nonnegative: bool,
    penalty: float,
    y: Array,
    tol: float,
    n_steps: int,
    n_turns: int,
    curved: float,
) -> tuple[float, float, bool]:
    """Take the unit vector ``y`` (s,), in place, to a maximum of f, as far as the type tells.

    By Newton's method where f is concave, and by a step that climbs where it is not, or where that
    leads down. Returns f, the relative gradient, and whether it is a maximum for sure: stationary,
    after a concave step or where no curvature is above ``curved`` theta.
    """
    s, m = y.shape[0], R.shape[0]
    S, BtB = np.empty((s, s), R.dtype), np.empty((s, s), R.dtype)
    z = np.empty(R.shape[1], R.dtype)
    K, t, r = np.empty((s, s)), np.empty(m), np.empty(s)
    short, Sy = np.empty(s, R.dtype), np.empty(s, R.dtype)
    before = y.copy()
    f, size, f_before, concave = 0.0, 0.0, -1.0, False
    for _ in range(n_steps):
        f, theta = ruled_state(R, Lam, Q, w, costs, nonnegative, penalty, y, S, t)
        if theta <= 0.0:
            return 0.0, 0.0, False
        if f <= f_before * (1.0 - SHORTEST):
            # From where it came from a climb cannot lead down.
            y[:] = before
            ruled_state(R, Lam, Q, w, costs, nonnegative, penalty, y, S, t)
            _raise(S, y, n_turns, z)
            f_before, concave = -1.0, False
            continue
        short[:] = y
        multiply_one(S, short, Sy)
        square = 0.0
        for row in range(s):
            r[row] = Sy[row] - theta * y[row]
            square += r[row] * r[row]
        size = np.sqrt(square) / theta
        stationary = size <= tol
        if stationary and concave:
            return f, size, True
        ruled_curvature(R, Lam, Q, w, t, y, BtB)
        for row in range(s):
            for column in range(s):
                K[row, column] = -2.0 * BtB[row, column] - S[row, column]
            K[row, row] += theta * (1.0 + curved if stationary else 1.0)
        stay_on_tangent(K, y, theta)
        concave = solve_positive(K, r)
        if stationary:
            return f, size, concave
        before[:] = y
        f_before = f
        if concave:
            y += r
            y /= np.sqrt((y * y).sum())
        else:
            _raise(S, y, n_turns, z)
    return f, size, False


@njit(cache=True, nogil=True)
def _raise(S: NDArray[Any], y: Array, n_turns: int, z: NDArray[Any]) -> None:
    """Turn ``y`` (s,), in place, towards the top eigenvector of ``S`` (s, s), which is lost."""
    e = 0
    root = z.dtype.type(_SQRT2)
    for row in range(y.shape[0]):
        for column in range(row):
            z[e + column] = root * S[row, column]
        z[e + row] = S[row, row]
        e += row + 1
    raise_one(z, y, n_turns, S)
