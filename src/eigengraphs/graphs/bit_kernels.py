"""Numba kernels for dense graphs of zeros and ones, with 32 entries of a column in one word.

A product with a few columns B needs no multiplication then. The 32 rows of B that meet a word are
cut into a few groups, a table of each holds the sums of all its subsets, and a word adds one row of
each: a sixth of the numbers that a product loads and adds otherwise. Tables stay in the first level
of cache, and graphs take a 32nd of the memory.
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
from eigengraphs.graphs.codegen import INT32, INT64, Arguments, for_each, vector_of_bytes

__all__ = ["NARROW", "WIDE", "WORD", "multiply_words", "pack_graphs", "table_rows"]

announce_compiling()

WORD = 32  # entries
WIDE, NARROW = 64, 32  # bytes of a row of a table: a line of the cache, or one vector
# Bits of the groups of a word. Narrow tables may be longer, and a word then needs fewer of them.
_WIDE_SIZES, _NARROW_SIZES = (7, 7, 6, 6, 6), (8, 8, 8, 8)
_AT_HAND = 16  # vertices whose sums are put in their places at a time


def _first_bits(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(sizes[:j]) for j in range(len(sizes)))


def _first_rows(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(1 << size for size in sizes[:j]) for j in range(len(sizes)))


_WIDE_BITS, _NARROW_BITS = _first_bits(_WIDE_SIZES), _first_bits(_NARROW_SIZES)
_WIDE_ROWS, _NARROW_ROWS = _first_rows(_WIDE_SIZES), _first_rows(_NARROW_SIZES)


def table_rows(width: int) -> int:
    """Return how many rows the tables of a word have, if each is this many bytes."""
    return sum(1 << size for size in (_WIDE_SIZES if width == WIDE else _NARROW_SIZES))


def _reading_bits(_context: Any, x: Any) -> Any:
    """Return the type and the code of 32 bits that are 0 if all bits of a float are."""
    wide = x == types.float64

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], INT64 if wide else INT32)
        if not wide:
            return bits
        folded = builder.or_(bits, builder.lshr(bits, ir.Constant(INT64, 32)))
        return builder.trunc(folded, INT32)

    return types.int32(x), codegen


_bits: Any = intrinsic(_reading_bits)


@njit(cache=True, nogil=True)
def pack_graphs(A: NDArray[Any], out: NDArray[np.int32]) -> bool:
    """Fill ``out`` (m, ceil(n / WORD), n): entry (WORD w + j, t) of a graph is bit j of (w, t).

    Returns whether all entries of ``A`` (m, n, n) are 0 or 1. If not, what is in ``out`` means
    nothing.
    """
    m, n, _ = A.shape
    for i in range(m):
        for w in range(out.shape[1]):
            words, first, last = out[i, w], w * WORD, min(n, (w + 1) * WORD)
            words[:] = 0
            eights = last - (last - first) % 8
            plain = True
            for s in range(first, eights, 8):
                plain &= _pack_eight(A[i, s : s + 8], np.int32(s - first), words)
            for s in range(eights, last):
                plain &= _pack_one(A[i, s], np.int32(s - first), words)
            if not plain:
                return False
    return True


@njit(cache=True, nogil=True, fastmath={"contract"})
def _pack_eight(A: NDArray[Any], j: Any, words: NDArray[np.int32]) -> bool:
    """Put eight rows into the bits from ``j`` on; tell whether all entries are 0 or 1.

    Those are the numbers with x^2 - x = 0. A number of eight bits is exact in any type, and adding
    up takes one instruction an entry.
    """
    a, b, c, d, e, f, g, h = A[0], A[1], A[2], A[3], A[4], A[5], A[6], A[7]
    number = A.dtype.type
    two, four, eight, sixteen = number(2), number(4), number(8), number(16)
    other = np.int32(0)
    for t in range(words.shape[0]):
        low = a[t] + two * b[t] + four * c[t] + eight * d[t]
        high = e[t] + two * f[t] + four * g[t] + eight * h[t]
        words[t] = np.int32(words[t] | np.int32(np.int32(low + sixteen * high) << j))
        # Numba counts in 64 bits, of which a vector holds half as many.
        some = np.int32(_bits(a[t] * a[t] - a[t]) | _bits(b[t] * b[t] - b[t]))
        some = np.int32(some | _bits(c[t] * c[t] - c[t]) | _bits(d[t] * d[t] - d[t]))
        some = np.int32(some | _bits(e[t] * e[t] - e[t]) | _bits(f[t] * f[t] - f[t]))
        some = np.int32(some | _bits(g[t] * g[t] - g[t]) | _bits(h[t] * h[t] - h[t]))
        other = np.int32(other | some)
    return bool(other == 0)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _pack_one(row: NDArray[Any], j: Any, words: NDArray[np.int32]) -> bool:
    """Do the same with one row."""
    other = np.int32(0)
    for t in range(words.shape[0]):
        words[t] = np.int32(words[t] | np.int32(np.int32(row[t]) << j))
        other = np.int32(other | _bits(row[t] * row[t] - row[t]))
    return bool(other == 0)


def _looking_up(width: int, sizes: tuple[int, ...]) -> Any:
    """Return the intrinsic that adds to row place + t of ``sums`` what word first + t names.

    These are rows of ``tables``, one of each group. Arrays are flat and count, the number of words,
    is at least 1. The rows of a word are added up in pairs before the running sum: fewer roundings
    pile up, and additions need not wait for each other.
    """

    @intrinsic
    def look_up(
        _context: Any, words: Any, first: Any, count: Any, tables: Any, sums: Any, place: Any
    ) -> Any:
        if {words.layout, tables.layout, sums.layout} != {"C"} or tables.dtype != sums.dtype:
            raise TypingError("arrays must be C-contiguous, tables and sums of one type")
        vector, align = vector_of_bytes(tables.dtype, width), tables.dtype.bitwidth // 8

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = Arguments(context, builder, signature, args)
            word_data, first, place = given.pointer(0), given.whole(1), given.whole(5)
            table, total = (
                builder.bitcast(given.pointer(which), vector.as_pointer()) for which in (3, 4)
            )

            def named(word: Any, bit: int, size: int, start: int) -> Any:
                shifted = builder.lshr(word, ir.Constant(INT32, bit))
                inside = builder.and_(shifted, ir.Constant(INT32, (1 << size) - 1))
                row = builder.add(builder.zext(inside, INT64), ir.Constant(INT64, start))
                return builder.load(builder.gep(table, [row]), align=align)

            def add_word(t: Any) -> None:
                word = builder.load(builder.gep(word_data, [builder.add(first, t)]))
                groups = zip(_first_bits(sizes), sizes, _first_rows(sizes), strict=True)
                rows = [named(word, *group) for group in groups]
                while len(rows) > 1:
                    pairs = [
                        builder.fadd(a, b) for a, b in zip(rows[::2], rows[1::2], strict=False)
                    ]
                    rows = pairs + rows[2 * len(pairs) :]
                at = builder.gep(total, [builder.add(place, t)])
                builder.store(builder.fadd(builder.load(at, align=align), rows[0]), at, align=align)

            for_each(builder, given.whole(2), add_word)
            return context.get_dummy_value()

        return types.void(words, first, count, tables, sums, place), codegen

    return look_up


_look_up_wide = _looking_up(WIDE, _WIDE_SIZES)
_look_up_narrow = _looking_up(NARROW, _NARROW_SIZES)


def _adding(width: int) -> Any:
    """Return the intrinsic that sets row place + count + x of ``tables``, for x < count.

    It becomes the sum of row place + x and of row b of ``B``. Arrays are flat.
    """

    @intrinsic
    def add_row(_context: Any, tables: Any, place: Any, B: Any, b: Any, count: Any) -> Any:
        if {tables.layout, B.layout} != {"C"} or tables.dtype != B.dtype:
            raise TypingError("arrays must be C-contiguous and of one type")
        vector, align = vector_of_bytes(tables.dtype, width), tables.dtype.bitwidth // 8

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = Arguments(context, builder, signature, args)
            table, rows = (
                builder.bitcast(given.pointer(which), vector.as_pointer()) for which in (0, 2)
            )
            place, count = given.whole(1), given.whole(4)
            row = builder.load(builder.gep(rows, [given.whole(3)]), align=align)

            def set_row(x: Any) -> None:
                source = builder.add(place, x)
                total = builder.fadd(builder.load(builder.gep(table, [source]), align=align), row)
                builder.store(total, builder.gep(table, [builder.add(source, count)]), align=align)

            for_each(builder, count, set_row)
            return context.get_dummy_value()

        return types.void(tables, place, B, b, count), codegen

    return add_row


_add_row_wide, _add_row_narrow = _adding(WIDE), _adding(NARROW)


@njit(cache=True, nogil=True)
def _fill_tables(B: NDArray[Any], first: int, tables: NDArray[Any], wide: bool) -> None:
    """Fill ``tables`` with the sums of subsets of WORD rows of B, flat both; zeros stay zero."""
    if wide:
        for j in range(len(_WIDE_SIZES)):
            for bit in range(_WIDE_SIZES[j]):
                _add_row_wide(tables, _WIDE_ROWS[j], B, first + _WIDE_BITS[j] + bit, 1 << bit)
    else:
        for j in range(len(_NARROW_SIZES)):
            for bit in range(_NARROW_SIZES[j]):
                _add_row_narrow(tables, _NARROW_ROWS[j], B, first + _NARROW_BITS[j] + bit, 1 << bit)


@njit(cache=True, nogil=True)
def multiply_words(
    words: NDArray[np.uint32],
    BT: NDArray[Any],
    columns: NDArray[Any],
    tables: NDArray[Any],
    sums: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Fill ``out`` (m, b, n) with B^T A_i.

    Parameters
    ----------
    words : (m, w, n)
        Graphs, by :func:`pack_graphs`.
    BT : (b, n)
        Columns as rows.
    columns : (w * WORD, c)
        Scratch for the columns, c >= b, in rows of WIDE or NARROW bytes. All scratch is in the type
        of B.
    tables : (table_rows, c)
        Scratch.
    sums : (k n, c)
        Scratch for the sums of k graphs, which are multiplied together.
    out
        In the same type.
    """
    m, n_words, n = words.shape
    b, c = BT.shape[0], columns.shape[1]
    B, lines, totals = columns.reshape(-1), tables.reshape(-1), sums.reshape(-1)
    B[:] = 0
    for k in range(b):
        row = BT[k]
        for t in range(n):
            columns[t, k] = row[t]
    lines[:] = 0  # of nothing the sum stays zero
    few, wide = sums.shape[0] // n, c * columns.itemsize == WIDE
    for lo in range(0, m, few):
        some = words[lo : min(m, lo + few)]
        flat = some.reshape(-1)
        totals[:] = 0
        for w in range(n_words):
            _fill_tables(B, w * WORD, lines, wide)
            for i in range(some.shape[0]):
                if wide:
                    _look_up_wide(flat, (i * n_words + w) * n, n, lines, totals, i * n)
                else:
                    _look_up_narrow(flat, (i * n_words + w) * n, n, lines, totals, i * n)
        for i in range(some.shape[0]):
            _turn(totals[i * n * c : (i + 1) * n * c], c, out[lo + i])


@njit(cache=True, nogil=True)
def _turn(sums: NDArray[Any], c: int, out: NDArray[Any]) -> None:
    """Fill ``out`` (b, n) with the first columns of ``sums`` (n, c), flat, a few rows at a time."""
    b, n = out.shape
    for first in range(0, n, _AT_HAND):
        for k in range(b):
            row, place = out[k, first : first + _AT_HAND], first * c + k
            for t in range(row.shape[0]):
                row[t] = sums[place + np.uint32(t * c)]
