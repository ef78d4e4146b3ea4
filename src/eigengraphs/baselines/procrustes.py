"""Distances of vertex positions that are known up to a rotation or reflection alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eigengraphs.baselines.estimator import Array, PositionsBaseline
from eigengraphs.system.parallel import spans

__all__ = ["ProcrustesBaseline", "procrustes_distances"]

_BLOCK_ENTRIES = 2**18  # of inner products at a time; small, so that few pairs come twice


def procrustes_distances(X: Array, Y: Array | None = None) -> Array:
    """Return min over orthogonal Q of ||X_i Q - Y_j||_F for all pairs, (m, m').

    The squares are ||X_i||^2 + ||Y_j||^2 - 2 ||X_i^T Y_j||_*, so that a distance is exact to about
    1e-8 of the norms.

    Parameters
    ----------
    X : (m, n, d)
        Positions.
    Y : (m', n, d), optional
        Other positions; by default ``X``, and each pair is computed once.
    """
    other = X if Y is None else Y
    (m, n, d), m_other = X.shape, len(other)
    left = np.ascontiguousarray(X.transpose(0, 2, 1))  # (m, d, n)
    right = np.ascontiguousarray(other.transpose(1, 0, 2))  # (n, m', d)
    norms = np.zeros((m, m_other))
    for lo, hi in spans(m, _BLOCK_ENTRIES // (m_other * d * d)):
        first = lo if Y is None else 0
        C = left[lo:hi].reshape(-1, n) @ right[:, first:].reshape(n, -1)
        C = C.reshape(hi - lo, d, m_other - first, d).transpose(0, 2, 1, 3)
        norms[lo:hi, first:] = _nuclear_norms(C)
    if Y is None:
        norms = np.triu(norms) + np.triu(norms, 1).T
    squares = _squared_norms(X)[:, None] + _squared_norms(other) - 2 * norms
    D: Array = np.sqrt(np.maximum(squares, 0.0))
    if Y is None:
        np.fill_diagonal(D, 0.0)
    return D


def _squared_norms(X: Array) -> Array:
    return np.asarray(np.einsum("isk,isk->i", X, X))


def _nuclear_norms(C: NDArray[np.float64]) -> Array:
    """Return the sums of singular values of matrices (..., d, d)."""
    d = C.shape[-1]
    if d == 1:
        return np.abs(C[..., 0, 0])
    if d == 2:  # (s + t)^2 = s^2 + t^2 + 2 s t
        det = C[..., 0, 0] * C[..., 1, 1] - C[..., 0, 1] * C[..., 1, 0]
        squares = np.einsum("...kl,...kl->...", C, C)
        return np.asarray(np.sqrt(squares + 2 * np.abs(det)))
    return np.asarray(np.linalg.svd(C, compute_uv=False).sum(axis=-1))


class ProcrustesBaseline(PositionsBaseline):
    """A method that gives vertices positions in each graph by itself."""

    def _features(self, embedded: Array) -> Array:
        if embedded is self._embedded:
            return procrustes_distances(embedded)
        return procrustes_distances(embedded, self._embedded)

    def _distances(self, a: Array, b: Array) -> Array:
        return procrustes_distances(a, None if a is b else b)

    def _feature_names(self) -> list[str]:
        return [f"distance_to_{name}" for name in self._graph_names]
