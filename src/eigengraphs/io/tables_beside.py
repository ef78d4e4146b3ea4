"""Tables beside graphs: participants, and the row of every graph; vertices, and their names."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError, ReadError, ReadNotice
from eigengraphs.io.file_graph import FileGraph, Notice, few, repeated
from eigengraphs.io.find_files import entities, id_finder
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
from eigengraphs.stack.build import moved
from eigengraphs.stack.names import shifted, some_of, spelling

if TYPE_CHECKING:
    from eigengraphs.io.reading import Reading

Column: TypeAlias = "NDArray[np.float64] | NDArray[np.str_]"
LabelsLike: TypeAlias = "VertexTable | str | os.PathLike[str] | Sequence[str]"

# Columns of participants.
_PERSON = [
    "participant_id", "participant", "participants", "subject_id", "subject", "subjects", "sub",
    "subid", "sub_id", "subjectkey", "id",
]  # fmt: skip
_SESSION = ("session_id", "session", "ses", "ses_id", "visit")
# Columns of vertices.
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


# ---------------------------------------------------------------------- participants


@dataclass(frozen=True, repr=False, eq=False)
class Participants:
    """A table of participants.

    Attributes
    ----------
    ids : tuple of str
        The participants, without ``sub-``.
    sessions : tuple of str or None
        Their sessions without ``ses-``, if the table has one row per session.
    columns : mapping of str to ndarray
        Every column: numbers (nan for missing) if all values are numbers, else texts ('' for
        missing).
    path : Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rows = ["participant_id,age", "sub-01,31", "sub-02,n/a"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/participants.csv"
    ...     np.savetxt(path, rows, fmt="%s")
    ...     people = eg.io.read_participants(path)
    >>> people
    Participants(2 rows; columns: participant_id, age)
    >>> people.ids, people.columns["age"]
    (('01', '02'), array([31., nan]))
    """

    ids: tuple[str, ...]
    sessions: tuple[str, ...] | None
    columns: Mapping[str, Column]
    path: Path

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Participants({len(self)} rows; columns: {', '.join(self.columns)})"


@dataclass(frozen=True, repr=False, eq=False)
class Joined:
    """Rows of a table for graphs.

    Attributes
    ----------
    columns : mapping of str to ndarray, each with one value per graph
        For graphs that have no row: nan, or ''.
    rows : ndarray of int
        The row of every graph; -1 for none.
    graphs_without_row : tuple of str
        Names of graphs without a row in the table.
    rows_without_graph : tuple of str
        Participants (and sessions) of the table that have no graph.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rows = ["participant_id,age", "sub-01,31", "sub-02,n/a"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/participants.csv"
    ...     np.savetxt(path, rows, fmt="%s")
    ...     people = eg.io.read_participants(path)
    >>> joined = eg.io.join(["sub-02_run-1", "sub-02_run-2"], people)
    >>> joined
    Joined(2 graphs; columns: participant_id, age; 0 graphs without a row, 1 rows without a graph)
    """

    columns: Mapping[str, Column]
    rows: NDArray[np.intp]
    graphs_without_row: tuple[str, ...]
    rows_without_graph: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"Joined({len(self.rows)} graphs; columns: {', '.join(self.columns)}; "
            f"{len(self.graphs_without_row)} graphs without a row, "
            f"{len(self.rows_without_graph)} rows without a graph)"
        )


def read_participants(
    path: str | os.PathLike[str], *, decimal: str | None = None, thousands: str | None = None
) -> Participants:
    """Read ``participants.tsv``, or another table of participants.

    Parameters
    ----------
    path : str or path
        A table with a header and a column ``participant_id``, ``subject`` or the like; with a
        column ``session_id``, there may be a row for each session.
    decimal, thousands : str, optional
        Marks in numbers, as in :func:`eigengraphs.read`.

    Returns
    -------
    Participants
        The table; "n/a" and empty cells are missing.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rows = ["participant_id,age", "sub-01,31", "sub-02,n/a"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/participants.csv"
    ...     np.savetxt(path, rows, fmt="%s")
    ...     people = eg.io.read_participants(path)
    >>> len(people), people.sessions
    (2, None)
    """
    table = open_table(Path(path), Notation(None, decimal, thousands))
    cells = table.columns()
    person, session = find_column(cells, _PERSON), find_column(cells, _SESSION)
    if person is None:
        raise ReadError(
            f"{path} must have a column 'participant_id' (or 'subject', 'sub' or 'id'); it has: "
            f"{', '.join(cells)}"
        )
    ids = tuple(_bare(cell, "sub") for cell in cells[person])
    sessions = None
    if session is not None:
        sessions = tuple(_bare(cell, "ses") for cell in cells[session])
    rows: dict[str, list[str]] = {}
    for i, place in enumerate(table.places[1:]):
        rows.setdefault(_label(ids[i], sessions[i] if sessions else ""), []).append(str(place))
    twice = [f"{row!r} on lines {', '.join(at)}" for row, at in rows.items() if len(at) > 1]
    if twice:
        raise ReadError(
            f"{path} must have one row for each participant"
            + (" and session" if sessions else "")
            + f"; it has {few(twice, 5)}: keep one of them"
            + ("" if sessions else ", or add a column 'session_id' that tells them apart")
        )
    return Participants(ids, sessions, as_arrays(table.path, cells, [person]), table.path)


def join(
    graphs: Reading | Sequence[str],
    participants: Participants,
    *,
    missing: Literal["error", "keep"] = "error",
    id_pattern: str | None = None,
    on_notice: Callable[[Notice], object] | None = None,
) -> Joined:
    """Find the row of every graph in a table of participants.

    Parameters
    ----------
    graphs : Reading or sequence of str
        What :func:`read_files` returned, or names of graphs. The participant is the entity
        ``sub``, or else the name of the graph, or the beginning of it up to ``_``, ``-``, ``.`` or
        ``/``. If that does not find all graphs, a column whose values are one part of all names is
        used, with or without leading zeros, and a notice says so.
    participants : Participants
        The table. Several graphs of one participant share a row.
    missing : {"error", "keep"}
        With "error", a graph without a row is refused.
    id_pattern : str, optional
        Regular expression with one group that finds the participant in the name of a file or graph.
    on_notice : callable, optional
        Called with each notice, which is a warning of class ``ReadNotice`` by default.

    Returns
    -------
    Joined
        One value per graph for each column, and the graphs and rows that did not match.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rows = ["participant_id,age", "sub-01,31", "sub-02,n/a"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/participants.csv"
    ...     np.savetxt(path, rows, fmt="%s")
    ...     people = eg.io.read_participants(path)
    >>> joined = eg.io.join(["sub-02", "sub-01", "sub-03"], people, missing="keep")
    >>> joined.rows, joined.columns["age"], joined.graphs_without_row
    (array([ 1,  0, -1]), array([nan, 31., nan]), ('sub-03',))
    """
    if missing not in ("error", "keep"):
        raise InputError(f"missing must be 'error' or 'keep', got {missing!r}")
    names, subs, visits = _names_and_ids(graphs, id_pattern)
    sessions = participants.sessions or [""] * len(participants)
    place = {key: i for i, key in enumerate(zip(participants.ids, sessions, strict=True))}
    visits = [_bare(visit, "ses") if participants.sessions else "" for visit in visits]
    people = set(participants.ids)
    rows = np.full(len(names), -1, dtype=np.intp)
    cut = dict[str, str]()  # names of which only the beginning is a participant
    for i, (name, sub) in enumerate(zip(names, subs, strict=True)):
        person = sub or _beginning(name, people)
        rows[i] = place.get((_bare(person, "sub"), visits[i]), -1)
        if rows[i] >= 0 and not sub and person != name:
            cut[name] = person
    notice = None
    if (rows < 0).any():
        texts = [sub or name for sub, name in zip(subs, names, strict=True)]
        parts = _parts(texts) if id_pattern is None else {tuple(subs)}
        found = _inside(parts, visits, participants, sure=id_pattern is not None)
        if found is not None:
            rows, column = np.array(found[0], dtype=np.intp), found[1]
            person = _cells(participants.columns[column])[rows[0]]
            notice = _found_inside(f"the column {column!r}", person, names[0])
    if notice is None and cut:
        _refuse_two_ids(cut, participants)
        # Where all go on alike and without digits, as by _connectome, nothing else can be an id.
        rests = {name[len(person) :] for name, person in cut.items()}
        if len(rests) > 1 or re.search("[0-9]", next(iter(rests))):
            name, person = next(iter(cut.items()))
            notice = _found_inside("participants", person, name)
    if notice is not None and id_pattern is None:
        if on_notice is None:
            warnings.warn(str(notice), ReadNotice, stacklevel=2)
        else:
            on_notice(notice)
    without = tuple(name for name, row in zip(names, rows, strict=True) if row < 0)
    used = set(rows.tolist())
    unused = tuple(_label(*key) for key, i in place.items() if i not in used)
    if without and missing == "error":
        _refuse_unmatched(participants, names, without, unused)
    columns = {name: _taken(column, rows) for name, column in participants.columns.items()}
    return Joined(columns, rows, without, unused)


def _names_and_ids(graphs: Any, id_pattern: str | None) -> tuple[list[str], list[str], list[str]]:
    """Return names of graphs, and participant and session of each, '' where they are not known."""
    if hasattr(graphs, "stack"):
        names, told = list(graphs.stack.graph_names), graphs.columns
        files = [file.path.name for file in graphs.files] or names  # a store has none
        subs, visits = (
            [str(x or "") for x in told.get(key, [""] * len(names))] for key in ("sub", "ses")
        )
    else:
        files = names = [str(name) for name in graphs]
        known = [entities(Path(name)) for name in names]
        subs, visits = ([of.get(key, "") for of in known] for key in ("sub", "ses"))
    if id_pattern is not None:
        find = id_finder(id_pattern)
        subs = [find(*both) for both in zip(files, names, strict=True)]
    return names, subs, visits


def _bare(text: str, key: str) -> str:
    return text[len(key) + 1 :] if text.lower().startswith(f"{key}-") else text


def _label(person: str, session: str) -> str:
    return f"{person} ses-{session}" if session else person


def _beginning(name: str, people: set[str]) -> str:
    """Return the longest beginning of a name, cut at a mark, that is a participant."""
    cuts = [match.start() for match in re.finditer(r"[_\-./ ]", name)]
    for cut in [len(name), *reversed(cuts)]:
        if name[:cut] in people:
            return name[:cut]
    return name


def _inside(
    parts: set[tuple[str, ...]], visits: Sequence[str], participants: Participants, sure: bool
) -> tuple[tuple[int, ...], str] | None:
    """Return rows and the one column whose values are one part of all names; None if in doubt.

    Zeros ahead do not count. A part that is the same in all names is not an id. Values of one or
    two letters could be anything: they must be of the participants' column, and no other part may
    differ between more graphs (a session is not a participant). Parts of a pattern are ``sure``.
    """
    most = max((len(set(part)) for part in parts), default=0)
    people = [_key(person) for person in participants.ids]
    sessions = participants.sessions or [""] * len(participants)
    found: dict[tuple[int, ...], str] = {}
    for column, values in participants.columns.items():
        keys = [_key(cell) for cell in _cells(values)]
        row = {key: i for i, key in enumerate(zip(keys, sessions, strict=True))}
        if len(row) < len(keys) or "" in keys:
            continue
        for part in parts:
            mine = [_key(value) for value in part]
            rows = tuple(row.get(key, -1) for key in zip(mine, visits, strict=True))
            told = min(map(len, mine)) > 2 or (keys == people and len(set(mine)) == most)
            told = told and (len(set(mine)) > 1 or len(mine) == 1)
            if min(rows) >= 0 and (sure or told):
                found.setdefault(rows, column)
    return next(iter(found.items())) if len(found) == 1 else None


def _found_inside(what: str, person: str, name: str) -> Notice:
    text = f"ids of {what} were found inside the names of graphs, such as {person[:60]!r} in "
    text += f"{name[:200]!r}; pass id_pattern= if another part is meant"
    return Notice("ids inside", text)


def _parts(texts: Sequence[str]) -> set[tuple[str, ...]]:
    """Return what stands at each place of all texts: words, and runs of digits."""
    words = [re.split(r"[\W_]+", text) for text in texts]
    digits = [re.findall("[0-9]+", text) for text in texts]
    widths = [(cut, min(map(len, cut))) for cut in (words, digits)]
    return {tuple(row[k] for row in cut) for cut, w in widths for k in range(-w, w)}


def _refuse_two_ids(taken: Mapping[str, str], participants: Participants) -> None:
    """Refuse names that begin with a participant where another part of all of them is one, too.

    A part with fewer values than there are participants at the beginning is a session or the like.
    """
    people = {_key(person) for person in participants.ids}
    mine = [_key(person) for person in taken.values()]
    for part in sorted(_parts(list(taken))):
        other = [_key(value) for value in part]
        if other != mine and people.issuperset(other) and len(set(other)) >= len(set(mine)):
            i = next(i for i, key in enumerate(other) if key != mine[i])
            name, person = list(taken.items())[i]
            raise ReadError(
                f"cannot tell which part of the names of graphs is the participant: in "
                f"{name[:200]!r}, both {person[:60]!r} and {part[i][:60]!r} are participants of "
                f"{participants.path}. Say which, as by id_pattern='^([^_.]+)' for the first part "
                "or id_pattern='_([^_.]+)' for the second"
            )


def _key(cell: str) -> str:
    bare = _bare(cell, "sub")
    return bare.lstrip("0") or bare[:1]


def _cells(column: Column) -> list[str]:
    """Return a column as texts, whole numbers without a point."""
    cells: list[Any] = column.tolist()
    return [str(int(x)) if isinstance(x, float) and x.is_integer() else str(x) for x in cells]


def _taken(column: Column, rows: NDArray[np.intp]) -> Column:
    """Return the rows of a column; nan or '' for -1."""
    nothing = np.full(1, np.nan if column.dtype.kind == "f" else "", dtype=column.dtype)
    return np.concatenate([column, nothing])[rows]


def _refuse_unmatched(
    participants: Participants,
    names: Sequence[str],
    without: Sequence[str],
    unused: Sequence[str],
) -> None:
    text = (
        f"{len(without)} of {len(names)} graphs have no row in {participants.path}: "
        f"{few(without, 6)}. Rows without a graph: {few(unused, 6) or 'none'}"
    )
    if list(names) == [str(i) for i in range(len(names))]:
        text += (
            f". The graphs have no names of their own and are called by their places, 0 to "
            f"{len(names) - 1}: a column participant_id with these numbers joins them"
        )
    text += spelling([_bare(name, "sub") for name in without], participants.ids)
    raise ReadError(
        f"{text}. If ids are inside the names, say where, as by id_pattern='_([0-9]+)_'. Add the "
        "rows, leave the graphs out, or pass missing='keep'"
    )


# ---------------------------------------------------------------------- vertices


@dataclass(frozen=True, repr=False, eq=False)
class VertexTable:
    """A table of vertices.

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
    color_table : bool
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
    color_table: bool = False

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        where = "" if self.coordinates is None else ", with coordinates"
        return f"VertexTable({len(self)} vertices{where}; columns: {', '.join(self.columns)})"

    def _for(self, n: int | None) -> VertexTable:
        """Return the table for n vertices: number 0 of a color table is not a region."""
        if not self.color_table or n is None or len(self) != n + 1 or (self.ids or "1")[0] != "0":
            return self
        columns = {name: column[1:] for name, column in self.columns.items()}
        return VertexTable(self.names[1:], (self.ids or ())[1:], None, columns, color_table=True)


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
    widths, colors = {len(row) for row in rows}, all(map(_is_color_row, rows))
    name, words = "name", ["name"]
    ids: list[str] | None = None
    if colors:
        cells = {"index": [row[0] for row in rows], "name": [" ".join(row[1:-4]) for row in rows]}
        cells |= {color: [row[t] for row in rows] for t, color in enumerate(_COLORS, -4)}
        ids = cells["index"]
    elif widths == {1}:
        names = [row[0] for row in rows]
        cells = {"name": names[1:] if names[0].lower() in _NAME and len(names) > 1 else names}
    elif widths == {2} and all(is_number(row[0]) != is_number(row[1]) for row in rows):
        number_first = is_number(rows[0][0])
        cells = {"name": [row[number_first] for row in rows]}
        ids = [row[not number_first] for row in rows]
    else:
        cells, words = text.columns(), []
        name, ids = _name_and_ids(text.path, cells)
    columns = as_arrays(text.path, cells, words)
    if colors:
        columns |= {number: columns[number].astype(np.int64) for number in ("index", *_COLORS)}
    side = find_column(cells, _HEMISPHERE)
    names = _unique(text.path, cells[name], None if side is None else cells[side])
    axes = [find_column(cells, [form.format(axis) for form in _AXES]) for axis in "xyz"]
    values = [columns[axis] for axis in axes if axis is not None]
    known = len(values) == 3 and all(value.dtype.kind == "f" for value in values)
    coordinates = np.column_stack(values).astype(np.float64) if known else None
    return VertexTable(
        tuple(names), None if ids is None else tuple(ids), coordinates, columns, colors
    )


def _is_color_row(row: list[str]) -> bool:
    if len(row) < 6 or is_number(row[1]):
        return False
    # isdecimal, not isdigit: ² is a digit, and not a number.
    return all(cell.isdecimal() and len(cell) < 10 for cell in (row[0], *row[-4:]))


def _name_and_ids(path: Path, cells: Mapping[str, list[str]]) -> tuple[str, list[str] | None]:
    """Return the column of names, and what is in that of ids."""
    lower = {name.lower(): name for name in cells}
    candidates = [lower[word] for word in _NAME if word in lower]
    # A column of numbers is a name only where there is no other.
    worded = [name for name in candidates if not all(map(is_number, cells[name]))]
    numbered = (lower[word] for word in _ID if word in lower and lower[word] not in worded)
    ids = next((name for name in numbered if _are_ids(cells[name])), None)
    name = next(iter([*worded, *candidates]), ids)
    if name is None:
        raise ReadError(
            f"{path} must have a column 'name', 'label' or 'region' (or 'index' or 'id'); it has: "
            f"{', '.join(cells)}"
        )
    return name, None if ids is None else [whole(cell) or cell for cell in cells[ids]]


def _are_ids(cells: list[str]) -> bool:
    plain = all(re.fullmatch(r"-?[0-9]+(\.0*)?", cell) for cell in cells)
    return plain and len(set(cells)) == len(cells)


def _unique(path: Path, names: list[str], sides: list[str] | None) -> list[str]:
    """Return names that are unique, with the side of the brain if that makes them so."""
    twice = repeated(names)
    if twice and sides is not None:
        longer = [f"{name}_{side}" for name, side in zip(names, sides, strict=True)]
        if not repeated(longer):
            return longer
    if twice:
        raise ReadError(
            f"{path} names {some_of(sorted(twice), 3)} more than once; vertices need "
            "different names (a column 'hemisphere' is added to the names where that helps)"
        )
    return names


# ---------------------------------------------------------------------- naming the vertices


def as_vertex_table(labels: Any) -> VertexTable:
    """Return the table that a path, a list of names or a table stands for."""
    if isinstance(labels, VertexTable):
        return labels
    if isinstance(labels, str | os.PathLike):
        return read_vertices(labels)
    names = tuple(str(name) for name in labels)
    if twice := repeated(names):
        raise InputError(f"labels must be unique; more than once: {few(sorted(twice))}")
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
    if table.color_table and mapping:
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
    by_id = dict(zip(table.ids or (), table.names, strict=False))
    n = len(table)
    if table.ids is None and all(name.isdecimal() for name in used):
        numbers = {name: int(name) for name in used}
        low, high = min(numbers.values()), max(numbers.values())
        if low > 0 and high < n:
            raise ReadError(
                f"the graphs call their vertices {low} to {high} and there are {n} names in the "
                "vertex table: cannot tell whether numbers start at 0 or 1; give the vertex table "
                "a column 'index'"
            )
        if high < n + (low > 0):
            by_id = {name: table.names[k - (low > 0)] for name, k in numbers.items()}
    if used <= set(by_id):
        return {name: by_id[name] for name in used}
    refuse_shifted(names, paths, "give each a row in the table of vertices")
    strange = used - set(table.ids or table.names)
    if table.ids is None:  # running numbers up to n are known
        known = {name for name in strange if name.isdecimal() and len(name) < 19 and int(name) <= n}
        strange = strange - known or strange
    unknown = sorted(strange, key=natural)
    culprit = next(path for path, own in zip(paths, names, strict=True) if strange & set(own))
    raise ReadError(
        f"the vertex table does not know {some_of(unknown, 6)}, vertices of "
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
