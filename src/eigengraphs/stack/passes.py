"""How passes over blocks are taken: the order of their sums, and a journal of what they returned.

Rounding depends on the order of a sum. Threads of one process add in the order of the blocks;
a cluster adds in pairs, neighbors first, wherever the blocks are. Both come out the same for any
number of threads or workers, but not the same as each other; and a cluster may take another way to
the same numbers, by what its workers have room for. Where the order is fixed, there is one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

import numpy as np

__all__ = [
    "Branch", "Journal", "PairedSum", "add_up", "fixed_order", "journal_in_use", "journaled",
    "order_is_fixed",
]  # fmt: skip

_fixed: ContextVar[bool] = ContextVar("fixed order", default=False)


@contextmanager
def fixed_order(fixed: bool = True) -> Iterator[None]:
    """Go the one way, with sums in pairs, until the end of the ``with`` block."""
    token = _fixed.set(fixed)
    try:
        yield
    finally:
        _fixed.reset(token)


def order_is_fixed() -> bool:
    """Tell whether the ``with`` block around is one of :func:`fixed_order`."""
    return _fixed.get()


Branch: TypeAlias = tuple[int, int, Any]  # place of its first term, level, sum of 2^level terms


class PairedSum:
    """A sum in pairs, neighbors first: a branch of the tree is the same sum anywhere.

    Keeps as many partial sums as the number of terms has binary digits, or twice as many if it
    begins in the middle of a sum.

    Parameters
    ----------
    first : int
        Place of the first term in the whole sum.
    plus : callable
        Adds two terms; by default the first of them may be changed.
    """

    def __init__(self, first: int = 0, plus: Callable[[Any, Any], Any] | None = None) -> None:
        self._next, self._plus = first, add_up if plus is None else plus
        self._sums: list[Branch] = []

    def add(self, term: Any, level: int = 0) -> None:
        """Add the next term, or the next branch of 2^level terms."""
        place = self._next
        self._next += 2**level
        # The left one of two neighbors begins at a multiple of the length of both.
        while (
            self._sums and self._sums[-1][1] == level and self._sums[-1][0] % 2 ** (level + 1) == 0
        ):
            place, _, before = self._sums.pop()
            term = self._plus(before, term)
            level += 1
        self._sums.append((place, level, term))

    @property
    def branches(self) -> list[Branch]:
        """The partial sums: what remains to be added depends on the terms before and behind."""
        return self._sums

    def result(self) -> Any:
        """Return the sum of all terms, of which the first has place 0; ends it."""
        total = self._sums.pop()[2]
        while self._sums:
            total = self._plus(self._sums.pop()[2], total)
        return total


def add_up(total: Any, part: Any) -> Any:
    """Return the sum of two results, arrays or tuples of them; the first may be changed."""
    if isinstance(total, tuple):
        return tuple(add_up(a, b) for a, b in zip(total, part, strict=True))
    if isinstance(total, np.ndarray) and total.flags.writeable:
        total += part
        return total
    return total + part


# ---------------------------------------------------------------- a journal of passes


class Journal(Protocol):
    """Keeps what passes return. A question is the graphs, the task and what is shared."""

    def each(self, question: tuple[Any, ...], ask: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        """Yield what was returned for each block, or ask."""
        ...

    def total(self, question: tuple[Any, ...], ask: Callable[[], Any]) -> Any:
        """Return what was returned, or ask."""
        ...


_journal: ContextVar[Journal | None] = ContextVar("journal", default=None)


@contextmanager
def journaled(journal: Journal) -> Iterator[None]:
    """Keep what all passes return, until the end of the ``with`` block."""
    token = _journal.set(journal)
    try:
        yield
    finally:
        _journal.reset(token)


def journal_in_use() -> Journal | None:
    """Return the journal of the ``with`` block around, if there is one."""
    return _journal.get()
