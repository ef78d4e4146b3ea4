"""Products of dense graphs (m, n, n) with a few columns, some graphs at a time.

BLAS packs both factors before it multiplies: with a dozen columns that is a copy of every graph for
every product. The kernels here read graphs once, in place, and keep a dozen sums in registers.
Beyond some twenty columns BLAS is as fast, and graphs on few vertices are one tall matrix for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.operators.protocol import Array, Columns
from eigengraphs.operators.vectors import (
    LINE_BYTES,
    add_product,
    add_six,
    fetch,
    in_lines,
    line_at,
    number_at,
    put_sum,
    zero_line,
)
from eigengraphs.system.parallel import announce_compiling, on_blocks, spans

__all__ = ["DenseGraphs"]

announce_compiling()

_FEW_COLUMNS = 20  # beyond, BLAS is as fast
_FEW_VERTICES = 32  # graphs too small to be multiplied singly
_CACHE_BYTES = 2**19  # of graphs, or of products, at hand at a time; sums over them in their type
_TASK_BYTES = 2**26  # of graphs in one task of a thread
_SUM = 512  # terms of a sum in the type of the graphs, before it is added to others
_CHUNK = 16  # rows of a graph that stay in the nearest caches while all columns use them


class DenseGraphs:
    """Products of ``A`` (m, n, n), C-contiguous; see :class:`~.protocol.Raw`."""

    def __init__(self, A: NDArray[Any], *, directed: bool) -> None:
        self._A, self._directed, self._ready = A, directed, partial(_Ready, directed=directed)
        m, n, _ = A.shape
        a_graph = n * n * A.itemsize
        threads_pay = A.size >= 2**21  # else they take longer to begin
        self._threads = None if threads_pay else 1
        self._tasks = spans(m, min(_TASK_BYTES // a_graph, -(-m // 16) if threads_pay else m))
        # Graphs that are read more than once; or products, where graphs are read once.
        self._again = max(1, _CACHE_BYTES // a_graph)
        self._once = max(1, _CACHE_BYTES // (12 * n * A.itemsize))

    def part(self, lo: int, hi: int) -> Self:
        """Return the same for graphs lo to hi, without a copy."""
        return type(self)(self._A[lo:hi], directed=self._directed)

    # ------------------------------------------------------------------ some graphs at a time

    def _times(
        self, one: _Ready, lo: int, hi: int, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return the products of graphs lo to hi with columns, (hi - lo, b, n)."""
        A, (b, n) = self._A[lo:hi], one.BT.shape
        in_place = out is not None and out.flags.c_contiguous
        P: Any = out if in_place else np.empty((hi - lo, b, n), A.dtype)
        if one.packed is not None:
            (multiply if one.left else multiply_transposes)(A, one.packed, P)
        elif n <= _FEW_VERTICES:
            rows = (A.transpose(0, 2, 1) if one.left and self._directed else A).reshape(-1, n)
            P[:] = (rows @ one.BT.T).reshape(hi - lo, n, b).transpose(0, 2, 1)
        else:
            np.matmul(one.BT, A if one.left else A.transpose(0, 2, 1), out=P)
        if one.D is not None:
            P += one.D[lo:hi, None].astype(P.dtype) * one.BT
        if one.CT is not None:
            P -= one.CT
        if out is None or in_place:
            return np.asarray(P)
        out[:] = P
        return out

    # ------------------------------------------------------------------ what is asked

    def products(self, columns: Sequence[Columns], out: Sequence[NDArray[Any]]) -> None:
        """Fill ``out`` (m, b, n) with the products of each."""
        ready = list(map(self._ready, columns))
        step = self._again if len(columns) > 1 else self._once

        def work(lo: int, hi: int) -> None:
            for first in range(lo, hi, step):
                last = min(hi, first + step)
                for one, place in zip(ready, out, strict=True):
                    self._times(one, first, last, place[first:last])

        on_blocks(work, self._tasks, threads=self._threads)

    def cross(
        self, columns: Sequence[Columns], others: Sequence[tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Return Z^T P_i^T, (m, z, b), for the products P_i of each and the others Z."""
        m, n, _ = self._A.shape
        ready = list(map(self._ready, columns))
        Zs = [np.column_stack(parts).astype(self._A.dtype) for parts in others]
        found = tuple(
            np.zeros((m, one.B.shape[1], Z.shape[1])) for one, Z in zip(columns, Zs, strict=True)
        )
        step = self._again if len(columns) > 1 else self._once

        def work(lo: int, hi: int) -> None:
            for first in range(lo, hi, step):
                last = min(hi, first + step)
                for one, Z, cores in zip(ready, Zs, found, strict=True):
                    b, z = cores.shape[1:]
                    if b == 0 or z == 0:
                        continue
                    P = self._times(one, first, last).reshape(-1, n)
                    for s0, s1 in spans(n, _SUM):
                        part = P[:, s0:s1] @ Z[s0:s1]
                        cores[first:last] += part.reshape(last - first, b, z)

        on_blocks(work, self._tasks, threads=self._threads)
        return tuple(cores.transpose(0, 2, 1) for cores in found)

    def combine(self, W: Array, columns: Sequence[Columns]) -> tuple[Array, ...]:
        """Return sum_i W_ik P_ik, (n, d), of each, without treatment."""
        dtype, n = self._A.dtype, self._A.shape[1]
        W_typed = W.astype(dtype)
        ready = [self._ready(Columns(one.left, one.B)) for one in columns]
        totals = np.zeros((len(ready), *ready[0].BT.shape))

        def few(lo: int, hi: int) -> Array:
            parts = np.zeros((W.shape[1], n * n))
            for first in range(lo, hi, self._again):
                last = min(hi, first + self._again)
                parts += W_typed[first:last].T @ self._A[first:last].reshape(-1, n * n)
            sums = parts.reshape(-1, n, n)  # of graphs, one for each column
            return np.stack([
                np.einsum("kts,kt->ks" if one.left else "kst,kt->ks", sums, one.BT) for one in ready
            ])  # fmt: skip

        step = self._again if len(columns) > 1 else self._once

        def many(lo: int, hi: int) -> Array:
            parts = np.zeros_like(totals)
            for first in range(lo, hi, step):
                last = min(hi, first + step)
                for one, part in zip(ready, parts, strict=True):
                    P = self._times(one, first, last)
                    part += np.einsum("ik,iks->ks", W_typed[first:last], P)
            return parts

        small = n <= _FEW_VERTICES and len(ready) > 1  # then one sum of graphs serves both sides
        on_blocks(few if small else many, self._tasks, totals.__iadd__, threads=self._threads)
        return tuple(total.T for total in totals)

    def forms(self, H: Array, G: Array) -> Array:
        """Return h_k^T A_i g_k, (m, d), without treatment."""
        (m, n, _), dtype = self._A.shape, self._A.dtype
        HT, GT = (np.ascontiguousarray(X.T, dtype) for X in (H, G))
        left = self._ready(Columns(True, HT.T))
        forms = np.zeros((m, len(HT)))
        tiny = n * self._A.itemsize < LINE_BYTES  # rows too short for the kernel
        if tiny:
            outer = (HT[:, :, None] * GT[:, None, :]).reshape(-1, n * n).T.copy()
        step = self._again if tiny else self._once

        def work(lo: int, hi: int) -> None:
            for first in range(lo, hi, step):
                last = min(hi, first + step)
                if tiny:
                    forms[first:last] = self._A[first:last].reshape(-1, n * n) @ outer
                    continue
                P = self._times(left, first, last)
                for s0, s1 in spans(n, _SUM):
                    forms[first:last] += np.einsum("iks,ks->ik", P[:, :, s0:s1], GT[:, s0:s1])

        on_blocks(work, self._tasks, threads=self._threads)
        return forms

    def sketch(
        self, columns: Sequence[Columns], weights: Array, scales: tuple[Array, Array] | None = None
    ) -> tuple[tuple[Array, Array], ...]:
        """Return sum_i w_i X_i P_i^T and sum_i w_i P_i^T, (n, b), of each; weight 0 is not read."""
        ready = list(map(self._ready, columns))
        totals = np.zeros((len(ready), 2, *ready[0].BT.shape))
        lefts = [not one.left for one in columns]

        def work(lo: int, hi: int) -> Array:
            parts = np.zeros_like(totals)
            for first in range(lo, hi, self._again):
                last = min(hi, first + self._again)
                if not weights[first:last].any():
                    continue
                for one, back, part in zip(ready, lefts, parts, strict=True):
                    P = self._times(one, first, last)
                    P *= weights[first:last, None, None].astype(P.dtype)
                    if scales is not None:
                        P *= scales[not back][first:last, None].astype(P.dtype)
                    if last - first == 1:
                        Q = self._times(self._ready(Columns(back, P[0].T)), first, last)
                    else:
                        A = self._A[first:last]
                        Q = np.matmul(P, A if back else A.transpose(0, 2, 1))
                    if one.D is not None:
                        Q += one.D[first:last, None].astype(P.dtype) * P
                    if scales is not None:
                        Q *= scales[back][first:last, None].astype(P.dtype)
                    part[0] += Q.sum(axis=0)
                    part[1] += P.sum(axis=0)
            return parts

        on_blocks(work, self._tasks, totals.__iadd__, threads=self._threads)
        return tuple((squares.T, sums.T) for squares, sums in totals)

    def scaled_squares(self, X: Array, Z: Array) -> Array:
        """Return sum_st X_is A_ist^2 Z_it, (m,)."""
        found = np.empty(len(X))

        def work(lo: int, hi: int) -> None:
            for i in range(lo, hi):  # each factor beside one of the weights: squares may overflow
                A = self._A[i]
                found[i] = np.einsum("st,st->", X[i][:, None] * A, A * Z[i])

        on_blocks(work, self._tasks, threads=self._threads)
        return found

    def line_sums(self, absolute: bool = False) -> tuple[Array, Array]:
        """Return the sums of rows, and of columns, (m, n); of undirected graphs one array twice."""
        sums = np.empty((1 + self._directed, *self._A.shape[:2]))
        ones = np.ones(self._A.shape[1], self._A.dtype)

        def work(lo: int, hi: int) -> None:
            for first in range(lo, hi, self._again):
                last = min(hi, first + self._again)
                A = np.abs(self._A[first:last]) if absolute else self._A[first:last]
                # Few terms, or in pairs: the type of the graphs may take these sums.
                sums[0, first:last] = A @ ones if len(ones) <= _SUM else A.sum(axis=2)
                if self._directed:
                    A.sum(axis=1, dtype=np.float64, out=sums[1, first:last])

        on_blocks(work, self._tasks, threads=self._threads)
        return sums[0], sums[-1]


class _Ready:
    """Columns as kernels want them, made once for all graphs: the one place that chooses one."""

    def __init__(self, columns: Columns, directed: bool) -> None:
        B, C = columns.B, columns.C
        self.left = columns.left or not directed  # undirected: the same, and the faster one
        self.BT, self.D = np.ascontiguousarray(B.T), columns.D
        self.CT = None if C is None else np.ascontiguousarray(C.T)
        self.packed: NDArray[Any] | None = None
        n, b = B.shape
        if 0 < b <= _FEW_COLUMNS and n * B.itemsize >= LINE_BYTES:
            if self.left:  # zeros behind the columns: an even number, and four at least
                self.packed = np.zeros((n, max(4, b + b % 2)), B.dtype)
                self.packed[:, :b] = B
            else:
                self.packed = in_lines(B)


@njit(cache=True, nogil=True)
def multiply(A: NDArray[Any], B: NDArray[Any], out: NDArray[Any]) -> None:
    """Fill ``out`` (m, b, n) with B^T A_i.

    Parameters
    ----------
    A : (m, n, n)
        Graphs, C-contiguous, of rows at least a line long.
    B : (n, c)
        Columns, C-contiguous, c being b or more, even, and at least 4.
    out
        Where the products go, C-contiguous.
    """
    m, n, _ = A.shape
    b, c, w = out.shape[1], B.shape[1], LINE_BYTES // A.itemsize
    tail = np.empty((c, w), A.dtype)  # the last columns, where a line overlaps the one before
    F, P, columns, last = A.reshape(-1), out.reshape(-1), B.reshape(-1), tail.reshape(-1)
    end = n - n % w
    out[:] = 0
    for i in range(m):
        tail[:] = 0
        for t in range(0, n, _CHUNK):
            count, first = min(_CHUNK, n - t), (i * n + t) * n
            for s in range(0, end, w):
                _strip(F, first + s, n, count, columns, t * c, c, P, i * b * n + s, n, b)
            if end < n:
                _strip(F, first + n - w, n, count, columns, t * c, c, last, 0, w, c)
        for k in range(b):
            for s in range(end, n):
                out[i, k, s] = tail[k, s - n + w]


@njit(cache=True, nogil=True, forceinline=True)
def _strip(
    F: NDArray[Any], a: int, n: int, count: int, B: NDArray[Any], y: int, c: int, out: NDArray[Any],
    o: int, width: int, b: int,
) -> None:  # fmt: skip
    """Add the products of a strip of a graph, a line wide, with six or four columns at a time."""
    ahead = _CHUNK * n  # the next chunk is asked for, once a strip
    k = 0
    while k < c:
        if c - k == 6 or c - k >= 10:
            add_six(F, a, n, count, ahead, B, y + k, c, 1, out, o + k * width, width, b - k)
            k += 6
        else:
            _four(F, a, n, count, ahead, B, y + k, c, 1, out, o + k * width, width, b - k)
            k += 4
        ahead = 0


@njit(cache=True, nogil=True, forceinline=True)
def _four(
    F: NDArray[Any], a: int, n: int, count: int, ahead: int, B: NDArray[Any], y: int, c: int,
    d: int, out: NDArray[Any], o: int, width: int, rows: int,
) -> None:  # fmt: skip
    """Do the same for k < 4 and k < rows."""
    s0 = s1 = s2 = s3 = zero_line(F)
    for _ in range(count):
        fetch(F, a + ahead)
        line = line_at(F, a)
        s0 = add_product(s0, line, number_at(B, y))
        s1 = add_product(s1, line, number_at(B, y + d))
        s2 = add_product(s2, line, number_at(B, y + 2 * d))
        s3 = add_product(s3, line, number_at(B, y + 3 * d))
        a += n
        y += c
    put_sum(out, o, s0)
    if rows > 1:
        put_sum(out, o + width, s1)
    if rows > 2:
        put_sum(out, o + 2 * width, s2)
    if rows > 3:
        put_sum(out, o + 3 * width, s3)


@njit(cache=True, nogil=True)
def multiply_transposes(A: NDArray[Any], B: NDArray[Any], out: NDArray[Any]) -> None:
    """Fill ``out`` (m, b, n) with B^T A_i^T, for columns ``B`` (q, n, w) in lines."""
    m, n, _ = A.shape
    (q, _, w), b = B.shape, out.shape[1]
    F, lines = A.reshape(-1), B.reshape(-1)
    found = np.empty((6, w), A.dtype)
    for i in range(m):
        for row in range(0, n, 6):
            s = min(row, n - 6)  # the last rows overlap those before
            for j in range(q):
                found[:] = 0
                for t in range(0, n, _SUM):
                    count, at, place = min(_SUM, n - t), (i * n + s) * n + t, (j * n + t) * w
                    add_six(lines, place, w, count, 0, F, at, 1, n, found.reshape(-1), 0, w, 6)
                for k in range(min(w, b - j * w)):
                    for r in range(6):
                        out[i, j * w + k, s + r] = found[r, k]
