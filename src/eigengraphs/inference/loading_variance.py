"""Covariances of loadings, given positions and the variances of the edges.

Loadings are Lam_i = Gamma^-1 psi_i with psi_ik = h_k^T A_i g_k over the entries that the loss
counts; entries of A_i are independent, those of an undirected graph come in pairs. With V the
variances of the entries and u = h_j * h_k (directed: v = g_j * g_k)

    Cov(psi_j, psi_k) = 2 u^T V u - sum_s u_s^2 V_ss    undirected; V has no diagonal if hollow
                      = u^T V v                          directed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["LoadingVariance", "bernoulli_variances"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LoadingVariance:
    """Positions of components, as far as variances of loadings need them.

    Parameters
    ----------
    H, G : (n, d)
        Positions; G is None for undirected graphs.
    Gamma : (d, d)
        Inner products of the components over the entries that the loss counts.
    hollow : bool
        Whether the diagonal is left out.
    """

    H: Array
    G: Array | None
    Gamma: Array
    hollow: bool

    @property
    def n_components(self) -> int:
        """Number of components, d."""
        return int(self.H.shape[1])

    @cached_property
    def inverse(self) -> Array:
        """Inverse of Gamma on the components that are something, (d, d)."""
        return np.asarray(np.linalg.pinv(self.Gamma), dtype=np.float64)

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.triu_indices(self.n_components)

    @cached_property
    def _left(self) -> Array:
        j, k = self._pairs
        return np.asarray(self.H[:, j] * self.H[:, k])

    @cached_property
    def _right(self) -> Array:
        if self.G is None:
            return self._left
        j, k = self._pairs
        return np.asarray(self.G[:, j] * self.G[:, k])

    def covariance(self, V: Array) -> Array:
        """Return Gamma^-1 C Gamma^-1, (d, d), for variances of the entries (n, n)."""
        diagonal = V.diagonal()
        forms = np.einsum("sp,sp->p", self._left, V @ self._right)
        if self.hollow:
            forms -= diagonal @ (self._left * self._right)
        if self.G is None:
            forms *= 2.0
            if not self.hollow:
                forms -= diagonal @ self._left**2
        C = np.zeros((self.n_components, self.n_components))
        j, k = self._pairs
        C[j, k] = C[k, j] = forms
        return np.asarray(self.inverse @ C @ self.inverse.T)

    def means(self, lam: Array, base: Array | None = None) -> Array:
        """Return base + sum_k lam_k h_k g_k^T, (n, n)."""
        P = (self.H * lam) @ (self.H if self.G is None else self.G).T
        return P if base is None else P + base

    def variance_of_means(self, covariance: Array) -> Array:
        """Return the variance of each entry of `means`, (n, n), by that of the loadings."""
        values, vectors = np.linalg.eigh(covariance)
        total = np.zeros((len(self.H), len(self.H)))
        for value, w in zip(values, vectors.T, strict=True):
            total += max(float(value), 0.0) * self.means(w) ** 2
        return total


def bernoulli_variances(positions: LoadingVariance, lam: Array, base: Array | None = None) -> Array:
    """Return variances of the entries of a 0/1 graph with these loadings, (n, n).

    P (1 - P) at estimated P is too small by the variance of P, on average: that is added back. It
    matters in small graphs, where d loadings take a part of the n (n - 1) / 2 entries.
    """
    P = np.clip(positions.means(lam, base), 0.0, 1.0)
    V = P * (1.0 - P)
    V += positions.variance_of_means(positions.covariance(V))
    return np.minimum(V, 0.25)
