"""A stack whose graphs come in blocks, as from a disk or a cluster, and never all at once.

Whatever is asked of all graphs is a task, a function of one block: its results are put one behind
the other (:meth:`BlockedStack.each`) or added up (:meth:`BlockedStack.total`). Where blocks come
from, and where the task runs, is all that a store on disk and a cluster do differently.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.graphs.journaling import journal_in_use
from eigengraphs.graphs.ordering import PairedSum, add_up, order_is_fixed
from eigengraphs.graphs.waiting import WaitingTransforms
from eigengraphs.parallel import in_order, thread_count
from eigengraphs.stack.build import Storage
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.names import check_names
from eigengraphs.stack.stack import GraphStack

if TYPE_CHECKING:
    from eigengraphs.graphs.lazy import LazyStack

__all__ = ["Block", "BlockedStack", "Task", "joined"]


_COPIES = 3  # of a block: as it is read, in memory, and what a task makes of it
_COLUMNS = 64  # that a task multiplies a block with and that it sums up


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
# task for these graphs alone: less to send. If all else in it is large, it has ``rows`` and
# ``with_rows(rows, first)`` as well, so that the rest can be sent once for all blocks. ``slim``
# says that what it returns takes little room, some columns or less for each graph.
Task: TypeAlias = Callable[[Block, Any], Any]


class BlockedStack(WaitingTransforms):
    """Graphs in blocks; everything else about them is as of any stack.

    Those who make one give :attr:`spans` and :meth:`read_block`, and what a stack knows of itself
    without its graphs: sizes, names and facts. Some of the graphs, and graphs after a transform
    that treats each on its own, come in blocks again and are read when they are asked for
    (:class:`~eigengraphs.graphs.lazy.LazyStack`). Methods that need all graphs in memory at once
    load them, if they fit in the budget; what they make is an ordinary stack.
    """

    __slots__ = ("_answered", "_loaded", "_passes")

    @property
    @abstractmethod
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first graph of each block, and the one behind its last."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes that work on the graphs may take, besides results."""

    @property
    def is_remote(self) -> bool:
        """Whether tasks run on other machines, so that results that grow with the graphs cost."""
        return False

    @property
    def keeps_blocks(self) -> bool:
        """Whether blocks stay in memory from pass to pass, and their memo with them."""
        return False

    @abstractmethod
    def read_block(self, k: int) -> GraphStack:
        """Return the graphs of block k, in memory."""

    def read_part(self, k: int, lo: int, hi: int) -> GraphStack:
        """Return graphs lo to hi of block k, counted from its first, in memory."""
        graphs = self.read_block(k)
        part: GraphStack = graphs if hi - lo == graphs.n_graphs else graphs[lo:hi]
        return part

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return self.spans[-1][1]

    @classmethod
    def _make(  # type: ignore[override]  # what is in memory is an ordinary stack
        cls,
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
        mask: Mask | None = None,
    ) -> GraphStack:
        return GraphStack._make(storage, facts, graph_names, vertex_names, mask)

    # ------------------------------------------------------------------ passes

    @property
    def n_passes(self) -> int:
        """How often the graphs were read, all of them."""
        return int(getattr(self, "_passes", 0))

    @property
    def n_asked(self) -> int:
        """The same, and passes that a journal answered: as if there had been none."""
        return self.n_passes + int(getattr(self, "_answered", 0))

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
        journal = journal_in_use()
        if journal is None:
            yield from self._each(task, shared)
            return
        passes = self.n_passes
        question = self._question(task, shared)
        yield from journal.each(question, lambda: self._each(task, shared))
        self._count_answered(passes)

    def total(self, task: Task, shared: Any = None) -> Any:
        """Return the sum of what a task returns for each block, arrays or tuples of them."""
        journal = journal_in_use()
        if journal is None:
            return self._total(task, shared)
        passes = self.n_passes
        question = self._question(task, shared)
        total = journal.total(question, lambda: self._total(task, shared))
        self._count_answered(passes)
        return total

    def _question(self, task: Task, shared: Any) -> tuple[Any, ...]:
        order = ("fixed order",) if order_is_fixed() else ()
        return (self.fingerprint, task, shared, *order)

    def _count_answered(self, passes: int) -> None:
        if self.n_passes == passes:
            object.__setattr__(self, "_answered", self.n_asked - passes + 1)

    def _each(self, task: Task, shared: Any) -> Iterator[Any]:
        """Read and work on blocks in threads, as many as the budget allows."""
        self._count_pass()

        def work(k: int) -> Any:
            return task(Block(self.read_block(k), *self.spans[k]), shared)

        threads = self._threads()
        if threads == 1:  # nor is there room for the next block while one is worked on
            yield from map(work, range(len(self.spans)))
        else:
            yield from in_order(work, range(len(self.spans)), threads=threads)

    def _threads(self) -> int:
        """Return how many blocks are worked on at a time, by what each takes of the budget."""
        m, n, _ = self.shape
        block = max(hi - lo for lo, hi in self.spans) * (self.nbytes // m)
        each = _COPIES * block + _COLUMNS * 8 * n
        return max(1, min(thread_count(), self.memory // 2 // max(each, 1)))

    def _total(self, task: Task, shared: Any) -> Any:
        if order_is_fixed():
            paired = PairedSum()
            for part in self._each(task, shared):
                paired.add(part)
            return paired.result()
        total: Any = None
        for part in self._each(task, shared):
            total = part if total is None else add_up(total, part)
            del part  # before the next is made
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
        object.__setattr__(self, "_loaded", joined(parts, self._graph_names, self._vertex_names))
        return self.load()

    @property
    def _storage(self) -> Any:  # type: ignore[override]
        return self.load()._storage

    def _graph(self, i: int) -> Any:
        loaded = getattr(self, "_loaded", None)
        if loaded is not None:
            return loaded._graph(i)
        k = int(np.searchsorted([hi for _, hi in self.spans], i, side="right"))
        at = i - self.spans[k][0]
        return self.read_part(k, at, at + 1)._graph(0)

    def __iter__(self) -> Iterator[Any]:
        for block in self.blocks():
            yield from block.graphs

    def diagonals(self) -> NDArray[np.float64]:
        """Return the diagonals, (m, n)."""
        return np.concatenate(list(self.each(_diagonals)))

    @property
    def dense(self) -> NDArray[Any]:
        """The graphs as one read-only array (m, n, n), if they fit; for dense stacks only."""
        if self.is_sparse:
            raise InputError("this stack is sparse; use .flat, or to_dense() if it fits in memory")
        return self.load().dense

    @property
    def flat(self) -> sparse.csr_array:
        """The graphs as one CSR matrix (m * n, n), if they fit; for sparse stacks only."""
        if not self.is_sparse:
            raise InputError("this stack is dense; use .dense, or to_sparse()")
        return self.load().flat

    # ------------------------------------------------------------------ what waits for its blocks

    def _several(self, which: Any, chosen: NDArray[np.intp]) -> GraphStack:  # noqa: ARG002
        if (np.diff(chosen) > 0).all():
            return self if len(chosen) == self.n_graphs else self._lazy().chosen(chosen)
        # In another order, neighbours may come from any two blocks.
        ordered, back = np.unique(chosen, return_inverse=True)
        part = self[ordered]
        if part.nbytes * len(chosen) > self.memory * len(ordered):
            raise InputError(
                f"{len(chosen)} graphs in another order than they are kept in, or more than once, "
                f"must be in memory, {part.nbytes * len(chosen) / len(ordered) / 1e9:.3g} GB, and "
                f"{self.memory / 1e9:.3g} GB is allowed: sort the places (np.sort), or open the "
                "store with more memory"
            )
        loaded: GraphStack = part.load()[back]
        return loaded

    def _lazy(self) -> LazyStack:
        from eigengraphs.graphs.lazy import LazyStack  # which is made of this class

        return LazyStack.of(self)

    def with_names(
        self,
        *,
        graph_names: Sequence[str] | None = None,
        vertex_names: Sequence[str] | None = None,
    ) -> Any:
        """Return the same graphs under other names."""
        graph = check_names(graph_names, self.n_graphs, "graph_names")
        vertex = check_names(vertex_names, self.n_vertices, "vertex_names")
        return self if graph is None and vertex is None else self._lazy().named(graph, vertex)

    def largest_common_component(self) -> Any:
        """Return the graphs, in memory, on the largest set on which all are connected."""
        return self.load().largest_common_component()


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
