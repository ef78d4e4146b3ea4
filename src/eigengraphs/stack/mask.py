"""Which entries of the graphs of a stack are observed: the 0/1 matrices M_i, never written out.

A pair of vertices is hidden in a graph because one of them is absent, or individually. The
first takes one flag per vertex, the second the place of an entry:

    M_i = p_i p_i^T - N_i,

p_i being 1 for the vertices of graph i, and N_i 1 at the further hidden entries. So a product with
all M_i reads the hidden entries alone, five bytes each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.flat_matrix import (
    Storage,
    canonical,
    pattern,
    row_numbers,
    transpose_flat,
    with_data,
)
from eigengraphs.stack.graph_facts import GraphFacts, find_facts

Flags: TypeAlias = NDArray[np.bool_]
MissingRule: TypeAlias = Literal["error", "unobserved"]

_MOST_NAN = 50_000_000  # explicit nan in one sparse graph that somebody looks at


@dataclass(frozen=True, eq=False)
class Mask:
    """The observed entries of m graphs on n vertices; :func:`make_mask` makes one.

    Everything is about entries (s, t): a pair of different vertices of an undirected graph counts
    twice. Two masks are equal if they observe the same entries.
    """

    present: Flags  # (m, n): the vertices that each graph has
    hidden: sparse.csr_array  # (m * n, n) of bool: further hidden entries, among these vertices

    def __post_init__(self) -> None:
        flat = self.hidden
        for part in (self.present, flat.data, flat.indices, flat.indptr):
            part.flags.writeable = False

    @classmethod
    def complete(cls, n_graphs: int, n_vertices: int) -> Mask:
        """Return the mask that hides nothing, for code that wants one."""
        nothing = sparse.csr_array((n_graphs * n_vertices, n_vertices), dtype=np.bool_)
        return cls(np.ones((n_graphs, n_vertices), dtype=np.bool_), nothing)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        mine, theirs = self.hidden, other.hidden
        return (
            np.array_equal(self.present, other.present)
            and np.array_equal(mine.indptr, theirs.indptr)
            and np.array_equal(mine.indices, theirs.indices)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have none either

    def __reduce__(self) -> tuple[Any, ...]:
        return Mask, (self.present, self.hidden)  # and not what was found since

    def __repr__(self) -> str:
        m, n = self.present.shape
        share = self.n_hidden.sum() / (m * n * n)
        return f"Mask({m} graphs, {n} vertices, {100 * share:.3g} % hidden)"

    # ------------------------------------------------------------------ what it hides

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return len(self.present)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return int(self.present.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes that the mask takes."""
        flat = self.hidden
        parts = (self.present, flat.data, flat.indices, flat.indptr)
        return sum(int(part.nbytes) for part in parts)

    @cached_property
    def n_hidden(self) -> NDArray[np.int64]:
        """Number of hidden entries of each graph, (m,)."""
        n = self.n_vertices
        kept = self.present.sum(axis=1, dtype=np.int64)
        further = np.diff(self.hidden.indptr[::n])
        return np.asarray(n * n - kept**2 + further, dtype=np.int64)

    @cached_property
    def diagonal(self) -> Flags:
        """Whether the entry (s, s) is observed, (m, n)."""
        flat = self.hidden
        rows = row_numbers(flat)
        on = rows[flat.indices == rows % self.n_vertices]
        seen = self.present.copy()
        seen.ravel()[on] = False
        seen.flags.writeable = False
        return seen

    @cached_property
    def is_symmetric(self) -> Flags:
        """Whether an entry of a graph is hidden just where its mirror image is, (m,)."""
        flat, n = self.hidden, self.n_vertices
        lonely = flat > transpose_flat(flat)  # hidden without its mirror image
        same = np.ones(self.n_graphs, dtype=np.bool_)
        same[row_numbers(sparse.csr_array(lonely)) // n] = False
        return same

    def counts(self, *, diagonal: bool = True) -> NDArray[np.int64]:
        """Return the number of observed entries of each graph, (m,), with or without (s, s)."""
        seen = self.n_vertices**2 - self.n_hidden
        return seen if diagonal else seen - self.diagonal.sum(axis=1)

    def row_counts(self) -> NDArray[np.int64]:
        """Return the number of observed entries in each row, (m, n)."""
        kept = self.present.sum(axis=1, dtype=np.int64)
        gone = np.diff(self.hidden.indptr).reshape(self.present.shape)
        return np.asarray(self.present * kept[:, None] - gone, dtype=np.int64)

    @property
    def hides_pairs(self) -> bool:
        """Whether some entry off the diagonal is hidden."""
        n = self.n_vertices
        return bool((self.counts(diagonal=False) < n * (n - 1)).any())

    # ------------------------------------------------------------------ other masks

    def part(self, lo: int, hi: int) -> Mask:
        """Return the mask of graphs lo to hi, which may hide nothing."""
        n = self.n_vertices
        return Mask(self.present[lo:hi], self.hidden[lo * n : hi * n])

    def take(self, which: NDArray[np.intp]) -> Mask | None:
        """Return the mask of some of the graphs."""
        n = self.n_vertices
        rows = (which[:, None] * n + np.arange(n)).ravel()
        return make_mask(self.present[which], self.hidden[rows])

    def select(self, keep: NDArray[np.intp]) -> Mask | None:
        """Return the mask on some of the vertices, in that order."""
        m, n = self.present.shape
        rows = (np.arange(m)[:, None] * n + keep).ravel()
        return make_mask(self.present[:, keep], self.hidden[rows][:, keep])

    def hiding(self, more: sparse.csr_array) -> Mask | None:
        """Return the mask that hides the entries of ``more`` (m * n, n), too."""
        return make_mask(self.present, self.hidden + more)

    def without_loops(self) -> Mask | None:
        """Return the mask with the diagonals of all vertices that are there observed."""
        off = self.hidden.indices != row_numbers(self.hidden) % self.n_vertices
        return make_mask(self.present, with_data(self.hidden, off))

    def hidden_of(self, i: int) -> sparse.csr_array:
        """Return all hidden entries of one graph, absent vertices' too, as (n, n) of bool."""
        n, seen = self.n_vertices, self.present[i]
        gone, kept = np.flatnonzero(~seen), np.flatnonzero(seen)
        s = np.concatenate([np.repeat(gone, n), np.repeat(kept, len(gone))])
        t = np.concatenate([np.tile(np.arange(n), len(gone)), np.tile(gone, len(kept))])
        absent = sparse.coo_array((np.ones(len(s), dtype=np.bool_), (s, t)), shape=(n, n))
        return pattern(sparse.csr_array(absent) + self.hidden[i * n : (i + 1) * n])

    def toarray(self) -> Flags:
        """Return an array (m, n, n) that is True where an entry is observed."""
        seen = self.present[:, :, None] & self.present[:, None, :]
        flat = self.hidden
        m, n = self.present.shape
        seen.reshape(m * n, n)[row_numbers(flat), flat.indices] = False
        return seen


def make_mask(present: Flags | None, hidden: sparse.csr_array | None) -> Mask | None:
    """Return the mask of absent vertices and hidden entries, or None if nothing is hidden.

    A vertex of which no entry is observed is absent, however that was said: then there is one way
    to write a mask, and the shortest.

    Parameters
    ----------
    present : (m, n) or None
        The vertices that each graph has; None: all of them.
    hidden : (m * n, n) or None
        Hidden entries, of any type; those of absent vertices may be among them.
    """
    if hidden is None:
        if present is None or present.all():
            return None
        m, n = present.shape
        return Mask(present.copy(), sparse.csr_array((m * n, n), dtype=np.bool_))
    flat = pattern(hidden)
    n = flat.shape[1]
    m = flat.shape[0] // n
    seen = np.ones((m, n), dtype=np.bool_) if present is None else present.copy()
    graph, s = np.divmod(row_numbers(flat), n)
    inside = seen[graph, s] & seen[graph, flat.indices]
    if not inside.all():
        flat = with_data(flat, inside)
        graph, s = graph[inside], s[inside]
    left = seen.sum(axis=1, keepdims=True)
    in_row = np.diff(flat.indptr).reshape(m, n)
    in_column = np.bincount(graph * n + flat.indices, minlength=m * n).reshape(m, n)
    gone = seen & (in_row == left) & (in_column == left)
    if gone.any():
        seen &= ~gone
        flat = with_data(flat, seen[graph, s] & seen[graph, flat.indices])
    if flat.nnz == 0 and seen.all():
        return None
    return Mask(seen, flat)


# ---------------------------------------------------------------------- from nan, or from pairs


def about_observed(facts: GraphFacts, diagonals: NDArray[np.float64], mask: Mask) -> GraphFacts:
    """Return the facts of graphs with zeros for hidden entries, without what these zeros say.

    Parameters
    ----------
    facts
        As :func:`find_facts` finds them.
    diagonals : (m, n)
        Diagonals of the graphs.
    mask
        What is hidden. A graph that hides an entry and not its mirror image has a direction.
    """
    seen = mask.diagonal
    return replace(
        facts,
        diagonal_low=np.where(seen, diagonals, np.inf).min(axis=1),
        diagonal_high=np.where(seen, diagonals, -np.inf).max(axis=1),
        is_symmetric=facts.is_symmetric & mask.is_symmetric,
    )


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
    hidden = np.isnan(kept)
    for i in np.flatnonzero(hidden.any(axis=(1, 2))):
        A, gone = kept[i], hidden[i]
        lonely = gone & ~gone.T
        if lonely.any() and find_facts(np.where(gone | gone.T, 0, A)[None]).is_symmetric[0]:
            A[lonely] = A.T[lonely]
            gone &= gone.T
    kept[hidden] = 0
    return kept, sparse.csr_array(hidden.reshape(-1, kept.shape[-1]))


def _take_out_of_flat(flat: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    n = flat.shape[1]
    is_nan = np.isnan(flat.data)
    hidden = with_data(flat, is_nan)
    known = with_data(flat, np.where(is_nan, flat.dtype.type(0), flat.data))
    mirror = transpose_flat(hidden)
    lonely = pattern(hidden > mirror)
    if lonely.nnz:
        # What is known on both sides decides whether a graph has a direction.
        symmetric = find_facts(zero_there(known, mirror)).is_symmetric
        lonely = with_data(lonely, symmetric[row_numbers(lonely) // n])
        known = canonical(known + transpose_flat(known).multiply(lonely))
        hidden = pattern(hidden > lonely)
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
    return pattern(flat + with_data(mirror, symmetric[row_numbers(mirror) // n]))


def zero_there(storage: Storage, places: sparse.csr_array) -> Storage:
    """Return a copy with zeros at the stored entries of ``places`` (m * n, n)."""
    if isinstance(storage, np.ndarray):
        changed = storage.copy()
        flat = changed.reshape(-1, storage.shape[-1])
        flat[row_numbers(places), places.indices] = 0
        return changed
    return canonical(storage - storage.multiply(places))


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
