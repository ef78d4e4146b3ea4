"""``read``: graphs from files, aligned, with a notice of everything that was done to them.

`survey` reads every graph of a source and finds how to combine them into one stack. For a store,
weights are discarded; `Survey.blocks` reads them again, a few graphs at a time.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError, ReadError, ReadNotice, in_front
from eigengraphs.io.file_graph import FileGraph, Notice, few, grouped, summarize
from eigengraphs.io.find_files import SourceLike, find_files, id_finder, name_graphs, name_notices
from eigengraphs.io.formats import Format, HowToRead, IsTable, read_file
from eigengraphs.io.one_stack import (
    DirectedRule,
    Found,
    VerticesRule,
    apply_step,
    choose_direction,
    common_vertices,
    refuse_unknown,
    widened,
)
from eigengraphs.io.tables_beside import (
    LabelsLike,
    VertexTable,
    as_vertex_table,
    renamer,
    with_numbers,
)
from eigengraphs.stack import GraphStack
from eigengraphs.stack.build import Piece, StorageRule, VertexRule, storage_for
from eigengraphs.stack.flat_matrix import canonical
from eigengraphs.stack.mask import MissingRule
from eigengraphs.store import is_store, open_store
from eigengraphs.system.limits import MaxBytes
from eigengraphs.system.tables import short_repr

Watch: TypeAlias = Callable[[str, int, int], object]  # what is done, how many, of how many

_BLOCK = 2**22  # bytes of the graphs that are put into a store together


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
    """Graphs from files, where they came from and what was done to them.

    Attributes
    ----------
    stack : GraphStack
        The graphs.
    files : tuple of FileEntry
        One for each graph, in the order of the stack; none for the graphs of a store.
    notices : tuple of Notice
        One for each kind, for all files.
    seconds : float
        Time that reading took.
    of_store : mapping of str to ndarray, or None
        Columns of a store, where the graphs are from one.
    vertex_table : VertexTable or None
        The labels, with the numbers that edge lists use for them.

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
        """Entities and columns of a manifest, one value per graph; '' where a graph has none."""
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
        A folder (with its subfolders), a pattern such as ``"data/**/*.csv"``, a file, a list of
        files, or a manifest: a table with a column ``path``, and optionally ``id`` and more. Or a
        store, whose graphs are read when they are needed; see :func:`eigengraphs.open_store`.
    format : str
        "auto" decides by ending and content. Else "matrix", "edgelist", "graphml", "numpy",
        "matlab", "parquet", or "bids" (files named relmat, connectome, ...).
    key : str, optional
        The array of a .mat or .npz file, "all" for each; the edge attribute of GraphML;
        the column of weights of Parquet.
    delimiter : str, optional
        Delimiter of cells in text files; detected by default.
    decimal, thousands : str, optional
        The decimal mark in text files, "." or ",", and the thousands separator, as in "12,438".
        Ambiguous files are refused.
    vertices : {"auto", "union", "intersection", "strict"}
        What to do with graphs on different vertices. "auto": the union for edge lists, which do
        not name vertices without edges; others are refused.
    labels : path, sequence of str or VertexTable, optional
        Names for the vertices; see :func:`eigengraphs.io.read_vertices`.
    directed : "auto" or bool
        "auto" mirrors half a matrix, and edges that are given once, unless a graph has weights
        that differ by direction.
    missing : {"error", "unobserved"}
        What to do with nan; see :class:`~eigengraphs.GraphStack`.
    max_bytes : int or str, optional
        Largest size to which one file may unpack, such as "4G"; see ``SECURITY.md`` for the
        default.
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
    options = {k: v for k, v in locals().items() if k not in ("source", "on_notice")}
    reading = read_files(source, **options)
    for notice in reading.notices:
        if on_notice is not None:
            on_notice(notice)
        elif notice.loud:
            warnings.warn(str(notice), ReadNotice, stacklevel=2)
    return reading.stack


