"""``DaskStack``: graphs in blocks, and a Dask cluster that works on them."""

from __future__ import annotations

import logging
import os
import pickle
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from typing import Any, Literal, Self
from uuid import uuid4

import numpy as np

from eigengraphs.errors import ClusterError, InputError
from eigengraphs.stack.blocked import Block, BlockedStack, LazyStack, Task, forwarded
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.system.extras import need
from eigengraphs.system.parallel import Branch, PairedSum, alone, one_blas_thread, spans

logger = logging.getLogger("eigengraphs.store")

_FAN_IN = 8  # results that are added up at a time
_PER_THREAD = 2  # shards, at least: enough to level out differences between workers
_SHARD_BYTES = 2**28  # most that is lost, or moved, at a time
_KEPT_SHARE = 0.6  # of the workers' memory, which beyond that they spill to disk
_KEPT_OPERATORS = 4  # of a block: those of one fit, and of the transform after it
_SMALL = 2**21  # bytes that go with every piece of work: to send them once takes two steps more
_TICK = 0.5  # seconds between looks while one waits
# Dask lets workers give what is freed back to the system at once, so that every array of a task
# takes new pages: some 100,000 a fit, a fifth of its time. Up to these bytes they are used again.
_MEMORY_USED_AGAIN = {"MALLOC_TRIM_THRESHOLD_": 2**27, "MALLOC_MMAP_THRESHOLD_": 2**25}
_RESUME = "; the same command, eigengraphs fit, continues from the last complete round"


@contextmanager
def connect(
    where: str | int | os.PathLike[str],
    *,
    memory_limit: str | int | float = "auto",
    timeout: float = 30.0,
) -> Iterator[Any]:
    """Give a Dask client for the time of a ``with`` block.

    Parameters
    ----------
    where : str, path or int
        The address of a scheduler ("tcp://host:8786"), or a scheduler file; or a number of
        single-threaded processes to start on this machine. These end with the block,
        also after an error or Ctrl-C. In a script, the call must be below
        ``if __name__ == "__main__":``, because the processes import the script.
    memory_limit : int, float or str
        Limit for each process that is started: bytes, a text such as "4GB", a share of the memory,
        or "auto", the memory divided by the processes.
    timeout : float
        Seconds to wait for the scheduler and its first worker.

    Yields
    ------
    distributed.Client
        For :class:`DaskStack`.

    Raises
    ------
    ClusterError
        If no scheduler answers, or there is no worker.

    Examples
    --------
    Processes are started, so this is no doctest; ``docs/guide/cluster.md`` has one that is tested.

    >>> import eigengraphs as eg
    >>> with eg.store.connect(2, memory_limit="1GB") as client:  # doctest: +SKIP
    ...     print(len(client.scheduler_info()["workers"]))
    2
    """
    distributed = need("distributed", "dask", "work on a cluster")
    with ExitStack() as opened:
        if isinstance(where, int):
            address = opened.enter_context(_local_cluster(distributed, where, memory_limit))
        else:
            address = os.fspath(where)
        options = {"address": address}
        if isinstance(address, str) and "://" not in address:
            options = {"scheduler_file": address}
            if not os.path.isfile(address):  # noqa: PTH113
                raise InputError(
                    f"{address!r} is neither the address of a scheduler, such as tcp://host:8786, "
                    "nor a scheduler file, nor a number of processes"
                )
        try:
            client = opened.enter_context(distributed.Client(**options, timeout=timeout))
        except (OSError, TimeoutError) as error:
            raise ClusterError(
                f"no scheduler answers at {where} within {timeout:g} s: check that it runs "
                "(dask scheduler) and that its port is open from here"
            ) from error
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError as error:
            raise ClusterError(
                f"the cluster {where} has no worker after {timeout:g} s; start one, or wait longer "
                "(timeout)"
            ) from error
        yield client


