"""Rounds of work on a Dask cluster: one map over the blocks, and results in order or added up.

What is sent are descriptions: how to read a block, and what to do with it. Every piece of work can
be done again anywhere, so that a worker may be lost at any time.
"""

from __future__ import annotations

import logging
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from typing import Any
from uuid import uuid4

from eigengraphs.errors import ClusterError
from eigengraphs.graphs.blocked import BlockedStack, Task
from eigengraphs.scale.cluster_record import Round
from eigengraphs.scale.cluster_tasks import add_all, add_parts, load, unpack
from eigengraphs.scale.cluster_under_way import Run, UnderWay, name_of, pickled, release
from eigengraphs.scale.cluster_watch import Loss, Watch

__all__ = ["Rounds"]

logger = logging.getLogger("eigengraphs.scale")

_FAN_IN = 8  # results that are added up at a time
_PER_THREAD = 3  # shards, at least: enough to level out differences between workers
_SHARD_BYTES = 2**28  # most that is lost, or moved, at a time
_SHORT = 2**14  # vertices: of slim results of so many the last few are added up here
_LEVEL = 0.5  # of its share of the shards: a worker with less takes from others
_KEPT_SHARE = 0.6  # of the workers' memory, which beyond that they spill to disk


class Rounds:
    """Blocks of a source on a client's cluster.

    Parameters are those of :class:`~eigengraphs.scale.DaskStack`.

    Attributes
    ----------
    records : list of Round
    """

    def __init__(self, source: BlockedStack, client: Any, keep: bool | None, patience: float):
        self.source, self.client, self._keep = source, client, keep
        self.watch = Watch(client, patience)
        self._name = uuid4().hex
        self._count = 0  # of keys: each is used once
        self.described: Any = None  # the source, on the cluster
        self.shards: list[tuple[int, int]] = []  # their first block, and the one behind the last
        self.kept: list[Any] | None = None
        self._shared: dict[int, Any] = {}  # by id, while it lives
        self.records: list[Round] = []

    # ------------------------------------------------------------------ what is on the cluster

    def start(self) -> None:
        """Describe the source to the cluster, unless that is done; decide what is kept there."""
        self.watch.require_client()
        if self.described is not None:
            return
        self.watch.start()
        self.shards = self._cut()
        self.described = self.once(pickled(self.source), "source")
        keep = self._fits() if self._keep is None else self._keep
        self.kept = None
        if keep:
            # To all workers in turn: one without work would take it from others.
            homes = [self.home(i) for i in range(len(self.shards))]
            order = sorted(range(len(homes)), key=lambda i: (i - homes.index(homes[i]), i))
            loads = {
                i: self.submit(load, self.described, *self.shards[i], what="load", workers=homes[i])
                for i in order
            }
            self.kept = [loads[i] for i in range(len(homes))]
        logger.info(
            "cluster %s: %d workers with %d threads; %d blocks of %.3g GB in %d shards, %s",
            self.watch.address,
            len(self.watch.workers),
            sum(self.watch.workers.values()),
            len(self.source.spans),
            self.source.nbytes / 1e9,
            len(self.shards),
            "kept in the workers' memory" if keep else "read anew in every round",
        )

    def release(self) -> None:
        """Forget everything on the cluster; the next round begins anew."""
        self.described = self.kept = None
        self._shared.clear()

    @property
    def n_kept(self) -> int:
        """Number of blocks that the workers keep from round to round."""
        return 0 if self.kept is None else len(self.source.spans)

    def _cut(self) -> list[tuple[int, int]]:
        """Return shards of 2^j blocks, as large as leaves enough of them."""
        count = len(self.source.spans)
        wanted = _PER_THREAD * sum(self.watch.workers.values())
        block = self.source.nbytes / count
        size = 1
        while -(-count // (2 * size)) >= wanted and 2 * size * block <= _SHARD_BYTES:
            size *= 2
        return [(lo, min(count, lo + size)) for lo in range(0, count, size)]

    def _fits(self) -> bool:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [worker.get("memory_limit") or float("inf") for worker in workers]
        return self.source.nbytes <= _KEPT_SHARE * sum(limits)

    def home(self, i: int) -> list[str]:
        """Return where a shard is best worked on: neighbours together, so that sums stay there."""
        threads = sorted(self.watch.workers.items())
        place = (i + 0.5) / len(self.shards) * sum(count for _, count in threads)
        for address, count in threads:
            place -= count
            if place < 0:
                return [address]
        return [address for address, _ in threads]

    def submit(self, function: Any, *args: Any, what: str, **options: Any) -> Any:
        """Return a future of a function's result; ``what`` it does is for people."""
        self._count += 1
        key = f"eigengraphs-{what}-{self._count}-{self._name}"
        if options.get("workers"):
            options["allow_other_workers"] = True  # a wish; the worker may be gone
        else:
            options.pop("workers", None)
        return self.client.submit(function, *args, key=key, pure=False, **options)

    def once(self, data: bytes, what: str) -> Any:
        """Return a future of what was pickled, which workers hand on to each other."""
        import dask

        # That it goes once is the point; Dask advises against sending much more than once.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self.submit(unpack, data, what=what, priority=20)

    # ------------------------------------------------------------------ rounds

    def total(self, task: Task, shared: Any) -> Any:
        """Return the sum of a task over all blocks."""
        with self._round(task, shared) as under_way:
            return under_way.in_any_case(lambda: self._sum(under_way))

    def _sum(self, under_way: UnderWay) -> Any:
        parts: list[Any] = []
        level: list[Any] = []
        more = len(under_way.runs) > _FAN_IN
        for run in under_way.runs:
            level.append(under_way.submit(run, adding=True))
            # At once, so that sums are made before more results pile up.
            if not more or len(level) == _FAN_IN or run == under_way.runs[-1]:
                parts.append(self._added(level))
                level = []
        while len(parts) > _FAN_IN:
            parts = [self._added(parts[lo : lo + _FAN_IN]) for lo in range(0, len(parts), _FAN_IN)]
        if under_way.slim and self.source.n_vertices <= _SHORT:
            return add_all(under_way.results(parts))
        try:
            return under_way.result(self.submit(add_all, parts, what="add", priority=10))
        finally:
            release(parts)

    def each(self, task: Task, shared: Any) -> Iterator[Any]:
        """Yield what a task returns for each block; few shards are ahead of the one awaited."""
        with self._round(task, shared) as under_way:
            if under_way.slim:
                parts = under_way.in_any_case(
                    lambda: under_way.results(
                        [under_way.submit(run, adding=False) for run in under_way.runs]
                    )
                )
                for results in parts:
                    yield from results
                return
            ahead = 2 * sum(self.watch.workers.values()) + 1
            waiting: deque[Any] = deque()
            for run in under_way.runs:
                waiting.append(under_way.submit(run, adding=False))
                if len(waiting) > ahead:
                    yield from under_way.result(waiting.popleft())
            for results in under_way.results(list(waiting)):
                yield from results

    def runs(self, *, together: bool) -> list[Run]:
        """Return what is worked on at a time: a shard, or neighbours that one thread has.

        Where they are is asked every time: workers come and go, and take work from each other.
        """
        found = self._neighbours(self.kept) if together and self.kept is not None else None
        return [(i, i + 1) for i in range(len(self.shards))] if found is None else found

    def _neighbours(self, kept: list[Any]) -> list[Run] | None:
        """Return runs of shards that are in one place.

        None if some are in none, or if a worker has far less than its share: shard by shard, it
        takes from others.
        """
        places = self.watch.places(kept)
        each = len(places) / max(1, sum(self.watch.workers.values()))
        for address, threads in self.watch.workers.items():
            if each >= 1 and places.count(address) < max(1, int(_LEVEL * each * threads)):
                return None
        if not all(places):
            return None
        runs: list[Run] = []
        for place, some in groupby(range(len(places)), key=lambda i: places[i]):
            mine = list(some)
            threads = min(self.watch.workers.get(place, 1), len(mine))
            cuts = [mine[0] + len(mine) * k // threads for k in range(threads + 1)]
            runs += pairwise(cuts)
        return runs

    def _added(self, parts: list[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        return self.submit(add_parts, parts, what="add", priority=10)

    @contextmanager
    def _round(self, task: Task, shared: Any) -> Iterator[UnderWay]:
        begin = time.perf_counter()
        try:
            self.start()
            record = Round(len(self.records) + 1, name_of(task), len(self.source.spans))
            under_way = UnderWay(self, record, task, shared)
            yield under_way
            under_way.tell(self.watch.look())
        except ClusterError:
            self.release()  # what was there is lost
            raise
        record.seconds = time.perf_counter() - begin
        self.records.append(record)
        if under_way.losses:
            self._tell_where(under_way.losses)

    def on_cluster(self, shared: Any) -> tuple[Any, int]:
        """Return what stays the same from round to round, sent if it is not there, and its size."""
        if shared is None:
            return None, 0
        known = self._shared.get(id(shared))
        if known is not None:
            return known, 0
        data = pickled(shared)
        future = self.once(data, "shared")
        try:
            weakref.finalize(shared, self._shared.pop, id(shared), None).atexit = False
        except TypeError:  # nobody can tell when it is gone: for this round alone
            return future, len(data)
        self._shared[id(shared)] = future
        return future, len(data)

    # ------------------------------------------------------------------ losses

    def blocks_of(self, keys: tuple[str, ...], of_shards: Sequence[str | None]) -> list[int]:
        """Return the shards whose keys are among these."""
        wanted = set(keys)
        return [i for i, key in enumerate(of_shards) if key in wanted]

    def _tell_where(self, losses: list[Loss]) -> None:
        if self.kept is None:
            return
        keys = tuple(key for loss in losses for key in loss.kept)
        lost = self.blocks_of(keys, [future.key for future in self.kept])
        if not lost:
            return
        held = sorted({place for place in self.watch.places([self.kept[i] for i in lost]) if place})
        logger.warning(
            "%d blocks were loaded again by %s", self.n_blocks(lost), ", ".join(held) or "nobody"
        )
        if self._keep is None and not self._fits():
            logger.warning(
                "the graphs no longer fit into the memory of the %d workers that are left: from "
                "now on blocks are read anew in every round",
                len(self.watch.workers),
            )
            self.kept = None

    def n_blocks(self, shards: list[int]) -> int:
        """Return how many blocks these shards have."""
        return sum(self.shards[i][1] - self.shards[i][0] for i in shards)
