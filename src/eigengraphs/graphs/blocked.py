"""A stack whose graphs come in blocks, as from a disk or a cluster, and never all at once.

Whatever is asked of all graphs is a task, a function of one block: its results are put one behind
the other (:meth:`BlockedStack.each`) or added up (:meth:`BlockedStack.total`). Where blocks come
from, and where the task runs, is all that a store on disk and a cluster do differently.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.graphs.facts import GraphFacts
from eigengraphs.graphs.parallel import in_order
from eigengraphs.graphs.stack import GraphStack

__all__ = ["Block", "BlockedStack", "Journal", "Task", "add_up", "joined", "journaled"]


class Block:
    """Graphs ``lo`` to ``hi`` of a stack, in memory, and what was made of them on the way.

    Attributes
    ----------
    graphs : GraphStack
    lo, hi : int
        Their places in the whole stack.
    memo : dict
        For tasks, to keep what they need again on the same block. A block that stays in memory
        from pass to pass, as on a cluster, keeps it; it does not travel.
    """

    __slots__ = ("graphs", "hi", "lo", "memo")

    def __init__(self, graphs: GraphStack, lo: int, hi: int) -> None:
        self.graphs, self.lo, self.hi = graphs, lo, hi
        self.memo: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.graphs, self.lo, self.hi)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.graphs.nbytes


# A function of a block and of what stays the same from pass to pass; both can be pickled. One
# that has an array with a row for each graph may have a method ``part(lo, hi)``, which returns the
# task for these graphs alone: less to send.
Task: TypeAlias = Callable[[Block, Any], Any]


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


class BlockedStack(GraphStack):
    """Graphs in blocks; everything else about them is as of any stack.

    Those who make one give :attr:`spans` and :meth:`read_block`, and what a stack knows of itself
    without its graphs: sizes, names and facts. Methods that need all graphs in memory at once
    load them, if they fit in the budget.
    """

    __slots__ = ("_loaded", "_passes")

    @property
    @abstractmethod
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first graph of each block, and the one behind its last."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes that work on the graphs may take, besides results."""

    @abstractmethod
    def read_block(self, k: int) -> GraphStack:
        """Return the graphs of block k, in memory."""

    # ------------------------------------------------------------------ passes

    @property
    def n_passes(self) -> int:
        """How often the graphs were read, all of them."""
        return int(getattr(self, "_passes", 0))

    def blocks(self) -> Iterator[Block]:
        """Read one block after the other, the next while one is worked on."""
        self._count_pass()
        with ThreadPoolExecutor(1) as reader:
            coming = reader.submit(self.read_block, 0)
            for k, (lo, hi) in enumerate(self.spans):
                graphs = coming.result()
                if k + 1 < len(self.spans):
                    coming = reader.submit(self.read_block, k + 1)
                yield Block(graphs, lo, hi)
                del graphs  # before the next is waited for

    def _count_pass(self) -> None:
        object.__setattr__(self, "_passes", self.n_passes + 1)

    @property
    def fingerprint(self) -> str:
        """Tells these graphs, treated as they are, from others, by what is known of them."""
        digest = sha256(f"{self.shape} {self.dtype} {self.spans}".encode())
        for known in (self.facts.norm, self.facts.off_norm, self.facts.n_nonzero):
            digest.update(known.data)
        return digest.hexdigest()

    def each(self, task: Task, shared: Any = None) -> Iterator[Any]:
        """Yield what a task returns for each block, in order: one pass.

        Where a journal is kept, what a pass like this one returned before is not asked again.
        """
        journal = _journal.get()
        if journal is None:
            yield from self._each(task, shared)
        else:
            yield from journal.each(
                (self.fingerprint, task, shared), lambda: self._each(task, shared)
            )

    def total(self, task: Task, shared: Any = None) -> Any:
        """Return the sum of what a task returns for each block, arrays or tuples of them."""
        journal = _journal.get()
        if journal is None:
            return self._total(task, shared)
        return journal.total((self.fingerprint, task, shared), lambda: self._total(task, shared))

    def _each(self, task: Task, shared: Any) -> Iterator[Any]:
        """Read and work on blocks in threads, one more than there are cores at a time."""
        self._count_pass()

        def work(k: int) -> Any:
            return task(Block(self.read_block(k), *self.spans[k]), shared)

        yield from in_order(work, range(len(self.spans)))

    def _total(self, task: Task, shared: Any) -> Any:
        total: Any = None
        for part in self._each(task, shared):
            total = part if total is None else add_up(total, part)
        return total

    # ------------------------------------------------------------------ as a stack

    def load(self) -> GraphStack:
        """Return all graphs, in memory, if the budget allows."""
        loaded: GraphStack | None = getattr(self, "_loaded", None)
        if loaded is not None:
            return loaded
        if self.nbytes > self.memory:
            raise InputError(
                f"this needs all {self.n_graphs} graphs in memory at once, {self.nbytes / 1e9:.3g} "
                f"GB, and {self.memory / 1e9:.3g} GB is allowed; fit, transform and score go "
                "without: choose fewer graphs (stack[:1000]), or open the store with more memory"
            )
        parts = [block.graphs for block in self.blocks()]
        loaded = joined(parts, self._graph_names, self._vertex_names)
        object.__setattr__(self, "_loaded", loaded)
        return loaded

    @property
    def _storage(self) -> Any:  # type: ignore[override]
        return self.load()._storage

    def _graph(self, i: int) -> Any:
        loaded = getattr(self, "_loaded", None)
        if loaded is not None:
            return loaded._graph(i)
        k = int(np.searchsorted([hi for _, hi in self.spans], i, side="right"))
        return self.read_block(k)._graph(i - self.spans[k][0])

    def __iter__(self) -> Iterator[Any]:
        for block in self.blocks():
            yield from block.graphs

    def diagonals(self) -> NDArray[np.float64]:
        """Return the diagonals, (m, n)."""
        return np.concatenate(list(self.each(_diagonals)))


def add_up(total: Any, part: Any) -> Any:
    """Return the sum of two results, arrays or tuples of them; the first may be changed."""
    if isinstance(total, tuple):
        return tuple(add_up(a, b) for a, b in zip(total, part, strict=True))
    if isinstance(total, np.ndarray) and total.flags.writeable:
        total += part
        return total
    return total + part


def joined(
    parts: list[GraphStack],
    graph_names: tuple[str, ...] | None,
    vertex_names: tuple[str, ...] | None,
) -> GraphStack:
    """Return one stack of the graphs of several, complete and all dense or all sparse."""
    facts = GraphFacts.joined([part.facts for part in parts])
    storage: Any
    if parts[0].is_sparse:
        storage = sparse.csr_array(sparse.vstack([part.flat for part in parts], format="csr"))
        storage.has_canonical_format = True
    else:
        storage = np.concatenate([part.dense for part in parts])
    return GraphStack._make(storage, facts, graph_names, vertex_names)


def _diagonals(block: Block, shared: Any) -> NDArray[np.float64]:  # noqa: ARG001
    return block.graphs.diagonals()
