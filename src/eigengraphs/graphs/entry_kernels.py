"""Numba kernels on the entries of many small graphs: their lower triangles, row by row.

A graph on n vertices has p = n (n + 1) / 2 of these entries, entry (s, t), t <= s, being the
s (s + 1) / 2 + t th. Dense graphs come as ``A`` (b, n, n), sparse ones as the arrays of one flat
CSR matrix, as in :mod:`kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from eigengraphs.compiling import announce_compiling

__all__ = [
    "WORD",
    "bit_forms",
    "count_common",
    "dense_bits",
    "dense_entries",
    "dense_forms",
    "flat_bits",
    "flat_entries",
    "lower_words",
    "set_bits",
]

announce_compiling()

WORD = 64  # graphs in a word of bits


def _count_bits(_context: Any, _word: Any) -> Any:
    """Return the type and the code of the number of bits of a word that are 1."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = ir.IntType(64)
        ctpop = builder.module.declare_intrinsic("llvm.ctpop", [kind])
        return builder.call(ctpop, args)

    return types.uint64(types.uint64), codegen


_n_bits: Any = intrinsic(_count_bits)


@njit(cache=True, nogil=True)
def dense_entries(
    A: NDArray[Any],
    D: NDArray[np.float64],
    mu: NDArray[np.float64],
    scale: float,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` (b, p) with the entries of scale (A_i + Diag(D_i) - M).

    ``D`` is (b, n) or (0, n), which adds nothing; ``mu`` (p,) holds the entries of M.
    """
    b, n, _ = A.shape
    for i in range(b):
        first = 0
        for s in range(n):
            row, place, centre = A[i, s], out[i, first : first + s + 1], mu[first:]
            for t in range(s + 1):
                place[t] = scale * (np.float64(row[t]) - centre[t])
            if len(D):
                place[s] = scale * (np.float64(row[s]) + D[i, s] - centre[s])
            first += s + 1


@njit(cache=True, nogil=True)
def flat_entries(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    first: int,
    D: NDArray[np.float64],
    mu: NDArray[np.float64],
    scale: float,
    out: NDArray[np.float64],
) -> None:
    """Fill ``out`` (b, p) as :func:`dense_entries` does, with the graphs from ``first`` on."""
    b, p = out.shape
    n = (int(np.sqrt(8 * p + 1)) - 1) // 2
    for i in range(b):
        place = out[i]
        for j in range(p):
            place[j] = -mu[j]
        for s in range(n):
            row, corner = (first + i) * n + s, s * (s + 1) // 2
            for e in range(indptr[row], indptr[row + 1]):
                if indices[e] > s:
                    break
                place[corner + indices[e]] += data[e]
            if len(D):
                place[corner + s] += D[i, s]
        for j in range(p):
            place[j] *= scale


@njit(cache=True, nogil=True)
def set_bits(entries: NDArray[Any], bit: Any, words: NDArray[np.uint64]) -> None:
    """Set a bit of the words of those entries, (q,) both, that differ from zero."""
    for j in range(words.shape[0]):
        words[j] |= np.uint64(entries[j] != 0.0) << bit


@njit(cache=True, nogil=True)
def dense_bits(A: NDArray[Any], out: NDArray[np.uint64]) -> None:
    """Fill ``out`` (p, ceil(b / WORD)): a bit a graph, whether the entry differs from zero."""
    b, n, _ = A.shape
    words = np.empty(n * n, dtype=np.uint64)  # of all entries: rows of a triangle are short
    for w in range(out.shape[1]):
        words[:] = np.uint64(0)
        for i in range(w * WORD, min(b, (w + 1) * WORD)):
            set_bits(A[i].reshape(n * n), np.uint64(i - w * WORD), words)
        lower_words(words, n, out[:, w])


@njit(cache=True, nogil=True)
def lower_words(words: NDArray[np.uint64], n: int, out: NDArray[np.uint64]) -> None:
    """Fill ``out`` (p,) with the words, of all (n^2,), of the entries of the lower triangle."""
    first = 0
    for s in range(n):
        for t in range(s + 1):
            out[first + t] = words[s * n + t]
        first += s + 1


@njit(cache=True, nogil=True)
def flat_bits(
    indices: NDArray[Any], indptr: NDArray[Any], first: int, b: int, out: NDArray[np.uint64]
) -> None:
    """Fill ``out`` as :func:`dense_bits` does, with b graphs from ``first`` on."""
    p = out.shape[0]
    n = (int(np.sqrt(8 * p + 1)) - 1) // 2
    out[:] = np.uint64(0)
    for i in range(b):
        w, bit = i // WORD, np.uint64(1) << np.uint64(i % WORD)
        for s in range(n):
            row, corner = (first + i) * n + s, s * (s + 1) // 2
            for e in range(indptr[row], indptr[row + 1]):
                if indices[e] > s:
                    break
                out[corner + indices[e], w] |= bit


@njit(cache=True, nogil=True)
def count_common(words: NDArray[np.uint64], lo: int, hi: int, counts: NDArray[np.float64]) -> None:
    """Fill ``counts[lo:hi]`` (p, p): bits that the words (p, w) of two entries have in common.

    The lower triangle alone.
    """
    for j in range(lo, hi):
        mine = words[j]
        for k in range(j + 1):
            other, total = words[k], np.uint64(0)
            for w in range(mine.shape[0]):
                total += _n_bits(mine[w] & other[w])
            counts[j, k] = total


@njit(cache=True, nogil=True)
def bit_forms(words: NDArray[np.uint64], X: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Fill ``out`` (m, d) with sum_j X_kj over the entries j of a graph that are 1.

    ``words`` is (p, w), a bit a graph, and ``X`` (d, p).
    """
    m, d = out.shape
    sums = np.empty((d, WORD))
    for w in range(words.shape[1]):
        sums[:] = 0.0
        for j in range(words.shape[0]):
            word = words[j, w]
            for k in range(d):
                x, mine = X[k, j], sums[k]
                for g in range(WORD):
                    mine[g] += x if (word >> np.uint64(g)) & np.uint64(1) else 0.0
        for g in range(min(WORD, m - w * WORD)):
            for k in range(d):
                out[w * WORD + g, k] = sums[k, g]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def dense_forms(A: NDArray[Any], X: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Fill ``out`` (b, d) with <A_i, X_k>, for ``A`` (b, q) and ``X`` (d, q), in float64."""
    for i in range(A.shape[0]):
        for k in range(X.shape[0]):
            total = 0.0
            for j in range(A.shape[1]):
                total += np.float64(A[i, j]) * X[k, j]
            out[i, k] = total
