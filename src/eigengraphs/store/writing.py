"""Graphs into a store: block after block, shard after shard, each whole before it counts."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from eigengraphs.errors import AlignmentError, InputError, ReadError, StoreError
from eigengraphs.stack.blocked import joined
from eigengraphs.stack.build import StorageRule, check_storage
from eigengraphs.stack.names import some_of
from eigengraphs.stack.stack import GraphStack
from eigengraphs.store.dense import ARRAY_JSON, array_json
from eigengraphs.store.folder import Folder
from eigengraphs.store.layout import STORE_JSON, VERTICES, Batch, Layout
from eigengraphs.store.shards import write_shard
from eigengraphs.store.store import Store
from eigengraphs.store.tables import arrow, to_bytes

__all__ = ["SHARD_BYTES", "StoreWriter"]

SHARD_BYTES = 16 * 2**20
COMMIT_SECONDS = 2.0  # between two replacements of store.json, which wait for the disk


class StoreWriter:
    """Write graphs into a store, or more graphs into one that is there.

    Parameters
    ----------
    path : str or path
        The folder of the store, or an address that fsspec opens.
    mode : {"new", "append", "resume"}
        A new store; more graphs for a finished one; or the rest of what was stopped: then the same
        graphs are given again from the ``done``-th on.
    storage : {"auto", "dense", "sparse"}
        How graphs are kept; "auto" as the first block is.
    directed : bool
        With False, a graph with a direction is refused; None takes what comes, but nothing with a
        direction behind a finished store of graphs without.
    shard_bytes : int
        Bytes, in memory, of the graphs in one file, about.
    batch : Batch, optional
        What is said of these graphs in ``store.json``. One with a command can be resumed, so each
        shard counts when it is whole; else all count at the end.
    storage_options : mapping, optional
        For fsspec.

    Attributes
    ----------
    done : int
        Graphs of this batch that are in the store already.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import eigengraphs as eg
    >>> with eg.store.StoreWriter(tempfile.mkdtemp() + "/graphs.egs") as writer:
    ...     for i in range(3):
    ...         writer.add(eg.GraphStack(np.ones((2, 4, 4))))
    >>> writer.n_graphs
    6
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        mode: Literal["new", "append", "resume"] = "new",
        storage: StorageRule = "auto",
        directed: bool | None = None,
        shard_bytes: int = SHARD_BYTES,
        batch: Batch | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        check_storage(storage)
        arrow()  # what is missing shows before work is done
        self._folder = Folder(path, storage_options)
        self._storage, self._directed, self._target = storage, directed, shard_bytes
        self._batch = batch or Batch("graphs in memory", 0)
        self._layout: Layout | None = None
        self._before: Layout | None = None  # the finished store that graphs are added to
        self._names: set[str] = set()
        self._buffer = list[tuple[GraphStack, dict[str, Any]]]()
        self._vertices: tuple[str, ...] | None = None
        self._committed = 0.0
        self.done = 0  # graphs of this batch that are there already
        there = self._folder.exists(STORE_JSON)
        if mode == "new":
            if there:
                raise StoreError(
                    f"there is a store at {self._folder} already: remove it, choose another name, "
                    "or add to it (append)"
                )
            if self._folder.local is not None and self._folder.local.is_file():
                raise StoreError(f"{self._folder} is a file, and a store is a folder")
        else:
            self._open(mode)

    def _open(self, mode: str) -> None:
        store = Store(self._folder, unfinished=mode == "resume")
        layout = store.layout
        self._vertices = store.vertex_names
        if layout.graph_names:
            shards = range(len(layout.shards))
            self._names = {name for k in shards for name in store.names_and_facts(k)[0]}
        if mode == "append":
            self._before = layout
            self._batch = replace(self._batch, first=layout.n_graphs)
            self._layout = replace(layout, batches=(*layout.batches, self._batch))
            if self._directed is None and not layout.directed:
                self._directed = False
        else:
            self._layout = layout
            self._batch = layout.batches[-1]
            if layout.finished:
                raise StoreError(f"{self._folder} is finished: there is nothing to go on with")
            self.done = layout.n_graphs - self._batch.first

    # ------------------------------------------------------------------ what is given

    @property
    def n_graphs(self) -> int:
        """Graphs in whole shards."""
        return 0 if self._layout is None else self._layout.n_graphs

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Columns that all graphs have, once there are some."""
        return None if self._layout is None else self._layout.columns

    def add(self, graphs: GraphStack, columns: Mapping[str, Any] | None = None) -> None:
        """Add a block of graphs, with further columns of one value a graph.

        Vertices must be those of the first block; in another order, they are aligned by name.

        Parameters
        ----------
        graphs : GraphStack
            A block, of any size.
        columns : mapping of str to sequence, optional
            Further columns, one value a graph.

        Examples
        --------
        >>> import tempfile
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer = eg.store.StoreWriter(folder + "/graphs.egs")
        ...     writer.add(graphs, {"age": [31, 42, 53, 64]})
        ...     writer.close()
        >>> writer.columns
        ('age',)
        """
        if not isinstance(graphs, GraphStack):
            raise InputError(f"a store takes blocks that are GraphStacks, got {_kind(graphs)}")
        if self._layout is None:
            self._begin(graphs, columns or {})
        layout = self._layout
        assert layout is not None
        graphs = self._fitting(graphs, layout)
        named = graphs._graph_names
        names = graphs.graph_names
        if named is None:
            first = layout.n_graphs + sum(len(part) for part, _ in self._buffer)
            names = tuple(str(first + i) for i in range(len(graphs)))
        if named is not None and not layout.graph_names:
            places = layout.n_graphs + sum(len(part) for part, _ in self._buffer)
            self._names |= {str(i) for i in range(places)}
            layout = self._layout = replace(layout, graph_names=True)
        if layout.graph_names:
            self._refuse_repeated(names)
        graphs = graphs.with_names(graph_names=names)
        self._put(graphs, self._checked_columns(columns or {}, len(graphs), layout))

    def _begin(self, graphs: GraphStack, columns: Mapping[str, Any]) -> None:
        dense = self._storage == "dense" or (self._storage == "auto" and not graphs.is_sparse)
        self._vertices = graphs._vertex_names
        n = graphs.n_vertices
        parts: dict[str, Any] = {
            "place": np.arange(n, dtype=np.int64),
            "name": arrow().array(list(graphs.vertex_names), arrow().string()),
        }
        table = to_bytes(arrow().table(parts))
        layout = Layout(
            kind="dense" if dense else "sparse",
            dtype=str(graphs.dtype),
            n_vertices=n,
            graph_names=graphs._graph_names is not None,
            vertex_names=graphs._vertex_names is not None,
            vertices_sha256=hashlib.sha256(table).hexdigest(),
            columns=tuple(columns),
            batches=(replace(self._batch, first=0),),
        )
        self._folder.write(VERTICES, table, durable=False)
        self._folder.write(STORE_JSON, layout.to_json())
        self._layout = layout  # from now on there is something to go on with

    def _fitting(self, graphs: GraphStack, layout: Layout) -> GraphStack:
        """Return the graphs on the vertices, of the type and in the form of the store."""
        if graphs.n_vertices != layout.n_vertices:
            raise AlignmentError(
                f"{graphs._label(0)} has {graphs.n_vertices} vertices, and the store has "
                f"{layout.n_vertices}"
            )
        own = graphs._vertex_names
        if own != self._vertices:
            if own is None or self._vertices is None:
                which = "graphs have" if own is None else "store has"
                raise AlignmentError(
                    f"the {which} no vertex names, so vertices cannot be matched; give them with "
                    "with_names(vertex_names=...)"
                )
            graphs = graphs.in_order_of(self._vertices)
        if self._directed is False and graphs.is_directed:
            graphs.require_undirected(
                "the graphs of the store are undirected: make it symmetric (symmetrize()), or pass "
                "directed=True"
            )
        if graphs.dtype != layout.dtype:
            if layout.dtype == "float32":
                raise InputError(
                    f"the store keeps float32 and {graphs._label(0)} is float64, which would be "
                    "rounded: if that is meant, pass graphs.astype('float32')"
                )
            graphs = graphs.astype(layout.dtype)
        return graphs.to_dense() if layout.kind == "dense" else graphs.to_sparse()

    def _refuse_repeated(self, names: tuple[str, ...]) -> None:
        again = [name for name in names if name in self._names]
        if again:
            raise InputError(
                f"{len(again)} graphs are in the store already, by name: {some_of(again)}; leave "
                "them out, or give them other names"
            )
        self._names.update(names)

    def _checked_columns(
        self, columns: Mapping[str, Any], m: int, layout: Layout
    ) -> dict[str, Any]:
        if set(columns) - set(layout.columns):
            raise InputError(
                f"the tables of the store have the columns {list(layout.columns)}, and these "
                f"graphs have {list(columns)}; give all graphs the same"
            )
        return {name: columns.get(name, [None] * m) for name in layout.columns}

    # ------------------------------------------------------------------ shards

    def _put(self, graphs: GraphStack, columns: dict[str, Any]) -> None:
        """Add to the buffer, and write shards as they get full."""
        lo, m = 0, len(graphs)
        while lo < m:
            hi = min(m, lo + self._room(graphs, lo))
            if hi > lo:
                part = graphs if hi - lo == m else graphs[lo:hi]
                cut = {name: values[lo:hi] for name, values in columns.items()}
                self._buffer.append((part, cut))
            if hi < m or self._room(graphs, m) == 0:
                self._flush()
            lo = hi

    def _room(self, graphs: GraphStack, lo: int) -> int:
        """Return how many of the graphs from ``lo`` on the shard at hand still takes."""
        layout = self._layout
        assert layout is not None
        held = sum(len(part) for part, _ in self._buffer)
        each = graphs.dtype.itemsize
        if layout.kind == "dense":
            graph_bytes = layout.n_vertices**2 * each
            chunk = layout.chunk or max(1, self._target // graph_bytes)
            return chunk - layout.n_graphs % chunk - held
        entries = sum(int(part.facts.n_nonzero.sum()) for part, _ in self._buffer)
        used = entries * (each + 4) + held * layout.n_vertices * 4
        sizes = graphs.facts.n_nonzero[lo:] * (each + 4) + layout.n_vertices * 4
        fits = int(np.searchsorted(np.cumsum(sizes), self._target - used, side="right"))
        if lo == len(graphs):
            return 0 if used >= self._target else 1
        return max(fits, 0 if held else 1)

    def _flush(self) -> None:
        if not self._buffer:
            return
        layout = self._layout
        assert layout is not None
        parts, given = zip(*self._buffer, strict=True)
        names = tuple(name for part in parts for name in part.graph_names)
        graphs = joined([*parts], names, self._vertices) if len(parts) > 1 else parts[0]
        columns = {
            name: [value for cut in given for value in np.asarray(cut[name]).tolist()]
            for name in layout.columns
        }
        self._buffer = []
        self._layout = write_shard(self._folder, layout, graphs, columns, self._target)
        if self._goes_on and time.monotonic() - self._committed >= COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> None:
        layout = self._layout
        assert layout is not None
        if layout.kind == "dense" and layout.shards:
            self._folder.write(ARRAY_JSON, array_json(layout), durable=False)
        self._folder.write(STORE_JSON, layout.to_json())
        self._committed = time.monotonic()

    @property
    def _goes_on(self) -> bool:
        """Whether graphs in whole shards count although more were to come."""
        layout = self._layout
        return layout is not None and (self._batch.command is not None or len(layout.batches) == 1)

    # ------------------------------------------------------------------ the end

    def close(self) -> None:
        """Write what is left, and say that the store is finished.

        Examples
        --------
        >>> import tempfile
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer = eg.store.StoreWriter(folder + "/graphs.egs")
        ...     writer.add(graphs)
        ...     writer.close()
        >>> writer.n_graphs
        4
        """
        self._flush()
        if self._layout is None or not self._layout.shards:
            raise InputError("a store must hold a graph at least, and none came")
        self._layout = self._layout.with_batch(finished=True)
        self._commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        elif self._before is not None and _refused(error):
            if self._committed:  # the same command would be refused again: back to what was there
                self._layout = self._before
                with suppress(StoreError):
                    self._commit()
        elif self._goes_on:
            with suppress(StoreError):  # the first error is the one to show
                self._commit()


def _refused(error: BaseException | None) -> bool:
    """Return whether graphs do not belong in the store, rather than a disk or file failed."""
    return isinstance(error, InputError) and not isinstance(error, StoreError | ReadError)


def _kind(item: Any) -> str:
    return type(item).__name__
