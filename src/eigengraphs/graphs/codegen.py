"""What the intrinsics of kernels have in common: arguments, vectors and loops in LLVM's terms."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

__all__ = ["INT32", "INT64", "Arguments", "prefetch", "vector_of_bytes"]

INT64, INT32 = ir.IntType(64), ir.IntType(32)


class Arguments:
    """The arguments of an intrinsic, by their places."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self._context, self._builder = context, builder
        self._kinds, self._args = signature.args, args

    def pointer(self, place: int) -> Any:
        """Return the address of the first element of an array."""
        array = self._context.make_array(self._kinds[place])
        return array(self._context, self._builder, self._args[place]).data

    def whole(self, place: int) -> Any:
        """Return an integer of 64 bits."""
        args, kinds = self._args, self._kinds
        return self._context.cast(self._builder, args[place], kinds[place], types.int64)


def vector_of_bytes(dtype: Any, width: int) -> ir.VectorType:
    """Return the type of a vector of floats that is this many bytes wide."""
    bits = {types.float32: ir.FloatType(), types.float64: ir.DoubleType()}
    return ir.VectorType(bits[dtype], 8 * width // dtype.bitwidth)


def prefetch(builder: Any, where: Any) -> None:
    """Ask for the line of the cache at this address, which need not exist."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
    ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    flags = [ir.Constant(INT32, x) for x in (0, 3, 1)]  # to read, for long, data
    builder.call(ask, [builder.bitcast(where, byte), *flags])
