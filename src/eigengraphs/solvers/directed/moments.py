"""Many directed graphs, seen through sums over them alone; see :mod:`solvers.moments`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigengraphs.solvers.directed.deflated import DeflatedDirected
from eigengraphs.solvers.directed.pairs import PairPacking, pair_gram
from eigengraphs.solvers.loadings import solve_loadings
from eigengraphs.solvers.protocol import (
    Array,
    DirectedBlockGraphs,
    DirectedGraphs,
    SplitDirectedGraphs,
)
from eigengraphs.solvers.second_moment import moments_of, root_of_packed

__all__ = ["MomentPairBasis", "PairMoments"]

_BLOCK_BYTES = 2**24  # of cores that are packed at a time


@dataclass(frozen=True)
class _OfResiduals:
    """A task on graphs less the components that are frozen, whose loadings are solved there."""

    frozen: Array  # (2 n, k)
    hollow: bool

    def _rest(self, graphs: DirectedGraphs) -> tuple[DirectedBlockGraphs, Array]:
        """Return the graphs without the frozen components, and the loadings of these, (m, k)."""
        n, k = graphs.n_vertices, self.frozen.shape[1]
        if k == 0:
            return graphs, np.zeros((graphs.n_graphs, 0))
        H, G = self.frozen[:n], self.frozen[n:]
        Gamma = pair_gram(self.frozen, hollow=self.hollow)
        Lam = solve_loadings(Gamma, graphs.bilinear_forms(H, G))
        return DeflatedDirected(graphs, H, G, Lam, self.hollow), Lam


@dataclass(frozen=True)
class PairMoments(_OfResiduals):
    """Find sum_i w_i c_i c_i^T, a triangle, and sum_i w_i c_i, (p,), for the packed cores c_i."""

    U: Array  # (n, s)
    V: Array  # (n, t)

    def __call__(self, graphs: DirectedGraphs, weights: Array) -> tuple[Array, Array]:
        """Return the sums over these graphs."""
        packing = PairPacking(self.U.shape[1], self.V.shape[1])
        # With nothing to the left of new columns, all of them are U: U^T A_i V.
        rest, none = self._rest(graphs)[0], self.U[:, :0]
        cores = rest.project(self.U, none, none, self.V)[0]
        step = max(1, _BLOCK_BYTES // (8 * packing.size))
        batches = (
            (packing.pack(cores[lo : lo + step]), weights[lo : lo + step])
            for lo in range(0, len(cores), step)
        )
        return moments_of(batches, packing.size)


@dataclass(frozen=True)
class _PairGradients(_OfResiduals):
    """Find sum_i w_i t_ik R_i g_k and sum_i w_i t_ik R_i^T h_k, t_i = (h_k^T R_i g_k)_k X."""

    HG: Array  # (2 n, d), h_k above g_k
    X: Array  # (d, d)

    def __call__(self, graphs: DirectedGraphs, weights: Array) -> tuple[Array, Array]:
        """Return the sums over these graphs."""
        n, k = graphs.n_vertices, self.frozen.shape[1]
        H, G = self.HG[:n], self.HG[n:]
        rest, Lam = self._rest(graphs)
        both = pair_gram(np.column_stack([self.frozen, self.HG]), hollow=self.hollow)
        Psi = graphs.bilinear_forms(H, G) - Lam @ both[:k, k:]
        return rest.weighted_multiply(weights[:, None] * (Psi @ self.X), H, G)


class MomentPairBasis:
    """Orthonormal bases of both sides, and a root R of the second moment of the cores in them.

    Attributes
    ----------
    U, V : (n, s), (n, t)
        Orthonormal columns.
    n_passes : int
        How often the graphs were read.
    """

    def __init__(
        self, graphs: SplitDirectedGraphs, weights: Array, frozen: Array, hollow: bool
    ) -> None:
        self._graphs, self._weights = graphs, weights
        self._frozen, self._hollow = frozen, hollow
        self.U: Array = np.zeros((graphs.n_vertices, 0))
        self.V: Array = np.zeros((graphs.n_vertices, 0))
        self._R = self._mean = np.zeros((0, 0))
        self.n_passes = 0

    @property
    def packing(self) -> PairPacking:
        """How cores are packed."""
        return PairPacking(self.U.shape[1], self.V.shape[1])

    def append(self, left: Array, right: Array) -> None:
        """Add columns, orthonormal and orthogonal to U and to V: one pass."""
        self.U, self.V = np.column_stack([self.U, left]), np.column_stack([self.V, right])
        M, mean = self._total(PairMoments(self._frozen, self._hollow, self.U, self.V))
        self._R = root_of_packed(M, len(mean))
        self._mean = mean / np.sqrt(self._weights.sum())

    def rotate(self, P: Array, Q: Array) -> None:
        """Replace U by U P and V by V Q."""
        old, new = self.packing, PairPacking(P.shape[1], Q.shape[1])
        self._R = new.pack(np.matmul(P.T, np.matmul(old.unpack(self._R), Q)))
        self._mean = new.pack(P.T @ old.unpack(self._mean[None]) @ Q)[0]
        self.U, self.V = self.U @ P, self.V @ Q

    def compressed(self) -> tuple[Array, Array, bool]:
        """Return R (r, p), the mean core, and that R comes of squares; see ``core.compress``."""
        return self._R, self._mean, True

    def root_forms(self, X: Array) -> Array:
        """Return rows (r, d) whose outer products add up to those of sqrt(w_i) h_k^T A_i g_k."""
        return np.asarray(self._R @ self.packing.outer(X.T).T)

    def gradients(self, X: Array, of_forms: Array) -> tuple[Array, Array]:
        """Return sum_i w_i t_ik A_i g_k and sum_i w_i t_ik A_i^T h_k, (n, d): one pass."""
        s = self.U.shape[1]
        HG = np.vstack([self.U @ X[:s], self.V @ X[s:]])
        left, right = self._total(_PairGradients(self._frozen, self._hollow, HG, of_forms))
        return left, right

    def forms(self, X: Array) -> None:
        """Of each graph nothing is known."""

    def _total(self, task: Any) -> Any:
        self.n_passes += 1
        return self._graphs.total(task, self._weights)
