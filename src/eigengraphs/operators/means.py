"""Weighted sums and means of graphs, of all of them or by groups: one read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.operators.dense import add_group_rows
from eigengraphs.operators.protocol import Array
from eigengraphs.parallel import on_blocks, spans
from eigengraphs.stack.blocked import Block, BlockedStack
from eigengraphs.stack.flat_matrix import row_numbers
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.stack import GraphStack

__all__ = [
    "MeanGraph", "entries_at", "group_means", "hidden_sum", "mask_sum", "mean_graph",
    "observed_weights", "weighted_sum",
]  # fmt: skip

MeanGraph: TypeAlias = NDArray[np.float64] | sparse.csr_array


def weighted_sum(stack: GraphStack, weights: Array) -> MeanGraph:
    """Return sum_i w_i A_i, (n, n), hidden entries counting 0; dense or sparse as they are."""
    sums = _sums(stack, np.zeros(stack.n_graphs, np.intp), weights, 1)
    return sums[0] if isinstance(sums, np.ndarray) else sums


def mean_graph(stack: GraphStack, weights: Array) -> MeanGraph:
    """Return the weighted mean of each entry over the graphs that observe it, (n, n).

    Dense or sparse as the graphs are; 0 where no graph of positive weight observes an entry.
    """
    if not stack.has_missing:
        return weighted_sum(stack, weights / weights.sum())
    weights = weights / weights.max()
    total = weighted_sum(stack, weights)
    floor = 1e-12 * float(weights[weights > 0].min())  # counts are sums with rounding
    counts = observed_weights(stack, weights, total)
    if isinstance(total, np.ndarray):
        return np.asarray(np.divide(total, counts, out=np.zeros_like(total), where=counts > floor))
    values = total.data
    total.data = np.divide(values, counts, out=np.zeros_like(values), where=counts > floor)
    total.eliminate_zeros()
    return total


def group_means(
    stack: GraphStack, groups: NDArray[np.intp], weights: Array, n_groups: int
) -> GraphStack:
    """Return the weighted mean graph of every group, one stack of ``n_groups`` graphs.

    Parameters
    ----------
    stack
        Complete graphs.
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
    sums = _sums(stack, groups, share, n_groups)
    names = stack.vertex_names if stack.has_vertex_names else None
    if isinstance(sums, np.ndarray):
        return GraphStack(sums, vertex_names=names, copy=False)
    return GraphStack.from_flat(sums, n_groups, vertex_names=names)


def observed_weights(stack: GraphStack, weights: Array, at: MeanGraph) -> Array:
    """Return the sum of the weights of the graphs that observe an entry.

    Of all entries, (n, n), if ``at`` is an array, else of those that it has stored.
    """
    if isinstance(stack, BlockedStack):
        return np.asarray(stack.total(_Observed(weights, 0, at)))
    mask = stack.mask
    if mask is None:
        entries = at.shape if isinstance(at, np.ndarray) else at.data.shape
        return np.full(entries, weights.sum())
    if isinstance(at, np.ndarray):
        return mask_sum(mask, weights)
    s, t = row_numbers(at), at.indices
    return _at_entries(mask, weights, s, t)


def hidden_sum(mask: Mask, weights: Array) -> sparse.csr_array:
    """Return sum_i w_i N_i, (n, n), without what absent vertices hide."""
    flat, n = mask.hidden, mask.n_vertices
    graph, s = np.divmod(row_numbers(flat), n)
    total = sparse.coo_array((weights[graph], (s, flat.indices)), shape=(n, n))
    found: sparse.csr_array = sparse.csr_array(total)
    return found


def mask_sum(mask: Mask, weights: Array) -> Array:
    """Return sum_i w_i M_i, (n, n)."""
    P = mask.present.astype(np.float64)
    return np.asarray((P.T * weights) @ P - hidden_sum(mask, weights).toarray())


def entries_at(matrix: MeanGraph, s: NDArray[Any], t: NDArray[Any]) -> Array:
    """Return the entries (s, t) of one matrix, dense or sparse, (k,)."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix[s, t], dtype=np.float64)
    if len(s) == 0:  # scipy makes something else of it
        return np.zeros(0)
    return np.asarray(sparse.csr_matrix(matrix)[s, t], dtype=np.float64).ravel()


def _at_entries(mask: Mask, weights: Array, s: NDArray[Any], t: NDArray[Any]) -> Array:
    groups, group = np.unique(mask.present, axis=0, return_inverse=True)
    of_group = np.bincount(group.ravel(), weights=weights, minlength=len(groups))
    counts = -entries_at(hidden_sum(mask, weights), s, t)
    for lo, hi in spans(len(s), 2**20):
        counts[lo:hi] += of_group @ (groups[:, s[lo:hi]] & groups[:, t[lo:hi]])
    return counts


@dataclass(frozen=True)
class _WithWeights:
    """A task with a weight for each graph, from graph ``first`` on."""

    weights: Array
    first: int

    def _mine(self, block: Block) -> Array:
        return self.weights[block.lo - self.first : block.hi - self.first]

    def part(self, lo: int, hi: int) -> Self:
        """Return the task for these graphs alone."""
        return replace(self, weights=self.weights[lo - self.first : hi - self.first], first=lo)


@dataclass(frozen=True)
class _Observed(_WithWeights):
    at: MeanGraph

    def __call__(self, block: Block, shared: None) -> Array:  # noqa: ARG002
        return observed_weights(block.graphs, self._mine(block), self.at)


@dataclass(frozen=True)
class _GroupSums(_WithWeights):
    groups: NDArray[np.intp]  # of all graphs
    n_groups: int

    def __call__(self, block: Block, shared: None) -> MeanGraph:  # noqa: ARG002
        groups = self.groups[block.lo : block.hi]
        return _sums(block.graphs, groups, self._mine(block), self.n_groups)


def _sums(stack: GraphStack, groups: NDArray[np.intp], weights: Array, n_groups: int) -> MeanGraph:
    """Return sum_i w_i A_i over each group, (n_groups, n, n), or flat (n_groups * n, n)."""
    if isinstance(stack, BlockedStack):
        return cast("MeanGraph", stack.total(_GroupSums(weights, 0, groups, n_groups)))
    m, n, _ = stack.shape
    if stack.is_sparse:
        # Row s of a sum is a combination of rows s, n + s, 2n + s, ... of the flat matrix.
        places = (groups[:, None] * n + np.arange(n)).ravel()
        combine = sparse.csr_array(
            (np.repeat(weights, n), places, np.arange(m * n + 1)), shape=(m * n, n_groups * n)
        )
        total = sparse.csr_array(combine.T @ stack.flat)
        total.sum_duplicates()
        return total
    A = stack.dense
    sums = np.zeros((n_groups, n, n))

    def work(lo: int, hi: int) -> None:
        add_group_rows(A, weights, groups, lo, hi, sums)

    # Few enough rows of sums that they stay in cache while all graphs are added to them.
    threads = None if A.size >= 2**21 else 1
    on_blocks(work, spans(n, 2**15 // (n * n_groups)), threads=threads)
    return sums
