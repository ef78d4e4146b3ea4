"""A stack in memory that comes in blocks, as one from a disk does."""

from __future__ import annotations

from typing import Any

from eigengraphs import GraphStack
from eigengraphs.graphs.blocked import BlockedStack


class InBlocks(BlockedStack):
    """``stack`` in blocks of ``step`` graphs; counts how often each is read."""

    __slots__ = ("_memory", "_spans", "_step", "_whole", "reads")

    def __init__(self, stack: GraphStack, step: int, memory: int = 2**30) -> None:
        m = stack.n_graphs
        spans = tuple((lo, min(m, lo + step)) for lo in range(0, m, step))
        names = stack.graph_names if stack._graph_names is not None else None
        vertex = stack.vertex_names if stack.has_vertex_names else None
        for name, value in {
            "_whole": stack,
            "_step": step,
            "_spans": spans,
            "_memory": memory,
            "_facts": stack.facts,
            "_graph_names": names,
            "_vertex_names": vertex,
            "_mask": None,
            "reads": [],
        }.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return InBlocks, (self._whole, self._step, self._memory)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        return self._spans

    @property
    def memory(self) -> int:
        return self._memory

    def read_block(self, k: int) -> GraphStack:
        self.reads.append(k)
        lo, hi = self._spans[k]
        return self._whole[lo:hi]

    @property
    def n_vertices(self) -> int:
        return self._whole.n_vertices

    @property
    def dtype(self) -> Any:
        return self._whole.dtype

    @property
    def nbytes(self) -> int:
        return self._whole.nbytes

    @property
    def is_sparse(self) -> bool:
        return self._whole.is_sparse
