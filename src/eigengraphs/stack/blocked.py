"""A stack whose graphs are read in blocks, as from a disk or a cluster, and never all at once.

Every operation on all graphs is a task, a function of one block: its results are concatenated
(:meth:`BlockedStack.each`) or summed (:meth:`BlockedStack.total`). A store on disk and a cluster
differ only in where blocks come from and where the task runs.
"""

from __future__ import annotations

import inspect
import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import cached_property, wraps
from hashlib import sha256
from operator import attrgetter
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.stack.build import check_dtype
from eigengraphs.stack.flat_matrix import flatten
from eigengraphs.stack.graph_facts import GraphFacts
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.names import check_names
from eigengraphs.stack.stack import GraphStack
from eigengraphs.system.parallel import PairedSum, add_up, in_order, order_is_fixed, thread_count

_KEEP_FACTS = frozenset({"", "take", "to_dense", "to_sparse", "with_names"})
_MOST = 64 * 2**20  # bytes of a block; larger ones win nothing

#: Keeps what passes return: ``each(question, ask)`` yields answers to an equal question, or asks.
JOURNAL: ContextVar[Any] = ContextVar("journal", default=None)

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
        For tasks, to keep results for the same block. A block that stays in memory
        from pass to pass, as on a cluster, keeps it; it is never sent.
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


