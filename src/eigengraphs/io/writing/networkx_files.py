"""GraphML and GML by networkx, Pajek by hand: networkx does not quote all names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.io.optional import need
from eigengraphs.io.writing.one import OneGraph, check_texts

__all__ = ["write_gml", "write_graphml", "write_pajek"]


def write_graphml(path: Path, graph: OneGraph) -> None:
    """Write GraphML."""
    nx = need("networkx", "writing GraphML files")
    check_texts(graph.names, "vertex", "GraphML", "[\ufffe\uffff]")
    # Not the writer that takes lxml where it is there: the same bytes everywhere.
    nx.write_graphml_xml(_as_networkx(nx, graph), path, encoding="utf-8")


def write_gml(path: Path, graph: OneGraph) -> None:
    """Write GML."""
    nx = need("networkx", "writing GML files")
    check_texts(graph.names, "vertex", "GML")
    made = _as_networkx(nx, graph)
    if any(np.isnan(value) for _, _, value in made.edges(data="weight")):
        raise InputError("GML cannot hold missing entries; write a .npz file, or a folder of csv")
    nx.write_gml(made, path)


def write_pajek(path: Path, graph: OneGraph) -> None:
    """Write Pajek's format."""
    check_texts(graph.names, "vertex", "Pajek's format", r'["\\]')
    s, t, weight = graph.edges()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"*Vertices {len(graph.names)}\n")
        file.writelines(f'{i} "{name}"\n' for i, name in enumerate(graph.names, 1))
        file.write("*Arcs\n" if graph.directed else "*Edges\n")
        for source, target, value in zip(s.tolist(), t.tolist(), weight.tolist(), strict=True):
            file.write(f"{source + 1} {target + 1} {value!r}\n")


def _as_networkx(nx: Any, graph: OneGraph) -> Any:
    made = nx.DiGraph() if graph.directed else nx.Graph()
    made.add_nodes_from(graph.names)
    names = graph.names
    s, t, weight = graph.edges()
    made.add_weighted_edges_from(
        (names[source], names[target], value)
        for source, target, value in zip(s.tolist(), t.tolist(), weight.tolist(), strict=True)
    )
    return made
