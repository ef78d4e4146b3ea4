"""Weighted sums of dense graphs, by groups of them: one read, on threads over vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling
from eigengraphs.parallel import on_blocks, spans

__all__ = ["group_sums"]

announce_compiling()

_CACHE_BYTES = 2**18  # of sums that are at hand while all graphs are added to them
_THREADS_PAY_FROM = 2**21  # entries


def group_sums(
    A: NDArray[Any], weights: NDArray[np.float64], groups: NDArray[np.intp], n_groups: int
) -> NDArray[np.float64]:
    """Return sum_i w_i A_i over the graphs of each group, (n_groups, n, n), in float64.

    Parameters
    ----------
    A : (m, n, n)
        Graphs.
    weights : (m,)
        Weights w_i.
    groups : (m,)
        Group of each graph, from 0.
    n_groups
        Number of groups.
    """
    n = A.shape[1]
    sums = np.zeros((n_groups, n, n))

    def work(lo: int, hi: int) -> None:
        add_rows(A, weights, groups, lo, hi, sums)

    threads = None if A.size >= _THREADS_PAY_FROM else 1
    on_blocks(work, spans(n, _CACHE_BYTES // (8 * n * n_groups)), threads=threads)
    return sums


@njit(cache=True, nogil=True)
def add_rows(
    A: NDArray[Any],
    weights: NDArray[np.float64],
    groups: NDArray[np.intp],
    lo: int,
    hi: int,
    out: NDArray[np.float64],
) -> None:
    """Add rows lo to hi of w_i A_i to those of ``out[groups[i]]``, for ``A`` (m, n, n)."""
    for i in range(A.shape[0]):
        w, total = weights[i], out[groups[i]]
        if w == 0.0:
            continue
        for s in range(lo, hi):
            row, place = A[i, s], total[s]
            for t in range(row.shape[0]):
                place[t] += w * row[t]
