"""Many graphs, seen through sums over them alone: a basis with the second moment of the cores.

Free loadings are solved by least squares, so that the greedy problem in a basis V depends on the
cores c_i = V^T A_i V, packed, through sum_i w_i c_i c_i^T alone. It does not grow with the number
of graphs, and where those are spread over a disk or a cluster it is what has to travel. What is
asked of the graphs is a task, a function of some of them; see :class:`SplitGraphs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigengraphs.solvers.deflated import DeflatedGraphs
from eigengraphs.solvers.directions import turned_basis, widened
from eigengraphs.solvers.loadings import component_gram, solve_loadings
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array, BlockGraphs, SplitGraphs, SubspaceGraphs
from eigengraphs.solvers.second_moment import moments_of, root_of_packed

__all__ = ["CoreMoments", "Gradients", "MomentBasis"]

_BLOCK_BYTES = 2**24  # of cores that are packed at a time


@dataclass(frozen=True)
class _OfResiduals:
    """A task on graphs less the components that are frozen, whose loadings are solved there."""

    frozen: Array  # (n, k)
    hollow: bool

    def _rest(self, graphs: SubspaceGraphs) -> tuple[BlockGraphs, Array]:
        """Return the graphs without the frozen components, and the loadings of these, (m, k)."""
        if self.frozen.shape[1] == 0:
            return graphs, np.zeros((graphs.n_graphs, 0))
        Gamma = component_gram(self.frozen, hollow=self.hollow)
        Lam = solve_loadings(Gamma, graphs.quadratic_forms(self.frozen))
        return DeflatedGraphs(graphs, self.frozen, Lam, self.hollow), Lam


@dataclass(frozen=True)
class CoreMoments(_OfResiduals):
    """Find sum_i w_i c_i c_i^T, a triangle, and sum_i w_i c_i, (p,), for the packed cores c_i."""

    V: Array  # (n, s)

    def __call__(self, graphs: SubspaceGraphs, weights: Array) -> tuple[Array, Array]:
        """Return the sums over these graphs."""
        packing = Packing(self.V.shape[1])
        cores = self._rest(graphs)[0].project(self.V[:, :0], self.V)
        step = max(1, _BLOCK_BYTES // (8 * packing.size))
        batches = (
            (packing.pack_last_rows(cores[lo : lo + step]), weights[lo : lo + step])
            for lo in range(0, len(cores), step)
        )
        return moments_of(batches, packing.size)


@dataclass(frozen=True)
class Gradients(_OfResiduals):
    """Find sum_i w_i t_ik R_i h_k, (n, d), with t_i = (h_k^T R_i h_k)_k X."""

    H: Array  # (n, d)
    X: Array  # (d, d)

    def __call__(self, graphs: SubspaceGraphs, weights: Array) -> Array:
        """Return the sum over these graphs."""
        rest, Lam = self._rest(graphs)
        k = self.frozen.shape[1]
        both = component_gram(np.column_stack([self.frozen, self.H]), hollow=self.hollow)
        Psi = graphs.quadratic_forms(self.H) - Lam @ both[:k, k:]
        return rest.weighted_multiply(weights[:, None] * (Psi @ self.X), self.H)


class MomentBasis:
    """An orthonormal basis, and a root R of the second moment of the cores in it.

    Attributes
    ----------
    V : (n, s)
        Orthonormal columns.
    n_passes : int
        How often the graphs were read.
    """

    def __init__(self, graphs: SplitGraphs, weights: Array, frozen: Array, hollow: bool) -> None:
        self._graphs, self._weights = graphs, weights
        self._frozen, self._hollow = frozen, hollow
        self.V: Array = np.zeros((graphs.n_vertices, 0))
        self._R = self._mean = np.zeros((0, 0))
        self.n_passes = 0

    def append(self, B: Array) -> None:
        """Add the columns of B, orthonormal and orthogonal to V: one pass."""
        self.V = widened(self.V, B)
        M, mean = self._total(CoreMoments(self._frozen, self._hollow, self.V))
        self._R = root_of_packed(M, len(mean))
        self._mean = mean / np.sqrt(self._weights.sum())

    def rotate(self, T: Array) -> None:
        """Replace V by V T."""
        old, new = Packing(T.shape[0]), Packing(T.shape[1])
        self._R = new.pack(np.matmul(T.T, np.matmul(old.unpack(self._R), T)))
        self._mean = new.pack(T.T @ old.unpack(self._mean) @ T)
        self.V = turned_basis(self.V, T)

    def compressed(self) -> tuple[Array, Array, bool]:
        """Return R (r, p), the mean core, and that R comes of squares; see ``core.compress``."""
        return self._R, self._mean, True

    def root_forms(self, Y: Array) -> Array:
        """Return rows (r, d) whose outer products add up to those of sqrt(w_i) h_k^T A_i h_k."""
        return np.asarray(self._R @ Packing(len(Y)).outer(Y.T).T)

    def gradients(self, Y: Array, X: Array) -> Array:
        """Return sum_i w_i t_ik A_i h_k, (n, d), with t_i = (h_k^T A_i h_k)_k X: one pass."""
        total = self._total(Gradients(self._frozen, self._hollow, self.V @ Y, X))
        return np.asarray(total)

    def forms(self, Y: Array) -> None:
        """Of each graph nothing is known."""

    def _total(self, task: Any) -> Any:
        self.n_passes += 1
        return self._graphs.total(task, self._weights)
