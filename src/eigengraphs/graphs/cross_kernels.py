"""Numba kernels for Z^T A_i B of a flat CSR matrix, with no array of products between the two.

Some rows of A_i B stay in cache until the columns of Z have met them. BLAS is
no help: matrices this narrow take it three times as long, and a call for each of thousands of tiles
has threads wait for each other.
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
from eigengraphs.graphs.flat_kernels import flat_multiply, splat, vector_of

__all__ = ["CROSS_COLUMNS", "CROSS_ROWS", "flat_cross"]

announce_compiling()

CROSS_COLUMNS = 6  # of Z: as many sums as the registers hold beside a row of products
CROSS_ROWS = 256  # of a tile, summed in the type of the graphs
_INT64 = ir.IntType(64)


@intrinsic
def _inner_products(
    _context: Any,
    Z: Any,
    s: Any,
    z: Any,
    P: Any,
    rows: Any,
    j: Any,
    out: Any,
    where: Any,
) -> Any:
    """Add sum_r Z[s + r, z + k] P[r, j] to out[where, z + k, j], k < CROSS_COLUMNS, r < rows."""
    if {Z.layout, P.layout, out.layout} != {"C"} or Z.dtype != P.dtype:
        raise TypingError("arrays must be C-contiguous, Z and P of one type")
    vector, align = vector_of(P.dtype), P.dtype.bitwidth // 8
    wide = ir.VectorType(ir.DoubleType(), vector.count)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args

        def array(place: int) -> tuple[Any, list[Any]]:
            found = context.make_array(kinds[place])(context, builder, args[place])
            return found.data, [
                builder.extract_value(found.shape, axis) for axis in range(kinds[place].ndim)
            ]

        def whole(place: int) -> Any:
            return context.cast(builder, args[place], kinds[place], types.int64)

        def number(value: int) -> Any:
            return ir.Constant(_INT64, value)

        (Z_data, (_, width)), (P_data, (_, q, _)) = array(0), array(3)
        out_data, (_, height, _, _) = array(6)
        s, z, rows, j, where = (whole(place) for place in (1, 2, 4, 5, 7))
        P_rows = builder.bitcast(P_data, vector.as_pointer())
        out_rows = builder.bitcast(out_data, wide.as_pointer())
        first = builder.add(builder.mul(s, width), z)

        before = builder.block
        loop = builder.append_basic_block("rows")
        after = builder.append_basic_block("after")
        builder.cbranch(builder.icmp_signed("<", number(0), rows), loop, after)

        builder.position_at_end(loop)
        r = builder.phi(_INT64)
        sums = [builder.phi(vector) for _ in range(CROSS_COLUMNS)]
        products = builder.load(
            builder.gep(P_rows, [builder.add(builder.mul(r, q), j)]), align=align
        )
        row = builder.add(first, builder.mul(r, width))
        more = []
        for k, total in enumerate(sums):
            factor = builder.load(builder.gep(Z_data, [builder.add(row, number(k))]))
            term = builder.fmul(splat(builder, vector, factor), products, flags=("contract",))
            more.append(builder.fadd(total, term, flags=("contract",)))
        next_r = builder.add(r, number(1))
        builder.cbranch(builder.icmp_signed("<", next_r, rows), loop, after)
        r.add_incoming(number(0), before)
        r.add_incoming(next_r, loop)
        for total, then in zip(sums, more, strict=True):
            total.add_incoming(ir.Constant(vector, None), before)
            total.add_incoming(then, loop)

        builder.position_at_end(after)
        found = [builder.phi(vector) for _ in sums]
        for total, then in zip(found, more, strict=True):
            total.add_incoming(ir.Constant(vector, None), before)
            total.add_incoming(then, loop)
        for k, total in enumerate(found):
            line = builder.add(builder.mul(where, height), builder.add(z, number(k)))
            place = builder.gep(out_rows, [builder.add(builder.mul(line, q), j)])
            exact = total if vector == wide else builder.fpext(total, wide)
            builder.store(builder.fadd(builder.load(place, align=8), exact), place, align=8)
        return context.get_dummy_value()

    return types.void(Z, s, z, P, rows, j, out, where), codegen


_add_inner: Any = _inner_products  # called without the context


@njit(cache=True, nogil=True)
def flat_cross(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    upper: NDArray[Any],
    i0: int,
    s0: int,
    D: NDArray[np.float64],
    B: NDArray[Any],
    C: NDArray[Any],
    Z: NDArray[Any],
    out: NDArray[np.float64],
) -> None:
    """Add Z^T P_i to ``out`` (g, z, q, w) for the graphs from ``i0`` on and rows from ``s0`` on.

    P_i are the products of :func:`flat_kernels.flat_multiply`, which has the other arguments;
    ``Z`` (r, z) are the columns on the other side in these r rows, z a multiple of
    ``CROSS_COLUMNS``. Tile after tile for all graphs: then its rows of Z are at hand.
    """
    q, n, w = B.shape
    P = np.empty((CROSS_ROWS, q, w), B.dtype)
    for s in range(0, Z.shape[0], CROSS_ROWS):
        rows = min(CROSS_ROWS, Z.shape[0] - s)
        for g in range(out.shape[0]):
            first = (i0 + g) * n + s0 + s
            flat_multiply(data, indices, indptr, upper, first, D, B, C, P[:rows])
            for j in range(q):
                for z in range(0, Z.shape[1], CROSS_COLUMNS):
                    _add_inner(Z, s, z, P, rows, j, out, g)
