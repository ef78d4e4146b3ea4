"""Counts on one graph after another, kept as one CSR pattern without loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.system.parallel import announce_compiling

__all__ = ["count_paths", "count_triangles"]

announce_compiling()

Index = NDArray[Any]


@njit(cache=True, nogil=True)
def count_triangles(indptr: Index, indices: Index, n: int, out: NDArray[np.int64]) -> None:
    """Count the triangles at each vertex.

    Parameters
    ----------
    indptr, indices
        Pattern of the graphs, (m * n, n); columns rise within a row, and no vertex is its own
        neighbour.
    n
        Number of vertices.
    out : (m, n)
        Filled with the counts.
    """
    mark = np.full(n, -1, dtype=np.int64)
    bits = np.zeros((0, 0), dtype=np.uint64)
    for i in range(out.shape[0]):
        out[i] = 0
        start = indptr[i * n : (i + 1) * n + 1]
        # With one pair in 64 joined, a word of bits holds one neighbour or more.
        if 64 * (start[n] - start[0]) >= n * n:
            if bits.shape[0] == 0:
                bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
            _by_bits(start, indices, bits, out[i])
        else:
            _by_marks(start, indices, mark, out[i])


@njit(cache=True, nogil=True)
def _by_bits(start: Index, indices: Index, bits: Any, count: NDArray[np.int64]) -> None:
    """Count common neighbours of the ends of each edge; ``bits`` (n, ceil(n / 64)) is for work."""
    n, words = bits.shape
    bits[:] = np.uint64(0)
    for s in range(n):
        for a in range(start[s], start[s + 1]):
            t = indices[a]
            bits[s, t >> 6] |= np.uint64(1) << np.uint64(t & 63)
    for s in range(n):
        for a in range(start[s], start[s + 1]):
            t = indices[a]
            if t < s:
                continue
            common = 0
            for w in range(words):
                common += _ones(bits[s, w] & bits[t, w])
            count[s] += common
            count[t] += common
    for s in range(n):
        count[s] //= 2  # each triangle was seen from both of its edges at s


@njit(cache=True, nogil=True)
def _by_marks(start: Index, indices: Index, mark: Any, count: NDArray[np.int64]) -> None:
    """See each triangle s < t < u once; ``mark`` (n,) is for work."""
    n = len(mark)
    mark[:] = -1
    for s in range(n):
        for a in range(start[s], start[s + 1]):
            mark[indices[a]] = s
        for a in range(start[s], start[s + 1]):
            t = indices[a]
            if t < s:
                continue
            for b in range(start[t + 1] - 1, start[t] - 1, -1):  # from the end down to t
                u = indices[b]
                if u <= t:
                    break
                if mark[u] == s:
                    count[s] += 1
                    count[t] += 1
                    count[u] += 1


@njit(cache=True, nogil=True)
def count_paths(indptr: Index, indices: Index, n: int, out: NDArray[np.int64]) -> None:
    """Count ordered pairs of different vertices that a path joins, and sum up its edges.

    Shortest paths from 64 vertices are found together: bit j of a word tells whether vertex
    ``first + j`` reaches the vertex to which the word belongs.

    Parameters
    ----------
    indptr, indices, n
        As above.
    out : (m, 2)
        Filled with the numbers of pairs and the sums of their distances.
    """
    seen = np.zeros(n, dtype=np.uint64)
    front = np.zeros(n, dtype=np.uint64)
    ahead = np.zeros(n, dtype=np.uint64)
    none = np.uint64(0)
    for i in range(out.shape[0]):
        row, pairs, total = i * n, 0, 0
        for first in range(0, n, 64):
            seen[:] = none
            front[:] = none
            for j in range(min(64, n - first)):
                seen[first + j] = front[first + j] = np.uint64(1) << np.uint64(j)
            length, moved = 0, True
            while moved:
                length, moved = length + 1, False
                ahead[:] = none
                for s in range(n):
                    if front[s] != none:
                        for a in range(indptr[row + s], indptr[row + s + 1]):
                            ahead[indices[a]] |= front[s]
                for s in range(n):
                    front[s] = ahead[s] & ~seen[s]
                    if front[s] != none:
                        moved = True
                        seen[s] |= front[s]
                        reached = _ones(front[s])
                        pairs += reached
                        total += reached * length
        out[i, 0], out[i, 1] = pairs, total


@njit(cache=True, nogil=True, inline="always")
def _ones(word: Any) -> Any:
    """Return the number of ones in 64 bits, added up in pairs, fours and bytes."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
