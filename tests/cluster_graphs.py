"""Graphs that workers of a cluster can read: a file, and how it is cut."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from blocked_graphs import InBlocks

from eigengraphs import GraphStack
from eigengraphs.errors import ReadError
from eigengraphs.stack.blocked import Block


class InFile(InBlocks):
    """Graphs in an .npy file (m, n, n), in blocks of ``step``; pickles as its path."""

    __slots__ = ("_file", "_shape", "_sparse")

    def __init__(self, path: Path, step: int, sparse: bool = False, scanned: bool = True) -> None:
        A = np.load(path, mmap_mode="r")
        for name, value in {
            "_file": (path, step, sparse),
            "_shape": A.shape,
            "_spans": tuple((lo, min(len(A), lo + step)) for lo in range(0, len(A), step)),
            "_memory": 2**30,
            "_sparse": sparse,
            "_facts": GraphStack(A, copy=False).facts if scanned else None,
            "_graph_names": None,
            "_vertex_names": None,
        }.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self._file, False)  # whoever reads blocks needs no facts

    def read_block(self, k: int) -> GraphStack:
        lo, hi = self.spans[k]
        found = GraphStack(np.load(self._file[0], mmap_mode="r")[lo:hi])
        return found.to_sparse() if self._sparse else found

    @property
    def n_vertices(self) -> int:
        return self._shape[1]

    @property
    def dtype(self) -> Any:
        return np.load(self._file[0], mmap_mode="r").dtype

    @property
    def nbytes(self) -> int:
        return int(np.prod(self._shape)) * self.dtype.itemsize

    @property
    def is_sparse(self) -> bool:
        return self._sparse


class Broken(InFile):
    """The same, but that one block cannot be read."""

    __slots__ = ()

    def read_block(self, k: int) -> GraphStack:
        if k == 2:
            raise ReadError("graphs.npy is cut short")
        return super().read_block(k)


class Announced(InFile):
    """The same, but that whoever reads a block leaves the number of its process behind."""

    __slots__ = ()

    def read_block(self, k: int) -> GraphStack:
        announce(self._file[0].parent)
        return super().read_block(k)


def announce(folder: Path) -> None:
    (folder / f"{os.getpid()}.began").touch()


@dataclass(frozen=True)
class SlowSum:
    """The sum of the graphs of a block, after saying that it has begun and some sleep."""

    folder: Path
    seconds: float

    def __call__(self, block: Block, shared: None) -> Any:
        announce(self.folder)
        time.sleep(self.seconds)
        return block.graphs.dense.sum(axis=0)


def divide(block: Block, shared: None) -> float:
    return 1 / (block.lo // 7 - 3)


def where(block: Block, shared: None) -> list[int]:
    return [block.lo, block.hi, os.getpid()]
