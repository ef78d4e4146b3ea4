"""One flat CSR matrix (m * n, n) for all graphs, graph after graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Storage: TypeAlias = "NDArray[Any] | sparse.csr_array"  # (m, n, n), or flat (m * n, n)

THREADS_PAY_FROM = 4_000_000  # entries; below, starting threads costs more than it saves


def n_stored(A: Storage) -> int:
    """Return how many entries a matrix has in CSR form."""
    return int(np.count_nonzero(A) if isinstance(A, np.ndarray) else A.nnz)


def flatten(matrices: Sequence[Storage], dtype: np.dtype[Any]) -> sparse.csr_array:
    """Return graphs (n, n), or flat ones, one below the other as a new CSR matrix, canonical."""
    below = sparse.vstack([canonical(A) for A in matrices], format="csr")
    flat: sparse.csr_array = sparse.csr_array(below).astype(dtype, copy=False)
    flat.has_canonical_format = True
    return flat


def canonical(matrix: Any) -> sparse.csr_array:
    """Return sorted columns in each row, without repeated entries or stored zeros.

    A copy where something has to be changed: the arrays given may be of a user, or of a stack.
    """
    flat = matrix if isinstance(matrix, sparse.csr_array) else sparse.csr_array(matrix)
    if not flat.has_canonical_format:
        flat = flat.copy()
        flat.sum_duplicates()
    if not flat.data.all():
        flat = flat.copy()
        flat.eliminate_zeros()
    return flat


def with_data(flat: sparse.csr_array, data: NDArray[Any]) -> sparse.csr_array:
    """Return a matrix with other values at the stored entries; zeros among them are not stored."""
    return canonical(sparse.csr_array((data, flat.indices, flat.indptr), shape=flat.shape))


def pattern(flat: Any) -> sparse.csr_array:
    """Return a matrix that is True at the nonzero entries, in canonical form."""
    return canonical(flat.astype(np.bool_))


def row_numbers(flat: sparse.csr_array) -> NDArray[np.int64]:
    """Return the row of each stored entry."""
    return np.repeat(np.arange(flat.shape[0], dtype=np.int64), np.diff(flat.indptr))


def transpose_flat(flat: sparse.csr_array) -> sparse.csr_array:
    """Return the transposed graphs of a flat matrix (m * n, n)."""
    rows, n = flat.shape
    # Places of 4 bytes where the matrix has such: scipy keeps what it is given.
    small = rows <= np.iinfo(flat.indices.dtype).max
    first = np.arange(rows, dtype=flat.indices.dtype if small else np.int64) // n * n
    # As blocks of one large matrix, graph beside graph, of which scipy counts the columns.
    places = flat.indices + np.repeat(first, np.diff(flat.indptr))
    large = sparse.csr_array((flat.data, places, flat.indptr), shape=(rows, rows)).tocsc()
    columns = large.indices - np.repeat(first, np.diff(large.indptr))
    return sparse.csr_array((large.data, columns, large.indptr), shape=flat.shape)
