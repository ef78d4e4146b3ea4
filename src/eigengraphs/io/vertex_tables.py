"""Tables of vertices: names, numbers and coordinates, and graphs that are named by them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.file_graph import FileGraph, few, moved
from eigengraphs.io.one_stack import refuse_shifted
from eigengraphs.io.text_files import (
    Notation,
    TextFile,
    as_arrays,
    find_column,
    is_number,
    natural,
    open_table,
    whole,
)
from eigengraphs.stack.names import shifted, spelling

__all__ = [
    "LabelsLike", "VertexTable", "as_vertex_table", "read_vertices", "renamer", "table_names",
    "with_numbers",
]  # fmt: skip

LabelsLike: TypeAlias = "VertexTable | str | os.PathLike[str] | Sequence[str]"

_NAME = [
    "name", "label", "region", "region_name", "roi_name", "label_name", "structure", "acronym",
    "abbreviation", "vertex", "node", "node_name", "roi", "parcel", "area",
]  # fmt: skip
_ID = [
    "index", "id", "node_id", "vertex_id", "label_id", "roi_id", "number", "no", "roi", "value",
    "label", "node", "vertex", "",
]  # fmt: skip
_HEMISPHERE = ("hemisphere", "hemi", "side")
_AXES = ("{}", "{}_mni", "mni_{}", "{}.mni", "{}_mm", "pos_{}", "coord_{}")
_COLORS = ("red", "green", "blue", "alpha")


@dataclass(frozen=True, repr=False, eq=False)
class VertexTable:
    """What is known of vertices.

    Attributes
    ----------
    names : tuple of str
        Unique names, in the order of the table.
    ids : tuple of str or None
        What edge lists may call the vertices: the column ``index`` or ``id``.
    coordinates : ndarray of shape (n, 3), or None
        Columns x, y and z.
    columns : mapping of str to ndarray
        Every column of the table: numbers where all are numbers, else words.
    colours : bool
        Whether it is a color table, which may list more regions than the graphs have.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rows = ["name,x,y,z", "V1,0,1,2", "V2,3,4,5"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/regions.csv"
    ...     np.savetxt(path, rows, fmt="%s")
    ...     table = eg.io.read_vertices(path, n=2)
    >>> table
    VertexTable(2 vertices, with coordinates; columns: name, x, y, z)
    """

    names: tuple[str, ...]
    ids: tuple[str, ...] | None = None
    coordinates: NDArray[np.float64] | None = None
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    colours: bool = False

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        where = "" if self.coordinates is None else ", with coordinates"
        return f"VertexTable({len(self)} vertices{where}; columns: {', '.join(self.columns)})"

    def _for(self, n: int | None) -> VertexTable:
        """Return the table for n vertices: number 0 of a color table is not a region."""
        if not self.colours or n is None or len(self) != n + 1 or (self.ids or "1")[0] != "0":
            return self
        columns = {name: column[1:] for name, column in self.columns.items()}
        return VertexTable(self.names[1:], (self.ids or ())[1:], None, columns, colours=True)


def read_vertices(
    path: str | os.PathLike[str],
    n: int | None = None,
    *,
    decimal: str | None = None,
    thousands: str | None = None,
) -> VertexTable:
    """Read names of vertices from a table or from a color table.

    Parameters
    ----------
    path : str or path
        A table with a header, in which a column is called ``name``, ``label``, ``region`` or the
        like; a list of names, one per line; or lines ``index name R G B A`` as FreeSurfer has them.
    n : int, optional
        Number of vertices to expect.
    decimal, thousands : str, optional
        Marks in numbers, as in :func:`eigengraphs.read`.

    Returns
    -------
    VertexTable
        Names, ids, coordinates and all columns.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rows = ["name,x,y,z", "V1,0,1,2", "V2,3,4,5"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/regions.csv"
    ...     np.savetxt(path, rows, fmt="%s")
    ...     table = eg.io.read_vertices(path, n=2)
    >>> table.names, table.coordinates.shape
    (('V1', 'V2'), (2, 3))
    """
    text = open_table(Path(path), Notation(None, decimal, thousands))
    table = _read(text)._for(n)
    if n is not None and len(table) != n:
        raise ReadError(f"{path} names {len(table)} vertices, and the graphs have {n}")
    return table


def _read(text: TextFile) -> VertexTable:
    rows = text.cells()
    if all(_is_color_row(row) for row in rows):
        return _color_table(text, rows)
    widths = {len(row) for row in rows}
    names, ids = [row[0] for row in rows], None
    if widths == {1}:
        names = names[1:] if names[0].lower() in _NAME and len(names) > 1 else names
    elif widths == {2} and all(is_number(row[0]) != is_number(row[1]) for row in rows):
        number_first = is_number(rows[0][0])
        names = [row[number_first] for row in rows]
        ids = tuple(row[not number_first] for row in rows)
    else:
        return _with_header(text)
    columns = as_arrays(text.path, {"name": names}, ["name"])
    return VertexTable(_unique(text, names), ids, columns=columns)


def _with_header(text: TextFile) -> VertexTable:
    cells = text.columns()
    lower = {name.lower(): name for name in cells}
    candidates = [lower[word] for word in _NAME if word in lower]
    # A column of numbers is a name only where there is no other.
    worded = [name for name in candidates if not all(map(is_number, cells[name]))]
    numbered = (lower[word] for word in _ID if word in lower and lower[word] not in worded)
    ids = next((name for name in numbered if _are_ids(cells[name])), None)
    name = next(iter([*worded, *candidates]), ids)
    if name is None:
        raise ReadError(
            f"{text.path} must have a column 'name', 'label' or 'region' (or 'index' or 'id'); "
            f"it has: {', '.join(cells)}"
        )
    columns = as_arrays(text.path, cells)
    side = find_column(cells, _HEMISPHERE)
    names = _unique(text, cells[name], None if side is None else cells[side])
    numbers = None if ids is None else tuple(whole(cell) or cell for cell in cells[ids])
    axes = [find_column(cells, [form.format(axis) for form in _AXES]) for axis in "xyz"]
    values = [columns[axis] for axis in axes if axis is not None]
    known = len(values) == 3 and all(value.dtype.kind == "f" for value in values)
    coordinates = np.column_stack(values).astype(np.float64) if known else None
    return VertexTable(names, numbers, coordinates, columns)


def _are_ids(cells: list[str]) -> bool:
    plain = all(re.fullmatch(r"-?[0-9]+(\.0*)?", cell) for cell in cells)
    return plain and len(set(cells)) == len(cells)


def _unique(text: TextFile, names: list[str], sides: list[str] | None = None) -> tuple[str, ...]:
    """Return names that are unique, with the side of the brain if that makes them so."""
    if len(set(names)) == len(names):
        return tuple(names)
    if sides is not None:
        longer = tuple(f"{name}_{side}" for name, side in zip(names, sides, strict=True))
        if len(set(longer)) == len(longer):
            return longer
    repeated = sorted({name for i, name in enumerate(names) if name in names[:i]})
    raise ReadError(
        f"{text.path} names {few([repr(name) for name in repeated])} more than once; vertices need "
        "different names (a column 'hemisphere' is added to the names where that helps)"
    )


def _is_color_row(row: list[str]) -> bool:
    if len(row) < 6 or is_number(row[1]):
        return False
    # isdecimal, not isdigit: ² is a digit, and not a number.
    return all(cell.isdecimal() and len(cell) < 10 for cell in (row[0], *row[-4:]))


def _color_table(text: TextFile, rows: list[list[str]]) -> VertexTable:
    names = [" ".join(row[1:-4]) for row in rows]
    columns: dict[str, NDArray[Any]] = {
        "index": np.array([int(row[0]) for row in rows]),
        "name": np.array(names),
    }
    for place, color in enumerate(_COLORS):
        columns[color] = np.array([int(row[place - 4]) for row in rows])
    ids = tuple(row[0] for row in rows)
    return VertexTable(_unique(text, names), ids, None, columns, colours=True)


# ---------------------------------------------------------------------- naming the vertices


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


def renamer(
    names: Sequence[tuple[str, ...]], paths: Sequence[Path], table: VertexTable
) -> Callable[[FileGraph, Path], FileGraph]:
    """Return the function that gives a graph the table's names.

    Matrices without names take them in order. Vertices that are called by the table's ids, or by
    running numbers from 0 or 1, take the name that belongs to the number.

    Parameters
    ----------
    names, paths
        What each graph calls its vertices, () for graphs without names, and its file.
    """
    mapping = table_names(names, paths, table)
    everything = table.names
    if table.colours and mapping:
        # A color table lists the regions of all atlases: only those of the graphs count.
        everything = tuple(name for name in table.names if name in set(mapping.values()))

    def change(graph: FileGraph, path: Path) -> FileGraph:
        if graph.names is not None:
            names = tuple(mapping[name] for name in graph.names)
            if not graph.is_list:
                return replace(graph, names=names)
            edges = moved(graph.matrix, names, everything)
            return replace(graph, matrix=edges, names=everything, names_all=True)
        n = graph.n_vertices
        own = table._for(n).names
        if len(own) != n:
            raise ReadError(
                f"{path} has {n} vertices, and the vertex table names {len(own)}; give one name "
                "per row"
            )
        return replace(graph, names=own)

    return change


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
        known = {name for name in strange if name.isdecimal() and len(name) < 19 and int(name) <= n}
        strange = strange - known or strange
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
