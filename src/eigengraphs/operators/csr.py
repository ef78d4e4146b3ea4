"""Products of sparse graphs, one flat CSR matrix (m * n, n), with a few columns.

Columns go in lines of the cache, so that one entry of a graph costs one line, and the sum of a row
stays in registers. Rows go in tiles, some of one graph or several whole graphs, and no product
outlives its tile. A product with A_i^T could be scattered from the rows of A_i; that was measured
at four to five times a gathered one, so directed graphs have their transposes beside them, made
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.operators.protocol import Array, Columns
from eigengraphs.operators.vectors import (
    add_product,
    add_six,
    empty_lines,
    in_lines,
    line_at,
    number_at,
    put,
    zero_line,
)
from eigengraphs.system.parallel import announce_compiling, on_blocks, spans

__all__ = ["SparseGraphs"]

announce_compiling()

_TILE = 2048  # lines of products, which stay in the second level of cache
_CROSS_ROWS = 256  # of a tile that meets other columns, summed in the type of the graphs
_TASK_ENTRIES = 2**18  # stored entries and rows in one task of a thread
_TYPED_BYTES = 2**24  # of columns in the type of the graphs


class SparseGraphs:
    """Products of a flat matrix in canonical form; see :class:`~.protocol.Raw`.

    ``ones`` says that every stored value is 1; ``dtype`` is that of columns, where the matrix is a
    pattern and has none.
    """

    def __init__(
        self,
        flat: sparse.csr_array,
        *,
        directed: bool,
        ones: bool = False,
        dtype: np.dtype[Any] | None = None,
    ) -> None:
        kind = flat.dtype if dtype is None else dtype
        rows = _Rows.of(flat, ones, kind)
        self._set(rows, rows.transposed() if directed else rows, directed)

    def _set(self, right: _Rows, left: _Rows, directed: bool) -> None:
        self._right, self._left, self._directed = right, left, directed
        m, n = right.n_graphs, right.n_vertices
        size = right.n_entries + m * n
        self._threads = None if size >= _TASK_ENTRIES else 1
        self._tasks = spans(m, _TASK_ENTRIES * m // size)

    def part(self, lo: int, hi: int) -> Self:
        """Return the same for graphs lo to hi, without a copy."""
        found = object.__new__(type(self))
        right = self._right.part(lo, hi)
        found._set(right, self._left.part(lo, hi) if self._directed else right, self._directed)
        return found

    def _of(self, left: bool) -> _Rows:
        return self._left if left else self._right

    # ------------------------------------------------------------------ what is asked

    def products(self, columns: Sequence[Columns], out: Sequence[NDArray[Any]]) -> None:
        """Fill ``out`` (m, b, n) with the products of each."""
        for one, P in zip(columns, out, strict=True):
            if one.B.shape[1]:
                self._products(one, P)

    def _products(self, columns: Columns, out: NDArray[Any]) -> None:
        rows, lines, (n, b) = self._of(columns.left), _Lines(columns), columns.B.shape

        def work(lo: int, hi: int) -> None:
            scratch = lines.scratch()
            for i, j, s0, s1 in _tiles(lo, hi, n, lines.tile):
                P = rows.multiply(i * n + s0, lines, scratch[: (j - i) * (s1 - s0)])
                P = P.reshape(j - i, s1 - s0, -1)
                out[i:j, :, s0:s1] = P[:, :, :b].transpose(0, 2, 1)

        on_blocks(work, self._tasks, threads=self._threads)

    def cross(
        self, columns: Sequence[Columns], others: Sequence[tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Return Z^T P_i^T, (m, z, b), for the products P_i of each and the others Z."""
        found = []
        for one, Z in zip(columns, others, strict=True):
            if not self._directed and sum(part.shape[1] for part in Z) == one.B.shape[1] > 0:
                half = self._cross(self._halves, self._halved(one), (one.B,))
                found.append(half + half.transpose(0, 2, 1))  # B on both sides: half of A_i
            else:
                found.append(self._cross(self._of(one.left), one, Z))
        return tuple(found)

    def _cross(self, rows: _Rows, columns: Columns, Z: tuple[Array, ...]) -> Array:
        """Return Z^T P_i^T, (m, z, b); of very many vertices, few rows of Z are copied."""
        lines, (n, b), dtype = _Lines(columns), columns.B.shape, columns.B.dtype
        q, _, w = lines.B.shape
        ends = np.cumsum([0, *(part.shape[1] for part in Z)]).tolist()
        width = -(-ends[-1] // 6) * 6  # what the kernel has sums for
        cores = np.zeros((rows.n_graphs, ends[-1], b))
        if cores.size == 0:
            return cores

        def typed(s0: int, s1: int) -> NDArray[Any]:
            found = np.zeros((s1 - s0, width), dtype)
            for part, first, last in zip(Z, ends, ends[1:], strict=False):
                found[:, first:last] = part[s0:s1]
            return found

        bands = spans(n, _TYPED_BYTES // (width * dtype.itemsize))
        once = typed(0, n) if len(bands) == 1 else None

        def work(lo: int, hi: int) -> None:
            sums = np.zeros((hi - lo, width, q, w))
            scratch = empty_lines(_CROSS_ROWS, q, dtype)
            for s0, s1 in bands:
                other = typed(s0, s1) if once is None else once
                _cross(*rows.arrays, lo * n + s0, *lines.arrays, other, scratch, sums)
            cores[lo:hi] = sums.reshape(hi - lo, width, q * w)[:, : ends[-1], :b]

        # Several graphs at a time meet the same rows of Z while those are in cache.
        several = max(self._tasks[0][1], min(8, rows.n_graphs // 16))
        on_blocks(work, spans(rows.n_graphs, several), threads=self._threads)
        return cores

    def combine(self, W: Array, columns: Sequence[Columns]) -> tuple[Array, ...]:
        """Return sum_i W_ik P_ik, (n, d), of each, without treatment."""
        W = np.ascontiguousarray(W)
        return tuple(self._combine(W, one) for one in columns)

    def _combine(self, W: Array, columns: Columns) -> Array:
        rows, lines = self._of(columns.left), _Lines(Columns(columns.left, columns.B))
        total = np.zeros(columns.B.shape)

        def work(s0: int, s1: int) -> None:
            scratch = lines.scratch()[: s1 - s0]
            _combine(*rows.arrays, s0, *lines.arrays, W, scratch, total[s0:s1])

        on_blocks(work, spans(len(total), lines.tile), threads=self._threads)
        return total

    def forms(self, H: Array, G: Array) -> Array:
        """Return h_k^T A_i g_k, (m, d), without treatment."""
        dtype, n = self._right.dtype, len(H)
        half = H is G and not self._directed
        columns, H = Columns(False, G.astype(dtype, copy=False)), np.ascontiguousarray(H, dtype)
        rows = self._right
        if half:
            columns, rows = self._halved(columns), self._halves
        lines = _Lines(columns)
        forms = np.zeros((rows.n_graphs, H.shape[1]))

        def work(lo: int, hi: int) -> None:
            scratch = lines.scratch()
            for i, j, s0, s1 in _tiles(lo, hi, n, lines.tile):
                P = rows.multiply(i * n + s0, lines, scratch[: (j - i) * (s1 - s0)])
                P = P.reshape(j - i, s1 - s0, -1)[:, :, : H.shape[1]]
                forms[i:j] += np.einsum("isk,sk->ik", P, H[s0:s1], dtype=np.float64)

        on_blocks(work, self._tasks, threads=self._threads)
        return 2 * forms if half else forms

    def sketch(
        self, columns: Sequence[Columns], weights: Array, scales: tuple[Array, Array] | None = None
    ) -> tuple[tuple[Array, Array], ...]:
        """Return sum_i w_i X_i P_i^T and sum_i w_i P_i^T, (n, b), of each; weight 0 is not read."""
        return tuple(self._sketch(one, weights, scales) for one in columns)

    def _sketch(
        self, columns: Columns, weights: Array, scales: tuple[Array, Array] | None
    ) -> tuple[Array, Array]:
        rows, back, lines = self._of(columns.left), self._of(not columns.left), _Lines(columns)
        m, (n, b), dtype = rows.n_graphs, columns.B.shape, columns.B.dtype
        q, _, w = lines.B.shape
        tasks = spans(m, max(self._tasks[0][1], -(-m // 8)))  # each has sums (n, w) of its own
        totals = np.zeros((2, n, q, w))
        for j in range(q):  # one by one: then a thread keeps few products
            one = lines.line(j)

            def work(lo: int, hi: int, one: _Lines = one) -> NDArray[Any]:
                # In the type of the graphs: what is to be read and written again for each of them.
                parts = np.zeros((2, n, w), dtype)
                P, scratch = empty_lines(n, 1, dtype), empty_lines(_TILE, 1, dtype)
                again = one.of(P.reshape(1, n, w))
                for i in (lo + np.flatnonzero(weights[lo:hi])).tolist():
                    rows.multiply(i * n, one, P)
                    P *= dtype.type(weights[i])
                    if scales is not None:
                        P[:, 0] *= scales[columns.left][i][:, None].astype(dtype)
                    for s0, s1 in spans(n, _TILE):
                        Q = back.multiply(i * n + s0, again, scratch[: s1 - s0])
                        if scales is not None:
                            Q[:, 0] *= scales[not columns.left][i, s0:s1, None].astype(dtype)
                        parts[0, s0:s1] += Q[:, 0]
                    parts[1] += P[:, 0]
                return parts

            on_blocks(work, tasks, totals[:, :, j].__iadd__, threads=self._threads)
        squares, sums = totals.reshape(2, n, q * w)[:, :, :b]
        return squares, sums

    def scaled_squares(self, X: Array, Z: Array) -> Array:
        """Return sum_st X_is A_ist^2 Z_it, (m,)."""
        # Each factor beside one of the weights: squares may overflow.
        return np.asarray(np.einsum("is,is->i", X, self._right.sums(False, Z)))

    def line_sums(self, absolute: bool = False) -> tuple[Array, Array]:
        """Return the sums of rows, and of columns, (m, n); of undirected graphs one array twice."""
        found = [rows.sums(absolute) for rows in (self._right, self._left)[: 1 + self._directed]]
        return found[0], found[-1]

    # ------------------------------------------------------------------ halves of undirected graphs

    @cached_property
    def _halves(self) -> _Rows:
        return self._right.above_diagonal()

    def _halved(self, columns: Columns) -> Columns:
        """Return columns whose products with entries above the diagonal have half of the others."""
        D, C = self._halves.diagonals, columns.C
        assert D is not None
        D = D if columns.D is None else D + columns.D
        half = None if C is None else (C / 2).astype(C.dtype, copy=False)
        return Columns(columns.left, columns.B, D / 2, half)


@dataclass(frozen=True)
class _Rows:
    """Rows of graphs: entries lows[r] to highs[r] of ``data`` and ``indices`` are in row r."""

    data: NDArray[Any]  # of size 0 if every value is 1
    indices: NDArray[Any]
    lows: NDArray[Any]  # (m n,)
    highs: NDArray[Any]
    n_vertices: int
    dtype: np.dtype[Any]
    diagonals: Array | None = None  # (m, n), where lows leave them out

    @classmethod
    def of(cls, flat: sparse.csr_array, ones: bool, dtype: np.dtype[Any]) -> Self:
        """Return the rows of a flat matrix."""
        data = flat.data
        if ones:
            data = data[:0].astype(dtype)
            data.flags.writeable = False  # kernels are compiled for what stacks have
        indptr = flat.indptr
        return cls(data, flat.indices, indptr[:-1], indptr[1:], int(flat.shape[1]), dtype)

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return len(self.lows) // self.n_vertices

    @property
    def n_entries(self) -> int:
        """Number of stored entries."""
        return int(self.highs[-1] - self.lows[0]) if len(self.lows) else 0

    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """What kernels take."""
        return self.data, self.indices, self.lows, self.highs

    def part(self, lo: int, hi: int) -> _Rows:
        """Return the rows of graphs lo to hi."""
        mine = slice(lo * self.n_vertices, hi * self.n_vertices)
        lows, highs = self.lows[mine], self.highs[mine]
        return _Rows(self.data, self.indices, lows, highs, self.n_vertices, self.dtype)

    def multiply(self, row: int, lines: _Lines, out: NDArray[Any]) -> NDArray[Any]:
        """Fill ``out`` (r, q, w) with the products of rows from ``row`` on; return it."""
        _multiply(*self.arrays, row, *lines.arrays, out)
        return out

    def _on_graphs(self, work: Any) -> None:
        """Run work(first, last) on the rows of some graphs at a time."""
        n, several = self.n_vertices, 1 + _TASK_ENTRIES * self.n_graphs // (1 + self.n_entries)
        on_blocks(lambda lo, hi: work(lo * n, hi * n), spans(self.n_graphs, several))

    def transposed(self) -> _Rows:
        """Return the rows of the transposes, graph after graph."""
        n, base = self.n_vertices, self.lows[0] if len(self.lows) else 0
        data = np.empty(self.n_entries if self.data.size else 0, self.data.dtype)
        indices = np.empty(self.n_entries, self.indices.dtype)
        indptr = np.zeros(len(self.lows) + 1, self.lows.dtype)

        def work(first: int, last: int) -> None:
            # As one matrix with a graph in each block on its diagonal.
            begin, end = self.lows[first], self.highs[last - 1]
            values, there = self.data[begin:end], slice(begin - base, end - base)
            if not self.data.size:
                values = np.empty(end - begin, np.int8)
            starts = np.append(self.lows[first:last], end) - begin
            shifts = np.repeat(np.arange(0, last - first, n), np.diff(starts[::n]))
            at = (values, self.indices[begin:end] + shifts, starts)
            turned = sparse.csr_array(at, shape=(last - first, last - first)).tocsc()
            indices[there], indptr[first + 1 : last + 1] = (
                turned.indices % n, turned.indptr[1:] + (begin - base),
            )  # fmt: skip
            if self.data.size:
                data[there] = turned.data

        self._on_graphs(work)
        for part in (data, indices, indptr):
            part.flags.writeable = False
        return _Rows(data, indices, indptr[:-1], indptr[1:], n, self.dtype)

    def above_diagonal(self) -> _Rows:
        """Return what is above the diagonals, and these."""
        lows, diagonals = np.empty_like(self.lows), np.empty(len(self.lows))

        def work(first: int, last: int) -> None:
            _upper(*self.arrays, self.n_vertices, first, lows[first:last], diagonals[first:last])

        self._on_graphs(work)
        lows.flags.writeable = False
        on = diagonals.reshape(-1, self.n_vertices)
        return _Rows(self.data, self.indices, lows, self.highs, self.n_vertices, self.dtype, on)

    def sums(self, absolute: bool, factors: Array | None = None) -> Array:
        """Return sums of rows, (m, n), or of their squares times ``factors`` (m, n) of columns."""
        found, n = np.zeros(len(self.lows)), self.n_vertices

        def work(first: int, last: int) -> None:
            lows, highs = self.lows[first:last], self.highs[first:last]
            begin, on = lows[0], highs > lows
            mine = slice(begin, highs[-1])
            values: Any = self.data[mine] if self.data.size else np.ones(highs[-1] - begin)
            if absolute:
                values = np.abs(values)
            if factors is not None:
                graph = np.repeat(np.arange(0, last - first, n), np.diff([*lows[::n], highs[-1]]))
                values = values * factors.ravel()[first + graph + self.indices[mine]] * values
            if on.any():
                places = lows[on] - begin
                found[first:last][on] = np.add.reduceat(values, places, dtype=np.float64)

        self._on_graphs(work)
        return found.reshape(-1, n)


class _Lines:
    """A block of columns as the kernels want it."""

    def __init__(self, columns: Columns) -> None:
        self.B = in_lines(columns.B)  # (q, n, w)
        self.C = self.B[:0] if columns.C is None else in_lines(columns.C)
        self.D = np.zeros(0) if columns.D is None else columns.D.ravel()

    @property
    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], Array]:
        """What kernels take."""
        return self.B, self.C, self.D

    @property
    def tile(self) -> int:
        """Rows in a tile."""
        return max(1, _TILE // len(self.B))

    def scratch(self) -> NDArray[Any]:
        """Return room for the products of a tile, (rows, q, w)."""
        return empty_lines(self.tile, len(self.B), self.B.dtype)

    def line(self, j: int) -> _Lines:
        """Return one line of the columns."""
        return self.of(self.B[j : j + 1], self.C[j : j + 1])

    def of(self, B: NDArray[Any], C: NDArray[Any] | None = None) -> _Lines:
        """Return other columns under the same treatment of diagonals."""
        found = object.__new__(_Lines)
        found.B, found.C, found.D = B, B[:0] if C is None else C, self.D
        return found


def _tiles(lo: int, hi: int, n: int, rows: int) -> list[tuple[int, int, int, int]]:
    """Return (i, j, s0, s1): rows s0 to s1 of graph i, or the whole graphs i to j."""
    if n > rows:
        return [(i, i + 1, s0, s1) for i in range(lo, hi) for s0, s1 in spans(n, rows)]
    return [(lo + i, lo + j, 0, n) for i, j in spans(hi - lo, rows // n)]


@njit(cache=True, nogil=True)
def _multiply(
    data: NDArray[Any], indices: NDArray[Any], lows: NDArray[Any], highs: NDArray[Any], first: int,
    B: NDArray[Any], C: NDArray[Any], D: Array, out: NDArray[Any],
) -> None:  # fmt: skip
    """Fill ``out`` (r, q, w) with A_i[s] B + D[i n + s] B[s] - C[s], for rows from ``first`` on.

    ``B`` and ``C`` are (q, n, w), ``D`` (m n,); C and D may have size 0, and ``data`` if all values
    are 1.
    """
    q, n, w = B.shape
    P = out.reshape(-1)
    # A loop without treatment, whose cost shows; no function for a row, which would count
    # references.
    for j in range(q):
        F = B[j].reshape(-1)
        if D.size == 0 and C.size == 0:
            for r in range(out.shape[0]):
                lo, hi = number_at(lows, first + r), number_at(highs, first + r)
                total = zero_line(B)
                if data.size > 0:
                    for e in range(lo, hi):
                        line = line_at(F, w * np.int64(number_at(indices, e)))
                        total = add_product(total, line, number_at(data, e))
                else:
                    for e in range(lo, hi):
                        line = line_at(F, w * np.int64(number_at(indices, e)))
                        total = add_product(total, line, 1.0)
                put(P, (r * q + j) * w, total)
            continue
        G = C[j].reshape(-1) if C.size > 0 else F
        s = first % n
        for r in range(out.shape[0]):
            lo, hi = number_at(lows, first + r), number_at(highs, first + r)
            total = zero_line(B)
            if D.size > 0:
                total = add_product(total, line_at(F, s * w), number_at(D, first + r))
            if C.size > 0:
                total = add_product(total, line_at(G, s * w), -1.0)
            s = s + 1 if s + 1 < n else 0
            if data.size > 0:
                for e in range(lo, hi):
                    line = line_at(F, w * np.int64(number_at(indices, e)))
                    total = add_product(total, line, number_at(data, e))
            else:
                for e in range(lo, hi):
                    line = line_at(F, w * np.int64(number_at(indices, e)))
                    total = add_product(total, line, 1.0)
            put(P, (r * q + j) * w, total)


@njit(cache=True, nogil=True)
def _cross(
    data: NDArray[Any], indices: NDArray[Any], lows: NDArray[Any], highs: NDArray[Any], first: int,
    B: NDArray[Any], C: NDArray[Any], D: Array, Z: NDArray[Any], P: NDArray[Any], out: Array,
) -> None:  # fmt: skip
    """Add Z^T P_i to ``out`` (g, z, q, w), for graphs and rows of them from row ``first`` on.

    P_i are the products of ``_multiply``, which has the other arguments; ``Z`` (r, z) are the
    columns on the other side in these r rows, z a multiple of six, and ``P`` room for a tile. Tile
    after tile for all graphs: then its rows of Z are at hand. BLAS is no help: matrices this narrow
    take it three times as long.
    """
    q, n, w = B.shape
    (rows, width), total = Z.shape, out.reshape(-1)
    flat_Z, flat_P = Z.reshape(-1), P.reshape(-1)
    for s in range(0, rows, P.shape[0]):
        count = min(P.shape[0], rows - s)
        for g in range(out.shape[0]):
            _multiply(data, indices, lows, highs, first + g * n + s, B, C, D, P[:count])
            for j in range(q):
                for z in range(0, width, 6):
                    place = ((g * width + z) * q + j) * w
                    add_six(
                        flat_P, j * w, q * w, count, 0, flat_Z, s * width + z, width, 1, total,
                        place, q * w, 6,
                    )  # fmt: skip


@njit(cache=True, nogil=True)
def _combine(
    data: NDArray[Any], indices: NDArray[Any], lows: NDArray[Any], highs: NDArray[Any], s0: int,
    B: NDArray[Any], C: NDArray[Any], D: Array, W: Array, scratch: NDArray[Any], out: Array,
) -> None:  # fmt: skip
    """Add sum_i W_ik A_i[s] b_k to ``out`` (r, d), for the rows s from ``s0`` on of all graphs."""
    n = B.shape[1]
    rows, d = out.shape
    P = scratch.reshape(rows, -1)
    for i in range(W.shape[0]):
        _multiply(data, indices, lows, highs, i * n + s0, B, C, D, scratch)
        for s in range(rows):
            for k in range(d):
                out[s, k] += W[i, k] * P[s, k]


@njit(cache=True, nogil=True)
def _upper(
    data: NDArray[Any], indices: NDArray[Any], lows: NDArray[Any], highs: NDArray[Any], n: int,
    first: int, out: NDArray[Any], diagonals: Array,
) -> None:  # fmt: skip
    """Fill ``out`` (r,) with the places of the first entries above the diagonal, and its values."""
    for r in range(out.shape[0]):
        s = (first + r) % n
        begin, hi = lows[first + r], highs[first + r]
        lo = begin
        while lo < hi:
            mid = (lo + hi) // 2
            if indices[mid] <= s:
                lo = mid + 1
            else:
                hi = mid
        out[r] = lo
        on = lo > begin and indices[lo - 1] == s
        diagonals[r] = (data[lo - 1] if data.size > 0 else 1.0) if on else 0.0
