"""Reading a store: its files, each checked when it is first read, and its graphs as a stack."""

from __future__ import annotations

import hashlib
import math
import os
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import pairwise
from mmap import mmap
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError, StoreError
from eigengraphs.stack.blocked import BlockedStack, block_bytes, forwarded, joined_masks
from eigengraphs.stack.flat_matrix import flatten
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.stack import GraphStack
from eigengraphs.store.file_access import Folder
from eigengraphs.store.parquet_tables import FACTS, facts_of, flat_of, mask_of, read_table, texts_of
from eigengraphs.store.store_json import STORE_JSON, VERTICES, Batch, Layout
from eigengraphs.system.limits import DEFAULT, size_of

Memory: TypeAlias = "str | int | None"
Part: TypeAlias = tuple[int, int, int]  # graphs of a shard: its number, the first, the one behind

_PIECE = 2**20  # bytes hashed at a time where the whole is not wanted
_LEAST_MEMORY = 2**20
_RESTORE = "restore the file from a backup, or convert the graphs"


def is_store(path: Any) -> bool:
    """Tell whether a path leads to a store of graphs: a folder with ``store.json``.

    Parameters
    ----------
    path : str or path
        Anything else is not a store.

    Returns
    -------
    bool

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
    ...     eg.store.is_store(path), eg.store.is_store(folder)
    (True, False)
    """
    return isinstance(path, str | os.PathLike) and Folder(path).exists(STORE_JSON)


