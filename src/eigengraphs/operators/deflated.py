"""Graphs less components that are found: the same products, never built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from eigengraphs.operators.columns import Array
from eigengraphs.operators.protocol import BlockTask, Operator
from eigengraphs.parallel import spans

__all__ = ["Deflated"]


class Deflated:
    """R_i = A_i - sum_k Lam_ik e_k, with e_k = h_k g_k^T or its entries off the diagonal.

    Parameters
    ----------
    operator
        The graphs A_i, complete.
    sides
        Factors of the components, (H,) or (H, G), (n, k) each.
    Lam : (m, k)
        Their loadings.
    hollow
        Whether the pairs s = t take no part.
    """

    def __init__(
        self, operator: Operator, sides: tuple[Array, ...], Lam: Array, hollow: bool
    ) -> None:
        self._operator, self._sides, self._Lam, self._hollow = operator, sides, Lam, hollow
        self._on = sides[0] * sides[-1] if hollow else sides[0][:, :0]  # diagonals of h_k g_k^T

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return self._operator.n_graphs

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._operator.n_vertices

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the graphs, and of products with them."""
        return self._operator.dtype

    @property
    def directed(self) -> bool:
        """Whether components have two sides."""
        return self._operator.directed

    def products(
        self, *columns: Array, out: tuple[NDArray[Any], ...] | None = None
    ) -> tuple[NDArray[Any], ...]:
        """Return B^T R_i, (m, b, n); directed: left^T R_i and right^T R_i^T."""
        found = self._operator.products(*columns, out=out)
        for side, (B, P) in enumerate(zip(columns, found, strict=True)):
            near, far = self._sides[side], self._sides[-1 - side]
            BT, onto, farT = (np.ascontiguousarray(X, P.dtype) for X in (B.T, B.T @ near, far.T))
            Lam, onT = self._Lam.astype(P.dtype), self._on.T.astype(P.dtype)
            b, n = BT.shape
            for lo, hi in spans(len(P), 1 + 2**18 // max(1, BT.size)):  # some that stay in cache
                scaled = (Lam[lo:hi, None, :] * onto).reshape(-1, Lam.shape[1])
                P[lo:hi] -= (scaled @ farT).reshape(hi - lo, b, n)
                if self._hollow:
                    P[lo:hi] += (Lam[lo:hi] @ onT)[:, None] * BT
        return found

    def project(self, bases: tuple[Array, ...], columns: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return [V B]^T R_i B; directed: [U left]^T R_i right, and V^T R_i^T left."""
        found = self._operator.project(bases, columns)
        asked = [(np.column_stack([bases[0], columns[0]]), columns[-1], 0)]
        if self.directed:
            asked.append((bases[1], columns[0], 1))
        for (Z, B, side), cores in zip(asked, found, strict=True):
            near, far = self._sides[side], self._sides[-1 - side]
            onto, of = near.T @ Z, far.T @ B  # (k, z), (k, b)
            e = onto[:, :, None] * of[:, None, :]
            for k in range(self._on.shape[1]):
                e[k] -= Z.T @ (self._on[:, k, None] * B)
            cores -= np.tensordot(self._Lam, e, axes=1)
        return found

    def combine(self, W: Array, *sides: Array) -> tuple[Array, ...]:
        """Return sum_i W_ik R_i h_k; directed: sum_i W_ik R_i g_k and sum_i W_ik R_i^T h_k."""
        found = self._operator.combine(W, *sides)
        shares = self._Lam.T @ W  # (k, d)
        for side, total in enumerate(found):
            near, far, X = self._sides[side], self._sides[-1 - side], sides[-1 - side]
            total -= near @ (shares * (far.T @ X))
            if self._hollow:
                total += (self._on @ shares) * X
        return found

    def forms(self, *sides: Array) -> Array:
        """Return x_k^T R_i z_k, (m, d)."""
        X, Z = sides[0], sides[-1]
        onto = (self._sides[0].T @ X) * (self._sides[-1].T @ Z)
        if self._hollow:
            onto = onto - self._on.T @ (X * Z)
        return np.asarray(self._operator.forms(*sides) - self._Lam @ onto)

    def diagonal_forms(self, *sides: Array) -> Array:
        """Return what the rule for the diagonal adds to ``forms`` of the graphs, (m, d)."""
        return self._operator.diagonal_forms(*sides)

    def sketch(self, Omega: Array, weights: Array) -> tuple[tuple[Array, Array], ...]:
        """Return sums of R_i R_i^T Omega, but for the diagonals of hollow e_k, and of R_i Omega.

        Two passes. It is for a first basis, which may be rough.
        """
        # (A - L) (A - L)^T = A A^T - A L^T - L A^T + L L^T: sum_i w_i A_i L_i^T needs A_i g_k.
        wLam = weights[:, None] * self._Lam
        once = self._operator.combine(wLam, *self._sides)
        moments, shares = wLam.T @ self._Lam, wLam.sum(axis=0)[:, None]
        found = []
        for side, (squares, sums) in enumerate(self._operator.sketch(Omega, weights)):
            near, far, A_far = self._sides[side], self._sides[-1 - side], once[side]
            on_near = near.T @ Omega
            squares = squares - A_far @ on_near - near @ (A_far.T @ Omega)
            squares += near @ ((far.T @ far * moments) @ on_near)
            found.append((squares, sums - near @ (shares * (far.T @ Omega))))
        return tuple(found)

    def mean(self, weights: Array) -> Any:
        """Return the weighted mean of the R_i, (n, n); of sparse graphs an operator."""
        mean: Any = self._operator.mean(weights)
        lam = weights @ self._Lam / weights.sum()
        H, G = self._sides[0], self._sides[-1]
        on = self._on @ lam if self._hollow else np.zeros(self.n_vertices)
        if isinstance(mean, np.ndarray):
            return mean - (H * lam) @ G.T + np.diag(on)
        low: LinearOperator = aslinearoperator(H * lam) @ aslinearoperator(G.T)
        return aslinearoperator(mean + sparse.diags_array(on)) - low

    def squared_norms(self) -> Array:
        """Return ||R_i||^2, (m,), by ||A_i||^2: not exact where little is left. One pass.

        If ``hollow``, of graphs whose diagonal is zero.
        """
        H, G, Lam = self._sides[0], self._sides[-1], self._Lam
        Psi, Gamma = self._operator.forms(*self._sides), (H.T @ H) * (G.T @ G)
        if self._hollow:
            Gamma = Gamma - self._on.T @ self._on
        squares = self._operator.squared_norms() - 2 * np.einsum("ik,ik->i", Lam, Psi)
        return np.asarray(squares + np.einsum("ij,jk,ik->i", Lam, Gamma, Lam))

    def rounding(self) -> Array:
        """Return the squared norm that rounding alone may leave of each graph, (m,)."""
        return self._operator.rounding()

    def degrees(self) -> tuple[Array, ...]:
        """Return those of the graphs, which components do not change."""
        return self._operator.degrees()

    def total(self, task: BlockTask, weights: Array) -> Any:
        """Return the sum of task(operator of a block, its rows of ``weights``) over all blocks."""
        rows = np.column_stack([self._Lam, weights])
        shape = np.shape(weights)[1:]
        return self._operator.total(_OnDeflated(task, self._sides, self._hollow, shape), rows)


@dataclass(frozen=True)
class _OnDeflated:
    """A task that sees blocks of the graphs less components; rows are loadings, then its own."""

    task: BlockTask
    sides: tuple[Array, ...]
    hollow: bool
    shape: tuple[int, ...]

    def __call__(self, operator: Operator, rows: Array) -> Any:
        """Return what the task does for the block."""
        k = self.sides[0].shape[1]
        mine = rows[:, k:].reshape(len(rows), *self.shape)
        return self.task(Deflated(operator, self.sides, rows[:, :k], self.hollow), mine)
