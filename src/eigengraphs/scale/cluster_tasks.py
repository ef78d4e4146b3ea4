"""What runs on the workers of a cluster: blocks are loaded, worked on, and results added up.

Sums are taken in pairs, neighbours first, and a run of blocks gives the branches of that one tree
that it has all terms of: the result does not depend, to the last bit, on how blocks are shared out.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigengraphs.errors import ClusterError
from eigengraphs.graphs.blocked import Block, BlockedStack, Task
from eigengraphs.graphs.ordering import Branch, PairedSum
from eigengraphs.parallel import alone
from eigengraphs.threads import one_blas_thread

__all__ = [
    "Failed",
    "Sent",
    "add_all",
    "add_parts",
    "load",
    "unpack",
    "work_on_kept",
    "work_on_read",
]

_VIEWS_KEPT = 4  # of a block: those of one fit, and of the transform after it


@dataclass(frozen=True)
class Failed:
    """In the place of a result: what went wrong with a block.

    Returned and not raised: the workers' logs would fill with it, and it would come without the
    block's name.
    """

    error: Exception
    k: int


@dataclass(frozen=True)
class Sent:
    """A task of which every shard gets rows of its own, and everybody the rest."""

    rows: Any
    first: int

    def of(self, task: Any) -> Task:
        """Return the task with these rows."""
        whole: Task = task.with_rows(self.rows, self.first)
        return whole


def unpack(data: bytes) -> Any:
    """Return what was pickled: once for each worker, and handed on between them."""
    return pickle.loads(data)  # noqa: S301  # our own


def load(source: BlockedStack, lo: int, hi: int) -> list[Block] | Failed:
    """Return the blocks of a shard, to be kept from round to round."""
    try:
        return [_read(source, k) for k in range(lo, hi)]
    except _BlockError as failed:
        return failed.found


def work_on_kept(
    shards: list[list[Block] | Failed],
    lo: int,
    task: Any,
    shared: Any,
    own: Sent | None,
    adding: bool,
) -> Any:
    """Return sums of a task over neighbouring blocks in memory, or the list of its results."""
    blocks: list[Block] = []
    for shard in shards:
        if isinstance(shard, Failed):
            return shard
        blocks += shard
    return _work(enumerate(blocks, lo), lo, _whole(task, own), _given(shared), adding)


def work_on_read(
    source: BlockedStack, lo: int, hi: int, task: Any, shared: Any, own: Sent | None, adding: bool
) -> Any:
    """Do the same with blocks that are read, worked on, and forgotten."""
    blocks = ((k, _read(source, k)) for k in range(lo, hi))
    return _work(blocks, lo, _whole(task, own), _given(shared), adding)


def add_parts(parts: Sequence[list[Branch] | Failed]) -> list[Branch] | Failed:
    """Return sums over neighbouring runs; none of them is changed, as they may be asked again."""
    total = _joined(parts)
    return total if isinstance(total, Failed) else total.branches


def add_all(parts: Sequence[list[Branch] | Failed]) -> Any:
    """Return the sum over all blocks, given all parts of it."""
    total = _joined(parts)
    return total if isinstance(total, Failed) else total.result()


def _joined(parts: Sequence[list[Branch] | Failed]) -> PairedSum | Failed:
    failed = [part for part in parts if isinstance(part, Failed)]
    if failed:
        return failed[0]
    branches = [branch for part in parts if isinstance(part, list) for branch in part]
    total = PairedSum(branches[0][0], _plus)
    for _, level, term in branches:
        total.add(term, level)
    return total


class _BlockError(Exception):
    """Carries what went wrong to the end of a task."""

    def __init__(self, found: Failed) -> None:
        super().__init__(found)
        self.found = found


@contextmanager
def _named(k: int) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise _BlockError(Failed(_portable(error), k)) from error


def _portable(error: Exception) -> Exception:
    """Return an error that can travel: itself, or one that says the same."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):  # noqa: S301  # our own
            return error
    except Exception:  # noqa: S110  # whatever it is, it does not travel
        pass
    return ClusterError(f"{type(error).__name__}: {error}")


def _read(source: BlockedStack, k: int) -> Block:
    with _named(k), alone():
        return Block(source.read_block(k), *source.spans[k])


def _whole(task: Any, own: Sent | None) -> Task:
    task = _given(task)
    whole: Task = task if own is None else own.of(task)
    return whole


def _given(value: Any) -> Any:
    """Return what came pickled in the task itself, or as the result of another."""
    return unpack(value) if isinstance(value, bytes) else value


def _work(
    blocks: Iterable[tuple[int, Block]], lo: int, task: Task, shared: Any, adding: bool
) -> Any:
    results: list[Any] = []
    total = PairedSum(lo)
    try:
        with alone(), one_blas_thread():
            for k, block in blocks:
                with _named(k):
                    result = task(block, shared)
                while len(block.memo) > _VIEWS_KEPT:
                    del block.memo[next(iter(block.memo))]
                if adding:
                    total.add(result)
                else:
                    results.append(result)
    except _BlockError as failed:
        return failed.found
    return total.branches if adding else results


def _plus(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        return tuple(_plus(x, y) for x, y in zip(a, b, strict=True))
    return np.add(a, b) if isinstance(a, np.ndarray) else a + b
