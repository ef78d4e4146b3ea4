"""Adjacency spectral embedding of each graph by itself."""

from __future__ import annotations

import numpy as np

from eigengraphs.baselines.estimator import Array
from eigengraphs.baselines.inputs import check_choice, check_dimension, each_graph, with_diagonal
from eigengraphs.baselines.procrustes import ProcrustesBaseline
from eigengraphs.baselines.spectra import leading, roots, rounding
from eigengraphs.stack import GraphStack

__all__ = ["AdjacencySpectralEmbedding", "adjacency_positions"]


def adjacency_positions(stack: GraphStack, d: int, *, scaled: bool = True) -> Array:
    """Return U_i |S_i|^(1/2), or U_i, of the d eigenvalues largest in magnitude, (m, n, d).

    Columns beyond the rank of a graph are zero: eigenvectors there are arbitrary.
    """
    X = np.empty((stack.n_graphs, stack.n_vertices, d))
    for i, A in enumerate(each_graph(stack)):
        values, X[i] = leading(A, d)
        root, inverse = roots(values, rounding(values, stack.n_vertices))
        X[i] *= root if scaled else root * inverse
    return X


class AdjacencySpectralEmbedding(ProcrustesBaseline):
    """Embed each graph by itself, and compare positions up to rotation (Sussman et al. 2012).

    Vertices of graph i have the rows of ``X_i = U_i |S_i|^(1/2)`` for positions, with the
    ``n_components`` eigenvalues of A_i that are largest in magnitude. Graphs are compared by the
    Procrustes distance, min over orthogonal Q of ||X_i Q - X_j||_F. ``transform`` gives distances
    to the training graphs, so that a nearest-neighbour classifier with ``metric="precomputed"`` may
    follow in a pipeline.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    positions_ : (m, n, d)
        Positions in the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> ase = eg.baselines.AdjacencySpectralEmbedding(2).fit(mice.graphs.log1p())
    >>> ase.pairwise_distances().shape
    (32, 32)
    """

    def __init__(self, n_components: int = 2, *, diagonal: str = "observed") -> None:
        self.n_components = n_components
        self.diagonal = diagonal

    def _check(self, stack: GraphStack) -> None:
        check_choice("diagonal", self.diagonal, ("observed", "filled"))
        check_dimension(self.n_components, stack.n_vertices, "the number of vertices")

    def _embed(self, stack: GraphStack) -> Array:
        graphs = with_diagonal(stack, self._settings["diagonal"])
        return adjacency_positions(graphs, self._settings["n_components"])
