"""Residual graphs R_i = M_i o (A_i - sum_k Lam_ik h_k h_k^T) as an operator: never built.

    R_i v = A_i v - sum_k Lam_ik h_k o (M_i (h_k o v)),

so that a product costs one of the graphs and, for k components, one of the mask with k columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from eigengraphs.solvers.masked_quotient import Products
from eigengraphs.solvers.protocol import Array, MaskedGraphs

__all__ = ["MaskedResiduals"]


class MaskedResiduals:
    """Graphs less the components found so far, with a count of the passes over the data.

    Parameters
    ----------
    graphs
        The graphs A_i and their masks M_i.
    H : (n, k)
        Components so far.
    Lam : (m, k)
        Their loadings.
    weights : (m,)
        Weight of each graph in the means.
    n_passes
        Passes before.
    """

    def __init__(
        self, graphs: MaskedGraphs, H: Array, Lam: Array, weights: Array, n_passes: int = 0
    ) -> None:
        self._graphs, self._H, self._Lam, self._weights = graphs, H, Lam, weights
        self.n_passes = n_passes

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._graphs.n_vertices

    def products(self, pairs: Sequence[tuple[Array, Array]]) -> list[Products]:
        """Return R_i p, M_i (h o p) and M_i p^2 for each of some (h, p), all in one pass."""
        # Rounded once: then the graphs and the components meet the same columns.
        P = self._typed(np.column_stack([p for _, p in pairs]))
        n, b = P.shape
        k = self._H.shape[1]
        columns = np.empty((n, b, k + 2))
        columns[:, :, :k] = self._H[:, None, :] * P[:, :, None]
        columns[:, :, k] = np.column_stack([h for h, _ in pairs]) * P
        columns[:, :, k + 1] = P**2
        Y = self._graphs.multiply(P)
        self.n_passes += 1
        masks = np.empty((b, 2, *Y[:, 0].shape))

        def consume(lo: int, hi: int, Q: Array) -> None:
            Q = Q.reshape(hi - lo, b, k + 2, n)
            masks[:, :, lo:hi] = Q[:, :, k:].transpose(1, 2, 0, 3)
            if k:
                Y[lo:hi] -= self._combined(lo, hi, Q[:, :, :k])

        self._graphs.mask_products(columns.reshape(n, b * (k + 2)), consume)
        return [Products(Y[:, j], masks[j, 0], masks[j, 1]) for j in range(b)]

    def _typed(self, P: Array) -> Array:
        return P.astype(self._graphs.dtype, copy=False).astype(np.float64, copy=False)

    def _combined(self, lo: int, hi: int, Q: Array) -> Array:
        """Return sum_k Lam_ik h_k o Q_ibk, (hi - lo, b, n)."""
        terms = Q * self._H.T
        return np.asarray(np.einsum("ik,ibks->ibs", self._Lam[lo:hi], terms))

    def multiply(self, B: Array) -> Array:
        """Return (R_i B)^T, (m, b, n), for ``B`` (n, b)."""
        B = self._typed(B)
        n, b = B.shape
        k = self._H.shape[1]
        Y = self._graphs.multiply(B)
        self.n_passes += 1
        if k:
            columns = (B[:, :, None] * self._H[:, None, :]).reshape(n, b * k)

            def consume(lo: int, hi: int, Q: Array) -> None:
                Y[lo:hi] -= self._combined(lo, hi, Q.reshape(hi - lo, b, k, n))

            self._graphs.mask_products(columns, consume)
        return Y

    def sum_multiply(self, Y: Array) -> Array:
        """Return sum_i R_i y_i, (n, b), for ``Y`` (m, b, n)."""
        total = self._graphs.sum_multiply(Y)
        self.n_passes += 1
        for h, lam in zip(self._H.T, self._Lam.T, strict=True):
            masked = self._graphs.mask_sum_multiply(lam[:, None, None] * h * Y)
            total = total - h[:, None] * masked
        return total

    def square_multiply(self, B: Array) -> Array:
        """Return sum_i w_i R_i R_i B, (n, b): two passes."""
        return self.sum_multiply(self._weights[:, None, None] * self.multiply(B))

    def mean(self) -> LinearOperator:
        """Return the weighted mean residual as an operator on vectors (n,)."""
        mean: Any = self._graphs.mean_residual(self._weights, self._H, self._Lam)
        self.n_passes += 1
        return aslinearoperator(mean)
