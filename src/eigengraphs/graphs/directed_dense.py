"""Products of dense directed graphs: both sides while a graph is at hand, in one read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs.directed_columns import BothSides, Receiver
from eigengraphs.graphs.view_dense import DenseProducts, add_cross_products, add_dots, as_rows
from eigengraphs.parallel import on_blocks
from eigengraphs.stack.stack import GraphStack

__all__ = ["DirectedDense"]


class DirectedDense:
    """Products of dense graphs, (m, n, n)."""

    def __init__(self, stack: GraphStack) -> None:
        A = stack.dense
        self._A, self._AT = A, A.transpose(0, 2, 1)
        self._left = DenseProducts(A)  # B^T A_i, the transpose of A_i^T B
        self._right = DenseProducts(self._AT)

    def _on_blocks(self, work: Any, gather: Any = None) -> None:
        on_blocks(work, self._left.tasks, gather, threads=self._left.threads)

    def products(self, columns: BothSides, left: Receiver, right: Receiver) -> None:
        """Hand out (A_i^T B)^T for the columns of the left, (A_i B)^T for those of the right."""
        sides = [
            (products, as_rows(one.B), as_rows(one.C), one, receiver)
            for products, one, receiver in (
                (self._left, columns.left, left), (self._right, columns.right, right)
            )
            if one.B.shape[1]
        ]  # fmt: skip

        def work(lo: int, hi: int) -> None:
            for first, last in self._left.steps(lo, hi, again=True):
                for products, BT, CT, one, receiver in sides:
                    place = None if receiver.out is None else receiver.out[first:last]
                    P = products.treated(first, last, BT, CT, one, place)
                    receiver.consume(first, last, P)

        self._on_blocks(work)

    def project(
        self, U: NDArray[np.float64], V: NDArray[np.float64], columns: BothSides
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return [U B_left]^T A_i B_right, and V^T A_i^T B_left."""
        dtype, m = self._A.dtype, len(self._A)
        UT = as_rows(np.column_stack([U, columns.left.B]).astype(dtype, copy=False))
        VT = as_rows(V.astype(dtype, copy=False))
        onto_left = np.zeros((m, len(UT), columns.right.B.shape[1]))
        onto_right = np.zeros((m, len(VT), columns.left.B.shape[1]))

        def from_right(lo: int, hi: int, P: NDArray[Any]) -> None:
            add_cross_products(UT, P, onto_left[lo:hi])

        def from_left(lo: int, hi: int, P: NDArray[Any]) -> None:
            add_cross_products(VT, P, onto_right[lo:hi])

        self.products(columns, Receiver(from_left), Receiver(from_right))
        return onto_left, onto_right

    def weighted_multiply(
        self, W: NDArray[np.float64], H: NDArray[Any], G: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum_i W_ik A_i g_k and sum_i W_ik A_i^T h_k, (n, d), without treatment."""
        HT, GT, W_typed = as_rows(H), as_rows(G), W.astype(H.dtype)
        totals = np.zeros((2, *HT.shape))

        def work(lo: int, hi: int) -> NDArray[np.float64]:
            parts = np.zeros_like(totals)
            for first, last in self._left.steps(lo, hi, again=True):
                w = W_typed[first:last]
                parts[0] += np.einsum("ik,iks->ks", w, self._right.times(GT, first, last))
                parts[1] += np.einsum("ik,iks->ks", w, self._left.times(HT, first, last))
            return parts

        self._on_blocks(work, totals.__iadd__)
        return totals[0].T, totals[1].T

    def square_multiply(
        self, columns: BothSides, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], ...]:
        """Return sums over the graphs of P_i = A_i^T B_left and of Q_i = A_i B_right, (n, b).

        They are sum_i w_i (A_i + Diag(D_i)) P_i, sum_i w_i P_i, sum_i w_i (A_i + Diag(D_i))^T Q_i
        and sum_i w_i Q_i.
        """
        sides = [
            (products, as_rows(one.B), as_rows(one.C), one, back)
            for products, one, back in (
                (self._left, columns.left, self._right), (self._right, columns.right, self._left)
            )
        ]  # fmt: skip
        totals = np.zeros((4, *sides[0][1].shape))

        def work(lo: int, hi: int) -> NDArray[np.float64]:
            parts = np.zeros_like(totals)
            for first, last in self._left.steps(lo, hi, again=True):
                if not weights[first:last].any():
                    continue
                for side, (products, BT, CT, one, back) in enumerate(sides):
                    P = products.treated(first, last, BT, CT, one)
                    P *= weights[first:last, None, None].astype(P.dtype)
                    Q = back.times_each(P, first, last)
                    if one.D is not None:
                        Q += one.D[first:last, None].astype(P.dtype) * P
                    parts[2 * side] += Q.sum(axis=0)
                    parts[2 * side + 1] += P.sum(axis=0)
            return parts

        self._on_blocks(work, totals.__iadd__)
        return tuple(total.T for total in totals)

    def bilinear_forms(self, H: NDArray[Any], G: NDArray[Any]) -> NDArray[np.float64]:
        """Return h_k^T A_i g_k, (m, d), without treatment."""
        HT, GT = as_rows(H), as_rows(G)
        forms = np.zeros((len(self._A), len(HT)))

        def work(lo: int, hi: int) -> None:
            for first, last in self._left.steps(lo, hi, again=True):
                add_dots(GT, self._left.times(HT, first, last), forms[first:last])

        self._on_blocks(work)
        return forms

    def line_sums(self) -> NDArray[np.float64]:
        """Return the mean of the sums of row s and of column s, (m, n)."""
        m, n, _ = self._A.shape
        ones, sums = np.ones(n, dtype=self._A.dtype), np.empty((m, n))

        def work(lo: int, hi: int) -> None:
            for first, last in self._left.steps(lo, hi, again=True):
                rows, columns = self._A[first:last] @ ones, self._AT[first:last] @ ones
                sums[first:last] = (rows.astype(np.float64) + columns) / 2

        self._on_blocks(work)
        return sums
