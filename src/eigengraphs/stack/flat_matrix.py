"""One flat CSR matrix (m * n, n) for all graphs, graph after graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.system.parallel import on_blocks, spans

Storage: TypeAlias = "NDArray[Any] | sparse.csr_array"  # (m, n, n), or flat (m * n, n)

THREADS_PAY_FROM = 4_000_000  # entries; below, starting threads costs more than it saves


def n_stored(A: Storage) -> int:
    """Return how many entries a matrix has in CSR form."""
    return int(np.count_nonzero(A) if isinstance(A, np.ndarray) else A.nnz)


def flatten(matrices: Sequence[Storage], dtype: np.dtype[Any]) -> sparse.csr_array:
    """Return graphs (n, n) one below the other as one CSR matrix (m * n, n) in canonical form.

    Graph by graph into the final arrays: beside them, memory holds few graphs at a time.
    """
    m, n = len(matrices), matrices[0].shape[0]
    ends = np.cumsum([0, *map(n_stored, matrices)]).tolist()
    index = np.int32 if max(ends[-1], n) <= np.iinfo(np.int32).max else np.int64
    data, indices = np.empty(ends[-1], dtype), np.empty(ends[-1], index)
    indptr = np.zeros(m * n + 1, index)

    def put(i: int, _: int) -> None:
        A, mine = canonical(matrices[i]), slice(ends[i], ends[i + 1])
        data[mine], indices[mine] = A.data, A.indices
        np.add(A.indptr[1:], ends[i], out=indptr[i * n + 1 : (i + 1) * n + 1], casting="unsafe")

    threads = None if ends[-1] >= THREADS_PAY_FROM else 1
    on_blocks(put, spans(m, 1), threads=threads)
    flat = sparse.csr_array((data, indices, indptr), shape=(m * n, n))
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
