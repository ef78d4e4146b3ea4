"""Parallel work: threads over blocks, the order of sums, one BLAS thread, compilation.

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
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba.core import event
from threadpoolctl import ThreadpoolController  # scikit-learn requires it, so it is there

S = TypeVar("S")
T = TypeVar("T")


class _Here(threading.local):
    """Whether this thread is one of those that use all cores already."""

    taken = False


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
    """Yield work(item) for every item, in order.

    ``work`` is called in threads, and starts none of its own. At most as many results as there are
    threads wait at any time; after an error or Ctrl-C, nothing is begun.
    """
    if _here.taken:
        yield from map(work, items)
        return
    threads = thread_count() if threads is None else threads
    under_way: deque[Future[T]] = deque()
    try:
        for item in items:
            under_way.append(_pool(threads).submit(work, item))
            if len(under_way) > threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        wait([future for future in under_way if not future.cancel()])


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads to work with.

    Kept from call to call: starting them takes as long as a product with a small matrix.
    """
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, initializer=_begin_working)
    return _pools[threads]


def _begin_working() -> None:
    _here.taken = True


if hasattr(os, "register_at_fork"):  # a child has none of the threads
    os.register_at_fork(after_in_child=_pools.clear)


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
    # Whoever is free takes the next block: were they given out, one on a slow core would leave the
    # others without work.
    todo, results, errors = enumerate(blocks), dict[int, T](), dict[int, BaseException]()
    room = threading.Semaphore(len(blocks) if gather is None else threads + 1)  # not yet gathered
    news = threading.Semaphore(0)

    def one_more(wait: bool) -> tuple[int, tuple[int, int]] | None:
        """Return the next block, if there is one and room for its result."""
        return None if errors or not room.acquire(wait) else next(todo, None)

    def take_part() -> None:
        while (item := one_more(True)) is not None:
            try:
                results[item[0]] = work(*item[1])
            except BaseException as error:  # of any thread, to be raised in the one that asked
                errors[item[0]] = error
            news.release()

    others: list[Future[None]] = []
    n_gathered = 0
    try:
        for _ in range(threads - 1):  # this thread is the last of them
            others.append(_pool(threads - 1).submit(take_part))
        while n_gathered < len(blocks) and not errors:
            if n_gathered in results:
                result = results.pop(n_gathered)
                if gather is not None:
                    gather(result)
                n_gathered += 1
                room.release()
            elif (item := one_more(False)) is None:
                news.acquire()
            else:
                try:
                    results[item[0]] = work(*item[1])
                except BaseException as error:
                    errors[item[0]] = error
    finally:
        # After an error, or Ctrl-C: no new blocks; those that run are short.
        deque(todo, maxlen=0)
        room.release(threads)
        wait(future for future in others if not future.cancel())
    if errors:
        first = min(errors, key=lambda k: (isinstance(errors[k], Exception), k))  # Ctrl-C first
        try:
            raise errors[first]
        finally:
            errors.clear()  # or the error would keep what it came from, and itself
            results.clear()
            del work, one_more


# ---------------------------------------------------------------------- the order of sums
#
# Rounding depends on the order of a sum. Threads of one process add in the order of the blocks;
# a cluster adds in pairs, neighbors first, wherever the blocks are. Both come out the same for any
# number of threads or workers, but not the same as each other; and a cluster may take another way
# to the same numbers, by what its workers have room for. Where the order is fixed, there is one
# way.

_fixed: ContextVar[bool] = ContextVar("fixed order", default=False)

order_is_fixed = _fixed.get


@contextmanager
def fixed_order(fixed: bool = True) -> Iterator[None]:
    """Use one route, with sums in pairs, until the end of the ``with`` block."""
    token = _fixed.set(fixed)
    try:
        yield
    finally:
        _fixed.reset(token)


Branch: TypeAlias = tuple[int, int, Any]  # place of its first term, level, sum of 2^level terms


class PairedSum:
    """A sum in pairs, neighbors first: a branch of the tree is the same sum anywhere.

    Keeps as many partial sums as the number of terms has binary digits, or twice as many if it
    begins in the middle of a sum. Terms are not changed.

    Parameters
    ----------
    first : int
        Place of the first term in the whole sum.
    """

    def __init__(self, first: int = 0) -> None:
        self._next = first
        #: The partial sums: what remains to be added depends on the terms before and behind.
        self.branches: list[Branch] = []

    def add(self, term: Any, level: int = 0) -> None:
        """Add the next term, or the next branch of 2^level terms."""
        place, sums = self._next, self.branches
        self._next += 2**level
        # The left one of two neighbors begins at a multiple of the length of both.
        while sums and sums[-1][1] == level and sums[-1][0] % 2 ** (level + 1) == 0:
            place, _, before = sums.pop()
            term = _plus(before, term)
            level += 1
        sums.append((place, level, term))

    def result(self) -> Any:
        """Return the sum of all terms, of which the first has place 0; ends it."""
        total = self.branches.pop()[2]
        while self.branches:
            total = _plus(self.branches.pop()[2], total)
        return total


def _plus(a: Any, b: Any) -> Any:
    return tuple(map(_plus, a, b)) if isinstance(a, tuple) else a + b


def add_up(total: Any, part: Any) -> Any:
    """Return the sum of two results, arrays or tuples of them; the first may be changed."""
    if isinstance(total, tuple):
        return tuple(map(add_up, total, part))
    if isinstance(total, np.ndarray) and total.flags.writeable:
        total += part
        return total
    return total + part


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

    The limit holds for the whole process. If each fit restored what it found, a fit that
    began inside another would restore the limit permanently.
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
        """Record the start of a compilation."""
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
        """Record the end of a compilation."""


@cache
def announce_compiling() -> None:
    """Have the first compilation of a kernel in this process announced."""
    event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call] # numba has no types
