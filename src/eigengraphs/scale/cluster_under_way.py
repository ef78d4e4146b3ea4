"""One round on a cluster: the pieces of work that are sent, and what comes back of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from eigengraphs.errors import ClusterError
from eigengraphs.graphs.blocked import BlockedStack
from eigengraphs.scale.cluster_record import Round
from eigengraphs.scale.cluster_tasks import Failed, Sent, work_on_kept, work_on_read
from eigengraphs.scale.cluster_watch import Loss

if TYPE_CHECKING:
    from eigengraphs.scale.cluster_rounds import Rounds

__all__ = ["Run", "UnderWay", "name_of", "pickled", "release"]

logger = logging.getLogger("eigengraphs.scale")

# Bytes that are sent with the pieces of work, all together, before it is better to send them once:
# that takes two steps more, some hundredths of a second.
_SMALL = 2**21


Run: TypeAlias = tuple[int, int]  # of neighbouring shards: the first, and the one behind the last


class Scattered(Exception):
    """A worker was lost: shards that were together may be in several places from now on."""


class UnderWay:
    """One round: what it sends, and what comes back.

    A task may say that its results are small (``slim``). Then those of many shards come together,
    and a piece of work is on all neighbours that one thread has: each takes some hundredths of a
    second, whatever is in it.

    Attributes
    ----------
    slim : bool
    runs : list of Run
        What a piece of work is on.
    losses : list of Loss
    """

    def __init__(self, rounds: Rounds, record: Round, task: Any, shared: Any) -> None:
        self._rounds, self._record = rounds, record
        # Keys, as a future would keep its result on the workers.
        self._keys: list[str | None] = [None] * len(rounds.shards)
        self.losses: list[Loss] = []
        self._task = task
        self.slim = bool(getattr(task, "slim", False))
        self.runs = rounds.runs(together=self.slim)
        self._by_part = callable(getattr(task, "part", None))
        self._by_rows = callable(getattr(task, "with_rows", None))
        self._shared, size = rounds.on_cluster(shared)
        record.bytes_sent += size
        self._data: bytes | None = None  # of what all pieces of work have in common
        if self._by_rows:
            self._by_part = getattr(task, "rows", None) is not None
            self._data = pickled(self._task.part(0, 0) if self._by_part else task)
        elif not self._by_part:
            self._data = pickled(task)
        self._common = self._send()

    def _send(self) -> Any:
        """Return what is sent with every piece of work: itself, or a future of it."""
        if self._data is None or len(self._data) * len(self.runs) <= _SMALL:
            return self._data  # counted with every piece of work
        self._record.bytes_sent += len(self._data)
        return self._rounds.once(self._data, "task")

    def submit(self, run: Run, *, adding: bool) -> Any:
        """Return a future of the task's results for a run of shards."""
        rounds, spans = self._rounds, self._rounds.source.spans
        lo, hi = rounds.shards[run[0]][0], rounds.shards[run[1] - 1][1]
        task, own = self._common, None
        if self._by_part:
            part = self._task.part(spans[lo][0], spans[hi - 1][1])
            if self._by_rows:
                own = Sent(part.rows, part.first)
                self._record.bytes_sent += len(pickled(own))
            else:
                task = pickled(part)
        if isinstance(task, bytes):
            self._record.bytes_sent += len(task)
        rest = (task, self._shared, own, adding)
        if rounds.kept is not None:
            args: tuple[Any, ...] = (work_on_kept, rounds.kept[slice(*run)], lo, *rest)
            future = rounds.submit(*args, what="work")
        else:
            args = (work_on_read, rounds.described, lo, hi, *rest)
            future = rounds.submit(*args, what="read", workers=rounds.home(run[0]))
        self._keys[slice(*run)] = [future.key] * (run[1] - run[0])
        return future

    def result(self, future: Any) -> Any:
        """Return what came of it, or raise what went wrong, with the block's name."""
        try:
            return self.whole(self._rounds.watch.wait(future, self._tell))
        finally:
            release([future])

    def results(self, futures: list[Any]) -> list[Any]:
        """Return what came of several, which come together."""
        try:
            found = self._rounds.watch.wait_all(futures, self._tell)
            return [self.whole(each) for each in found]
        finally:
            release(futures)

    def in_any_case(self, ask: Callable[[], Any]) -> Any:
        """Return what ``ask`` does, which is called again if shards were scattered meanwhile."""
        try:
            return ask()
        except Scattered:
            pass  # and with it goes what keeps the first attempt alive
        # To work on them together would bring them to one place, which may have no room.
        self.runs = self._rounds.runs(together=False)
        self._common = self._send()
        return ask()

    def _tell(self, losses: list[Loss]) -> None:
        concerned = self.tell(losses)
        if concerned and any(hi - lo > 1 for lo, hi in self.runs):
            raise Scattered

    def whole(self, found: Any) -> Any:
        """Return a result, or raise what is in its place, with the block's name."""
        if isinstance(found, Failed):
            self._rounds.release()  # the block may be whole when it is read again
            raise _with_name(found, self._rounds.source)
        self._record.bytes_received += _size(found)
        return found

    def tell(self, losses: list[Loss]) -> bool:
        """Record workers that were lost, and say what that means; tell if they had shards."""
        rounds, record = self._rounds, self._record
        concerned = False
        for loss in losses:
            again = rounds.blocks_of(loss.kept, [future.key for future in rounds.kept or []])
            begun = rounds.blocks_of(loss.under_way, self._keys)
            concerned |= bool(again or begun)
            count = rounds.n_blocks(sorted({*again, *begun} if rounds.kept is None else {*again}))
            record.lost.append(loss.worker)
            record.reloaded += count
            logger.warning(
                "worker %s was lost in round %d (%s): %d of its blocks are loaded again, by the "
                "%d workers that are left; it was working on %d shards",
                loss.worker,
                record.number,
                record.task,
                count,
                len(rounds.watch.workers),
                len(begun),
            )
        self.losses += losses
        return concerned


def release(futures: list[Any]) -> None:
    """Let the workers forget results that are here; errors would keep futures for a while."""
    for future in futures:
        future.release()


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


def pickled(value: Any) -> bytes:
    """Return what workers can make the same value of."""
    from distributed.protocol import pickle

    dumps: Any = pickle.dumps  # by cloudpickle where it takes that
    try:
        return bytes(dumps(value))
    except Exception as error:
        raise ClusterError(
            f"{name_of(value)} cannot be sent to the workers of a cluster: it cannot be pickled "
            f"({error})"
        ) from error


def name_of(task: Any) -> str:
    """Return what a task is called in records and messages."""
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
