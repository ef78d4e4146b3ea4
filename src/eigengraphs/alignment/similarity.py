"""How alike the vertices of two graphs are, before any of them is matched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["similarity"]


def similarity(
    R: NDArray[np.float64],
    B: NDArray[np.float64],
    seeds: NDArray[np.intp],
    *,
    width: float = 0.2,
    level: float = 0.65,
) -> NDArray[np.float64]:
    """Return a similarity of vertex s of R and vertex t of B that knows no order, (n, n).

    Vertices are alike when they stand alike in eigenvectors of near eigenvalues, over all pairs
    of eigenvectors (the regularised quadratic program of Fan, Mao, Wu and Xu, 2020):

        X = sum_jk  u_j u_j^T 1 1^T v_k v_k^T / ((a_j - b_k)^2 + width^2),

    with ``width`` in parts of the largest eigenvalue; once for the centred weights and once with a
    constant added to all of them, of ``level`` times their norm, because each is the better one
    for some graphs. Direction enters by Hermitian matrices, (A + A^T) / 2 + i (A - A^T) / 2.
    Seeds (k, 2), pairs that are known, add how alike the rows are in the columns of the seeds.
    """
    n = len(R)
    total = np.zeros((n, n))
    for constant in (0.0, level / n):
        total += _double_centred(_spectral(R + constant, B + constant, width))
    if len(seeds):
        r, b = seeds.T
        shared = R[:, r] @ B[:, b].T + R[r].T @ B[b]
        total += np.sqrt(len(seeds)) * _double_centred(shared)
    return total


def _spectral(R: NDArray[np.float64], B: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    a, U = np.linalg.eigh(_hermitian(R))
    b, V = np.linalg.eigh(_hermitian(B))
    largest = max(np.abs(a).max(), np.abs(b).max())
    if largest == 0:
        return np.zeros(R.shape)
    near = 1.0 / (((a[:, None] - b) / largest) ** 2 + width**2)
    weight = near * np.outer(U.sum(axis=0).conj(), V.sum(axis=0))
    return np.asarray((U @ weight @ V.conj().T).real)


def _hermitian(A: NDArray[np.float64]) -> NDArray[np.float64] | NDArray[np.complex128]:
    if np.array_equal(A, A.T):
        return A
    return (A + A.T) / 2 + 0.5j * (A - A.T)


def _double_centred(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre rows and columns, which matter to no assignment, and scale to deviation 1."""
    X = X - X.mean(axis=0)
    X -= X.mean(axis=1, keepdims=True)
    deviation = X.std()
    return X / deviation if deviation > 0 else X
