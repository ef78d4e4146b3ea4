"""Numbers that describe each graph: seven topological statistics, or eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eigengraphs.baselines.eigenvectors import FEW, as_dense, leading
from eigengraphs.baselines.graph_baseline import GraphBaseline, each_graph
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import announce_compiling

__all__ = ["GraphStatistics", "SpectralStatistics"]

announce_compiling()

Index = NDArray[Any]

_NAMES = [
    "size", "max_degree", "max_average_degree", "scan_statistic", "triangles", "clustering",
    "average_path_length",
]  # fmt: skip


class GraphStatistics(GraphBaseline):
    """Describe each graph by topological statistics, those of Park et al. (2013).

    The columns are

    - size: number of edges;
    - max_degree: largest number of neighbors;
    - max_average_degree: the average degree of the subgraph where that is largest, bounded from
      above by the largest eigenvalue of the adjacency matrix: the exact value is a problem of
      maximum flow;
    - scan_statistic: largest number of edges among a vertex and its neighbors;
    - triangles: their number;
    - clustering: share of the paths of two edges that a third edge closes (0 without such paths);
    - average_path_length: mean distance of the pairs of vertices that a path joins (0 without any).

    They are about which pairs are joined: every nonzero weight counts as an edge, negative ones
    too, and loops do not count. They do not change with the order of the vertices.

    Parameters
    ----------
    standardize : bool
        Bring each column to mean 0 and variance 1 over the training graphs. The paper does not say
        whether it did. Without it, distances are those of the column with the largest numbers, as
        a rule the number of triangles.

    Attributes
    ----------
    mean_, scale_ : (7,)
        What standardizing subtracts and divides by: the mean, and the standard deviation or, where
        that is zero, 1. Without standardizing 0 and 1.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> triangle = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> statistics = eg.baselines.GraphStatistics(standardize=False).fit([triangle])
    >>> statistics.get_feature_names_out()[:3]
    array(['size', 'max_degree', 'max_average_degree'], dtype=object)
    >>> statistics.transform([triangle]).round(6)
    array([[3., 2., 2., 3., 1., 1., 1.]])
    """

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def _learn(self, stack: GraphStack) -> Array:
        raw = _statistics(stack)
        self.mean_, self.scale_ = np.zeros(len(_NAMES)), np.ones(len(_NAMES))
        if self._fitted.standardize:
            self.mean_, spread = raw.mean(axis=0), raw.std(axis=0)
            rounding = 1e-12 * np.abs(raw).max(axis=0)
            self.scale_ = np.where(spread > rounding, spread, 1.0)
        return (raw - self.mean_) / self.scale_

    def _embed(self, stack: GraphStack) -> Array:
        return (_statistics(stack) - self.mean_) / self.scale_

    def _feature_names(self) -> list[str]:
        return list(_NAMES)


def _statistics(stack: GraphStack) -> Array:
    """Return the statistics as they are, (m, 7)."""
    (m, n, _), pattern = stack.shape, stack.drop_loops().to_sparse().flat.copy()
    pattern.sort_indices()
    pattern.data[:] = 1.0
    degrees = np.diff(pattern.indptr).reshape(m, n).astype(np.int64)
    triangles, paths = np.empty((m, n), dtype=np.int64), np.empty((m, 2), dtype=np.int64)
    _count_paths(pattern.indptr, pattern.indices, n, paths)
    graphs = list(each_graph(GraphStack.from_flat(pattern, m)))
    for A, count in zip(graphs, triangles, strict=True):
        if 64 * A.nnz >= n * n:  # a product of matrices takes less than counting
            D = A.astype(np.float32).toarray()  # which holds the numbers of common neighbors
            count[:] = ((D @ D) * D).sum(axis=1, dtype=np.float64) / 2
        else:
            _count_triangles(A.indptr, A.indices, count)
    wedges = (degrees * (degrees - 1)).sum(axis=1) // 2
    columns = [
        degrees.sum(axis=1) // 2,
        degrees.max(axis=1),
        [leading(A, 1, "value")[0][0] for A in graphs],
        (degrees + triangles).max(axis=1),
        triangles.sum(axis=1) // 3,
        triangles.sum(axis=1) / np.maximum(wedges, 1),
        paths[:, 1] / np.maximum(paths[:, 0], 1),
    ]
    return np.column_stack(columns).astype(np.float64)


class SpectralStatistics(GraphBaseline):
    """Describe each graph by the eigenvalues of its adjacency matrix (Dorogovtsev et al. 2003).

    Graph spectral statistics (GSS) do not change with the order of the vertices.

    Parameters
    ----------
    n_components : int, optional
        How many eigenvalues, largest first by value; by default all n, for which each graph is
        made dense.

    Attributes
    ----------
    n_components_ : int
        Number of eigenvalues.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> triangle = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> eg.baselines.SpectralStatistics(1).fit_transform([triangle]).round(6)
    array([[2.]])
    """

    _feature = "eigenvalue"

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _check_dimension(self, d: Any, n: int) -> None:
        if d is not None:
            super()._check_dimension(d, n)

    def _learn(self, stack: GraphStack) -> Array:
        self.n_components_ = self.n_components or stack.n_vertices
        return self._embed(stack)

    def _embed(self, stack: GraphStack) -> Array:
        n, d = stack.n_vertices, self.n_components_
        if n > FEW and d < n:
            return np.array([leading(A, d, "value")[0] for A in each_graph(stack)])
        rising = np.array([np.linalg.eigvalsh(as_dense(A)) for A in each_graph(stack)])
        return np.ascontiguousarray(rising[:, ::-1][:, :d])


# ------------------------------------------------------------------ kernels


@njit(cache=True, nogil=True)
def _count_triangles(indptr: Index, indices: Index, count: NDArray[np.int64]) -> None:
    """Count the triangles at each vertex; each, s < t < u, is seen once.

    Parameters
    ----------
    indptr, indices
        Pattern of a graph, (n, n); columns increase within a row, and there are no loops.
    count : (n,)
        Filled with the counts.
    """
    count[:] = 0
    mark = np.full(len(count), -1, dtype=np.int64)  # the last vertex that each is a neighbor of
    for s in range(len(count)):
        for a in range(indptr[s], indptr[s + 1]):
            mark[indices[a]] = s
        for a in range(indptr[s], indptr[s + 1]):
            t = indices[a]
            if t < s:
                continue
            for b in range(indptr[t + 1] - 1, indptr[t] - 1, -1):  # from the end down to t
                u = indices[b]
                if u <= t:
                    break
                if mark[u] == s:
                    count[s] += 1
                    count[t] += 1
                    count[u] += 1


@njit(cache=True, nogil=True)
def _count_paths(indptr: Index, indices: Index, n: int, out: NDArray[np.int64]) -> None:
    """Count ordered pairs of different vertices that a path joins, and sum up its edges.

    Shortest paths from 64 vertices are found together: bit j of a word tells whether vertex
    ``first + j`` reaches the vertex to which the word belongs.

    Parameters
    ----------
    indptr, indices, n
        Pattern of the graphs, (m * n, n), and the number of vertices.
    out : (m, 2)
        Filled with the numbers of pairs and the sums of their distances.
    """
    seen = np.zeros(n, dtype=np.uint64)
    front = np.zeros(n, dtype=np.uint64)
    ahead = np.zeros(n, dtype=np.uint64)
    none = np.uint64(0)
    for i in range(out.shape[0]):
        row, pairs, total = i * n, 0, 0
        for first in range(0, n, 64):
            seen[:] = none
            front[:] = none
            for j in range(min(64, n - first)):
                seen[first + j] = front[first + j] = np.uint64(1) << np.uint64(j)
            length, moved = 0, True
            while moved:
                length, moved = length + 1, False
                ahead[:] = none
                for s in range(n):
                    if front[s] != none:
                        for a in range(indptr[row + s], indptr[row + s + 1]):
                            ahead[indices[a]] |= front[s]
                for s in range(n):
                    front[s] = ahead[s] & ~seen[s]
                    if front[s] != none:
                        moved = True
                        seen[s] |= front[s]
                        reached = _ones(front[s])
                        pairs += reached
                        total += reached * length
        out[i, 0], out[i, 1] = pairs, total


@njit(cache=True, nogil=True, inline="always")
def _ones(word: Any) -> Any:
    """Return the number of ones in 64 bits, added up in pairs, fours and bytes."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
