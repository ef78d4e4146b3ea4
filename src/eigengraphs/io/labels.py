"""Names of vertices from a table beside the graphs, with coordinates and whatever it holds."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import ReadError
from eigengraphs.io.notices import few
from eigengraphs.io.tables import Table, check_lengths, column_of, open_file, open_table
from eigengraphs.io.text import Notation, TextFile, is_number, whole

__all__ = ["VertexTable", "read_vertices"]

_NAME = [
    "name",
    "label",
    "region",
    "region_name",
    "roi_name",
    "label_name",
    "structure",
    "acronym",
    "abbreviation",
    "vertex",
    "node",
    "node_name",
    "roi",
    "parcel",
    "area",
]
_ID = [
    *[
        "index",
        "id",
        "node_id",
        "vertex_id",
        "label_id",
        "roi_id",
        "number",
        "no",
        "roi",
        "value",
        "label",
        "node",
        "vertex",
    ],
    "",
]
_HEMISPHERE = ("hemisphere", "hemi", "side")
_AXES = ("{}", "{}_mni", "mni_{}", "{}.mni", "{}_mm", "pos_{}", "coord_{}")
_COLOURS = ("red", "green", "blue", "alpha")


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
        Whether it is a colour table, which may list more regions than the graphs have.

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


def read_vertices(
    path: str | os.PathLike[str],
    n: int | None = None,
    *,
    decimal: str | None = None,
    thousands: str | None = None,
) -> VertexTable:
    """Read names of vertices from a table or from a colour table.

    Parameters
    ----------
    path : str or path
        A table with a header, in which a column is called ``name``, ``label``, ``region`` or the
        like; a list of names, one a line; or lines ``index name R G B A`` as FreeSurfer has them.
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
    text = open_file(Path(path), Notation(None, decimal, thousands).checked())
    table = _read(text)
    if (
        n is not None
        and table.colours
        and len(table) == n + 1
        and table.ids
        and table.ids[0] == "0"
    ):
        table = _take(table, range(1, len(table)))  # number 0 is what is no region
    if n is not None and len(table) != n:
        raise ReadError(f"{path} names {len(table)} vertices, and the graphs have {n}")
    return table


def _read(text: TextFile) -> VertexTable:
    rows = text.cells()
    if all(_is_colour_row(row) for row in rows):
        return _colour_table(text, rows)
    widths = {len(row) for row in rows}
    check_lengths(text.path, {"name": [row[-1] for row in rows]})
    if widths == {1}:
        names = [row[0] for row in rows]
        if names[0].lower() in _NAME and len(names) > 1:
            names = names[1:]
        return VertexTable(_unique(text, names, None), columns={"name": np.array(names)})
    if widths == {2} and all(is_number(row[0]) != is_number(row[1]) for row in rows):
        number_first = is_number(rows[0][0])
        names = [row[1] if number_first else row[0] for row in rows]
        ids = tuple(row[0] if number_first else row[1] for row in rows)
        return VertexTable(_unique(text, names, None), ids, columns={"name": np.array(names)})
    return _with_header(open_table(text), text)


def _with_header(table: Table, text: TextFile) -> VertexTable:
    lower = {name.lower(): name for name in table.columns}

    def find(words: Sequence[str]) -> str | None:
        return next((lower[word] for word in words if word in lower), None)

    candidates = [lower[word] for word in _NAME if word in lower]
    # A column of numbers is a name only where there is no other.
    worded = [name for name in candidates if not all(map(is_number, table.columns[name]))]
    id_words = [word for word in _ID if lower.get(word) not in worded]
    ids = find([word for word in id_words if word in lower and _is_ids(table.columns[lower[word]])])
    name = next(iter([*worded, *candidates]), ids)
    if name is None:
        raise ReadError(
            f"{table.path} must have a column 'name', 'label' or 'region' (or 'index' or 'id'); "
            f"it has: {', '.join(table.columns)}"
        )
    names = _unique(text, table.columns[name], _hemispheres(table, lower))
    numbers = None if ids is None else tuple(whole(cell) or cell for cell in table.columns[ids])
    axes = [find([form.format(axis) for form in _AXES]) for axis in "xyz"]
    coordinates = None
    if all(axis is not None for axis in axes):
        values = [column_of(table.columns[axis]) for axis in axes if axis is not None]
        if all(value.dtype.kind == "f" for value in values):
            coordinates = np.column_stack(values).astype(np.float64)
    check_lengths(table.path, table.columns)
    columns = {name: column_of(cells) for name, cells in table.columns.items()}
    return VertexTable(names, numbers, coordinates, columns)


def _is_ids(cells: list[str]) -> bool:
    return all(re.fullmatch(r"-?[0-9]+(\.0*)?", cell) for cell in cells) and (
        len(set(cells)) == len(cells)
    )


def _hemispheres(table: Table, lower: dict[str, str]) -> list[str] | None:
    name = next((lower[word] for word in _HEMISPHERE if word in lower), None)
    return None if name is None else table.columns[name]


def _unique(text: TextFile, names: list[str], sides: list[str] | None) -> tuple[str, ...]:
    """Return names that are unique, with the side of the brain if that makes them so."""
    if len(set(names)) == len(names):
        return tuple(names)
    if sides is not None:
        longer = [f"{name}_{side}" for name, side in zip(names, sides, strict=True)]
        if len(set(longer)) == len(longer):
            return tuple(longer)
    repeated = sorted({name for i, name in enumerate(names) if name in names[:i]})
    raise ReadError(
        f"{text.path} names {few([repr(name) for name in repeated])} more than once; vertices need "
        "different names (a column 'hemisphere' is added to the names where that helps)"
    )


def _is_colour_row(row: list[str]) -> bool:
    if len(row) < 6 or is_number(row[1]):
        return False
    # Decimal alone: ² is a digit, and no number.
    return all(cell.isdecimal() and len(cell) < 10 for cell in (row[0], *row[-4:]))


def _colour_table(text: TextFile, rows: list[list[str]]) -> VertexTable:
    names = [" ".join(row[1:-4]) for row in rows]
    columns: dict[str, NDArray[Any]] = {
        "index": np.array([int(row[0]) for row in rows]),
        "name": np.array(names),
    }
    for place, colour in enumerate(_COLOURS):
        columns[colour] = np.array([int(row[place - 4]) for row in rows])
    ids = tuple(row[0] for row in rows)
    return VertexTable(_unique(text, names, None), ids, None, columns, colours=True)


def _take(table: VertexTable, rows: Sequence[int]) -> VertexTable:
    which = list(rows)
    return VertexTable(
        tuple(table.names[i] for i in which),
        None if table.ids is None else tuple(table.ids[i] for i in which),
        None if table.coordinates is None else table.coordinates[which],
        {name: column[which] for name, column in table.columns.items()},
        table.colours,
    )
