"""Sparse graphs as a table of edges in Parquet, and back to one flat CSR matrix."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.store.edge_kernels import counts_of, edges_in_order, fill_mirrored, is_mirror
from eigengraphs.store.tables import arrow, check_declared, parquet

__all__ = ["edges_of", "flat_of"]

_MUCH = 2**24  # bytes of a file: with larger ones, what was read does not stay with pyarrow
_GROUP = 1_000_000  # edges of a row group, about; one graph is never cut


def edges_of(flat: sparse.csr_array, first: int) -> tuple[bytes, bool]:
    """Return the Parquet file of graphs, and whether each edge stands once for both directions.

    Parameters
    ----------
    flat : (m * n, n)
        In canonical form.
    first
        Place of the first graph in the store.
    """
    n = flat.shape[1]
    m = flat.shape[0] // n
    mirrored = bool(
        is_mirror(flat.data, flat.indices, flat.indptr, n, np.empty(n, flat.indptr.dtype))
    )
    index = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    count = int(flat.nnz)
    graph, s, t = np.empty(count, np.int64), np.empty(count, index), np.empty(count, index)
    weight, cuts = np.empty(count, flat.dtype), np.empty(m + 1, np.int64)
    parts = (flat.data, flat.indices, flat.indptr)
    edges_in_order(*parts, n, first, mirrored, graph, s, t, weight, cuts)
    columns = {"graph": graph, "source": s, "target": t, "weight": weight}
    weight = weight[: cuts[-1]]
    table = arrow().table({name: values[: cuts[-1]] for name, values in columns.items()})
    out = io.BytesIO()
    # Runs and few different values shrink to almost nothing; numbers that differ are left alone.
    few = ["graph"] + ["weight"] * bool(len(weight) == 0 or (weight == weight[0]).all())
    options: dict[str, Any] = {"use_dictionary": few, "compression": "none"}
    with parquet().ParquetWriter(out, table.schema, write_statistics=["graph"], **options) as file:
        lo = 0
        while lo < m:
            hi = lo + 1
            while hi < m and cuts[hi + 1] - cuts[lo] <= _GROUP:
                hi += 1
            file.write_table(table.slice(cuts[lo], cuts[hi] - cuts[lo]), row_group_size=2**30)
            lo = hi
    return out.getvalue(), mirrored


_ORDER = "edges must stand in the order of their graphs"


def flat_of(
    data: bytes, first: int, lo: int, hi: int, n: int, mirrored: bool, dtype: np.dtype[Any]
) -> sparse.csr_array:
    """Return graphs ``lo`` to ``hi`` of a file, whose first graph is ``first``, as (m * n, n)."""
    file = parquet().ParquetFile(arrow().BufferReader(data))
    check_declared("the table of edges", file, len(data))
    groups = _groups(file, first + lo, first + hi)
    m = hi - lo
    cuts = _cuts(file, groups, first + lo, first + hi)
    s, t, weight = (
        _column(file, groups, name)[cuts[0] : cuts[-1]] for name in ("source", "target", "weight")
    )
    _check_edges(s, t, weight, n, mirrored)
    weight, cuts = weight.astype(dtype, copy=False), cuts - cuts[0]
    if cuts[-1] > len(s):
        raise ValueError(_ORDER)
    entries = counts_of(s, t) if mirrored else len(s)
    index = np.int32 if max(entries, n) <= np.iinfo(np.int32).max else np.int64
    indptr = np.zeros(m * n + 1, index)
    if mirrored:
        values, indices = np.empty(entries, dtype), np.empty(entries, index)
        fill_mirrored(cuts, n, s, t, weight, indptr, indices, values)
    else:
        values, indices = np.array(weight), t.astype(index)
        rows = np.repeat(np.arange(m) * n, np.diff(cuts))
        counts: NDArray[Any] = np.bincount(rows + s, minlength=m * n)
        np.cumsum(counts, out=indptr[1:])
    del s, t, weight
    if len(data) > _MUCH:
        arrow().default_memory_pool().release_unused()
    flat = sparse.csr_array((values, indices, indptr), shape=(m * n, n))
    flat.has_canonical_format = True
    return flat


def _check_edges(
    s: NDArray[Any], t: NDArray[Any], weight: NDArray[Any], n: int, half: bool
) -> None:
    """Raise ValueError for edges that the kernels, which do not look, would follow anywhere."""
    if any(column.dtype.kind not in "iu" for column in (s, t)) or weight.dtype.kind != "f":
        raise ValueError("columns must be whole numbers, and weights floating-point numbers")
    if not len(s) == len(t) == len(weight):
        raise ValueError("columns must be of one length")
    if len(s) == 0:
        return
    if min(int(s.min()), int(t.min())) < 0 or max(int(s.max()), int(t.max())) >= n:
        raise ValueError(f"vertices must be from 0 to {n - 1}")
    if half and (s > t).any():
        raise ValueError("edges must stand with their source before their target")


def _column(file: Any, groups: list[int], name: str) -> NDArray[Any]:
    """Return one column, so that no more than one is there twice."""
    table = file.read_row_groups(groups, columns=[name], use_threads=False)
    values: NDArray[Any] = table[name].combine_chunks().to_numpy(zero_copy_only=False)
    return values


def _cuts(file: Any, groups: list[int], lo: int, hi: int) -> NDArray[np.int64]:
    """Return where the edges of graphs lo to hi begin and end in these row groups, (m + 1,)."""
    counts, before = np.zeros(hi - lo, np.int64), lo
    for k in groups:
        group = file.metadata.row_group(k)
        known = group.column(0).statistics
        if known is None or not known.has_min_max or known.min != known.max:
            graph = _column(file, groups, "graph")
            if graph.dtype.kind not in "iu" or (graph[1:] < graph[:-1]).any():
                raise ValueError(_ORDER)
            return np.searchsorted(graph, np.arange(lo, hi + 1)).astype(np.int64)
        if not before <= known.min < hi:
            raise ValueError(_ORDER)
        before = known.min
        counts[known.min - lo] += group.num_rows  # large graphs have groups of their own
    return np.concatenate([[0], np.cumsum(counts)])


def _groups(file: Any, lo: int, hi: int) -> list[int]:
    """Return the row groups that may hold graphs lo to hi."""
    wanted = []
    for k in range(file.metadata.num_row_groups):
        known = file.metadata.row_group(k).column(0).statistics
        if known is None or not known.has_min_max or (known.min < hi and known.max >= lo):
            wanted.append(k)
    return wanted