@contextmanager
def _local_cluster(distributed: Any, count: int, memory_limit: Any) -> Iterator[Any]:
    if isinstance(count, bool) or count < 1:
        raise InputError(f"a cluster on this machine needs 1 process or more, got {count!r}")
    import dask

    place = "distributed.nanny.pre-spawn-environ"
    memory = {f"{place}.{name}": size for name, size in _MEMORY_USED_AGAIN.items()}
    with (
        tempfile.TemporaryDirectory(prefix="eigengraphs-", ignore_cleanup_errors=True) as folder,
        dask.config.set(memory),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=memory_limit,
            local_directory=folder,
            dashboard_address="127.0.0.1:0",  # any port: another cluster may have the usual one
        ) as cluster,
    ):
        yield cluster


@dataclass
class Round:
    """What one round over all blocks took.

    Attributes
    ----------
    number : int
        From 1 on.
    task : str
        What was done.
    blocks : int
        Number of blocks.
    bytes_sent, bytes_received : int
        Bytes sent from here and received. Sums are also sent between workers.
    seconds : float
        Time from the first task to the last result.
    lost : list of str
        Workers that were lost meanwhile.
    """

    number: int
    task: str
    blocks: int
    bytes_sent: int = 0
    bytes_received: int = 0
    seconds: float = 0.0
    lost: list[str] = field(default_factory=list)


class DaskStack(LazyStack):
    """Graphs whose blocks are read and worked on by the workers of a Dask cluster.

    A fit requests sums over all blocks about ten times, and receives only these sums. Workers read
    their blocks themselves, so each must have access to the files (a shared file system, or an
    object store). If a worker is lost, others read its blocks again.

    Parameters
    ----------
    source : BlockedStack
        Where blocks come from; it can be pickled, and should be small then.
    client : distributed.Client
        Of the cluster; see :func:`~eigengraphs.store.connect`.
    keep : {"auto", True, False}
        Whether workers keep blocks in memory from round to round. "auto": if all graphs fit into
        60 % of it.
    patience : float
        Seconds to wait for a scheduler that does not answer, or while there is no worker, before
        :class:`~eigengraphs.errors.ClusterError` is raised.

    Attributes
    ----------
    rounds : list of Round
        What each round over the blocks took: bytes, seconds, and workers that were lost.

    Examples
    --------
    Workers are processes, so this is no doctest; ``docs/guide/cluster.md`` has one that is tested.

    >>> import eigengraphs as eg
    >>> with eg.store.connect(1) as client:  # doctest: +SKIP
    ...     stack = eg.store.DaskStack(eg.open_store("graphs.egs"), client)
    ...     je = eg.JointEmbedding(2, random_state=0).fit(stack)
    ...     print(len(stack.rounds) == je.n_passes_)
    True
    """

    __slots__ = ()

    _cluster: _Cluster
    _settings: dict[str, Any]

    def __init__(
        self,
        source: BlockedStack,
        client: Any,
        *,
        keep: Literal["auto"] | bool = "auto",
        patience: float = 60.0,
    ) -> None:
        distributed = need("distributed", "dask", "work on a cluster")
        if isinstance(source, DaskStack):
            source = source.source
        if not isinstance(source, BlockedStack):
            raise InputError(
                f"a cluster needs graphs that its workers can read block by block, got "
                f"{type(source).__name__}; write them to a store and open it with open_store(path)"
            )
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise InputError(
                f"client must be a distributed.Client that is not asynchronous, got {client!r}; "
                "see eigengraphs.store.connect"
            )
        if keep not in ("auto", True, False):
            raise InputError(f"keep must be 'auto', True or False, got {keep!r}")
        if not patience > 0:
            raise InputError(f"patience must be a number of seconds above 0, got {patience!r}")
        cluster = _Cluster(source, client, None if keep == "auto" else bool(keep), float(patience))
        settings = {"keep": keep, "patience": patience}
        vars(self).update(vars(LazyStack.of(source, "")), _cluster=cluster, _settings=settings)
        cluster.start()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._base.__reduce__()  # elsewhere there is no client

    def close(self) -> None:
        """Free the blocks in the workers' memory; a further round reads them again.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> with eg.store.connect(1) as client:  # doctest: +SKIP
        ...     stack = eg.store.DaskStack(eg.open_store("graphs.egs"), client)
        ...     stack.close()
        """
        self._cluster.release()

    # ------------------------------------------------------------------ passes

    def _each(self, task: Task, shared: Any) -> Iterator[Any]:
        """Yield what a task returns for each block, in order: one round."""
        self._count_pass()
        yield from self._cluster.each(task, shared)

    def _total(self, task: Task, shared: Any) -> Any:
        """Return the sum of what a task returns for each block: one round."""
        self._count_pass()
        return self._cluster.total(task, shared)

    # ------------------------------------------------------------------ as a stack

    source = forwarded("_base", "Where blocks come from.")
    fingerprint = forwarded(
        "_base.fingerprint", "That of the source: where graphs are worked on changes nothing."
    )
    nbytes = forwarded("_base.nbytes", "Bytes that all graphs take in memory.")
    rounds = forwarded("_cluster.records", "What each round took, the first one first.")
    n_kept = forwarded(
        "_cluster.n_kept", "Number of blocks that workers keep in memory from round to round."
    )

    @property
    def is_remote(self) -> bool:
        """True."""
        return True

    @cached_property
    def _facts(self) -> GraphFacts:  # type: ignore[override]
        facts = super()._facts  # of graphs that a step has changed, workers find them
        if isinstance(self._base, LazyStack):
            vars(self._base)["_facts"] = facts
        return facts

    def _lazy(self, step: str, *arguments: Any) -> Any:
        changed = self._base._lazy(step, *arguments)
        return DaskStack(changed, self._cluster.client, **self._settings)


