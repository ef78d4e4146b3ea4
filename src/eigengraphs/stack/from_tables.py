"""Graphs from tables: a row for each edge, or a row for each graph and a column for each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.stack.flat_matrix import row_numbers
from eigengraphs.stack.names import read_names, some_of
from eigengraphs.stack.one_graph import plain_numbers

__all__ = ["LAYOUTS", "PairColumns", "flat_from_edges"]

LAYOUTS = ("auto", "full", "triangle", "strict", "partial")
_ABSENT = ("nan", "<NA>", "NaT")  # how pandas and NumPy write values that are not there


def flat_from_edges(
    table: Any,
    columns: Mapping[str, str | None],
    *,
    directed: bool,
    vertex_names: Sequence[str] | None,
) -> tuple[sparse.csr_array, tuple[str, ...] | None, tuple[str, ...]]:
    """Return graphs from one table of edges, and names; see ``GraphStack.from_edges``.

    ``columns`` has the names of the columns for source, target, graph and weight.
    """
    have = list(getattr(table, "columns", table))  # a frame of pandas or polars, or a dictionary
    columns = dict(columns)
    if columns["weight"] == "weight" and "weight" not in have:
        columns["weight"] = None
    for role, name in columns.items():
        if name is not None and name not in have:
            raise InputError(f"there is no column {name!r} for {role}=; columns are: {have}")
    found = {
        role: _column(table[name], f"{role} ({name!r})")
        for role, name in columns.items()
        if name is not None and role != "weight"
    }
    if columns["weight"] is not None:
        found["weight"] = plain_numbers(np.asarray(table[columns["weight"]]))
    lengths = {role: len(values) for role, values in found.items()}
    if len(set(lengths.values())) > 1 or lengths["source"] == 0:
        raise InputError(f"expected columns of one length, and an edge at least; got {lengths}")
    s = found["source"]
    vertex, ends = _codes([s, found["target"]], "source and target")
    names, graph = None, np.zeros(len(s), np.intp)
    if "graph" in found:
        texts, graph = _codes([found["graph"]], "graph")
        first = np.argsort(np.unique(graph, return_index=True)[1])  # in the order of the table
        names, graph = tuple(texts[k] for k in first), np.argsort(first)[graph]
    if vertex_names is not None:
        wanted = read_names(vertex_names, "vertex_names")
        at = {name: k for k, name in enumerate(wanted)}
        unknown = [name for name in vertex if name not in at]
        if unknown:
            raise InputError(f"vertex_names must name all ends of edges; not {some_of(unknown)}")
        ends, vertex = np.array([at[name] for name in vertex], np.intp)[ends], wanted
    n, m = len(vertex), 1 if names is None else len(names)
    weight = found.get("weight", np.ones(len(s)))
    if weight.dtype.kind not in "biuf":
        raise InputError(f"weight={columns['weight']!r} must be a column of numbers")
    parts = (weight.astype(np.float64), (graph * n + ends[: len(s)], ends[len(s) :]))
    flat = sparse.csr_array(sparse.coo_array(parts, shape=(m * n, n)))
    return flat if directed else _both_ways(flat, names, vertex), names, vertex


def _both_ways(
    flat: sparse.csr_array, names: tuple[str, ...] | None, vertex: tuple[str, ...]
) -> sparse.csr_array:
    """Return undirected graphs: an edge in one direction stands for both."""
    n, w = flat.shape[1], flat.data
    g, s = np.divmod(row_numbers(flat), n)
    low, high = np.minimum(s, flat.indices), np.maximum(s, flat.indices)
    key = (g * n + low) * n + high
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    one, other = order[twice], order[twice + 1]
    differ = one[(w[one] != w[other]) & ~(np.isnan(w[one]) & np.isnan(w[other]))]
    if differ.size:
        k = differ[0]
        where = "" if names is None else f" in graph {names[g[k]]!r}"
        raise InputError(
            f"the edge from {vertex[low[k]]!r} to {vertex[high[k]]!r}{where} has another weight "
            "than the one back; pass directed=True, and symmetrize() if graphs are undirected"
        )
    keep = np.ones(len(w), np.bool_)
    keep[other] = False
    g, low, high, w = g[keep], low[keep], high[keep], w[keep]
    off = low < high  # a loop is one entry, not two
    rows = np.r_[g * n + low, (g * n + high)[off]]
    parts = (np.r_[w, w[off]], (rows, np.r_[high, low[off]]))
    return sparse.csr_array(sparse.coo_array(parts, shape=flat.shape))


def _column(values: Any, what: str) -> NDArray[Any]:
    """Return names in a column of a table; numbers and texts in one list stay what they are."""
    if isinstance(values, list | tuple):
        values = np.array([*values, None], dtype=object)[:-1]
    array = np.asarray(values)
    gone: Any = array != array
    if array.dtype == object:
        gone = [x is None or (not isinstance(x, str) and str(x) in _ABSENT) for x in array]
    if np.any(gone):
        raise InputError(f"row {np.flatnonzero(gone)[0]} of the edges has no {what}")
    if array.dtype == object and any(isinstance(x, float) for x in array):
        array = plain_numbers(array)  # and not whole numbers alone, which may be of any length
    if array.dtype.kind == "f" and (np.abs(array) < 2**53).all() and not (array % 1).any():
        return array.astype(np.int64)  # names 1, 2, ... that came as 1.0, 2.0, ...
    return array


def _codes(columns: list[NDArray[Any]], what: str) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the different names in columns as texts, in order, and the place of each."""
    kinds = {column.dtype.kind in "UT" for column in columns if column.dtype != object}
    kinds |= {isinstance(x, str) for column in columns if column.dtype == object for x in column}
    if len(kinds) > 1:
        raise AlignmentError(f"{what} mix numbers and texts, such as 0 and '0'; use one kind")
    unique, codes = np.unique(np.concatenate(columns), return_inverse=True)
    return tuple(map(str, unique.tolist())), codes


