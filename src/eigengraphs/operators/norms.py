"""Squared distances of graphs from a mean graph, over observed entries off the diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.compiling import announce_compiling
from eigengraphs.operators.protocol import Array
from eigengraphs.parallel import on_blocks, spans
from eigengraphs.stack.stack import GraphStack

__all__ = ["off_diagonal_squares"]

announce_compiling()


def off_diagonal_squares(stack: GraphStack, mean: Any, scale: float) -> Array:
    """Return ||scale (A_i - M)||^2 over the observed entries off the diagonal, (m,)."""
    m, n, _ = stack.shape
    squares, mask = np.empty(m), stack.mask
    present = np.zeros((m, 0), np.bool_) if mask is None else mask.present
    gone, indptr = np.zeros(0, np.int32), np.zeros(m * n + 1, np.int32)
    if mask is not None:
        gone, indptr = mask.hidden.indices, mask.hidden.indptr
    M: Any = mean
    if stack.is_sparse:
        M = sparse.csr_array(M)
        M.sort_indices()
    elif not isinstance(M, np.ndarray):
        M = M.toarray()

    def work(lo: int, hi: int) -> None:
        hidden = (present[lo:hi], gone, indptr[lo * n : hi * n + 1])
        if not stack.is_sparse:
            _dense_squares(stack.dense[lo:hi], *hidden, M, scale, squares[lo:hi])
            return
        flat = stack.flat
        rows = flat.indptr[lo * n : hi * n + 1]
        _flat_squares(
            flat.data, flat.indices, rows, *hidden, M.data, M.indices, M.indptr, scale,
            squares[lo:hi],
        )  # fmt: skip

    on_blocks(work, spans(m, 1 + 2**20 // n**2))
    return squares


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _row_squares(x: NDArray[Any], y: Array, scale: float) -> float:
    """Return ||scale (x - y)||^2; a loop of its own, see :mod:`dense`."""
    total = 0.0
    for t in range(x.shape[0]):
        d = scale * (np.float64(x[t]) - y[t])
        total += d * d
    return total


@njit(cache=True, nogil=True)
def _dense_squares(
    A: NDArray[Any], present: NDArray[np.bool_], gone: NDArray[Any], indptr: NDArray[Any], M: Array,
    scale: float, out: Array,
) -> None:  # fmt: skip
    """Fill ``out`` (m,); ``present`` (m, 0) says that nothing is hidden."""
    m, n, _ = A.shape
    for i in range(m):
        total = 0.0
        for s in range(n):
            if present.shape[1] == 0:
                total += _row_squares(A[i, s, :s], M[s, :s], scale)
                total += _row_squares(A[i, s, s + 1 :], M[s, s + 1 :], scale)
                continue
            if not present[i, s]:
                continue
            e, last = indptr[i * n + s], indptr[i * n + s + 1]
            for t in range(n):
                if e < last and gone[e] == t:
                    e += 1
                elif present[i, t] and t != s:
                    total += (scale * (np.float64(A[i, s, t]) - M[s, t])) ** 2
        out[i] = total


@njit(cache=True, nogil=True)
def _flat_squares(
    data: NDArray[Any], columns: NDArray[Any], rows: NDArray[Any], present: NDArray[np.bool_],
    gone: NDArray[Any], indptr: NDArray[Any], M_data: Array, M_columns: NDArray[Any],
    M_rows: NDArray[Any], scale: float, out: Array,
) -> None:  # fmt: skip
    """Do the same for sparse graphs, rows ``rows`` of ``data`` and ``columns``."""
    n = M_rows.shape[0] - 1
    for i in range(out.shape[0]):
        total = 0.0
        for s in range(n):
            if present.shape[1] > 0 and not present[i, s]:
                continue
            e, e1 = rows[i * n + s], rows[i * n + s + 1]
            f, f1 = M_rows[s], M_rows[s + 1]
            g, g1 = indptr[i * n + s], indptr[i * n + s + 1]
            while e < e1 or f < f1:
                x = 0.0
                from_graph = f >= f1 or (e < e1 and columns[e] <= M_columns[f])
                t = columns[e] if from_graph else M_columns[f]
                if e < e1 and columns[e] == t:
                    x += data[e]
                    e += 1
                if f < f1 and M_columns[f] == t:
                    x -= M_data[f]
                    f += 1
                while g < g1 and gone[g] < t:
                    g += 1
                hidden = g < g1 and gone[g] == t
                if t != s and not hidden and (present.shape[1] == 0 or present[i, t]):
                    total += (scale * x) ** 2
        out[i] = total
