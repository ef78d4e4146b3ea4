"""Numba kernels for products of a flat CSR matrix (m * n, n) with slabs of columns.

The matrix comes as its three arrays in canonical form (rows sorted, no duplicates), rows
``i * n`` to ``(i + 1) * n`` being graph ``i``. ``data`` of size 0 says that every stored value
is 1, and then no values are read. Symmetry is taken for granted.

A slab (n, w) is ``WIDTH_BYTES`` wide, one line of the cache, and C-contiguous. Numba keeps the
running sum of a row in memory and adds to it number by number; the two intrinsics below keep it in
vector registers, which makes the products five times as fast.
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

__all__ = [
    "WIDTH_BYTES",
    "add_weighted",
    "column_dots",
    "flat_multiply",
    "flat_row_sums",
    "flat_upper",
    "flat_weighted_sum",
    "splat",
    "vector_of",
]

announce_compiling()

WIDTH_BYTES = 64
_INT64 = ir.IntType(64)


def vector_of(dtype: Any) -> ir.VectorType:
    """Return the type of one row of a slab."""
    bits = {types.float32: ir.FloatType(), types.float64: ir.DoubleType()}
    return ir.VectorType(bits[dtype], 8 * WIDTH_BYTES // dtype.bitwidth)


def splat(builder: Any, vector: ir.VectorType, x: Any) -> Any:
    """Return a vector all of whose elements are ``x``."""
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), x, ir.Constant(_INT64, 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(one, one, zeros)


def _row_product(weighted: bool, treated: bool) -> Any:
    """Return the intrinsic out[r] = sum_e data[e] B[indices[e]] + x B[s] - c C[s], lo <= e < hi.

    Without ``weighted``, every data[e] is 1; without ``treated``, x and c are 0.
    """

    @intrinsic
    def row_product(
        _context: Any,
        data: Any,
        indices: Any,
        lo: Any,
        hi: Any,
        s: Any,
        x: Any,
        c: Any,
        B: Any,
        C: Any,
        r: Any,
        out: Any,
    ) -> Any:
        if {B.layout, C.layout, out.layout} != {"C"} or not B.dtype == C.dtype == out.dtype:
            raise TypingError("slabs must be C-contiguous and of one type")
        vector, align = vector_of(B.dtype), B.dtype.bitwidth // 8

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args

            def pointer(place: int) -> Any:
                return context.make_array(kinds[place])(context, builder, args[place]).data

            def cast(place: int, kind: Any) -> Any:
                return context.cast(builder, args[place], kinds[place], kind)

            def row(base: Any, where: Any) -> Any:
                slab = builder.bitcast(base, vector.as_pointer())
                return builder.gep(slab, [where])

            def load(base: Any, where: Any) -> Any:
                # numpy promises no more than the alignment of one element.
                return builder.load(row(base, where), align=align)

            def product(number: Any, rows: Any) -> Any:
                return builder.fmul(splat(builder, vector, number), rows)

            values, places = pointer(0), pointer(1)
            lo, hi, s, r = (cast(place, types.int64) for place in (2, 3, 4, 9))
            x, c = cast(5, B.dtype), cast(6, B.dtype)
            B_rows, C_rows = pointer(7), pointer(8)
            start = ir.Constant(vector, None)
            if treated:
                start = builder.fsub(product(x, load(B_rows, s)), product(c, load(C_rows, s)))

            before = builder.block
            loop = builder.append_basic_block("entries")
            after = builder.append_basic_block("after")
            builder.cbranch(builder.icmp_signed("<", lo, hi), loop, after)

            builder.position_at_end(loop)
            e, total = builder.phi(_INT64), builder.phi(vector)
            place = builder.load(builder.gep(places, [e]))
            t = context.cast(builder, place, kinds[1].dtype, types.int64)
            term = load(B_rows, t)
            if weighted:
                term = product(builder.load(builder.gep(values, [e])), term)
            more = builder.fadd(total, term)
            next_e = builder.add(e, ir.Constant(_INT64, 1))
            builder.cbranch(builder.icmp_signed("<", next_e, hi), loop, after)
            e.add_incoming(lo, before)
            e.add_incoming(next_e, loop)
            total.add_incoming(start, before)
            total.add_incoming(more, loop)

            builder.position_at_end(after)
            result = builder.phi(vector)
            result.add_incoming(start, before)
            result.add_incoming(more, loop)
            builder.store(result, row(pointer(10), r), align=align)
            return context.get_dummy_value()

        return types.void(data, indices, lo, hi, s, x, c, B, C, r, out), codegen

    return row_product


_row_of_ones = _row_product(weighted=False, treated=True)
_row_of_values = _row_product(weighted=True, treated=True)
_plain_row_of_ones = _row_product(weighted=False, treated=False)
_plain_row_of_values = _row_product(weighted=True, treated=False)


@njit(cache=True, nogil=True)
def _plain_multiply(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    first: int,
    B: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Fill ``out`` (r, q, w) with rows of the graphs, from ``first`` on, times ``B``.

    Apart: what little the treatment costs a row is a third of the time for graphs of degree 20.
    """
    q = B.shape[0]
    for j in range(q):
        B_j = B[j]
        hi = indptr[first]
        for r in range(out.shape[0]):
            lo, hi = hi, indptr[first + r + 1]
            if data.size > 0:
                _plain_row_of_values(data, indices, lo, hi, 0, 0.0, 0.0, B_j, B_j, r * q + j, out)
            else:
                _plain_row_of_ones(data, indices, lo, hi, 0, 0.0, 0.0, B_j, B_j, r * q + j, out)


