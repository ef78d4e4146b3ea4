"""Graphs that come in blocks, some of them, after some transforms: done when a block is read."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.graphs.blocked import Block, BlockedStack
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.stack.stack import GraphStack

__all__ = ["LazyStack", "block_bytes"]

# The name of a method of a stack that treats each graph on its own, and its arguments.
Step: TypeAlias = tuple[str, tuple[Any, ...]]

_KEEP_FACTS = frozenset({"to_dense", "to_sparse"})
_MORE_ENTRIES = frozenset({"symmetrize"})  # at most twice as many
_MOST = 64 * 2**20  # bytes of a block; larger ones win nothing


def block_bytes(memory: int) -> int:
    """Return the size that a block may have, in memory: some are under way at the same time."""
    return max(1, min(_MOST, memory // 32))


class LazyStack(BlockedStack):
    """Some graphs of another stack in blocks, changed block by block when they are read.

    Immutable and light: the stack it is made of, places, steps and names. Facts of graphs that a
    step has changed come from one pass, when they are first asked for.
    """

    __slots__ = ("_base", "_facts_known", "_new", "_pieces", "_places", "_steps")

    _base: BlockedStack
    _places: NDArray[np.intp] | None  # sorted; None for all
    _steps: tuple[Step, ...]
    _facts_known: GraphFacts | None
    _pieces: tuple[tuple[int, int, int, int], ...] | None
    _new: tuple[tuple[str, ...] | None, tuple[str, ...] | None]  # names of graphs, of vertices

    @classmethod
    def of(cls, stack: BlockedStack) -> LazyStack:
        """Return the stack as one to which steps can be added."""
        return stack if isinstance(stack, cls) else cls._with(stack, None, (), (None, None), None)

    @classmethod
    def _with(
        cls,
        base: BlockedStack,
        places: NDArray[np.intp] | None,
        steps: tuple[Step, ...],
        new: tuple[tuple[str, ...] | None, tuple[str, ...] | None],
        facts: GraphFacts | None,
    ) -> LazyStack:
        stack: LazyStack = object.__new__(cls)
        for name, value in {
            "_base": base,
            "_places": places,
            "_steps": steps,
            "_new": new,
            "_facts_known": facts,
            "_pieces": None,
            "_mask": None,
        }.items():
            object.__setattr__(stack, name, value)
        return stack

    def chosen(self, which: NDArray[np.intp]) -> LazyStack:
        """Return some of the graphs; their places must rise."""
        places = which if self._places is None else self._places[which]
        graph, vertex = self._new
        graph = graph and tuple(graph[i] for i in which)
        known = self._facts_known
        facts = None if known is None else known.take(which)
        return self._with(self._base, places, self._steps, (graph, vertex), facts)

    def then(self, name: str, *arguments: Any) -> LazyStack:
        """Return the graphs after one more step."""
        if name != "select_vertices":
            # What is wrong with the arguments shows now, and not in the middle of a pass.
            tiny = GraphStack(np.zeros((1, 1, 1), self.dtype))
            getattr(tiny.to_sparse() if self.is_sparse else tiny, name)(*arguments)
        graph, vertex = self._new
        if name == "select_vertices" and vertex is not None:
            vertex = tuple(vertex[s] for s in arguments[0])
        facts = self._facts_known if name in _KEEP_FACTS else None
        steps = (*self._steps, (name, arguments))
        return self._with(self._base, self._places, steps, (graph, vertex), facts)

    def named(self, graph: tuple[str, ...] | None, vertex: tuple[str, ...] | None) -> LazyStack:
        """Return the graphs under other names; None leaves those they have."""
        new = (graph or self._new[0], vertex or self._new[1])
        return self._with(self._base, self._places, self._steps, new, self._facts_known)

    def __reduce__(self) -> tuple[Any, ...]:
        places: Any = self._places
        if places is not None and places[-1] - places[0] + 1 == len(places):
            places = (int(places[0]), int(places[-1]) + 1)
        return _again, (self._base, places, self._steps, self._new)

    # ------------------------------------------------------------------ blocks

    def _cut(self) -> tuple[tuple[int, int, int, int], ...]:
        """Return (block of the base, its first place, lo, hi) of every block here."""
        if self._pieces is not None:
            return self._pieces
        most_graphs = self._base.n_graphs
        if self._base.is_sparse and not self.is_sparse:
            n = self.n_vertices
            most_graphs = max(1, block_bytes(self.memory) // (n * n * self.dtype.itemsize))
        pieces = []
        for k, (first, end) in enumerate(self._base.spans):
            lo, hi = first, end
            if self._places is not None:
                lo, hi = (int(x) for x in np.searchsorted(self._places, (first, end)))
            while lo < hi:
                step = min(hi, lo + most_graphs)
                pieces.append((k, first, lo, step))
                lo = step
        object.__setattr__(self, "_pieces", tuple(pieces))
        return tuple(pieces)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first graph of each block, and the one behind its last."""
        return tuple((lo, hi) for _, _, lo, hi in self._cut())

    @property
    def memory(self) -> int:
        """Bytes that work on the graphs may take, besides results."""
        return self._base.memory

    @property
    def fingerprint(self) -> str:
        """Tells these graphs from others: by the base, the places and the steps."""
        digest = sha256(self._base.fingerprint.encode())
        digest.update(pickle.dumps((self._places, self._steps), protocol=5))
        return digest.hexdigest()

    def read_block(self, k: int) -> GraphStack:
        """Return the graphs of block k, in memory."""
        _, _, lo, hi = self._cut()[k]
        return self.read_part(k, 0, hi - lo)

    def read_part(self, k: int, lo: int, hi: int) -> GraphStack:
        """Return graphs lo to hi of block k, counted from its first, in memory."""
        block, first, start, _ = self._cut()[k]
        lo, hi = lo + start, hi + start
        local = np.arange(lo, hi) if self._places is None else self._places[lo:hi]
        local = local - first
        graphs = self._base.read_part(block, int(local[0]), int(local[-1]) + 1)
        if len(local) < graphs.n_graphs:
            graphs = graphs[local - local[0]]
        graph, vertex = self._new
        try:
            for name, arguments in self._steps:
                graphs = getattr(graphs, name)(*arguments)
        except InputError as error:
            counted = f" (counted from graph {lo + 1} (index {lo}) of the stack)" if lo else ""
            raise type(error)(f"{error}{counted}") from None
        if graph is None and vertex is None:
            return graphs
        return graphs.with_names(graph_names=graph and graph[lo:hi], vertex_names=vertex)

    # ------------------------------------------------------------------ as a stack

    @property
    def _facts(self) -> GraphFacts:  # type: ignore[override]
        # Not kept in a journal, whose questions hold them.
        return self.facts_by(self._each)

    def facts_by(self, each: Callable[[Any, Any], Iterator[Any]]) -> GraphFacts:
        """Return the facts; if they are not known, ``each`` asks all blocks."""
        facts: GraphFacts | None = self._facts_known
        if facts is None:
            if all(name in _KEEP_FACTS for name, _ in self._steps):
                facts = self._base.facts
                if self._places is not None:
                    facts = facts.take(self._places)
            else:
                facts = GraphFacts.joined(list(each(_facts_of, None)))
            object.__setattr__(self, "_facts_known", facts)
        return facts

    @property
    def _graph_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        if self._new[0] is not None:
            return self._new[0]
        names = self._base._graph_names
        if names is None or self._places is None:
            return names
        return tuple(names[i] for i in self._places)

    @property
    def _vertex_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        if self._new[1] is not None:
            return self._new[1]
        names = self._base._vertex_names
        for name, arguments in self._steps:
            if name == "select_vertices" and names is not None:
                names = tuple(names[s] for s in arguments[0])
        return names

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return self._base.n_graphs if self._places is None else len(self._places)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        chosen = [len(args[0]) for name, args in self._steps if name == "select_vertices"]
        return chosen[-1] if chosen else self._base.n_vertices

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        kinds = [args[0] for name, args in self._steps if name == "astype"]
        return np.dtype(kinds[-1]) if kinds else self._base.dtype

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are kept as flat CSR matrices."""
        forms = [name for name, _ in self._steps if name in ("to_dense", "to_sparse")]
        return forms[-1] == "to_sparse" if forms else self._base.is_sparse

    @property
    def nbytes(self) -> int:
        """Bytes that all graphs would take; of sparse ones the most, until facts are known."""
        m, n, _ = self.shape
        if not self.is_sparse:
            return m * n * n * self.dtype.itemsize
        if self._facts_known is not None or not self._steps:
            entries = int(self._facts.n_nonzero.sum())
        else:
            counts = self._base.facts.n_nonzero
            entries = int((counts if self._places is None else counts[self._places]).sum())
            entries *= 2 ** sum(name in _MORE_ENTRIES for name, _ in self._steps)
            if not self._base.is_sparse and any(name == "binarize" for name, _ in self._steps):
                entries = m * n * n  # a threshold below 0 makes edges of zeros
        index = 4 if max(entries, n) < 2**31 else 8
        return entries * (self.dtype.itemsize + index) + (m * n + 1) * index


def _again(base: BlockedStack, places: Any, steps: tuple[Step, ...], new: Any) -> LazyStack:
    if isinstance(places, tuple):
        places = np.arange(*places, dtype=np.intp)
    return LazyStack._with(base, places, steps, new, None)


def _facts_of(block: Block, shared: Any) -> GraphFacts:  # noqa: ARG001
    return block.graphs.facts
