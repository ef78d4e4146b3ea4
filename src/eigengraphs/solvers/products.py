"""Products of all graphs with a growing basis V, and what the subspace solver needs of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.protocol import Array

__all__ = ["BasisProducts", "BlockGraphs", "CachedProducts", "StreamedProducts"]


class BlockGraphs(Protocol):
    """Graphs that multiply blocks of columns at once; each call or exhausted iterator is a pass."""

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        ...

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        ...

    def products(self, V: Array) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (lo, hi, A_i V for i from lo to hi), the last (hi - lo, n, s)."""
        ...

    def square_multiply(self, V: Array, weights: Array) -> Array:
        """Return sum_i w_i A_i A_i V, (n, s)."""
        ...

    def squared_norms(self) -> Array:
        """Return ||A_i||^2, (m,)."""
        ...

    def rounding(self) -> Array:
        """Return the squared norm that rounding alone may leave of each graph, (m,)."""
        ...


class BasisProducts(Protocol):
    """Cores and weighted sums for a basis V that grows and turns."""

    V: Array  # (n, s), orthonormal columns
    n_passes: int

    def append(self, B: Array) -> Array:
        """Add the columns of B to V, and return [V B]^T A_i B, (m, s + b, b)."""
        ...

    def combine(self, W: Array, Y: Array) -> Array:
        """Return sum_i W_ik A_i V y_k, (n, d), for ``W`` (m, d) and ``Y`` (s, d)."""
        ...

    def rotate(self, T: Array) -> None:
        """Replace V by V T."""
        ...


class CachedProducts:
    """Keep A_i V: one pass for each block of new columns and none for anything else.

    Takes m n s numbers, which beside a dense stack is s / n of it.
    """

    def __init__(self, graphs: BlockGraphs) -> None:
        self._graphs = graphs
        self._parts: list[NDArray[Any]] = []  # A_i V_j, (m, n, b_j), in the type of the graphs
        self.V: Array = np.zeros((graphs.n_vertices, 0))
        self.n_passes = 0

    def append(self, B: Array) -> Array:
        """Add the columns of B to V, and return [V B]^T A_i B, (m, s + b, b)."""
        m, b = self._graphs.n_graphs, B.shape[1]
        self.V = np.column_stack([self.V, B])
        cross = np.empty((m, self.V.shape[1], b))
        part: NDArray[Any] | None = None
        for lo, hi, P in self._graphs.products(B):
            if part is None:
                part = np.empty((m, *P.shape[1:]), dtype=P.dtype)
            part[lo:hi] = P
            cross[lo:hi] = np.matmul(self.V.T.astype(P.dtype), P)
        assert part is not None
        self._parts.append(part)
        self.n_passes += 1
        return cross

    def combine(self, W: Array, Y: Array) -> Array:
        """Return sum_i W_ik A_i V y_k, (n, d), for ``W`` (m, d) and ``Y`` (s, d)."""
        m, n = self._graphs.n_graphs, self._graphs.n_vertices
        total = np.zeros((n, W.shape[1]))
        first = 0
        for part in self._parts:
            b = part.shape[2]
            sums = (W.T.astype(part.dtype) @ part.reshape(m, -1)).reshape(-1, n, b)
            total += np.einsum("ksb,bk->sk", sums, Y[first : first + b])
            first += b
        return total

    def rotate(self, T: Array) -> None:
        """Replace V by V T."""
        first, turned = 0, None
        for part in self._parts:
            b = part.shape[2]
            piece = part @ T[first : first + b].astype(part.dtype)
            turned = piece if turned is None else turned + piece
            first += b
        self._parts = [] if turned is None else [turned]
        self.V = self.V @ T


class StreamedProducts:
    """Keep V alone: two passes where the cache needs one, and no memory to speak of."""

    def __init__(self, graphs: BlockGraphs) -> None:
        self._graphs = graphs
        self.V: Array = np.zeros((graphs.n_vertices, 0))
        self.n_passes = 0

    def append(self, B: Array) -> Array:
        """Add the columns of B to V, and return [V B]^T A_i B, (m, s + b, b)."""
        self.V = np.column_stack([self.V, B])
        cross = np.empty((self._graphs.n_graphs, self.V.shape[1], B.shape[1]))
        for lo, hi, P in self._graphs.products(B):
            cross[lo:hi] = np.matmul(self.V.T.astype(P.dtype), P)
        self.n_passes += 1
        return cross

    def combine(self, W: Array, Y: Array) -> Array:
        """Return sum_i W_ik A_i V y_k, (n, d), for ``W`` (m, d) and ``Y`` (s, d)."""
        total = np.zeros((self._graphs.n_vertices, W.shape[1]))
        for lo, hi, P in self._graphs.products(self.V @ Y):
            total += np.einsum("isk,ik->sk", P, W[lo:hi], optimize=True)
        self.n_passes += 1
        return total

    def rotate(self, T: Array) -> None:
        """Replace V by V T."""
        self.V = self.V @ T