@njit(cache=True, nogil=True)
def flat_multiply(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    upper: NDArray[Any],
    first: int,
    D: NDArray[np.float64],
    B: NDArray[Any],
    C: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Fill ``out`` (r, q, w) with rows of the treated graphs, from ``first`` on, times ``B``.

    Row i n + s is A_i[s] B_j + D[i n + s] B_j[s] - C_j[s] for the slabs of ``B`` and ``C``
    (q, n, w), and ``D`` (m n,); the last two may have size 0. With ``upper`` of
    :func:`flat_upper`, entries below the diagonal count nothing, those on it, ``D`` and ``C``
    half: then X = B^T out makes X + X^T the whole form, for half the reading. With ``upper`` of
    size 0 all entries count.
    """
    q, n, _ = B.shape
    if upper.size == 0 and C.size == 0 and D.size == 0:
        _plain_multiply(data, indices, indptr, first, B, out)
        return
    half = upper.size > 0
    share = 0.5 if half else 1.0
    c = share if C.size > 0 else 0.0
    for j in range(q):
        B_j = B[j]
        C_j = C[j] if C.size > 0 else B_j  # times 0
        s = first % n
        for r in range(out.shape[0]):
            row = first + r
            lo, hi = indptr[row], indptr[row + 1]
            x = D[row] if D.size > 0 else 0.0
            if half:
                on = upper[row] - 1
                if on >= lo and indices[on] == s:
                    x += data[on] if data.size > 0 else 1.0
                lo = upper[row]
            if data.size > 0:
                _row_of_values(data, indices, lo, hi, s, share * x, c, B_j, C_j, r * q + j, out)
            else:
                _row_of_ones(data, indices, lo, hi, s, share * x, c, B_j, C_j, r * q + j, out)
            s = s + 1 if s + 1 < n else 0


@njit(cache=True, nogil=True)
def flat_weighted_sum(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    s0: int,
    B: NDArray[Any],
    W: NDArray[np.float64],
    scratch: NDArray[Any],
    out: NDArray[np.float64],
) -> None:
    """Add sum_i W_ik A_i[s] b_k to ``out`` (r, d), for the rows s from ``s0`` on of all graphs.

    ``B`` (q, n, w) holds the columns in slabs and ``W`` (m, d) the weights; ``scratch`` (r, q, w)
    is for the products of one graph. One call for all of them: threads do not meet in between.
    """
    _, n, _ = B.shape
    rows, d = out.shape
    none, nothing = indptr[:0], out[0, :0]
    for i in range(W.shape[0]):
        flat_multiply(data, indices, indptr, none, i * n + s0, nothing, B, B[:0], scratch)
        P = scratch.reshape(rows, -1)
        for s in range(rows):
            for k in range(d):
                out[s, k] += W[i, k] * P[s, k]


@njit(cache=True, nogil=True)
def flat_upper(indices: NDArray[Any], indptr: NDArray[Any], n: int, first: int, out: Any) -> None:
    """Fill ``out`` (r,) with the places of the first entries above the diagonal, row by row."""
    for r in range(out.shape[0]):
        s = (first + r) % n
        lo, hi = indptr[first + r], indptr[first + r + 1]
        while lo < hi:
            mid = (lo + hi) // 2
            if indices[mid] <= s:
                lo = mid + 1
            else:
                hi = mid
        out[r] = lo


@njit(cache=True, nogil=True)
def add_weighted(P: NDArray[Any], weights: NDArray[Any], out: NDArray[Any]) -> None:
    """Add ``weights[k] P[s, k]`` to ``out[s, k]``; ``P`` may be wider."""
    for s in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[s, k] += weights[k] * P[s, k]


@njit(cache=True, nogil=True)
def column_dots(P: NDArray[Any], H: NDArray[Any], out: NDArray[np.float64]) -> None:
    """Add sum_s P[i, s, k] H[s, k] to ``out[i, k]``; ``P`` and ``H`` may be wider."""
    m, n, _ = P.shape
    for i in range(m):
        for s in range(0, n - 3, 4):  # four rows for one trip of the sum to memory
            for k in range(out.shape[1]):
                first = np.float64(P[i, s, k]) * H[s, k] + np.float64(P[i, s + 1, k]) * H[s + 1, k]
                last = (
                    np.float64(P[i, s + 2, k]) * H[s + 2, k]
                    + np.float64(P[i, s + 3, k]) * H[s + 3, k]
                )
                out[i, k] += first + last
        for s in range(n - n % 4, n):
            for k in range(out.shape[1]):
                out[i, k] += np.float64(P[i, s, k]) * H[s, k]


@njit(cache=True, nogil=True)
def flat_row_sums(
    data: NDArray[Any], indptr: NDArray[Any], first: int, out: NDArray[np.float64]
) -> None:
    """Fill ``out`` (r,) with the sums of rows ``first`` to ``first + r``."""
    for r in range(out.shape[0]):
        total = 0.0
        for e in range(indptr[first + r], indptr[first + r + 1]):
            total += data[e]
        out[r] = total
