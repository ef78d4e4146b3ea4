"""Residual graphs R_i = A_i - sum_k Lam_ik h_k h_k^T as an operator: never built."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from eigengraphs.solvers.protocol import Array, Graphs

__all__ = ["Residuals"]


class Residuals:
    """Graphs less the components found so far, with a count of the passes over the data.

    Parameters
    ----------
    graphs
        The graphs A_i.
    H : (n, k)
        Components so far.
    Lam : (m, k)
        Their loadings.
    """

    def __init__(self, graphs: Graphs, H: Array, Lam: Array) -> None:
        self._graphs = graphs
        self._H = H
        self._Lam = Lam
        self.n_passes = 0

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._graphs.n_vertices

    def multiply(self, v: Array) -> Array:
        """Return R_i v = A_i v - sum_k Lam_ik h_k (h_k . v), (m, n)."""
        self.n_passes += 1
        Y = self._graphs.multiply(v)
        if self._H.shape[1]:
            Y -= (self._Lam * (self._H.T @ v)) @ self._H.T
        return Y

    def sum_multiply(self, Y: Array) -> Array:
        """Return sum_i R_i y_i, (n,), for ``Y`` (m, n)."""
        self.n_passes += 1
        total = self._graphs.sum_multiply(Y)
        if self._H.shape[1]:
            total = total - self._H @ np.einsum("ik,ik->k", self._Lam, Y @ self._H)
        return total

    def mean(self, weights: Array) -> LinearOperator:
        """Return the weighted mean residual as an operator on vectors (n,)."""
        self.n_passes += 1
        mean: Any = self._graphs.mean(weights)
        loadings = weights @ self._Lam / weights.sum()
        H, n = self._H, self.n_vertices

        def apply(v: Array) -> Array:
            v = v.ravel()
            product: Array = np.asarray(mean @ v).ravel() - H @ (loadings * (H.T @ v))
            return product

        return LinearOperator((n, n), matvec=apply, dtype=np.float64)

    def mean_square(self, weights: Array) -> LinearOperator:
        """Return sum_i w_i R_i^2 / sum_i w_i as an operator; two passes an application."""
        n, share = self.n_vertices, (weights / weights.sum())[:, None]

        def apply(v: Array) -> Array:
            return self.sum_multiply(share * self.multiply(v.ravel()))

        return LinearOperator((n, n), matvec=apply, dtype=np.float64)
