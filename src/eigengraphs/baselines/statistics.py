"""Seven numbers that describe the shape of each graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.baselines.estimator import Array, GraphBaseline
from eigengraphs.baselines.inputs import check_choice, each_graph
from eigengraphs.baselines.spectra import leading
from eigengraphs.baselines.statistics_kernels import count_paths, count_triangles
from eigengraphs.stack import GraphStack

__all__ = ["GraphStatistics"]

_NAMES = [
    "size", "max_degree", "max_average_degree", "scan_statistic", "triangles", "clustering",
    "average_path_length",
]  # fmt: skip


class GraphStatistics(GraphBaseline):
    """Describe each graph by topological statistics, those of Park et al. (2013).

    The columns are

    - size: number of edges;
    - max_degree: largest number of neighbours;
    - max_average_degree: the average degree of the subgraph where that is largest, bounded from
      above by the largest eigenvalue of the adjacency matrix: the exact value is a problem of
      maximum flow;
    - scan_statistic: largest number of edges among a vertex and its neighbours;
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
        What standardising subtracts and divides by: the mean, and the standard deviation or, where
        that is zero, 1. Without standardising 0 and 1.
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

    def _check(self, stack: GraphStack) -> None:
        check_choice("standardize", self.standardize, (False, True))

    def _learn(self, stack: GraphStack) -> Array:
        raw = _statistics(stack)
        self.mean_, self.scale_ = np.zeros(len(_NAMES)), np.ones(len(_NAMES))
        if self.standardize:
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
    (m, n, _), flat = stack.shape, stack.drop_loops().to_sparse().flat
    parts = (np.ones(flat.nnz), flat.indices.copy(), flat.indptr)
    pattern = sparse.csr_array(parts, shape=flat.shape)
    pattern.sort_indices()
    degrees = np.diff(flat.indptr).reshape(m, n).astype(np.int64)
    triangles, paths = np.empty((m, n), dtype=np.int64), np.empty((m, 2), dtype=np.int64)
    count_triangles(pattern.indptr, pattern.indices, n, triangles)
    count_paths(pattern.indptr, pattern.indices, n, paths)
    graphs = each_graph(GraphStack.from_flat(pattern, m))
    wedges = (degrees * (degrees - 1)).sum(axis=1) // 2
    columns = [
        degrees.sum(axis=1) // 2,
        degrees.max(axis=1),
        np.array([leading(A, 1, "value")[0][0] for A in graphs]),
        (degrees + triangles).max(axis=1),
        triangles.sum(axis=1) // 3,
        _ratio(triangles.sum(axis=1), wedges),
        _ratio(paths[:, 1], paths[:, 0]),
    ]
    return np.column_stack(columns).astype(np.float64)


def _ratio(above: NDArray[np.int64], below: NDArray[np.int64]) -> Array:
    """Return the quotients, 0 for 0 / 0."""
    return np.asarray(above / np.maximum(below, 1))
