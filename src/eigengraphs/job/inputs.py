"""What a job works on: graphs from files, what is known of them, and every problem met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs import io
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.model_file import vertex_table
from eigengraphs.io.notices import LEFT_OUT, left_out
from eigengraphs.io.renaming import table_names
from eigengraphs.job.events import Event, Listener, silent
from eigengraphs.job.people import owners
from eigengraphs.job.values import Values
from eigengraphs.report.input_quality import (
    QualityTable,
    describe_graphs,
    first_names,
    missing_vertices,
)
from eigengraphs.report.odd_graphs import mirror_images
from eigengraphs.report.records import Level, Problem, gravest_first
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.system.labels import count_of

__all__ = ["InputSettings", "Inputs", "gather", "on_vertices", "reading_record"]


@dataclass(frozen=True)
class InputSettings:
    """How files are read and joined; as the options of the command line."""

    participants: Path | None = None
    vertices: Path | None = None  # a table of names, and perhaps coordinates
    format: str = "auto"
    key: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    align: str = "auto"
    directed: bool | str = "auto"
    missing: str = "error"
    memory: str | None = None  # for the graphs of a store
    max_bytes: str | None = None  # what one file may declare
    id_pattern: str | None = None  # finds the participant in the name of a file


@dataclass(frozen=True)
class Inputs:
    """Graphs and all that is known of them."""

    graphs: GraphStack
    files: tuple[io.FileEntry, ...]
    columns: Mapping[str, Sequence[Any]]  # one value a graph
    participants: tuple[str, ...] | None  # whose graph each is, where some have several, or a table
    coordinates: Any  # (n, 2) or (n, 3), or None
    vertex_columns: Mapping[str, Sequence[Any]]
    quality: QualityTable
    problems: tuple[Problem, ...]
    seconds: float
    source: str
    has_table: bool = False
    left_out: int = 0  # files of the folder that were not read, though they could be graphs
    vertex_table: io.VertexTable | None = None

    @property
    def checksums(self) -> list[dict[str, str]]:
        """Path and SHA-256 of each file, once."""
        if isinstance(self.graphs, BlockedStack):
            # A store's fingerprint is the hash of its store.json, which has those of all shards.
            return [{"path": self.source, "sha256": self.graphs.fingerprint.split()[0]}]
        unique = {str(file.path): file.sha256 for file in self.files}
        return [{"path": path, "sha256": digest} for path, digest in unique.items()]

    def column(self, name: str, use: str = "use as a label") -> Sequence[Any]:
        """Return a column, or say which there are."""
        if name in self.columns:
            return self.columns[name]
        known = ", ".join(self.columns) or "none"
        close = get_close_matches(name, list(self.columns), 1)
        hint = f"; is it {close[0]!r}?" if close else ""
        if not self.has_table:
            hint += ". No table of participants was given; name it by --participants"
        raise InputError(f"there is no column {name!r} to {use}; columns are: {known}{hint}")


def gather(
    source: Any,
    settings: InputSettings | None = None,
    listen: Listener = silent,
    move: Callable[[GraphStack], GraphStack] | None = None,
) -> Inputs:
    """Read graphs, join the participants' table, and look at the quality of each graph.

    ``move`` takes the graphs to where they are worked on, such as a cluster.
    """
    settings = settings or InputSettings()
    listen(Event("read", f"reading {source}"))
    # Tables first: a mistake in a small file should not show after a long read.
    marks: Any = {"decimal": settings.decimal, "thousands": settings.thousands}
    table = labels = None
    if settings.participants is not None:
        table = io.read_participants(settings.participants, **marks)
    if settings.vertices is not None:
        labels = io.read_vertices(settings.vertices, **marks)
    options: Any = {
        "format": settings.format, "key": settings.key, "delimiter": settings.delimiter,
        "vertices": settings.align, "directed": settings.directed, "missing": settings.missing,
        "max_bytes": settings.max_bytes, "id_pattern": settings.id_pattern, **marks,
    }  # fmt: skip
    reading = io.read_files(source, labels=labels, memory=settings.memory, **options)
    problems = [_done(notice) for notice in reading.notices if notice.loud]
    known: Mapping[str, Any] = reading.columns if reading.of_store is None else reading.of_store
    columns: dict[str, Sequence[Any]] = {name: Values(values) for name, values in known.items()}
    people = owners(columns, reading.stack.graph_names)
    if table is not None:
        found = list[io.Notice]()
        joined = io.join(reading, table, id_pattern=settings.id_pattern, on_notice=found.append)
        problems += [_done(notice) for notice in found]
        columns |= _by_name(joined.columns)
        names = reading.stack.graph_names
        people = tuple(table.ids[row] if row >= 0 else name
                       for row, name in zip(joined.rows, names, strict=True))  # fmt: skip
        problems += _unmatched(joined, settings.participants)
    n_vertices = count_of(reading.stack.n_vertices, "vertex", "vertices")
    listen(Event("check", f"{count_of(reading.stack.n_graphs, 'graph')}, {n_vertices}"))
    messages = {i: [notice.text for notice in file.notices if notice.loud]
                for i, file in enumerate(reading.files)}  # fmt: skip
    files = [str(file.path) for file in reading.files]
    reading.stack.require_comparable(files)
    mirror = None
    if labels is not None:
        mirror = mirror_images(reading.stack.vertex_names, labels.names, labels.columns)
    quality = describe_graphs(reading.stack, files, messages, mirror, columns)
    problems += [*_hidden(reading.stack), *quality.problems, *quality.explained]
    return Inputs(
        graphs=reading.stack if move is None else move(reading.stack),
        files=reading.files,
        columns=columns,
        participants=people,
        coordinates=None if labels is None else labels.coordinates,
        vertex_columns={} if labels is None else _by_name(labels.columns),
        quality=quality,
        problems=tuple(gravest_first(problems)),
        seconds=reading.seconds,
        source=str(source),
        has_table=table is not None,
        left_out=left_out(reading.notices),
        vertex_table=reading.vertex_table or labels,
    )


def reading_record(source: Any, settings: InputSettings) -> dict[str, Any]:
    """Return where graphs were read from and how, for reading them again."""
    how = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return {
        "source": str(Path(str(source)).absolute()),
        "how": {name: str(value.absolute()) if isinstance(value, Path) else value
                for name, value in how.items()},
    }  # fmt: skip


def on_vertices(
    data: Inputs, model: JointEmbedding, missing: str | None = None
) -> tuple[GraphStack, list[str]]:
    """Return graphs on the vertices of a model, and what is to be said about it.

    Vertices that are called as in the table of vertices of the model get its names. Edge lists do
    not name vertices without edges: those of the model that are not in them are added. Anything
    else is left to the model, which aligns by name, hides what is ``missing``, or refuses.
    """
    graphs, wanted = data.graphs, model.vertex_names_
    named = wanted != tuple(map(str, range(len(wanted))))  # what vertices without names have
    if named and not graphs.has_vertex_names and graphs.n_vertices == len(wanted):
        return graphs, ["the graphs name no vertices; taken in the order of the model's"]
    table, said = vertex_table(model), list[str]()
    if table is not None and graphs.has_vertex_names and set(graphs.vertex_names) - set(wanted):
        old = graphs.vertex_names
        new = table_names([old], [Path(data.source)], table)
        graphs = graphs.with_names(vertex_names=[new[name] for name in old])
        pairs = [f"{name} is {new[name]}" for name in old if new[name] != name]
        said.append(f"vertices named by the vertex table of the model: {first_names(pairs)}")
    have = set(graphs.vertex_names)
    lists = data.files and all(file.format == "edge list" for file in data.files)
    lacking = [name for name in wanted if name not in have]
    if have - set(wanted):
        return graphs, said
    if lacking and lists:
        count = "1 vertex" if len(lacking) == 1 else f"{len(lacking)} vertices"
        said.append(
            f"no graph names {count} of the model ({first_names(lacking)}); taken as without edges"
        )
        return graphs.among(wanted, isolated=True), said
    if lacking and missing == "unobserved":
        which = (
            f"{_vertices(len(lacking))} missing in all graphs ({first_names(graphs.graph_names)})"
        )
        said.append(f"{which} and hidden: {first_names(lacking)}")
    # A union begins with the vertices of the first graph, in its order.
    shown = np.ones(len(have), dtype=bool) if graphs.mask is None else graphs.mask.present[0]
    own = [graphs.vertex_names[s] for s in np.flatnonzero(shown).tolist()]
    if not lists and own != [name for name in wanted if name in set(own)]:
        said.append(
            "the graphs name their vertices in another order than the model; aligned by name"
        )
    return graphs, said


#: Kinds of notices that say that data are wrong, and not what was done.
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


def _done(notice: io.Notice) -> Problem:
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
    text = f"{stack.n_hidden} of {m * n * n} entries ({share:.2%}) are missing and take no part, "
    text += f"in {graphs}: {first_names(which)}"
    often = missing_vertices(stack.mask).sum(axis=0)
    gone = [f"{stack.vertex_names[s]} (in {often[s]})" for s in np.flatnonzero(often).tolist()]
    if gone:
        text += f"; {_vertices(len(gone))} missing altogether in some graphs: {first_names(gone)}"
    return [Problem("notice", text, f"missing entries ({graphs})")]


def _vertices(count: int) -> str:
    return f"{count_of(count, 'vertex', 'vertices')} {'is' if count == 1 else 'are'}"


def _unmatched(joined: io.Joined, path: Path | None) -> list[Problem]:
    found = []
    if joined.graphs_without_row:
        count = len(joined.graphs_without_row)
        which = "1 graph has" if count == 1 else f"{count} graphs have"
        text = f"{which} no row in {path}: {first_names(joined.graphs_without_row)}"
        found.append(Problem("warning", text, f"no row in the table ({count_of(count, 'graph')})"))
    if joined.rows_without_graph:
        count = len(joined.rows_without_graph)
        which = f"1 row of {path} has" if count == 1 else f"{count} rows of {path} have"
        text = f"{which} no graph: {first_names(joined.rows_without_graph)}"
        found.append(Problem("notice", text, f"rows without a graph ({count})"))
    return found


def _by_name(columns: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    return {name: Values(values, whole=True) for name, values in columns.items()}
