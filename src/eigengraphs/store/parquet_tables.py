"""The Parquet files of a store: names and facts of graphs, edges, and hidden entries."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.flat_matrix import row_numbers, transpose_flat
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.stack.mask import Mask, make_mask
from eigengraphs.system.extras import need
from eigengraphs.system.limits import DEFAULT, Cap

FACTS = tuple(field.name for field in fields(GraphFacts))
_WHOLE = ("n_nonzero", "n_loops", "first_bad")
_MUCH = 2**24  # bytes of a file: with larger ones, what was read does not stay with pyarrow


def arrow() -> Any:
    """Return pyarrow."""
    return need("pyarrow", "scale", "a store of graphs")


def _parquet() -> Any:
    return need("pyarrow.parquet", "scale", "a store of graphs")


def check_declared(what: object, file: Any, held: int, cap: Cap = DEFAULT) -> None:
    """Refuse an opened Parquet file that declares more than is allowed: runs can be endless."""
    about = file.metadata
    groups = [about.row_group(k) for k in range(about.num_row_groups)]
    rows = max(about.num_rows, sum(max(group.num_rows, 0) for group in groups))
    packed = sum(max(group.total_byte_size, 0) for group in groups)
    cap.check(what, max(packed, 8 * rows * about.num_columns), held)


def _open(data: bytes, what: object) -> Any:
    # Not read_table, which goes by way of data sets and takes ten times as long for a small file.
    file = _parquet().ParquetFile(arrow().BufferReader(data))
    check_declared(what, file, len(data))
    return file


def read_table(data: bytes, columns: Sequence[str] | None, what: object) -> Any:
    """Return the table of a Parquet file, or some columns of it."""
    columns = None if columns is None else [*columns]
    return _open(data, what).read(columns=columns, use_threads=False)


def named_table(first: int, names: Sequence[str], more: Mapping[str, Any]) -> bytes:
    """Return a Parquet file with one row per name: its place from ``first`` on, and more columns.

    In columns of objects, None and nan become null.
    """
    table = {
        "place": np.arange(first, first + len(names), dtype=np.int64),
        "name": arrow().array(list(names), arrow().string()),
    }
    for name, values in more.items():
        array = np.asarray(values)
        if len(array) != len(names):
            raise InputError(
                f"the column {name!r} must have one value per graph, {len(names)}; got {len(array)}"
            )
        objects = array.dtype.kind in "UO"
        table[name] = arrow().array(array.tolist(), from_pandas=True) if objects else array
    return to_bytes(arrow().table(table))


def to_bytes(table: Any) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    out = io.BytesIO()
    _parquet().write_table(table, out)
    return out.getvalue()


# ---------------------------------------------------------------------- names and facts


def graph_table(
    first: int, names: Sequence[str], facts: GraphFacts, columns: Mapping[str, Any]
) -> bytes:
    """Return the table of some graphs: place, name, facts and further columns."""
    taken = {"place", "name", *FACTS} & set(columns)
    if taken:
        raise InputError(f"columns must not be called {', '.join(map(repr, sorted(taken)))}")
    return named_table(first, names, {name: getattr(facts, name) for name in FACTS} | {**columns})


def facts_of(table: Any) -> GraphFacts:
    """Return the facts in a table of graphs."""
    return GraphFacts(*(_numbers(table[name], name) for name in FACTS))


def _numbers(column: Any, name: str) -> NDArray[Any]:
    array = np.ascontiguousarray(column.to_numpy())
    kind = "b" if name.startswith("is_") else "i" if name in _WHOLE else "f"
    if array.dtype.kind != kind:
        raise ValueError(f"column {name!r} holds {array.dtype}")
    return array


def texts_of(table: Any, name: str) -> tuple[str, ...]:
    """Return a column of texts."""
    texts = tuple(table[name].to_pylist())
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"column {name!r} must hold texts")
    return texts


# ---------------------------------------------------------------------- hidden entries


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
    return to_bytes(arrow().table(dict(zip(("graph", "source", "target"), rows.T, strict=True))))


def mask_of(data: bytes, first: int, last: int, n: int) -> Mask | None:
    """Return the mask of graphs ``first`` to ``last`` of the store, None if nothing is hidden."""
    table = read_table(data, None, "the table of hidden entries")
    graph, s, t = (table[name].to_numpy() for name in ("graph", "source", "target"))
    for column, least, most in ((graph, 0, 2**62), (s, 0, n), (t, -1, n)):
        if column.dtype.kind != "i" or (column < least).any() or (column >= most).any():
            raise ValueError("hidden entries must be places of vertices")
    if (np.diff(graph) < 0).any():
        raise ValueError("hidden entries must be in the order of their graphs")
    lo, hi = np.searchsorted(graph, (first, last))
    graph, s, t = graph[lo:hi] - first, s[lo:hi], t[lo:hi]
    m, gone = last - first, t < 0
    present = np.ones((m, n), np.bool_)
    present[graph[gone], s[gone]] = False
    places = ((graph * n + s)[~gone], t[~gone])
    hidden = sparse.coo_array((np.ones(len(places[1]), np.bool_), places), shape=(m * n, n))
    return make_mask(present, sparse.csr_array(hidden))


# ---------------------------------------------------------------------- edges


def edges_of(flat: sparse.csr_array, first: int) -> tuple[bytes, bool]:
    """Return the Parquet file of graphs, and whether each edge is stored once for both directions.

    Parameters
    ----------
    flat : (m * n, n)
        In canonical form.
    first
        Place of the first graph in the store.
    """
    n = flat.shape[1]
    back = transpose_flat(flat)
    parts = ("indptr", "indices", "data")
    mirrored = all(np.array_equal(getattr(flat, x), getattr(back, x)) for x in parts)
    del back
    index = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    graph, s = np.divmod(row_numbers(flat), n)
    columns = {"graph": graph, "source": s.astype(index), "target": flat.indices.astype(index),
               "weight": flat.data}  # fmt: skip
    if mirrored:
        upper = s <= flat.indices
        columns = {name: values[upper] for name, values in columns.items()}
    weight = columns["weight"]
    columns["graph"] = columns["graph"] + first
    out = io.BytesIO()
    # Runs and few different values shrink to almost nothing; numbers that differ are left alone.
    few = ["graph"] + ["weight"] * bool(len(weight) == 0 or (weight == weight[0]).all())
    options: dict[str, Any] = {"use_dictionary": few, "write_statistics": False}
    _parquet().write_table(arrow().table(columns), out, compression="none", **options)
    return out.getvalue(), mirrored


def flat_of(
    data: bytes, first: int, last: int, n: int, mirrored: bool, dtype: np.dtype[Any]
) -> sparse.csr_array:
    """Return graphs ``first`` to ``last`` of the store from the file they are in, (m * n, n)."""
    file, m = _open(data, "the table of edges"), last - first
    graph = _column(file, "graph")
    if graph.dtype.kind not in "iu" or (graph[1:] < graph[:-1]).any():
        raise ValueError("edges must be in the order of their graphs")
    cuts = np.searchsorted(graph, np.arange(first, last + 1)).astype(np.int64)
    s, t, weight = (
        _column(file, name)[cuts[0] : cuts[-1]] for name in ("source", "target", "weight")
    )
    _check_edges(s, t, weight, n, mirrored)
    index = np.int32 if max(2 * len(s), m * n) <= np.iinfo(np.int32).max else np.int64
    rows = np.repeat(np.arange(m, dtype=index) * n, np.diff(cuts))
    values, places = weight.astype(dtype, copy=False), (rows + s, t)
    if mirrored:
        # Entries (t, s) of a row t come in the order of s, and before its own: rows stay sorted.
        off = s != t
        places = (np.concatenate([(rows + t)[off], rows + s]), np.concatenate([s[off], t]))
        values = np.concatenate([values[off], values])
    flat = sparse.csr_array(sparse.coo_array((values, places), shape=(m * n, n)))
    del s, t, weight, rows, values, places
    if len(data) > _MUCH:
        arrow().default_memory_pool().release_unused()
    flat.has_canonical_format = True
    return flat


def _check_edges(
    s: NDArray[Any], t: NDArray[Any], weight: NDArray[Any], n: int, half: bool
) -> None:
    """Raise ValueError for edges that are not among the vertices, or not as they are declared."""
    if any(column.dtype.kind not in "iu" for column in (s, t)) or weight.dtype.kind != "f":
        raise ValueError("columns must be whole numbers, and weights floating-point numbers")
    if not len(s) == len(t) == len(weight):
        raise ValueError("columns must have one length")
    if len(s) == 0:
        return
    if min(int(s.min()), int(t.min())) < 0 or max(int(s.max()), int(t.max())) >= n:
        raise ValueError(f"vertices must be from 0 to {n - 1}")
    if half and (s > t).any():
        raise ValueError("edges must have their source before their target")


def _column(file: Any, name: str) -> NDArray[Any]:
    """Return one column, so that no more than one is there twice."""
    values: NDArray[Any] = file.read(columns=[name], use_threads=False)[name].to_numpy()
    return values
