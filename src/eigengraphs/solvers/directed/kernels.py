"""Numba kernels of the core problem of directed graphs: small matrices, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.core_kernels import top_of_plane
from eigengraphs.solvers.protocol import Array

__all__ = [
    "keep_tangents",
    "minus_hessian",
    "multiply_pairs",
    "pack_pairs",
    "raise_pair",
    "raise_pairs",
    "shorten_to_unit",
    "weigh_cores",
]

announce_compiling()

_DONE = 1e-4  # gradient over squared singular value: no start needs more


@njit(cache=True, nogil=True)
def pack_pairs(X: Array, s: int, out: NDArray[Any]) -> None:
    """Fill ``out`` (b, s t), of any type, with packed y z^T for the rows (y, z) of ``X``."""
    t = X.shape[1] - s
    for i in range(X.shape[0]):
        y, z, packed = X[i, :s], X[i, s:], out[i]
        for row in range(s):
            line, share = packed[row * t : (row + 1) * t], y[row]
            for column in range(t):
                line[column] = share * z[column]


@njit(cache=True, nogil=True)
def raise_pairs(Z: NDArray[Any], X: Array, s: int, n_steps: int) -> None:
    """Turn each row (y, z) of ``X`` (b, s + t), in place, towards the top singular pair of its own.

    Parameters
    ----------
    Z : (b, s t)
        Packed matrices S (s, t); the work is done in their type.
    X
        Pairs of unit vectors.
    s
        Length of y.
    n_steps
        Products with S^T S at most.
    """
    for i in range(X.shape[0]):
        raise_pair(Z[i], X[i], s, n_steps)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def raise_pair(packed: NDArray[Any], x: Array, s: int, n_steps: int) -> None:
    """Turn ``x`` (s + t,), in place, towards the top singular pair of a ``packed`` S (s t,).

    Each step goes to the best z in the plane of z and the gradient of ||S z||^2, and y follows as
    S z, so that y^T S z never falls.
    """
    number, t = packed.dtype.type, x.shape[0] - s
    whole = 0.0
    for e in range(packed.shape[0]):
        whole += np.float64(packed[e]) * np.float64(packed[e])
    if whole == 0.0 or np.isinf(number(1.0 / np.sqrt(whole))):
        return  # nothing, or what has no digits in the type
    S = packed.reshape(s, t) * number(1.0 / np.sqrt(whole))  # squares stay in the type's range
    z = np.empty(t, dtype=packed.dtype)
    z[:] = x[s:]
    Sz = np.dot(S, z)
    w = np.dot(Sz, S)
    for _ in range(n_steps):
        rho = np.dot(w, z)
        g = w - rho * z
        size = np.sqrt(np.dot(g, g))
        if size <= _DONE * rho or size == 0.0:
            break
        g /= size
        Sg = np.dot(S, g)
        wg = np.dot(Sg, S)
        along, across = top_of_plane(rho, size, np.dot(g, wg))
        cosine, sine = number(along), number(across)
        z = cosine * z + sine * g
        Sz = cosine * Sz + sine * Sg
        w = cosine * w + sine * wg
    x[:s], x[s:] = Sz, z
    if np.dot(Sz, Sz) > 0.0:
        shorten_to_unit(x, s)


@njit(cache=True, nogil=True)
def shorten_to_unit(x: Array, s: int) -> None:
    """Divide both halves of ``x`` (s + t,), in place, by their lengths."""
    x[:s] /= np.sqrt((x[:s] * x[:s]).sum())
    x[s:] /= np.sqrt((x[s:] * x[s:]).sum())


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def weigh_cores(
    R: NDArray[Any], z: NDArray[Any], off: Array, forms: Array, total: NDArray[Any]
) -> float:
    """Fill ``forms`` (r,) with t_i = <c_i, z> - off_i and ``total`` (p,) with sum_i t_i c_i.

    c_i is a row of ``R`` (r, p), which is read once, four rows at a time. Returns sum_i t_i^2.
    """
    r, p = R.shape
    total[:] = 0
    i = 0
    while i + 4 <= r:
        first, second, third, fourth = R[i], R[i + 1], R[i + 2], R[i + 3]
        forms[i], forms[i + 1] = np.dot(first, z), np.dot(second, z)
        forms[i + 2], forms[i + 3] = np.dot(third, z), np.dot(fourth, z)
        for e in range(i, i + 4):
            forms[e] -= off[e]
        a, b = R.dtype.type(forms[i]), R.dtype.type(forms[i + 1])
        c, d = R.dtype.type(forms[i + 2]), R.dtype.type(forms[i + 3])
        for e in range(p):
            total[e] += a * first[e] + b * second[e] + c * third[e] + d * fourth[e]
        i += 4
    while i < r:
        core = R[i]
        forms[i] = np.dot(core, z) - off[i]
        a = R.dtype.type(forms[i])
        for e in range(p):
            total[e] += a * core[e]
        i += 1
    square = 0.0
    for i in range(r):
        square += forms[i] * forms[i]
    return square


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def multiply_pairs(R: NDArray[Any], y: NDArray[Any], z: NDArray[Any], B: NDArray[Any]) -> None:
    """Fill rows of ``B`` (r, s + t) with b_i = (C_i z, C_i^T y), C_i packed in ``R`` (r, s t)."""
    s, t = y.shape[0], z.shape[0]
    for i in range(R.shape[0]):
        core, left, right = R[i], B[i, :s], B[i, s:]
        right[:] = 0
        for row in range(s):
            line, share = core[row * t : (row + 1) * t], y[row]
            total = R.dtype.type(0.0)
            for column in range(t):
                total += line[column] * z[column]
            for column in range(t):
                right[column] += share * line[column]
            left[row] = total


@njit(cache=True, nogil=True)
def minus_hessian(
    BtB: NDArray[Any], S: NDArray[Any], x: Array, f: float, on_norm: Array, K: Array
) -> None:
    """Fill ``K`` with minus the Hessian of f q / 2 on the tangent spaces, where x is set apart.

    Parameters
    ----------
    BtB : (s + t, s + t)
        sum_i b_i b_i^T with b_i = (C_i z, C_i^T y).
    S : (s, t)
        sum_i (y^T C_i z) C_i.
    x
        y above z.
    f
        Value of the objective.
    on_norm : (s + t, s + t) or (0, 0)
        Half the Hessian of q; the unit matrix, if there is none.
    K
        Filled.
    """
    s, t = S.shape
    for row in range(s + t):
        for column in range(s + t):
            K[row, column] = -BtB[row, column]
    for row in range(s):
        for column in range(t):
            K[row, s + column] -= S[row, column]
            K[s + column, row] -= S[row, column]
    if on_norm.shape[0] == 0:
        for row in range(s + t):
            K[row, row] += f
    else:
        K += f * on_norm
    keep_tangents(K, x, s, 4.0 * f)  # y and z get an eigenvalue above all others


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def keep_tangents(K: Array, x: Array, s: int, value: float) -> None:
    """Make the two halves of ``x`` eigenvectors of symmetric ``K``, in place, with one value.

    On what is orthogonal to both, ``K`` (s + t, s + t) stays as it is.
    """
    size = x.shape[0]
    E, W = np.zeros((2, size)), np.empty((2, size))
    E[0, :s], E[1, s:] = x[:s], x[s:]
    for row in range(size):
        W[0, row] = np.dot(K[row, :s], x[:s])
        W[1, row] = np.dot(K[row, s:], x[s:])
    M = np.dot(E, W.T)
    for half in range(2):
        W[half] -= 0.5 * (M[0, half] * E[0] + M[1, half] * E[1] + value * E[half])
    # K - E^T W - W^T E, whose products with the halves are value times them.
    for row in range(size):
        for column in range(size):
            K[row, column] -= (
                E[0, row] * W[0, column] + W[0, row] * E[0, column]
                + E[1, row] * W[1, column] + W[1, row] * E[1, column]
            )  # fmt: skip