class _Cluster:
    """Blocks of a source on a client's cluster; parameters are those of :class:`DaskStack`.

    What is sent are descriptions: how to read a block, and what to do with it. Every piece of work
    can be done again anywhere, and Dask does so when a worker is lost. Sums are taken in pairs,
    neighbors first (:class:`PairedSum`), so that their bits do not depend on how blocks are shared
    out.
    """

    def __init__(self, source: BlockedStack, client: Any, keep: bool | None, patience: float):
        self.source, self.client, self._keep, self._patience = source, client, keep, patience
        self._name, self._count = uuid4().hex, count(1)  # of keys: each is used once
        self._workers: dict[str, int] = {}  # number of threads by address, at the last look
        self._well = 0.0  # when the scheduler answered and had a worker
        self._described: Any = None  # the source, on the cluster
        self._shards: list[tuple[int, int]] = []  # first block, and the one behind the last
        self._kept: list[Any] | None = None
        self._shared: dict[int, Any] = {}  # by id, while it lives
        self.records: list[Round] = []

    # ------------------------------------------------------------------ what is on the cluster

    def start(self) -> None:
        """Describe the source to the cluster, unless that is done; decide what is kept there."""
        if self._described is not None:
            return
        self._well = time.monotonic()
        while True:
            self._look()
            if self._workers:
                break
            time.sleep(min(_TICK, 0.1 * self._patience))
        self._shards = self._cut()
        self._described = self._once(_pickled(self.source), "source")
        keep = self._fits() if self._keep is None else self._keep
        self._kept = None
        if keep:
            self._kept = [self._load(i) for i in range(len(self._shards))]
        logger.info(
            "cluster %s: %d workers with %d threads; %d blocks of %.3g GB in %d shards, %s",
            self._address, len(self._workers), sum(self._workers.values()),
            len(self.source.spans), self.source.nbytes / 1e9, len(self._shards),
            "kept in the workers' memory" if keep else "read again in every round",
        )  # fmt: skip

    def release(self) -> None:
        """Forget everything on the cluster; the next round starts from the beginning."""
        self._described = self._kept = None
        self._shared.clear()

    @property
    def n_kept(self) -> int:
        """Number of blocks that the workers keep from round to round."""
        return 0 if self._kept is None else len(self.source.spans)

    def _cut(self) -> list[tuple[int, int]]:
        """Return shards of 2^j blocks, as large as leaves enough of them."""
        blocks = len(self.source.spans)
        wanted, size = _PER_THREAD * sum(self._workers.values()), 1
        a_block = self.source.nbytes / blocks
        while -(-blocks // (2 * size)) >= wanted and 2 * size * a_block <= _SHARD_BYTES:
            size *= 2
        return spans(blocks, size)

    def _fits(self) -> bool:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [worker.get("memory_limit") or float("inf") for worker in workers]
        return bool(self.source.nbytes <= _KEPT_SHARE * sum(limits))

    def _load(self, i: int) -> Any:
        """Return a future of the blocks of a shard; neighbors together, so that sums stay there."""
        threads = [address for address, n in sorted(self._workers.items()) for _ in range(n)]
        home = threads[i * len(threads) // len(self._shards)]
        args = (self._described, *self._shards[i])
        return self._submit(_load, *args, what="load", workers=[home], allow_other_workers=True)

    def _submit(self, function: Any, *args: Any, what: str, **options: Any) -> Any:
        """Return a future of a function's result; ``what`` it does is for people."""
        key = f"eigengraphs-{what}-{next(self._count)}-{self._name}"
        return self.client.submit(function, *args, key=key, pure=False, **options)

    def _once(self, data: bytes, what: str) -> Any:
        """Return a future of what was pickled, which workers hand on to each other."""
        import dask

        # That it goes once is the point; Dask advises against sending much more than once.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self._submit(pickle.loads, data, what=what, priority=20)

    def _on_cluster(self, shared: Any, record: Round) -> Any:
        """Return a future of what stays the same from round to round, sent if it is not there."""
        if shared is None:
            return None
        known = self._shared.get(id(shared))
        if known is None:
            data = _pickled(shared)
            record.bytes_sent += len(data)
            known = self._once(data, "shared")
            try:
                weakref.finalize(shared, self._shared.pop, id(shared), None).atexit = False
            except TypeError:  # nobody can tell when it is gone: for this round alone
                return known
            self._shared[id(shared)] = known
        return known

    # ------------------------------------------------------------------ rounds

    def total(self, task: Task, shared: Any) -> Any:
        """Return the sum of a task over all blocks."""
        with self._round(task) as record:
            pieces = self._pieces(task, shared, record, adding=True)
            sums: list[Any] = []
            while some := list(islice(pieces, _FAN_IN)):  # added at once, before more pile up
                sums.append(self._added(some, last=len(self._shards) <= _FAN_IN))
            while len(sums) > 1:
                cuts, last = spans(len(sums), _FAN_IN), len(sums) <= _FAN_IN
                sums = [self._added(sums[lo:hi], last=last) for lo, hi in cuts]
            return self._result(sums.pop(), record)

    def _added(self, parts: list[Any], *, last: bool) -> Any:
        """Return a future of a sum over neighboring parts."""
        return self._submit(_add, parts, last, what="add", priority=10)

    def each(self, task: Task, shared: Any) -> Iterator[Any]:
        """Yield what a task returns for each block; few shards are ahead of the one awaited."""
        with self._round(task) as record:
            ahead = 2 * sum(self._workers.values()) + 1
            waiting: deque[Any] = deque()
            for future in self._pieces(task, shared, record, adding=False):
                waiting.append(future)
                if len(waiting) > ahead:
                    yield from self._result(waiting.popleft(), record)
            while waiting:
                yield from self._result(waiting.popleft(), record)

    def _pieces(self, task: Any, shared: Any, record: Round, *, adding: bool) -> Iterator[Any]:
        """Yield a future of the task's results for each shard.

        A task with an array that has a row for each graph goes to a shard with its rows alone; the
        rest is the same for all.
        """
        by_rows = getattr(task, "rows", None) is not None
        common: Any = _pickled(task.part(0, 0) if by_rows else task)
        if len(common) * len(self._shards) > _SMALL:
            record.bytes_sent += len(common)
            common = self._once(common, "task")
        shared, graphs = self._on_cluster(shared, record), self.source.spans
        for i, (lo, hi) in enumerate(self._shards):
            rows = None
            if by_rows:
                part = task.part(graphs[lo][0], graphs[hi - 1][1])
                rows = (part.rows, part.first)
                record.bytes_sent += part.rows.nbytes
            if isinstance(common, bytes):
                record.bytes_sent += len(common)
            blocks = self._described if self._kept is None else self._kept[i]
            yield self._submit(_work, blocks, lo, hi, common, shared, rows, adding, what="work")

    @contextmanager
    def _round(self, task: Any) -> Iterator[Round]:
        begin = time.perf_counter()
        self._require_client()
        try:
            self.start()
            record = Round(len(self.records) + 1, _name_of(task), len(self.source.spans))
            yield record
            record.lost += self._look()
        except ClusterError:
            self.release()  # what was there is lost
            raise
        record.seconds = time.perf_counter() - begin
        self.records.append(record)
        if record.lost:
            logger.warning(
                "lost in round %d (%s): worker %s; its blocks were loaded again by the %d workers "
                "that are left", record.number, record.task, ", ".join(record.lost),
                len(self._workers),
            )  # fmt: skip
            if self._kept is not None and self._keep is None and not self._fits():
                logger.warning("the graphs no longer fit: from now on, every round reads them")
                self._kept = None

    def _result(self, future: Any, record: Round) -> Any:
        """Return the result, or raise the error with the name of the block."""
        import distributed
        from distributed.scheduler import KilledWorker

        wait: Any = distributed.wait

        try:
            while not future.done():
                try:
                    wait([future], timeout=_TICK)
                except TimeoutError:
                    record.lost += self._look()
            found = future.result()
        except (CancelledError, OSError) as error:
            raise self._gone() from error
        except KilledWorker as error:
            raise ClusterError(
                f"four workers died one after the other on the same piece of work ({future.key}):"
                " most likely it takes more memory than a worker has; use smaller blocks, workers "
                "with more memory, or keep=False" + _RESUME
            ) from error
        except ImportError as error:
            raise ClusterError(
                f"the workers of {self._address} cannot import what they need ({error}); install "
                "eigengraphs there, in the version that is used here"
            ) from error
        finally:
            future.release()  # an error would keep it for a while
        if isinstance(found, _Failed):
            self.release()  # the block may be whole when it is read again
            raise found.named(self.source)
        record.bytes_received += _size(found)
        return _aligned(found)

    # ------------------------------------------------------------------ whether it is there

    def _look(self) -> list[str]:
        """Return the workers that were lost since the last look, or raise if all hope is lost."""
        self._require_client()
        try:
            found = dict(self.client.nthreads(callback_timeout=self._patience))
        except (OSError, TimeoutError, CancelledError) as error:
            if self.client.status != "running" or self._waited():
                raise self._gone() from error
            return []
        lost = [address for address in self._workers if address not in found]
        self._workers = found
        if found:
            self._well = time.monotonic()
        elif self._waited():
            raise ClusterError(
                f"no worker is left on the cluster {self._address}, and none came back within "
                f"{self._patience:g} s: start workers, or wait longer for them (patience)" + _RESUME
            )
        return lost

    def _waited(self) -> bool:
        return time.monotonic() - self._well > self._patience

    def _require_client(self) -> None:
        """Raise if the client was closed, or has lost its scheduler."""
        if self.client.status != "running":
            raise self._gone()

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return str(scheduler.address if scheduler is not None else "that was connected")

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"the scheduler of the cluster {self._address} is gone or does not answer: look at its "
            "log, start the cluster again, and connect again" + _RESUME
        )


# ---------------------------------------------------------------------- what runs on the workers


@dataclass(frozen=True)
class _Failed:
    """In the place of a result: what went wrong with a block.

    Returned and not raised: the workers' logs would fill with it, and Dask would try again.
    """

    error: Exception
    k: int

    @classmethod
    def of(cls, error: Exception, k: int) -> Self:
        """Take an error along: itself, if it can travel, or one that says the same."""
        try:
            travels = type(pickle.loads(pickle.dumps(error))) is type(error)  # noqa: S301  # our own
        except Exception:  # whatever it is, it does not travel
            travels = False
        return cls(error if travels else ClusterError(f"{type(error).__name__}: {error}"), k)

    def named(self, source: BlockedStack) -> Exception:
        """Return the error with the name of its block in front."""
        (lo, hi), names, error = source.spans[self.k], source.graph_names, self.error
        where = f"block {self.k} (graphs {names[lo]} to {names[hi - 1]})"
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (f"{where}: {error.args[0]}",)
        else:
            error.add_note(where)
        return error


def _load(source: BlockedStack, lo: int, hi: int) -> list[Block] | _Failed:
    """Return blocks lo to hi."""
    blocks: list[Block] = []
    try:
        for k in range(lo, hi):
            with alone():
                blocks.append(Block(source.read_block(k), *source.spans[k]))
    except Exception as error:  # of any kind, to be raised by the client
        return _Failed.of(error, k)
    return blocks


def _work(
    blocks: Any, lo: int, hi: int, task: Any, shared: Any, rows: Any, adding: bool
) -> list[Any] | _Failed:
    """Return sums of a task over blocks lo to hi, or its results; they are kept, or read here."""
    task = pickle.loads(task) if isinstance(task, bytes) else task  # noqa: S301  # our own
    task = task if rows is None else task.with_rows(*rows)
    results, total = [], PairedSum(lo)
    for k in range(lo, hi):
        kept = _load(blocks, k, k + 1) if isinstance(blocks, BlockedStack) else blocks
        if isinstance(kept, _Failed):
            return kept
        block = kept[0 if isinstance(blocks, BlockedStack) else k - lo]
        try:
            with alone(), one_blas_thread():
                result = task(block, shared)
        except Exception as error:  # of any kind, to be raised by the client
            return _Failed.of(error, k)
        while len(block.memo) > _KEPT_OPERATORS:
            del block.memo[next(iter(block.memo))]
        if adding:
            total.add(result)
        else:
            results.append(result)
    return total.branches if adding else results


def _add(parts: Sequence[list[Branch] | _Failed], last: bool) -> Any:
    """Return sums over neighboring parts; none of them is changed, as they may be asked again."""
    branches: list[Branch] = []
    for part in parts:
        if isinstance(part, _Failed):
            return part
        branches += part
    total = PairedSum(branches[0][0])
    for _, level, term in branches:
        total.add(term, level)
    return total.result() if last else total.branches


def _pickled(value: Any) -> bytes:
    """Return what workers can make the same value of."""
    from distributed.protocol import pickle as dask_pickle

    dumps: Any = dask_pickle.dumps  # by cloudpickle where it takes that
    try:
        return bytes(dumps(value))
    except Exception as error:
        raise ClusterError(
            f"{_name_of(value)} cannot be sent to the workers of a cluster: it cannot be pickled "
            f"({error})"
        ) from error


def _name_of(task: Any) -> str:
    """Return what a task is called in records and messages."""
    inner = getattr(task, "task", None)  # of a solver's, inside ours
    name = str(getattr(task, "method", None) or getattr(task, "__name__", type(task).__name__))
    return (name if inner is None else type(inner).__name__).lstrip("_")


def _aligned(result: Any) -> Any:
    """Return a result whose arrays begin where arrays do: elsewhere, BLAS gives other last bits."""
    if isinstance(result, tuple | list):
        return type(result)(map(_aligned, result))
    if isinstance(result, np.ndarray) and not (result.flags.aligned and result.flags.writeable):
        return result.copy(order="K")
    return result


def _size(result: Any) -> int:
    """Return the bytes of arrays in a result."""
    if isinstance(result, tuple | list):
        return sum(map(_size, result))
    if hasattr(result, "indptr"):
        return int(result.data.nbytes + result.indices.nbytes + result.indptr.nbytes)
    return int(getattr(result, "nbytes", 8))
