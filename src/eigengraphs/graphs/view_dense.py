"""Products of dense graphs (m, n, n) with blocks of columns, a few graphs at a time.

With few columns, and graphs that lie in memory row by row, by a kernel of their own
(:mod:`dense_kernels`); otherwise by BLAS.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs.columns import Columns, Consumer
from eigengraphs.graphs.dense_kernels import (
    TILE_BYTES,
    as_padded_rows,
    multiply_graphs,
    multiply_transposes,
)
from eigengraphs.parallel import on_blocks, spans

__all__ = ["DenseProducts", "add_cross_products", "add_dots", "as_rows", "products_at_hand"]

_TASK_BYTES = 2**26  # of graphs in one task of a thread: each costs a word with the others
_TASKS = 16  # at least, if there are as many graphs
_CACHE_BYTES = 2**19  # of graphs, or of products, at hand at a time; sums over them in their type
_FEW_COLUMNS = 20  # beyond, BLAS is as fast
_USUAL_COLUMNS = 12
_THREADS_PAY_FROM = 2**21  # entries of the stack
_FLOAT32_SUM = 4096  # terms of a sum that float32 may take before float64 does


class DenseProducts:
    """Products B^T A_i of ``A`` (m, n, n), C-contiguous or the transposes of such graphs.

    Of symmetric graphs A_i B is the transpose of that, and what the methods say of A_i B and of
    sums of it holds for these: BLAS is fastest with the few columns as rows.

    Attributes
    ----------
    tasks
        Blocks of graphs, one for a thread at a time.
    threads
        How many threads; None for all.
    """

    def __init__(self, A: NDArray[Any]) -> None:
        self._A = A
        a_graph, n = A[0].nbytes, A.shape[1]
        self.tasks = spans(len(A), min(_TASK_BYTES // a_graph, -(-len(A) // _TASKS)))
        in_rows, in_columns = A.flags.c_contiguous, A.transpose(0, 2, 1).flags.c_contiguous
        wide = n * A.itemsize >= TILE_BYTES
        self._in_rows, self._in_columns = wide and in_rows, wide and in_columns and not in_rows
        # Graphs that are read again, as BLAS does; or products, if the kernel reads graphs once.
        self._again = max(1, _CACHE_BYTES // a_graph)
        self._once = products_at_hand(A) if self._in_rows else self._again
        self.threads = None if A.size >= _THREADS_PAY_FROM else 1

    def steps(self, lo: int, hi: int, *, again: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the ends of the few graphs that are at hand at a time, to be read again or not."""
        for first, last in spans(hi - lo, self._again if again else self._once):
            yield lo + first, lo + last

    def treated(
        self,
        lo: int,
        hi: int,
        BT: NDArray[Any],
        CT: NDArray[Any] | None,
        columns: Columns,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return B^T (A_i + Diag(D_i)) - C^T, (hi - lo, b, n)."""
        P = self.times(BT, lo, hi, out)
        if columns.D is not None:
            P += columns.D[lo:hi, None].astype(P.dtype) * BT
        if CT is not None:
            P -= CT
        return P

    def times(
        self, BT: NDArray[Any], lo: int, hi: int, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return B^T A_i, (hi - lo, b, n)."""
        A, (b, n) = self._A[lo:hi], BT.shape
        if not 0 < b <= _FEW_COLUMNS or not (self._in_rows or self._in_columns):
            return np.asarray(np.matmul(BT, A, out=out))
        P = np.empty((hi - lo, b, n), dtype=A.dtype) if out is None else out
        # A place for the products with each graph, if not for all in one piece.
        places = spans(hi - lo, hi - lo if P.flags.c_contiguous else 1)
        if self._in_columns:
            rows = as_padded_rows(BT)
            for first, last in places:
                multiply_transposes(A[first:last].transpose(0, 2, 1), rows, P[first:last])
        else:
            tail, B = np.empty((b, TILE_BYTES // A.itemsize), A.dtype), np.ascontiguousarray(BT.T)
            for first, last in places:
                multiply_graphs(A[first:last], B, P[first:last], tail)
        return P

    def times_each(self, P: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
        """Return P_i A_i for ``P`` (hi - lo, b, n), rows of its own for each graph."""
        if hi - lo == 1:
            return self.times(P[0], lo, hi)
        return np.asarray(np.matmul(P, self._A[lo:hi]))

    def products(self, columns: Columns, consume: Consumer, out: NDArray[Any] | None) -> None:
        """Call ``consume(lo, hi, P)`` with P_i = B^T A_i for lo <= i < hi, (hi - lo, b, n)."""
        BT, CT = as_rows(columns.B), as_rows(columns.C)

        def work(lo: int, hi: int) -> None:
            for first, last in self.steps(lo, hi):
                place = None if out is None else out[first:last]
                consume(first, last, self.treated(first, last, BT, CT, columns, place))

        on_blocks(work, self.tasks, threads=self.threads)

    def project(self, V: NDArray[np.float64], columns: Columns) -> NDArray[np.float64]:
        """Return [V B]^T A_i B, (m, s + b, b)."""
        BT, CT = as_rows(columns.B), as_rows(columns.C)
        b = columns.B.shape[1]
        ZT = np.concatenate([V.T.astype(BT.dtype), BT])
        cores = np.zeros((len(self._A), len(ZT), b))

        def work(lo: int, hi: int) -> None:
            for first, last in self.steps(lo, hi):
                P = self.treated(first, last, BT, CT, columns)
                add_cross_products(ZT, P, cores[first:last])

        on_blocks(work, self.tasks, threads=self.threads)
        return cores

    def weighted_multiply(self, W: NDArray[np.float64], H: NDArray[Any]) -> NDArray[np.float64]:
        """Return sum_i W_ik A_i h_k, (n, d), without treatment."""
        HT, W_typed = as_rows(H), W.astype(H.dtype)
        total = np.zeros(HT.shape)

        def work(lo: int, hi: int) -> NDArray[np.float64]:
            part = np.zeros(HT.shape)
            for first, last in self.steps(lo, hi):
                P = self.times(HT, first, last)
                part += np.einsum("ik,iks->ks", W_typed[first:last], P)
            return part

        on_blocks(work, self.tasks, total.__iadd__, threads=self.threads)
        return total.T

    def square_multiply(
        self, columns: Columns, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum_i w_i (A_i + Diag(D_i)) P_i and sum_i w_i P_i, (n, b), for P_i = A_i B."""
        BT, CT = as_rows(columns.B), as_rows(columns.C)
        totals = np.zeros((2, *BT.shape))

        def work(lo: int, hi: int) -> NDArray[np.float64]:
            parts = np.zeros_like(totals)
            for first, last in self.steps(lo, hi, again=True):
                if not weights[first:last].any():
                    continue
                P = self.treated(first, last, BT, CT, columns)
                P *= weights[first:last, None, None].astype(P.dtype)
                Q = self.times_each(P, first, last)
                if columns.D is not None:
                    Q += columns.D[first:last, None].astype(P.dtype) * P
                parts[0] += Q.sum(axis=0)
                parts[1] += P.sum(axis=0)
            return parts

        on_blocks(work, self.tasks, totals.__iadd__, threads=self.threads)
        return totals[0].T, totals[1].T

    def quadratic_forms(self, H: NDArray[Any]) -> NDArray[np.float64]:
        """Return h_k^T A_i h_k, (m, d), without treatment."""
        HT = as_rows(H)
        forms = np.zeros((len(self._A), len(HT)))

        def work(lo: int, hi: int) -> None:
            for first, last in self.steps(lo, hi):
                P = self.times(HT, first, last)
                add_dots(HT, P, forms[first:last])

        on_blocks(work, self.tasks, threads=self.threads)
        return forms

    def row_sums(self) -> NDArray[np.float64]:
        """Return A_i 1, (m, n)."""
        ones = np.ones(self._A.shape[1], dtype=self._A.dtype)
        return np.asarray(self._A @ ones, dtype=np.float64)


def products_at_hand(A: NDArray[Any]) -> int:
    """Return of how many of the graphs (m, n, n) products are found, and summed up, at a time."""
    return max(1, int(_CACHE_BYTES // (_USUAL_COLUMNS * A.shape[1] * A.itemsize)))


def add_cross_products(ZT: NDArray[Any], P: NDArray[Any], out: NDArray[np.float64]) -> None:
    """Add Z^T P_i^T to ``out`` (k, z, b), for ``ZT`` (z, n) and ``P`` (k, b, n)."""
    for s0, s1 in spans(ZT.shape[1], _FLOAT32_SUM):
        out += ZT[:, s0:s1] @ P[:, :, s0:s1].transpose(0, 2, 1)


def add_dots(HT: NDArray[Any], P: NDArray[Any], out: NDArray[np.float64]) -> None:
    """Add the inner products of the rows of ``HT`` (d, n) and ``P`` (k, d, n) to ``out`` (k, d)."""
    for s0, s1 in spans(HT.shape[1], _FLOAT32_SUM):
        out += np.einsum("iks,ks->ik", P[:, :, s0:s1], HT[:, s0:s1])


def as_rows(X: NDArray[Any] | None) -> Any:
    """Return the columns as rows, C-contiguous."""
    return None if X is None else np.ascontiguousarray(X.T)
