"""Transforms of graphs in blocks: each waits for the blocks, and means what it means in memory."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike

from eigengraphs.stack.build import check_dtype
from eigengraphs.stack.stack import GraphStack
from eigengraphs.stack.transforms import SymmetrizeRule

if TYPE_CHECKING:
    from eigengraphs.graphs.lazy import LazyStack

__all__ = ["WaitingTransforms"]


class WaitingTransforms(GraphStack):
    """What a :class:`~eigengraphs.graphs.blocked.BlockedStack` does later, block by block."""

    __slots__ = ()

    @abstractmethod
    def _lazy(self) -> LazyStack:
        """Return the stack as one whose transforms wait."""

    def symmetrize(self, how: SymmetrizeRule = "mean") -> Any:
        """Return undirected graphs, block by block; see :meth:`GraphStack.symmetrize`."""
        return self._lazy().then("symmetrize", how)

    def binarize(self, threshold: float = 0.0) -> Any:
        """Return unweighted graphs, block by block; see :meth:`GraphStack.binarize`."""
        return self._lazy().then("binarize", threshold)

    def log1p(self) -> Any:
        """Return log(1 + weight), block by block; see :meth:`GraphStack.log1p`."""
        return self._lazy().then("log1p")

    def signed_log1p(self) -> Any:
        """Return signed logarithms, block by block; see :meth:`GraphStack.signed_log1p`."""
        return self._lazy().then("signed_log1p")

    def fisher_z(self) -> Any:
        """Return arctanh of the weights, block by block; see :meth:`GraphStack.fisher_z`."""
        return self._lazy().then("fisher_z")

    def rank(self) -> Any:
        """Return ranks for weights, block by block; see :meth:`GraphStack.rank`."""
        return self._lazy().then("rank")

    def signed_rank(self) -> Any:
        """Return signed ranks, block by block; see :meth:`GraphStack.signed_rank`."""
        return self._lazy().then("signed_rank")

    def unit_norm(self) -> Any:
        """Return graphs of norm 1, block by block; see :meth:`GraphStack.unit_norm`."""
        return self._lazy().then("unit_norm")

    def drop_loops(self) -> Any:
        """Return graphs without loops, block by block; see :meth:`GraphStack.drop_loops`."""
        return self._lazy().then("drop_loops")

    def select_vertices(self, which: Any) -> Any:
        """Return induced graphs, block by block; see :meth:`GraphStack.select_vertices`."""
        return self._lazy().then("select_vertices", self._kept(which))

    def astype(self, dtype: DTypeLike) -> Any:
        """Return float32 or float64 weights, block by block."""
        wanted = check_dtype(dtype)
        return self if wanted == self.dtype else self._lazy().then("astype", wanted)

    def to_dense(self) -> Any:
        """Return graphs that come as arrays, block by block."""
        return self._lazy().then("to_dense") if self.is_sparse else self

    def to_sparse(self) -> Any:
        """Return graphs that come as CSR matrices, block by block."""
        return self if self.is_sparse else self._lazy().then("to_sparse")
