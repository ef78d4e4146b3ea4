"""Entry-wise and vertex-wise changes of a whole stack, dense (m, n, n) or flat (m * n, n).

Pure functions on storage: they return new storage and leave what they were given alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.build import check_choice
from eigengraphs.stack.flat_matrix import Storage, canonical, row_numbers, transpose_flat, with_data

SymmetrizeRule: TypeAlias = Literal["mean", "max", "min", "sum"]


def symmetrize(storage: Storage, how: SymmetrizeRule) -> Storage:
    """Combine each entry with its mirror image."""
    check_choice("how", how, "mean", "max", "min", "sum")
    A: Any = storage
    dense = isinstance(A, np.ndarray)
    mirror = A.transpose(0, 2, 1) if dense else transpose_flat(A)
    if how in ("max", "min"):
        extreme = f"{how}imum"
        both = getattr(np, extreme)(A, mirror) if dense else getattr(A, extreme)(mirror)
    else:
        both = A + mirror if how == "sum" else (A + mirror) * A.dtype.type(0.5)
    return both if dense else canonical(both)


def entrywise(storage: Storage, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Storage:
    """Apply a function that is 0 at 0 to every weight."""
    if isinstance(storage, np.ndarray):
        return change(storage)
    return with_data(storage, change(storage.data))


def binarize(storage: Storage, threshold: float) -> Storage:
    """Put 1 where the weight is above ``threshold``, 0 elsewhere."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.number):
        raise InputError(f"threshold must be a number, got threshold={threshold!r}")
    if threshold < 0 and not isinstance(storage, np.ndarray):
        raise InputError(
            f"threshold={threshold} is below 0, so every absent edge of a sparse stack would "
            "become an edge; use a threshold >= 0, or to_dense() first"
        )
    return entrywise(storage, lambda weights: (weights > threshold).astype(storage.dtype))


def log1p(storage: Storage) -> Storage:
    """Take log(1 + weight) of every weight."""
    lowest = float((storage if isinstance(storage, np.ndarray) else storage.data).min(initial=0.0))
    if lowest <= -1:
        raise InputError(
            f"log1p needs weights above -1, the smallest is {lowest:g}; for signed weights there "
            "is signed_log1p"
        )
    return entrywise(storage, np.log1p)


def signed_log1p(storage: Storage) -> Storage:
    """Take sign(weight) log(1 + |weight|) of every weight."""
    return entrywise(storage, lambda weights: np.copysign(np.log1p(np.abs(weights)), weights))


def not_correlation(storage: Storage) -> tuple[int, int, int, float] | None:
    """Return graph, vertices and value (i, s, t, A_st) of the first weight without arctanh, s != t.

    Weights within a few roundings of +-1 are refused with those beyond: their arctanh, some 18
    in float64, says how they were rounded and nothing else.
    """
    limit = 1 - 4 * np.finfo(storage.dtype).eps
    n = storage.shape[-1]
    if isinstance(storage, np.ndarray):
        for i, A in enumerate(storage):
            bad = np.abs(A) > limit
            np.fill_diagonal(bad, False)
            if bad.any():
                s, t = divmod(int(bad.argmax()), n)
                return i, s, t, float(A[s, t])
        return None
    for place in np.flatnonzero(np.abs(storage.data) > limit):
        i, s = divmod(int(np.searchsorted(storage.indptr, place, side="right")) - 1, n)
        if storage.indices[place] != s:
            return i, s, int(storage.indices[place]), float(storage.data[place])
    return None


def fisher_z(storage: Storage, symmetric: NDArray[np.bool_]) -> Storage:
    """Take arctanh of the weights off the diagonal, and set the diagonal to zero.

    ``symmetric`` (m,) tells the graphs that are symmetric up to rounding: there each entry and
    its mirror image become the same first, because near 1 arctanh would part them.
    """
    return entrywise(drop_loops(_mirrored(storage, symmetric)), np.arctanh)


def rank(storage: Storage, symmetric: NDArray[np.bool_], *, signed: bool) -> Storage:
    """Replace nonzero weights by average rank / (their number + 1), graph by graph.

    Loops are ranked among loops. With ``signed``, |weight| is ranked and the sign put back.
    For ``symmetric`` see :func:`fisher_z`: mirror images must be ties.
    """
    exact = _mirrored(storage, symmetric)
    return _each_graph(exact, lambda weights, s, t, _: _ranks(weights, s == t, signed))


def laplacian(storage: Storage, shares: NDArray[np.float64] | None) -> Storage:
    """Return D_i^(-1/2) A_i E_i^(-1/2) of graphs divided by their mean degrees.

    D_i and E_i are the sums of absolute weights over rows and columns, plus a quarter.

    Parameters
    ----------
    storage
        Graphs A_i.
    shares : (2, m, n), optional
        Share of each row and of each column that is observed; sums are divided by it.
    """
    dense, n = isinstance(storage, np.ndarray), storage.shape[-1]

    def scaled(weights: NDArray[Any], s: Any, t: Any, i: int) -> NDArray[Any]:
        if len(weights) == 0:
            return weights
        weights = weights / np.abs(weights).max()  # sums may leave the range of a float
        sums = np.stack([np.bincount(at, np.abs(weights), minlength=n) for at in (s, t)])
        seen = np.ones_like(sums) if shares is None else shares[:, i]
        degrees = np.divide(sums, seen, out=sums, where=seen > 0)
        mean = degrees.sum() / np.count_nonzero(seen)
        rows, columns = 1 / np.sqrt(degrees / mean + 0.25)
        return np.asarray(weights * (rows[s] * columns[t] / mean))

    return _each_graph(storage.copy() if dense else storage, scaled)


