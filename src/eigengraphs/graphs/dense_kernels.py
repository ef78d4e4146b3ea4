"""Numba kernels for a few rows times many dense graphs, in one read and without a copy.

BLAS packs both factors before it multiplies. With a dozen rows and a large square matrix that is a
copy of the matrix for every product, and takes as long as the product. Here a dozen sums, six rows
by two vectors of columns, stay in registers along a chunk of rows of the graph, while the next
chunk is fetched. Times the transposes of graphs, three of their rows meet four others, along all of
their length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.graphs.codegen import INT32, INT64, Arguments, prefetch, vector_of_bytes

__all__ = ["TILE_BYTES", "as_padded_rows", "multiply_graphs", "multiply_transposes"]

announce_compiling()

_LANE_BYTES = 32  # of a vector: what most machines have
_LANES = 2  # vectors side by side; with six rows, twelve sums fit into sixteen registers
_ROWS = 6
TILE_BYTES = _LANES * _LANE_BYTES
_CHUNK = 16  # rows of a graph that stay in the nearest caches while all tiles use them
_LINES, _OTHERS = 3, 4  # rows of a graph and of the other factor in a tile for transposes
_FUSED = ("contract",)  # a product and a sum may be one instruction


def _tile(n_rows: int) -> Any:
    """Return the intrinsic out[o + k width + c] += sum_t B[b + t stride + k] A[a + t n + c].

    The sum is over ``count`` rows t, and the tile has k up to ``n_rows`` and c up to two vectors.
    Arrays are flat. Each entry asks for the one that lies ``ahead`` of it to be fetched.
    """

    @intrinsic
    def tile(
        _context: Any,
        A: Any,
        a: Any,
        n: Any,
        count: Any,
        ahead: Any,
        B: Any,
        b: Any,
        stride: Any,
        out: Any,
        o: Any,
        width: Any,
    ) -> Any:
        if {A.layout, B.layout, out.layout} != {"C"} or not A.dtype == B.dtype == out.dtype:
            raise TypingError("arrays must be C-contiguous and of one type")
        vector, align = (
            vector_of_bytes(A.dtype, _LANE_BYTES),
            A.dtype.bitwidth // 8,
        )  # numpy promises no more
        signature = types.void(A, a, n, count, ahead, B, b, stride, out, o, width)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = Arguments(context, builder, signature, args)
            pointer, whole = given.pointer, given.whole

            def number(x: int) -> Any:
                return ir.Constant(INT64, x)

            def vector_at(base: Any, where: Any) -> Any:
                return builder.bitcast(builder.gep(base, [where]), vector.as_pointer())

            A_data, B_data, out_data = pointer(0), pointer(5), pointer(8)
            a, n, count, ahead = (whole(place) for place in (1, 2, 3, 4))
            b, stride, o, width = (whole(place) for place in (6, 7, 9, 10))
            places = [
                builder.add(o, builder.add(builder.mul(width, number(k)), number(j * vector.count)))
                for k in range(n_rows)
                for j in range(_LANES)
            ]
            before = builder.block
            loop = builder.append_basic_block("along")
            after = builder.append_basic_block("after")
            builder.branch(loop)
            builder.position_at_end(loop)
            t, in_A, in_B = (builder.phi(INT64) for _ in range(3))
            sums = [builder.phi(vector) for _ in places]
            prefetch(builder, builder.gep(A_data, [builder.add(in_A, ahead)]))
            entries = [
                builder.load(
                    vector_at(A_data, builder.add(in_A, number(j * vector.count))), align=align
                )
                for j in range(_LANES)
            ]
            more = []
            for k in range(n_rows):
                one = builder.load(builder.gep(B_data, [builder.add(in_B, number(k))]))
                factor = _splat(builder, vector, one)
                for j, entry in enumerate(entries):
                    term = builder.fmul(entry, factor, flags=_FUSED)
                    more.append(builder.fadd(sums[k * _LANES + j], term, flags=_FUSED))
            ends = [builder.add(t, number(1)), builder.add(in_A, n), builder.add(in_B, stride)]
            builder.cbranch(builder.icmp_signed("<", ends[0], count), loop, after)
            phis = [t, in_A, in_B, *sums]
            zeros = [ir.Constant(vector, None)] * len(sums)
            starts, nexts = [number(0), a, b, *zeros], [*ends, *more]
            for phi, first, later in zip(phis, starts, nexts, strict=True):
                phi.add_incoming(first, before)
                phi.add_incoming(later, loop)

            builder.position_at_end(after)
            # Sums of chunks, and their sum: fewer roundings pile up than along all of the rows.
            for place, total in zip(places, more, strict=True):
                at = vector_at(out_data, place)
                builder.store(builder.fadd(builder.load(at, align=align), total), at, align=align)
            return context.get_dummy_value()

        return signature, codegen

    return tile


def _splat(builder: Any, vector: ir.VectorType, x: Any) -> Any:
    """Return a vector all of whose elements are ``x``."""
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), x, ir.Constant(INT32, 0))
    zeros = ir.Constant(ir.VectorType(INT32, vector.count), None)
    return builder.shuffle_vector(one, one, zeros)


_rows_1, _rows_2, _rows_3, _rows_4, _rows_5, _rows_6 = (_tile(k) for k in range(1, _ROWS + 1))


@njit(cache=True, nogil=True)
def multiply_graphs(
    A: NDArray[Any], B: NDArray[Any], out: NDArray[Any], tail: NDArray[Any]
) -> None:
    """Fill ``out`` (m, b, n) with B^T A_i.

    Parameters
    ----------
    A : (m, n, n)
        Graphs, C-contiguous, with n at least the width of ``tail``.
    B : (n, b)
        Columns, C-contiguous and of the same type.
    out
        Where the products go, C-contiguous.
    tail : (b, TILE_BYTES / itemsize)
        Scratch: the sums of the last columns, where a tile overlaps the one before.
    """
    m, n, _ = A.shape
    b, w = tail.shape
    F, P, columns, last = A.reshape(-1), out.reshape(-1), B.reshape(-1), tail.reshape(-1)
    end = n - n % w
    # Tiles of like sizes; divisions here, because a tile itself takes but a hundred cycles.
    groups = (b + _ROWS - 1) // _ROWS
    size = b // groups
    sizes = (size, b - size * groups)
    out[:] = 0
    for i in range(m):
        tail[:] = 0
        for t in range(0, n, _CHUNK):
            count, first = min(_CHUNK, n - t), (i * n + t) * n
            for s in range(0, end, w):
                _strip(F, first + s, n, count, columns, t * b, b, sizes, P, i * b * n + s, n)
            if end < n:
                _strip(F, first + n - w, n, count, columns, t * b, b, sizes, last, 0, w)
        for k in range(b):
            for s in range(end, n):
                out[i, k, s] = tail[k, s - n + w]


@njit(cache=True, nogil=True, forceinline=True)
def _strip(
    A: NDArray[Any],
    a: int,
    n: int,
    count: int,
    B: NDArray[Any],
    t: int,
    b: int,
    sizes: tuple[int, int],
    out: NDArray[Any],
    o: int,
    width: int,
) -> None:
    """Add the products of one strip of columns, a tile after the other.

    ``sizes`` holds the rows of a tile, and how many of the first tiles have one more.
    """
    size, n_larger = sizes
    ahead = _CHUNK * n  # once a strip
    k = 0
    while k < b:
        rows = size + 1 if n_larger > 0 else size
        place = o + k * width
        if rows == 6:
            _rows_6(A, a, n, count, ahead, B, t + k, b, out, place, width)
        elif rows == 5:
            _rows_5(A, a, n, count, ahead, B, t + k, b, out, place, width)
        elif rows == 4:
            _rows_4(A, a, n, count, ahead, B, t + k, b, out, place, width)
        elif rows == 3:
            _rows_3(A, a, n, count, ahead, B, t + k, b, out, place, width)
        elif rows == 2:
            _rows_2(A, a, n, count, ahead, B, t + k, b, out, place, width)
        else:
            _rows_1(A, a, n, count, ahead, B, t + k, b, out, place, width)
        k += rows
        n_larger -= 1
        ahead = 0


def _dots(n_lines: int) -> Any:
    """Return the intrinsic out[r, c] = sum_t A[a + r n + t] B[b + c stride + t], n_lines x _OTHERS.

    Rows of ``B`` hold whole vectors, and for what is left at the end a vector that ends with the
    row, with zeros where A was counted already: see :func:`as_padded_rows`.
    """

    @intrinsic
    def dots(_context: Any, A: Any, a: Any, n: Any, B: Any, b: Any, stride: Any, out: Any) -> Any:
        if {A.layout, B.layout, out.layout} != {"C"} or not A.dtype == B.dtype == out.dtype:
            raise TypingError("arrays must be C-contiguous and of one type")
        vector, align = vector_of_bytes(A.dtype, _LANE_BYTES), A.dtype.bitwidth // 8
        signature = types.void(A, a, n, B, b, stride, out)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = Arguments(context, builder, signature, args)
            pointer, whole = given.pointer, given.whole

            def number(x: int) -> Any:
                return ir.Constant(INT64, x)

            A_data, B_data, out_data = pointer(0), pointer(3), pointer(6)
            a, n, b, stride = (whole(place) for place in (1, 2, 4, 5))
            lines = [
                builder.gep(A_data, [builder.add(a, builder.mul(n, number(r)))])
                for r in range(n_lines)
            ]
            others = [
                builder.gep(B_data, [builder.add(b, builder.mul(stride, number(c)))])
                for c in range(_OTHERS)
            ]

            def load(line: Any, t: Any) -> Any:
                at = builder.bitcast(builder.gep(line, [t]), vector.as_pointer())
                return builder.load(at, align=align)

            def added(sums: list[Any], in_A: Any, in_B: Any) -> list[Any]:
                # Lines stay in registers and the others come one by one: that many there are.
                left, more = [load(line, in_A) for line in lines], list(sums)
                for c, other in enumerate(others):
                    right = load(other, in_B)
                    for r, entries in enumerate(left):
                        place = r * _OTHERS + c
                        term = builder.fmul(entries, right, flags=_FUSED)
                        more[place] = builder.fadd(sums[place], term, flags=_FUSED)
                return more

            before = builder.block
            loop, after, rest, done = (
                builder.append_basic_block(name) for name in ("along", "after", "rest", "done")
            )
            lanes = number(vector.count)
            end = builder.mul(builder.sdiv(n, lanes), lanes)
            builder.branch(loop)
            builder.position_at_end(loop)
            t, sums = builder.phi(INT64), [builder.phi(vector) for _ in range(n_lines * _OTHERS)]
            more, next_t = added(sums, t, t), builder.add(t, lanes)
            builder.cbranch(builder.icmp_signed("<", next_t, end), loop, after)
            zeros = [ir.Constant(vector, None)] * len(sums)
            for phi, first, later in zip(
                [t, *sums], [number(0), *zeros], [next_t, *more], strict=True
            ):
                phi.add_incoming(first, before)
                phi.add_incoming(later, loop)

            builder.position_at_end(after)
            builder.cbranch(builder.icmp_signed("<", end, n), rest, done)
            builder.position_at_end(rest)
            last = added(more, builder.sub(n, lanes), end)
            builder.branch(done)
            builder.position_at_end(done)
            totals = [builder.phi(vector) for _ in last]
            for total, whole_one, last_one in zip(totals, more, last, strict=True):
                total.add_incoming(whole_one, after)
                total.add_incoming(last_one, rest)
            for place, total in enumerate(totals):
                builder.store(_sum(builder, total), builder.gep(out_data, [number(place)]))
            return context.get_dummy_value()

        return signature, codegen

    return dots


def _sum(builder: Any, total: Any) -> Any:
    """Return the sum of the elements of a vector, by halves."""
    count = total.type.count
    while count > 1:
        count //= 2
        kind = ir.VectorType(INT32, count)
        low, high = (
            builder.shuffle_vector(total, total, ir.Constant(kind, list(range(lo, lo + count))))
            for lo in (0, count)
        )
        total = builder.fadd(low, high)
    return builder.extract_element(total, ir.Constant(INT32, 0))


_dots_of_some, _dots_of_one = _dots(_LINES), _dots(1)


def as_padded_rows(BT: NDArray[Any]) -> NDArray[Any]:
    """Return rows (b, n), n at least a vector, as :func:`multiply_transposes` wants them."""
    (b, n), lanes = BT.shape, _LANE_BYTES // BT.itemsize
    end = n - n % lanes
    rows: NDArray[Any] = np.zeros(
        (-(-b // _OTHERS) * _OTHERS, end + lanes * (end < n)), dtype=BT.dtype
    )
    rows[:b, :end] = BT[:, :end]
    if end < n:
        rows[:b, end - n :] = BT[:, end:]
    return rows


@njit(cache=True, nogil=True)
def multiply_transposes(A: NDArray[Any], B: NDArray[Any], out: NDArray[Any]) -> None:
    """Fill ``out`` (m, b, n) with B^T A_i^T, for ``A`` (m, n, n), C-contiguous.

    The rows of ``B`` come from :func:`as_padded_rows`.
    """
    m, n, _ = A.shape
    b, stride = out.shape[1], B.shape[1]
    F, others = A.reshape(-1), B.reshape(-1)
    found = np.empty(_LINES * _OTHERS, dtype=A.dtype)
    for i in range(m):
        P = out[i]
        s = 0
        while s < n:
            lines = _LINES if s + _LINES <= n else 1
            for k in range(0, b, _OTHERS):
                if lines == _LINES:
                    _dots_of_some(F, (i * n + s) * n, n, others, k * stride, stride, found)
                else:
                    _dots_of_one(F, (i * n + s) * n, n, others, k * stride, stride, found)
                for c in range(min(_OTHERS, b - k)):
                    for r in range(lines):
                        P[k + c, s + r] = found[r * _OTHERS + c]
            s += lines
