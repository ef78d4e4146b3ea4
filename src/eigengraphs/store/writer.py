"""Writing a store: block after block, shard after shard, each complete before it counts."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from eigengraphs.errors import AlignmentError, InputError, ReadError, StoreError
from eigengraphs.stack.blocked import BlockedStack, joined
from eigengraphs.stack.build import StorageRule, check_choice
from eigengraphs.stack.names import some_of
from eigengraphs.stack.stack import GraphStack
from eigengraphs.store.file_access import Folder
from eigengraphs.store.parquet_tables import arrow, edges_of, graph_table, hidden_table, named_table
from eigengraphs.store.reader import Store
from eigengraphs.store.store_json import DENSE, STORE_JSON, VERTICES, Batch, Layout, Shard

Blocks: TypeAlias = "Iterable[GraphStack | tuple[GraphStack, Mapping[str, Any]]]"

SHARD_BYTES = 16 * 2**20
COMMIT_SECONDS = 2.0  # between two replacements of store.json, which wait for the disk
_ARRAY_JSON = f"{DENSE}/zarr.json"
_LEAST_CHUNK = 2**18  # bytes; so much larger a store of a few graphs may be than they are


def write_store(
    path: str | os.PathLike[str],
    blocks: Blocks,
    *,
    storage: StorageRule = "auto",
    directed: bool | None = None,
    shard_bytes: int = SHARD_BYTES,
    resume: bool = False,
) -> str | os.PathLike[str]:
    """Write a store of graphs that come block by block.

    Parameters
    ----------
    path : str or path
        A new folder, by convention with the ending ``.egs``, or an address that fsspec opens.
    blocks : iterable of GraphStack, or of pairs
        GraphStacks on the same vertices, of any size, or pairs of such a stack and a mapping of
        columns, one value per graph. Read once.
    storage, directed, shard_bytes
        See :class:`StoreWriter`.
    resume : bool
        Continue a store whose writing was stopped, if there is one: pass the same blocks again;
        graphs in complete shards are skipped.

    Returns
    -------
    str or path
        The path.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
    ...     eg.open_store(path).n_graphs
    4
    """
    there = resume and Folder(path).exists(STORE_JSON)
    writer = StoreWriter(
        path,
        mode="resume" if there else "new",
        storage=storage,
        directed=directed,
        shard_bytes=shard_bytes,
    )
    return _write_all(path, writer, blocks)


def append(
    path: str | os.PathLike[str], blocks: Blocks, *, directed: bool | None = None
) -> str | os.PathLike[str]:
    """Add graphs to a finished store: all of them or, if there is an error, none.

    Parameters
    ----------
    path : str or path
        The store.
    blocks : iterable of GraphStack, or of pairs
        As for :func:`write_store`. Graphs whose names are in the store are refused.
    directed : bool, optional
        True allows directed graphs in a store of undirected ones.

    Returns
    -------
    str or path
        The path.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
    ...     eg.open_store(eg.store.append(path, [graphs])).n_graphs
    8
    """
    return _write_all(path, StoreWriter(path, mode="append", directed=directed), blocks)


def _write_all(
    path: str | os.PathLike[str], writer: StoreWriter, blocks: Blocks
) -> str | os.PathLike[str]:
    skip = writer.done
    with writer:
        for item in [blocks] if isinstance(blocks, GraphStack) else blocks:
            graphs, columns = item if isinstance(item, tuple) else (item, {})
            begin = min(skip, len(graphs))
            skip -= begin
            if begin < len(graphs):
                columns = {name: values[begin:] for name, values in columns.items()}
                writer.add(graphs[begin:] if begin else graphs, columns)
    return path


class StoreWriter:
    """Write graphs into a new store, or more graphs into an existing one.

    Parameters
    ----------
    path : str or path
        The folder of the store, or an address that fsspec opens.
    mode : {"new", "append", "resume"}
        A new store; more graphs for a finished store; or the rest of a stopped one: then add the
        same graphs again, starting with number ``done``.
    storage : {"auto", "dense", "sparse"}
        How graphs are stored; "auto" as in the first block.
    directed : bool
        With False, directed graphs are refused; None accepts any graphs, but does not append
        directed graphs to a finished store of undirected ones.
    shard_bytes : int
        Approximate bytes, in memory, of the graphs in one file.
    batch : Batch, optional
        Description of these graphs in ``store.json``. A batch with a command can be resumed, so
        each shard counts when it is complete; otherwise all count at the end.
    storage_options : mapping, optional
        For fsspec.

    Attributes
    ----------
    done : int
        Number of graphs of this batch that are already in the store.

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
        check_choice("storage", storage, "auto", "dense", "sparse")
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
        if mode != "new":
            self._open(mode)
        elif self._folder.exists(STORE_JSON):
            raise StoreError(
                f"there is a store at {self._folder} already: remove it, choose another name, or "
                "add to it (append)"
            )
        elif self._folder.local is not None and self._folder.local.is_file():
            raise StoreError(f"{self._folder} is a file, and a store is a folder")

    def _open(self, mode: str) -> None:
        store = Store(self._folder, unfinished=mode == "resume")
        layout = store.layout
        self._vertices = store.vertex_names
        if layout.graph_names:
            self._names = {*store.graph_names}
        if mode == "append":
            self._before = layout
            self._batch = replace(self._batch, first=layout.n_graphs)
            self._layout = replace(layout, batches=(*layout.batches, self._batch))
            if self._directed is None and not layout.directed:
                self._directed = False
        elif layout.finished:
            raise StoreError(f"{self._folder} is finished: there is nothing to continue")
        else:
            self._layout, self._batch = layout, layout.batches[-1]
            self.done = layout.n_graphs - self._batch.first

    # ------------------------------------------------------------------ what is given

    @property
    def n_graphs(self) -> int:
        """Graphs in complete shards."""
        return 0 if self._layout is None else self._layout.n_graphs

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Columns that all graphs have, once there are some."""
        return None if self._layout is None else self._layout.columns

    def add(self, graphs: GraphStack, columns: Mapping[str, Any] | None = None) -> None:
        """Add a block of graphs, with further columns of one value per graph.

        Vertices must be those of the first block; in another order, they are aligned by name.

        Parameters
        ----------
        graphs : GraphStack
            A block, of any size.
        columns : mapping of str to sequence, optional
            Further columns, one value per graph.

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
            raise InputError(
                f"a store takes blocks that are GraphStacks, got {type(graphs).__name__}"
            )
        columns = columns or {}
        if isinstance(graphs, BlockedStack):
            for block in graphs.blocks():
                cut = {name: values[block.lo : block.hi] for name, values in columns.items()}
                self.add(block.graphs, cut)
            return
        layout = self._layout or self._begin(graphs, columns)
        graphs = self._fitting(graphs, layout)
        first = layout.n_graphs + self._held
        names = graphs._graph_names
        if names is not None and not layout.graph_names:  # earlier graphs go by their places
            self._names |= {str(i) for i in range(first)}
            layout = self._layout = replace(layout, graph_names=True)
        names = names or tuple(str(first + i) for i in range(len(graphs)))
        if layout.graph_names:
            again = [name for name in names if name in self._names]
            if again:
                raise InputError(
                    f"{len(again)} graphs are in the store already, by name: {some_of(again)}; "
                    "leave them out, or give them other names"
                )
            self._names.update(names)
        if set(columns) - set(layout.columns):
            raise InputError(
                f"the tables of the store have the columns {list(layout.columns)}, and these "
                f"graphs have {list(columns)}; give all graphs the same columns"
            )
        nothing = [None] * len(graphs)
        given = {name: columns.get(name, nothing) for name in layout.columns}
        self._put(graphs.with_names(graph_names=names), given)

    def _begin(self, graphs: GraphStack, columns: Mapping[str, Any]) -> Layout:
        dense = self._storage == "dense" or (self._storage == "auto" and not graphs.is_sparse)
        self._vertices = graphs._vertex_names
        table = named_table(0, graphs.vertex_names, {})
        dtype: Any = str(graphs.dtype)
        layout = Layout(
            kind="dense" if dense else "sparse",
            dtype=dtype,
            n_vertices=graphs.n_vertices,
            graph_names=graphs._graph_names is not None,
            vertex_names=graphs._vertex_names is not None,
            vertices_sha256=_digest(table),
            columns=tuple(columns),
            batches=(replace(self._batch, first=0),),
        )
        self._folder.write(VERTICES, table, durable=False)
        self._folder.write(STORE_JSON, layout.to_json())
        self._layout = layout  # from now on there is something to continue
        return layout

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
                    "rounded: if you want that, pass graphs.astype('float32')"
                )
            graphs = graphs.astype(layout.dtype)
        return graphs.to_dense() if layout.kind == "dense" else graphs.to_sparse()

    # ------------------------------------------------------------------ shards

    @property
    def _held(self) -> int:
        """Graphs in the buffer."""
        return sum(len(part) for part, _ in self._buffer)

    def _put(self, graphs: GraphStack, columns: dict[str, Any]) -> None:
        """Add to the buffer, and write shards as they get full."""
        lo, m = 0, len(graphs)
        while lo < m:
            sizes, room = self._sizes(graphs), self._room()
            hi = lo + int(np.searchsorted(np.cumsum(sizes[lo:]), room, side="right"))
            if not self._buffer:
                hi = max(hi, lo + 1)
            if hi > lo:
                part = graphs if hi - lo == m else graphs[lo:hi]
                cut = {name: values[lo:hi] for name, values in columns.items()}
                self._buffer.append((part, cut))
            if hi < m or self._room() <= 0:
                self._flush()
            lo = hi

    def _sizes(self, graphs: GraphStack) -> Any:
        """Return what each graph takes of a shard: bytes, or one place of a chunk."""
        if not graphs.is_sparse:
            return np.ones(len(graphs), np.int64)
        return graphs.facts.n_nonzero * (graphs.dtype.itemsize + 4) + graphs.n_vertices * 4

    def _room(self) -> int:
        """Return how much of that the current shard still takes."""
        layout = self._layout
        assert layout is not None
        if layout.kind == "dense":
            chunk = layout.chunk or max(1, self._target // self._graph_bytes(layout))
            return chunk - layout.n_graphs % chunk - self._held
        return self._target - sum(int(self._sizes(part).sum()) for part, _ in self._buffer)

    def _graph_bytes(self, layout: Layout) -> int:
        return layout.n_vertices**2 * np.dtype(layout.dtype).itemsize

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
        self._layout = self._with_shard(layout, graphs, columns)
        if self._goes_on and time.monotonic() - self._committed >= COMMIT_SECONDS:
            self._commit()

    def _with_shard(self, layout: Layout, graphs: GraphStack, columns: Mapping[str, Any]) -> Layout:
        """Write the files of the next shard; return the layout in which it counts."""
        table = graph_table(layout.n_graphs, graphs.graph_names, graphs.facts, columns)
        part = f"part-{len(layout.shards):06d}.parquet"
        said: dict[str, Any] = {"table": f"graphs/{part}", "table_sha256": _digest(table)}
        data: bytes | memoryview
        if layout.kind == "dense":
            each = self._graph_bytes(layout)
            if not layout.chunk:
                most = max(1, self._target // each)
                chunk = min(most, max(len(graphs), _LEAST_CHUNK // each, 1))
                layout = replace(layout, chunk=chunk)
            k, before = divmod(layout.n_graphs, layout.chunk)
            said |= {"file": f"{DENSE}/c/{k}/0/0", "offset": before * each}
            A = np.ascontiguousarray(graphs.dense, dtype=graphs.dtype.newbyteorder("<"))
            data = memoryview(A.reshape(-1).view(np.uint8).data)
            # A chunk that has room is written again, with what is in it first.
            old = memoryview(bytearray(before * each))
            if before and self._folder.read_into(said["file"], 0, old) < len(old):
                where = self._folder.name_of(said["file"])
                raise StoreError(f"{where} is cut off; restore it from a backup")
            rest = bytes((layout.chunk - before - len(graphs)) * each)
            self._folder.write(said["file"], old, data, rest, durable=False)
        else:
            data, said["mirrored"] = edges_of(graphs.flat, layout.n_graphs)
            said["file"] = f"edges/{part}"
            self._folder.write(said["file"], data, durable=False)
        self._folder.write(said["table"], table, durable=False)
        if graphs.mask is not None:
            hidden = hidden_table(graphs.mask, layout.n_graphs)
            said |= {"mask": f"masks/{part}", "mask_sha256": _digest(hidden)}
            said["hides_pairs"] = graphs.mask.hides_pairs
            self._folder.write(said["mask"], hidden, durable=False)
        said |= {"graphs": len(graphs), "nonzeros": int(graphs.facts.n_nonzero.sum())}
        shard = Shard(**said, bytes=len(data), sha256=_digest(data))
        directed = layout.directed or graphs.is_directed
        return replace(layout, shards=(*layout.shards, shard), directed=directed)

    def _commit(self) -> None:
        layout = self._layout
        assert layout is not None
        if layout.kind == "dense" and layout.shards:
            self._folder.write(_ARRAY_JSON, _array_json(layout), durable=False)
        self._folder.write(STORE_JSON, layout.to_json())
        self._committed = time.monotonic()

    @property
    def _goes_on(self) -> bool:
        """Whether graphs in complete shards count although more were to come."""
        layout = self._layout
        return layout is not None and (self._batch.command is not None or len(layout.batches) == 1)

    # ------------------------------------------------------------------ the end

    def close(self) -> None:
        """Write what is left, and mark the store as finished.

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
        layout = self._layout
        if layout is None or not layout.shards:
            raise InputError("a store must hold at least one graph, and none came")
        *earlier, last = layout.batches
        self._layout = replace(layout, batches=(*earlier, replace(last, finished=True)))
        self._commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        # Whether graphs do not belong in the store, rather than a disk or file failed.
        refused = isinstance(error, InputError) and not isinstance(error, StoreError | ReadError)
        if kind is None:
            self.close()
        elif self._before is not None and refused:
            if self._committed:  # the same command would be refused again: back to what was there
                self._layout = self._before
                with suppress(StoreError):
                    self._commit()
        elif self._goes_on:
            with suppress(StoreError):  # the first error is the one to show
                self._commit()


def _digest(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()


def _array_json(layout: Layout) -> bytes:
    """Return the description, for Zarr version 3, of the array of dense graphs.

    Chunks of graphs are files of plain numbers. They are not compressed: then one graph can be read
    without the others, a chunk gets more graphs while those in it stay, byte for byte, where they
    are, and reading goes at the speed of the disk.
    """
    n = layout.n_vertices
    grid = {"name": "regular", "configuration": {"chunk_shape": [layout.chunk, n, n]}}
    said: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [layout.n_graphs, n, n],
        "data_type": layout.dtype,
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "dimension_names": ["graph", "source", "target"],
        "attributes": {},
    }
    return (json.dumps(said, indent=1) + "\n").encode()
