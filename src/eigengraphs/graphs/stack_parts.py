"""What the methods that make a new stack of a stack ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from eigengraphs.graphs.bits import Words
from eigengraphs.graphs.build import Storage
from eigengraphs.graphs.facts import EntryBits, GraphFacts
from eigengraphs.graphs.mask import Mask

__all__ = ["StackParts"]


class StackParts(ABC):
    """What transforms know of a :class:`~eigengraphs.GraphStack`; none changes the stack itself."""

    __slots__ = ()
    _storage: Storage
    _facts: GraphFacts
    _graph_names: tuple[str, ...] | None
    _vertex_names: tuple[str, ...] | None
    _mask: Mask | None
    _words: Words | None
    _entry_bits: EntryBits | None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int]:
        """(m, n, n)."""

    @property
    @abstractmethod
    def vertex_names(self) -> tuple[str, ...]:
        """Names of the vertices."""

    @classmethod
    @abstractmethod
    def _make(
        cls,
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
        mask: Mask | None = None,
        words: Words | None = None,
    ) -> Self: ...

    @abstractmethod
    def _graph(self, i: int) -> Any:
        """Return one graph, hidden entries 0."""

    @abstractmethod
    def _label(self, i: int) -> str: ...

    @abstractmethod
    def _entry(self, s: int, t: int) -> str: ...

    def _changed(self, storage: Storage, mask: Mask | None = None) -> Self:
        return self._make(storage, None, self._graph_names, self._vertex_names, mask)
