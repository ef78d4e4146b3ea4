"""A line of the cache as one value in numba kernels, so that running sums stay in registers.

Numba keeps a running sum of several columns in memory, and LLVM may not move it to registers, as
arrays may overlap. A value of type ``Line`` is 64 bytes of floats, one or two registers. Without
the compiler (``NUMBA_DISABLE_JIT=1``) it is a small array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

__all__ = [
    "LINE_BYTES", "add_product", "add_six", "empty_lines", "fetch", "in_lines", "line_at",
    "number_at", "put", "put_sum", "zero_line",
]  # fmt: skip

LINE_BYTES = 64


def in_lines(B: NDArray[Any]) -> NDArray[Any]:
    """Return columns (n, b) as (q, n, w), w of them a line of the cache, with zeros behind them."""
    (n, b), w = B.shape, LINE_BYTES // B.itemsize
    q = max(1, -(-b // w))
    lines = empty_lines(q, n, B.dtype)
    for j, slab in enumerate(lines):
        part = B[:, j * w : (j + 1) * w]
        slab[:, : part.shape[1]] = part
        slab[:, part.shape[1] :] = 0
    return lines


def empty_lines(rows: int, columns: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array (rows, columns, w), the last axis one line of the cache, not parts of two."""
    size = rows * columns * LINE_BYTES
    raw = np.empty(size + LINE_BYTES, np.uint8)
    first = -raw.ctypes.data % LINE_BYTES
    return raw[first : first + size].view(dtype).reshape(rows, columns, -1)


class _Line(types.Type):
    """The type of a line of float32 or float64."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Line({dtype})")


@register_model(_Line)
class _LineModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        make: Any = super().__init__
        make(manager, kind, _vector(kind.dtype))


def _vector(dtype: Any) -> ir.VectorType:
    number = {types.float32: ir.FloatType(), types.float64: ir.DoubleType()}[dtype]
    return ir.VectorType(number, 8 * LINE_BYTES // dtype.bitwidth)


def _splat(builder: Any, vector: ir.VectorType, x: Any) -> Any:
    """Return a vector all of whose elements are ``x``."""
    whole = ir.IntType(32)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), x, ir.Constant(whole, 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(whole, vector.count), None))


def _address(context: Any, builder: Any, signature: Any, args: Any, kind: Any) -> Any:
    """Return where element ``place`` (argument 1) of ``array`` (argument 0) is, as of a kind."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    place = context.cast(builder, args[1], signature.args[1], types.int64)
    return builder.bitcast(builder.gep(array.data, [place]), kind.as_pointer())


def _zero_line(_typing: Any, array: Any) -> Any:
    def codegen(_context: Any, _builder: Any, _signature: Any, _args: Any) -> Any:
        return ir.Constant(_vector(array.dtype), None)

    return _Line(array.dtype)(array), codegen


