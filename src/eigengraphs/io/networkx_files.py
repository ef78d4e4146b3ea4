"""GraphML, GML and Pajek files, read by networkx."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.errors import ReadError
from eigengraphs.io.notices import Notice, few
from eigengraphs.io.optional import need
from eigengraphs.io.raw import EdgeGraph
from eigengraphs.io.xml_guard import refuse_declarations

__all__ = ["FORMATS", "read_networkx"]

FORMATS = {".graphml": "GraphML", ".gml": "GML", ".net": "Pajek", ".paj": "Pajek"}

_LONGEST_LINE = 10_000  # characters of a vertex or an edge of Pajek

# Attributes that hold names of vertices in files whose own ids are numbers.
_NAMES = ("name", "label", "dn_name", "dn_fsname", "dn_region")


def read_networkx(path: Path, data: bytes, format: str, key: str | None) -> EdgeGraph:
    """Read one graph.

    Parameters
    ----------
    key
        The edge attribute that holds the weight; "weight", or the only number, by default.
    """
    nx = need("networkx", f"reading {format} files")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of attributes that do not concern us
            if format == "GraphML":
                refuse_declarations(path, data)
                graph = nx.read_graphml(io.BytesIO(data))
            elif format == "GML":
                graph = nx.read_gml(io.BytesIO(data), label="id")
            else:
                lines = re.split(r"\r?\n", data.decode("utf-8-sig"))
                _refuse_long(path, lines)
                graph = nx.parse_pajek(lines)
    except ReadError:
        raise
    except Exception as error:  # networkx raises what its parsers raise
        raise ReadError(
            f"{path} is no {format} file that networkx can read: {error or type(error).__name__}; "
            "see whether the file is whole"
        ) from None
    if len(graph) == 0:
        raise ReadError(f"{path} holds no vertices: leave it out, or write it again")
    names = _names(graph)
    attribute, notices = _attribute(path, graph, key)
    place = {node: s for s, node in enumerate(graph)}
    edges = list(graph.edges(data=attribute, default=1) if attribute else graph.edges())
    weight = np.ones(len(edges))
    for i, edge in enumerate(edges):
        if len(edge) == 3:
            try:
                weight[i] = float(edge[2])
            except (TypeError, ValueError):
                raise ReadError(
                    f"{path}: the edge from {edge[0]!r} to {edge[1]!r} has {attribute} = "
                    f"{edge[2]!r}, which is not a number; choose another attribute with key="
                ) from None
    ends = np.array([[place[edge[0]], place[edge[1]]] for edge in edges], dtype=np.intp)
    ends = ends.reshape(-1, 2)
    directed = bool(graph.is_directed())
    if not directed:
        ends.sort(axis=-1)  # so that parallel edges are seen to be the same pair
    s, t = ends.T
    return EdgeGraph(s, t, weight, names, True, directed, notices=notices, format=format)


def _refuse_long(path: Path, lines: list[str]) -> None:
    """Refuse a line of Pajek that would take the square of its length; rows of matrices do not."""
    for place, line in enumerate(lines, 1):
        if line.lower().startswith("*matrix"):
            return
        if len(line) > _LONGEST_LINE:
            raise ReadError(
                f"{path}, line {place} has {len(line):,} characters, more than {_LONGEST_LINE:,}: "
                "shorten the name of the vertex"
            )


def _names(graph: Any) -> tuple[str, ...]:
    """Return an attribute that names every vertex differently, or else the ids."""
    for attribute in _NAMES:
        names = tuple(str(data.get(attribute, "")) for _, data in graph.nodes(data=True))
        if len(set(names)) == len(names) and "" not in names:
            return names
    return tuple(str(node) for node in graph)


def _attribute(path: Path, graph: Any, key: str | None) -> tuple[str | None, tuple[Notice, ...]]:
    found: dict[str, None] = {}
    for _, _, data in graph.edges(data=True):
        for name, value in data.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[name] = None
    found.pop("id", None)  # of edges, as igraph writes it
    if key is not None:
        if key not in found and graph.number_of_edges():
            raise ReadError(
                f"{path}: no edge has a number called {key!r}; there are: {few(list(found), 8)}"
            )
        return key, ()
    if "weight" in found or not found:
        return "weight", ()
    if len(found) > 1:
        raise ReadError(
            f"{path}: edges have no 'weight' but {len(found)} other numbers: "
            f"{few(list(found), 8)}; choose one with key={next(iter(found))!r}"
        )
    only = next(iter(found))
    return only, (Notice.of("attribute", path, f": {only}"),)
