"""Numbers that describe each graph: seven topological statistics, or eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.baselines.eigenvectors import FEW, as_dense, leading
from eigengraphs.baselines.graph_baseline import GraphBaseline, each_graph
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import spans

_BLOCK_ENTRIES = 2**22  # of vertices beside vertices, at a time
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
    graphs = list(each_graph(GraphStack.from_flat(pattern, m)))
    triangles, paths = (np.array([count(A) for A in graphs]) for count in (_triangles, _paths))
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


def _triangles(A: Any) -> NDArray[np.int64]:
    """Return the number of triangles at each vertex, (n,)."""
    parts = (A[lo:hi] for lo, hi in spans(A.shape[0], max(1, _BLOCK_ENTRIES // A.shape[0])))
    found = [np.asarray(part.multiply(part @ A).sum(axis=1)).ravel() for part in parts]
    return (np.concatenate(found) / 2).astype(np.int64)


def _paths(A: Any) -> tuple[int, int]:
    """Return how many ordered pairs of different vertices a path joins, and their distances' sum.

    From all vertices of a block at once: those reached by one step more, until there are none.
    """
    n, pairs, total = A.shape[0], 0, 0
    A = A.astype(np.float32)
    for lo, hi in spans(n, max(1, _BLOCK_ENTRIES // n)):
        front = np.eye(n, hi - lo, -lo, dtype=bool)
        seen, length = front.copy(), 0
        while front.any():
            front, length = (A @ front.astype(np.float32) > 0) & ~seen, length + 1
            seen |= front
            reached = int(np.count_nonzero(front))
            pairs, total = pairs + reached, total + length * reached
    return pairs, total


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
