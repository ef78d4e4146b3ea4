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
    weights : (m,)
        Weight of each graph in the means.
    """

    def __init__(self, graphs: Graphs, H: Array, Lam: Array, weights: Array) -> None:
        self._graphs = graphs
        self._weights = weights
        self._mean: Any = None
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

    def deflated(self, H: Array, Lam: Array) -> Residuals:
        """Return the residuals after other components; the mean of the graphs is read but once."""
        after = Residuals(self._graphs, H, Lam, self._weights)
        after._mean, after.n_passes = self._mean, self.n_passes
        return after

    def mean(self) -> LinearOperator:
        """Return the weighted mean residual as an operator on vectors (n,)."""
        if self._mean is None:
            self._mean = self._graphs.mean(self._weights)
            self.n_passes += 1
        mean, H, n = self._mean, self._H, self.n_vertices
        loadings = self._weights @ self._Lam / self._weights.sum()

        def apply(v: Array) -> Array:
            v = v.ravel()
            product: Array = np.asarray(mean @ v).ravel() - H @ (loadings * (H.T @ v))
            return product

        return LinearOperator((n, n), matvec=apply, dtype=np.float64)

    def mean_square(self) -> LinearOperator:
        """Return sum_i w_i R_i^2 / sum_i w_i as an operator; two passes an application."""
        n, share = self.n_vertices, (self._weights / self._weights.sum())[:, None]

        def apply(v: Array) -> Array:
            return self.sum_multiply(share * self.multiply(v.ravel()))

        return LinearOperator((n, n), matvec=apply, dtype=np.float64)
