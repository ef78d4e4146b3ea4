"""Give the vertices of graphs the names of a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.assemble import refuse_shifted
from eigengraphs.io.labels import VertexTable, read_vertices
from eigengraphs.io.naming import natural
from eigengraphs.io.notices import few
from eigengraphs.io.raw import EdgeGraph, MatrixGraph, RawGraph
from eigengraphs.stack.names import shifted, spelling

__all__ = ["LabelsLike", "as_vertex_table", "rename", "renamer", "table_names", "with_numbers"]

LabelsLike: TypeAlias = "VertexTable | str | os.PathLike[str] | Sequence[str]"


def as_vertex_table(labels: Any) -> VertexTable:
    """Return the table that a path, a list of names or a table stands for."""
    if isinstance(labels, VertexTable):
        return labels
    if isinstance(labels, str | os.PathLike):
        return read_vertices(labels)
    names = tuple(str(name) for name in labels)
    if len(set(names)) < len(names):
        repeated = sorted({name for i, name in enumerate(names) if name in names[:i]})
        raise InputError(f"labels must be unique; more than once: {few(repeated)}")
    return VertexTable(names)


def rename(graphs: Sequence[RawGraph], paths: Sequence[Path], table: VertexTable) -> list[RawGraph]:
    """Return graphs with the table's names.

    Matrices without names take them in order. Vertices that are called by the table's ids, or by
    running numbers from 0 or 1, take the name that belongs to the number.
    """
    change = renamer([graph.names or () for graph in graphs], paths, table)
    return [change(graph, path) for graph, path in zip(graphs, paths, strict=True)]


def renamer(
    names: Sequence[tuple[str, ...]], paths: Sequence[Path], table: VertexTable
) -> Callable[[RawGraph, Path], RawGraph]:
    """Return the function that names one graph, for graphs that call their vertices ``names``."""
    mapping = table_names(names, paths, table)
    used = bool(mapping)
    everything = table.names
    if table.colours and used:
        # A colour table lists the regions of all atlases: only those of the graphs count.
        everything = tuple(name for name in table.names if name in set(mapping.values()))
    place = {name: s for s, name in enumerate(everything)}

    def change(graph: RawGraph, path: Path) -> RawGraph:
        if not isinstance(graph, EdgeGraph):
            return _rename_matrix(graph, path, table, mapping)
        move = np.array([place[mapping[name]] for name in graph.names], dtype=np.intp)
        s, t = move[graph.source], move[graph.target]
        return replace(graph, source=s, target=t, names=everything, declared=True)

    return change


def _rename_matrix(
    graph: MatrixGraph, path: Path, table: VertexTable, mapping: dict[str, str]
) -> MatrixGraph:
    if graph.names is not None:
        return replace(graph, names=tuple(mapping[name] for name in graph.names))
    n = int(graph.matrix.shape[0])
    names = table.names
    if table.colours and len(names) == n + 1 and table.ids is not None and table.ids[0] == "0":
        names = names[1:]  # number 0 is what is no region
    if len(names) != n:
        raise ReadError(
            f"{path} has {n} vertices, and the vertex table names {len(names)}; give one name a row"
        )
    return replace(graph, names=names)


def table_names(
    names: Sequence[tuple[str, ...]], paths: Sequence[Path], table: VertexTable
) -> dict[str, str]:
    """Return the table's name for everything that graphs call a vertex."""
    used = set[str]().union(*names)
    if used <= set(table.names):
        return {name: name for name in used}
    if table.ids is not None and used <= set(table.ids):
        by_id = dict(zip(table.ids, table.names, strict=True))
        return {name: by_id[name] for name in used}
    n = len(table)
    if table.ids is None and all(name.isdecimal() for name in used):
        numbers = {int(name) for name in used}
        first = 0 if 0 in numbers else 1
        if max(numbers) < n + first and (first == 0 or n in numbers):
            return {name: table.names[int(name) - first] for name in used}
        if max(numbers) < n:
            raise ReadError(
                f"the graphs call their vertices {min(numbers)} to {max(numbers)} and there are "
                f"{n} names in the vertex table: whether numbers start at 0 or 1 cannot be told; "
                "give the vertex table a column 'index'"
            )
    refuse_shifted(names, paths, "give each a row in the table of vertices")
    strange = used - set(table.ids or table.names)
    if table.ids is None:  # running numbers up to n are known
        beyond = {name for name in strange if not (name.isdecimal() and len(name) < 19
                                                   and int(name) <= n)}  # fmt: skip
        strange = beyond or strange
    unknown = sorted(strange, key=natural)
    culprit = next(path for path, own in zip(paths, names, strict=True) if strange & set(own))
    raise ReadError(
        f"the vertex table does not know {few([repr(name) for name in unknown], 6)}, vertices of "
        f"graphs such as {culprit.name}{spelling(unknown, table.names)}"
        f"{shifted(used, table.ids or ())}; give the table a column 'index' or 'name' that has them"
    )


def with_numbers(table: VertexTable, names: Sequence[tuple[str, ...]]) -> VertexTable:
    """Return a table with the running numbers by which graphs call its vertices as its ids."""
    used = set[str]().union(*names)
    plain = all(name.isdecimal() and name == str(int(name)) for name in used)
    if table.ids is not None or not plain or used <= set(table.names):
        return table
    first = 0 if "0" in used else 1
    return replace(table, ids=tuple(map(str, range(first, first + len(table)))))
