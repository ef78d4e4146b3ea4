"""Tables of participants, one row for each, and the row of every graph."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError, ReadError, ReadNotice
from eigengraphs.io.file_graph import Notice, few
from eigengraphs.io.find_files import entities, id_finder
from eigengraphs.io.reading import Reading
from eigengraphs.io.text_files import Notation, as_arrays, find_column, open_table
from eigengraphs.stack.names import spelling

__all__ = ["Joined", "Participants", "join", "read_participants"]

Column: TypeAlias = "NDArray[np.float64] | NDArray[np.str_]"

_PERSON = [
    "participant_id", "participant", "participants", "subject_id", "subject", "subjects", "sub",
    "subid", "sub_id", "subjectkey", "id",
]  # fmt: skip
_SESSION = ("session_id", "session", "ses", "ses_id", "visit")


@dataclass(frozen=True, repr=False, eq=False)
class Participants:
    """A table of participants.

    Attributes
    ----------
    ids : tuple of str
        The participants, without ``sub-``.
    sessions : tuple of str or None
        Their sessions without ``ses-``, where the table has a row for each.
    columns : mapping of str to ndarray
        Every column: numbers (nan for missing) where all are numbers, else words ('' for missing).
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
        Names of graphs that the table does not know.
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
        ``/``. If that does not find all, one column may have what is one part of all names, with
        or without zeros ahead; that is said in a notice.
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
        One value per graph for each column, and what did not match on either side.

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
    names, known = _names_and_entities(graphs, id_pattern)
    sessions = participants.sessions or [""] * len(participants)
    place = {key: i for i, key in enumerate(zip(participants.ids, sessions, strict=True))}
    visits = [_bare(of.get("ses", ""), "ses") if participants.sessions else "" for of in known]
    people = set(participants.ids)
    rows = np.full(len(names), -1, dtype=np.intp)
    cut = dict[str, str]()  # names of which only the beginning is a participant
    for i, name in enumerate(names):
        person = known[i].get("sub") or _beginning(name, people)
        rows[i] = place.get((_bare(person, "sub"), visits[i]), -1)
        if rows[i] >= 0 and not known[i].get("sub") and person != name:
            cut[name] = person
    notice = None
    if (rows < 0).any():
        given = id_pattern is not None
        inside = _inside(names, known, visits, participants, sessions, given)
        if inside is not None:
            rows, notice = inside
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


def _names_and_entities(
    graphs: Any, id_pattern: str | None
) -> tuple[list[str], list[Mapping[str, str]]]:
    """Return names of graphs, and the entities that are known of each."""
    known: list[Mapping[str, str]]
    if not isinstance(graphs, Reading):
        files = names = [str(name) for name in graphs]
        known = [entities(Path(name)) for name in names]
    elif graphs.files:
        files = [file.path.name for file in graphs.files]
        names = [file.name for file in graphs.files]
        known = [file.columns for file in graphs.files]
    else:  # a store
        files = names = list(graphs.stack.graph_names)
        told = {key: graphs.columns[key] for key in ("sub", "ses") if key in graphs.columns}
        known = [{key: str(told[key][i] or "") for key in told} for i in range(len(names))]
    if id_pattern is not None:
        find = id_finder(id_pattern)
        both = zip(known, files, names, strict=True)
        known = [{**of, "sub": find(file, name)} for of, file, name in both]
    return names, known


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
    names: Sequence[str],
    known: Sequence[Mapping[str, str]],
    visits: Sequence[str],
    participants: Participants,
    sessions: Sequence[str],
    given: bool,
) -> tuple[NDArray[np.intp], Notice] | None:
    """Find the rows by the one column whose values are one part of all names; None if in doubt.

    Zeros ahead do not count. A part that is the same in all names is not an id. Values of one or
    two letters could be anything: they must be of the participants' column, and no other part may
    differ between more graphs (a session is not a participant). Where the ids are ``given``, they
    are the only part; a name with an entity ``sub`` has its parts in that.
    """
    parts = {tuple(of.get("sub", "") for of in known)}
    if not given:
        parts = _parts([of.get("sub") or name for of, name in zip(known, names, strict=True)])
    most = max((len(set(part)) for part in parts), default=0)
    people = [_key(person) for person in participants.ids]
    found: dict[tuple[int, ...], str] = {}
    for column, values in participants.columns.items():
        keys = [_key(cell) for cell in _cells(values)]
        row = {key: i for i, key in enumerate(zip(keys, sessions, strict=True))}
        if len(row) < len(keys) or "" in keys:
            continue
        for part in parts:
            mine = [_key(value) for value in part]
            rows = tuple(row.get(key, -1) for key in zip(mine, visits, strict=True))
            sure = min(map(len, mine)) > 2 or (keys == people and len(set(mine)) == most)
            sure = sure and (len(set(mine)) > 1 or len(mine) == 1)
            if min(rows) >= 0 and (given or sure):
                found.setdefault(rows, column)
    if len(found) != 1:
        return None
    rows, column = next(iter(found.items()))
    person = _cells(participants.columns[column])[rows[0]]
    return np.array(rows, dtype=np.intp), _found_inside(f"the column {column!r}", person, names[0])


def _found_inside(what: str, person: str, name: str) -> Notice:
    text = f"ids of {what} were found inside the names of graphs, such as {person[:60]!r} in "
    text += f"{name[:200]!r}; id_pattern= says if another part is meant"
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
                f"which part of the names of graphs is the participant cannot be told: in "
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
    shorter = {person.lstrip("0") for person in participants.ids}
    if any(_bare(name.split("_")[0], "sub").lstrip("0") in shorter for name in without):
        text += ". Some differ by leading zeros alone: a spreadsheet may have taken them off"
    text += spelling([_bare(name, "sub") for name in without], participants.ids)
    raise ReadError(
        f"{text}. If ids are inside the names, say where, as by id_pattern='_([0-9]+)_'. Add the "
        "rows, leave the graphs out, or pass missing='keep'"
    )
