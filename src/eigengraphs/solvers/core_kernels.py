"""Numba kernels of the core problem: small symmetric matrices, packed, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.protocol import Array

__all__ = [
    "pack_last",
    "pack_outer",
    "packed_curvature",
    "packed_multiply",
    "packed_state",
    "raise_quotients",
    "stay_on_tangent",
]

announce_compiling()

_SQRT2 = np.sqrt(2.0)
_DONE = 1e-4  # gradient over eigenvalue: no start needs more


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def raise_quotients(Z: NDArray[Any], Y: Array, n_steps: int) -> None:
    """Turn each row y of ``Y`` (b, s), in place, towards the top eigenvector of its own matrix.

    Each step goes to the best vector in the plane of y and the gradient of y^T S y, so that the
    quotient never falls. A hundred times cheaper than all eigenvectors, of which one is wanted.

    Parameters
    ----------
    Z : (b, p)
        Packed symmetric matrices S; the work is done in their type.
    Y
        Unit vectors.
    n_steps
        Products with S at most.
    """
    b, s = Y.shape
    number = Z.dtype.type
    S = np.empty((s, s), dtype=Z.dtype)
    y, w = np.empty(s, dtype=Z.dtype), np.empty(s, dtype=Z.dtype)
    g, Sg = np.empty(s, dtype=Z.dtype), np.empty(s, dtype=Z.dtype)
    for i in range(b):
        z = Z[i]
        largest = number(0.0)
        for e in range(z.shape[0]):
            largest = max(largest, abs(z[e]))
        if largest == 0.0:
            continue
        _unpack(z, S)
        for row in range(s):
            y[row] = Y[i, row]
            for column in range(s):  # so that squares below are within the range of the type
                S[row, column] /= largest
        _multiply(S, y, w)
        for _ in range(n_steps):
            rho = number(0.0)
            for row in range(s):
                rho += w[row] * y[row]
            square = number(0.0)
            for row in range(s):
                g[row] = w[row] - rho * y[row]
                square += g[row] * g[row]
            size = np.sqrt(square)
            if size <= _DONE * abs(rho) or size == 0.0:
                break
            for row in range(s):
                g[row] /= size
            _multiply(S, g, Sg)
            corner = number(0.0)
            for row in range(s):
                corner += g[row] * Sg[row]
            # The plane's matrix is [[rho, size], [size, corner]]; the angle of its top vector:
            angle = 0.5 * np.arctan2(2.0 * size, rho - corner)
            cosine, sine = number(np.cos(angle)), number(np.sin(angle))
            for row in range(s):
                y[row] = cosine * y[row] + sine * g[row]
                w[row] = cosine * w[row] + sine * Sg[row]
        norm = 0.0
        for row in range(s):
            Y[i, row] = y[row]
            norm += Y[i, row] * Y[i, row]
        norm = np.sqrt(norm)
        for row in range(s):
            Y[i, row] /= norm


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _multiply(S: NDArray[Any], y: NDArray[Any], w: NDArray[Any]) -> None:
    """Fill ``w`` with S y, ``S`` symmetric: four rows at a time, which needs no sums of lanes."""
    s = y.shape[0]
    w[:] = 0
    row = 0
    while row + 4 <= s:
        a, b, c, d = y[row], y[row + 1], y[row + 2], y[row + 3]
        first, second, third, fourth = S[row], S[row + 1], S[row + 2], S[row + 3]
        for e in range(s):
            w[e] += a * first[e] + b * second[e] + c * third[e] + d * fourth[e]
        row += 4
    while row < s:
        a, first = y[row], S[row]
        for e in range(s):
            w[e] += a * first[e]
        row += 1


@njit(cache=True, nogil=True)
def pack_outer(Y: Array, out: NDArray[Any]) -> None:
    """Fill ``out`` (b, p), of any type, with packed y y^T for the rows y of ``Y`` (b, s)."""
    for i in range(Y.shape[0]):
        y, z = Y[i], out[i]
        e = 0
        for row in range(y.shape[0]):
            twice = _SQRT2 * y[row]
            for column in range(row):
                z[e + column] = twice * y[column]
            z[e + row] = y[row] * y[row]
            e += row + 1


@njit(cache=True, nogil=True)
def pack_last(C: Array, out: Array) -> None:
    """Fill ``out`` (m, any) with the packed last b rows of matrices; ``C`` (m, s, b) has b columns.

    What is in these rows and in these columns is taken as the mean of both.
    """
    m, s, b = C.shape
    old = s - b
    for i in range(m):
        X, z = C[i], out[i]
        e = 0
        for row in range(b):
            for column in range(old):
                z[e + column] = _SQRT2 * X[column, row]
            e += old
            for column in range(row):
                z[e + column] = _SQRT2 * ((X[old + column, row] + X[old + row, column]) / 2)
            z[e + row] = X[old + row, row]
            e += row + 1


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def packed_multiply(Z: Array, Y: Array, out: Array) -> None:
    """Fill the rows of ``out`` (b, s) with S_i y_i, S_i a packed row of ``Z`` (b, p)."""
    for i in range(Y.shape[0]):
        z, y, w = Z[i], Y[i], out[i]
        e = 0
        for row in range(y.shape[0]):
            entry = z[e : e + row]
            total = 0.0
            for column in range(row):
                total += entry[column] * y[column]
            share = y[row] / _SQRT2
            for column in range(row):
                w[column] += share * entry[column]
            w[row] = total / _SQRT2 + z[e + row] * y[row]
            e += row + 1


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def packed_state(R: Array, taken: Array, Q: Array, y: Array, S: Array, forms: Array) -> float:
    """Fill ``forms`` (r,) with y^T C_i y and ``S`` (s, s) with sum_i (y^T C_i y) C_i.

    C_i is a packed row of R - taken^T Q, for ``R`` (r, p), ``taken`` (k, r) and ``Q`` (k, p).
    Returns sum_i (y^T C_i y)^2.
    """
    s, k = y.shape[0], Q.shape[0]
    packed, total = np.empty((1, R.shape[1])), np.zeros(R.shape[1])
    pack_outer(y.reshape(1, s), packed)
    z = packed[0]
    along, back = np.empty(k), np.zeros(k)
    for j in range(k):
        along[j] = np.dot(Q[j], z)
    T = 0.0
    for i in range(R.shape[0]):
        core = R[i]
        t = np.dot(core, z)
        for j in range(k):
            t -= along[j] * taken[j, i]
        forms[i] = t
        T += t * t
        for e in range(total.shape[0]):
            total[e] += t * core[e]
        for j in range(k):
            back[j] += t * taken[j, i]
    for j in range(k):
        q = Q[j]
        for e in range(total.shape[0]):
            total[e] -= back[j] * q[e]
    _unpack(total, S)
    return T


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def packed_curvature(RT: NDArray[Any], y: NDArray[Any], out: NDArray[Any]) -> None:
    """Fill ``out`` (s, s) with sum_i (C_i y)(C_i y)^T, C_i a packed column of ``RT`` (p, r).

    The graphs run fastest, so that every loop is long and goes through memory in order.
    """
    s, r = y.shape[0], RT.shape[1]
    half = y / y.dtype.type(_SQRT2)
    B = np.zeros((s, r), dtype=RT.dtype)  # C_i y
    e = 0
    for row in range(s):
        for column in range(row):
            left, right, entry = half[column], half[row], RT[e]
            for i in range(r):
                B[row, i] += left * entry[i]
            for i in range(r):
                B[column, i] += right * entry[i]
            e += 1
        for i in range(r):
            B[row, i] += y[row] * RT[e, i]
        e += 1
    np.dot(B, B.T, out)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def stay_on_tangent(K: Array, y: Array, f: float) -> None:
    """Change the symmetric ``K`` (s, s), in place, so that all but y is as on its tangent space.

    y gets an eigenvalue of its own, 4 f, above what it is for.
    """
    s = y.shape[0]
    u = np.empty(s)
    _multiply(K, y, u)
    along = 0.0
    for row in range(s):
        along += y[row] * u[row]
    along = 0.5 * along + 2.0 * f
    for row in range(s):
        u[row] -= along * y[row]
    for row in range(s):
        for column in range(s):
            K[row, column] -= u[row] * y[column] + y[row] * u[column]


@njit(cache=True, nogil=True)
def _unpack(z: NDArray[Any], S: NDArray[Any]) -> None:
    """Fill ``S`` (s, s) with the matrix that ``z`` (p,) is packed of."""
    e = 0
    root = z.dtype.type(_SQRT2)
    for row in range(S.shape[0]):
        for column in range(row):
            S[row, column] = S[column, row] = z[e] / root
            e += 1
        S[row, row] = z[e]
        e += 1