class BlockedStack(GraphStack):
    """Graphs in blocks; otherwise a stack like any other.

    A subclass provides :attr:`spans` and :meth:`read_block`, and the properties that do not need
    the graphs: sizes, names and facts. Selected graphs, and graphs after a transform
    that treats each separately, are again in blocks, which are read when they are needed
    (:class:`~eigengraphs.stack.blocked.LazyStack`). Methods that need all graphs in memory at once
    load them, if they fit in the budget, and return an ordinary stack.
    """

    __slots__ = ("__dict__",)  # for what is found once

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
    def hides_pairs(self) -> bool:
        """Whether some entry off the diagonal is hidden in some block."""
        return False

    @property
    def has_missing(self) -> bool:
        """Whether some entry is hidden in some block."""
        return self.hides_pairs

    @property
    def _mask(self) -> Mask | None:  # type: ignore[override]
        return self.load()._mask if self.has_missing else None

    @property
    def n_hidden(self) -> int:
        """Number of hidden entries of all graphs; a pair of an undirected graph counts twice."""
        return int(self.total(_n_hidden)) if self.has_missing else 0

    def _n_pairs(self) -> int:
        m, n, _ = self.shape
        return int(self.total(_n_pairs)) if self.has_missing else m * n * (n - 1)

    def require_complete(self, remedy: str) -> None:
        """Raise an error that names a graph with hidden entries, if there is one.

        Parameters
        ----------
        remedy : str
            What to do about it: the end of the message.
        """
        for block in self.blocks() if self.has_missing else ():
            block.graphs.require_complete(remedy)

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

    # ------------------------------------------------------------------ passes

    @property
    def n_passes(self) -> int:
        """How often the graphs were read, all of them."""
        return int(vars(self).get("_passes", 0))

    @property
    def n_asked(self) -> int:
        """The same, and passes that a journal answered: as if there had been none."""
        return self.n_passes + int(vars(self).get("_answered", 0))

    def blocks(self) -> Iterator[Block]:
        """Read one block after the other, the next while one is worked on."""
        self._count_pass()
        graphs = in_order(self.read_block, range(len(self.spans)), threads=1)
        for lo, hi in self.spans:  # no block is held here while the next is waited for
            yield Block(next(graphs), lo, hi)

    def _count_pass(self) -> None:
        vars(self)["_passes"] = self.n_passes + 1

    @property
    def fingerprint(self) -> str:
        """Tells these graphs, treated as they are, from others, by what is known of them."""
        digest = sha256(f"{self.shape} {self.dtype} {self.spans}".encode())
        for known in (self.facts.norm, self.facts.off_norm, self.facts.n_nonzero):
            digest.update(known.data)
        return digest.hexdigest()

    def each(self, task: Task, shared: Any = None) -> Iterator[Any]:
        """Yield what a task returns for each block, in order: one pass.

        If a journal is kept, a pass with the same request is answered from it.
        """
        return self._asked((task, shared), lambda: self._each(task, shared))

    def total(self, task: Task, shared: Any = None) -> Any:
        """Return the sum of what a task returns for each block, arrays or tuples of them."""
        (total,) = self._asked((task, shared, "total"), lambda: iter([self._total(task, shared)]))
        return total

    def _asked(self, what: tuple[Any, ...], ask: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        """Yield what a pass returns, or what is in the journal that is kept, if there is one."""
        journal = JOURNAL.get()
        if journal is None:
            yield from ask()
            return
        passes = self.n_passes
        yield from journal.each((self.fingerprint, *what, order_is_fixed()), ask)
        if self.n_passes == passes:
            vars(self)["_answered"] = self.n_asked - passes + 1

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
        return self._loaded

    @cached_property
    def _loaded(self) -> GraphStack:
        if self.nbytes > self.memory:
            raise InputError(
                f"this needs all {self.n_graphs} graphs in memory at once, {self.nbytes / 1e9:.3g} "
                f"GB, and {self.memory / 1e9:.3g} GB is allowed; fit, transform and score do not "
                "need that: choose fewer graphs (stack[:1000]), or open the store with more memory"
            )
        parts = [block.graphs for block in self.blocks()]
        return joined(parts, self._graph_names, self._vertex_names)

    @property
    def _storage(self) -> Any:  # type: ignore[override]
        return self.load()._storage

    def _alone(self, i: int) -> GraphStack:
        if "_loaded" in vars(self):
            return self._loaded._alone(i)
        k = int(np.searchsorted([hi for _, hi in self.spans], i, side="right"))
        at = i - self.spans[k][0]
        return self.read_part(k, at, at + 1)

    def _graph(self, i: int) -> Any:
        return self._alone(i)._graph(0)

    def _shown(self, i: int) -> Any:
        return self._alone(i)._shown(0)

    def __iter__(self) -> Iterator[Any]:
        for block in self.blocks():
            yield from block.graphs

    def diagonals(self) -> NDArray[np.float64]:
        """Return the diagonals, (m, n)."""
        return np.concatenate(list(self.each(_diagonals)))

    # ------------------------------------------------------------------ what waits for its blocks

    def _several(self, which: Any, chosen: NDArray[np.intp]) -> GraphStack:  # noqa: ARG002
        if (np.diff(chosen) > 0).all():
            return self if len(chosen) == self.n_graphs else self._lazy("take", chosen)
        # In another order, neighbors may come from any two blocks.
        ordered, back = np.unique(chosen, return_inverse=True)
        part = self[ordered]
        if part.nbytes * len(chosen) > self.memory * len(ordered):
            raise InputError(
                f"{len(chosen)} graphs in another order than in the store, or with repeats, must "
                f"be in memory, {part.nbytes * len(chosen) / len(ordered) / 1e9:.3g} GB, and "
                f"{self.memory / 1e9:.3g} GB is allowed: sort the indices (np.sort), or open the "
                "store with more memory"
            )
        loaded: GraphStack = part.load()[back]
        return loaded

    def _lazy(self, step: str, *arguments: Any) -> Any:
        """Return the graphs after one more step."""
        return LazyStack.of(self, step, *arguments)

    @property
    def _knows_facts(self) -> bool:
        """Whether facts are there without a pass."""
        return True

    def _most_entries(self) -> NDArray[np.int64]:
        """Return the most nonzero entries that each graph may have."""
        return self.facts.n_nonzero

    def select_vertices(self, which: Any) -> Any:
        """Return induced graphs, block by block; see :meth:`GraphStack.select_vertices`."""
        return self._lazy("select_vertices", self._kept(which))

    def astype(self, dtype: DTypeLike) -> Any:
        """Return float32 or float64 weights, block by block."""
        wanted = check_dtype(dtype)
        return self if wanted == self.dtype else self._lazy("astype", wanted)

    def to_dense(self) -> Any:
        """Return graphs that come as arrays, block by block."""
        return self._lazy("to_dense") if self.is_sparse else self

    def to_sparse(self) -> Any:
        """Return graphs that come as CSR matrices, block by block."""
        return self if self.is_sparse else self._lazy("to_sparse")

    def with_names(
        self,
        *,
        graph_names: Sequence[str] | None = None,
        vertex_names: Sequence[str] | None = None,
    ) -> Any:
        """Return the same graphs under other names."""
        graph = check_names(graph_names, self.n_graphs, "graph_names")
        vertex = check_names(vertex_names, self.n_vertices, "vertex_names")
        same = graph is None and vertex is None
        return self if same else self._lazy("with_names", graph, vertex)


def _later(method: Any) -> Any:
    """Return a method that does later, block by block, what a method of a stack does now."""
    signature = inspect.signature(method)

    @wraps(method)
    def wait(self: BlockedStack, *args: Any, **named: Any) -> Any:
        given = signature.bind(self, *args, **named)
        given.apply_defaults()
        # What is wrong with the arguments shows now, and not in the middle of a pass.
        tiny = GraphStack(np.zeros((1, 1, 1), self.dtype))
        method(tiny.to_sparse() if self.is_sparse else tiny, *given.args[1:])
        return self._lazy(method.__name__, *given.args[1:])

    return wait


# Each of these treats every graph on its own.
for _name in ("symmetrize", "binarize", "log1p", "signed_log1p", "fisher_z", "rank", "signed_rank",
              "unit_norm", "laplacian", "drop_loops"):  # fmt: skip
    setattr(BlockedStack, _name, _later(getattr(GraphStack, _name)))


def joined(
    parts: list[GraphStack],
    graph_names: tuple[str, ...] | None,
    vertex_names: tuple[str, ...] | None,
) -> GraphStack:
    """Return one stack of the graphs of several, all dense or all sparse."""
    facts = GraphFacts.joined([part.facts for part in parts])
    storage: Any
    if parts[0].is_sparse:
        storage = flatten([part.flat for part in parts], parts[0].dtype)
    else:
        storage = np.concatenate([part.dense for part in parts])
    masks = joined_masks([(part.n_graphs, part.mask) for part in parts], parts[0].n_vertices)
    return GraphStack._make(storage, facts, graph_names, vertex_names, masks)


def joined_masks(parts: list[tuple[int, Mask | None]], n: int) -> Mask | None:
    """Return the mask of several parts, numbers of graphs and their masks; None if all are."""
    if all(mask is None for _, mask in parts):
        return None
    masks = [Mask.complete(m, n) if mask is None else mask for m, mask in parts]
    hidden = sparse.csr_array(sparse.vstack([mask.hidden for mask in masks], format="csr"))
    return Mask(np.concatenate([mask.present for mask in masks]), hidden)


def _n_hidden(block: Block, shared: Any) -> int:  # noqa: ARG001
    return block.graphs.n_hidden


def _n_pairs(block: Block, shared: Any) -> int:  # noqa: ARG001
    return block.graphs._n_pairs()


def _diagonals(block: Block, shared: Any) -> NDArray[np.float64]:  # noqa: ARG001
    return block.graphs.diagonals()


def block_bytes(memory: int) -> int:
    """Return the size that a block may have, in memory: some are under way at the same time."""
    return max(1, min(_MOST, memory // 32))


def forwarded(name: str, doc: str | None = None) -> Any:
    """Return a property that is an attribute of an attribute, such as ``_store.folder.path``."""
    doc = doc or getattr(BlockedStack, name.rpartition(".")[2]).__doc__
    return property(attrgetter(name), doc=doc)


class LazyStack(BlockedStack):
    """The graphs of another stack in blocks after one step, taken when they are read.

    A step is the name of a method of a stack that treats each graph on its own, or "take", of
    places that rise; "" is none. Facts of graphs that a step has changed come from one pass, when
    they are first asked for.
    """

    __slots__ = ()

    _base: BlockedStack
    _step: str
    _arguments: tuple[Any, ...]

    memory = forwarded("_base.memory")
    has_missing = forwarded("_base.has_missing")  # or were hidden before the steps
    hides_pairs = forwarded("_base.hides_pairs")

    @classmethod
    def of(cls, base: BlockedStack, step: str, *arguments: Any) -> LazyStack:
        """Return the graphs of ``base`` after a step."""
        stack = object.__new__(cls)
        if step == "take":
            arguments = (np.asarray(arguments[0], dtype=np.intp),)
        vars(stack).update(_base=base, _step=step, _arguments=arguments)
        return stack

    def _lazy(self, step: str, *arguments: Any) -> Any:
        if step != "take":
            return super()._lazy(step, *arguments)
        # Graphs are taken before any other step: none is changed in vain.
        (which,), given = arguments, self._arguments
        if self._step == "take":
            return self._base._lazy("take", given[0][which])
        if self._step == "with_names":
            given = (given[0] and tuple(given[0][i] for i in which), given[1])
        part = LazyStack.of(self._base._lazy("take", which), self._step, *given)
        if "_facts" in vars(self):
            vars(part)["_facts"] = self._facts.take(which)
        return part

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = self._arguments
        if self._step == "take":
            first, last = int(arguments[0][0]), int(arguments[0][-1])
            if last - first + 1 == len(arguments[0]):
                arguments = (range(first, last + 1),)  # light
        return LazyStack.of, (self._base, self._step, *arguments)

    # ------------------------------------------------------------------ blocks

    @cached_property
    def _pieces(self) -> list[tuple[int, int, int, int]]:
        """(block of the base, its first place, lo, hi) of every block here."""
        most, pieces = self.n_graphs, []
        if self._step == "to_dense":  # arrays are larger
            most = max(1, block_bytes(self.memory) // (self.n_vertices**2 * self.dtype.itemsize))
        for k, (first, end) in enumerate(self._base.spans):
            lo, hi = first, end
            if self._step == "take":
                lo, hi = np.searchsorted(self._arguments[0], (first, end)).tolist()
            pieces += [(k, first, a, min(hi, a + most)) for a in range(lo, hi, most)]
        return pieces

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first graph of each block, and the one behind its last."""
        return tuple((lo, hi) for _, _, lo, hi in self._pieces)

    def read_block(self, k: int) -> GraphStack:
        """Return the graphs of block k, in memory."""
        _, _, lo, hi = self._pieces[k]
        return self.read_part(k, 0, hi - lo)

    def read_part(self, k: int, lo: int, hi: int) -> GraphStack:
        """Return graphs lo to hi of block k, counted from its first, in memory."""
        block, first, start, _ = self._pieces[k]
        lo, hi = lo + start, hi + start
        if self._step == "take":
            local = self._arguments[0][lo:hi] - first
            graphs = self._base.read_part(block, int(local[0]), int(local[-1]) + 1)
            some: GraphStack = graphs[local - local[0]] if len(local) < len(graphs) else graphs
            return some
        graphs = self._base.read_part(block, lo - first, hi - first)
        if self._step == "with_names":
            graph, vertex = self._arguments
            return graphs.with_names(graph_names=graph and graph[lo:hi], vertex_names=vertex)
        try:
            changed = getattr(graphs, self._step)(*self._arguments) if self._step else graphs
        except InputError as error:
            counted = f" (counted from graph {lo + 1} (index {lo}) of the stack)" if lo else ""
            raise type(error)(f"{error}{counted}") from None
        return cast(GraphStack, changed)

    # ------------------------------------------------------------------ as a stack

    @property
    def fingerprint(self) -> str:
        """Tells these graphs from others: by the base and the step."""
        if self._step == "with_names":
            return self._base.fingerprint
        digest = sha256(self._base.fingerprint.encode())
        digest.update(pickle.dumps((self._step, self._arguments), protocol=5))
        return digest.hexdigest()

    @property
    def _knows_facts(self) -> bool:
        return "_facts" in vars(self) or (self._step in _KEEP_FACTS and self._base._knows_facts)

    @cached_property
    def _facts(self) -> GraphFacts:  # type: ignore[override]
        if not self._knows_facts:
            # Not kept in a journal, whose questions hold them.
            return GraphFacts.joined(list(self._each(_facts_of, None)))
        facts = self._base.facts
        return facts.take(self._arguments[0]) if self._step == "take" else facts

    @property
    def _graph_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        names = self._base._graph_names
        if self._step == "with_names":
            return self._arguments[0] or names
        if self._step == "take" and names is not None:
            return tuple(names[i] for i in self._arguments[0])
        return names

    @property
    def _vertex_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        names = self._base._vertex_names
        if self._step == "with_names":
            return self._arguments[1] or names
        if self._step == "select_vertices" and names is not None:
            return tuple(names[s] for s in self._arguments[0])
        return names

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return len(self._arguments[0]) if self._step == "take" else self._base.n_graphs

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        chosen = self._step == "select_vertices"
        return len(self._arguments[0]) if chosen else self._base.n_vertices

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return np.dtype(self._arguments[0] if self._step == "astype" else self._base.dtype)

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are kept as flat CSR matrices."""
        changed = self._step in ("to_dense", "to_sparse")
        return self._step == "to_sparse" if changed else self._base.is_sparse

    def _most_entries(self) -> NDArray[np.int64]:
        if self._knows_facts:
            return super()._most_entries()
        most = self._base._most_entries()
        if self._step == "binarize" and not self.is_sparse:
            return np.full_like(most, self.n_vertices**2)  # by a threshold below 0
        return 2 * most if self._step == "symmetrize" else most

    @property
    def nbytes(self) -> int:
        """Bytes that all graphs would take; of sparse ones the most, until facts are known."""
        m, n, _ = self.shape
        if not self.is_sparse:
            return m * n * n * self.dtype.itemsize
        entries = int(self._most_entries().sum())
        index = 4 if max(entries, n) < 2**31 else 8
        return entries * (self.dtype.itemsize + index) + (m * n + 1) * index


def _facts_of(block: Block, shared: Any) -> GraphFacts:  # noqa: ARG001
    return block.graphs.facts
