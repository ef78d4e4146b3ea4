"""Entry-wise and vertex-wise changes of a whole stack, dense (m, n, n) or flat (m * n, n).

Pure functions on storage: they return new storage and leave what they were given alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from eigengraphs.errors import InputError
from eigengraphs.graphs.build import Storage

__all__ = [
    "SymmetrizeRule",
    "binarize",
    "drop_loops",
    "largest_common_component",
    "log1p",
    "select_vertices",
    "symmetrize",
]

SymmetrizeRule: TypeAlias = Literal["mean", "max", "min", "sum"]


def symmetrize(storage: Storage, how: SymmetrizeRule) -> Storage:
    """Combine each entry with its mirror image."""
    if how not in ("mean", "max", "min", "sum"):
        raise InputError(f"how must be 'mean', 'max', 'min' or 'sum', got how={how!r}")
    if isinstance(storage, np.ndarray):
        mirror = storage.transpose(0, 2, 1)
        if how == "max":
            return np.maximum(storage, mirror)
        if how == "min":
            return np.minimum(storage, mirror)
        total = storage + mirror
        return total if how == "sum" else total * storage.dtype.type(0.5)
    flipped = _transpose_flat(storage)
    if how == "max":
        return _canonical(storage.maximum(flipped))
    if how == "min":
        return _canonical(storage.minimum(flipped))
    total = storage + flipped
    return _canonical(total if how == "sum" else total * storage.dtype.type(0.5))


def binarize(storage: Storage, threshold: float) -> Storage:
    """Put 1 where the weight is above ``threshold``, 0 elsewhere."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.number):
        raise InputError(f"threshold must be a number, got threshold={threshold!r}")
    if isinstance(storage, np.ndarray):
        return (storage > threshold).astype(storage.dtype)
    if threshold < 0:
        raise InputError(
            f"threshold={threshold} is below 0, so every absent edge of a sparse stack would "
            "become an edge; use a threshold >= 0, or to_dense() first"
        )
    return _with_data(storage, (storage.data > threshold).astype(storage.dtype))


def log1p(storage: Storage) -> Storage:
    """Take log(1 + weight) of every weight."""
    values = storage if isinstance(storage, np.ndarray) else storage.data
    lowest = float(values.min(initial=0.0))
    if lowest <= -1:
        raise InputError(
            f"log1p needs weights above -1, the smallest is {lowest:g}; signed weights need "
            "another transform (rescale them, or keep them as they are)"
        )
    changed = np.log1p(values)
    return changed if isinstance(storage, np.ndarray) else _with_data(storage, changed)


def drop_loops(storage: Storage) -> Storage:
    """Set every diagonal to zero."""
    if isinstance(storage, np.ndarray):
        hollow = storage.copy()
        np.einsum("iss->is", hollow)[...] = 0  # einsum gives a writeable view of the diagonals
        return hollow
    on_diagonal = storage.indices == _row_numbers(storage) % storage.shape[1]
    return _with_data(storage, np.where(on_diagonal, storage.dtype.type(0), storage.data))


def select_vertices(storage: Storage, keep: NDArray[np.intp]) -> Storage:
    """Return every graph on the vertices ``keep``, in that order."""
    if isinstance(storage, np.ndarray):
        return np.ascontiguousarray(storage[:, keep[:, None], keep[None, :]])
    n = storage.shape[1]
    starts = np.arange(storage.shape[0] // n) * n
    rows = (starts[:, None] + keep[None, :]).ravel()
    return _canonical(storage[rows][:, keep])


def largest_common_component(graphs: Sequence[Any]) -> NDArray[np.intp]:
    """Return the largest vertex set on which every graph is connected.

    Two overlapping sets on which every graph is connected have such a union, so the maximal
    ones part the vertices. Cut every part along the components of every graph until nothing
    is cut any more: a set that is connected everywhere is never cut, so what is left are
    just the maximal ones. Ties go to the part that holds the first vertex.
    """
    n = graphs[0].shape[0]
    part = np.zeros(n, dtype=np.int64)
    n_parts = 1
    while True:
        for A in graphs:
            s, t = A.nonzero()
            within = part[s] == part[t]
            edges = (np.ones(within.sum(), dtype=np.int8), (s[within], t[within]))
            _, component = csgraph.connected_components(
                sparse.coo_array(edges, shape=(n, n)), directed=False
            )
            _, part = np.unique(part * n + component, return_inverse=True)
        if part.max() + 1 == n_parts:
            break
        n_parts = int(part.max()) + 1
    sizes = np.bincount(part)
    first = np.argmax(sizes[part] == sizes.max())
    return np.flatnonzero(part == part[first])


def _row_numbers(flat: sparse.csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(flat.shape[0], dtype=np.int64), np.diff(flat.indptr))


def _transpose_flat(flat: sparse.csr_array) -> sparse.csr_array:
    n = flat.shape[1]
    graph, s = np.divmod(_row_numbers(flat), n)
    flipped = sparse.coo_array((flat.data, (graph * n + flat.indices, s)), shape=flat.shape)
    return sparse.csr_array(flipped)


def _with_data(flat: sparse.csr_array, data: NDArray[Any]) -> sparse.csr_array:
    return _canonical(sparse.csr_array((data, flat.indices, flat.indptr), shape=flat.shape))


def _canonical(matrix: Any) -> sparse.csr_array:
    flat = sparse.csr_array(matrix, copy=True)
    flat.sum_duplicates()
    flat.eliminate_zeros()
    return flat
