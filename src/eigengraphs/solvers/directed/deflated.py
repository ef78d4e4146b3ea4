"""Directed graphs less components that are found: the same products, never built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.protocol import Array, DirectedBlockGraphs

__all__ = ["DeflatedDirected"]

Consumer = Callable[[int, int, NDArray[Any]], None]


class DeflatedDirected:
    """A_i - sum_k Lam_ik e_k with e_k = h_k g_k^T, or its entries off the diagonal.

    Parameters
    ----------
    graphs
        The graphs A_i.
    H, G : (n, k)
        Components.
    Lam : (m, k)
        Their loadings.
    hollow
        Whether the pairs s = t take no part.
    """

    def __init__(
        self, graphs: DirectedBlockGraphs, H: Array, G: Array, Lam: Array, hollow: bool
    ) -> None:
        self._graphs, self._H, self._G, self._Lam = graphs, H, G, Lam
        self._hollow = hollow

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
        left: Array,
        right: Array,
        consume_left: Consumer,
        consume_right: Consumer,
        out_left: NDArray[Any] | None = None,
        out_right: NDArray[Any] | None = None,
    ) -> None:
        """Hand out left^T R_i, (b, n), and right^T R_i^T, (c, n), for blocks of graphs."""
        self._graphs.products(
            left,
            right,
            self._deflating(left, self._H, self._G, consume_left),
            self._deflating(right, self._G, self._H, consume_right),
            out_left,
            out_right,
        )

    def _deflating(self, B: Array, near: Array, far: Array, consume: Consumer) -> Consumer:
        """Return a consumer of B^T A_i that hands on B^T R_i."""
        B_near, diagonals = B.T @ near, near * far

        def deflate(lo: int, hi: int, P: NDArray[Any]) -> None:
            for i in range(lo, hi):
                change = (B_near * self._Lam[i]) @ far.T
                if self._hollow:
                    change -= B.T * (diagonals @ self._Lam[i])
                P[i - lo] -= change.astype(P.dtype, copy=False)
            consume(lo, hi, P)

        return deflate

    def project(self, U: Array, V: Array, left: Array, right: Array) -> tuple[Array, Array]:
        """Return [U left]^T R_i right, (m, s + b, c), and V^T R_i^T left, (m, t, b)."""
        onto_left, onto_right = self._graphs.project(U, V, left, right)
        UL = np.column_stack([U, left])
        for cross, Z, near, B, far in (
            (onto_left, UL, self._H, right, self._G),
            (onto_right, V, self._G, left, self._H),
        ):
            Z_near, B_far = Z.T @ near, B.T @ far
            for k in range(near.shape[1]):
                e = np.outer(Z_near[:, k], B_far[:, k])
                if self._hollow:
                    e -= Z.T @ ((near[:, k] * far[:, k])[:, None] * B)
                cross -= self._Lam[:, k, None, None] * e
        return onto_left, onto_right

    def weighted_multiply(self, W: Array, H: Array, G: Array) -> tuple[Array, Array]:
        """Return sum_i W_ik R_i g_k and sum_i W_ik R_i^T h_k, (n, d)."""
        of_G, of_H = self._graphs.weighted_multiply(W, H, G)
        shares = self._Lam.T @ W  # (k, d)
        of_G = of_G - self._H @ (shares * (self._G.T @ G))
        of_H = of_H - self._G @ (shares * (self._H.T @ H))
        if self._hollow:
            diagonals = (self._H * self._G) @ shares
            of_G, of_H = of_G + diagonals * G, of_H + diagonals * H
        return of_G, of_H

    def sketch(
        self, Omega: Array, weights: Array
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Return sum_i w_i R_i R_i^T Omega and sum_i w_i R_i Omega, and both of the transposes.

        But for the diagonals of hollow e_k. Two passes. For a first basis, which may be rough.
        """
        # (A - L) (A - L)^T = A A^T - A L^T - L A^T + L L^T: sum_i w_i A_i L_i^T needs A_i g_k.
        H, G, wLam = self._H, self._G, weights[:, None] * self._Lam
        AG, AH = self._graphs.weighted_multiply(wLam, H, G)
        left, right = self._graphs.sketch(Omega, weights)
        moments, shares = wLam.T @ self._Lam, wLam.sum(axis=0)[:, None]
        found = []
        for (squares, sums), near, far, A_far in ((left, H, G, AG), (right, G, H, AH)):
            on_near = near.T @ Omega
            squares = squares - A_far @ on_near - near @ (A_far.T @ Omega)
            squares += near @ ((far.T @ far * moments) @ on_near)
            found.append((squares, sums - near @ (shares * (far.T @ Omega))))
        return found[0], found[1]
