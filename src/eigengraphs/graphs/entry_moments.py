"""Sums over the entries of many small graphs: sum_i w_i c_i c_i^T and sum_i w_i c_i.

c_i is the lower triangle of a treated graph, row by row, (p,) with p = n (n + 1) / 2. The numbers
do not depend on how many threads find them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from eigengraphs.graphs.entry_kernels import dense_entries, flat_entries
from eigengraphs.graphs.treated import Vector
from eigengraphs.parallel import on_blocks, spans

__all__ = ["Entries", "moment_of_entries", "triangle"]

Array = NDArray[np.float64]

_BATCH = 512  # graphs that are added up at a time: a few do not pay for p^2 numbers
_TASK_BATCHES = 2  # in one task of a thread
_SMALL_SUM = 2**22  # bytes of p^2 numbers of which every task may have its own
_THREADS_PAY_FROM = 2**26  # products of two numbers


@dataclass(frozen=True)
class Entries:
    """Graphs c_i = scale (a_i + D_i - mu), by their entries.

    Attributes
    ----------
    storage
        Dense (m, n, n), or one flat CSR matrix (m n, n).
    D : (m, n), optional
        What the treatment adds to diagonals.
    mu : (p,)
        What it takes off all graphs.
    scale
        Factor on what is left.
    """

    storage: NDArray[Any] | sparse.csr_array
    D: Array | None
    mu: Vector
    scale: float

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return int(self.storage.shape[0]) // (1 if self._is_dense else self.n_vertices)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return int(self.storage.shape[-1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the graphs."""
        return np.dtype(self.storage.dtype)

    @property
    def _is_dense(self) -> bool:
        return isinstance(self.storage, np.ndarray)

    def fill(self, lo: int, hi: int, out: Array) -> None:
        """Fill ``out`` (hi - lo, p) with the entries of some graphs."""
        D = np.zeros((0, self.n_vertices)) if self.D is None else self.D[lo:hi]
        if isinstance(self.storage, np.ndarray):
            dense_entries(self.storage[lo:hi], D, self.mu, self.scale, out)
            return
        flat = self.storage
        flat_entries(flat.data, flat.indices, flat.indptr, lo, D, self.mu, self.scale, out)


def _threads(operations: int) -> int | None:
    """Return how many threads so much work is worth: all, or one."""
    return None if operations >= _THREADS_PAY_FROM else 1


def moment_of_entries(entries: Entries, weights: Vector) -> tuple[Array, Vector]:
    """Return sum_i w_i c_i c_i^T, (p, p), of which the upper triangle is filled, and sum_i w_i c_i.

    The first is in Fortran's order.
    """
    m, p = entries.n_graphs, len(entries.mu)
    M, mean = np.zeros((p, p), order="F"), np.zeros(p)
    each_its_own = M.nbytes <= _SMALL_SUM

    def weighted(lo: int, hi: int) -> tuple[Array, Vector]:
        C = np.empty((hi - lo, p))
        entries.fill(lo, hi, C)
        w = weights[lo:hi]
        total = w @ C
        if (w != 1).any():
            C *= np.sqrt(w)[:, None]
        return C, total

    if each_its_own:

        def work(lo: int, hi: int) -> tuple[Array, Vector]:
            squares, total = np.zeros((p, p)), np.zeros(p)
            for first, last in spans(hi - lo, _BATCH):
                C, part = weighted(lo + first, lo + last)
                squares += C.T @ C  # BLAS fills one triangle, and lets other threads run
                total += part
            return squares, total

        def gather(found: tuple[Array, Vector]) -> None:
            np.add(M, found[0], out=M)
            np.add(mean, found[1], out=mean)

        step = _TASK_BATCHES * _BATCH
    else:  # a large sum, and one: threads fill in the entries

        def work(lo: int, hi: int) -> tuple[Array, Vector]:
            return weighted(lo, hi)

        def gather(found: tuple[Array, Vector]) -> None:
            linalg.blas.dsyrk(1.0, found[0].T, beta=1.0, c=M, lower=0, overwrite_c=1)
            np.add(mean, found[1], out=mean)

        step = _BATCH
    on_blocks(work, spans(m, step), gather, threads=_threads(m * p * p))
    return M, mean


@lru_cache(maxsize=16)
def triangle(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the entries of a lower triangle, (p,) each: many ask for them."""
    rows, columns = np.tril_indices(n)
    for part in (rows, columns):
        part.setflags(write=False)
    return rows, columns
