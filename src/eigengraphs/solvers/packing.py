"""Symmetric matrices as vectors of their lower triangle, with inner products kept."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.core_kernels import pack_last, pack_outer, packed_multiply
from eigengraphs.solvers.moment_kernels import unpack_all
from eigengraphs.solvers.protocol import Array

__all__ = ["Packer", "Packing"]


class Packer(Protocol):
    """Matrices as vectors, of one kind or another, and points as components of that kind."""

    @property
    def size(self) -> int:
        """Length p of a packed matrix."""
        ...

    def pack(self, C: Array) -> Array:
        """Return packed matrices, (..., p)."""
        ...

    def outer(self, Y: Array) -> Array:
        """Return packed components, (b, p), of norm 1, for points, the rows of ``Y``."""
        ...

    def rough_outer(self, Y: Array) -> NDArray[np.float32]:
        """Return the same in float32."""
        ...


class Packing:
    """Pack symmetric (s, s) matrices into vectors of p = s (s + 1) / 2 entries, row by row.

    Entries off the diagonal are multiplied by sqrt(2), so that <C, D> is the inner product of
    the packed vectors, and a unit vector y has a packed y y^T of norm 1. A larger matrix
    begins with the entries of its upper left corner.
    """

    def __init__(self, s: int) -> None:
        self._s = s
        self._rows, self._columns, self._factor = _triangle(s)

    @property
    def order(self) -> int:
        """Number s of rows of a matrix."""
        return self._s

    @property
    def size(self) -> int:
        """Length p of a packed matrix."""
        return len(self._rows)

    @property
    def diagonal(self) -> NDArray[np.intp]:
        """Places of the diagonal entries in a packed matrix, (s,)."""
        return np.flatnonzero(self._rows == self._columns)

    def scale_moment(self, M: Array, mean: Array) -> None:
        """Turn sums of c_i c_i^T and of c_i over lower triangles c_i into those of packed ones."""
        M *= self._factor
        M *= self._factor[:, None]
        mean *= self._factor

    def pack(self, C: Array) -> Array:
        """Return packed matrices, (..., p), of ``C`` (..., s, s)."""
        packed: Array = C[..., self._rows, self._columns] * self._factor
        return packed

    def pack_last_rows(self, C: Array) -> Array:
        """Return what packed matrices have beyond their corner, of ``C`` (m, s, b).

        ``C`` holds the last b columns of symmetric matrices; their square part is made symmetric,
        which it is but for rounding.
        """
        m, s, b = C.shape
        packed: Array = np.empty((m, self.size - (s - b) * (s - b + 1) // 2))
        pack_last(np.ascontiguousarray(C, dtype=np.float64), packed)
        return packed

    def unpack(self, Z: Array) -> Array:
        """Return matrices, (..., s, s), of packed ones ``Z`` (..., p)."""
        C: Array = np.empty((*Z.shape[:-1], self._s, self._s))
        rows = np.ascontiguousarray(Z).reshape(-1, self.size)
        unpack_all(rows, C.reshape(-1, self._s, self._s))
        return C

    def outer(self, Y: Array) -> Array:
        """Return packed y y^T, (b, p), for the rows y of ``Y`` (b, s)."""
        packed: Array = np.empty((len(Y), self.size))
        pack_outer(np.ascontiguousarray(Y), packed)
        return packed

    def rough_outer(self, Y: Array) -> NDArray[np.float32]:
        """Return the same in float32."""
        packed: NDArray[np.float32] = np.empty((len(Y), self.size), dtype=np.float32)
        pack_outer(np.ascontiguousarray(Y), packed)
        return packed

    def multiply(self, Z: Array, Y: Array) -> Array:
        """Return S_i y_i, (b, s), for packed matrices ``Z`` (b, p) and the rows of ``Y`` (b, s)."""
        products: Array = np.empty((len(Y), self._s))
        packed_multiply(np.ascontiguousarray(Z), np.ascontiguousarray(Y), products)
        return products


@lru_cache(maxsize=16)
def _triangle(s: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return rows, columns and factors of the packed entries, each (p,): many ask for the same."""
    rows, columns = np.tril_indices(s)
    factor = np.where(rows == columns, 1.0, np.sqrt(2.0))
    for part in (rows, columns, factor):
        part.setflags(write=False)
    return rows, columns, factor
