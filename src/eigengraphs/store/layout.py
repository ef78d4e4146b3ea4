"""``store.json``: what a store holds and which of its files count. See ``docs/guide/store.md``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from eigengraphs.errors import StoreError
from eigengraphs.store.layout_checks import check_layout
from eigengraphs.system.limits import read_json

__all__ = ["DENSE", "STORE_JSON", "VERTICES", "Batch", "Kind", "Layout", "Shard"]

Kind: TypeAlias = Literal["dense", "sparse"]

FORMAT, VERSION = "eigengraphs store", 2  # 1 where nothing is hidden
STORE_JSON, VERTICES, DENSE = "store.json", "vertices.parquet", "dense.zarr"


@dataclass(frozen=True)
class Shard:
    """Some graphs, one behind the other, in one file, and the table of their names and facts."""

    graphs: int
    nonzeros: int
    file: str
    bytes: int
    sha256: str  # of these bytes of the file, from ``offset`` on
    table: str
    table_sha256: str
    offset: int = 0
    mirrored: bool = False  # each edge stands once, source <= target, for both directions
    mask: str = ""  # a table of hidden entries, where there are some
    mask_sha256: str = ""
    hides_pairs: bool = False  # whether some are off the diagonal


@dataclass(frozen=True)
class Batch:
    """Graphs that were put in by one command or call, whole or on the way."""

    source: str
    first: int  # place of the first graph
    finished: bool = False
    total: int | None = None  # graphs that there will be, where that is known
    command: str | None = None  # what goes on with it
    listing: str | None = None  # a table of the files it is made from
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """All that ``store.json`` says."""

    kind: Kind
    dtype: str
    n_vertices: int
    directed: bool = False
    graph_names: bool = False  # whether graphs have names, and not just places
    vertex_names: bool = False
    vertices_sha256: str = ""
    columns: tuple[str, ...] = ()  # of the tables of graphs, besides names and facts
    chunk: int = 0  # graphs in a chunk of the array; 0 for sparse graphs
    shards: tuple[Shard, ...] = ()
    batches: tuple[Batch, ...] = ()

    @property
    def n_graphs(self) -> int:
        """Number of graphs in whole shards."""
        return sum(shard.graphs for shard in self.shards)

    @property
    def finished(self) -> bool:
        """Whether nothing is on the way."""
        return bool(self.batches) and all(batch.finished for batch in self.batches)

    @property
    def hides(self) -> bool:
        """Whether some entries are hidden."""
        return any(shard.mask for shard in self.shards)

    @property
    def starts(self) -> list[int]:
        """Place of the first graph of every shard, and the number of graphs behind the last."""
        return [0, *np.cumsum([shard.graphs for shard in self.shards]).tolist()]

    def graph_bytes(self, shard: Shard) -> int:
        """Bytes that the graphs of a shard take in memory."""
        item, n = np.dtype(self.dtype).itemsize, self.n_vertices
        if self.kind == "dense":
            return shard.graphs * n * n * item
        return shard.nonzeros * (item + 4) + shard.graphs * n * 4

    @property
    def nbytes(self) -> int:
        """Bytes that all graphs would take in memory."""
        item, n, m = np.dtype(self.dtype).itemsize, self.n_vertices, self.n_graphs
        if self.kind == "dense":
            return m * n * n * item
        entries = sum(shard.nonzeros for shard in self.shards)
        index = 4 if max(entries, n) < 2**31 else 8
        return entries * (item + index) + (m * n + 1) * index

    def with_shard(self, shard: Shard, **changes: Any) -> Layout:
        """Return the layout with one more shard."""
        return replace(self, shards=(*self.shards, shard), **changes)

    def with_batch(self, **changes: Any) -> Layout:
        """Return the layout with changes of the last batch."""
        return replace(self, batches=(*self.batches[:-1], replace(self.batches[-1], **changes)))

    def _check(self) -> None:
        """Raise ValueError at what cannot be: a store may come from anybody."""
        if self.dtype not in ("float32", "float64", "<f4", "<f8"):
            raise ValueError(f"dtype is {str(self.dtype)[:40]!r}")
        item, n = np.dtype(self.dtype).itemsize, self.n_vertices
        if not _is_count(n) or n < 1:
            raise ValueError(f"n_vertices is {str(n)[:40]}")
        for shard in self.shards:
            for name in ("graphs", "nonzeros", "bytes", "offset"):
                if not _is_count(getattr(shard, name)):
                    raise ValueError(f"{name} of a shard is {str(getattr(shard, name))[:40]}")
            for file in (shard.file, shard.table, *[shard.mask] * bool(shard.mask)):
                _check_name(file)
            # An edge takes eight bytes of its file, and stands for two entries at most.
            fits = shard.nonzeros <= shard.bytes
            if self.kind == "dense":
                fits = shard.bytes == shard.graphs * n * n * item
            if not fits or shard.graphs < 1:
                raise ValueError(f"{shard.file} cannot hold what it is said to hold")
        for batch in self.batches:
            if batch.listing is not None:
                _check_name(batch.listing)

    def to_json(self) -> bytes:
        """Return the text of ``store.json``."""
        head = {
            "format": FORMAT,
            "version": VERSION if self.hides else 1,
            "finished": self.finished,
            "n_graphs": self.n_graphs,
        }
        said: dict[str, Any] = head | asdict(self)
        for shard in said["shards"]:
            if not shard["mask"]:  # as the first version has it
                for name in ("mask", "mask_sha256", "hides_pairs"):
                    del shard[name]
        return (json.dumps(said, indent=1, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_json(cls, text: bytes, where: str) -> Layout:
        """Read ``store.json``, or say what is wrong with it."""
        try:
            said = read_json(text)
            if said["format"] != FORMAT:
                raise KeyError("format")
            if said["version"] > VERSION:
                raise StoreError(
                    f"{where} is of version {said['version']}, and this eigengraphs reads version "
                    f"{VERSION}: update it (pip install -U eigengraphs)"
                )
            known = {item.name: said[item.name] for item in fields(cls) if item.name in said}
            known["shards"] = tuple(Shard(**shard) for shard in said["shards"])
            known["batches"] = tuple(Batch(**batch) for batch in said["batches"])
            known["columns"] = tuple(said["columns"])
            layout = cls(**known)
            check_layout(layout)
            if layout.n_graphs != said["n_graphs"]:
                raise ValueError(f"n_graphs is {said['n_graphs']!r:.60}, and shards hold others")
            layout._check()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(
                f"{where} does not describe a store of graphs ({type(error).__name__}: {error}); "
                "if the file was changed, take it from a copy, or convert the graphs again"
            ) from None
        return layout


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _check_name(name: Any) -> None:
    """Refuse the name of a file that would lie outside of the store."""
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)*", name, re.ASCII):
        raise ValueError(f"{str(name)[:60]!r} is no name of a file in a store")
