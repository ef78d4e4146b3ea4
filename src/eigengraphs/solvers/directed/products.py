"""Growing bases U and V, the cores U^T A_i V, and sums of products of the graphs with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.directed.pairs import PairPacking
from eigengraphs.solvers.old_core import compress
from eigengraphs.solvers.products import combined, freed, leave, part_for, projected, rotated
from eigengraphs.solvers.protocol import Array, DirectedBlockGraphs

__all__ = ["CachedPairBasis", "PairBasis", "StreamedPairBasis"]


class PairBasis:
    """Orthonormal bases of both sides and the cores of all graphs in them.

    Attributes
    ----------
    U, V : (n, s), (n, t)
        Orthonormal columns.
    cores : (m, s, t)
        U^T A_i V.
    n_passes : int
        How often the graphs were read.
    """

    def __init__(self, graphs: DirectedBlockGraphs, weights: Array) -> None:
        self._graphs, self._weights = graphs, weights
        n, m = graphs.n_vertices, graphs.n_graphs
        self.U: Array = np.zeros((n, 0))
        self.V: Array = np.zeros((n, 0))
        self.cores: Array = np.zeros((m, 0, 0))
        self.n_passes = 0
        self._known: tuple[Array, Array] | None = None  # the last points, and their forms

    def append(self, left: Array, right: Array) -> None:
        """Add columns, orthonormal and orthogonal to U and to V: one pass."""
        onto_left, onto_right = self._cross(left, right)
        _, s, t = self.cores.shape
        self.U, self.V = np.column_stack([self.U, left]), np.column_stack([self.V, right])
        cores = np.empty((len(self.cores), self.U.shape[1], self.V.shape[1]))
        cores[:, :s, :t] = self.cores
        cores[:, s:, :t] = onto_right.transpose(0, 2, 1)
        cores[:, :, t:] = onto_left
        self.cores = cores
        self.n_passes += 1

    def rotate(self, P: Array, Q: Array) -> None:
        """Replace U by U P and V by V Q."""
        self.cores = np.matmul(P.T, np.matmul(self.cores, Q))
        self.U, self.V = self.U @ P, self.V @ Q
        self._known = None  # the same numbers are other points now

    @property
    def packing(self) -> PairPacking:
        """How cores are packed."""
        return PairPacking(self.U.shape[1], self.V.shape[1])

    def compressed(self) -> tuple[Array, Array, bool]:
        """Return what :func:`core.compress` makes of the cores."""
        return compress(self.packing.pack(self.cores), self._weights)

    def forms(self, X: Array) -> Array:
        """Return h_k^T A_i g_k, (m, d), for h_k = U y_k and g_k = V z_k, y_k above z_k in ``X``.

        Of the last points, it takes no work.
        """
        packing, d = self.packing, X.shape[1]
        if self._known is None or not np.array_equal(self._known[0][:, :d], X):
            self._known = (X.copy(), packing.pack(self.cores) @ packing.outer(X.T).T)
        return self._known[1][:, :d].copy()

    def root_forms(self, X: Array) -> Array:
        """Return sqrt(w_i) h_k^T A_i g_k, (m, d)."""
        return np.asarray(np.sqrt(self._weights)[:, None] * self.forms(X))

    def gradients(self, X: Array, of_forms: Array) -> tuple[Array, Array]:
        """Return sum_i w_i t_ik A_i g_k and sum_i w_i t_ik A_i^T h_k, (n, d).

        t_i = (h_k^T A_i g_k)_k times ``of_forms`` (d, d).
        """
        return self.combine(self._weights[:, None] * (self.forms(X) @ of_forms), X)

    def combine(self, W: Array, X: Array) -> tuple[Array, Array]:
        """Return sum_i W_ik A_i V z_k and sum_i W_ik A_i^T U y_k, (n, d).

        ``W`` is (m, d), and y_k above z_k the columns of ``X`` (s + t, d).
        """
        raise NotImplementedError

    def _cross(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Return [U left]^T A_i right, (m, s + b, c), and V^T A_i^T left, (m, t, b)."""
        raise NotImplementedError


class CachedPairBasis(PairBasis):
    """Keep A_i^T U and A_i V: a pass for new columns and none for anything else.

    Takes m n (s + t) numbers, which beside a dense stack is (s + t) / n of it.
    """

    def __init__(self, graphs: DirectedBlockGraphs, weights: Array) -> None:
        super().__init__(graphs, weights)
        # U_j^T A_i, (m, b_j, n), and V_j^T A_i^T, (m, c_j, n), in the type of the graphs
        self._left: list[NDArray[Any]] = []
        self._right: list[NDArray[Any]] = []
        self._free: list[NDArray[Any]] = []  # room of earlier ones: new memory takes its time

    def _cross(self, left: Array, right: Array) -> tuple[Array, Array]:
        m, n, dtype = self._graphs.n_graphs, self._graphs.n_vertices, self._graphs.dtype
        of_left = part_for(m, left.shape[1], n, dtype, self._free)
        of_right = part_for(m, right.shape[1], n, dtype, self._free)
        self._graphs.products(left, right, leave, leave, of_left, of_right)
        self._left.append(of_left)
        self._right.append(of_right)
        U = np.column_stack([self.U, left])
        return projected(of_right, U), projected(of_left, self.V)

    def combine(self, W: Array, X: Array) -> tuple[Array, Array]:
        """Return sum_i W_ik A_i V z_k and sum_i W_ik A_i^T U y_k, (n, d)."""
        s, n = self.U.shape[1], self._graphs.n_vertices
        return combined(self._right, n, W, X[s:]), combined(self._left, n, W, X[:s])

    def rotate(self, P: Array, Q: Array) -> None:
        """Replace U by U P and V by V Q."""
        left, self._left = self._left, rotated(self._left, P)
        right, self._right = self._right, rotated(self._right, Q)
        self._free = freed(left, self._left) + freed(right, self._right)
        super().rotate(P, Q)


class StreamedPairBasis(PairBasis):
    """Keep the bases and the cores alone: two passes where the cache needs one, little memory."""

    def _cross(self, left: Array, right: Array) -> tuple[Array, Array]:
        return self._graphs.project(self.U, self.V, left, right)

    def combine(self, W: Array, X: Array) -> tuple[Array, Array]:
        """Return sum_i W_ik A_i V z_k and sum_i W_ik A_i^T U y_k, (n, d)."""
        self.n_passes += 1
        s = self.U.shape[1]
        return self._graphs.weighted_multiply(W, self.U @ X[:s], self.V @ X[s:])
