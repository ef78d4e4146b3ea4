"""``open_store``: graphs on a disk as a stack like any other."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from itertools import pairwise
from mmap import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.stack.blocked import BlockedStack, block_bytes, joined_masks
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.stack.stack import GraphStack
from eigengraphs.store.folder import Folder
from eigengraphs.store.sizes import Memory, as_bytes
from eigengraphs.store.store import Store, reopened

__all__ = ["StoredStack", "open_store"]


def open_store(
    path: str | os.PathLike[str],
    memory: Memory = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> StoredStack:
    """Open a store of graphs that need not fit in memory.

    Parameters
    ----------
    path
        The folder, or an address that fsspec opens, such as ``s3://bucket/graphs.egs``.
    memory : str or int, optional
        What work on the graphs may take, such as "1G" or a number of bytes; by default a quarter
        of the machine's. Graphs come in blocks of a 32nd of it, 64 MB at most.
    storage_options : mapping, optional
        For fsspec.

    Returns
    -------
    StoredStack
        A :class:`~eigengraphs.GraphStack` that reads graphs when they are needed.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import eigengraphs as eg
    >>> folder = tempfile.mkdtemp() + "/graphs.egs"
    >>> _ = eg.store.write_store(folder, [eg.GraphStack(np.ones((3, 4, 4)))])
    >>> eg.open_store(folder, memory="100M")[1:].log1p().shape
    (2, 4, 4)
    """
    return StoredStack._of(Store(Folder(path, storage_options)), as_bytes(memory))


class StoredStack(BlockedStack):
    """The graphs of a store, read block by block; made by :func:`open_store`.

    Everything that a :class:`~eigengraphs.GraphStack` does. A pickle holds the path alone. It is
    never made by calling the class.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
    ...     stored = eg.open_store(path, memory="100M")
    ...     stored.n_graphs, stored.spans, stored.load().shape
    (4, ((0, 4),), (4, 6, 6))
    """

    __slots__ = ("_blocks", "_budget", "_facts_known", "_names_known", "_store")

    _store: Store
    _budget: int
    _facts_known: GraphFacts | None
    _names_known: tuple[str, ...] | None
    _blocks: tuple[tuple[tuple[int, int, int], ...], ...]  # shard, lo, hi; of each block

    @classmethod
    def _of(cls, store: Store, memory: int) -> StoredStack:
        stack: StoredStack = object.__new__(cls)
        for name, value in {
            "_store": store,
            "_budget": memory,
            "_blocks": _blocks(store, block_bytes(memory)),
            "_facts_known": None,
            "_names_known": None,
            "_mask": None,
        }.items():
            object.__setattr__(stack, name, value)
        return stack

    def __reduce__(self) -> tuple[Any, ...]:
        store = self._store
        known = (store.folder.path, store.folder.options, store.digest, store.token)
        return _reopen, (*known, self._budget)

    @property
    def path(self) -> str:
        """Where the store is."""
        return self._store.folder.path

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Further columns of the tables of graphs, one value a graph."""
        columns = self._store.layout.columns
        if not columns:
            return {}
        shards = range(len(self._store.layout.shards))
        tables = [self._store.table(k, columns) for k in shards]
        return {
            name: np.concatenate([table[name].to_numpy(zero_copy_only=False) for table in tables])
            for name in columns
        }

    # ------------------------------------------------------------------ blocks

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first graph of each block, and the one behind its last."""
        ends = np.cumsum([sum(hi - lo for _, lo, hi in block) for block in self._blocks]).tolist()
        return tuple(zip([0, *ends[:-1]], ends, strict=True))

    @property
    def memory(self) -> int:
        """Bytes that work on the graphs may take, besides results."""
        return self._budget

    @property
    def fingerprint(self) -> str:
        """Tells these graphs from others: by all checksums of the store, and by the blocks."""
        return f"{self._store.digest} {self._blocks}"

    def read_block(self, k: int) -> GraphStack:
        """Return the graphs of block k, in memory.

        Parameters
        ----------
        k : int
            Which block, from 0.

        Examples
        --------
        >>> import tempfile
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
        ...     eg.open_store(path).read_block(0).shape
        (4, 6, 6)
        """
        return self._read(self._blocks[k])

    def read_part(self, k: int, lo: int, hi: int) -> GraphStack:
        """Return graphs lo to hi of block k, counted from its first: nothing else is read.

        Parameters
        ----------
        k : int
            Which block, from 0.
        lo, hi : int
            The first graph, and the one behind the last.

        Examples
        --------
        >>> import tempfile
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
        ...     eg.open_store(path).read_part(0, 1, 3).shape
        (2, 6, 6)
        """
        parts, at = list[tuple[int, int, int]](), 0
        for shard, first, end in self._blocks[k]:
            a, b = max(lo - at, 0), min(hi - at, end - first)
            if a < b:
                parts.append((shard, first + a, first + b))
            at += end - first
        return self._read(tuple(parts))

    def _read(self, parts: tuple[tuple[int, int, int], ...]) -> GraphStack:
        store, n = self._store, self.n_vertices
        storage: Any
        if self.is_sparse:
            flats = [store.read_sparse(*part) for part in parts]
            storage = flats[0]
            if len(flats) > 1:
                storage = sparse.csr_array(sparse.vstack(flats, format="csr"))
                storage.has_canonical_format = True
        else:
            for k, _, _ in parts:
                store.check_size(k)
            storage = _room((sum(hi - lo for _, lo, hi in parts), n, n), self.dtype)
            at = 0
            for k, lo, hi in parts:
                store.read_dense(k, lo, hi, storage[at : at + hi - lo])
                at += hi - lo
        names, facts = list[str](), list[GraphFacts]()
        for k, lo, hi in parts:
            of_shard, known = store.names_and_facts(k)
            names += of_shard[lo:hi]
            facts.append(known.take(slice(lo, hi)))
        return GraphStack._make(
            storage,
            GraphFacts.joined(facts),
            tuple(names) if store.layout.graph_names else None,
            store.vertex_names,
            joined_masks([(hi - lo, store.read_mask(k, lo, hi)) for k, lo, hi in parts], n),
        )

    @property
    def has_missing(self) -> bool:
        """Whether some entry is hidden."""
        return self._store.layout.hides

    @property
    def hides_pairs(self) -> bool:
        """Whether some entry off the diagonal is hidden."""
        return any(shard.hides_pairs for shard in self._store.layout.shards)

    # ------------------------------------------------------------------ as a stack

    @property
    def _facts(self) -> GraphFacts:  # type: ignore[override]
        if self._facts_known is None:
            shards = range(len(self._store.layout.shards))
            facts = GraphFacts.joined([self._store.names_and_facts(k)[1] for k in shards])
            object.__setattr__(self, "_facts_known", facts)
            return facts
        return self._facts_known

    @property
    def _graph_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        if not self._store.layout.graph_names:
            return None
        if self._names_known is None:
            shards = range(len(self._store.layout.shards))
            names = tuple(name for k in shards for name in self._store.names_and_facts(k)[0])
            object.__setattr__(self, "_names_known", names)
            return names
        return self._names_known

    @property
    def _vertex_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        return self._store.vertex_names

    @property
    def has_vertex_names(self) -> bool:
        """Whether the vertices were given names."""
        return self._store.layout.vertex_names

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._store.layout.n_vertices

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return np.dtype(self._store.layout.dtype)

    @property
    def is_sparse(self) -> bool:
        """Whether graphs are kept as edges."""
        return self._store.layout.kind == "sparse"

    @property
    def nbytes(self) -> int:
        """Bytes that all graphs would take in memory."""
        return self._store.layout.nbytes


def _room(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array for a block, whose memory goes back to the system with it.

    Blocks are made and freed in threads, over and over; memory of their size from the heap stays
    with the process, some tens of megabytes for every thread.
    """
    count = math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    return np.frombuffer(mmap(-1, count * dtype.itemsize), dtype).reshape(shape)


def _reopen(
    path: str, options: Mapping[str, Any], digest: str, token: str, memory: int
) -> StoredStack:
    return StoredStack._of(reopened(path, options, digest, token), memory)


def _blocks(store: Store, limit: int) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Return blocks of whole shards up to a size in memory, or of parts of a larger shard."""
    blocks = list[tuple[tuple[int, int, int], ...]]()
    group, filled = list[tuple[int, int, int]](), 0
    # Sparse shards are decoded one by one and then put together, so a group is there twice.
    together = limit if store.layout.kind == "dense" else limit // 2
    for k, shard in enumerate(store.layout.shards):
        size = store.layout.graph_bytes(shard)
        if group and filled + size > together:
            blocks.append(tuple(group))
            group, filled = [], 0
        if size <= limit:
            group.append((k, 0, shard.graphs))
            filled += size
            continue
        parts = min(shard.graphs, -(-size // limit))
        cuts = [round(j * shard.graphs / parts) for j in range(parts + 1)]
        blocks += [((k, lo, hi),) for lo, hi in pairwise(cuts)]
    if group:
        blocks.append(tuple(group))
    return tuple(blocks)
