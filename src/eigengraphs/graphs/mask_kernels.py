"""Numba kernels that meet hidden entries: sums of masks, and distances on what is observed.

Hidden entries come as the places of a flat CSR pattern (m * n, n) in canonical form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = ["masked_dense_distances", "masked_flat_distances", "subtract_hidden"]

announce_compiling()


@njit(cache=True, nogil=True)
def subtract_hidden(
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weights: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Take sum_i c_i N_i off ``out`` (n, n), N_i being 1 at the hidden entries."""
    n = out.shape[0]
    for i in range(weights.shape[0]):
        c = weights[i]
        if c == 0.0:
            continue
        for s in range(n):
            for e in range(indptr[i * n + s], indptr[i * n + s + 1]):
                out[s, indices[e]] -= c


@njit(cache=True, nogil=True)
def masked_dense_distances(
    A: NDArray[Any],
    present: NDArray[np.bool_],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    M: NDArray[np.float64],
    scale: float,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` (m,) with ||scale (A_i - M)||^2 over the observed entries off the diagonal.

    ``A`` (m, n, n) and ``present`` (m, n) are of some graphs; ``indptr`` begins at their rows.
    """
    m, n, _ = A.shape
    for i in range(m):
        total = 0.0
        for s in range(n):
            if not present[i, s]:
                continue
            e, last = indptr[i * n + s], indptr[i * n + s + 1]
            for t in range(n):
                if e < last and indices[e] == t:
                    e += 1
                elif present[i, t] and t != s:
                    x = scale * (np.float64(A[i, s, t]) - M[s, t])
                    total += x * x
        out[i] = total


@njit(cache=True, nogil=True)
def masked_flat_distances(
    data: NDArray[Any],
    columns: NDArray[Any],
    rows: NDArray[Any],
    present: NDArray[np.bool_],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    M_data: NDArray[Any],
    M_indices: NDArray[Any],
    M_indptr: NDArray[Any],
    scale: float,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` with the same for sparse graphs, rows ``rows`` of ``data`` and ``columns``."""
    n = M_indptr.shape[0] - 1
    for i in range(out.shape[0]):
        total = 0.0
        for s in range(n):
            if not present[i, s]:
                continue
            e, e1 = rows[i * n + s], rows[i * n + s + 1]
            f, f1 = M_indptr[s], M_indptr[s + 1]
            g, g1 = indptr[i * n + s], indptr[i * n + s + 1]
            while e < e1 or f < f1:
                x = 0.0
                from_graph = f >= f1 or (e < e1 and columns[e] <= M_indices[f])
                t = columns[e] if from_graph else M_indices[f]
                if e < e1 and columns[e] == t:
                    x += data[e]
                    e += 1
                if f < f1 and M_indices[f] == t:
                    x -= M_data[f]
                    f += 1
                while g < g1 and indices[g] < t:
                    g += 1
                hidden = g < g1 and indices[g] == t
                if t != s and present[i, t] and not hidden:
                    total += (scale * x) ** 2
        out[i] = total
