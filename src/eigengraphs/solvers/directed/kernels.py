"""Numba kernels of the core problem of directed graphs: small matrices, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.solvers.protocol import Array

__all__ = ["keep_tangents", "pair_curvature", "pair_state", "raise_pairs"]

announce_compiling()

_DONE = 1e-4  # gradient over squared singular value: no start needs more


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def raise_pairs(Z: Array, X: Array, s: int, n_steps: int) -> None:
    """Turn each row (y, z) of ``X`` (b, s + t), in place, towards the top singular pair of its own.

    Each step goes to the best z in the plane of z and the gradient of ||S z||^2, and y follows as
    S z, so that y^T S z never falls.

    Parameters
    ----------
    Z : (b, s t)
        Packed matrices S (s, t).
    X
        Pairs of unit vectors.
    s
        Length of y.
    n_steps
        Products with S^T S at most.
    """
    b, t = X.shape[0], X.shape[1] - s
    for i in range(b):
        S = Z[i].reshape(s, t)
        z = X[i, s:].copy()
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
            # The plane's matrix is [[rho, size], [size, corner]]; the angle of its top vector:
            angle = 0.5 * np.arctan2(2 * size, rho - np.dot(g, wg))
            cosine, sine = np.cos(angle), np.sin(angle)
            z = cosine * z + sine * g
            Sz = cosine * Sz + sine * Sg
            w = cosine * w + sine * wg
        length = np.sqrt(np.dot(Sz, Sz))
        if length > 0.0:
            X[i, :s] = Sz / length
            X[i, s:] = z / np.sqrt(np.dot(z, z))


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def pair_state(R: Array, y: Array, z: Array, S: Array) -> float:
    """Fill ``S`` (s, t) with sum_i (y^T C_i z) C_i, C_i a packed row of ``R`` (r, s t).

    Returns sum_i (y^T C_i z)^2.
    """
    s, t = S.shape
    outer, total = np.empty(s * t), S.reshape(s * t)
    for row in range(s):
        for column in range(t):
            outer[row * t + column] = y[row] * z[column]
    total[:] = 0.0
    T = 0.0
    for i in range(R.shape[0]):
        core = R[i]
        form = np.dot(core, outer)
        T += form * form
        for e in range(total.shape[0]):
            total[e] += form * core[e]
    return T


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def pair_curvature(
    RT: NDArray[Any], y: NDArray[Any], z: NDArray[Any], S: Array, out: Array
) -> None:
    """Fill ``out`` (s + t, s + t) with B B^T + [[0, S], [S^T, 0]], columns b_i = (C_i z, C_i^T y).

    C_i is a packed column of ``RT`` (s t, r). The graphs run fastest, so that every loop is long
    and goes through memory in order.
    """
    s, t, r = y.shape[0], z.shape[0], RT.shape[1]
    B = np.zeros((s + t, r), dtype=RT.dtype)
    for row in range(s):
        left = B[row]
        for column in range(t):
            right, entry = B[s + column], RT[row * t + column]
            for i in range(r):
                left[i] += z[column] * entry[i]
            for i in range(r):
                right[i] += y[row] * entry[i]
    out[:, :] = np.dot(B, B.T)
    for row in range(s):
        for column in range(t):
            out[row, s + column] += S[row, column]
            out[s + column, row] += S[row, column]


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
