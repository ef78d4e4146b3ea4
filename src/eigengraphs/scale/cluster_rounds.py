"""Rounds of work on a Dask cluster: one map over the blocks, and results in order or added up.

What is sent are descriptions: how to read a block, and what to do with it. Every piece of work can
be done again anywhere, so that a worker may be lost at any time.
"""

from __future__ import annotations

import logging
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from eigengraphs.errors import ClusterError
from eigengraphs.graphs.blocked import BlockedStack, Task
from eigengraphs.scale.cluster_record import Round
from eigengraphs.scale.cluster_tasks import (
    Failed,
    Sent,
    add_parts,
    load,
    unpack,
    work_on_kept,
    work_on_read,
)
from eigengraphs.scale.cluster_watch import Loss, Watch

__all__ = ["Rounds"]

logger = logging.getLogger("eigengraphs.scale")

_FAN_IN = 8  # results that are added up at a time; a power of two, see cluster_tasks
_PER_THREAD = 3  # shards, at least: enough to level out differences between workers
_SHARD_BYTES = 2**28  # most that is lost, or moved, at a time
# Bytes that are sent with the pieces of work, all together, before it is better to send them once:
# that takes two steps more, some hundredths of a second.
_SMALL = 2**20
_KEPT_SHARE = 0.6  # of the workers' memory, which beyond that they spill to disk