def read_files(
    source: SourceLike,
    *,
    labels: LabelsLike | None = None,
    memory: str | int | None = None,
    id_pattern: str | None = None,
    **options: Any,
) -> Reading:
    """Read graphs from files, with hashes, columns and notices.

    Parameters
    ----------
    source, labels
        As of :func:`eigengraphs.read`.
    memory : str or int, optional
        Memory for the graphs of a store; see :func:`eigengraphs.open_store`.
    id_pattern : str, optional
        Regular expression with one group that finds the participant in the name of the file, or
        else of the graph; it becomes the column ``sub``.
    **options
        All other options of :func:`eigengraphs.read`: ``format``, ``key``, ``vertices`` and so on.

    Returns
    -------
    Reading
        The stack, an entry for each graph, and a notice for each kind of change.

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
    how = HowToRead(**options)
    if is_store(source):
        return _stored(source, how, labels, memory, start)
    find = None if id_pattern is None else id_finder(id_pattern)
    found = survey(source, how, labels)
    stack = found.stack()
    files = list[FileEntry]()
    for one in found.graphs:
        columns = one.columns
        if find is not None:
            columns["sub"] = find(one.path.name, one.name)
        said, form = tuple(one.notices), one.graph.format
        files.append(FileEntry(one.path, one.sha256, form, one.name, said, columns))
    seconds = time.perf_counter() - start
    return Reading(stack, tuple(files), found.notices, seconds, vertex_table=found.table)


def _stored(source: Any, how: HowToRead, labels: Any, memory: Any, start: float) -> Reading:
    """Open a store; nothing is read of its graphs."""
    if how.format != "auto" or how.key is not None:
        raise InputError(f"{source} is a store of graphs: format and key are for other files")
    opened = open_store(source, memory)
    stack: GraphStack = opened
    if labels is not None:
        path, names = Path(opened.path), opened.vertex_names if opened.has_vertex_names else None
        nothing = FileGraph(sparse.coo_array((opened.n_vertices,) * 2), names)
        renamed = renamer([names or ()], [path], as_vertex_table(labels))(nothing, path)
        stack = opened.with_names(vertex_names=renamed.names)
    return Reading(stack, (), (), time.perf_counter() - start, opened.columns)


# ---------------------------------------------------------------------- all graphs of a source


@dataclass(frozen=True)
class Survey:
    """Graphs of files that fit together, and how to combine them into one stack."""

    graphs: Sequence[Found]
    how: HowToRead
    rule: VertexRule
    order: tuple[str, ...] | None  # of vertices
    directed: bool
    rename: Callable[[FileGraph, Path], FileGraph] | None
    table: VertexTable | None
    notices: tuple[Notice, ...]
    storage: StorageRule = "auto"
    dtype: np.dtype[Any] | None = None

    @property
    def names(self) -> list[str]:
        """Names of the graphs."""
        return [one.name for one in self.graphs]

    def stack(self) -> GraphStack:
        """Return all graphs, whose weights are in memory."""
        return self._stack(self._pieces(self.graphs), self.names)

    def blocks(self, first: int = 0) -> Iterator[tuple[GraphStack, dict[str, list[str]]]]:
        """Yield graphs from the ``first``-th on, which are read again, and their columns."""
        columns = dict.fromkeys(name for one in self.graphs for name in one.columns)
        pieces, held, size = list[Piece](), list[Found](), 0

        def block() -> tuple[GraphStack, dict[str, list[str]]]:
            rows = [one.columns for one in held]
            stack = self._stack(pieces, [one.name for one in held])
            return stack, {name: [row.get(name, "") for row in rows] for name in columns}

        begin = 0
        for of_file in grouped(self.graphs, lambda one: id(one.file)).values():
            count, k, path = len(of_file), 0, of_file[0].path
            begin += count
            if begin <= first:
                continue
            for k, graph in enumerate(read_file(path, self.how, whole=False)[1], 1):
                if k > count or begin - count + k <= first:
                    continue
                one = replace(of_file[k - 1], graph=graph)
                if self.rename is not None:
                    one.graph = self.rename(graph, path)
                one.read_weights(self.how.missing)
                pieces += self._pieces([one])
                held.append(of_file[k - 1])
                A = pieces[-1].matrix
                size += A.nbytes if isinstance(A, np.ndarray) else 12 * int(A.nnz)
                if size >= _BLOCK:
                    yield block()
                    pieces, held, size = [], [], 0
            if k != count:
                raise ReadError(
                    f"{path} held {count} graphs at first and holds {k} now: it is being written "
                    "to; wait until that is done"
                )
        if pieces:
            yield block()

    def _pieces(self, found: Sequence[Found]) -> list[Piece]:
        for one in found:
            one.weights = apply_step(one.weights, one.step)
        if self.how.missing == "error":
            refuse_unknown(found)
        pieces = list[Piece]()
        for one in found:
            weights, names = widened(one.weights, one.graph, self.rule, self.order)
            if not isinstance(weights, np.ndarray):
                weights = canonical(weights)
            pieces.append(Piece(weights, names, one.graph.is_sparse, str(one.path)))
        return pieces

    def _stack(self, pieces: Sequence[Piece], names: Sequence[str]) -> GraphStack:
        order, paths = self.order, [piece.where for piece in pieces]
        many = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        with in_front(f"{paths[0]}{many}", paths):  # a stack may name graphs by their places
            stack = GraphStack(
                pieces,
                graph_names=names,
                vertex_names=order if self.rule == "same" else None,
                vertices=self.rule,
                storage=self.storage,
                dtype=self.dtype,
                missing=self.how.missing,
            )
        if order is None or stack.vertex_names == order:
            return stack
        if self.rule == "union":  # some vertices may be in no graph of a block
            return stack.among(order, isolated=self.how.missing == "error")
        return stack.select_vertices(list(order))


def survey(
    source: SourceLike,
    how: HowToRead,
    labels: LabelsLike | None = None,
    *,
    for_store: bool = False,
    storage: StorageRule = "auto",
    known: tuple[str, ...] | None = None,
    watch: Watch = lambda *_: None,
) -> Survey:
    """Read every graph of a source once, and find how to combine them into one stack.

    Parameters
    ----------
    for_store
        Whether weights are discarded once they have been checked.
    storage
        How the store keeps graphs.
    known
        Vertices of the store that graphs are added to.
    """
    files = find_files(source, bids=how.format == "bids", notation=how.notation)
    of_all = list(files.notices)
    found, tables = list[Found](), list[IsTable]()
    texts: dict[str, str] = {}  # so that equal names of many files are kept once
    for k, file in enumerate(files.files):
        watch("looking at files", k, len(files.files))
        try:
            sha256, stream = read_file(file.path, how, whole=not for_store)
        except IsTable as error:
            tables.append(error)
            of_all.append(Notice.of("table", file.path))
            continue
        for graph in stream:
            found.append(Found(file, sha256, graph))
            if for_store:
                _discard_weights(found[-1], how.missing, texts)
    if tables and (not files.searched or len(tables) >= len(found)):
        raise ReadError(str(tables[0]))
    if files.searched:
        _one_format(found)
    _name(found, files.searched)
    of_all += _copies(found)
    paths, names = [one.path for one in found], [one.name for one in found]
    of_all += name_notices(files, paths, names)
    rename = table = None
    if labels is not None:
        own, table = [one.graph.names or () for one in found], as_vertex_table(labels)
        rename, table = renamer(own, paths, table), with_numbers(table, own)
        for one in found:
            one.graph = rename(one.graph, one.path)
    for one in found if not for_store else ():
        one.look(how.missing)
    keep = choose_direction(found, how.directed)
    union = list[Notice]()
    rule, order = common_vertices(found, how.vertices, how.missing, union, known)
    dtype = None
    if for_store:
        _named_or_not(found)
        kinds = [one.graph.matrix.dtype for one in found]
        small = all(kind.kind == "f" and kind.itemsize <= 4 for kind in kinds)
        dtype = np.dtype(np.float32 if small else np.float64)
        if storage == "auto":
            n = found[0].graph.n_vertices if order is None else len(order)
            nonzeros = sum(one.nonzeros for one in found)
            some = any(one.graph.is_sparse for one in found)
            storage = storage_for(len(found), n, nonzeros, some, dtype)
    of_files = [notice for one in found for notice in one.notices]
    notices = tuple(summarize([*of_all, *of_files, *union]))
    return Survey(found, how, rule, order, keep, rename, table, notices, storage, dtype)


def _discard_weights(one: Found, missing: MissingRule, texts: dict[str, str]) -> None:
    """Look at a graph, and keep of its weights only what decides how a store keeps all."""
    one.look(missing)
    weights, names = one.weights, one.graph.names
    if missing == "error":
        one.weights = apply_step(weights, "mirror") if one.side.kind == "half" else weights
        refuse_unknown([one])
    dense = isinstance(weights, np.ndarray)
    one.nonzeros = int(np.count_nonzero(weights if dense else weights.data))
    husk: Any = sparse.coo_array(weights.shape, dtype=weights.dtype)
    if dense:
        husk = np.broadcast_to(np.zeros((), weights.dtype), weights.shape)
    names = names and tuple(texts.setdefault(name, name) for name in names)
    one.graph, one.weights = replace(one.graph, matrix=husk, names=names), None


def _one_format(found: Sequence[Found]) -> None:
    """Refuse matrices and edge lists in one folder: one of them is likely to be something else."""
    kinds = grouped(found, lambda one: one.graph.format)
    if len(kinds) > 1:
        fewest = min(kinds, key=lambda kind: len(kinds[kind]))
        counts = ", ".join(f"{len(group)} x {kind}" for kind, group in kinds.items())
        shown = few([str(one.path) for one in kinds[fewest]])
        raise ReadError(
            f"the files are of several kinds ({counts}); {fewest}: {shown}. Choose files of one "
            "kind with a pattern, name them one by one in a list or manifest, or say what all are "
            "by format='matrix' or format='edgelist'"
        )


def _name(found: Sequence[Found], searched: bool) -> None:
    """Name every graph: as a manifest does, by the file, or by what is in the file."""
    paths = list(dict.fromkeys(one.path for one in found))
    by_file = dict(zip(paths, name_graphs(paths, searched=searched), strict=True))
    held = Counter(id(one.file) for one in found)
    count = Counter[Path]()
    for one in found:
        one.name, within = one.file.name or by_file[one.path], one.graph.key
        if within is None and held[id(one.file)] > 1:
            within = str(count[one.path])
        if within is not None:
            one.name = within if len(paths) == 1 else f"{one.name}_{within}"
        count[one.path] += 1
    name, often = Counter(one.name for one in found).most_common(1)[0]
    if often > 1:
        same = [str(one.path) for one in found if one.name == name]
        raise ReadError(
            f"{often} graphs would be called {name!r}: {few(same, 4)}; keep one of the files, or "
            "give each a name in a manifest (a table with columns 'path' and 'id')"
        )


def _copies(found: Sequence[Found]) -> list[Notice]:
    """Say which files are copies of one another."""
    hashes = grouped((one for one in found if one.sha256), lambda one: one.sha256)  # large: none
    names = [{one.path: one.name for one in group} for group in hashes.values()]
    copies = [list(group.values()) for group in names if len(group) > 1]
    if not copies:
        return []
    shown = few([" = ".join(group) for group in copies])
    text = f"{sum(map(len, copies))} files are copies of others, byte for byte ({shown}); if a "
    return [Notice("copies", text + "subject got into the data twice, leave one file out")]


def _named_or_not(found: Sequence[Found]) -> None:
    """Refuse graphs of which some name their vertices and others do not."""
    named, bare = ([one.path for one in found if (one.graph.names is None) is none]
                   for none in (False, True))  # fmt: skip
    if named and bare:
        raise ReadError(
            f"{named[0]} names its vertices and {bare[0]} does not: convert them separately, or "
            "give names to all by labels (--vertices)"
        )
