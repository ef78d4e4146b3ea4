"""Many files, looked at one by one: what must be known of all before any is put into a store.

:func:`survey` reads every graph, keeps of each what decides about the others (names of vertices,
direction, kind of numbers) and lets it go. Then :meth:`Survey.blocks` reads them again and yields
them as :func:`~eigengraphs.io.read` would have them, a few at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from eigengraphs.errors import ReadError
from eigengraphs.io.assemble import (
    VerticesRule,
    canonical,
    naming_files,
    on_vertices,
    refuse_shifted,
    refuse_unknown,
    vertex_sets,
    without_bad_diagonal,
)
from eigengraphs.io.bids import entities
from eigengraphs.io.direction import (
    DirectedRule,
    Sides,
    as_it_is,
    compare,
    few_with_direction,
    keeps_direction,
    settled,
)
from eigengraphs.io.formats import Format, IsTable
from eigengraphs.io.labels import VertexTable
from eigengraphs.io.loaded import Loaded, names_of, one_layout, same_content, settle_ambiguous
from eigengraphs.io.naming import differing_in_case, natural, several_in_each_folder
from eigengraphs.io.notices import Notice, summarise
from eigengraphs.io.raw import EdgeGraph, RawGraph
from eigengraphs.io.renaming import renamer
from eigengraphs.io.sources import SourceFile, SourceLike, find_files
from eigengraphs.io.streams import graphs_of_file
from eigengraphs.io.text import Notation
from eigengraphs.stack import GraphStack
from eigengraphs.stack.build import Storage, StorageRule
from eigengraphs.stack.build import storage_for as _storage_for
from eigengraphs.stack.names import spelling
from eigengraphs.stack.one_graph import Piece
from eigengraphs.system.limits import Cap

__all__ = ["Survey", "survey"]

Watch: TypeAlias = Callable[[str, int, int], object]  # what is done, how many files, of how many

_BLOCK = 2**22  # bytes of the graphs that are put together at a time
_FORMATS: dict[str, Format] = {"matrix": "matrix", "edge list": "edgelist"}


@dataclass(frozen=True)
class _Seen:
    """What is kept of one graph."""

    side: Sides
    nonzeros: int
    dtype: np.dtype[Any]
    sparse: bool


@dataclass(frozen=True)
class Survey:
    """Files whose graphs fit together, and how they are read."""

    files: tuple[SourceFile, ...]  # in order, each once
    counts: tuple[int, ...]  # graphs in each
    formats: tuple[Format, ...]
    names: tuple[str, ...]  # of all graphs
    columns: tuple[str, ...]
    vertex_names: tuple[str, ...] | None
    storage: StorageRule
    dtype: np.dtype[Any]
    keep: bool  # direction
    directed: DirectedRule
    key: str | None
    notation: Notation
    cap: Cap
    rename: Callable[[RawGraph, Path], RawGraph] | None
    notices: tuple[Notice, ...]

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.names)

    def blocks(self, first: int = 0) -> Iterator[tuple[GraphStack, dict[str, list[str]]]]:
        """Yield graphs from the ``first``-th on, and their columns."""
        pieces, names, rows = list[Piece](), list[str](), list[dict[str, str]]()
        at = held = 0
        for file, count, form in zip(self.files, self.counts, self.formats, strict=True):
            if at + count <= first:
                at += count
                continue
            of_file = {**entities(file.path), **file.columns}
            options: Any = {"format": form, "key": self.key, "notation": self.notation}
            _, graphs = graphs_of_file(file.path, cap=self.cap, **options)
            found = 0
            for graph in graphs:
                found += 1
                at += 1
                if at <= first:
                    continue
                piece = self._piece(graph, file.path)
                pieces.append(piece)
                names.append(self.names[at - 1])
                rows.append(of_file)
                held += _bytes(piece.matrix)
                if held >= _BLOCK:
                    yield self._stack(pieces, names), self._table(rows)
                    pieces, names, rows, held = [], [], [], 0
            if found != count:
                raise ReadError(
                    f"{file.path} held {count} graphs when it was looked at, and now {found}: it "
                    "is being written to; wait until that is done"
                )
        if pieces:
            yield self._stack(pieces, names), self._table(rows)

    def _piece(self, graph: RawGraph, path: Path) -> Piece:
        """Return one graph on the vertices of all."""
        if self.rename is not None:
            graph = self.rename(graph, path)
        notices = list[Notice]()
        matrix = as_it_is(graph, path, notices)
        side = compare(matrix)
        matrix = settled(graph, path, matrix, side, self.keep, self.directed, notices)
        matrix = without_bad_diagonal(matrix, path, "error", notices)
        refuse_unknown([matrix], [graph.names], [path])
        if graph.names is not None and self.vertex_names is not None:
            matrix = on_vertices(matrix, graph.names, self.vertex_names)
        return Piece(canonical(matrix), self.vertex_names, False, str(path))

    def _stack(self, pieces: Sequence[Piece], names: Sequence[str]) -> GraphStack:
        with naming_files([Path(piece.where) for piece in pieces]):
            return GraphStack(
                pieces,
                graph_names=names,
                vertex_names=self.vertex_names,
                storage=self.storage,
                dtype=self.dtype,
            )

    def _table(self, rows: Sequence[dict[str, str]]) -> dict[str, list[str]]:
        return {name: [row.get(name, "") for row in rows] for name in self.columns}


def survey(
    source: SourceLike,
    *,
    format: Format,
    key: str | None,
    notation: Notation,
    vertices: VerticesRule,
    labels: VertexTable | None,
    directed: DirectedRule,
    storage: StorageRule,
    known: tuple[str, ...] | None,
    watch: Watch,
    cap: Cap,
) -> Survey:
    """Look at every graph of a source once, one at a time.

    ``known`` are the vertices of a store that lists of edges are added to.
    """
    found = find_files(source, bids=format == "bids", notation=notation)
    of_all = list(found.notices)
    loaded, seen, tables = list[Loaded](), list[_Seen](), list[IsTable]()
    texts: dict[str, str] = {}
    last: tuple[str, ...] | None = None
    for k, file in enumerate(found.files):
        watch("looking at files", k, len(found.files))
        try:
            sha256, stream = graphs_of_file(
                file.path, format=format, key=key, notation=notation, cap=cap
            )
            for i, graph in enumerate(stream):
                husk, facts = _look(graph, file.path, of_all)
                own = husk.names
                if own is not None:
                    last = last if own == last else tuple(texts.setdefault(x, x) for x in own)
                    husk = replace(husk, names=last)
                loaded.append(Loaded(file, sha256, husk, i > 0))
                seen.append(facts)
                if i == 1:
                    loaded[-2] = replace(loaded[-2], several=True)
        except IsTable as error:
            tables.append(error)
            of_all.append(Notice.of("table", file.path))
    if tables and (not found.searched or len(tables) >= len(loaded)):
        raise ReadError(str(tables[0]))
    loaded, formats = _settled(loaded, seen, format, key, notation, of_all, cap)
    if found.searched:
        one_layout(loaded)
        of_all += several_in_each_folder([file.path for file in found.files])
    names = names_of(loaded, searched=found.searched)
    of_all += same_content(loaded, names)
    graphs = [item.graph for item in loaded]
    paths = [item.file.path for item in loaded]
    of_all += differing_in_case(paths, names)
    rename = None
    if labels is not None:
        rename = renamer([graph.names or () for graph in graphs], paths, labels)
        graphs = [rename(graph, path) for graph, path in zip(graphs, paths, strict=True)]
    order = _vertices(graphs, paths, vertices, known, of_all)
    keep = keeps_direction(
        ((graph.directed, of.side) for graph, of in zip(graphs, seen, strict=True)), directed
    )
    n = len(order) if order is not None else _size(graphs[0])
    if storage == "auto":
        storage = _storage_for(
            len(seen), n, sum(of.nonzeros for of in seen), any(of.sparse for of in seen),
            _number([of.dtype for of in seen]),
        )  # fmt: skip
    of_files = _notices(graphs, paths, seen, keep, directed)
    files = tuple(dict.fromkeys(item.file.path for item in loaded))
    by_path = {item.file.path: item.file for item in loaded}
    counts = dict.fromkeys(files, 0)
    for path in paths:
        counts[path] += 1
    columns = dict.fromkeys(
        name for path in files for name in {**entities(path), **by_path[path].columns}
    )
    return Survey(
        files=tuple(by_path[path] for path in files),
        counts=tuple(counts.values()),
        formats=tuple(formats[path] for path in files),
        names=tuple(names),
        columns=tuple(columns),
        vertex_names=order,
        storage=storage,
        dtype=_number([of.dtype for of in seen]),
        keep=keep,
        directed=directed,
        key=key,
        notation=notation,
        cap=cap,
        rename=rename,
        notices=tuple(summarise([*of_all, *of_files])),
    )


def _look(graph: RawGraph, path: Path, notices: list[Notice]) -> tuple[RawGraph, _Seen]:
    """Return a graph without its weights, and what is kept of them."""
    notices += graph.notices
    matrix = as_it_is(graph, path, notices)
    own = graph.names
    refuse_unknown([without_bad_diagonal(matrix, path, "error", notices)], [own], [path])
    if isinstance(matrix, np.ndarray):
        nonzeros, keep = int(np.count_nonzero(matrix)), False
    else:
        nonzeros, keep = int(matrix.nnz), not isinstance(graph, EdgeGraph)
    seen = _Seen(compare(matrix), nonzeros, matrix.dtype, keep)
    if isinstance(graph, EdgeGraph):
        nothing = np.zeros(0, np.intp)
        return replace(graph, source=nothing, target=nothing, weight=np.zeros(0)), seen
    return replace(graph, matrix=_husk(matrix.shape[0])), seen


def _husk(n: int) -> Any:
    """Return a matrix of zeros that takes no memory."""
    return np.broadcast_to(np.zeros((), np.int8), (n, n))


def _settled(
    loaded: list[Loaded],
    seen: list[_Seen],
    format: Format,
    key: str | None,
    notation: Notation,
    notices: list[Notice],
    cap: Cap,
) -> tuple[list[Loaded], dict[Path, Format]]:
    """Look again at files that could be matrices or edge lists, as what the others are."""
    formats = {item.file.path: format for item in loaded}
    done = list[Loaded]()
    for i, (old, new) in enumerate(
        zip(loaded, settle_ambiguous(loaded, key, notation, cap), strict=True)
    ):
        if new is not old:
            husk, seen[i] = _look(new.graph, new.file.path, notices)
            formats[new.file.path] = _FORMATS[new.graph.format]
            new = replace(new, graph=husk)
        done.append(new)
    return done, formats


def _vertices(
    graphs: Sequence[RawGraph],
    paths: Sequence[Path],
    vertices: VerticesRule,
    known: tuple[str, ...] | None,
    notices: list[Notice],
) -> tuple[str, ...] | None:
    """Return the vertices of all graphs in their order, or None for graphs without names."""
    free = all(isinstance(graph, EdgeGraph) and not graph.declared for graph in graphs)
    if free and vertices in ("auto", "union"):
        # As vertex_sets finds it, without a set of names for every graph.
        every = set[str]().union(*(graph.names or () for graph in graphs))
        if not every:
            raise ReadError(f"{paths[0]} has no edges, and so no vertices: leave it out")
        doubt = ""
        if vertices == "auto":
            doubt = refuse_shifted([graph.names or () for graph in graphs], paths)
        if known is not None and every <= set(known):
            return known
        doubt += spelling(sorted(every), every)
        fewer = sum(len(graph.names or ()) < len(every) for graph in graphs)
        if fewer:
            name = "names" if fewer == 1 else "name"
            text = (
                f"{fewer} of {len(graphs)} graphs {name} only some of the {len(every)} vertices; "
            )
            text += f"a vertex that a graph does not name has no edges there{doubt}"
            notices.append(Notice("union", text))
        return tuple(sorted(every, key=natural))
    named = [i for i, graph in enumerate(graphs) if graph.names is not None]
    if 0 < len(named) < len(graphs):
        bare = next(i for i, graph in enumerate(graphs) if graph.names is None)
        raise ReadError(
            f"{paths[named[0]]} names its vertices and {paths[bare]} does not: convert them apart, "
            "or give names to all by labels (--vertices)"
        )
    of_graphs: list[list[Notice]] = [[] for _ in graphs]
    rule, order, own = vertex_sets(graphs, paths, vertices, None, of_graphs, notices)
    notices += [notice for said in of_graphs for notice in said]
    if rule == "intersection":
        unique = {names: frozenset(names) for names in own if names is not None}
        common = frozenset.intersection(*unique.values())
        order = tuple(name for name in own[0] or () if name in common)
        if not order:
            raise ReadError("no vertex name is common to all graphs")
    return order


def _notices(
    graphs: Sequence[RawGraph],
    paths: Sequence[Path],
    seen: Sequence[_Seen],
    keep: bool,
    directed: DirectedRule,
) -> list[Notice]:
    """Return what will be done to graphs for the sake of their direction."""
    sides = [of.side for of in seen]
    told = [notice for _, notice in few_with_direction(graphs, sides, paths, directed)]
    for graph, path, of in zip(graphs, paths, seen, strict=True):
        if of.side.kind != "symmetric":
            settled(graph, path, _TWO, of.side, keep, directed, told)
    return told


_TWO: Storage = np.zeros((2, 2))  # what is said does not depend on the weights


def _number(kinds: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    small = all(kind.kind == "f" and kind.itemsize <= 4 for kind in kinds)
    return np.dtype(np.float32 if small else np.float64)


def _size(graph: RawGraph) -> int:
    return len(graph.names) if isinstance(graph, EdgeGraph) else int(graph.matrix.shape[0])


def _bytes(matrix: Storage) -> int:
    return matrix.nbytes if isinstance(matrix, np.ndarray) else 12 * int(matrix.nnz)
