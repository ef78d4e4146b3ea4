"""A stack with its diagonal treated, centred and scaled: what does not depend on direction.

Every graph is linear in a graph of the stack,

    Ã_i = scale * (A_i + Diag(D_i) - (M + Diag(D_M))),

with ``M`` the mean when centring and ``D`` what the rule for the diagonal adds to it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.kernels import dense_distances, flat_distances
from eigengraphs.parallel import on_blocks, spans
from eigengraphs.stack.stack import GraphStack

__all__ = ["DiagonalRule", "TreatedStack", "Vector"]

Vector: TypeAlias = NDArray[np.float64]
DiagonalRule: TypeAlias = Literal["observed", "filled", "hollow"]

_BLOCK_ENTRIES = 2**20  # of graphs that one thread takes at a time


class TreatedStack:
    """Norms of treated graphs, and what the treatment adds to products with them.

    Parameters
    ----------
    stack
        The graphs.
    diagonal : {"observed", "filled", "hollow"}
        Keep the diagonal; put the mean of the other entries of its row and column into each
        entry; or zero.
    mean
        Mean graph (n, n) to subtract, before the same treatment of its diagonal; or None.
    scale : float
        Factor on every entry.
    like : TreatedStack, optional
        A view that differs in its diagonal alone: norms off it are found once for both.
    """

    def __init__(
        self,
        stack: GraphStack,
        diagonal: DiagonalRule,
        mean: NDArray[np.float64] | sparse.csr_array | None,
        scale: float,
        like: TreatedStack | None,
    ) -> None:
        self._stack, self._rule, self._M, self._scale = stack, diagonal, mean, scale
        # Shared, and no function of this view: a cycle would keep its graphs until Python looks
        # for cycles, which it does not do for a few large arrays.
        self._off_squares: list[Vector] = [] if like is None else like._off_squares
        self._norms: Vector | None = None
        self._D: NDArray[np.float64] | None = None
        self._D_M: Vector | float = 0.0
        if diagonal == "observed":
            return
        sums: Any = self._line_sums() if diagonal == "filled" else 0.0
        self._D = self._change(stack.diagonals(), sums)
        if mean is not None:
            self._D_M = self._change(np.asarray(mean.diagonal()), self._mean_line_sums())

    def _line_sums(self) -> NDArray[np.float64]:
        """Return the mean of the sums of row and column s of each graph, (m, n)."""
        raise NotImplementedError

    def _mean_line_sums(self) -> Vector:
        """Return the same of the mean graph, (n,)."""
        raise NotImplementedError

    def _change(self, on_diagonal: NDArray[Any], line_sums: Any) -> NDArray[np.float64]:
        """Return what the rule adds to the diagonal, for one graph (n,) or for all (m, n)."""
        if self._rule == "hollow":
            return -on_diagonal
        others = max(self.n_vertices - 1, 1)
        return np.asarray((line_sums - on_diagonal) / others - on_diagonal)

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return self._stack.n_graphs

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._stack.n_vertices

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the products: that of the stack."""
        return self._stack.dtype

    def squared_norms(self) -> Vector:
        """Return ||Ã_i||^2, (m,).

        Entries are scaled before they are squared: squares of extreme weights leave the range
        of a float64. Both parts are sums of squares: taking the diagonal's off the whole would
        lose the digits of what is left beside a large diagonal.
        """
        if self._norms is not None:
            return self._norms
        if self._M is None and self._D is None:
            self._norms = (self._scale * self._stack.facts.norm) ** 2
            return self._norms
        on_diagonal = self._stack.diagonals()
        if self._M is not None:
            on_diagonal -= np.asarray(self._M.diagonal())
        if self._D is not None:
            on_diagonal += self._D - self._D_M
        on_diagonal *= self._scale
        squares: Vector = np.einsum("is,is->i", on_diagonal, on_diagonal)
        if not self._off_squares:
            self._off_squares.append(self._off_diagonal_squares())
        squares += self._off_squares[0]
        self._norms = squares
        return squares

    def _off_diagonal_squares(self) -> Vector:
        """Return ||scale (A_i - M)||^2 off the diagonal, (m,)."""
        M: Any = self._M
        scale, stack = self._scale, self._stack
        if M is None:
            squares: Vector = (scale * stack.facts.off_norm) ** 2
            return squares
        squares = np.empty(self.n_graphs)
        dense_M: Any = M if isinstance(M, np.ndarray) else None
        if dense_M is None and not stack.is_sparse:  # graphs to project that came as arrays
            dense_M = M.toarray()

        def work(lo: int, hi: int) -> None:
            if not stack.is_sparse:
                dense_distances(stack.dense[lo:hi], dense_M, scale, squares[lo:hi])
            elif dense_M is None:
                n, flat = self.n_vertices, stack.flat
                rows = flat.indptr[lo * n : hi * n + 1]
                flat_distances(
                    flat.data, flat.indices, rows, M.data, M.indices, M.indptr, scale,
                    squares[lo:hi],
                )  # fmt: skip
            else:
                for i in range(lo, hi):
                    graph = np.asarray(stack[i].toarray())[None]
                    dense_distances(graph, dense_M, scale, squares[i : i + 1])

        on_blocks(work, spans(self.n_graphs, 1 + _BLOCK_ENTRIES // self.n_vertices**2))
        return squares

    def rounding(self) -> Vector:
        """Return the squared norm that rounding alone may leave of each graph, (m,).

        Graphs that are their mean are not exactly zero when centred.
        """
        eps = float(np.finfo(self._stack.dtype).eps)
        noise: Vector = (4 * eps * self._scale * self._stack.facts.norm) ** 2
        return noise
