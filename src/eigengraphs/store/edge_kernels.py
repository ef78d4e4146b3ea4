"""From edges in order to the rows of a flat CSR matrix, and back to half of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.system.parallel import announce_compiling

__all__ = ["counts_of", "edges_in_order", "fill_mirrored", "is_mirror"]

announce_compiling()


@njit(cache=True, nogil=True)
def fill_mirrored(
    cuts: NDArray[Any],
    n: int,
    s: NDArray[Any],
    t: NDArray[Any],
    weight: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
) -> None:
    """Fill a CSR matrix with edges and their mirror images.

    Edges of graph i are those from ``cuts[i]`` to ``cuts[i + 1]``, in the order of s and t, with
    s <= t; ``indptr`` has a zero for every row and one more. Entries (t, s) of a row t come in the
    order of s while earlier rows are read, and before its own, (t, .): rows come out sorted.
    """
    for i in range(len(cuts) - 1):
        row = i * n
        for e in range(cuts[i], cuts[i + 1]):
            indptr[row + s[e] + 1] += 1
            if s[e] != t[e]:
                indptr[row + t[e] + 1] += 1
    for r in range(1, len(indptr)):
        indptr[r] += indptr[r - 1]
    at = indptr[:-1].copy()
    for i in range(len(cuts) - 1):
        row = i * n
        for e in range(cuts[i], cuts[i + 1]):
            here = row + s[e]
            indices[at[here]] = t[e]
            data[at[here]] = weight[e]
            at[here] += 1
            if s[e] != t[e]:
                there = row + t[e]
                indices[at[there]] = s[e]
                data[at[there]] = weight[e]
                at[there] += 1


@njit(cache=True, nogil=True)
def is_mirror(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n: int, at: NDArray[Any]
) -> bool:
    """Tell whether every graph of a flat CSR matrix is exactly its own mirror image.

    ``at`` is room for a number a vertex. Entries (s, t) below the diagonal are met row by row in
    the order of s, as row t has them above it.
    """
    for first in range(0, len(indptr) - 1, n):
        for s in range(n):
            at[s] = indptr[first + s]
        for s in range(n):
            for e in range(indptr[first + s], indptr[first + s + 1]):
                t = indices[e]
                if t >= s:
                    break
                # The next entry of row t beyond its diagonal must be (t, s).
                k = at[t]
                while k < indptr[first + t + 1] and indices[k] <= t:
                    k += 1
                if k == indptr[first + t + 1] or indices[k] != s or data[k] != data[e]:
                    return False
                at[t] = k + 1
        for s in range(n):
            k = at[s]
            while k < indptr[first + s + 1] and indices[k] <= s:
                k += 1
            if k < indptr[first + s + 1]:
                return False  # an entry above the diagonal that nothing below it answers
    return True


@njit(cache=True, nogil=True)
def edges_in_order(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    n: int,
    first: int,
    upper: bool,
    graph: NDArray[Any],
    s: NDArray[Any],
    t: NDArray[Any],
    weight: NDArray[Any],
    cuts: NDArray[Any],
) -> None:
    """Write out the entries of a flat CSR matrix, or those with s <= t, graph after graph.

    ``cuts`` (m + 1,) gets the place of the first edge of every graph.
    """
    at = 0
    for r in range(len(indptr) - 1):
        i, row = divmod(r, n)
        if row == 0:
            cuts[i] = at
        for e in range(indptr[r], indptr[r + 1]):
            if upper and indices[e] < row:
                continue
            graph[at] = first + i
            s[at] = row
            t[at] = indices[e]
            weight[at] = data[e]
            at += 1
    cuts[-1] = at


def counts_of(s: NDArray[Any], t: NDArray[Any]) -> int:
    """Return the number of entries that edges and their mirror images make."""
    return int(2 * len(s) - np.count_nonzero(s == t))
