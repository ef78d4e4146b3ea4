"""Entries that are not known: from nan, or from a list of pairs, to zeros and their places."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.build import Storage
from eigengraphs.stack.flat_matrix import canonical, pattern, row_numbers, transpose_flat
from eigengraphs.stack.graph_facts import GraphFacts, find_facts
from eigengraphs.stack.mask import Mask, make_mask

__all__ = [
    "MissingRule",
    "check_missing",
    "graph_with_nan",
    "hide_missing",
    "one_sided",
    "pairs_to_hide",
    "without_loops",
    "zero_hidden",
    "zero_there",
]

MissingRule: TypeAlias = Literal["error", "unobserved"]

_MOST_NAN = 50_000_000  # explicit nan in one sparse graph that somebody looks at


def check_missing(missing: Any) -> None:
    """Raise an error for a way to treat missing entries that does not exist."""
    if missing not in ("error", "unobserved"):
        raise InputError(f"missing must be 'error' or 'unobserved', got missing={missing!r}")


def hide_missing(
    storage: Storage, present: NDArray[np.bool_] | None, *, shared: bool
) -> tuple[Any, GraphFacts | None, Mask | None]:
    """Return graphs with zeros for nan, their facts if nothing is hidden, and else the mask.

    Parameters
    ----------
    storage
        Graphs; changed in place where they are an array, unless it is ``shared``.
    present : (m, n), optional
        The vertices that each graph has; None: all of them.
    """
    facts, hidden = find_facts(storage), None
    if (facts.first_bad >= 0).any():
        storage, hidden = _take_out_nan(storage, shared=shared)
    mask = make_mask(present, hidden)
    return storage, facts if hidden is None and mask is None else None, mask


def _take_out_nan(storage: Storage, *, shared: bool) -> tuple[Storage, sparse.csr_array]:
    """Put zeros for nan; return that and the places (m * n, n).

    Where only one of an entry and its mirror image is known, and the graph is symmetric but for
    such entries, the known one stands for both.

    Parameters
    ----------
    storage
        Graphs; changed in place where they are an array, unless it is ``shared``.
    """
    if not isinstance(storage, np.ndarray):
        return _take_out_of_flat(storage)
    kept = storage.copy() if shared else storage
    m, n, _ = kept.shape
    counts, columns = np.zeros(m * n, dtype=np.int64), list[NDArray[np.int32]]()
    for i, A in enumerate(kept):
        hidden = np.isnan(A)
        if not hidden.any():
            continue
        one_sided = hidden & ~hidden.T
        if one_sided.any() and find_facts(np.where(hidden | hidden.T, 0, A)[None]).is_symmetric[0]:
            A[one_sided] = A.T[one_sided]
            hidden &= hidden.T
        A[hidden] = 0
        counts[i * n : (i + 1) * n] = hidden.sum(axis=1)
        columns.append(np.nonzero(hidden)[1].astype(np.int32))
    indices = np.concatenate([*columns, np.zeros(0, dtype=np.int32)])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    if len(indices) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    ones = np.ones(len(indices), dtype=np.bool_)
    return kept, sparse.csr_array((ones, indices, indptr), shape=(m * n, n))


def _take_out_of_flat(flat: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    n = flat.shape[1]
    is_nan = np.isnan(flat.data)
    parts = (is_nan, flat.indices, flat.indptr)
    hidden = pattern(sparse.csr_array(parts, shape=flat.shape))
    parts = (np.where(is_nan, flat.dtype.type(0), flat.data), flat.indices, flat.indptr)
    known = canonical(sparse.csr_array(parts, shape=flat.shape))
    mirror = transpose_flat(hidden)
    one_sided = pattern(hidden > mirror)
    if one_sided.nnz:
        # What is known on both sides decides whether a graph has a direction.
        symmetric = find_facts(zero_there(known, mirror)).is_symmetric
        fill = np.asarray(symmetric[row_numbers(one_sided) // n])
        one_sided.data = fill
        one_sided.eliminate_zeros()
        known = canonical(known + transpose_flat(known).multiply(one_sided))
        hidden = pattern(hidden > one_sided)
    return known, hidden


def pairs_to_hide(
    pairs: Any, n_graphs: int, n_vertices: int, symmetric: NDArray[np.bool_]
) -> sparse.csr_array:
    """Return the entries (m * n, n) that hiding ``pairs`` hides.

    Parameters
    ----------
    pairs : (n, n) or (m, n, n) of bool, or sparse (n, n) or (m * n, n)
        Entries to hide, in all graphs or in each.
    symmetric : (m,)
        Which graphs have no direction: there, an entry takes its mirror image with it.
    """
    m, n = n_graphs, n_vertices
    flat: sparse.csr_array | None = None
    where: Any = pairs
    if sparse.issparse(pairs):
        if where.shape in ((n, n), (m * n, n)):
            flat = pattern(where)
    else:
        where = np.asarray(pairs)
        if where.dtype != np.bool_:
            raise InputError(
                f"the pairs to hide must be an array of bool, True where an entry is to be hidden; "
                f"got dtype {where.dtype}"
            )
        if where.shape in ((n, n), (m, n, n)):
            flat = pattern(sparse.csr_array(where.reshape(-1, n)))
    if flat is None:
        raise InputError(
            f"the pairs to hide must have shape ({n}, {n}), for all graphs, or ({m}, {n}, {n}); "
            f"got {where.shape}"
        )
    if flat.shape[0] == n:
        flat = pattern(sparse.vstack([flat] * m, format="csr"))
    mirror = transpose_flat(flat)
    mirror.data = np.asarray(symmetric[row_numbers(mirror) // n])
    return pattern(flat + pattern(mirror))


def zero_there(storage: Storage, places: sparse.csr_array) -> Storage:
    """Return a copy with zeros at the stored entries of ``places`` (m * n, n)."""
    if isinstance(storage, np.ndarray):
        changed = storage.copy()
        flat = changed.reshape(-1, storage.shape[-1])
        flat[row_numbers(places), places.indices] = 0
        return changed
    return canonical(storage - storage.multiply(places))


def zero_hidden(storage: NDArray[Any], mask: Mask) -> NDArray[Any]:
    """Return an array of graphs with zeros at all that the mask hides."""
    changed = np.asarray(zero_there(storage, mask.hidden))
    changed *= mask.present[:, :, None] & mask.present[:, None, :]
    return changed


def one_sided(
    before: Storage, after: Storage, mask: Mask, *, fill: bool
) -> tuple[Storage, Mask | None]:
    """Return symmetrized graphs and their mask, where an entry but not its mirror image is hidden.

    Parameters
    ----------
    before, after
        The graphs, and what zeros for the hidden entries made of them.
    fill
        Whether the known entry stands for both, or both are hidden.
    """
    hidden, mirror = mask.hidden, transpose_flat(mask.hidden)
    either = pattern(hidden + mirror)
    both = pattern(hidden.multiply(mirror))
    lonely = pattern(either > both)
    after = zero_there(after, lonely)
    if not fill:
        return after, make_mask(mask.present, either)
    if isinstance(before, np.ndarray):
        t, filled = lonely.indices, np.asarray(after)
        graph, s = np.divmod(row_numbers(lonely), mask.n_vertices)
        filled[graph, s, t] = before[graph, s, t] + before[graph, t, s]  # one of them is 0
    else:
        known = before + transpose_flat(before)
        after = canonical(after + known.multiply(lonely))
    return after, make_mask(mask.present, both)


def without_loops(mask: Mask) -> Mask | None:
    """Return the mask with the diagonals of all vertices that are there observed."""
    flat = mask.hidden
    off = sparse.csr_array(
        (flat.indices != row_numbers(flat) % mask.n_vertices, flat.indices, flat.indptr),
        shape=flat.shape,
    )
    return make_mask(mask.present, off)


def graph_with_nan(A: Any, mask: Mask, i: int, where: str) -> Any:
    """Return one graph, as an array or a sparse array, with nan where it is hidden."""
    if isinstance(A, np.ndarray):
        shown = A.copy()
        shown[mask.hidden_of(i).toarray()] = np.nan
        shown.flags.writeable = False
        return shown
    if mask.n_hidden[i] > _MOST_NAN:
        raise InputError(
            f"{where} hides {mask.n_hidden[i]} entries, too many for nan in a sparse array; "
            f"take a stack of one graph, stack[{i}:{i + 1}], which keeps its mask"
        )
    gone = mask.hidden_of(i).astype(A.dtype)
    gone.data[:] = np.nan
    return sparse.csr_array(A + gone)
