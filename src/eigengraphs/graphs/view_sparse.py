"""Products of sparse graphs, one flat CSR matrix (m * n, n), with blocks of columns.

Columns go in slabs of a line of the cache, so that one entry of a graph costs one line. Rows go in
tiles: some rows of one graph, or several whole graphs. No product outlives its tile.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.columns import Columns, Consumer
from eigengraphs.graphs.cross_kernels import CROSS_COLUMNS, flat_cross
from eigengraphs.graphs.flat_kernels import (
    WIDTH_BYTES,
    add_weighted,
    column_dots,
    flat_multiply,
    flat_row_sums,
    flat_upper,
    flat_weighted_sum,
)
from eigengraphs.parallel import on_blocks, spans

__all__ = ["SparseProducts"]

_TILE = 2048  # lines of products, which stay in the second level of cache
_TASK_ENTRIES = 2**18  # stored entries and rows in one task of a thread
_TYPED_BYTES = 2**24  # of columns in the type of the graphs
_TOGETHER = 8  # large graphs in one task, at most
_CROSS_TASKS = 16  # and at least as many tasks, where there are so many graphs
_SQUARE_TASKS = 8  # at most: each has a sum (n, w) of its own, and one thread adds them up
_THREADS_PAY_FROM = 2**18  # stored entries and rows
_NOTHING = np.zeros(0)


class _Slabs(NamedTuple):
    """A block of columns as the kernels want it, padded with zeros."""

    B: NDArray[Any]  # (q, n, w)
    C: NDArray[Any]  # (q, n, w), or nothing
    D: NDArray[np.float64]  # (m n,), or nothing

    @property
    def tile(self) -> int:
        """Rows in a tile."""
        return max(1, _TILE // len(self.B))


class SparseProducts:
    """Products of a flat matrix in canonical form; ``ones`` says that every stored value is 1.

    ``dtype`` is that of the columns, where the matrix is a pattern and has none to speak of.
    """

    def __init__(
        self, flat: sparse.csr_array, ones: bool, dtype: np.dtype[Any] | None = None
    ) -> None:
        self._n = n = int(flat.shape[1])
        self._m = m = flat.shape[0] // n
        self._dtype = flat.dtype if dtype is None else dtype
        self._data = flat.data
        if ones:
            self._data = flat.data[:0].astype(self._dtype)
            self._data.flags.writeable = False  # kernels are compiled for what stacks have
        self._indices, self._indptr = flat.indices, flat.indptr
        size = flat.nnz + m * n
        self._threads = None if size >= _THREADS_PAY_FROM else 1
        self._tasks = spans(m, _TASK_ENTRIES * m // size)

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return self._m

    @cached_property
    def _upper(self) -> NDArray[Any]:
        """Where the entries above the diagonal begin, (m n,): a twentieth of a usual stack."""
        upper = np.empty(self._m * self._n, self._indptr.dtype)

        def work(lo: int, hi: int) -> None:
            first, last = lo * self._n, hi * self._n
            flat_upper(self._indices, self._indptr, self._n, first, upper[first:last])

        on_blocks(work, self._tasks, threads=self._threads)
        return upper

    def _tiles(self, lo: int, hi: int, rows: int) -> list[tuple[int, int, int, int]]:
        """Return (i, j, s0, s1): rows s0 to s1 of graph i, or the whole graphs i to j."""
        n = self._n
        if n > rows:
            return [(i, i + 1, s0, s1) for i in range(lo, hi) for s0, s1 in spans(n, rows)]
        return [(lo + i, lo + j, 0, n) for i, j in spans(hi - lo, rows // n)]

    def _multiply(
        self, row: int, slabs: _Slabs, P: NDArray[Any], upper: NDArray[Any] | None = None
    ) -> None:
        """Fill ``P`` (r, q, w) with rows of the treated graphs, from ``row`` on, times B."""
        upper = self._indptr[:0] if upper is None else upper
        flat_multiply(
            self._data, self._indices, self._indptr, upper, row, slabs.D, slabs.B, slabs.C, P
        )

    def _tile_products(
        self,
        tile: tuple[int, int, int, int],
        slabs: _Slabs,
        scratch: NDArray[Any],
        upper: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return A_i B on a tile, (graphs, rows, q w), in ``scratch``."""
        i, j, s0, s1 = tile
        P = scratch[: (j - i) * (s1 - s0)]
        self._multiply(i * self._n + s0, slabs, P, upper)
        return P.reshape(j - i, s1 - s0, -1)

    def products(self, columns: Columns, consume: Consumer, out: NDArray[Any] | None) -> None:
        """Call ``consume(lo, hi, P)`` with P_i = B^T A_i for lo <= i < hi, (hi - lo, b, n)."""
        slabs, n, b = _slabs(columns), self._n, columns.B.shape[1]

        def work(lo: int, hi: int) -> None:
            scratch = _lines(slabs.tile, len(slabs.B), self._dtype)
            for first, last in spans(hi - lo, slabs.tile // n):
                i, j = lo + first, lo + last
                P = np.empty((j - i, b, n), self._dtype) if out is None else out[i:j]
                for tile in self._tiles(i, j, slabs.tile):
                    found = self._tile_products(tile, slabs, scratch)
                    P[:, :, tile[2] : tile[3]] = found[:, :, :b].transpose(0, 2, 1)
                consume(i, j, P)

        on_blocks(work, self._tasks, threads=self._threads)

    def project(self, V: NDArray[np.float64], columns: Columns) -> NDArray[np.float64]:
        """Return [V B]^T A_i B, (m, s + b, b)."""
        if V.shape[1]:
            return self.cross((V, columns.B), columns)
        cores = self.cross((columns.B,), columns, self._upper)  # B on both sides: half of A_i
        cores += cores.transpose(0, 2, 1).copy()
        return cores

    def cross(
        self, Z: tuple[NDArray[Any], ...], columns: Columns, upper: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """Return Z^T A_i B, (m, z, b), for the columns of all ``Z``; of halves of A_i, or of all.

        Of very many vertices, the columns are most of what is in memory: few rows are copied.
        """
        slabs, b = _slabs(columns), columns.B.shape[1]
        q, _, w = slabs.B.shape
        ends = np.cumsum([0, *(part.shape[1] for part in Z)]).tolist()
        width = -(-ends[-1] // CROSS_COLUMNS) * CROSS_COLUMNS
        cores = np.empty((self._m, ends[-1], b))
        upper = self._indptr[:0] if upper is None else upper

        def typed(s0: int, s1: int) -> NDArray[Any]:
            rows = np.zeros((s1 - s0, width), self._dtype)
            for part, first, last in zip(Z, ends, ends[1:], strict=False):
                rows[:, first:last] = part[s0:s1]
            return rows

        bands = spans(self._n, _TYPED_BYTES // (width * self._dtype.itemsize))
        once = typed(0, self._n) if len(bands) == 1 else None

        def work(lo: int, hi: int) -> None:
            sums = np.zeros((hi - lo, width, q, w))
            for s0, s1 in bands:
                rows = typed(s0, s1) if once is None else once
                flat_cross(
                    self._data, self._indices, self._indptr, upper, lo, s0, slabs.D, slabs.B,
                    slabs.C, rows, sums,
                )  # fmt: skip
            cores[lo:hi] = sums.reshape(hi - lo, width, q * w)[:, : ends[-1], :b]

        # Several graphs at a time meet the same rows of Z while those are in cache.
        several = max(self._tasks[0][1], min(_TOGETHER, self._m // _CROSS_TASKS))
        on_blocks(work, spans(self._m, several), threads=self._threads)
        return cores

    def weighted_multiply(self, W: NDArray[np.float64], H: NDArray[Any]) -> NDArray[np.float64]:
        """Return sum_i W_ik A_i h_k, (n, d), without treatment."""
        slabs, n, d = _slabs(Columns(H, None, None)), self._n, H.shape[1]
        W = np.ascontiguousarray(W)
        total = np.zeros((n, d))

        def work(s0: int, s1: int) -> None:
            scratch = _lines(slabs.tile, len(slabs.B), self._dtype)[: s1 - s0]
            flat_weighted_sum(
                self._data, self._indices, self._indptr, s0, slabs.B, W, scratch, total[s0:s1]
            )

        on_blocks(work, spans(n, slabs.tile), threads=self._threads)
        return total

    def square_multiply(
        self,
        columns: Columns,
        weights: NDArray[np.float64],
        back: SparseProducts | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum_i w_i (A_i + Diag(D_i)) P_i and sum_i w_i P_i, (n, b), for P_i = A_i B.

        With ``back``, the first is of its graphs: of A_i^T, for graphs with a direction.
        """
        back = self if back is None else back
        slabs, n, b = _slabs(columns), self._n, columns.B.shape[1]
        q, _, w = slabs.B.shape
        tasks = spans(self._m, max(self._tasks[0][1], -(-self._m // _SQUARE_TASKS)))
        lone = q == 1 and len(tasks) == 1  # its sums are all there is
        totals = np.zeros((2, 0 if lone else n, q, w))
        for j in range(q):  # one by one: then a thread keeps few products
            slab = _Slabs(slabs.B[j : j + 1], slabs.C[j : j + 1], slabs.D)

            def work(lo: int, hi: int, slab: _Slabs = slab) -> NDArray[Any]:
                # In the type of the graphs: what is to be read and written again for each of them.
                parts = np.zeros((2, n, w), self._dtype)
                P, scratch = _lines(n, 1, self._dtype), _lines(_TILE, 1, self._dtype)
                again = _Slabs(P.reshape(1, n, w), slab.C[:0], slab.D)
                for i in (lo + np.flatnonzero(weights[lo:hi])).tolist():
                    w_i = np.full(w, weights[i], self._dtype)
                    self._multiply(i * n, slab, P)
                    for s0, s1 in spans(n, _TILE):
                        Q = back._tile_products((i, i + 1, s0, s1), again, scratch)
                        add_weighted(Q[0], w_i, parts[0, s0:s1])
                    add_weighted(P[:, 0], w_i, parts[1])
                return parts

            if lone:
                totals = work(*tasks[0])[:, :, None].astype(np.float64)
            else:
                on_blocks(work, tasks, totals[:, :, j].__iadd__, threads=self._threads)
        sums = totals.reshape(2, n, q * w)[:, :, :b]
        return sums[0], sums[1]

    def quadratic_forms(self, H: NDArray[Any]) -> NDArray[np.float64]:
        """Return h_k^T A_i h_k, (m, d), without treatment."""
        forms = self.bilinear_forms(H, H, self._upper)
        forms *= 2  # half of each graph was read
        return forms

    def bilinear_forms(
        self, H: NDArray[Any], G: NDArray[Any], upper: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """Return h_k^T A_i g_k, (m, d), of ``upper`` halves of A_i, or of all."""
        slabs = _slabs(Columns(G, None, None))
        H = np.ascontiguousarray(H)
        forms = np.zeros((self._m, H.shape[1]))

        def work(lo: int, hi: int) -> None:
            scratch = _lines(slabs.tile, len(slabs.B), self._dtype)
            for tile in self._tiles(lo, hi, slabs.tile):
                i, j, s0, s1 = tile
                P = self._tile_products(tile, slabs, scratch, upper)
                column_dots(P, H[s0:s1], forms[i:j])

        on_blocks(work, self._tasks, threads=self._threads)
        return forms

    def row_sums(self) -> NDArray[np.float64]:
        """Return A_i 1, (m, n)."""
        if self._data.size == 0:
            return np.diff(self._indptr).astype(np.float64).reshape(self._m, self._n)
        sums = np.empty((self._m, self._n))

        def work(lo: int, hi: int) -> None:
            flat_row_sums(self._data, self._indptr, lo * self._n, sums[lo:hi].ravel())

        on_blocks(work, self._tasks, threads=self._threads)
        return sums


def _slabs(columns: Columns) -> _Slabs:
    """Cut a block of columns into slabs."""
    n, b = columns.B.shape
    dtype = columns.B.dtype
    q = max(1, -(-b * dtype.itemsize // WIDTH_BYTES))

    def padded(X: NDArray[Any]) -> NDArray[Any]:
        slabs = _lines(q, n, dtype)
        for j, slab in enumerate(slabs):
            part = X[:, j * slab.shape[1] : (j + 1) * slab.shape[1]]
            slab[:, : part.shape[1]] = part
        return slabs

    B = padded(columns.B)
    C = B[:0] if columns.C is None else padded(columns.C)
    return _Slabs(B, C, _NOTHING if columns.D is None else columns.D.ravel())


def _lines(rows: int, columns: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros (rows, columns, w), the last axis one line of the cache and not parts of two."""
    size = rows * columns * WIDTH_BYTES
    raw = np.zeros(size + WIDTH_BYTES, np.uint8)
    first = -raw.ctypes.data % WIDTH_BYTES
    w = WIDTH_BYTES // dtype.itemsize
    return raw[first : first + size].view(dtype).reshape(rows, columns, w)
