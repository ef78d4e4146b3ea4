"""Products of sparse graphs, one flat CSR matrix (m * n, n), with blocks of columns.

Columns go in slabs of a cache line, so that one entry of a graph costs one line. Rows go in tiles:
either some rows of one graph or several whole graphs. No product outlives its tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.columns import Columns, Consumer
from eigengraphs.graphs.flat_kernels import (
    WIDTH_BYTES,
    add_weighted,
    column_dots,
    flat_multiply,
    flat_row_sums,
    flat_upper,
)
from eigengraphs.graphs.parallel import on_blocks, spans

__all__ = ["SparseProducts"]

_TILE = 2048  # rows; a slab of their products stays in the second level of cache
_TASK_ENTRIES = 2**18  # stored entries and rows in one task of a thread
_THREADS_PAY_FROM = 2**18  # stored entries and rows
_NOTHING = np.zeros(0)


@dataclass(frozen=True)
class _Slab:
    """Columns ``lo`` to ``hi`` of a block, padded with zeros to a width that vectorises."""

    lo: int
    hi: int
    B: NDArray[Any]  # (n, w)
    C: NDArray[Any]  # (n, w), or nothing


class SparseProducts:
    """Products of a flat matrix in canonical form; ``ones`` says that every stored value is 1."""

    def __init__(self, flat: sparse.csr_array, ones: bool) -> None:
        self._n = n = int(flat.shape[1])
        self._m = m = flat.shape[0] // n
        data = flat.data[:0] if ones else flat.data
        self._arrays = (data, flat.indices, flat.indptr)
        self._dtype = flat.dtype
        size = flat.nnz + m * n
        self._threads = None if size >= _THREADS_PAY_FROM else 1
        whole = max(1, _TILE // n)  # graphs in a tile
        self._tasks = spans(m, -(-_TASK_ENTRIES * m // (size * whole)) * whole)

    def _tiles(self, lo: int, hi: int) -> list[tuple[int, int, int, int]]:
        """Return (i, j, s0, s1): rows s0 to s1 of graph i, or the whole graphs i to j."""
        if self._n > _TILE:
            return [(i, i + 1, s0, s1) for i in range(lo, hi) for s0, s1 in spans(self._n, _TILE)]
        return [(lo + i, lo + j, 0, self._n) for i, j in spans(hi - lo, max(1, _TILE // self._n))]

    def _scratch(self) -> NDArray[Any]:
        """Return room for the products of a tile."""
        return _aligned(
            max(1, _TILE // self._n) * self._n if self._n <= _TILE else _TILE, self._dtype
        )

    @cached_property
    def _upper(self) -> NDArray[Any]:
        """Where the entries above the diagonal begin, (m n,): a twentieth of a usual stack."""
        _, indices, indptr = self._arrays
        upper = np.empty(self._m * self._n, indptr.dtype)

        def work(lo: int, hi: int) -> None:
            lo, hi = lo * self._n, hi * self._n
            flat_upper(indices, indptr, self._n, lo, upper[lo:hi])

        on_blocks(work, self._tasks, threads=self._threads)
        return upper

    def _multiply(
        self,
        row: int,
        rows: int,
        slab: _Slab,
        D: NDArray[np.float64] | None,
        scratch: NDArray[Any],
        upper: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return ``rows`` rows of the treated graphs from ``row`` on, times the slab."""
        P = scratch[:rows]
        upper = self._arrays[2][:0] if upper is None else upper
        flat_D = _NOTHING if D is None else D.ravel()
        flat_multiply(*self._arrays, upper, row, flat_D, slab.B, slab.C, P)
        return P

    def products(self, columns: Columns, consume: Consumer, out: NDArray[Any] | None) -> None:
        """Call ``consume(lo, hi, P)`` with P_i = B^T A_i for lo <= i < hi, (hi - lo, b, n)."""
        slabs, n, b = _slabs(columns), self._n, columns.B.shape[1]

        def work(lo: int, hi: int) -> None:
            step = max(1, _TILE // n)
            scratch = self._scratch()
            for first, last in spans(hi - lo, step):
                i, j = lo + first, lo + last
                P = np.empty((j - i, b, n), self._dtype) if out is None else out[i:j]
                for g, h, s0, s1 in self._tiles(i, j):
                    for slab in slabs:
                        rows = (h - g) * (s1 - s0)
                        tile = self._multiply(g * n + s0, rows, slab, columns.D, scratch)
                        turned = tile.reshape(h - g, s1 - s0, -1).transpose(0, 2, 1)
                        P[g - i : h - i, slab.lo : slab.hi, s0:s1] = turned[:, : slab.hi - slab.lo]
                consume(i, j, P)

        on_blocks(work, self._tasks, threads=self._threads)

    def project(self, V: NDArray[np.float64], columns: Columns) -> NDArray[np.float64]:
        """Return [V B]^T A_i B, (m, s + b, b)."""
        slabs, n, b = _slabs(columns), self._n, columns.B.shape[1]
        # With B on both sides of A_i, half of it will do.
        upper = None if V.shape[1] else self._upper
        ZT = np.ascontiguousarray(np.column_stack([V.astype(self._dtype), columns.B]).T)
        cores = np.zeros((self._m, len(ZT), b))

        def work(lo: int, hi: int) -> None:
            scratch = self._scratch()
            for i, j, s0, s1 in self._tiles(lo, hi):
                for slab in slabs:
                    rows = (j - i) * (s1 - s0)
                    P = self._multiply(i * n + s0, rows, slab, columns.D, scratch, upper)
                    part = ZT[:, s0:s1] @ P.reshape(j - i, s1 - s0, -1)
                    cores[i:j, :, slab.lo : slab.hi] += part[:, :, : slab.hi - slab.lo]
            if upper is not None:
                cores[lo:hi] += cores[lo:hi].transpose(0, 2, 1).copy()

        on_blocks(work, self._tasks, threads=self._threads)
        return cores

    def weighted_multiply(self, W: NDArray[np.float64], H: NDArray[Any]) -> NDArray[np.float64]:
        """Return sum_i W_ik A_i h_k, (n, d), without treatment."""
        slabs, n = _slabs(Columns(H, None, None)), self._n
        total = np.zeros(H.shape)

        def work(s0: int, s1: int) -> None:
            scratch = self._scratch()
            for slab in slabs:
                weights = np.ascontiguousarray(W[:, slab.lo : slab.hi])
                part = np.zeros((s1 - s0, slab.hi - slab.lo))
                for i in range(self._m):
                    P = self._multiply(i * n + s0, s1 - s0, slab, None, scratch)
                    add_weighted(P, weights[i], part)
                total[s0:s1, slab.lo : slab.hi] = part

        on_blocks(work, spans(n, _TILE), threads=self._threads)
        return total

    def square_multiply(
        self, columns: Columns, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum_i w_i (A_i + Diag(D_i)) P_i and sum_i w_i P_i, (n, b), for P_i = A_i B."""
        slabs, n = _slabs(columns), self._n
        totals = np.zeros((2, *columns.B.shape))

        def work(lo: int, hi: int) -> NDArray[np.float64]:
            parts = np.zeros_like(totals)
            P, scratch = _aligned(n, self._dtype), self._scratch()
            for slab in slabs:
                again = _Slab(slab.lo, slab.hi, P, P[:0])
                here = np.zeros((2, n, slab.hi - slab.lo))
                for i in range(lo, hi):
                    w = np.full(slab.hi - slab.lo, weights[i])
                    self._multiply(i * n, n, slab, columns.D, P)
                    for s0, s1 in spans(n, _TILE):
                        Q = self._multiply(i * n + s0, s1 - s0, again, columns.D, scratch)
                        add_weighted(Q, w, here[0, s0:s1])
                    if columns.C is not None:
                        add_weighted(P, w, here[1])
                parts[:, :, slab.lo : slab.hi] = here
            return parts

        on_blocks(work, self._tasks, totals.__iadd__, threads=self._threads)
        return totals[0], totals[1]

    def quadratic_forms(self, H: NDArray[Any]) -> NDArray[np.float64]:
        """Return h_k^T A_i h_k, (m, d), without treatment."""
        slabs, n, upper = _slabs(Columns(H, None, None)), self._n, self._upper
        forms = np.zeros((self._m, H.shape[1]))

        def work(lo: int, hi: int) -> None:
            scratch = self._scratch()
            for slab in slabs:
                part = np.zeros((hi - lo, slab.hi - slab.lo))
                for i, j, s0, s1 in self._tiles(lo, hi):
                    rows = (j - i) * (s1 - s0)
                    P = self._multiply(i * n + s0, rows, slab, None, scratch, upper)
                    P = P.reshape(j - i, s1 - s0, -1)
                    column_dots(P, slab.B[s0:s1], part[i - lo : j - lo])
                forms[lo:hi, slab.lo : slab.hi] = 2 * part

        on_blocks(work, self._tasks, threads=self._threads)
        return forms

    def row_sums(self) -> NDArray[np.float64]:
        """Return A_i 1, (m, n)."""
        data, _, indptr = self._arrays
        if data.size == 0:
            return np.diff(indptr).astype(np.float64).reshape(self._m, self._n)
        sums = np.empty((self._m, self._n))

        def work(lo: int, hi: int) -> None:
            flat_row_sums(data, indptr, lo * self._n, sums[lo:hi].ravel())

        on_blocks(work, self._tasks, threads=self._threads)
        return sums


def _slabs(columns: Columns) -> list[_Slab]:
    """Cut a block of columns into slabs of the width that the kernels want."""
    n, b = columns.B.shape
    width = WIDTH_BYTES // columns.B.dtype.itemsize
    slabs = []
    for lo, hi in spans(b, width):
        B = _aligned(n, columns.B.dtype)
        B[:, : hi - lo] = columns.B[:, lo:hi]
        C = B[:0]
        if columns.C is not None:
            C = _aligned(n, columns.B.dtype)
            C[:, : hi - lo] = columns.C[:, lo:hi]
        slabs.append(_Slab(lo, hi, B, C))
    return slabs


def _aligned(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros (n, w) whose rows are lines of the cache: half as many lines to read."""
    raw = np.zeros((n + 1) * WIDTH_BYTES, np.uint8)
    first = -raw.ctypes.data % WIDTH_BYTES
    return raw[first : first + n * WIDTH_BYTES].view(dtype).reshape(n, -1)