class PairColumns:
    """Which pair of vertices each column of a table stands for.

    Parameters
    ----------
    pairs : (p, 2)
        Vertices of each column, from 0.
    n_vertices
        Number of vertices, n.
    mirrored
        Whether a column (s, t) stands for (t, s) as well.
    """

    def __init__(self, pairs: NDArray[np.intp], n_vertices: int, *, mirrored: bool) -> None:
        self.pairs, self.n_vertices, self.mirrored = pairs, n_vertices, mirrored

    @classmethod
    def of(cls, layout: Any, n_columns: int, *, directed: bool) -> PairColumns:
        """Return the columns of a layout: one of ``LAYOUTS``, or an array (p, 2) of vertices."""
        if not isinstance(layout, str):
            return cls._given(layout, n_columns, directed=directed)
        if layout not in LAYOUTS:
            raise InputError(
                f"layout must be one of {', '.join(map(repr, LAYOUTS))}, or an array (p, 2) with "
                f"the two vertices of each column; got layout={layout!r}"
            )
        if layout == "auto":
            layout = _only_layout(n_columns, directed=directed)
        if directed and layout != "full":
            raise InputError(
                f"layout={layout!r} has one column for both directions, and a directed embedding "
                "needs each; use layout='full', or an array (p, 2) of vertices"
            )
        n = _vertices(layout, n_columns)
        if n is None:
            raise InputError(_wrong_number(layout, n_columns))
        if layout == "full":
            pairs = np.indices((n, n)).reshape(2, -1).T
            return cls(pairs, n, mirrored=False)
        if layout == "partial":  # a vertex more is a few columns more, at the end
            t, s = np.tril_indices(n)
            return cls(np.stack([s, t], axis=1)[:n_columns], n, mirrored=True)
        pairs = np.stack(np.triu_indices(n, 1 if layout == "strict" else 0), axis=1)
        return cls(pairs, n, mirrored=True)

    @classmethod
    def _given(cls, layout: Any, n_columns: int, *, directed: bool) -> PairColumns:
        try:
            pairs = np.asarray(layout)
        except ValueError:
            pairs = np.empty(0)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InputError(
                "layout must be a name, or an array (p, 2) of whole numbers, the two vertices of "
                f"each column; got layout={layout!r}"
            )
        if len(pairs) != n_columns:
            raise InputError(f"layout has {len(pairs)} pairs of vertices for {n_columns} columns")
        if (pairs < 0).any():
            raise InputError("layout must hold vertices from 0; some are negative")
        key = pairs if directed else np.sort(pairs, axis=1)
        if len(np.unique(key, axis=0)) < len(pairs):
            raise InputError("layout has two columns for one pair of vertices")
        return cls(pairs.astype(np.intp), int(pairs.max()) + 1, mirrored=not directed)

    def graphs(self, X: Any) -> Any:
        """Return rows (m, p) as graphs: an array (m, n, n), or a list of sparse graphs."""
        n, (s, t) = self.n_vertices, self.pairs.T
        if not sparse.issparse(X):
            A = np.zeros((X.shape[0], n, n), dtype=X.dtype)
            A[:, s, t] = X
            if self.mirrored:
                A[:, t, s] = X
            return A
        graphs = []
        make: Any = sparse.csr_array
        rows = make(X)
        for lo, hi in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            values, columns = rows.data[lo:hi], rows.indices[lo:hi]
            one = make((values, (s[columns], t[columns])), shape=(n, n))
            off = s[columns] != t[columns]
            if self.mirrored:
                ends = (t[columns][off], s[columns][off])
                one = one + make((values[off], ends), shape=(n, n))
            graphs.append(one)
        return graphs

    def rows(self, A: NDArray[Any]) -> NDArray[Any]:
        """Return graphs (m, n, n) as rows (m, p)."""
        return np.asarray(A[:, self.pairs[:, 0], self.pairs[:, 1]])


def _vertices(layout: str, p: int) -> int | None:
    """Return the number of vertices of so many columns, or None if there is none."""
    if layout == "full":
        n = isqrt(p)
        return n if n * n == p else None
    n = (isqrt(8 * p + 1) - 1) // 2  # the largest with n (n + 1) / 2 <= p
    whole = n * (n + 1) // 2 == p
    if layout == "partial":
        return n if whole else n + 1
    if not whole:
        return None
    return n + 1 if layout == "strict" else n


def _only_layout(p: int, *, directed: bool) -> str:
    if directed:
        return "full"
    full, triangle = _vertices("full", p), _vertices("triangle", p)
    if full is not None and triangle is not None and p > 1:
        raise InputError(
            f"{p} columns are all pairs of {full} vertices, and the triangle of {triangle}; name "
            "one: layout='full' or layout='triangle'"
        )
    if full is None and triangle is None:
        raise InputError(_wrong_number("auto", p))
    return "triangle" if full is None else "full"


def _wrong_number(layout: str, p: int) -> str:
    numbers = {
        "auto": "n^2 (all pairs) or n(n+1)/2 (a triangle with its diagonal)",
        "full": "n^2 (all pairs)",
        "strict": "n(n-1)/2 (a triangle without its diagonal)",
        "triangle": "n(n+1)/2 (a triangle with its diagonal)",
    }
    return (
        f"X has {p} feature(s), expected {numbers[layout]} for layout={layout!r}; columns of "
        "other graphs are told by layout=pairs, an array (p, 2) of vertices"
    )