def _line_at(_typing: Any, array: Any, place: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        where = _address(context, builder, signature, args, _vector(array.dtype))
        return builder.load(where, align=array.dtype.bitwidth // 8)  # numpy promises no more

    return _Line(array.dtype)(array, place), codegen


def _number_at(_typing: Any, array: Any, place: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(array.dtype)
        return builder.load(_address(context, builder, signature, args, kind))

    return array.dtype(array, place), codegen


def _add_product(_typing: Any, total: Any, line: Any, factor: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x = context.cast(builder, args[2], signature.args[2], total.dtype)
        term = builder.fmul(args[1], _splat(builder, _vector(total.dtype), x), flags=("contract",))
        return builder.fadd(args[0], term, flags=("contract",))

    return total(total, line, factor), codegen


def _put(_typing: Any, array: Any, place: Any, line: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        where = _address(context, builder, signature, args, _vector(array.dtype))
        builder.store(args[2], where, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, place, line), codegen


def _put_sum(_typing: Any, array: Any, place: Any, line: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        narrow = _vector(line.dtype)
        wide = ir.VectorType(_vector(array.dtype).element, narrow.count)
        where = _address(context, builder, signature, args, wide)
        more = args[2] if wide == narrow else builder.fpext(args[2], wide)
        align = array.dtype.bitwidth // 8
        builder.store(builder.fadd(builder.load(where, align=align), more), where, align=align)
        return context.get_dummy_value()

    return types.void(array, place, line), codegen


def _fetch(_typing: Any, array: Any, place: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, whole = ir.IntType(8), ir.IntType(32)
        where = _address(context, builder, signature, args, byte)
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), whole, whole, whole])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte.as_pointer()], kind)
        builder.call(ask, [where, *(ir.Constant(whole, x) for x in (0, 3, 1))])  # to read, for long
        return context.get_dummy_value()

    return types.void(array, place), codegen


class _Plain:
    """The same in plain Python."""

    @staticmethod
    def zero_line(array: Any) -> Any:
        return np.zeros(LINE_BYTES // array.itemsize, array.dtype)

    @staticmethod
    def line_at(array: Any, place: int) -> Any:
        return array[place : place + LINE_BYTES // array.itemsize].copy()

    @staticmethod
    def number_at(array: Any, place: int) -> Any:
        return array[place]

    @staticmethod
    def add_product(total: Any, line: Any, factor: Any) -> Any:
        return total + line * total.dtype.type(factor)

    @staticmethod
    def put(array: Any, place: int, line: Any) -> None:
        array[place : place + len(line)] = line

    @staticmethod
    def put_sum(array: Any, place: int, line: Any) -> None:
        array[place : place + len(line)] += line

    @staticmethod
    def fetch(array: Any, place: int) -> None:
        pass


def _function(name: str, compiled: Any) -> Any:
    return getattr(_Plain, name) if vars(config)["DISABLE_JIT"] else intrinsic(compiled)


# zero_line(array): a line of zeros in the type of the array.
zero_line = _function("zero_line", _zero_line)
# line_at(array, place): the line of a flat array from a place on, never counted from its end.
line_at = _function("line_at", _line_at)
# number_at(array, place): an element of a flat array, without a look at whether it is there.
number_at = _function("number_at", _number_at)
# add_product(total, line, factor): total + factor * line, rounded once or twice.
add_product = _function("add_product", _add_product)
# put(array, place, line): write a line to a flat array; put_sum: add it, in the type of the array.
put, put_sum = _function("put", _put), _function("put_sum", _put_sum)
# fetch(array, place): ask for the line of the cache with an element, or with what lies behind.
fetch = _function("fetch", _fetch)


@njit(cache=True, nogil=True, forceinline=True)
def add_six(
    F: NDArray[Any], a: int, n: int, count: int, ahead: int, B: NDArray[Any], y: int, c: int,
    d: int, out: NDArray[Any], o: int, width: int, rows: int,
) -> None:  # fmt: skip
    """Add sum_t B[y + t c + k d] F[a + t n :] to out[o + k width :], for k < 6 and k < rows."""
    s0 = s1 = s2 = s3 = s4 = s5 = zero_line(F)
    for _ in range(count):
        fetch(F, a + ahead)
        line = line_at(F, a)
        s0 = add_product(s0, line, number_at(B, y))
        s1 = add_product(s1, line, number_at(B, y + d))
        s2 = add_product(s2, line, number_at(B, y + 2 * d))
        s3 = add_product(s3, line, number_at(B, y + 3 * d))
        s4 = add_product(s4, line, number_at(B, y + 4 * d))
        s5 = add_product(s5, line, number_at(B, y + 5 * d))
        a += n
        y += c
    # Sums of chunks, and their sum: fewer roundings pile up than along all of the rows.
    put_sum(out, o, s0)
    put_sum(out, o + width, s1)
    put_sum(out, o + 2 * width, s2)
    put_sum(out, o + 3 * width, s3)
    put_sum(out, o + 4 * width, s4)
    if rows > 5:
        put_sum(out, o + 5 * width, s5)
