"""Principal component analysis of vectorized graphs.

Graphs are rows X of their vertex pairs s <= t, off the diagonal times sqrt(2), which keeps inner
products. Components are unit vectors with decreasing eigenvalues of X^T X, X centered or not.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    a covariance n^2 x n^2. Of sparse graphs, components are kept as combinations of the training
    graphs. Components nest: the first k columns of the features are those of ``n_components=k``.

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
        d, m, center = int(self._fitted.n_components), stack.n_graphs, self._fitted.center
        kind: Any = _SparseBasis if stack.is_sparse else _DenseBasis
        self._basis, scores, total = kind.of(stack, d, center=center)
        squares = (scores**2).sum(axis=0)
        self.n_components_, self.rank_ = d, int((squares > 0).sum())
        self.explained_variance_ = squares / (max(m - 1, 1) if center else m)
        self.explained_variance_ratio_ = squares / (total if self.rank_ else 1.0)
        return np.asarray(scores)

    def _embed(self, stack: GraphStack) -> Array:
        return np.asarray(self._basis.scores(stack))

    @property
    def components_(self) -> Any:
        """Components, (d, n, n); of sparse graphs d sparse arrays."""
        check_is_fitted(self)
        return self._basis.unpack(self._basis.combined(np.eye(self.n_components_)))

    @property
    def mean_(self) -> Any:
        """Mean training graph, (n, n); zero without centering."""
        check_is_fitted(self)
        return self._basis.unpack(self._basis.center[None])[0]

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
        graphs = self._basis.unpack(self._basis.combined(Z) + self._basis.center)
        return np.array([A if isinstance(A, np.ndarray) else A.toarray() for A in graphs])


@dataclass(frozen=True)
class _DenseBasis:
    """Components as vectors."""

    packing: Symmetric
    center: Array  # (p,)
    vectors: Array  # (d, p)

    @classmethod
    def of(cls, stack: GraphStack, d: int, *, center: bool) -> tuple[_DenseBasis, Array, float]:
        """Return the basis, scores (m, d) and squared norm of training graphs."""
        packing = Symmetric(stack.n_vertices)
        X = packing.pack(stack.dense)
        (m, p), size = X.shape, float(np.vdot(X, X))
        mean = X.mean(axis=0) if center else np.zeros(p)
        X -= mean
        few = m <= p  # take the smaller of X X^T and X^T X
        root, W = _principal(X @ X.T if few else X.T @ X, d, size)
        vectors = (W / root).T @ X if few else W.T  # (d, p)
        scores = X @ vectors.T
        signs = column_signs(scores)
        total = float(np.vdot(X, X))
        return cls(packing, mean, vectors * signs[:, None]), scores * signs, total

    def scores(self, stack: GraphStack) -> Array:
        """Return the scores of graphs, (m', d)."""
        X = self.packing.pack(stack.to_dense().dense)
        return np.asarray((X - self.center) @ self.vectors.T)

    def combined(self, weights: Array) -> Array:
        """Return combinations of components with weights (k, d), (k, p)."""
        return weights @ self.vectors

    def unpack(self, X: Array) -> NDArray[np.float64]:
        """Return rows (k, p) as matrices, (k, n, n)."""
        return self.packing.unpack(X)


@dataclass(frozen=True)
class _SparseBasis:
    """Components as combinations of the training graphs, which are never centered entry by entry.

    Rows have a column for each of the u pairs that some training graph joins.
    """

    n: int
    codes: NDArray[np.int64]  # (u,) pairs as numbers s n + t, increasing
    X: sparse.csr_array  # (m, u) training graphs
    center: Array  # (u,)
    dual: Array  # (m, d): component k is sum_i dual[i, k] (x_i - center)

    @classmethod
    def of(cls, stack: GraphStack, d: int, *, center: bool) -> tuple[_SparseBasis, Array, float]:
        """Return the basis, scores (m, d) and squared norm of training graphs."""
        m, n, _ = stack.shape
        codes = np.unique(_pairs(stack)[1])
        X = _rows_of_pairs(stack, codes)
        K = np.asarray((X @ X.T).toarray())
        size, share = float(np.trace(K)), 1.0 / m if center else 0.0
        products = share * K.sum(axis=1)
        K = K - products - products[:, None] + share * products.sum()
        # Centering takes differences of inner products, which are exact to rounding of the whole.
        root, W = _principal(K, d, size, 8 * _EPS * size if center else 0.0)
        W *= column_signs(W)
        mean = np.asarray(share * X.sum(axis=0))
        return cls(n, codes, X, mean, W / root), W * root, float(np.trace(K))

    def scores(self, stack: GraphStack) -> Array:
        """Return the scores of graphs, (m', d)."""
        K = np.asarray((_rows_of_pairs(stack, self.codes) @ self.X.T).toarray())
        # The center's own part is the same for all training graphs, and columns of `dual` sum to 0.
        return np.asarray((K - self.X @ self.center) @ self.dual)

    def combined(self, weights: Array) -> Array:
        """Return combinations of components with weights (k, d), (k, u)."""
        of_graphs = weights @ self.dual.T
        whole = np.asarray((self.X.T @ of_graphs.T).T)
        return np.asarray(whole - np.outer(of_graphs.sum(axis=1), self.center))

    def unpack(self, X: Array) -> tuple[sparse.csr_array, ...]:
        """Return rows (k, u) as sparse matrices (n, n)."""
        s, t = np.divmod(self.codes, self.n)
        off = s < t
        ends = (np.r_[s, t[off]], np.r_[t, s[off]])
        scaled = np.where(off, X / np.sqrt(2.0), X)
        values, shape = np.hstack([scaled, scaled[:, off]]), (self.n, self.n)
        return tuple(sparse.csr_array((v, ends), shape=shape) for v in values)


def _pairs(stack: GraphStack) -> tuple[Any, Any, Any]:
    """Return graph, pair and value of each entry s <= t, the value ready for inner products."""
    entries, n = stack.to_sparse().flat.tocoo(), stack.n_vertices
    graph, s = np.divmod(entries.row.astype(np.int64), n)
    upper = s <= entries.col
    graph, s, t = graph[upper], s[upper], entries.col[upper]
    return graph, s * n + t, np.where(s < t, np.sqrt(2.0), 1.0) * entries.data[upper]


def _rows_of_pairs(stack: GraphStack, codes: NDArray[np.int64]) -> sparse.csr_array:
    """Return the graphs as rows of these pairs, (m, u); other pairs are left out."""
    graph, pairs, values = _pairs(stack)
    column = np.searchsorted(codes, pairs)
    known = np.append(codes, -1)[column] == pairs
    places = (graph[known], column[known])
    return sparse.csr_array((values[known], places), shape=(stack.n_graphs, len(codes)))


def _principal(K: Array, d: int, size: float, least: float = 0.0) -> tuple[Array, Array]:
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
