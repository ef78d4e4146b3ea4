"""Edges between named vertices: GraphML by networkx, Parquet by pyarrow."""

from __future__ import annotations

import io
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import ReadError
from eigengraphs.io.file_graph import FileGraph, Notice, few, of_edges
from eigengraphs.io.one_stack import refuse_shifted
from eigengraphs.io.text_files import SOURCE, TARGET, WEIGHT, natural
from eigengraphs.store.parquet_tables import check_declared
from eigengraphs.system.extras import need
from eigengraphs.system.limits import Cap, read_json

PARQUET_METADATA = b"eigengraphs"  # key of names that have no edge, and the direction, as JSON
_GRAPH = ("graph", "graph_name", "graph_id", "subject", "subject_id", "participant_id", "sub", "id")
# Attributes that hold names of vertices in files whose own ids are numbers.
_NAMES = ("name", "label", "dn_name", "dn_fsname", "dn_region")


# ---------------------------------------------------------------------- GraphML


def read_graphml(path: Path, data: bytes, key: str | None, *_: object) -> list[FileGraph]:
    """Return one graph; ``key`` is the edge attribute that holds the weight.

    By default that is "weight", or the only number.
    """
    nx = need("networkx", "io", "reading GraphML files")
    _refuse_document_type(path, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of attributes that do not concern us
        graph = nx.read_graphml(io.BytesIO(data))
    if len(graph) == 0:
        raise ReadError(f"{path} holds no vertices: leave it out, or write it again")
    attribute, notices = _weight_attribute(path, graph, key)
    place, directed = {node: s for s, node in enumerate(graph)}, bool(graph.is_directed())
    ends, weight = list[tuple[int, int]](), list[float]()
    for one, other, value in graph.edges(data=attribute, default=1):
        ends.append((place[one], place[other]))
        try:
            weight.append(float(value))
        except (TypeError, ValueError):
            raise ReadError(
                f"{path}: the edge from {one!r} to {other!r} has {attribute} = {value!r}, which is "
                "not a number; choose another attribute with key="
            ) from None
    pairs = np.array(ends, dtype=np.intp).reshape(-1, 2)
    # So that parallel edges are seen to be the same pair.
    s, t = (pairs if directed else np.sort(pairs, axis=-1)).T
    names = _vertex_names(graph)
    return [of_edges(s, t, weight, names, directed=directed, notices=notices, format="GraphML")]


def _refuse_document_type(path: Path, data: bytes) -> None:
    """Refuse XML with a document type, and so all entities and links to other files.

    This goes by the parser that is part of Python, in whatever encoding the file is, before any
    reader sees the file; no graph needs a document type. What is not XML is left to the reader.
    """

    def refuse(*_: Any) -> None:
        raise ReadError(
            f"{path} has a document type (<!DOCTYPE ...>), which graph files do not need and "
            "attacks use: remove it if you trust the file"
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    with suppress(expat.ExpatError):
        parser.Parse(data, True)


def _vertex_names(graph: Any) -> tuple[str, ...]:
    """Return an attribute that names every vertex differently, or else the ids."""
    for attribute in _NAMES:
        names = tuple(str(data.get(attribute, "")) for _, data in graph.nodes(data=True))
        if len(set(names)) == len(names) and "" not in names:
            return names
    return tuple(str(node) for node in graph)


def _weight_attribute(path: Path, graph: Any, key: str | None) -> tuple[str, tuple[Notice, ...]]:
    found = {
        name: None
        for *_, data in graph.edges(data=True)
        for name, value in data.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    found.pop("id", None)  # of edges, as igraph writes it
    listed = few(list(found), 8)
    if key is not None:
        if key not in found and graph.number_of_edges():
            raise ReadError(f"{path}: no edge has a number called {key!r}; there are: {listed}")
        return key, ()
    if "weight" in found or not found:
        return "weight", ()
    first = next(iter(found))
    if len(found) > 1:
        raise ReadError(
            f"{path}: edges have no 'weight' but {len(found)} other numbers: {listed}; choose one "
            f"with key={first!r}"
        )
    return first, (Notice.of("attribute", path, f": {first}"),)


# ---------------------------------------------------------------------- Parquet


def read_parquet(path: Path, data: bytes, key: str | None, cap: Cap) -> Iterator[FileGraph]:
    """Yield every graph of a table with one row per edge; ``key`` names the column of weights."""
    arrow, parquet = (need(name, "io", "reading Parquet files")
                      for name in ("pyarrow", "pyarrow.parquet"))  # fmt: skip
    opened = parquet.ParquetFile(io.BytesIO(data))
    check_declared(path, opened, len(data), cap)
    schema = opened.schema_arrow
    said, known = _metadata(schema), list(map(str, schema.names))

    def find(words: Collection[str]) -> str | None:
        return next((name for name in known if name.lower() in words), None)

    graph, source, target = find(_GRAPH), find(SOURCE), find(TARGET)
    weight = find(WEIGHT) if key is None else key
    if source is None or target is None or (key is not None and key not in known):
        raise ReadError(
            f"{path} must be a table of edges with columns source and target, and perhaps graph "
            f"and weight; it has: {', '.join(map(repr, known))}"
        )
    named = [name for name in (graph, source, target) if name is not None]
    wanted = named if weight is None or weight in named else [*named, weight]
    # Texts as places in a list: one long text, many times, would be as long as it likes.
    reader = parquet.ParquetFile(io.BytesIO(data), read_dictionary=named)
    table = reader.read(columns=wanted, use_threads=False)
    *graphs, sources, targets = (
        _coded(path, table, name, arrow.types.is_dictionary(schema.field(name).type))
        for name in named
    )
    try:
        numbers = np.ones(len(table)) if weight is None else table[weight].to_numpy()
        values = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise ReadError(f"{path}: column {weight!r} must hold numbers") from None
    names = tuple(said.get("vertices") or sorted({*sources[1], *targets[1]}, key=natural))
    s, t = _placed(sources, names), _placed(targets, names)
    if graph is None:
        yield of_edges(s, t, values, names, names_all="vertices" in said, format="Parquet")
        return
    keys = said.get("graphs") or sorted(graphs[0][1], key=natural)
    which = _placed(graphs[0], keys)
    order = np.argsort(which, kind="stable")
    edges = np.split(order, np.searchsorted(which[order], np.arange(1, len(keys))))
    if "vertices" not in said:
        own = [np.unique(np.concatenate([s[mine], t[mine]])).tolist() for mine in edges]
        refuse_shifted(
            [tuple(names[k] for k in places) for places in own],
            [f"{path}, graph {name!r}," for name in keys],
            "give them names that are not numbers",
        )
    # All graphs of one table are on its vertices.
    for mine, name in zip(edges, keys, strict=True):
        one = of_edges(s[mine], t[mine], values[mine], names, key=name, format="Parquet")
        yield replace(one, directed=said.get("directed"))


def _metadata(schema: Any) -> dict[str, Any]:
    """Return what eigengraphs wrote beside a table; ValueError if that is damaged."""
    said = read_json((schema.metadata or {}).get(PARQUET_METADATA, b"{}"))
    if not isinstance(said, dict):
        raise ValueError("its metadata are damaged")
    for name in ("vertices", "graphs"):
        texts = said.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"its list of {name} is damaged")
    return said


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


def _placed(coded: tuple[NDArray[np.intp], list[str]], names: Sequence[str]) -> NDArray[np.intp]:
    """Return places in a list of used names as places among all names."""
    place = {name: k for k, name in enumerate(names)}
    codes, used = coded
    return np.array([place[name] for name in used], np.intp)[codes]
