"""``read``: graphs from files, aligned, with a word on everything that was done to them."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError, ReadError, ReadNotice
from eigengraphs.io.assemble import VerticesRule, assemble
from eigengraphs.io.bids import entities
from eigengraphs.io.direction import DirectedRule
from eigengraphs.io.formats import Format, IsTable, check_format, read_one
from eigengraphs.io.labels import VertexTable
from eigengraphs.io.loaded import (
    Loaded,
    names_of,
    one_layout,
    same_content,
    settle_ambiguous,
)
from eigengraphs.io.naming import differing_in_case, id_finder, several_in_each_folder
from eigengraphs.io.notices import Notice, summarise
from eigengraphs.io.raw import MatrixGraph
from eigengraphs.io.renaming import LabelsLike, as_vertex_table, rename, with_numbers
from eigengraphs.io.sources import Source, SourceLike, find_files
from eigengraphs.io.text import Notation
from eigengraphs.stack import GraphStack
from eigengraphs.stack.missing import MissingRule, check_missing
from eigengraphs.store import is_store, open_store
from eigengraphs.system.limits import Cap, MaxBytes, read_regular
from eigengraphs.system.tables import short_repr

__all__ = ["FileEntry", "Reading", "read", "read_files"]


@dataclass(frozen=True)
class FileEntry:
    """Where one graph came from.

    Attributes
    ----------
    path, sha256 : Path, str
        The file, and the hash of its bytes.
    format : str
        Such as "matrix", "edge list" or "GraphML".
    name : str
        Name of the graph in the stack.
    notices : tuple of Notice
        What was done to this graph.
    columns : mapping of str to str
        BIDS entities of the path, or further columns of the manifest.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savetxt(folder + "/sub-01_connectome.csv", np.ones((4, 4)), delimiter=",")
    ...     reading = eg.io.read_files(folder)
    >>> entry = reading.files[0]
    >>> entry.name, entry.format, entry.columns["sub"]
    ('sub-01', 'matrix', '01')
    """

    path: Path
    sha256: str
    format: str
    name: str
    notices: tuple[Notice, ...]
    columns: Mapping[str, str]

    __repr__ = short_repr


@dataclass(frozen=True)
class Reading:
    """Graphs from files, and all that is to be said of them.

    Attributes
    ----------
    stack : GraphStack
        The graphs.
    files : tuple of FileEntry
        One for each graph, in the order of the stack; none for the graphs of a store.
    notices : tuple of Notice
        One for each kind, for all files.
    seconds : float
        What it took.
    of_store : mapping of str to ndarray, or None
        Columns of a store, where the graphs are from one.
    vertex_table : VertexTable or None
        The labels, with the numbers by which edge lists call them.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savetxt(folder + "/sub-01_connectome.csv", np.ones((4, 4)), delimiter=",")
    ...     reading = eg.io.read_files(folder)
    >>> reading.stack.shape, reading.columns["sub"]
    ((1, 4, 4), ['01'])
    """

    stack: GraphStack
    files: tuple[FileEntry, ...]
    notices: tuple[Notice, ...]
    seconds: float
    of_store: Mapping[str, NDArray[Any]] | None = None  # columns of a store
    vertex_table: VertexTable | None = None

    __repr__ = short_repr

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Entities and columns of a manifest, one value a graph; '' where a graph has none."""
        if self.of_store is not None:
            return {name: values.tolist() for name, values in self.of_store.items()}
        keys = dict.fromkeys(key for file in self.files for key in file.columns)
        return {key: [file.columns.get(key, "") for file in self.files] for key in keys}


