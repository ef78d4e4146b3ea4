"""Hidden entries of some graphs as a table in Parquet, and back to a mask."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigengraphs.stack.flat_matrix import row_numbers
from eigengraphs.stack.mask import Mask, make_mask
from eigengraphs.store.tables import arrow, read_bytes, to_bytes

__all__ = ["hidden_table", "mask_of"]


def hidden_table(mask: Mask, first: int) -> bytes:
    """Return the Parquet file of a mask; ``first`` is the place of its first graph in the store.

    One row per hidden entry: graph, source, target. A vertex that a graph does not have is one row
    with target -1.
    """
    n, flat = mask.n_vertices, mask.hidden
    absent = np.nonzero(~mask.present)
    graph, s = np.divmod(row_numbers(flat), n)
    rows = np.column_stack([
        np.concatenate([absent[0], graph]),
        np.concatenate([absent[1], s]),
        np.concatenate([np.full(len(absent[0]), -1), flat.indices]),
    ])  # fmt: skip
    rows = rows[np.lexsort(rows.T[::-1])]
    rows[:, 0] += first
    names = ("graph", "source", "target")
    return to_bytes(arrow().table({name: rows[:, j] for j, name in enumerate(names)}))


def mask_of(data: bytes, first: int, last: int, n: int) -> Mask | None:
    """Return the mask of graphs ``first`` to ``last`` of the store, None if nothing is hidden."""
    table = read_bytes(data, what="the table of hidden entries")
    graph, s, t = (table[name].to_numpy() for name in ("graph", "source", "target"))
    for column, least, most in ((graph, 0, 2**62), (s, 0, n), (t, -1, n)):
        if column.dtype.kind != "i" or (column < least).any() or (column >= most).any():
            raise ValueError("hidden entries must be places of vertices")
    if (np.diff(graph) < 0).any():
        raise ValueError("hidden entries must stand in the order of their graphs")
    lo, hi = np.searchsorted(graph, (first, last))
    graph, s, t = graph[lo:hi] - first, s[lo:hi], t[lo:hi]
    m, gone = last - first, t < 0
    present = np.ones((m, n), np.bool_)
    present[graph[gone], s[gone]] = False
    graph, s, t = graph[~gone], s[~gone], t[~gone]
    places = (graph * n + s, t)
    hidden = sparse.coo_array((np.ones(len(t), np.bool_), places), shape=(m * n, n))
    return make_mask(present, sparse.csr_array(hidden))
