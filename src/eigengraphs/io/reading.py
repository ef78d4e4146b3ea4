"""``read``: graphs from files, aligned, with a notice of everything that was done to them.

`survey` looks at every graph of a source and finds what they need to be one stack. Graphs that go
into a store leave their weights behind; `Survey.blocks` reads them again, a few at a time.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError, ReadError, ReadNotice
from eigengraphs.io.file_graph import EdgeGraph, FileGraph, Matrix, MatrixGraph, Notice, few
from eigengraphs.io.file_graph import summarize as _summarize
from eigengraphs.io.find_files import (
    SourceFile,
    SourceLike,
    entities,
    find_files,
    id_finder,
    name_graphs,
    name_notices,
)
from eigengraphs.io.formats import Format, HowToRead, IsTable, read_file
from eigengraphs.io.one_stack import (
    DirectedRule,
    Sides,
    Step,
    VerticesRule,
    canonical,
    common_vertices,
    compare_sides,
    direction_steps,
    do_step,
    refuse_unknown,
    weights_of,
    widened,
    without_bad_diagonal,
)
from eigengraphs.io.text_files import Notation
from eigengraphs.io.vertex_tables import (
    LabelsLike,
    VertexTable,
    as_vertex_table,
    renamer,
    with_numbers,
)
from eigengraphs.stack import GraphStack
from eigengraphs.stack.build import Piece, StorageRule, VertexRule, check_choice, storage_for
from eigengraphs.stack.mask import MissingRule
from eigengraphs.store import is_store, open_store
from eigengraphs.system.limits import Cap, MaxBytes
from eigengraphs.system.tables import short_repr

__all__ = ["FileEntry", "Reading", "Survey", "read", "read_files", "survey"]

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
    notation = Notation(delimiter, decimal, thousands)
    how = HowToRead(format, key, notation, Cap.of(max_bytes))
    if is_store(source):
        return _stored(source, how, labels, memory, start)
    find = None if id_pattern is None else id_finder(id_pattern)
    found = survey(
        source, how, vertices=vertices, labels=labels, directed=directed, missing=missing
    )
    stack = found.stack()
    files = list[FileEntry]()
    for one, name in zip(found.graphs, found.names, strict=True):
        path = one.file.path
        columns = {**entities(path), **one.file.columns}
        if find is not None:
            columns["sub"] = find(path.name, name)
        said = tuple(one.notices)
        files.append(FileEntry(path, one.sha256, one.graph.format, name, said, columns))
    seconds = time.perf_counter() - start
    return Reading(stack, tuple(files), found.notices, seconds, vertex_table=found.table)


def _stored(
    source: Any,
    how: HowToRead,
    labels: LabelsLike | None,
    memory: str | int | None,
    start: float,
) -> Reading:
    """Open a store; nothing is read of its graphs."""
    if how.format != "auto" or how.key is not None:
        raise InputError(f"{source} is a store of graphs: format and key are for other files")
    opened = open_store(source, memory)
    stack: GraphStack = opened
    if labels is not None:
        path, names = Path(opened.path), opened.vertex_names if opened.has_vertex_names else None
        husk = MatrixGraph(_husk(opened.n_vertices), names)
        renamed = renamer([names or ()], [path], as_vertex_table(labels))(husk, path)
        stack = opened.with_names(vertex_names=renamed.names)
    return Reading(stack, (), (), time.perf_counter() - start, opened.columns)


# ---------------------------------------------------------------------- all graphs of a source


@dataclass
class _Found:
    """One graph on its way into a stack."""

    file: SourceFile
    sha256: str
    how: HowToRead
    graph: FileGraph  # without its weights, once it was looked at for a store
    several: bool = False  # its file holds more graphs
    notices: list[Notice] = field(default_factory=list)
    weights: Matrix | None = None
    side: Sides = field(default_factory=lambda: Sides("symmetric"))
    nonzeros: int = 0  # these three are found for stores
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))
    is_sparse: bool = False

    def look(self, missing: MissingRule) -> Matrix:
        """Return the weights, and remember how their two sides compare."""
        self.notices = list(self.graph.notices)
        self.weights = self.read_weights(self.graph, missing, self.notices)
        self.side = compare_sides(self.weights, self.graph.names)
        return self.weights

    def read_weights(self, graph: FileGraph, missing: MissingRule, notices: list[Notice]) -> Matrix:
        """Return weights (n, n) without a diagonal that is nan or infinite throughout."""
        path = self.file.path
        return without_bad_diagonal(weights_of(graph, path, notices), path, missing, notices)


@dataclass(frozen=True)
class Survey:
    """Graphs of files that fit together, and what they need to be one stack."""

    graphs: Sequence[_Found]
    names: Sequence[str]
    rule: VertexRule
    order: tuple[str, ...] | None  # of vertices
    steps: Sequence[Step]  # for the direction of each graph
    directed: bool
    missing: MissingRule
    rename: Callable[[FileGraph, Path], FileGraph] | None
    table: VertexTable | None
    notices: tuple[Notice, ...]
    storage: StorageRule = "auto"
    dtype: np.dtype[Any] | None = None

    def stack(self) -> GraphStack:
        """Return all graphs, whose weights are in memory."""
        paths = [one.file.path for one in self.graphs]
        weights = [one.weights for one in self.graphs if one.weights is not None]
        weights = [do_step(A, step) for A, step in zip(weights, self.steps, strict=True)]
        if self.missing == "error":
            refuse_unknown(weights, [one.graph.names for one in self.graphs], paths)
        pieces = [self._piece(one.graph, A, path) for one, A, path in
                  zip(self.graphs, weights, paths, strict=True)]  # fmt: skip
        return self._stack(pieces, self.names)

    def blocks(self, first: int = 0) -> Iterator[tuple[GraphStack, dict[str, list[str]]]]:
        """Yield graphs from the ``first``-th on, which are read again, and their columns."""
        counts = Counter(id(one.file) for one in self.graphs)
        columns = dict.fromkeys(
            name for one in self.graphs for name in (*entities(one.file.path), *one.file.columns)
        )
        pieces, rows = list[Piece](), list[dict[str, str]]()
        at = held = 0

        def block() -> tuple[GraphStack, dict[str, list[str]]]:
            stack = self._stack(pieces, self.names[at - len(pieces) : at])
            return stack, {name: [row.get(name, "") for row in rows] for name in columns}

        while at < len(self.graphs):
            one = self.graphs[at]
            path, count, begin, k = one.file.path, counts[id(one.file)], at, 0
            if begin + count <= first:
                at += count
                continue
            of_file = {**entities(path), **one.file.columns}
            for k, graph in enumerate(read_file(path, one.how, whole=False)[1], 1):
                if k > count or begin + k <= first:
                    continue
                at = begin + k
                if self.rename is not None:
                    graph = self.rename(graph, path)
                weights = one.read_weights(graph, self.missing, [])
                weights = do_step(weights, self.steps[at - 1])
                if self.missing == "error":
                    refuse_unknown([weights], [graph.names], [path])
                pieces.append(self._piece(graph, weights, path))
                rows.append(of_file)
                A = pieces[-1].matrix
                held += A.nbytes if isinstance(A, np.ndarray) else 12 * int(A.nnz)
                if held >= _BLOCK:
                    yield block()
                    pieces, rows, held = [], [], 0
            if k != count:
                raise ReadError(
                    f"{path} held {count} graphs when it was looked at, and now {k}: it is being "
                    "written to; wait until that is done"
                )
        if pieces:
            yield block()

    def _piece(self, graph: FileGraph, weights: Matrix, path: Path) -> Piece:
        weights, names = widened(weights, graph, self.rule, self.order)
        return Piece(canonical(weights), names, _is_sparse(graph), str(path))

    def _stack(self, pieces: Sequence[Piece], names: Sequence[str]) -> GraphStack:
        order = self.order
        with _naming_files([piece.where for piece in pieces]):
            stack = GraphStack(
                pieces,
                graph_names=names,
                vertex_names=order if self.rule == "same" else None,
                vertices=self.rule,
                storage=self.storage,
                dtype=self.dtype,
                missing=self.missing,
            )
        if order is None or stack.vertex_names == order:
            return stack
        if self.rule == "union":  # some vertices may be in no graph of a block
            return stack.among(order, isolated=self.missing == "error")
        return stack.select_vertices(list(order))


@contextmanager
def _naming_files(paths: Sequence[str]) -> Iterator[None]:
    """Name the files where a stack refuses graphs by their places."""
    try:
        yield
    except InputError as error:
        if any(path in str(error) for path in paths):
            raise
        many = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        raise type(error)(f"{paths[0]}{many}: {error}") from error


def survey(
    source: SourceLike,
    how: HowToRead,
    *,
    vertices: VerticesRule = "auto",
    labels: LabelsLike | None = None,
    directed: DirectedRule = "auto",
    missing: MissingRule = "error",
    for_store: bool = False,
    storage: StorageRule = "auto",
    known: tuple[str, ...] | None = None,
    watch: Watch = lambda *_: None,
) -> Survey:
    """Look at every graph of a source once, and find what they need to be one stack.

    Parameters
    ----------
    for_store
        Whether weights are let go as soon as they were looked at.
    storage
        How the store keeps graphs.
    known
        Vertices of the store that graphs are added to.
    """
    check_choice("missing", missing, "error", "unobserved")
    if vertices not in ("auto", "union", "intersection", "strict"):
        raise InputError(
            f"vertices must be 'auto', 'union', 'intersection' or 'strict', got {vertices!r}"
        )
    if directed != "auto" and not isinstance(directed, bool):
        raise InputError(f"directed must be 'auto', True or False, got {directed!r}")
    files = find_files(source, bids=how.format == "bids", notation=how.notation)
    of_all = list(files.notices)
    found, tables = list[_Found](), list[IsTable]()
    texts: dict[str, str] = {}  # so that equal names of many files are kept once
    for k, file in enumerate(files.files):
        watch("looking at files", k, len(files.files))
        try:
            sha256, stream = read_file(file.path, how, whole=not for_store)
        except IsTable as error:
            tables.append(error)
            of_all.append(Notice.of("table", file.path))
            continue
        before = len(found)
        for graph in stream:
            found.append(_Found(file, sha256, how, graph))
            if for_store:
                _let_go(found[-1], missing, texts)
        for one in found[before:]:
            one.several = len(found) > before + 1
    if tables and (not files.searched or len(tables) >= len(found)):
        raise ReadError(str(tables[0]))
    for i in _settle_ambiguous(found):
        if for_store:
            _let_go(found[i], missing, texts)
    if files.searched:
        _one_format(found)
    names, paths = _names(found, files.searched), [one.file.path for one in found]
    of_all += _copies(found, names)
    of_all += name_notices(files, paths, names)
    rename = table = None
    if labels is not None:
        own = [one.graph.names or () for one in found]
        rename = renamer(own, paths, as_vertex_table(labels))
        table = with_numbers(as_vertex_table(labels), own)
        for one in found:
            one.graph = rename(one.graph, one.file.path)
    for one in found if not for_store else ():
        one.look(missing)
    graphs, of_graphs = [one.graph for one in found], [one.notices for one in found]
    sides = [one.side for one in found]
    steps, keep = direction_steps(graphs, paths, sides, directed, of_graphs)
    union = list[Notice]()
    rule, order = common_vertices(graphs, paths, vertices, missing, of_graphs, union, known)
    dtype = None
    if for_store:
        order = _order_in_store(graphs, paths, rule, order)
        small = all(one.dtype.kind == "f" and one.dtype.itemsize <= 4 for one in found)
        dtype = np.dtype(np.float32 if small else np.float64)
    if for_store and storage == "auto":
        n = graphs[0].n_vertices if order is None else len(order)
        nonzeros = sum(one.nonzeros for one in found)
        sparse = any(one.is_sparse for one in found)
        storage = storage_for(len(found), n, nonzeros, sparse, dtype or np.dtype(np.float64))
    of_files = [notice for told in of_graphs for notice in told]
    notices = tuple(_summarize([*of_all, *of_files, *union]))
    return Survey(
        found, names, rule, order, steps, keep, missing, rename, table, notices, storage, dtype
    )


def _let_go(one: _Found, missing: MissingRule, texts: dict[str, str]) -> None:
    """Look at a graph, and keep of its weights only what decides how a store keeps all."""
    weights: Any = one.look(missing)
    if missing == "error":
        known = do_step(weights, "mirror") if one.side.kind == "half" else weights
        refuse_unknown([known], [one.graph.names], [one.file.path])
    dense = isinstance(weights, np.ndarray)
    one.nonzeros = int(np.count_nonzero(weights if dense else weights.data))
    one.dtype, one.is_sparse = weights.dtype, _is_sparse(one.graph)
    if isinstance(one.graph, EdgeGraph):
        names = tuple(texts.setdefault(name, name) for name in one.graph.names)
        nothing = np.zeros(0, np.intp)
        one.graph = EdgeGraph(nothing, nothing, np.zeros(0), names, one.graph.declared,
                              one.graph.directed, one.graph.key, (), one.graph.format)  # fmt: skip
    else:
        one.graph = replace(one.graph, matrix=_husk(weights.shape[0]))
    one.weights = None


def _is_sparse(graph: FileGraph) -> bool:
    """Tell whether a file holds a sparse matrix, which is never made dense."""
    return isinstance(graph, MatrixGraph) and not isinstance(graph.matrix, np.ndarray)


def _husk(n: int) -> Any:
    """Return a matrix of zeros that takes no memory."""
    return np.broadcast_to(np.zeros((), np.int8), (n, n))


def _settle_ambiguous(found: Sequence[_Found]) -> list[int]:
    """Read files that could be matrices or edge lists as what the others are; return which."""
    unsure = [any(said.kind == "ambiguous" for said in one.graph.notices) for one in found]
    sure = {one.graph.format for one, doubt in zip(found, unsure, strict=True) if not doubt}
    known: dict[str, Format] = {"matrix": "matrix", "edge list": "edgelist"}
    if len(sure) != 1 or not sure <= set(known):
        return []
    places = [i for i, doubt in enumerate(unsure) if doubt]
    for i in places:
        found[i].how = replace(found[i].how, format=known[next(iter(sure))])
        found[i].graph = next(read_file(found[i].file.path, found[i].how)[1])
    return places


def _one_format(found: Sequence[_Found]) -> None:
    """Refuse matrices and edge lists in one folder: one of them is likely to be something else."""
    kinds: dict[str, list[str]] = {}
    for one in found:
        kinds.setdefault(one.graph.format, []).append(str(one.file.path))
    if len(kinds) > 1:
        fewest = min(kinds, key=lambda kind: len(kinds[kind]))
        counts = ", ".join(f"{len(paths)} x {kind}" for kind, paths in kinds.items())
        raise ReadError(
            f"the files are of several kinds ({counts}); {fewest}: {few(kinds[fewest])}. Choose "
            "files of one kind with a pattern, or name them one by one in a list or manifest"
        )


def _names(found: Sequence[_Found], searched: bool) -> list[str]:
    """Return a name for every graph: of a manifest, of the file, or of what is in the file."""
    paths = list(dict.fromkeys(one.file.path for one in found))
    by_file = dict(zip(paths, name_graphs(paths, searched=searched), strict=True))
    count = Counter[Path]()
    names = list[str]()
    for one in found:
        path = one.file.path
        name = one.file.name or by_file[path]
        within = str(count[path]) if one.several and one.graph.key is None else one.graph.key
        if within is not None:
            name = within if len(paths) == 1 else f"{name}_{within}"
        count[path] += 1
        names.append(name)
    name, often = Counter(names).most_common(1)[0]
    if often > 1:
        same = [str(found[i].file.path) for i, other in enumerate(names) if other == name]
        raise ReadError(
            f"{often} graphs would be called {name!r}: {few(same, 4)}; keep one of the files, or "
            "give each a name in a manifest (a table with columns 'path' and 'id')"
        )
    return names


def _copies(found: Sequence[_Found], names: Sequence[str]) -> list[Notice]:
    """Say which files are copies of one another."""
    hashes: dict[str, dict[Path, str]] = {}
    for one, name in zip(found, names, strict=True):
        if one.sha256:  # large files have none
            hashes.setdefault(one.sha256, {})[one.file.path] = name
    copies = [list(group.values()) for group in hashes.values() if len(group) > 1]
    if not copies:
        return []
    shown = few([" = ".join(group) for group in copies])
    text = f"{sum(map(len, copies))} files are copies of others, byte for byte ({shown}); if a "
    return [Notice("copies", text + "subject got into the data twice, leave one file out")]


def _order_in_store(
    graphs: Sequence[FileGraph],
    paths: Sequence[Path],
    rule: VertexRule,
    order: tuple[str, ...] | None,
) -> tuple[str, ...] | None:
    """Return the vertices of all blocks of a store, or None for graphs without names."""
    named = [i for i, graph in enumerate(graphs) if graph.names is not None]
    if 0 < len(named) < len(graphs):
        bare = next(i for i, graph in enumerate(graphs) if graph.names is None)
        raise ReadError(
            f"{paths[named[0]]} names its vertices and {paths[bare]} does not: convert them apart, "
            "or give names to all by labels (--vertices)"
        )
    if rule != "intersection":
        return order
    common = set.intersection(*(set(names) for names in {graph.names or () for graph in graphs}))
    if not common:
        raise ReadError("no vertex name is common to all graphs")
    return tuple(name for name in graphs[0].names or () if name in common)
