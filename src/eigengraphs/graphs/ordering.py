"""The order in which results of blocks are added up, and what else must not depend on workers.

Rounding depends on the order of a sum. Threads of one process add in the order of the blocks;
a cluster adds in pairs, neighbours first, wherever the blocks are. Both come out the same for any
number of threads or workers, but not the same as each other; and a cluster may take another way to
the same numbers, by what its workers have room for. Where the order is fixed, there is one way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

__all__ = ["PairedSum", "add_up", "fixed_order", "order_is_fixed"]

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


class PairedSum:
    """A sum in pairs, neighbours first: a branch of the tree is the same sum anywhere.

    Keeps as many partial sums as the number of terms has binary digits.
    """

    def __init__(self) -> None:
        self._sums: list[tuple[int, Any]] = []  # of 2^level terms each, the levels falling

    def add(self, term: Any) -> None:
        """Add the next term, which may be changed."""
        level = 0
        while self._sums and self._sums[-1][0] == level:
            term = add_up(self._sums.pop()[1], term)
            level += 1
        self._sums.append((level, term))

    def result(self) -> Any:
        """Return the sum of all terms; ends it."""
        total = self._sums.pop()[1]
        while self._sums:
            total = add_up(self._sums.pop()[1], total)
        return total


def add_up(total: Any, part: Any) -> Any:
    """Return the sum of two results, arrays or tuples of them; the first may be changed."""
    if isinstance(total, tuple):
        return tuple(add_up(a, b) for a, b in zip(total, part, strict=True))
    if isinstance(total, np.ndarray) and total.flags.writeable:
        total += part
        return total
    return total + part
