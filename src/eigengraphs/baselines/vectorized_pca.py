"""Principal component analysis of vectorized graphs.

Graphs are rows X of their vertex pairs s <= t, off the diagonal times sqrt(2), which keeps inner
products. Components are unit vectors with decreasing eigenvalues of X^T X, X centered or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from eigengraphs.baselines.eigenvectors import leading
from eigengraphs.baselines.graph_baseline import GraphBaseline
from eigengraphs.errors import InputError
from eigengraphs.solvers.geometry import Symmetric
from eigengraphs.solvers.solution import Array, column_signs
from eigengraphs.stack import GraphStack

_EPS = float(np.finfo(np.float64).eps)


class VectorizedPCA(GraphBaseline):
    """Principal components of graphs as vectors of length n^2.

    The components are symmetric matrices C_k of norm 1, orthogonal to each other, and the features
    are <A_i - mean, C_k>. They come from the inner products of the graphs, m x m, and never from
    a covariance n^2 x n^2. Components of sparse graphs have entries only at pairs that some
    training graph joins. Components nest: the first k columns of the features are those of
    ``n_components=k``.

    Parameters
    ----------
    n_components : int
        Number of components, d. Those beyond the rank of the (centered) training graphs, at most
        m - 1 with centering, are zero, and so are their features: there are always d columns.
    center : bool
        Subtract the mean training graph. Without it, this is the singular value decomposition of
        the vectorized graphs.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    components_ : (d, n, n), or d sparse arrays
        Components; computed on access.
    mean_ : (n, n) array or sparse array
        Mean training graph; zero without centering.
    explained_variance_ : (d,)
        Sample variance of each feature of the training graphs; without centering, its mean square.
    explained_variance_ratio_ : (d,)
        Share of the squared norm of the (centered) training graphs.
    rank_ : int
        Number of components that are not zero.
    n_components_ : int
        Number of components, d.
    n_vertices_, vertex_names_
        Of the training graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
    >>> pca = eg.baselines.VectorizedPCA(2).fit(graphs)
    >>> pca.transform(graphs).shape, pca.components_.shape
    ((6, 2), (2, 10, 10))
    """

    _feature = "pc"

    def __init__(
        self, n_components: int = 2, *, center: bool = True, diagonal: str = "observed"
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.diagonal = diagonal

    def _most_components(self, n: int) -> tuple[int, str]:
        return n * (n + 1) // 2, "the number n(n+1)/2 of vertex pairs"

    def _learn(self, stack: GraphStack) -> Array:
        d, center = int(self._fitted.n_components), self._fitted.center
        self._pairs = np.unique(_entries(stack)[1]) if stack.is_sparse else None
        X = self._vectorized(stack)
        m, p = X.shape
        self._center = np.asarray(X.mean(axis=0)) if center else np.zeros(p)
        V, total = self._principal(X, d)
        scores = np.asarray(X @ V.T)  # of an array that was centered in place
        if stack.is_sparse:
            scores -= self._center @ V.T
        signs = column_signs(scores)
        scores, self._components = scores * signs, V * signs[:, None]
        squares = (scores**2).sum(axis=0)
        self.n_components_, self.rank_ = d, int((squares > 0).sum())
        self.explained_variance_ = squares / (max(m - 1, 1) if center else m)
        self.explained_variance_ratio_ = squares / (total if self.rank_ else 1.0)
        return scores

    def _embed(self, stack: GraphStack) -> Array:
        V = self._components
        return np.asarray(self._vectorized(stack) @ V.T - self._center @ V.T)

    def _vectorized(self, stack: GraphStack) -> Any:
        """Return graphs as rows with their inner products, array (m, p) or CSR."""
        if self._pairs is None:
            return Symmetric(stack.n_vertices).pack(stack.to_dense().dense)
        graph, pairs, values = _entries(stack)
        column = np.searchsorted(self._pairs, pairs)
        known = np.append(self._pairs, -1)[column] == pairs
        places, shape = (graph[known], column[known]), (stack.n_graphs, len(self._pairs))
        return sparse.csr_array((values[known], places), shape=shape)

    def _principal(self, X: Any, d: int) -> tuple[Array, float]:
        """Return components as rows (d, p), and the squared norm of the centered rows of X.

        An array is centered in place.
        """
        m, p = X.shape
        if self._pairs is None:
            size = float(np.vdot(X, X))
            X -= self._center
            few = m <= p  # take the smaller of X X^T and X^T X
            K = X @ X.T if few else X.T @ X
            root, W = _kept_eigenvectors(K, d, size)
            return (W / root).T @ X if few else W.T, float(np.trace(K))
        # Sparse rows are never centered entry by entry, but their inner products are: differences
        # that are exact to rounding of the whole.
        K = (X @ X.T).toarray()
        size, center = float(np.trace(K)), self._center
        products = X @ center
        K = K - products - products[:, None] + center @ center
        root, W = _kept_eigenvectors(K, d, size, 8 * _EPS * size if center.any() else 0.0)
        W = W / root
        return np.asarray((X.T @ W).T - np.outer(W.sum(axis=0), center)), float(np.trace(K))

    def _graphs(self, rows: Array) -> Any:
        """Return rows (k, p) as matrices, (k, n, n), or k sparse ones."""
        n = self.n_vertices_
        if self._pairs is None:
            return Symmetric(n).unpack(rows)
        s, t = np.divmod(self._pairs, n)
        off = s < t
        ends = (np.r_[s, t[off]], np.r_[t, s[off]])
        scaled = np.where(off, rows / np.sqrt(2.0), rows)
        values = np.hstack([scaled, scaled[:, off]])
        return tuple(sparse.csr_array((v, ends), shape=(n, n)) for v in values)

    @property
    def components_(self) -> Any:
        """Components, (d, n, n); of sparse graphs d sparse arrays."""
        check_is_fitted(self)
        return self._graphs(self._components)

    @property
    def mean_(self) -> Any:
        """Mean training graph, (n, n); zero without centering."""
        check_is_fitted(self)
        return self._graphs(self._center[None])[0]

    def inverse_transform(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the graphs mean + sum_k scores[i, k] C_k, as an array (m', n, n).

        Parameters
        ----------
        scores : (m', d)
            Features, one row per graph.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
        >>> pca = eg.baselines.VectorizedPCA(5).fit(graphs)
        >>> bool(abs(pca.inverse_transform(pca.transform(graphs)) - graphs).max() < 1e-9)
        True
        """
        check_is_fitted(self)
        try:
            Z = np.asarray(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("scores must be an array of numbers") from None
        if Z.ndim != 2 or Z.shape[1] != self.n_components_:
            raise InputError(f"scores must have shape (m, {self.n_components_}), got {Z.shape}")
        graphs = self._graphs(Z @ self._components + self._center)
        return np.array([A if isinstance(A, np.ndarray) else A.toarray() for A in graphs])


def _entries(stack: GraphStack) -> tuple[Any, Any, Any]:
    """Return graph, pair and value of each entry s <= t, the value ready for inner products."""
    entries, n = stack.to_sparse().flat.tocoo(), stack.n_vertices
    graph, s = np.divmod(entries.row.astype(np.int64), n)
    upper = s <= entries.col
    graph, s, t = graph[upper], s[upper], entries.col[upper]
    return graph, s * n + t, np.where(s < t, np.sqrt(2.0), 1.0) * entries.data[upper]


def _kept_eigenvectors(K: Array, d: int, size: float, least: float = 0.0) -> tuple[Array, Array]:
    """Return roots (d,) of the leading eigenvalues and eigenvectors (k, d).

    Beyond the rank, roots are 1 and eigenvectors 0.

    Parameters
    ----------
    K : (k, k)
        Inner products.
    d
        Number of components.
    size
        Squared norm of the graphs before centering: centered copies of one graph are not exactly
        zero.
    least
        Eigenvalues up to here are rounding in any case.
    """
    k = len(K)
    squares, W = leading(K, min(d, k), "value")
    squares, W = (np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, max(d - k, 0))]) for x in (squares, W))
    kept = squares > max(4 * k * _EPS * float(squares[0]), (4 * _EPS) ** 2 * size, least)
    return np.sqrt(np.where(kept, squares, 1.0)), np.where(kept, W, 0.0)
