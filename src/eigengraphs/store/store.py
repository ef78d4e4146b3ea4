"""An opened store: its description, and its files, each checked when it is first read."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import StoreError
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.stack.mask import Mask
from eigengraphs.store.folder import Folder, is_remote
from eigengraphs.store.layout import STORE_JSON, VERTICES, Layout, Shard
from eigengraphs.store.masks import mask_of
from eigengraphs.store.tables import FACTS, facts_of, read_bytes, texts_of
from eigengraphs.system.limits import DEFAULT

__all__ = ["Store", "is_store", "reopened"]

_PIECE = 2**20  # bytes hashed at a time where the whole is not wanted


def is_store(path: Any) -> bool:
    """Tell whether a path leads to a store of graphs: a folder with ``store.json``.

    Parameters
    ----------
    path : str or path
        Anything else is no store.

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
    if not isinstance(path, str | os.PathLike):
        return False
    if is_remote(path):
        return Folder(path).exists(STORE_JSON)
    return (Path(os.fspath(path).removeprefix("file://")) / STORE_JSON).is_file()


class Store:
    """The files of a store, for reading.

    What was checked once is remembered, in this process and for this opening of the store.
    """

    def __init__(self, folder: Folder, *, unfinished: bool = False, token: str = "") -> None:
        self.folder = folder
        where = folder.name_of(STORE_JSON)
        try:
            text = folder.read(STORE_JSON)
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(
                f"there is no store of graphs at {folder}: {STORE_JSON} is not there; write one "
                "with: eigengraphs convert IN OUT.egs"
            ) from None
        except OSError as error:
            raise StoreError(f"{where} {_what(error)}; put it back from a copy") from None
        self.layout = Layout.from_json(text, where)
        self.digest = hashlib.sha256(text).hexdigest()
        self.token = token or uuid.uuid4().hex
        self._seen: set[str] = set()
        self._checked: set[tuple[int, int, int]] = set()
        self._tables: dict[int, tuple[tuple[str, ...], GraphFacts]] = {}
        self._vertices: tuple[str, ...] | None = None
        if not unfinished:
            self._refuse_unfinished()
            self._refuse_huge()
        self._starts = self.layout.starts

    def _refuse_unfinished(self) -> None:
        layout = self.layout
        if layout.finished and layout.shards:
            return
        batch = layout.batches[-1] if layout.batches else None
        total = "" if batch is None or batch.total is None else f" of {batch.first + batch.total}"
        way = "write it again (resume=True goes on)"
        if batch is not None and batch.command:
            way = f"finish it with: {batch.command}"
        raise StoreError(
            f"{self.folder} is not finished: it holds {layout.n_graphs}{total} graphs; {way}"
        )

    def _refuse_huge(self) -> None:
        """Refuse vertices without end: each has a name, and a row in every graph."""
        layout = self.layout
        try:
            held = self.folder.size(layout.shards[0].file)
        except OSError:
            return  # which is told when its graphs are asked for
        DEFAULT.check(self.folder.name_of(STORE_JSON), 8 * layout.n_vertices, held)

    def check_size(self, k: int) -> None:
        """See that the file of shard k is as long as it should be, before room is made for it."""
        shard = self.layout.shards[k]
        if self._is_seen(k):
            return
        try:
            size = self.folder.size(shard.file)
        except OSError as error:
            self._refuse(k, shard.file, _what(error))
        if size < shard.offset + shard.bytes:
            self._refuse(k, shard.file, "is cut off")

    # ------------------------------------------------------------------ tables

    def table(self, k: int, columns: tuple[str, ...] | None = None) -> Any:
        """Return the table of the graphs of shard k, or some columns of it."""
        shard = self.layout.shards[k]
        data = self._read(k, shard.table, shard.table_sha256)
        with self._sound(k, shard.table):
            table = read_bytes(data, columns, self.folder.name_of(shard.table))
            if len(table) != shard.graphs or not {*(columns or ())} <= {*table.column_names}:
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
    def vertex_names(self) -> tuple[str, ...] | None:
        """Names of the vertices, or None where they have none."""
        if self._vertices is None and self.layout.vertex_names:
            data = self._read(-1, VERTICES, self.layout.vertices_sha256)
            with self._sound(-1, VERTICES):
                table = read_bytes(data, ("name",), self.folder.name_of(VERTICES))
                names = texts_of(table, "name")
                if len(names) != self.layout.n_vertices or len(set(names)) < len(names):
                    raise ValueError(f"{len(names)} names, {len(set(names))} of them different")
                self._vertices = names
        return self._vertices

    def verify_vertices(self) -> None:
        """Read the table of vertices against its hash, also where vertices have no names."""
        self._read(-1, VERTICES, self.layout.vertices_sha256)
        _ = self.vertex_names

    # ------------------------------------------------------------------ graphs

    def read_dense(self, k: int, lo: int, hi: int, out: NDArray[Any]) -> None:
        """Fill ``out`` (hi - lo, n, n) with graphs lo to hi of shard k."""
        shard = self.layout.shards[k]
        each = shard.bytes // shard.graphs
        view = memoryview(out.reshape(-1).view(np.uint8).data)
        whole = hi - lo == shard.graphs
        if not whole and not self._is_seen(k):
            self.verify(k)
        try:
            count = self.folder.read_into(shard.file, shard.offset + lo * each, view)
        except OSError as error:
            self._refuse(k, shard.file, _what(error))
        if count < len(view):
            self._refuse(k, shard.file, "is cut off")
        if whole and not self._is_seen(k):
            self._check(k, shard.file, hashlib.sha256(view).hexdigest(), shard.sha256)
            self._seen.add(_key(shard))
        if np.little_endian is False:
            out.byteswap(inplace=True)
        self._check_weights(k, lo, hi, out, lambda: [np.count_nonzero(A) for A in out])

    def read_sparse(self, k: int, lo: int, hi: int) -> sparse.csr_array:
        """Return graphs lo to hi of shard k, ((hi - lo) * n, n)."""
        from eigengraphs.store.edges import flat_of  # numba takes long to import

        shard, layout = self.layout.shards[k], self.layout
        data = self._read(k, shard.file, shard.sha256)
        first, n = self._starts[k], layout.n_vertices
        with self._sound(k, shard.file):
            flat = flat_of(data, first, lo, hi, n, shard.mirrored, np.dtype(layout.dtype))

        def counts() -> NDArray[Any]:
            ends, zeros = flat.indptr[::n], np.flatnonzero(flat.data == 0)
            graphs = np.searchsorted(ends, zeros, "right") - 1
            return np.diff(ends) - np.bincount(graphs, minlength=hi - lo)

        self._check_weights(k, lo, hi, flat.data, counts)
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
        """See that the files of shard k are what was written."""
        shard = self.layout.shards[k]
        self._read(k, shard.table, shard.table_sha256)
        if shard.mask:
            self._read(k, shard.mask, shard.mask_sha256)
        if self.layout.kind == "sparse":
            self._read(k, shard.file, shard.sha256)
            return
        digest, done = hashlib.sha256(), 0
        room = memoryview(bytearray(_PIECE))
        try:
            while done < shard.bytes:
                want = room[: min(_PIECE, shard.bytes - done)]
                count = self.folder.read_into(shard.file, shard.offset + done, want)
                if not count:
                    self._refuse(k, shard.file, "is cut off")
                digest.update(want[:count])
                done += count
        except OSError as error:
            self._refuse(k, shard.file, _what(error))
        self._check(k, shard.file, digest.hexdigest(), shard.sha256)
        self._seen.add(_key(shard))

    # ------------------------------------------------------------------ checks

    @contextmanager
    def _sound(self, k: int, file: str) -> Iterator[None]:
        """Say which file it was where one has its checksum and still is no such table."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # pyarrow has errors of its own, not all of one root
            self._refuse(k, file, f"is no table of a store ({type(error).__name__}: {error})")

    def _check_weights(
        self, k: int, lo: int, hi: int, values: NDArray[Any], counts: Callable[[], Any]
    ) -> None:
        """Refuse graphs unlike their table, when they are first read: anybody can make checksums.

        ``values`` are the weights, and ``counts`` tells how many of each graph are not zero.
        """
        if (k, lo, hi) in self._checked:
            return
        file = self.layout.shards[k].file
        if not np.isfinite(values).all():
            self._refuse(k, file, "has weights that are not finite, which no store has")
        found, said = counts(), self.names_and_facts(k)[1].n_nonzero[lo:hi]
        wrong = np.flatnonzero(found != said)
        if wrong.size:
            i = int(wrong[0])
            place = self._starts[k] + lo + i
            what = (
                f"has {found[i]} entries of graph {place + 1} (index {place}), and its table says"
            )
            self._refuse(k, file, f"{what} {said[i]}")
        self._checked.add((k, lo, hi))

    def _is_seen(self, k: int) -> bool:
        return _key(self.layout.shards[k]) in self._seen

    def _read(self, k: int, file: str, sha256: str) -> bytes:
        try:
            data = self.folder.read(file)
        except OSError as error:
            self._refuse(k, file, _what(error))
        if sha256 not in self._seen:
            if k >= 0 and file == self.layout.shards[k].file:
                size = self.layout.shards[k].bytes
                if len(data) < size:
                    self._refuse(k, file, f"is cut off, {len(data)} of {size} bytes")
            self._check(k, file, hashlib.sha256(data).hexdigest(), sha256)
            self._seen.add(sha256)
        return data

    def _check(self, k: int, file: str, found: str, wanted: str) -> None:
        if found != wanted:
            self._refuse(k, file, "is not what was written, by its SHA-256")

    def _refuse(self, k: int, file: str, what: str) -> Any:
        path = self.folder.name_of(file)
        if k < 0:
            raise StoreError(f"{path} {what}; put it back from a copy, or convert again")
        first = self._starts[k]
        last = first + self.layout.shards[k].graphs - 1
        who = f"graph {first + 1} (index {first})"
        if first < last:
            who = f"graphs {first + 1} to {last + 1} (index {first} to {last})"
        shard = self.layout.shards[k]
        if self.layout.graph_names and (k in self._tables or file != shard.table):
            try:
                names, _ = self.names_and_facts(k)
                who += f", {names[0]!r}" + (f" to {names[-1]!r}" if len(names) > 1 else "")
            except StoreError:
                pass
        raise StoreError(
            f"{path} {what}; it holds {who}. Put the file back from a copy, or convert the graphs "
            "into a new store; all other graphs can still be read"
        )


def _what(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not there"
    return f"cannot be read: {error.strerror or error}"


def _key(shard: Shard) -> str:
    return f"{shard.sha256} {shard.file} {shard.offset}"


_OPEN: OrderedDict[str, Store] = OrderedDict()  # by token, the last few


def reopened(path: str, options: Mapping[str, Any], digest: str, token: str) -> Store:
    """Return a store that was opened before, perhaps in another process."""
    store = _OPEN.get(token)
    if store is None:
        store = Store(Folder(path, options), token=token)
        if store.digest != digest:
            raise StoreError(f"{path} was changed after it was opened: open it again")
        _OPEN[token] = store
        while len(_OPEN) > 8:
            _OPEN.popitem(last=False)
    return store
