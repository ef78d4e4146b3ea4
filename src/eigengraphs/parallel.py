"""Threads over blocks of graphs or rows. Kernels and BLAS below release the GIL and use one."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["alone", "in_order", "on_blocks", "spans", "thread_count"]

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
    return [(lo, min(size, lo + step)) for lo in range(0, size, step)]


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
        it at any time.
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
    under_way: deque[tuple[Future[T], tuple[int, int]]] = deque()
    pool = _pool(threads - 1)  # this thread is the last of them

    def finish_first() -> None:
        while not under_way[0][0].done() and _take_over(work, under_way):
            pass
        result = under_way.popleft()[0].result()
        if gather is not None:
            gather(result)

    try:
        for lo, hi in blocks:
            under_way.append((pool.submit(work, lo, hi), (lo, hi)))
            if len(under_way) > threads:
                finish_first()
        while under_way:
            finish_first()
    finally:
        # After an error, or Ctrl-C: no new blocks; those that run are short.
        for future, _ in under_way:
            future.cancel()
        wait(future for future, _ in under_way)
        if _here.working:
            pool.shutdown()


def _take_over(
    work: Callable[[int, int], T], under_way: deque[tuple[Future[T], tuple[int, int]]]
) -> bool:
    """Do the last block that no thread has begun in this one; tell whether there was one.

    A thread that waited for others would leave a core alone and, where cores are few and others
    use them, wait long.
    """
    for place in range(len(under_way) - 1, -1, -1):
        future, block = under_way[place]
        if future.cancel():
            done: Future[T] = Future()
            done.set_result(work(*block))
            under_way[place] = (done, block)
            return True
    return False


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
