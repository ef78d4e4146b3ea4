"""Which entries of the graphs of a stack are observed: the 0/1 matrices M_i, never written out.

A pair of vertices is hidden in a graph because one of them is absent from it, or for itself. The
first takes one flag per vertex, the second the place of an entry:

    M_i = p_i p_i^T - N_i,

p_i being 1 for the vertices of graph i, and N_i 1 at the further hidden entries. So a product with
all M_i reads the hidden entries alone, five bytes each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.stack.flat_matrix import pattern, row_numbers, transpose_flat

__all__ = ["Mask", "make_mask"]

Flags: TypeAlias = NDArray[np.bool_]


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

    def transposed(self) -> Mask:
        """Return the mask of the transposed graphs."""
        return Mask(self.present.copy(), transpose_flat(self.hidden))

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
        flat = _some_entries(flat, inside)
        graph, s = graph[inside], s[inside]
    left = seen.sum(axis=1, keepdims=True)
    in_row = np.diff(flat.indptr).reshape(m, n)
    in_column = np.bincount(graph * n + flat.indices, minlength=m * n).reshape(m, n)
    gone = seen & (in_row == left) & (in_column == left)
    if gone.any():
        seen &= ~gone
        flat = _some_entries(flat, seen[graph, s] & seen[graph, flat.indices])
    if flat.nnz == 0 and seen.all():
        return None
    return Mask(seen, flat)


def _some_entries(flat: sparse.csr_array, keep: Flags) -> sparse.csr_array:
    """Return the stored entries of a pattern for which ``keep`` is True."""
    before = np.concatenate([[0], np.cumsum(keep)])
    indptr = before[flat.indptr].astype(flat.indptr.dtype)
    data = np.ones(int(before[-1]), dtype=np.bool_)
    return sparse.csr_array((data, flat.indices[keep], indptr), shape=flat.shape)
