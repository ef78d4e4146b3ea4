"""Numba kernels on graphs that are words of bits: what they hold, and their mirror images.

See :mod:`bit_kernels` for the words. A block is WORD of them in a row: a square of bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.graphs.bit_kernels import WORD
from eigengraphs.graphs.codegen import INT32, INT64, Arguments

__all__ = ["column_counts", "mirror_words", "scan_words"]

announce_compiling()

_EIGHT = ir.VectorType(INT32, 8)


def _count_bits(_context: Any, _word: Any) -> Any:
    """Return the type and the code of the number of bits of a word that are 1."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [INT32]), args)

    return types.uint32(types.uint32), codegen


_n_bits: Any = intrinsic(_count_bits)


@njit(cache=True, nogil=True)
def column_counts(words: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Return how many entries of each column are 1, (m, n)."""
    m, n_words, n = words.shape
    counts = np.zeros((m, n))
    for i in range(m):
        for w in range(n_words):
            for t in range(n):
                counts[i, t] += _n_bits(words[i, w, t])
    return counts


def _mirrored(builder: Any, block: list[Any]) -> list[Any]:
    """Return the words of a block (WORD,), as vectors, with bit j of word t as bit t of word j.

    Halves change places, then halves of them, and so on.
    """

    def swap(low: Any, high: Any, half: int, mask: int) -> tuple[Any, Any]:
        """Let the upper bits of low words and the lower bits of high ones change places."""
        moved = builder.xor(builder.lshr(low, _same(half)), high)
        moved = builder.and_(moved, _same(mask))
        return builder.xor(low, builder.shl(moved, _same(half))), builder.xor(high, moved)

    def swap_within(one: Any, half: int, mask: int) -> Any:
        """Do the same with words of one vector that are ``half`` apart."""
        turned = ir.Constant(_EIGHT, [j ^ half for j in range(_EIGHT.count)])
        other = builder.shuffle_vector(one, one, turned)
        low, high = swap(one, other, half, mask)[0], swap(other, one, half, mask)[1]
        which = [j if not j & half else _EIGHT.count + j for j in range(_EIGHT.count)]
        return builder.shuffle_vector(low, high, ir.Constant(_EIGHT, which))

    a, b, c, d = block
    a, c = swap(a, c, 16, 0x0000FFFF)
    b, d = swap(b, d, 16, 0x0000FFFF)
    a, b = swap(a, b, 8, 0x00FF00FF)
    c, d = swap(c, d, 8, 0x00FF00FF)
    block = [a, b, c, d]
    for half, mask in ((4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        block = [swap_within(one, half, mask) for one in block]
    return block


def _same(x: int) -> Any:
    return ir.Constant(_EIGHT, [x] * _EIGHT.count)


def _places(context: Any, builder: Any, signature: Any, args: Any, array: int) -> list[Any]:
    """Return where the vectors are of the block that begins at the argument behind the array."""
    given = Arguments(context, builder, signature, args)
    first = builder.gep(given.pointer(array), [given.whole(array + 1)])
    at = builder.bitcast(first, _EIGHT.as_pointer())
    count = WORD // _EIGHT.count
    return [builder.gep(at, [ir.Constant(INT64, j)]) for j in range(count)]


def _mirroring(_context: Any, words: Any, here: Any, out: Any, there: Any) -> Any:
    """Put the mirror image of the block from word ``here`` on from word ``there`` of ``out`` on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = _places(context, builder, signature, args, 0)
        block = _mirrored(builder, [builder.load(at, align=4) for at in source])
        target = _places(context, builder, signature, args, 2)
        for at, one in zip(target, block, strict=True):
            builder.store(one, at, align=4)
        return context.get_dummy_value()

    return types.void(words, here, out, there), codegen


_mirror_block: Any = intrinsic(_mirroring)


def _comparing(_context: Any, words: Any, here: Any, others: Any, there: Any) -> Any:
    """Return a number that is 0 if the two blocks are mirror images of each other."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = _places(context, builder, signature, args, 0)
        block = _mirrored(builder, [builder.load(at, align=4) for at in source])
        differs = _same(0)
        for at, one in zip(_places(context, builder, signature, args, 2), block, strict=True):
            differs = builder.or_(differs, builder.xor(one, builder.load(at, align=4)))
        unlike = ir.Constant(INT32, 0)
        for lane in range(_EIGHT.count):
            one = builder.extract_element(differs, ir.Constant(INT32, lane))
            unlike = builder.or_(unlike, one)
        return unlike

    return types.uint32(words, here, others, there), codegen


_unlike_mirror: Any = intrinsic(_comparing)


@njit(cache=True, nogil=True)
def scan_words(words: NDArray[np.uint32], out: NDArray[np.float64]) -> None:
    """Fill ``out`` as :func:`kernels.scan_dense` does, of graphs that are words."""
    m, n_words, n = words.shape
    rows = np.zeros((n_words, n_words * WORD), dtype=np.uint32)  # blocks of WORD columns, all whole
    flat = rows.reshape(-1)
    for i in range(m):
        rows[:, :n] = words[i]
        n_nonzero, n_loops, differs = 0, 0, np.uint32(0)
        for w in range(n_words):
            for t in range(n):
                n_nonzero += _n_bits(rows[w, t])
            for v in range(w + 1):
                here, there = (w * n_words + v) * WORD, (v * n_words + w) * WORD
                differs |= _unlike_mirror(flat, here, flat, there)
        for s in range(n):
            n_loops += (rows[s // WORD, s] >> np.uint32(s % WORD)) & np.uint32(1)
        values = out[i]
        values[0], values[1], values[2] = min(n_nonzero, 1), n_nonzero - n_loops, n_nonzero
        values[3], values[4], values[5] = n_loops, n_loops == n, n_loops > 0
        values[6], values[7], values[8], values[9] = 0.0, differs != 0, -1.0, n_loops


@njit(cache=True, nogil=True)
def mirror_words(words: NDArray[np.uint32], out: NDArray[np.uint32]) -> None:
    """Fill ``out`` (m, w, n) with the words of the transposes of the graphs ``words``."""
    m, n_words, n = words.shape
    rows = np.zeros((n_words, n_words * WORD), dtype=np.uint32)
    turned = np.empty_like(rows)
    source, target = rows.reshape(-1), turned.reshape(-1)
    for i in range(m):
        rows[:, :n] = words[i]
        for w in range(n_words):
            for v in range(n_words):
                here, there = (w * n_words + v) * WORD, (v * n_words + w) * WORD
                _mirror_block(source, here, target, there)
        out[i] = turned[:, :n]
