"""A stack of directed graphs as a solver sees it: treated as in :mod:`treated`, never copied.

"Left" belongs to the rows of the graphs and "right" to their columns: h^T A_i g has h on its left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.columns import Columns, Consumer
from eigengraphs.graphs.directed_columns import BothSides, DirectedProducts, Receiver
from eigengraphs.graphs.directed_dense import DirectedDense
from eigengraphs.graphs.directed_sparse import DirectedSparse
from eigengraphs.graphs.treated import DiagonalRule, TreatedStack, Vector
from eigengraphs.stack.stack import GraphStack

__all__ = ["DirectedView"]

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


class DirectedView(TreatedStack):
    """The products of a treated stack of directed graphs that a solver asks for.

    Parameters
    ----------
    stack
        Graphs, symmetric or not.
    diagonal : {"observed", "filled", "hollow"}
        Keep the diagonal; put the mean of the other entries of its row and column, (out-degree +
        in-degree) / (2 (n - 1)), into each entry; or zero.
    mean
        Mean graph (n, n) to subtract, before the same treatment of its diagonal; or None.
    scale : float
        Factor on every entry.
    like : DirectedView, optional
        A view that differs in its diagonal alone: what both need is found once.
    """

    def __init__(
        self,
        stack: GraphStack,
        diagonal: DiagonalRule = "observed",
        mean: NDArray[np.float64] | sparse.csr_array | None = None,
        scale: float = 1.0,
        *,
        like: DirectedView | None = None,
    ) -> None:
        self._raw: DirectedProducts
        if like is not None:
            self._raw = like._raw
        else:
            self._raw = (
                DirectedSparse(stack.flat, ones=not stack.is_weighted)
                if stack.is_sparse
                else DirectedDense(stack)
            )
        super().__init__(stack, diagonal, mean, scale, like)

    def _line_sums(self) -> NDArray[np.float64]:
        return self._raw.line_sums()

    def _mean_line_sums(self) -> Vector:
        M: Any = self._M
        return np.asarray((M.sum(axis=1) + M.sum(axis=0)) / 2).ravel()

    def bilinear_forms(self, H: NDArray[np.float64], G: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return h_k^T Ã_i g_k, (m, d)."""
        typed = (X.astype(self.dtype, copy=False) for X in (H, G))
        Psi = self._raw.bilinear_forms(*typed)
        if self._D is not None:
            Psi += self._D @ (H * G)
        if self._M is not None:
            Psi -= np.einsum("sk,sk->k", H, self._mean_multiply(G))
        return self._scale * Psi

    def diagonal_forms(self, H: NDArray[np.float64], G: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the rule for the diagonal adds to ``bilinear_forms``, (m, d): no pass."""
        if self._D is None:
            return np.zeros((self.n_graphs, H.shape[1]))
        return np.asarray(self._scale * ((self._D - self._D_M) @ (H * G)))

    def products(
        self,
        left: NDArray[np.float64],
        right: NDArray[np.float64],
        consume_left: Consumer,
        consume_right: Consumer,
        out_left: NDArray[Any] | None = None,
        out_right: NDArray[Any] | None = None,
    ) -> None:
        """Call ``consume_left(lo, hi, P)`` with P_i = left^T Ã_i, and the same for the right.

        Parameters
        ----------
        left, right : (n, b), (n, c)
            Columns.
        consume_left, consume_right
            Called in threads, in no order, with P_i = left^T Ã_i (hi - lo, b, n), and with
            right^T Ã_i^T (hi - lo, c, n), in the type of the stack.
        out_left, out_right : (m, b, n), (m, c, n), optional
            Where to put the products: P is a part of it. Otherwise P is the consumer's to keep.
        """
        columns = self._both(left, right, self._scale)
        self._raw.products(
            columns, Receiver(consume_left, out_left), Receiver(consume_right, out_right)
        )

    def project(
        self,
        U: NDArray[np.float64],
        V: NDArray[np.float64],
        left: NDArray[np.float64],
        right: NDArray[np.float64],
    ) -> Pair:
        """Return [U left]^T Ã_i right, (m, s + b, c), and V^T Ã_i^T left, (m, t, b)."""
        cores = self._raw.project(U, V, self._both(left, right, 1.0))
        for part in cores:
            part *= self._scale
        return cores

    def weighted_multiply(
        self, W: NDArray[np.float64], H: NDArray[np.float64], G: NDArray[np.float64]
    ) -> Pair:
        """Return sum_i W_ik Ã_i g_k and sum_i W_ik Ã_i^T h_k, (n, d), for ``W`` (m, d)."""
        typed = (X.astype(self.dtype, copy=False) for X in (H, G))
        sums = self._raw.weighted_multiply(W, *typed)
        for total, X, transposed in ((sums[0], G, False), (sums[1], H, True)):
            if self._D is not None:
                total += (self._D.T @ W) * X
            if self._M is not None:
                total -= self._mean_multiply(X, transposed) * W.sum(axis=0)
            total *= self._scale
        return sums

    def sketch(self, Omega: NDArray[np.float64], weights: Vector) -> tuple[Pair, Pair]:
        """Return what shows the main directions of the rows, and of the columns, of the graphs.

        For the left sum_i w_i Ã_i Ã_i^T Omega and sum_i w_i Ã_i Omega, for the right the same of
        the transposes, each (n, s). Each graph is read four times while it is at hand; large ones
        of weight zero are not read.
        """
        columns = self._both(Omega, Omega, self._scale)
        left, sums_right, right, sums_left = self._raw.square_multiply(columns, weights)
        if self._M is not None:
            left -= self._mean_multiply(sums_right)
            right -= self._mean_multiply(sums_left, transposed=True)
        left *= self._scale
        right *= self._scale
        return (left, sums_left), (right, sums_right)

    def _mean_multiply(
        self, X: NDArray[np.float64], transposed: bool = False
    ) -> NDArray[np.float64]:
        """Return (M + Diag(D_M)) X, or with the transpose of M, (n, s)."""
        M: Any = self._M
        return np.asarray((M.T if transposed else M) @ X + np.asarray(self._D_M).reshape(-1, 1) * X)

    def _both(
        self, left: NDArray[np.float64], right: NDArray[np.float64], scale: float
    ) -> BothSides:
        sides = []
        for B, transposed in ((left, True), (right, False)):
            # Rounded once: then graphs and mean meet the same columns.
            typed = (scale * B).astype(self.dtype)
            C = None
            if self._M is not None:
                mean = self._mean_multiply(typed.astype(np.float64), transposed)
                C = mean.astype(typed.dtype)
            sides.append(Columns(typed, self._D, C))
        return BothSides(*sides)
