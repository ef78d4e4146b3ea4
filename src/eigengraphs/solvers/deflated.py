"""Graphs less components that are found: the same products, never built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.protocol import Array, BlockGraphs

__all__ = ["DeflatedGraphs"]


class DeflatedGraphs:
    """A_i - sum_k Lam_ik e_k with e_k = h_k h_k^T, or its entries off the diagonal.

    Parameters
    ----------
    graphs
        The graphs A_i.
    H : (n, k)
        Components.
    Lam : (m, k)
        Their loadings.
    hollow
        Whether the pairs s = t take no part.
    """

    def __init__(self, graphs: BlockGraphs, H: Array, Lam: Array, hollow: bool) -> None:
        self._graphs, self._H, self._Lam, self._hollow = graphs, H, Lam, hollow

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return self._graphs.n_graphs

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._graphs.n_vertices

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the products."""
        return self._graphs.dtype

    def products(
        self,
        B: Array,
        consume: Callable[[int, int, NDArray[Any]], None],
        out: NDArray[Any] | None = None,
    ) -> None:
        """Call consume(lo, hi, B^T R_i for i from lo to hi), the last (hi - lo, b, n)."""
        H, BtH, H2 = self._H, B.T @ self._H, self._H**2

        def deflate(lo: int, hi: int, P: NDArray[Any]) -> None:
            for i in range(lo, hi):
                change = (BtH * self._Lam[i]) @ H.T
                if self._hollow:
                    change -= B.T * (H2 @ self._Lam[i])
                P[i - lo] -= change.astype(P.dtype, copy=False)
            consume(lo, hi, P)

        self._graphs.products(B, deflate, out=out)

    def project(self, V: Array, B: Array) -> Array:
        """Return [V B]^T R_i B, (m, s + b, b)."""
        cross = self._graphs.project(V, B)
        VB = np.column_stack([V, B])
        left, right = VB.T @ self._H, B.T @ self._H
        for k, h in enumerate(self._H.T):
            e = np.outer(left[:, k], right[:, k])
            if self._hollow:
                e -= VB.T @ ((h**2)[:, None] * B)
            cross -= self._Lam[:, k, None, None] * e
        return cross

    def weighted_multiply(self, W: Array, H: Array) -> Array:
        """Return sum_i W_ik R_i h_k, (n, d)."""
        sums = self._graphs.weighted_multiply(W, H)
        shares = self._Lam.T @ W  # (k, d)
        sums = sums - self._H @ (shares * (self._H.T @ H))
        if self._hollow:
            sums += (self._H**2 @ shares) * H
        return np.asarray(sums)

    def sketch(self, V: Array, weights: Array) -> tuple[Array, Array]:
        """Return sum_i w_i R_i R_i V, but for the diagonals of hollow e_k, and sum_i w_i R_i V.

        Two passes. It is for a first basis, which may be rough.
        """
        # (A - L)^2 = A A - A L - L A + L L, where sum_i w_i A_i L_i needs one more product.
        H, HV, wLam = self._H, self._H.T @ V, weights[:, None] * self._Lam
        AH = self._graphs.weighted_multiply(wLam, H)  # sum_i w_i Lam_ik A_i h_k
        squares, sums = self._graphs.sketch(V, weights)
        squares = squares - AH @ HV - H @ (AH.T @ V)
        squares += H @ ((H.T @ H) * (wLam.T @ self._Lam) @ HV)
        return squares, sums - H @ (wLam.sum(axis=0)[:, None] * HV)