class Rounds:
    """Blocks of a source on a client's cluster.

    Parameters are those of :class:`~eigengraphs.scale.DaskStack`.

    Attributes
    ----------
    records : list of Round
    """

    def __init__(self, source: BlockedStack, client: Any, keep: bool | None, patience: float):
        self._source, self.client, self._keep = source, client, keep
        self._watch = Watch(client, patience)
        self._name = uuid4().hex
        self._count = 0  # of keys: each is used once
        self._described: Any = None  # the source, on the cluster
        self._shards: list[tuple[int, int]] = []  # their first block, and the one behind the last
        self._kept: list[Any] | None = None
        self._shared: dict[int, Any] = {}  # by id, while it lives
        self.records: list[Round] = []

    # ------------------------------------------------------------------ what is on the cluster

    def start(self) -> None:
        """Describe the source to the cluster, unless that is done; decide what is kept there."""
        if self._described is not None:
            return
        self._watch.start()
        self._shards = self._cut()
        self._described = self._once(_pickled(self._source), "source")
        keep = self._fits() if self._keep is None else self._keep
        self._kept = None
        if keep:
            # To all workers in turn: one without work would take it from others.
            homes = [self._home(i) for i in range(len(self._shards))]
            order = sorted(range(len(homes)), key=lambda i: (i - homes.index(homes[i]), i))
            loads = {
                i: self._submit(
                    load, self._described, *self._shards[i], what="load", workers=homes[i]
                )
                for i in order
            }
            self._kept = [loads[i] for i in range(len(homes))]
        logger.info(
            "cluster %s: %d workers with %d threads; %d blocks of %.3g GB in %d shards, %s",
            self._watch.address,
            len(self._watch.workers),
            sum(self._watch.workers.values()),
            len(self._source.spans),
            self._source.nbytes / 1e9,
            len(self._shards),
            "kept in the workers' memory" if keep else "read anew in every round",
        )

    def release(self) -> None:
        """Forget everything on the cluster; the next round begins anew."""
        self._described = self._kept = None
        self._shared.clear()

    @property
    def n_kept(self) -> int:
        """Number of blocks that the workers keep from round to round."""
        return 0 if self._kept is None else len(self._source.spans)

    def _cut(self) -> list[tuple[int, int]]:
        """Return shards of 2^j blocks, as large as leaves enough of them."""
        count = len(self._source.spans)
        wanted = _PER_THREAD * sum(self._watch.workers.values())
        block = self._source.nbytes / count
        size = 1
        while -(-count // (2 * size)) >= wanted and 2 * size * block <= _SHARD_BYTES:
            size *= 2
        return [(lo, min(count, lo + size)) for lo in range(0, count, size)]

    def _fits(self) -> bool:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [worker.get("memory_limit") or float("inf") for worker in workers]
        return self._source.nbytes <= _KEPT_SHARE * sum(limits)

    def _home(self, i: int) -> list[str]:
        """Return where a shard is best worked on: neighbours together, so that sums stay there."""
        threads = sorted(self._watch.workers.items())
        place = (i + 0.5) / len(self._shards) * sum(count for _, count in threads)
        for address, count in threads:
            place -= count
            if place < 0:
                return [address]
        return [address for address, _ in threads]

    def _submit(self, function: Any, *args: Any, what: str, **options: Any) -> Any:
        self._count += 1
        key = f"eigengraphs-{what}-{self._count}-{self._name}"
        if options.get("workers"):
            options["allow_other_workers"] = True  # a wish; the worker may be gone
        else:
            options.pop("workers", None)
        return self.client.submit(function, *args, key=key, pure=False, **options)

    def _once(self, data: bytes, what: str) -> Any:
        """Return a future of what was pickled, which workers hand on to each other."""
        import dask

        # That it goes once is the point; Dask advises against sending much more than once.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self._submit(unpack, data, what=what, priority=20)

    # ------------------------------------------------------------------ rounds

    def total(self, task: Task, shared: Any) -> Any:
        """Return the sum of a task over all blocks."""
        with self._round(task, shared) as under_way:
            level: list[Any] = []
            groups: list[Any] = []
            for i in range(len(self._shards)):
                level.append(under_way.submit(i, adding=True))
                # At once, so that sums are made before more results pile up.
                if len(level) == _FAN_IN or i + 1 == len(self._shards):
                    groups.append(self._added(level))
                    level = []
            while len(groups) > 1:
                pieces = [groups[lo : lo + _FAN_IN] for lo in range(0, len(groups), _FAN_IN)]
                groups = [self._added(piece) for piece in pieces]
            return under_way.result(groups[0])

    def each(self, task: Task, shared: Any) -> Iterator[Any]:
        """Yield what a task returns for each block; few shards are ahead of the one awaited."""
        with self._round(task, shared) as under_way:
            ahead = 2 * sum(self._watch.workers.values()) + 1
            waiting: deque[Any] = deque()
            for i in range(len(self._shards)):
                waiting.append(under_way.submit(i, adding=False))
                if len(waiting) > ahead:
                    yield from under_way.result(waiting.popleft())
            for results in under_way.results(list(waiting)):
                yield from results

    def _added(self, parts: list[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        return self._submit(add_parts, parts, what="add", priority=10)

    @contextmanager
    def _round(self, task: Task, shared: Any) -> Iterator[_UnderWay]:
        begin = time.perf_counter()
        try:
            self.start()
            record = Round(len(self.records) + 1, _name_of(task), len(self._source.spans))
            under_way = _UnderWay(self, record, task, shared)
            yield under_way
            under_way.tell(self._watch.look())
        except ClusterError:
            self.release()  # what was there is lost
            raise
        record.seconds = time.perf_counter() - begin
        self.records.append(record)
        if under_way.losses:
            self._tell_where(under_way.losses)

    def _on_cluster(self, shared: Any) -> tuple[Any, int]:
        """Return what stays the same from round to round, sent if it is not there, and its size."""
        if shared is None:
            return None, 0
        known = self._shared.get(id(shared))
        if known is not None:
            return known, 0
        data = _pickled(shared)
        future = self._once(data, "shared")
        try:
            weakref.finalize(shared, self._shared.pop, id(shared), None).atexit = False
        except TypeError:  # nobody can tell when it is gone: for this round alone
            return future, len(data)
        self._shared[id(shared)] = future
        return future, len(data)

    # ------------------------------------------------------------------ losses

    def _blocks_of(self, keys: tuple[str, ...], futures: list[Any]) -> list[int]:
        """Return the shards whose futures have these keys."""
        wanted = set(keys)
        return [
            i for i, future in enumerate(futures) if future is not None and future.key in wanted
        ]

    def _tell_where(self, losses: list[Loss]) -> None:
        if self._kept is None:
            return
        lost = self._blocks_of(tuple(key for loss in losses for key in loss.kept), self._kept)
        if not lost:
            return
        places = self.client.who_has([self._kept[i] for i in lost])
        held = sorted({address for found in places.values() for address in found})
        logger.warning(
            "%d blocks were loaded again by %s", self._n_blocks(lost), ", ".join(held) or "nobody"
        )
        if self._keep is None and not self._fits():
            logger.warning(
                "the graphs no longer fit into the memory of the %d workers that are left: from "
                "now on blocks are read anew in every round",
                len(self._watch.workers),
            )
            self._kept = None

    def _n_blocks(self, shards: list[int]) -> int:
        return sum(self._shards[i][1] - self._shards[i][0] for i in shards)


class _UnderWay:
    """One round: what it sends, and what comes back."""

    def __init__(self, rounds: Rounds, record: Round, task: Any, shared: Any) -> None:
        self._rounds, self._record = rounds, record
        self._futures: list[Any] = [None] * len(rounds._shards)
        self.losses: list[Loss] = []
        self._task = task
        self._by_part = callable(getattr(task, "part", None))
        self._by_rows = callable(getattr(task, "with_rows", None))
        self._shared, size = rounds._on_cluster(shared)
        record.bytes_sent += size
        self._common: Any = None
        if self._by_rows:
            self._by_part = getattr(task, "rows", None) is not None
            self._common = self._send(self._task.part(0, 0) if self._by_part else task)
        elif not self._by_part:
            self._common = self._send(task)

    def _send(self, task: Any) -> Any:
        data = _pickled(task)
        if len(data) * len(self._rounds._shards) <= _SMALL:
            return data  # counted with every shard
        self._record.bytes_sent += len(data)
        return self._rounds._once(data, "task")

    def submit(self, i: int, *, adding: bool) -> Any:
        """Return a future of the task's results for a shard."""
        rounds, spans = self._rounds, self._rounds._source.spans
        lo, hi = rounds._shards[i]
        task, own = self._common, None
        if self._by_part:
            part = self._task.part(spans[lo][0], spans[hi - 1][1])
            if self._by_rows:
                own = Sent(part.rows, part.first)
                self._record.bytes_sent += len(_pickled(own))
            else:
                task = _pickled(part)
        if isinstance(task, bytes):
            self._record.bytes_sent += len(task)
        rest = (task, self._shared, own, adding)
        if rounds._kept is not None:
            args: tuple[Any, ...] = (work_on_kept, rounds._kept[i], lo, *rest)
            future = rounds._submit(*args, what="work")
        else:
            args = (work_on_read, rounds._described, lo, hi, *rest)
            future = rounds._submit(*args, what="read", workers=rounds._home(i))
        self._futures[i] = future
        return future

    def result(self, future: Any) -> Any:
        """Return what came of it, or raise what went wrong, with the block's name."""
        return self._whole(self._rounds._watch.wait(future, self.tell))

    def results(self, futures: list[Any]) -> Iterator[Any]:
        """Yield what came of the last of them, which come together."""
        yield from map(self._whole, self._rounds._watch.wait_all(futures, self.tell))

    def _whole(self, found: Any) -> Any:
        if isinstance(found, Failed):
            self._rounds.release()  # the block may be whole when it is read again
            raise _with_name(found, self._rounds._source)
        self._record.bytes_received += _size(found)
        return found

    def tell(self, losses: list[Loss]) -> None:
        """Record workers that were lost, and say what that means."""
        rounds, record = self._rounds, self._record
        for loss in losses:
            again = rounds._blocks_of(loss.kept, rounds._kept or [])
            begun = rounds._blocks_of(loss.under_way, self._futures)
            count = rounds._n_blocks(sorted({*again, *begun} if rounds._kept is None else {*again}))
            record.lost.append(loss.worker)
            record.reloaded += count
            logger.warning(
                "worker %s was lost in round %d (%s): %d of its blocks are loaded again, by the "
                "%d workers that are left; it was working on %d shards",
                loss.worker,
                record.number,
                record.task,
                count,
                len(rounds._watch.workers),
                len(begun),
            )
        self.losses += losses


def _with_name(failed: Failed, source: BlockedStack) -> Exception:
    """Return the error with the name of its block in front."""
    lo, hi = source.spans[failed.k]
    names = source.graph_names
    where = f"block {failed.k} (graphs {names[lo]} to {names[hi - 1]})"
    error = failed.error
    if len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{where}: {error.args[0]}",)
    else:
        error.add_note(where)
    return error


def _pickled(value: Any) -> bytes:
    from distributed.protocol import pickle

    dumps: Any = pickle.dumps  # by cloudpickle where it takes that
    try:
        return bytes(dumps(value))
    except Exception as error:
        raise ClusterError(
            f"{_name_of(value)} cannot be sent to the workers of a cluster: it cannot be pickled "
            f"({error})"
        ) from error


def _name_of(task: Any) -> str:
    inner = getattr(task, "task", None)  # of a solver's, inside ours
    name = str(getattr(task, "method", None) or getattr(task, "__name__", type(task).__name__))
    return name if inner is None else type(inner).__name__


def _size(result: Any) -> int:
    """Return the bytes of arrays in a result."""
    if isinstance(result, tuple | list):
        return sum(map(_size, result))
    if hasattr(result, "indptr"):
        return int(result.data.nbytes + result.indices.nbytes + result.indptr.nbytes)
    return int(getattr(result, "nbytes", 8))
