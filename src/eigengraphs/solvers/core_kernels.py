"""Numba kernels of the core problem: small symmetric matrices, packed, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.protocol import Array

__all__ = [
    "multiply_all",
    "multiply_one",
    "pack_last",
    "pack_outer",
    "packed_curvature",
    "packed_multiply",
    "packed_state",
    "raise_one",
    "raise_quotients",
    "stay_on_tangent",
    "top_of_plane",
    "unpack_one",
    "weigh_overlaps",
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
    s = Y.shape[1]
    S = np.empty((s, s), dtype=Z.dtype)
    for i in range(Y.shape[0]):
        raise_one(Z[i], Y[i], n_steps, S)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def raise_one(z: NDArray[Any], top: Array, n_steps: int, S: NDArray[Any]) -> None:
    """Turn the unit vector ``top`` (s,), in place, towards the top eigenvector of S.

    S is packed in ``z`` (p,); what ``S`` (s, s) holds does not matter, and is lost.
    """
    s = top.shape[0]
    number = z.dtype.type
    y, w = np.empty(s, dtype=z.dtype), np.empty(s, dtype=z.dtype)
    g, Sg = np.empty(s, dtype=z.dtype), np.empty(s, dtype=z.dtype)
    whole = 0.0
    for e in range(z.shape[0]):
        whole += np.float64(z[e]) * np.float64(z[e])
    if whole == 0.0 or np.isinf(number(1.0 / np.sqrt(whole))):
        return  # nothing, or what has no digits in the type
    unpack_one(z, 1.0 / np.sqrt(whole), S)  # squares below are within the range of the type
    for row in range(s):
        y[row] = top[row]
    multiply_one(S, y, w)
    for _ in range(n_steps):
        rho = number(0.0)
        for row in range(s):
            rho += w[row] * y[row]
        for row in range(s):
            g[row] = w[row] - rho * y[row]
        square = number(0.0)
        for row in range(s):  # a loop of its own, as all sums: see ARCHITECTURE.md
            square += g[row] * g[row]
        size = np.sqrt(square)
        if size <= _DONE * abs(rho) or size == 0.0:
            break
        for row in range(s):
            g[row] /= size
        multiply_one(S, g, Sg)
        corner = number(0.0)
        for row in range(s):
            corner += g[row] * Sg[row]
        along, across = top_of_plane(rho, size, corner)
        cosine, sine = number(along), number(across)
        for row in range(s):
            y[row] = cosine * y[row] + sine * g[row]
            w[row] = cosine * w[row] + sine * Sg[row]
    norm = 0.0
    for row in range(s):
        norm += np.float64(y[row]) * np.float64(y[row])
    norm = np.sqrt(norm)
    for row in range(s):
        top[row] = y[row] / norm


@njit(cache=True, nogil=True)
def top_of_plane(rho: float, size: float, corner: float) -> tuple[float, float]:
    """Return the top unit eigenvector of [[rho, size], [size, corner]], for size > 0.

    Its longer side first, where nothing cancels. Functions of angles take longer than the product
    with a small matrix.
    """
    apart, twice = np.float64(rho) - corner, 2.0 * size
    distance = np.sqrt(apart * apart + twice * twice)
    longer = np.sqrt(0.5 + 0.5 * abs(apart) / distance)
    shorter = size / (distance * longer)
    return (longer, shorter) if apart >= 0.0 else (shorter, longer)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def multiply_one(S: NDArray[Any], y: NDArray[Any], w: NDArray[Any]) -> None:
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
        _multiply_packed(Z[i], Y[i], out[i])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _multiply_packed(z: NDArray[Any], y: NDArray[Any], w: NDArray[Any]) -> None:
    """Fill ``w`` (s,) with S y, ``z`` (p,) being S packed."""
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
    packed, total = np.empty((1, R.shape[1]), R.dtype), np.zeros(R.shape[1], R.dtype)
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
    unpack_one(total, 1.0, S)
    return T


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def packed_curvature(
    RT: NDArray[Any], taken: Array, Q: Array, y: NDArray[Any], out: NDArray[Any]
) -> None:
    """Fill ``out`` (s, s) with sum_i (C_i y)(C_i y)^T, in the type of ``RT``.

    C_i is a packed column of RT - Q^T taken, for ``RT`` (p, r), ``taken`` (k, r) and ``Q`` (k, p).
    The graphs run fastest, so that every loop is long and goes through memory in order.
    """
    s, r = y.shape[0], RT.shape[1]
    B = np.zeros((s, r), dtype=RT.dtype)  # C_i y
    multiply_all(RT, y, B)
    if Q.shape[0] > 0:
        off = np.zeros((Q.shape[0], s))  # Q_j y
        for j in range(Q.shape[0]):
            _multiply_packed(Q[j], y, off[j])
        for row in range(s):
            for j in range(Q.shape[0]):
                share = RT.dtype.type(off[j, row])
                for i in range(r):
                    B[row, i] -= share * RT.dtype.type(taken[j, i])
    np.dot(B, B.T, out)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def multiply_all(RT: NDArray[Any], y: NDArray[Any], B: NDArray[Any]) -> None:
    """Add C_i y to the columns of ``B`` (s, r), C_i a packed column of ``RT`` (p, r)."""
    s, r = B.shape
    half = y / y.dtype.type(_SQRT2)
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


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def weigh_overlaps(T: NDArray[Any], b: int, norms: Array, least: float, falls: Array) -> None:
    """Fill ``falls`` (d,) with sums of squares in the first b columns of ``T`` over what is new.

    New of a component of squared norm ``norms[i]`` is what the squares in the other columns leave,
    ``least`` of it at least. These columns are multiplied by what came out, or by 0 where less is
    new, in place.
    """
    for i in range(T.shape[0]):
        row = T[i]
        total, known = 0.0, 0.0
        for e in range(b):
            total += np.float64(row[e]) * np.float64(row[e])
        for e in range(b, row.shape[0]):
            known += np.float64(row[e]) * np.float64(row[e])
        new = norms[i] - known
        falls[i] = total / max(new, least * norms[i])
        share = row.dtype.type(falls[i] if new > least * norms[i] else 0.0)
        for e in range(b, row.shape[0]):
            row[e] *= share


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def stay_on_tangent(K: Array, y: Array, f: float) -> None:
    """Change the symmetric ``K`` (s, s), in place, so that all but y is as on its tangent space.

    y gets an eigenvalue of its own, 4 f, above what it is for.
    """
    s = y.shape[0]
    u = np.empty(s)
    multiply_one(K, y, u)
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
def unpack_one(z: NDArray[Any], scale: float, S: NDArray[Any]) -> None:
    """Fill ``S`` (s, s) with the matrix that ``z`` (p,) is packed of, times a number."""
    e = 0
    on, off = z.dtype.type(scale), z.dtype.type(scale / _SQRT2)
    for row in range(S.shape[0]):
        entry = z[e : e + row]
        for column in range(row):
            S[row, column] = S[column, row] = off * entry[column]
        S[row, row] = on * z[e + row]
        e += row + 1
