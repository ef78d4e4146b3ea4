"""Mean graphs of groups of graphs: all that loadings shared within groups ask of complete data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.blocked import Block, BlockedStack
from eigengraphs.graphs.dense_sums import group_sums
from eigengraphs.stack.stack import GraphStack

__all__ = ["group_means"]


def group_means(
    stack: GraphStack, groups: NDArray[np.intp], weights: NDArray[np.float64], n_groups: int
) -> GraphStack:
    """Return the weighted mean graph of every group, one stack of ``n_groups`` graphs: one pass.

    Parameters
    ----------
    stack
        Graphs.
    groups : (m,)
        Group of each graph, from 0; every group has a graph.
    weights : (m,)
        Weight of each graph. In a group where all are zero, all count alike.
    n_groups
        Number of groups.
    """
    totals = np.bincount(groups, weights, n_groups)
    share = np.where(totals[groups] > 0, weights, 1.0)
    share = share / np.bincount(groups, share, n_groups)[groups]
    names = stack.vertex_names if stack.has_vertex_names else None
    if isinstance(stack, BlockedStack):
        sums = stack.total(_GroupSums(groups, share, n_groups))
    else:
        sums = _group_sums(stack, groups, share, n_groups)
    if isinstance(sums, np.ndarray):
        return GraphStack(sums, vertex_names=names, copy=False)
    return GraphStack.from_flat(sums, n_groups, vertex_names=names)


@dataclass(frozen=True)
class _GroupSums:
    """The sums over a block."""

    groups: NDArray[np.intp]
    share: NDArray[np.float64]
    n_groups: int
    first: int = 0  # graph of the first row

    def __call__(
        self,
        block: Block,
        shared: None,  # noqa: ARG002
    ) -> NDArray[np.float64] | sparse.csr_array:
        mine = slice(block.lo - self.first, block.hi - self.first)
        return _group_sums(block.graphs, self.groups[mine], self.share[mine], self.n_groups)

    def part(self, lo: int, hi: int) -> _GroupSums:
        """Return the task for these graphs alone."""
        mine = slice(lo - self.first, hi - self.first)
        return _GroupSums(self.groups[mine], self.share[mine], self.n_groups, lo)


def _group_sums(
    stack: GraphStack, groups: NDArray[np.intp], share: NDArray[np.float64], n_groups: int
) -> NDArray[np.float64] | sparse.csr_array:
    """Return sum_i share_i A_i over each group, (n_groups, n, n), or flat (n_groups * n, n)."""
    m, n, _ = stack.shape
    if not stack.is_sparse:
        return group_sums(stack.dense, share, groups, n_groups)
    # Row s of a mean is a combination of rows s, n + s, 2n + s, ... of the flat matrix.
    places = (groups[:, None] * n + np.arange(n)).ravel()
    combine = sparse.csr_array(
        (np.repeat(share, n), places, np.arange(m * n + 1)), shape=(m * n, n_groups * n)
    )
    return sparse.csr_array(combine.T @ stack.flat)