def damages(
    path: str | os.PathLike[str],
    *,
    watch: Callable[[int, int], object] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> list[StoreError]:
    """Read every file of a store and return what is wrong with it; usually an empty list.

    Parameters
    ----------
    path : str or path
        The store; an unfinished store is refused.
    watch : callable, optional
        Called with the number of graphs that were checked, and the number of all graphs.
    storage_options : mapping, optional
        For fsspec.

    Returns
    -------
    list of StoreError
        One for each file that is not as it was written.

    Examples
    --------
    >>> import tempfile
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = eg.store.write_store(folder + "/graphs.egs", [graphs])
    ...     eg.store.damages(path)
    []
    """
    store = Store(Folder(path, storage_options))
    found, starts = list[StoreError](), store.layout.starts
    for k in range(-1, len(store.layout.shards)):
        try:
            store.verify(k)
        except StoreError as error:
            found.append(error)
        if watch is not None and k >= 0:
            watch(starts[k + 1], starts[-1])
    return found


class Store:
    """The files of a store, for reading. Shard -1 stands for the table of the vertices.

    What was checked once is remembered, in this process and for this opening of the store.
    """

    def __init__(self, folder: Folder, *, unfinished: bool = False, token: str = "") -> None:
        self.folder = folder
        where = folder.name_of(STORE_JSON)
        try:
            text = folder.read(STORE_JSON)
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(
                f"there is no store of graphs at {folder}: {STORE_JSON} is missing; write one "
                "with: eigengraphs convert IN OUT.egs"
            ) from None
        except OSError as error:
            raise StoreError(f"{where} {_reason(error)}; restore it from a backup") from None
        self.layout = layout = Layout.from_json(text, where)
        self.digest = hashlib.sha256(text).hexdigest()
        self.token = token or uuid.uuid4().hex
        self._seen: set[tuple[str, int]] = set()  # files, and places in them, that are as written
        self._checked: set[Part] = set()
        self._tables: dict[int, tuple[tuple[str, ...], GraphFacts]] = {}
        self._starts = layout.starts
        if unfinished:
            return
        if not layout.finished or not layout.shards:
            batch = layout.batches[-1] if layout.batches else Batch("", 0)
            total = "" if batch.total is None else f" of {batch.first + batch.total}"
            way = "write it again (resume=True continues it)"
            if batch.command:
                way = f"finish it with: {batch.command}"
            raise StoreError(
                f"{folder} is not finished: it holds {layout.n_graphs}{total} graphs; {way}"
            )
        with suppress(OSError):  # which is reported when its graphs are read
            # Vertices without end: each has a name, and a row in every graph.
            DEFAULT.check(where, 8 * layout.n_vertices, folder.size(layout.shards[0].file))

    # ------------------------------------------------------------------ tables

    def table(self, k: int, columns: tuple[str, ...]) -> Any:
        """Return columns of the table of the graphs of shard k, or of the vertices."""
        file, digest, rows = VERTICES, self.layout.vertices_sha256, self.layout.n_vertices
        if k >= 0:
            shard = self.layout.shards[k]
            file, digest, rows = shard.table, shard.table_sha256, shard.graphs
        data = self._read(k, file, digest)
        with self._sound(k, file):
            table = read_table(data, columns, self.folder.name_of(file))
            if len(table) != rows or not {*columns} <= {*table.column_names}:
                raise ValueError(f"{len(table)} rows of {', '.join(table.column_names)}")
        return table

    def names_and_facts(self, k: int) -> tuple[tuple[str, ...], GraphFacts]:
        """Return the names and facts of the graphs of shard k."""
        if k not in self._tables:
            table = self.table(k, ("name", *FACTS))
            with self._sound(k, self.layout.shards[k].table):
                self._tables[k] = (texts_of(table, "name"), facts_of(table))
        return self._tables[k]

    @property
    def graph_names(self) -> tuple[str, ...]:
        """Names of all graphs, or their places."""
        shards = range(len(self.layout.shards))
        return tuple(name for k in shards for name in self.names_and_facts(k)[0])

    @cached_property
    def vertex_names(self) -> tuple[str, ...] | None:
        """Names of the vertices, or None where they have none."""
        if not self.layout.vertex_names:
            return None
        table = self.table(-1, ("name",))
        with self._sound(-1, VERTICES):
            names = texts_of(table, "name")
            if len(set(names)) < len(names):
                raise ValueError(f"{len(names)} names, {len(set(names))} of them different")
            return names

    # ------------------------------------------------------------------ graphs

    def check_size(self, k: int) -> None:
        """Refuse a file of shard k that is too short, before memory is allocated for it."""
        shard = self.layout.shards[k]
        if (shard.file, shard.offset) in self._seen:
            return
        try:
            size = self.folder.size(shard.file)
        except OSError as error:
            self._refuse(k, shard.file, _reason(error))
        if size < shard.offset + shard.bytes:
            end = shard.offset + shard.bytes
            self._refuse(k, shard.file, f"is cut off, {size} of {end} bytes")

    def read_dense(self, k: int, lo: int, hi: int, out: NDArray[Any]) -> None:
        """Fill ``out`` (hi - lo, n, n) with graphs lo to hi of shard k."""
        shard = self.layout.shards[k]
        view = memoryview(out.reshape(-1).view(np.uint8).data)
        whole = hi - lo == shard.graphs
        if not whole:
            self._check(k, shard.file, shard.sha256, self._numbers(k), shard.offset)
        self._fill(k, lo * (shard.bytes // shard.graphs), view)
        if whole:
            self._check(k, shard.file, shard.sha256, [view], shard.offset)
        if np.little_endian is False:
            out.byteswap(inplace=True)
        self._check_weights((k, lo, hi), out, lambda: [np.count_nonzero(A) for A in out])

    def read_sparse(self, k: int, lo: int, hi: int) -> sparse.csr_array:
        """Return graphs lo to hi of shard k, ((hi - lo) * n, n)."""
        shard, first, n = self.layout.shards[k], self._starts[k], self.layout.n_vertices
        self.check_size(k)
        data = self._read(k, shard.file, shard.sha256)
        with self._sound(k, shard.file):
            dtype = np.dtype(self.layout.dtype)
            flat = flat_of(data, first + lo, first + hi, n, shard.mirrored, dtype)

        def counts() -> NDArray[Any]:
            ends, zeros = flat.indptr[::n], np.flatnonzero(flat.data == 0)
            graphs = np.searchsorted(ends, zeros, "right") - 1
            return np.diff(ends) - np.bincount(graphs, minlength=hi - lo)

        self._check_weights((k, lo, hi), flat.data, counts)
        return flat

    def read_mask(self, k: int, lo: int, hi: int) -> Mask | None:
        """Return what is hidden of graphs lo to hi of shard k, None if nothing is."""
        shard, first = self.layout.shards[k], self._starts[k]
        if not shard.mask:
            return None
        data = self._read(k, shard.mask, shard.mask_sha256)
        with self._sound(k, shard.mask):
            return mask_of(data, first + lo, first + hi, self.layout.n_vertices)

    def verify(self, k: int) -> None:
        """Check the files of shard k, or the table of the vertices, against their hashes."""
        if k < 0:
            self._read(k, VERTICES, self.layout.vertices_sha256)
            _ = self.vertex_names
            return
        shard = self.layout.shards[k]
        self._read(k, shard.table, shard.table_sha256)
        if shard.mask:
            self._read(k, shard.mask, shard.mask_sha256)
        self.check_size(k)
        if self.layout.kind == "sparse":
            self._read(k, shard.file, shard.sha256)
        else:
            self._check(k, shard.file, shard.sha256, self._numbers(k), shard.offset)

    # ------------------------------------------------------------------ checks

    def _check(
        self, k: int, file: str, sha256: str, pieces: Iterable[bytes | memoryview], offset: int = 0
    ) -> None:
        """Refuse data of a file, from ``offset`` on, that are not as written, the first time."""
        if (file, offset) in self._seen:
            return
        digest = hashlib.sha256()
        for piece in pieces:
            digest.update(piece)
        if digest.hexdigest() != sha256:
            self._refuse(k, file, "is not what was written: its SHA-256 differs")
        self._seen.add((file, offset))

    def _numbers(self, k: int) -> Iterator[memoryview]:
        """Yield the numbers of a dense shard, piece by piece."""
        size, room = self.layout.shards[k].bytes, memoryview(bytearray(_PIECE))
        for at in range(0, size, _PIECE):
            piece = room[: min(_PIECE, size - at)]
            self._fill(k, at, piece)
            yield piece

    @contextmanager
    def _sound(self, k: int, file: str) -> Iterator[None]:
        """Name the file where one has its checksum and still cannot be read as a table."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # pyarrow has errors of its own, not all of one root
            self._refuse(k, file, f"is not a table of a store ({type(error).__name__}: {error})")

    def _check_weights(self, part: Part, values: NDArray[Any], counts: Callable[[], Any]) -> None:
        """Refuse graphs unlike their table, when they are first read: anybody can make checksums.

        ``values`` are the weights, and ``counts`` tells how many of each graph are not zero.
        """
        if part in self._checked:
            return
        k, lo, hi = part
        file = self.layout.shards[k].file
        if not np.isfinite(values).all():
            self._refuse(k, file, "has weights that are not finite, which a store never has")
        found, said = counts(), self.names_and_facts(k)[1].n_nonzero[lo:hi]
        wrong = np.flatnonzero(found != said)
        if wrong.size:
            i = int(wrong[0])
            place = self._starts[k] + lo + i
            what = f"has {found[i]} entries of graph {place + 1} (index {place})"
            self._refuse(k, file, f"{what}, and its table says {said[i]}")
        self._checked.add(part)

    def _fill(self, k: int, at: int, view: memoryview) -> None:
        """Fill a buffer from the numbers of a dense shard."""
        shard = self.layout.shards[k]
        try:
            count = self.folder.read_into(shard.file, shard.offset + at, view)
        except OSError as error:
            self._refuse(k, shard.file, _reason(error))
        if count < len(view):
            self._refuse(k, shard.file, "is cut off")

    def _read(self, k: int, file: str, sha256: str) -> bytes:
        try:
            data = self.folder.read(file)
        except OSError as error:
            self._refuse(k, file, _reason(error))
        self._check(k, file, sha256, [data])
        return data

    def _refuse(self, k: int, file: str, what: str) -> NoReturn:
        path = self.folder.name_of(file)
        if k < 0:
            raise StoreError(f"{path} {what}; {_RESTORE} again")
        first, behind = self._starts[k : k + 2]
        who = f"graphs {first + 1} to {behind} (index {first} to {behind - 1})"
        if self.layout.graph_names and (k in self._tables or file != self.layout.shards[k].table):
            with suppress(StoreError):
                names, _ = self.names_and_facts(k)
                who += f", {names[0]!r} to {names[-1]!r}"
        raise StoreError(
            f"{path} {what}; it holds {who}. {_RESTORE.capitalize()} into a new store; all other "
            "graphs can still be read"
        )


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is missing"
    return f"cannot be read: {error.strerror or error}"


# ---------------------------------------------------------------------- the graphs as a stack


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
        Memory for working on the graphs, such as "1G" or a number of bytes; by default a
        quarter of the machine's. Blocks take a 32nd of it, 64 MB at most.
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
    store = Store(Folder(path, storage_options))
    if memory is None:
        return StoredStack._of(store, max(_LEAST_MEMORY, _of_machine() // 4))
    size = size_of(memory)
    if size < _LEAST_MEMORY:
        raise InputError(
            "memory must be a number of bytes or a text such as '512M' or '4G', 1M at least; "
            f"got memory={memory!r}"
        )
    return StoredStack._of(store, size)


def _of_machine() -> int:
    """Return the memory of the machine, or of the container."""
    sizes = []
    with suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # a container's limit; "max" if it has none
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(sizes, default=2**32)


class StoredStack(BlockedStack):
    """The graphs of a store, read block by block; made by :func:`open_store`.

    It does everything that a :class:`~eigengraphs.GraphStack` does. A pickle holds only the path.
    The class itself is never called.

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

    __slots__ = ()

    _store: Store
    _budget: int

    path = forwarded("_store.folder.path", "Where the store is.")
    memory = forwarded("_budget", "Bytes that work on the graphs may take, besides results.")
    has_missing = forwarded("_store.layout.hides", "Whether some entry is hidden.")
    has_vertex_names = forwarded("_store.layout.vertex_names", "Whether the vertices have names.")
    n_vertices = forwarded("_store.layout.n_vertices")
    _vertex_names = forwarded("_store.vertex_names")

    @classmethod
    def _of(cls, store: Store, memory: int) -> StoredStack:
        stack = object.__new__(cls)
        vars(stack).update(_store=store, _budget=memory)
        return stack

    def __reduce__(self) -> tuple[Any, ...]:
        store = self._store
        known = (store.folder.path, store.folder.options, store.digest, store.token)
        return _reopen, (*known, self._budget)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Further columns of the tables of graphs, one value per graph."""
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

    @cached_property
    def _blocks(self) -> tuple[tuple[Part, ...], ...]:
        return _blocks(self._store.layout, block_bytes(self._budget))

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first graph of each block, and the one behind its last."""
        ends = np.cumsum([sum(hi - lo for _, lo, hi in block) for block in self._blocks]).tolist()
        return tuple(zip([0, *ends[:-1]], ends, strict=True))

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
        parts, at = list[Part](), 0
        for shard, first, end in self._blocks[k]:
            a, b = max(lo - at, 0), min(hi - at, end - first)
            if a < b:
                parts.append((shard, first + a, first + b))
            at += end - first
        return self._read(tuple(parts))

    def _read(self, parts: tuple[Part, ...]) -> GraphStack:
        store, n = self._store, self.n_vertices
        storage: Any
        if self.is_sparse:
            flats = [store.read_sparse(*part) for part in parts]
            storage = flats[0] if len(flats) == 1 else flatten(flats, self.dtype)
        else:
            for k, _, _ in parts:
                store.check_size(k)
            storage, at = _block_buffer((sum(hi - lo for _, lo, hi in parts), n, n), self.dtype), 0
            for k, lo, hi in parts:
                store.read_dense(k, lo, hi, storage[at : at + hi - lo])
                at += hi - lo
        known = [(store.names_and_facts(k), slice(lo, hi)) for k, lo, hi in parts]
        names = tuple(name for (names, _), span in known for name in names[span])
        return GraphStack._make(
            storage,
            GraphFacts.joined([facts.take(span) for (_, facts), span in known]),
            names if store.layout.graph_names else None,
            store.vertex_names,
            joined_masks([(hi - lo, store.read_mask(k, lo, hi)) for k, lo, hi in parts], n),
        )

    # ------------------------------------------------------------------ as a stack

    @property
    def hides_pairs(self) -> bool:
        """Whether some entry off the diagonal is hidden."""
        return any(shard.hides_pairs for shard in self._store.layout.shards)

    @cached_property
    def _facts(self) -> GraphFacts:  # type: ignore[override]
        shards = range(len(self._store.layout.shards))
        return GraphFacts.joined([self._store.names_and_facts(k)[1] for k in shards])

    @cached_property
    def _graph_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        return self._store.graph_names if self._store.layout.graph_names else None

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
        return self._store.layout.bytes_of(*self._store.layout.shards)


def _block_buffer(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array for a block, whose memory goes back to the system with it.

    Blocks are made and freed in threads, over and over; memory of their size from the heap stays
    with the process, some tens of megabytes for every thread.
    """
    return np.frombuffer(mmap(-1, math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


_OPEN: OrderedDict[str, Store] = OrderedDict()  # by token, the last few


def _reopen(
    path: str, options: Mapping[str, Any], digest: str, token: str, memory: int
) -> StoredStack:
    """Return the stack of a store that was opened before, perhaps in another process."""
    store = _OPEN.get(token)
    if store is None:
        store = Store(Folder(path, options), token=token)
        if store.digest != digest:
            raise StoreError(f"{path} was changed after it was opened: open it again")
        _OPEN[token] = store
        while len(_OPEN) > 8:
            _OPEN.popitem(last=False)
    return StoredStack._of(store, memory)


def _blocks(layout: Layout, limit: int) -> tuple[tuple[Part, ...], ...]:
    """Return blocks of whole shards up to a size in memory, or of parts of a larger shard."""
    blocks = list[tuple[Part, ...]]()
    group, filled = list[Part](), 0
    # Sparse shards are decoded one by one and then put together, so a group is there twice.
    together = limit if layout.kind == "dense" else limit // 2
    for k, shard in enumerate(layout.shards):
        size = layout.bytes_of(shard)
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