def read(
    source: SourceLike,
    *,
    format: Format = "auto",
    key: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    vertices: VerticesRule = "auto",
    labels: LabelsLike | None = None,
    directed: DirectedRule = "auto",
    missing: MissingRule = "error",
    max_bytes: MaxBytes = None,
    on_notice: Callable[[Notice], object] | None = None,
) -> GraphStack:
    """Read graphs from files.

    Parameters
    ----------
    source
        A folder (with its folders), a pattern such as ``"data/**/*.csv"``, a file, a list of files,
        or a manifest: a table with a column ``path``, and perhaps ``id`` and more. Or a store,
        whose graphs are read when they are needed; see :func:`eigengraphs.open_store`.
    format : str
        "auto" tells by ending and content. Else "matrix", "edgelist", "graphml", "gml", "pajek",
        "numpy", "matlab", "parquet", or "bids" (files called relmat, connectome, ...).
    key : str, optional
        The array of a .mat or .npz file, "all" for each; the edge attribute of GraphML and GML;
        the column of weights of Parquet.
    delimiter : str, optional
        What is between cells of text files; found where it is not given.
    decimal, thousands : str, optional
        The mark of decimals in numbers of text files, "." or ",", and the mark between thousands,
        as in "12,438". A file in which it cannot be told is refused.
    vertices : {"auto", "union", "intersection", "strict"}
        What to do with graphs on different vertices. "auto": the union for edge lists, which do
        not name vertices without edges; others are refused.
    labels : path, sequence of str or VertexTable, optional
        Names for the vertices; see :func:`eigengraphs.io.read_vertices`.
    directed : "auto" or bool
        "auto" mirrors half a matrix, and edges that are given once, unless a graph has weights
        that differ between the two directions.
    missing : {"error", "unobserved"}
        What to do with nan; see :class:`~eigengraphs.GraphStack`.
    max_bytes : int or str, optional
        What one file may say that it holds, unpacked, such as "4G"; see ``SECURITY.md`` for what
        it is by default.
    on_notice : callable, optional
        Called with each notice of what was done; by default, those that matter are warnings of
        class ``ReadNotice``.

    Returns
    -------
    GraphStack
        The graphs with their names.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import eigengraphs as eg
    >>> folder = tempfile.mkdtemp()
    >>> for i in (1, 2):
    ...     np.savetxt(f"{folder}/sub-0{i}_connectome.csv", i * np.ones((4, 4)), delimiter=",")
    >>> eg.read(folder).graph_names
    ('sub-01', 'sub-02')
    """
    reading = read_files(
        source,
        format=format,
        key=key,
        delimiter=delimiter,
        decimal=decimal,
        thousands=thousands,
        vertices=vertices,
        labels=labels,
        directed=directed,
        missing=missing,
        max_bytes=max_bytes,
    )
    for notice in reading.notices:
        if on_notice is not None:
            on_notice(notice)
        elif notice.loud:
            warnings.warn(str(notice), ReadNotice, stacklevel=2)
    return reading.stack


