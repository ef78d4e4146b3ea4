"""Laplacian eigenmap of each graph by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigengraphs.baselines.estimator import Array
from eigengraphs.baselines.inputs import Matrix, check_choice, check_dimension, each_graph
from eigengraphs.baselines.procrustes import ProcrustesBaseline
from eigengraphs.baselines.spectra import leading
from eigengraphs.stack import GraphStack

__all__ = ["LaplacianEigenmap"]


class LaplacianEigenmap(ProcrustesBaseline):
    """Embed the normalised Laplacian of each graph, and compare positions up to rotation.

    With N_i = D_i^(-1/2) A_i D_i^(-1/2), the normalised Laplacian is I - N_i (Belkin and Niyogi
    2003). Positions are its eigenvectors U_i with the ``n_components`` smallest eigenvalues, the
    first of them included, which holds the square roots of the degrees. ``scaled`` multiplies them
    by ``|S_i|^(1/2)``, S_i being their eigenvalues of N_i. Graphs are compared by the Procrustes
    distance; ``transform`` gives distances to the training graphs.

    A vertex without edges has a zero row in N_i. Degrees are sums of absolute weights, so that
    negative weights are allowed.

    Parameters
    ----------
    n_components : int
        Number of dimensions, d.
    scaled : bool
        Scale the eigenvectors. By default they are, as in the Laplacian spectral embedding that the
        authors of the paper use elsewhere (Tang and Priebe 2018), and as in igraph and graspologic:
        the only difference from :class:`AdjacencySpectralEmbedding` is then the matrix. Without it
        (Belkin and Niyogi's) graphs are compared by the spaces that the eigenvectors span, and what
        eigenvalues tell of classes is lost.

    Attributes
    ----------
    positions_ : (m, n, d)
        Positions in the training graphs.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> eg.baselines.LaplacianEigenmap(2).fit(graphs).positions_.shape
    (6, 10, 2)
    """

    def __init__(self, n_components: int = 2, *, scaled: bool = True) -> None:
        self.n_components = n_components
        self.scaled = scaled

    def _check(self, stack: GraphStack) -> None:
        check_choice("scaled", self.scaled, (False, True))
        check_dimension(self.n_components, stack.n_vertices, "the number of vertices")

    def _embed(self, stack: GraphStack) -> Array:
        d, scaled = self._settings["n_components"], self._settings["scaled"]
        X = np.empty((stack.n_graphs, stack.n_vertices, d))
        for i, A in enumerate(each_graph(stack)):
            values, X[i] = leading(_normalised(A), d, "value")
            if scaled:
                X[i] *= np.sqrt(np.abs(values))
        return X


def _normalised(A: Matrix) -> Matrix:
    """Return D^(-1/2) A D^(-1/2), with zeros for vertices without edges."""
    sizes: Any = abs(A)
    root = np.sqrt(np.asarray(sizes.sum(axis=1)))
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    if isinstance(A, np.ndarray):
        return np.asarray(A * inverse * inverse[:, None])
    lengths = np.diff(A.indptr)
    data = A.data * np.repeat(inverse, lengths) * inverse[A.indices]
    return sparse.csr_array((data, A.indices, A.indptr), shape=A.shape)
