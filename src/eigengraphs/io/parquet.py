"""Tables of edges in Parquet files, one row an edge: graph, source, target, weight."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import ReadError
from eigengraphs.io.assemble import refuse_shifted
from eigengraphs.io.kinds import SOURCE, TARGET, WEIGHT
from eigengraphs.io.naming import natural
from eigengraphs.io.optional import need
from eigengraphs.io.raw import EdgeGraph, RawGraph
from eigengraphs.store.parquet_tables import check_declared
from eigengraphs.system.limits import DEFAULT, Cap, read_json

__all__ = ["METADATA", "read_parquet", "told"]

METADATA = b"eigengraphs"  # names that have no edge, and the direction, as JSON
_GRAPH = ("graph", "graph_name", "graph_id", "subject", "subject_id", "participant_id", "sub", "id")


def read_parquet(path: Path, data: bytes, key: str | None, cap: Cap = DEFAULT) -> list[RawGraph]:
    """Read every graph of a table; ``key`` names the column of weights."""
    arrow = need("pyarrow", "reading Parquet files")
    parquet = need("pyarrow.parquet", "reading Parquet files")
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data))
        check_declared(path, file, len(data), cap)
        said = told(file.schema_arrow)
        known = list(map(str, file.schema_arrow.names))
    except ReadError:
        raise
    except Exception as error:  # pyarrow has errors of its own, not all of one root
        raise _unreadable(path, error) from None
    columns = {name.lower(): name for name in known}

    def find(words: Collection[str]) -> str | None:
        return next((name for word, name in columns.items() if word in words), None)

    graph, source, target = find(_GRAPH), find(SOURCE), find(TARGET)
    weight = find(WEIGHT) if key is None else key
    if source is None or target is None or (key is not None and key not in known):
        raise ReadError(
            f"{path} must be a table of edges with columns source and target, and perhaps graph "
            f"and weight; it has: {', '.join(map(repr, known))}"
        )
    named = [name for name in (graph, source, target) if name is not None]
    wanted = named if weight is None or weight in named else [*named, weight]
    try:
        # Texts as places in a list: one long text, many times, would be as long as it likes.
        reader = parquet.ParquetFile(arrow.BufferReader(data), read_dictionary=named)
        table = reader.read(columns=wanted, use_threads=False)
    except Exception as error:
        raise _unreadable(path, error) from None
    kinds = file.schema_arrow

    def coded(name: str) -> tuple[NDArray[np.intp], list[str]]:
        return _coded(path, table, name, arrow.types.is_dictionary(kinds.field(name).type))

    ends = [coded(name) for name in (source, target)]
    values = np.ones(len(ends[0][0]))
    if weight is not None:
        try:
            values = np.asarray(table[weight].to_numpy(), dtype=np.float64)
        except (TypeError, ValueError):
            raise ReadError(f"{path}: column {weight!r} must hold numbers") from None
    names = tuple(said.get("vertices") or sorted({*ends[0][1], *ends[1][1]}, key=natural))
    place = {name: s for s, name in enumerate(names)}
    s, t = (np.array([place[name] for name in used], np.intp)[codes] for codes, used in ends)
    if graph is None:
        return [EdgeGraph(s, t, values, names, "vertices" in said, format="Parquet")]
    codes, used = coded(graph)
    keys = said.get("graphs") or sorted(used, key=natural)
    which = np.array([keys.index(name) for name in used], dtype=np.intp)[codes]
    order = np.argsort(which, kind="stable")
    cuts = np.searchsorted(which[order], np.arange(len(keys) + 1))
    graphs = list[EdgeGraph]()
    for i, name in enumerate(keys):
        mine = order[cuts[i] : cuts[i + 1]]
        # All graphs of one table are on its vertices.
        parts = (s[mine], t[mine], values[mine], names)
        graphs.append(EdgeGraph(*parts, True, said.get("directed"), key=name, format="Parquet"))
    if "vertices" not in said:
        own = [np.unique(np.concatenate([graph.source, graph.target])) for graph in graphs]
        refuse_shifted(
            [tuple(names[s] for s in places.tolist()) for places in own],
            [f"{path}, graph {name!r}," for name in keys],
            "give them names that are not numbers",
        )
    return [*graphs]


def told(schema: Any) -> dict[str, Any]:
    """Return what eigengraphs wrote beside a table; ValueError if that is damaged."""
    said = read_json((schema.metadata or {}).get(METADATA, b"{}"))
    if not isinstance(said, dict):
        raise ValueError("its metadata are damaged")
    for name in ("vertices", "graphs"):
        texts = said.get(name)
        if texts is not None and not (
            isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        ):
            raise ValueError(f"its list of {name} is damaged")
    return said


def _unreadable(path: Path, error: Exception) -> ReadError:
    return ReadError(f"{path} is no Parquet file that can be read: {error}")


def _coded(path: Path, table: Any, name: str, listed: bool) -> tuple[NDArray[np.intp], list[str]]:
    """Return a column as places in a list of names; ``listed`` if it was written as one."""
    column = table[name].combine_chunks()
    if column.null_count:
        row = next(i for i, value in enumerate(column.to_pylist()) if value is None)
        raise ReadError(
            f"{path}: column {name!r} is empty in row {row + 1}; fill it, or leave out the row"
        )
    coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    used = coded.dictionary.to_pylist()
    if used and all(isinstance(value, float) and value.is_integer() for value in used):
        most = 2**24 if "float" in str(coded.dictionary.type) else 2**53
        if max(map(abs, used)) >= most:
            raise ReadError(
                f"{path}: column {name!r} holds floats such as {max(used, key=abs):.0f}, which are "
                "not exact as ids: write the column as integers or as texts"
            )
        used = [int(value) for value in used]  # as a column of numbers with gaps becomes
    codes = np.asarray(coded.indices.to_numpy(zero_copy_only=False), np.intp)
    if not listed:  # the file's own list of texts may hold some that no row has
        there, codes = np.unique(codes, return_inverse=True)
        used = [used[place] for place in there.tolist()]
    return codes, list(map(str, used))