def unit_norm(storage: Storage) -> Storage:
    """Divide each graph by its Frobenius norm; a graph without edges stays as it is."""
    changed = storage.copy()
    if isinstance(changed, np.ndarray):
        for A in changed:
            _normalize(A.reshape(-1))
        return changed
    for mine in _slices(changed):
        _normalize(changed.data[mine])
    return canonical(changed)


def drop_loops(storage: Storage) -> Storage:
    """Set every diagonal to zero."""
    if isinstance(storage, np.ndarray):
        hollow = storage.copy()
        np.einsum("iss->is", hollow)[...] = 0  # einsum gives a writeable view of the diagonals
        return hollow
    on_diagonal = storage.indices == row_numbers(storage) % storage.shape[1]
    return with_data(storage, np.where(on_diagonal, storage.dtype.type(0), storage.data))


def select_vertices(storage: Storage, keep: NDArray[np.intp]) -> Storage:
    """Return every graph on the vertices ``keep``, in that order."""
    if isinstance(storage, np.ndarray):
        return np.ascontiguousarray(storage[:, keep[:, None], keep[None, :]])
    n = storage.shape[1]
    starts = np.arange(storage.shape[0] // n) * n
    rows = (starts[:, None] + keep[None, :]).ravel()
    return canonical(storage[rows][:, keep])


def spread(storage: Storage, at: NDArray[np.intp], n_vertices: int) -> Storage:
    """Return every graph on more vertices, its own at the places ``at``, zero elsewhere."""
    if isinstance(storage, np.ndarray):
        wide = np.zeros((len(storage), n_vertices, n_vertices), dtype=storage.dtype)
        wide[:, at[:, None], at] = storage
        return wide
    n = storage.shape[1]
    graph, s = np.divmod(row_numbers(storage), n)
    shape = (storage.shape[0] // n * n_vertices, n_vertices)
    rows, columns = graph * n_vertices + at[s], at[storage.indices]
    return canonical(sparse.coo_array((storage.data, (rows, columns)), shape=shape))


def _each_graph(storage: Storage, change: Callable[..., NDArray[Any]]) -> Storage:
    """Replace nonzero weights by change(weights, s, t, i), graph by graph; arrays in place."""
    if isinstance(storage, np.ndarray):
        for i, A in enumerate(storage):
            s, t = A.nonzero()
            A[s, t] = change(A[s, t], s, t, i)
        return storage
    rows, changed = row_numbers(storage) % storage.shape[1], np.empty_like(storage.data)
    for i, mine in enumerate(_slices(storage)):
        changed[mine] = change(storage.data[mine], rows[mine], storage.indices[mine], i)
    return with_data(storage, changed)


def _ranks(values: NDArray[Any], loops: NDArray[np.bool_], signed: bool) -> NDArray[np.float64]:
    from scipy.stats import rankdata  # which takes longer to import than all the rest

    ranks = np.empty(len(values))
    for part in (loops, ~loops):
        own = np.abs(values[part]) if signed else values[part]
        ranks[part] = rankdata(own) / (len(own) + 1)
    return np.copysign(ranks, values) if signed else ranks


def _normalize(values: NDArray[Any]) -> None:
    """Divide, in place; first by the largest, because squares may leave the range of a float."""
    largest = np.abs(values).max(initial=0)
    if largest > 0:
        values /= largest
        values /= np.sqrt(np.square(values, dtype=np.float64).sum())


def _mirrored(storage: Storage, symmetric: NDArray[np.bool_]) -> Storage:
    """Return a copy in which the graphs told are symmetric to the last bit.

    Of two mirror images the larger is taken; their mean could overflow.
    """
    if isinstance(storage, np.ndarray):
        exact = storage.copy()
        for i in np.flatnonzero(symmetric):
            np.maximum(storage[i], storage[i].T, out=exact[i])
        return exact
    if not symmetric.any():
        return storage
    larger = storage.maximum(transpose_flat(storage))
    chosen = np.repeat(symmetric, storage.shape[1]).astype(storage.dtype)
    of_both = sparse.diags_array(chosen) @ larger + sparse.diags_array(1 - chosen) @ storage
    return canonical(of_both.astype(storage.dtype))


def _slices(flat: sparse.csr_array) -> Iterator[slice]:
    """Return where the entries of each graph are, graph after graph."""
    ends = flat.indptr[:: flat.shape[1]]
    return (slice(lo, hi) for lo, hi in pairwise(ends))
