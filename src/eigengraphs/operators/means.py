"""Weighted sums and means of graphs, of all of them or by groups, and distances from a mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.operators.protocol import Array
from eigengraphs.stack.blocked import Block, BlockedStack
from eigengraphs.stack.flat_matrix import row_numbers
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.stack import GraphStack
from eigengraphs.system.parallel import announce_compiling, on_blocks, spans

__all__ = [
    "GroupGraphs",
    "MeanGraph",
    "entries_at",
    "group_means",
    "hidden_sum",
    "mask_sum",
    "mean_graph",
    "observed_weights",
    "off_diagonal_squares",
    "weighted_sum",
]  # fmt: skip

announce_compiling()

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
    sums = np.zeros((n_groups, n * n))
    combine = sparse.csr_array((weights, groups, np.arange(m + 1)), shape=(m, n_groups)).T.tocsr()
    entries = stack.dense.reshape(m, n * n)

    def work(lo: int, hi: int) -> None:
        sums[:, lo:hi] = combine @ entries[:, lo:hi]

    # Few enough entries of all graphs that they stay in cache.
    threads = None if entries.size >= 2**21 else 1
    on_blocks(work, spans(n * n, max(64, 2**17 // m)), threads=threads)
    return sums.reshape(n_groups, n, n)


class GroupGraphs:
    """Means over groups of graphs that share their loadings, in place of the graphs.

    All products that a solver asks for are linear in (A_i, M_i), so that groups are graphs with
    fractional masks.

    Parameters
    ----------
    graphs
        The graphs as an operator.
    mixing : (c, m)
        Weight of each graph in the mean of each group; rows sum to 1.
    """

    _linear = frozenset({
        "products", "mask_products", "forms", "mask_forms", "grams", "observed", "squared_norms",
        "rounding",
    })  # fmt: skip

    def __init__(self, graphs: Any, mixing: Array) -> None:
        self._graphs, self._mixing = graphs, mixing
        self.n_graphs, self.n_vertices = len(mixing), int(graphs.n_vertices)
        self.dtype, self.directed = graphs.dtype, bool(graphs.directed)

    def __getattr__(self, name: str) -> Any:
        """Return a product of the graphs that gives means, (c, ...) in place of (m, ...)."""
        if name not in self._linear:
            raise AttributeError(f"means of graphs have no {name!r}")

        def means(*columns: Array) -> Any:
            found = getattr(self._graphs, name)(*columns)
            if isinstance(found, np.ndarray):
                return np.tensordot(self._mixing, found, axes=1)
            return tuple(np.tensordot(self._mixing, P, axes=1) for P in found)

        return means

    def mean_residual(self, weights: Array, sides: tuple[Array, ...], Lam: Array) -> Any:
        """Return the mean of what components leave, over the graphs that observe an entry."""
        each = Lam[self._mixing.argmax(axis=0)]
        return self._graphs.mean_residual(weights @ self._mixing, sides, each)


# ---------------------------------------------------------------- distances from the mean


def off_diagonal_squares(stack: GraphStack, mean: Any, scale: float) -> Array:
    """Return ||scale (A_i - M)||^2 over the observed entries off the diagonal, (m,)."""
    m, n, _ = stack.shape
    squares, mask = np.empty(m), stack.mask
    if not stack.is_sparse:
        M = mean if isinstance(mean, np.ndarray) else mean.toarray()

        def work(lo: int, hi: int) -> None:
            X = (stack.dense[lo:hi] - M).reshape(hi - lo, -1)
            X *= scale
            X[:, :: n + 1] = 0.0
            if mask is not None:
                X *= mask.part(lo, hi).toarray().reshape(X.shape)
            squares[lo:hi] = np.einsum("ie,ie->i", X, X)

        on_blocks(work, spans(m, 1 + 2**16 // n**2))
        return squares
    present = np.zeros((m, 0), np.bool_) if mask is None else mask.present
    gone, indptr = np.zeros(0, np.int32), np.zeros(m * n + 1, np.int32)
    if mask is not None:
        gone, indptr = mask.hidden.indices, mask.hidden.indptr
    M = sparse.csr_array(mean)
    M.sort_indices()
    flat = stack.flat

    def work_flat(lo: int, hi: int) -> None:
        hidden = (present[lo:hi], gone, indptr[lo * n : hi * n + 1])
        rows = flat.indptr[lo * n : hi * n + 1]
        _flat_squares(
            flat.data, flat.indices, rows, *hidden, M.data, M.indices, M.indptr, scale,
            squares[lo:hi],
        )  # fmt: skip

    on_blocks(work_flat, spans(m, 1 + 2**20 // n**2))
    return squares


@njit(cache=True, nogil=True)
def _flat_squares(
    data: NDArray[Any], columns: NDArray[Any], rows: NDArray[Any], present: NDArray[np.bool_],
    gone: NDArray[Any], indptr: NDArray[Any], M_data: Array, M_columns: NDArray[Any],
    M_rows: NDArray[Any], scale: float, out: Array,
) -> None:  # fmt: skip
    """Fill ``out`` (b,) for graphs that are rows ``rows`` of ``data`` and ``columns``.

    ``present`` (b, 0) says that nothing is hidden.
    """
    n = M_rows.shape[0] - 1
    for i in range(out.shape[0]):
        total = 0.0
        for s in range(n):
            if present.shape[1] > 0 and not present[i, s]:
                continue
            e, e1 = rows[i * n + s], rows[i * n + s + 1]
            f, f1 = M_rows[s], M_rows[s + 1]
            g, g1 = indptr[i * n + s], indptr[i * n + s + 1]
            while e < e1 or f < f1:
                x = 0.0
                from_graph = f >= f1 or (e < e1 and columns[e] <= M_columns[f])
                t = columns[e] if from_graph else M_columns[f]
                if e < e1 and columns[e] == t:
                    x += data[e]
                    e += 1
                if f < f1 and M_columns[f] == t:
                    x -= M_data[f]
                    f += 1
                while g < g1 and gone[g] < t:
                    g += 1
                hidden = g < g1 and gone[g] == t
                if t != s and not hidden and (present.shape[1] == 0 or present[i, t]):
                    total += (scale * x) ** 2
        out[i] = total
