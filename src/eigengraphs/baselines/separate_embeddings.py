"""Methods that embed each graph by itself, and compare positions by Procrustes distances."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from eigengraphs.baselines.eigenvectors import leading, roots, rounding
from eigengraphs.baselines.graph_baseline import PositionsBaseline, each_graph
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import spans

_BLOCK_ENTRIES = 2**18  # of inner products at a time; small, so that few pairs come twice


class _ProcrustesBaseline(PositionsBaseline):
    """A method whose positions are known only up to a rotation or reflection of each graph."""

    def _features(self, embedded: Array) -> Array:
        return self._distances(embedded, self._embedded)

    def _distances(self, a: Array, b: Array) -> Array:
        return procrustes_distances(a, None if a is b else b)

    def _feature_names(self) -> list[str]:
        return [f"distance_to_{name}" for name in self._graph_names]


class AdjacencySpectralEmbedding(_ProcrustesBaseline):
    """Embed each graph by itself, and compare positions up to rotation (Sussman et al. 2012).

    Vertices of graph i have the rows of ``X_i = U_i |S_i|^(1/2)`` for positions, with the
    ``n_components`` eigenvalues of A_i that are largest in magnitude. Graphs are compared by the
    Procrustes distance, min over orthogonal Q of ||X_i Q - X_j||_F. ``transform`` gives distances
    to the training graphs, so that a nearest-neighbor classifier with ``metric="precomputed"`` may
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

    def _embed(self, stack: GraphStack) -> Array:
        return adjacency_positions(stack, self._fitted.n_components)


def adjacency_positions(
    stack: GraphStack, d: int, *, scaled: bool = True,
    order: Literal["value", "magnitude"] = "magnitude",
) -> Array:  # fmt: skip
    """Return U_i |S_i|^(1/2), or U_i, of the d leading eigenvalues, (m, n, d).

    Columns beyond the rank of a graph are zero: eigenvectors there are arbitrary.
    """
    X = np.empty((stack.n_graphs, stack.n_vertices, d))
    for i, A in enumerate(each_graph(stack)):
        values, X[i] = leading(A, d, order)
        root, inverse = roots(values, rounding(values, stack.n_vertices))
        X[i] *= root if scaled else root * inverse
    return X


class LaplacianEigenmap(_ProcrustesBaseline):
    """Embed the normalized Laplacian of each graph, and compare positions up to rotation.

    With N_i = D_i^(-1/2) A_i D_i^(-1/2), the normalized Laplacian is I - N_i (Belkin and Niyogi
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
        Scale the eigenvectors, as in the Laplacian spectral embedding that the authors of the paper
        use elsewhere (Tang and Priebe 2018), and as in igraph and graspologic: the only difference
        from :class:`AdjacencySpectralEmbedding` is then the matrix. Without scaling (as Belkin and
        Niyogi do) graphs are compared by the spaces that the eigenvectors span, and the information
        in the eigenvalues is lost.

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

    def _embed(self, stack: GraphStack) -> Array:
        d, scaled = self._fitted.n_components, self._fitted.scaled
        X = np.empty((stack.n_graphs, stack.n_vertices, d))
        for i, A in enumerate(each_graph(stack)):
            values, X[i] = leading(_normalized(A), d, "value")
            X[i] *= np.sqrt(np.abs(values)) if scaled else 1.0
        return X


def _normalized(A: Any) -> Any:
    """Return D^(-1/2) A D^(-1/2), with zeros for vertices without edges."""
    root = np.sqrt(np.asarray(abs(A).sum(axis=1)))
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    if isinstance(A, np.ndarray):
        return A * inverse * inverse[:, None]
    D = sparse.diags_array(inverse, format="csr")
    return D @ A @ D


def procrustes_distances(X: Array, Y: Array | None = None) -> Array:
    """Return min over orthogonal Q of ||X_i Q - Y_j||_F for all pairs, (m, m').

    The squares are ||X_i||^2 + ||Y_j||^2 - 2 ||X_i^T Y_j||_*, so that a distance is exact to about
    1e-8 of the norms. (scipy's ``orthogonal_procrustes`` takes one pair at a time.)

    Parameters
    ----------
    X : (m, n, d)
        Positions.
    Y : (m', n, d), optional
        Other positions; by default ``X``, and each pair is computed once.
    """
    other = X if Y is None else Y
    (m, n, d), m_other = X.shape, len(other)
    left = np.ascontiguousarray(X.transpose(0, 2, 1))  # (m, d, n)
    right = np.ascontiguousarray(other.transpose(1, 0, 2))  # (n, m', d)
    norms = np.zeros((m, m_other))
    for lo, hi in spans(m, _BLOCK_ENTRIES // (m_other * d * d)):
        first = lo if Y is None else 0
        C = left[lo:hi].reshape(-1, n) @ right[:, first:].reshape(n, -1)
        C = C.reshape(hi - lo, d, m_other - first, d).transpose(0, 2, 1, 3)
        norms[lo:hi, first:] = _nuclear_norms(C)
    if Y is None:
        norms = np.triu(norms) + np.triu(norms, 1).T
    squares = [np.einsum("isk,isk->i", Z, Z) for Z in (X, other)]
    D: Array = np.sqrt(np.maximum(squares[0][:, None] + squares[1] - 2 * norms, 0.0))
    if Y is None:
        np.fill_diagonal(D, 0.0)
    return D


def _nuclear_norms(C: Array) -> Array:
    """Return the sums of singular values of matrices (..., d, d)."""
    if C.shape[-1] == 2:  # (s + t)^2 = s^2 + t^2 + 2 s t, much faster than the decomposition
        det = C[..., 0, 0] * C[..., 1, 1] - C[..., 0, 1] * C[..., 1, 0]
        squares = np.einsum("...kl,...kl->...", C, C)
        return np.asarray(np.sqrt(squares + 2 * np.abs(det)))
    return np.asarray(np.linalg.svd(C, compute_uv=False).sum(axis=-1))
