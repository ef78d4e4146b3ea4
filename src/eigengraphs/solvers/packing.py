"""Symmetric matrices as vectors of their lower triangle, with inner products kept."""

from __future__ import annotations

import numpy as np

from eigengraphs.solvers.protocol import Array

__all__ = ["Packing"]


class Packing:
    """Pack symmetric (s, s) matrices into vectors of p = s (s + 1) / 2 entries.

    Entries off the diagonal are multiplied by sqrt(2), so that <C, D> is the inner product of
    the packed vectors, and a unit vector y has a packed y y^T of norm 1.
    """

    def __init__(self, s: int) -> None:
        self._s = s
        self._rows, self._columns = np.tril_indices(s)
        self._factor = np.where(self._rows == self._columns, 1.0, np.sqrt(2.0))

    @property
    def size(self) -> int:
        """Length p of a packed matrix."""
        return len(self._rows)

    def pack(self, C: Array) -> Array:
        """Return packed matrices, (..., p), of ``C`` (..., s, s)."""
        packed: Array = C[..., self._rows, self._columns] * self._factor
        return packed

    def unpack(self, Z: Array) -> Array:
        """Return matrices, (..., s, s), of packed ones ``Z`` (..., p)."""
        C = np.empty((*Z.shape[:-1], self._s, self._s))
        values = Z / self._factor
        C[..., self._rows, self._columns] = values
        C[..., self._columns, self._rows] = values
        return C

    def outer(self, Y: Array) -> Array:
        """Return packed y y^T, (b, p), for the rows y of ``Y`` (b, s)."""
        packed: Array = Y[:, self._rows] * Y[:, self._columns] * self._factor
        return packed
