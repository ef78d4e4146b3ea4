"""How kernels are run: threads over blocks, one BLAS thread below them, and a word on compiling.

Kernels and BLAS release the GIL. Blocks are cut by size and never by the number of threads, so
that bits do not depend on it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Generic, TypeVar

from numba.core import event
from threadpoolctl import ThreadpoolController  # scikit-learn requires it, so it is there

__all__ = [
    "alone", "announce_compiling", "in_order", "on_blocks", "one_blas_thread", "spans",
    "thread_count",
]  # fmt: skip

S = TypeVar("S")
T = TypeVar("T")


class _Here(threading.local):
    """Whether all cores are at work already, and this thread is one of those that use them."""

    taken = False
    working = False  # for :func:`on_blocks`


_pools: dict[int, ThreadPoolExecutor] = {}  # by the number of threads


_here = _Here()


@contextmanager
def alone() -> Iterator[None]:
    """Use no further threads in this one: others like it use the other cores."""
    before, _here.taken = _here.taken, True
    try:
        yield
    finally:
        _here.taken = before


def in_order(
    work: Callable[[S], T], items: Iterable[S], *, threads: int | None = None
) -> Iterator[T]:
    """Yield work(item) for every item, in order; few results wait at any time.

    ``work`` is called in threads, and starts none of its own.
    """

    def one(item: S) -> T:
        with alone():
            return work(item)

    threads = thread_count() if threads is None else threads
    under_way: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for item in items:
            under_way.append(pool.submit(one, item))
            if len(under_way) > threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def thread_count() -> int:
    """Return EIGENGRAPHS_THREADS if that is a whole number from 1 on, else the cores we may use."""
    wish = os.environ.get("EIGENGRAPHS_THREADS", "").strip()
    if wish.isdecimal() and int(wish) >= 1:
        return int(wish)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spans(size: int, step: int) -> list[tuple[int, int]]:
    """Return (0, step), (step, 2 step), ..., the last one ending at ``size``.

    Sums over blocks come out the same for any number of threads as long as ``step`` does not
    depend on it.
    """
    step = max(1, step)
    begins = range(0, size, step)
    return list(zip(begins, [*begins[1:], size], strict=True)) if size > 0 else []


def on_blocks(
    work: Callable[[int, int], T],
    blocks: Iterable[tuple[int, int]],
    gather: Callable[[T], Any] | None = None,
    *,
    threads: int | None = None,
) -> None:
    """Run ``work(lo, hi)`` on each block, and ``gather`` on the results, in order.

    Parameters
    ----------
    work
        Called in threads, this one among them; what it raises is raised here, after the blocks
        under way.
    blocks
        Ends of the blocks.
    gather : callable, optional
        Called in this thread with the results in the order of the blocks. Few of them wait for
        it at any time. After an error no further ones are gathered.
    threads : int, optional
        How many; :func:`thread_count` by default. With 1, everything happens in this thread.
    """
    blocks = list(blocks)
    threads = 1 if _here.taken else thread_count() if threads is None else threads
    threads = min(len(blocks), threads)
    if threads <= 1:
        for lo, hi in blocks:
            result = work(lo, hi)
            if gather is not None:
                gather(result)
        return
    queue = _Queue(work, blocks, None if gather is None else threads + 1)
    pool = _pool(threads - 1)  # this thread is the last of them
    others: list[Future[None]] = []
    try:
        for _ in range(threads - 1):
            others.append(pool.submit(queue.run))
        queue.run(gather, here=True)
    finally:
        # After an error, or Ctrl-C: no new blocks; those that run are short.
        queue.stop()
        wait(future for future in others if not future.cancel())
        if _here.working:
            pool.shutdown()
    error = queue.close()
    if error is not None:
        try:
            raise error
        finally:
            del error, queue, work  # or the error would keep what it came from, and itself


class _Queue(Generic[T]):
    """Blocks that threads take, one after the other, whoever is free.

    Without results to gather, no thread waits for another that has a block: were they given out,
    one on a slow core would leave the others without work. With results, few of them may wait.

    Parameters
    ----------
    work
        Called with the ends of a block.
    blocks
        All of them.
    ahead
        Block k is not begun before k - ahead + 1 results are gathered; None if none is.
    """

    def __init__(
        self, work: Callable[[int, int], T], blocks: list[tuple[int, int]], ahead: int | None
    ) -> None:
        self._work, self._blocks, self._ahead = work, blocks, ahead
        self._lock = threading.Lock()  # entered as it is: an interrupt cannot come in between
        self._changed = threading.Condition(self._lock)
        self._next = self._n_done = self._n_gathered = 0
        self._results: dict[int, T] = {}
        self._errors: dict[int, BaseException] = {}
        self._stopped = False

    def run(self, gather: Callable[[T], Any] | None = None, *, here: bool = False) -> None:
        """Do blocks until there are none.

        ``here``, in the thread that asked, gather results in their order, and wait for all.
        """
        has_news = partial(self._has_news, here)
        while True:
            with self._lock:
                self._changed.wait_for(has_news)
                if self._stopped:
                    return
                k, gathered = self._next, self._n_gathered
                has_result = here and gathered in self._results
                if not has_result:
                    if k == len(self._blocks):
                        return
                    self._next += 1
            if has_result:
                assert gather is not None
                gather(self._results.pop(gathered))
                with self._lock:
                    self._n_gathered += 1
                    self._changed.notify_all()
                continue
            try:
                result = self._work(*self._blocks[k])
            except BaseException as error:  # of any thread, to be raised in the one that asked
                self._errors[k] = error
                self.stop()
                return
            with self._lock:
                if self._ahead is not None:
                    self._results[k] = result
                self._n_done += 1
                self._changed.notify_all()
            del result

    def _has_news(self, here: bool) -> bool:
        """Tell whether there is a block to do, a result to gather, or nothing more to wait for."""
        if self._stopped or (here and self._n_gathered in self._results):
            return True
        if self._next < len(self._blocks):
            return self._ahead is None or self._next < self._n_gathered + self._ahead
        done = self._n_done if self._ahead is None else self._n_gathered
        return not here or done == len(self._blocks)

    def stop(self) -> None:
        """Begin no further block."""
        with self._lock:
            self._stopped = True
            self._changed.notify_all()

    def close(self) -> BaseException | None:
        """Return what the first block raised that did, if any; an interrupt before all others."""
        errors = [self._errors[k] for k in sorted(self._errors)]
        errors.sort(key=lambda error: isinstance(error, Exception))
        self._errors.clear()
        self._results.clear()
        del self._work
        return errors[0] if errors else None


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads to work with; a thread of these that asks for some gets others.

    Kept from call to call: starting them takes as long as a product with a small matrix.
    """
    if _here.working:
        return ThreadPoolExecutor(threads)
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, initializer=_begin_working)
    return _pools[threads]