def read_files(
    source: SourceLike,
    *,
    format: Format = "auto",
    key: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    vertices: VerticesRule = "auto",
    labels: LabelsLike | None = None,
    directed: DirectedRule = "auto",
    missing: MissingRule = "error",
    memory: str | int | None = None,
    max_bytes: MaxBytes = None,
    id_pattern: str | None = None,
) -> Reading:
    """Read graphs from files, with hashes, columns and notices.

    Parameters
    ----------
    source, format, key, delimiter, decimal, thousands
        As of :func:`eigengraphs.read`.
    vertices, labels, directed, missing, max_bytes
        As of :func:`eigengraphs.read`.
    memory : str or int, optional
        What work on the graphs of a store may take; see :func:`eigengraphs.open_store`.
    id_pattern : str, optional
        Regular expression with one group, searched in the name of every file, and else in that of
        the graph: the participant, who becomes the column ``sub``.

    Returns
    -------
    Reading
        The stack, an entry for each graph, and a notice for each kind of thing that was done.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savetxt(folder + "/sub-01_connectome.csv", np.ones((4, 4)), delimiter=",")
    ...     reading = eg.io.read_files(folder)
    >>> [(file.name, len(file.sha256)) for file in reading.files]
    [('sub-01', 64)]
    """
    start = time.perf_counter()
    check_format(format)
    cap = Cap.of(max_bytes)
    if is_store(source):
        return _stored(source, format, key, labels, memory, start)
    check_missing(missing)
    if vertices not in ("auto", "union", "intersection", "strict"):
        raise InputError(
            f"vertices must be 'auto', 'union', 'intersection' or 'strict', got {vertices!r}"
        )
    if directed != "auto" and not isinstance(directed, bool):
        raise InputError(f"directed must be 'auto', True or False, got {directed!r}")
    notation = Notation(delimiter, decimal, thousands).checked()
    find = None if id_pattern is None else id_finder(id_pattern)
    found = find_files(source, bids=format == "bids", notation=notation)
    of_all = list(found.notices)
    loaded = _load(found, format, key, notation, of_all, cap)
    names = names_of(loaded, searched=found.searched)
    of_all += same_content(loaded, names)
    if found.searched:
        of_all += several_in_each_folder([file.path for file in found.files])
    graphs, paths = [item.graph for item in loaded], [item.file.path for item in loaded]
    of_all += differing_in_case(paths, names)
    table = None
    if labels is not None:
        table = as_vertex_table(labels)
        own = [graph.names or () for graph in graphs]
        graphs = rename(graphs, paths, table)
        table = with_numbers(table, own)
    built = assemble(graphs, paths, names, vertices=vertices, directed=directed, missing=missing)
    people = [{"sub": find(path.name, name)} if find else {}
              for path, name in zip(paths, names, strict=True)]  # fmt: skip
    files = tuple(
        FileEntry(
            item.file.path,
            item.sha256,
            item.graph.format,
            name,
            (*item.graph.notices, *said),
            {**entities(item.file.path), **item.file.columns, **person},
        )
        for item, name, said, person in zip(loaded, names, built.of_graphs, people, strict=True)
    )
    of_files = [notice for file in files for notice in file.notices]
    notices = summarise([*of_all, *of_files, *built.of_all])
    seconds = time.perf_counter() - start
    return Reading(built.stack, files, tuple(notices), seconds, vertex_table=table)


def _stored(
    source: Any,
    format: Format,
    key: str | None,
    labels: LabelsLike | None,
    memory: str | int | None,
    start: float,
) -> Reading:
    """Open a store; nothing is read of its graphs."""
    if format != "auto" or key is not None:
        raise InputError(f"{source} is a store of graphs: format and key are for other files")
    opened = open_store(source, memory)
    stack: GraphStack = opened
    if labels is not None:
        path, n = Path(opened.path), opened.n_vertices
        names = opened.vertex_names if opened.has_vertex_names else None
        husk = MatrixGraph(np.broadcast_to(np.zeros(()), (n, n)), names)
        (renamed,) = rename([husk], [path], as_vertex_table(labels))
        stack = opened.with_names(vertex_names=renamed.names)
    return Reading(stack, (), (), time.perf_counter() - start, opened.columns)


def _load(
    found: Source,
    format: Format,
    key: str | None,
    notation: Notation,
    of_all: list[Notice],
    cap: Cap,
) -> list[Loaded]:
    """Read every file once, tables of other things left out if they lie in a folder of graphs."""
    loaded, tables = list[Loaded](), list[IsTable]()
    for file in found.files:
        try:
            data = read_regular(file.path)
        except OSError as error:
            raise ReadError(f"cannot read {file.path}: {error.strerror}") from None
        try:
            options: Any = {"format": format, "key": key, "notation": notation, "cap": cap}
            graphs = read_one(file.path, data, **options)
        except IsTable as error:
            tables.append(error)
            of_all.append(Notice.of("table", file.path))
            continue
        sha256 = hashlib.sha256(data).hexdigest()
        loaded += [Loaded(file, sha256, graph, len(graphs) > 1) for graph in graphs]
    if tables and (not found.searched or len(tables) >= len(loaded)):
        raise ReadError(str(tables[0]))
    settled = settle_ambiguous(loaded, key, notation, cap)
    if found.searched:
        one_layout(settled)
    return settled
