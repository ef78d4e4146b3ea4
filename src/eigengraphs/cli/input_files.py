"""The input of a command: graphs from files, their columns, and all problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigengraphs import io
from eigengraphs.cli.command_options import Study
from eigengraphs.cli.terminal import Listener, silent
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.model_file import vertex_table
from eigengraphs.io.file_graph import LEFT_OUT, few, left_out
from eigengraphs.io.tables_beside import table_names
from eigengraphs.report.input_quality import (
    QualityTable,
    describe_graphs,
    mirror_images,
    missing_vertices,
)
from eigengraphs.report.records import Level, Problem, gravest_first, is_unknown, make_column
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.system.labels import count_of

# Columns that say whose each graph is, in small letters.
_PARTICIPANTS = ("participant_id", "participant", "subject_id", "subject", "sub_id", "sub")
_NAMED = 5  # graphs or vertices in a message


@dataclass(frozen=True)
class Inputs:
    """Graphs, and everything known about them."""

    source: str
    reading: io.Reading
    graphs: GraphStack  # of the reading, where they are worked on
    columns: Mapping[str, Sequence[Any]]  # one value per graph
    participants: tuple[str, ...] | None  # of each graph, if some have several or a table was given
    vertices: io.VertexTable | None  # as it was given
    quality: QualityTable
    problems: tuple[Problem, ...]
    has_table: bool

    @property
    def vertex_columns(self) -> dict[str, list[Any]]:
        """Columns of the vertex table, one value per vertex."""
        columns = {} if self.vertices is None else self.vertices.columns
        return {name: _plain(values, whole=True) for name, values in columns.items()}

    @property
    def notes(self) -> list[str]:
        """The problems in words."""
        return [problem.text for problem in self.problems]

    @property
    def left_out(self) -> int:
        """Number of files of the folder that were not read, though they could be graphs."""
        return left_out(self.reading.notices)

    @property
    def checksums(self) -> list[dict[str, str]]:
        """Path and SHA-256 of each file, once."""
        if isinstance(self.graphs, BlockedStack):
            # A store's fingerprint is the hash of its store.json, which has those of all shards.
            return [{"path": self.source, "sha256": self.graphs.fingerprint.split()[0]}]
        unique = {str(file.path): file.sha256 for file in self.reading.files}
        return [{"path": path, "sha256": digest} for path, digest in unique.items()]

    def column(self, name: str, use: str = "use as a label") -> Sequence[Any]:
        """Return a column, or say which there are."""
        no_table = ". No table of participants was given; pass it by --participants"
        more = "" if self.has_table else no_table
        absent = f"there is no column {name!r} to {use}"
        return named_in(self.columns, name, absent, more=more)  # type: ignore[no-any-return]

    def values(self, name: str, option: str) -> list[Any]:
        """Return a column as numbers or texts, None where unknown."""
        return make_column(name, self.column(name, f"use for {option}")).known


def gather(
    source: Any,
    study: Study | None = None,
    listen: Listener = silent,
    move: Callable[[GraphStack], GraphStack] | None = None,
) -> Inputs:
    """Read graphs, join the table of participants, and look at the quality of each graph.

    ``move`` takes the graphs to where they are worked on, such as a cluster.
    """
    study = study or Study()
    listen("read", f"reading {source}")
    # Tables first: a mistake in a small file should not show after a long read.
    table = labels = None
    if study.participants is not None:
        table = io.read_participants(study.participants, **study.marks)
    if study.vertices is not None:
        labels = io.read_vertices(study.vertices, **study.marks)
    reading = io.read_files(source, labels=labels, memory=study.memory, **study.arguments)
    stack = reading.stack
    problems = [_problem(notice) for notice in reading.notices if notice.loud]
    columns = {name: _plain(values) for name, values in reading.columns.items()}
    participants = _participants_by(columns, stack.graph_names)
    if table is not None:
        found = list[io.Notice]()
        joined = io.join(reading, table, id_pattern=study.id_pattern, on_notice=found.append)
        problems += [_problem(notice) for notice in found]
        columns |= {name: _plain(values, whole=True) for name, values in joined.columns.items()}
        rows = zip(joined.rows, stack.graph_names, strict=True)
        participants = tuple(table.ids[row] if row >= 0 else name for row, name in rows)
        problems += _unmatched(joined, study.participants)
    n_vertices = count_of(stack.n_vertices, "vertex")
    listen("check", f"{count_of(stack.n_graphs, 'graph')}, {n_vertices}")
    files = [str(file.path) for file in reading.files]
    stack.require_comparable(files)
    messages = {i: [notice.text for notice in file.notices if notice.loud]
                for i, file in enumerate(reading.files)}  # fmt: skip
    mirror = None
    if labels is not None:
        mirror = mirror_images(stack.vertex_names, labels.names, labels.columns)
    quality = describe_graphs(stack, files, messages, mirror, columns)
    problems += [*_hidden(stack), *quality.problems, *quality.explained]
    graphs = stack if move is None else move(stack)
    return Inputs(
        str(source), reading, graphs, columns, participants, labels, quality,
        tuple(gravest_first(problems)), table is not None,
    )  # fmt: skip


# ------------------------------------------------------------------ columns and participants


def named_in(
    columns: Mapping[str, Any], name: str, absent: str, none: str = "none", more: str = ""
) -> Any:
    """Return what a mapping has under a name, or raise ``absent`` and say which names there are."""
    if name in columns:
        return columns[name]
    close = get_close_matches(name, list(columns), 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise InputError(f"{absent}; columns are: {', '.join(columns) or none}{hint}{more}")


def column_of_participants(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the column of participants, if some participants have several graphs."""
    named = {name.lower(): name for name in reversed(list(columns))}
    for name in _PARTICIPANTS:
        if name in named:
            known = [value for value in columns[named[name]] if not is_unknown(value)]
            if len(set(known)) < len(known):
                return named[name]
    return None