def _begin_working() -> None:
    _here.working = True


if hasattr(os, "register_at_fork"):  # a child has none of the threads
    os.register_at_fork(after_in_child=_pools.clear)


# ---------------------------------------------------------------------- one BLAS thread

_lock = threading.Lock()
_inside = 0
_limits: Any = None


@cache
def _controller() -> Any:
    """Return the BLAS libraries of this process; finding them takes longer than a small fit."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of the fits that run now is done.

    The limit holds for the whole process. Were each fit to restore what it found, one that
    began inside another would put the limit back for good.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = _controller().limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None


# ---------------------------------------------------------------------- compiling


class _Announcer(event.Listener):
    """Print one line when the first kernel of this package is compiled; cached ones are silent."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, event: Any) -> None:
        """Take note of a compilation that begins."""
        module = getattr(event.data["dispatcher"].py_func, "__module__", "")
        if not self._said and module.startswith("eigengraphs."):
            self._said = True
            print(
                "eigengraphs: compiling kernels for this kind of graphs, once (half a minute at "
                "most)",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        """Take note of a compilation that ends."""


_announcer: _Announcer | None = None


def announce_compiling() -> None:
    """Have the first compilation of a kernel in this process announced."""
    global _announcer
    if _announcer is None:
        _announcer = _Announcer()
        event.register("numba:compile", _announcer)  # type: ignore[no-untyped-call] # numba has no types
