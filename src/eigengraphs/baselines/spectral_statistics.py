"""Eigenvalues of each graph as its features."""

from __future__ import annotations

import numpy as np

from eigengraphs.baselines.estimator import Array, GraphBaseline
from eigengraphs.baselines.inputs import check_dimension, each_graph
from eigengraphs.baselines.spectra import FEW, as_dense, leading
from eigengraphs.stack import GraphStack

__all__ = ["SpectralStatistics"]


class SpectralStatistics(GraphBaseline):
    """Describe each graph by the eigenvalues of its adjacency matrix (Dorogovtsev et al. 2003).

    Graph spectral statistics (GSS) do not change with the order of the vertices.

    Parameters
    ----------
    n_components : int, optional
        How many eigenvalues, largest first by value; by default all n. All of them take the whole
        of each graph as an array.

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

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _check(self, stack: GraphStack) -> None:
        if self.n_components is not None:
            check_dimension(self.n_components, stack.n_vertices, "the number of vertices")

    def _learn(self, stack: GraphStack) -> Array:
        self.n_components_ = self.n_components or stack.n_vertices
        return self._embed(stack)

    def _embed(self, stack: GraphStack) -> Array:
        n, d = stack.n_vertices, self.n_components_
        if n > FEW and d < n:
            return np.array([leading(A, d, "value")[0] for A in each_graph(stack)])
        rising = np.array([np.linalg.eigvalsh(as_dense(A)) for A in each_graph(stack)])
        return np.ascontiguousarray(rising[:, ::-1][:, :d])

    def _feature_names(self) -> list[str]:
        return [f"eigenvalue{k + 1}" for k in range(self.n_components_)]