def one_to_one(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Tell whether the values of two columns correspond one to one."""
    pairs = {pair for pair in zip(some, others, strict=True) if None not in pair}
    return all(len({pair[side] for pair in pairs}) == len(pairs) for side in (0, 1))


def _participants_by(
    columns: Mapping[str, Sequence[Any]], names: Sequence[str]
) -> tuple[str, ...] | None:
    """Return the participant of each graph; an unknown participant has only this graph."""
    column = column_of_participants(columns)
    if column is None:
        return None
    return tuple(name if is_unknown(who) else str(who)
                 for who, name in zip(columns[column], names, strict=True))  # fmt: skip


def _plain(values: ArrayLike, *, whole: bool = False) -> list[Any]:
    """Return Python numbers or texts; nan and empty texts are None, and equal texts one object.

    With ``whole``, real numbers that are all whole are given as such.
    """
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return list(array.tolist())
    if array.dtype.kind == "f":
        known = array[~np.isnan(array)]
        integral = whole and (np.isfinite(known) & (known == np.round(known))).all()
        kind = int if integral else float
        return [None if value != value else kind(value) for value in array.tolist()]
    texts: dict[Any, Any] = {}
    return [None if value is None or value == "" or value != value
            else texts.setdefault(value, value) for value in array.tolist()]  # fmt: skip


# ------------------------------------------------------------------- new graphs under a model


def on_vertices(
    data: Inputs, model: JointEmbedding, missing: str | None = None
) -> tuple[GraphStack, list[str]]:
    """Return graphs on the vertices of a model, and notes on what was done.

    Vertices with names from the vertex table of the model get the names of the model. Edge lists do
    not name vertices without edges: those of the model that are not in them are added. The model
    handles anything else: it aligns by name, hides what is ``missing``, or refuses.
    """
    graphs, wanted = data.graphs, model.vertex_names_
    named = wanted != tuple(map(str, range(len(wanted))))  # what vertices without names have
    if named and not graphs.has_vertex_names and graphs.n_vertices == len(wanted):
        return graphs, ["the graphs do not name their vertices; the order of the model is assumed"]
    table, said = vertex_table(model), list[str]()
    if table is not None and graphs.has_vertex_names and set(graphs.vertex_names) - set(wanted):
        old = graphs.vertex_names
        new = table_names([old], [Path(data.source)], table)
        graphs = graphs.with_names(vertex_names=[new[name] for name in old])
        pairs = [f"{name} is {new[name]}" for name in old if new[name] != name]
        named_by = f"vertices named by the vertex table of the model: {few(pairs, _NAMED)}"
        said.append(named_by)
    have = set(graphs.vertex_names)
    lists = {file.format for file in data.reading.files} == {"edge list"}
    lacking = [name for name in wanted if name not in have]
    if have - set(wanted):
        return graphs, said
    if lacking and lists:
        count = count_of(len(lacking), "vertex")
        which = f"no graph names {count} of the model ({few(lacking, _NAMED)})"
        said.append(f"{which}; assumed to have no edges")
        return graphs.among(wanted, isolated=True), said
    if lacking and missing == "unobserved":
        where = few(graphs.graph_names, _NAMED)
        which = f"{_vertices(len(lacking))} missing in all graphs ({where})"
        said.append(f"{which} and hidden: {few(lacking, _NAMED)}")
    # A union begins with the vertices of the first graph, in its order.
    shown = np.ones(len(have), dtype=bool) if graphs.mask is None else graphs.mask.present[0]
    own = [graphs.vertex_names[s] for s in np.flatnonzero(shown).tolist()]
    if not lists and own != [name for name in wanted if name in set(own)]:
        said.append("the order of the vertices differs from that of the model; aligned by name")
    return graphs, said


# ----------------------------------------------------------------------------------- problems

# Kinds of notices about wrong data; the others say what was done.
_WRONG = ("copies", "no edges")
_SHORT = {
    "ambiguous": "matrix or edge list", "attribute": "attribute taken as weight",
    "axis": "axis of graphs", "columns": "columns put in order", "diagonal": "diagonal left out",
    "direction": "taken as directed", "encoding": "read as Windows text", "folders": "folders",
    "ids inside": "ids found inside names", "numbered": "running numbers taken as names",
    "one way": "read as undirected", "order": "aligned by name", "repeated": "weights added",
    "rounding": "made symmetric", "table": "tables left out", "triangle": "triangle mirrored",
    "triangle kept": "triangle kept", "union": "vertices that some do not name",
}  # fmt: skip


def _problem(notice: io.Notice) -> Problem:
    """Return what a reader did, or met, as a problem."""
    level: Level = "refused" if notice.kind in LEFT_OUT else "repaired"
    if notice.kind in _WRONG:
        level = "warning"
    count = f" ({count_of(notice.count, 'file')})" if notice.count > 1 else ""
    return Problem(level, str(notice), _SHORT.get(notice.kind, notice.kind) + count)


def _hidden(stack: GraphStack) -> list[Problem]:
    """Say how many entries are hidden, and in which graphs."""
    if stack.mask is None:
        return []
    counts, (m, n, _) = stack.mask.n_hidden, stack.shape
    which = [f"{stack.graph_names[i]} ({counts[i]})" for i in np.flatnonzero(counts).tolist()]
    graphs = count_of(len(which), "graph")
    share = stack.n_hidden / (m * n * n)
    text = f"{stack.n_hidden} of {m * n * n} entries ({share:.2%}) are missing and not used, "
    text += f"in {graphs}: {few(which, _NAMED)}"
    often = missing_vertices(stack.mask).sum(axis=0)
    gone = [f"{stack.vertex_names[s]} (in {often[s]})" for s in np.flatnonzero(often).tolist()]
    if gone:
        text += f"; {_vertices(len(gone))} missing altogether in some graphs: {few(gone, _NAMED)}"
    return [Problem("notice", text, f"missing entries ({graphs})")]


def _vertices(count: int) -> str:
    return f"{count_of(count, 'vertex')} {'is' if count == 1 else 'are'}"


def _unmatched(joined: io.Joined, path: Path | None) -> list[Problem]:
    found = []
    if graphs := joined.graphs_without_row:
        count = count_of(len(graphs), "graph")
        have = "has" if len(graphs) == 1 else "have"
        text = f"{count} {have} no row in {path}: {few(graphs, _NAMED)}"
        found.append(Problem("warning", text, f"no row in the table ({count})"))
    if rows := joined.rows_without_graph:
        have = "has" if len(rows) == 1 else "have"
        text = f"{count_of(len(rows), 'row')} of {path} {have} no graph: {few(rows, _NAMED)}"
        found.append(Problem("notice", text, f"rows without a graph ({len(rows)})"))
    return found
