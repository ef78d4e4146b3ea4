"""Rows and places of one flat CSR matrix (m * n, n), graph after graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["pattern", "row_numbers", "transpose_flat"]


def pattern(flat: Any) -> sparse.csr_array:
    """Return a matrix that is True at the nonzero entries, in canonical form."""
    where = sparse.csr_array(flat.astype(np.bool_, copy=True))
    where.sum_duplicates()
    where.eliminate_zeros()
    return where


def row_numbers(flat: sparse.csr_array) -> NDArray[np.int64]:
    """Return the row of each stored entry."""
    return np.repeat(np.arange(flat.shape[0], dtype=np.int64), np.diff(flat.indptr))


def transpose_flat(flat: sparse.csr_array) -> sparse.csr_array:
    """Return the transposed graphs of a flat matrix (m * n, n)."""
    n = flat.shape[1]
    graph, s = np.divmod(row_numbers(flat), n)
    flipped = sparse.coo_array((flat.data, (graph * n + flat.indices, s)), shape=flat.shape)
    return sparse.csr_array(flipped)
