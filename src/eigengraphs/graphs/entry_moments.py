"""Sums over the entries of many small graphs: sum_i w_i c_i c_i^T and sum_i w_i c_i.

c_i is the lower triangle of a treated graph, row by row, (p,) with p = n (n + 1) / 2. The numbers
do not depend on how many threads find them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from eigengraphs.graphs.entry_kernels import (
    WORD,
    bit_forms,
    count_common,
    dense_bits,
    dense_entries,
    flat_bits,
    flat_entries,
)
from eigengraphs.graphs.treated import DiagonalRule, Vector
from eigengraphs.parallel import on_blocks, spans

__all__ = ["Entries", "forms_of_bits", "moment_of_counts", "moment_of_entries", "triangle"]

Array = NDArray[np.float64]

_BATCH = 512  # graphs that are added up at a time: a few do not pay for p^2 numbers
_TASK_BATCHES = 2  # in one task of a thread
_SMALL_SUM = 2**22  # bytes of p^2 numbers of which every task may have its own
_THREADS_PAY_FROM = 2**26  # products of two numbers
_BITS_PAY_FROM = 2**22  # entries: threads take as long to begin as bits of fewer to pack
_BIT_TASK = 8 * WORD  # graphs whose bits one thread packs at a time
_COUNT_TASKS = 16
_MOST_CENTRED = 2**26  # graphs: squares of their number are whole numbers in a float64
_ROUNDINGS = 1000  # that a mean of zeros and ones may be off, in the type of the graphs


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

    def bits(self) -> NDArray[np.uint64]:
        """Return which entries of the graphs, as they are stored, differ from zero.

        (p, ceil(m / 64)), a bit a graph.
        """
        m, p = self.n_graphs, len(self.mu)
        words = np.empty((p, -(-m // WORD)), dtype=np.uint64)

        def work(lo: int, hi: int) -> None:
            mine = words[:, lo // WORD : -(-hi // WORD)]
            if isinstance(self.storage, np.ndarray):
                dense_bits(self.storage[lo:hi], mine)
            else:
                flat_bits(self.storage.indices, self.storage.indptr, lo, hi - lo, mine)

        threads = None if m * p >= _BITS_PAY_FROM else 1
        on_blocks(work, spans(m, _BIT_TASK), threads=threads)
        return words


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


def moment_of_counts(
    entries: Entries, bits: NDArray[np.uint64], rule: DiagonalRule, weight: float
) -> tuple[Array, Vector] | None:
    """Return what :func:`moment_of_entries` does, of graphs of zeros and ones that weigh the same.

    Two entries are 1 together in as many graphs as their bits have in common: 64 graphs a step, and
    no rounding. ``bits`` are those of the entries. None if something else than the mean of these
    graphs is taken off them.
    """
    m, n = entries.n_graphs, entries.n_vertices
    M = _common_counts(bits)
    mean = M.diagonal().copy()
    diagonal = np.arange(n) * np.arange(3, n + 3) // 2
    if entries.mu.any():
        apart = mean / m - entries.mu
        if rule != "observed":
            apart[diagonal] = 0.0
        if m > _MOST_CENTRED or np.abs(apart).max() > _ROUNDINGS * np.finfo(entries.dtype).eps:
            return None
        # sum_i (c_i - mean) (c_i - mean)^T = (m N - n n^T) / m: whole numbers before they differ.
        M *= m
        M -= np.outer(mean, mean)
        M /= m
        mean[:] = 0.0
    if rule != "observed":
        _replace_diagonal(M, mean, diagonal, rule)
    M *= weight * entries.scale**2
    mean *= weight * entries.scale
    return M, mean


def forms_of_bits(bits: NDArray[np.uint64], H: Array, n_graphs: int) -> Array:
    """Return h_k^T A_i h_k, (m, d), of graphs of zeros and ones with these bits, (p, w)."""
    rows, columns = triangle(len(H))
    HT = np.ascontiguousarray(H.T)
    X = HT[:, rows] * HT[:, columns]
    X *= 2.0 - (rows == columns)  # an entry stands for its mirror image, too
    forms = np.empty((n_graphs, H.shape[1]))
    bit_forms(bits, X, forms)
    return forms


@lru_cache(maxsize=16)
def triangle(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the entries of a lower triangle, (p,) each: many ask for them."""
    rows, columns = np.tril_indices(n)
    for part in (rows, columns):
        part.setflags(write=False)
    return rows, columns


def _replace_diagonal(
    M: Array, mean: Vector, diagonal: NDArray[np.intp], rule: DiagonalRule
) -> None:
    """Make the sums those of graphs whose diagonals are zero, or the means of their rows."""
    M[diagonal] = 0.0
    M[:, diagonal] = 0.0
    mean[diagonal] = 0.0
    n, p = len(diagonal), len(mean)
    if rule == "hollow" or n == 1:
        return
    T = np.zeros((n, p))  # what a diagonal entry is made of
    for side in triangle(n):
        T[side, np.arange(p)] = 1 / (n - 1)
    T[:, diagonal] = 0.0
    filled = T @ np.triu(M) + T @ np.triu(M, 1).T
    M[:, diagonal] = filled.T
    M[diagonal] = filled
    M[np.ix_(diagonal, diagonal)] = filled @ T.T
    mean[diagonal] = T @ mean


def _common_counts(words: NDArray[np.uint64]) -> Array:
    """Return the upper triangle of how many bits the rows of ``words`` (p, w) share, (p, p)."""
    p, w = words.shape
    counts, threads = np.zeros((p, p)), _threads(p * p * w)
    # Rows of a triangle: as many numbers in each task.
    n_tasks = 1 if threads == 1 else _COUNT_TASKS
    ends = np.round(p * np.sqrt(np.linspace(0, 1, n_tasks + 1))).astype(int).tolist()

    def work(lo: int, hi: int) -> None:
        count_common(words, lo, hi, counts)

    on_blocks(work, pairwise(ends), threads=threads)
    return counts.T  # the lower triangle by rows is the upper one by columns
