"""Rows and places of one flat CSR matrix (m * n, n), graph after graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["entries_at", "pattern", "row_numbers", "transpose_flat"]


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
    # Places of 4 bytes where the matrix has such: scipy keeps what it is given.
    small = flat.shape[0] <= np.iinfo(flat.indices.dtype).max
    index: Any = flat.indices.dtype if small else np.int64
    rows = (graph * n + flat.indices).astype(index)
    flipped = sparse.coo_array((flat.data, (rows, s.astype(index))), shape=flat.shape)
    return sparse.csr_array(flipped)


def entries_at(
    matrix: NDArray[Any] | sparse.csr_array, s: NDArray[Any], t: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the entries (s, t) of one matrix, dense or sparse, (k,)."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix[s, t], dtype=np.float64)
    if len(s) == 0:  # scipy makes something else of it
        return np.zeros(0)
    return np.asarray(sparse.csr_matrix(matrix)[s, t], dtype=np.float64).ravel()
