"""Free loadings in a basis: after each component all are solved again, so deflation projects."""

from __future__ import annotations

import numpy as np

from eigengraphs.solvers.core import CoreFit, CoreProblem, Search, compress, solve_core
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.products import Basis
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.quotient import norm_gradient, squared_norm

__all__ = ["FreeCore"]


class FreeCore:
    """The core problem of graphs less the frozen components; see :class:`block.Core`.

    Parameters
    ----------
    weights : (m,)
        Weight of each graph.
    frozen : (n, k)
        Components that are found.
    left
        sum_i w_i ||A_i||^2 of the graphs without them.
    hollow
        The pairs s = t take no part in the loss.
    floor, nothing
        A gain, and a squared norm, that are rounding.
    """

    def __init__(
        self,
        weights: Array,
        frozen: Array,
        left: float,
        *,
        hollow: bool,
        floor: float,
        nothing: float,
    ) -> None:
        self._weights, self._frozen, self._left = weights, frozen, left
        self._hollow, self._floor, self._nothing = hollow, floor, nothing

    def solve(self, basis: Basis, d: int, search: Search, tol: Array) -> CoreFit:
        """Return d components of the cores."""
        R, mean, by_squares = compress(basis.cores, self._weights)
        floor = self._floor
        if by_squares:
            floor = max(floor, 10 * R.shape[1] * np.finfo(np.float64).eps * float((R**2).sum()))
        problem = CoreProblem(
            R, mean, basis.V, self._frozen, self._hollow, floor, self._left, self._nothing
        )
        return solve_core(problem, d, search, tol)

    def gradients(self, basis: Basis, fit: CoreFit) -> tuple[Array, Array]:
        """Return the gradients r_k, (n, d), and ||r_k|| / theta_k, (d,), in the full space."""
        d = len(fit.gains)
        active = int((fit.gains > 0).sum())
        Y = fit.Y[:, :active]
        H = basis.V @ Y
        Psi = basis.cores @ Packing(len(Y)).outer(Y.T).T
        T, squares, combination = fit.deflation.projections(Psi, Y)
        WT = self._weights[:, None] * T
        r = basis.combine(WT, Y)  # sum_i w_i t_ik A_i h_k
        # Take off what the earlier components of the block hold: sum_{j < k} N_kj q_j h_k.
        N = np.tril((WT.T @ T) / squares, -1) @ combination
        both = np.column_stack([self._frozen, H])
        r -= both @ (N.T * (both.T @ H))
        theta = np.einsum("ik,ik->k", WT, T)
        if self._hollow:
            r += (both**2 @ N.T) * H
            q = squared_norm((H**4).sum(axis=0))
            theta = theta / q
            r = (r - theta * norm_gradient(H)) / q
        else:
            r -= theta * H
        r -= H * (H * r).sum(axis=0)
        sizes = np.sqrt((r**2).sum(axis=0)) / theta
        return np.pad(r, ((0, 0), (0, d - active))), np.pad(sizes, (0, d - active))
