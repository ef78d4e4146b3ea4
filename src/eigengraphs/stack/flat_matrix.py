"""One flat CSR matrix (m * n, n) for all graphs, graph after graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.system.parallel import on_blocks, spans

__all__ = ["THREADS_PAY_FROM", "canonical", "flatten", "pattern", "row_numbers", "transpose_flat"]

THREADS_PAY_FROM = 4_000_000  # entries; below, starting threads costs more than it saves


def flatten(
    matrices: Sequence[NDArray[Any] | sparse.csr_array], dtype: np.dtype[Any]
) -> sparse.csr_array:
    """Return graphs (n, n) one below the other as one CSR matrix (m * n, n) in canonical form.

    Graph by graph into the final arrays: beside them, memory holds one graph at a time.
    """
    m, n = len(matrices), matrices[0].shape[0]
    room = sum(np.count_nonzero(A) if isinstance(A, np.ndarray) else int(A.nnz) for A in matrices)
    index = np.int32 if max(room, n) <= np.iinfo(np.int32).max else np.int64
    data, indices = np.empty(room, dtype), np.empty(room, index)
    indptr = np.zeros(m * n + 1, index)

    def put(i: int, A: sparse.csr_array, first: int) -> int:
        end = first + int(A.nnz)
        data[first:end], indices[first:end] = A.data, A.indices
        np.add(A.indptr[1:], first, out=indptr[i * n + 1 : (i + 1) * n + 1], casting="unsafe")
        return end

    ready = [A for A in matrices if isinstance(A, sparse.csr_array) and A.has_canonical_format]
    if len(ready) == m:
        starts = np.cumsum([0, *(int(A.nnz) for A in ready)]).tolist()
        filled = starts[-1]
        threads = None if room >= THREADS_PAY_FROM else 1
        on_blocks(lambda i, _: put(i, ready[i], starts[i]), spans(m, 1), threads=threads)
    else:
        filled = 0
        for i, matrix in enumerate(matrices):
            A = sparse.csr_array(matrix)
            if not A.has_canonical_format:
                A = A.copy()  # sum_duplicates works in place, and the input is not ours
                A.sum_duplicates()
            filled = put(i, A, filled)
    flat = sparse.csr_array((data[:filled], indices[:filled], indptr), shape=(m * n, n))
    flat.has_canonical_format = True
    return flat


def canonical(matrix: Any) -> sparse.csr_array:
    """Return a copy with sorted columns in each row, without repeated entries or stored zeros."""
    flat = sparse.csr_array(matrix, copy=True)
    flat.sum_duplicates()
    flat.eliminate_zeros()
    return flat


def pattern(flat: Any) -> sparse.csr_array:
    """Return a matrix that is True at the nonzero entries, in canonical form."""
    return canonical(flat.astype(np.bool_))


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
