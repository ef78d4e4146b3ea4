"""``store.json``: what a store holds and which of its files count. See ``docs/guide/store.md``."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_type_hints

import numpy as np

from eigengraphs.errors import StoreError
from eigengraphs.system.limits import is_of, read_json

FORMAT, VERSION = "eigengraphs store", 2  # 1 where nothing is hidden
STORE_JSON, VERTICES, DENSE = "store.json", "vertices.parquet", "dense.zarr"
_MOST = 2**62  # of anything that is counted
_WORDS = {int: "a whole number >= 0", bool: "true or false", str: "a text"}
_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)  # of a file inside of the store


@dataclass(frozen=True)
class Shard:
    """Consecutive graphs in one file, and the table of their names and facts."""

    graphs: int
    nonzeros: int
    file: str
    bytes: int
    sha256: str  # of these bytes of the file, from ``offset`` on
    table: str
    table_sha256: str
    offset: int = 0
    mirrored: bool = False  # each edge is stored once, source <= target, for both directions
    mask: str = ""  # a table of hidden entries, where there are some
    mask_sha256: str = ""
    hides_pairs: bool = False  # whether some are off the diagonal


@dataclass(frozen=True)
class Batch:
    """Graphs that one command or call wrote, or is writing."""

    source: str
    first: int  # place of the first graph
    finished: bool = False
    total: int | None = None  # graphs that there will be, where that is known
    command: str | None = None  # how to continue it
    listing: str | None = None  # a table of the files it is made from
    options: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """All that ``store.json`` says."""

    kind: Literal["dense", "sparse"]
    dtype: Literal["float32", "float64"]
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
        """Number of graphs in complete shards."""
        return sum(shard.graphs for shard in self.shards)

    @property
    def finished(self) -> bool:
        """Whether every batch is complete."""
        return bool(self.batches) and all(batch.finished for batch in self.batches)

    @property
    def hides(self) -> bool:
        """Whether some entries are hidden."""
        return any(shard.mask for shard in self.shards)

    @property
    def starts(self) -> list[int]:
        """Place of the first graph of every shard, and the number of graphs behind the last."""
        return [0, *np.cumsum([shard.graphs for shard in self.shards]).tolist()]

    def bytes_of(self, *shards: Shard) -> int:
        """Bytes that the graphs of some shards take in memory, together."""
        item, n, m = np.dtype(self.dtype).itemsize, self.n_vertices, sum(x.graphs for x in shards)
        if self.kind == "dense":
            return m * n * n * item
        entries = sum(shard.nonzeros for shard in shards)
        index = 4 if max(entries, n) < 2**31 else 8
        return entries * (item + index) + (m * n + 1) * index

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
            layout._check(said["n_graphs"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(
                f"{where} does not describe a store of graphs ({type(error).__name__}: {error}); "
                "if the file was changed, restore it from a backup, or convert the graphs again"
            ) from None
        return layout

    def _check(self, n_graphs: Any) -> None:
        """Raise ValueError for what no writer writes: a store may come from anybody.

        Checksums protect against accidents; anybody who makes a store can make them, too.
        """
        _check_fields(self, "")
        for k, shard in enumerate(self.shards):
            at = f"shards[{k}]."
            _check_fields(shard, at, "file", "table", *["mask"] * bool(shard.mask))
            # An edge takes eight bytes of its file, and stands for two entries at most.
            fits = shard.nonzeros <= shard.bytes
            if self.kind == "dense":
                fits = shard.bytes == self.bytes_of(shard)
            if not fits or shard.graphs < 1:
                raise ValueError(f"{shard.file} cannot hold what {at[:-1]} says")
        for k, batch in enumerate(self.batches):
            _check_fields(batch, f"batches[{k}].", *["listing"] * (batch.listing is not None))
        if self.n_vertices < 1 or self.n_graphs != n_graphs:
            raise ValueError(f"it has {self.n_vertices} vertices, and n_graphs is {n_graphs!r:.60}")


def _check_fields(record: Any, at: str, *files: str) -> None:
    """Raise ValueError for a field of another type, or the name of a file outside of the store."""
    for name, kind in get_type_hints(type(record)).items():
        value = getattr(record, name)
        if not is_of(kind, value) or (type(value) is int and not 0 <= value < _MOST):
            wanted = _WORDS.get(kind, str(kind).removeprefix("typing."))
            raise ValueError(f"{at}{name} must be {wanted}, got {value!r:.60}")
        if name in files and not _NAME.fullmatch(value):
            raise ValueError(f"{at}{name} must name a file in the store, got {value!r:.60}")
