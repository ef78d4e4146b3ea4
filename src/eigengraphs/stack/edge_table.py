"""From one table of edges, with a column for the graph, to all graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.stack.build import plain_numbers
from eigengraphs.stack.flat_matrix import row_numbers
from eigengraphs.stack.names import read_names, some_of

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
        raise InputError(f"expected columns of equal length, and at least one edge; got {lengths}")
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
            raise InputError(f"vertex_names must name every vertex; missing: {some_of(unknown)}")
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
            "than its reverse; pass directed=True, and call symmetrize() if graphs are undirected"
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
