"""A place to keep what passes over graphs in blocks return, while a fit runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

__all__ = ["Journal", "journal_in_use", "journaled"]


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
