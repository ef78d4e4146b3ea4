"""Principal component analysis of vectorised graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from eigengraphs.baselines.estimator import Array, GraphBaseline
from eigengraphs.baselines.inputs import check_choice, check_dimension, with_diagonal
from eigengraphs.baselines.pca_bases import DenseBasis, Solution, SparseBasis
from eigengraphs.errors import InputError
from eigengraphs.stack import GraphStack

__all__ = ["VectorizedPCA"]


class VectorizedPCA(GraphBaseline):
    """Principal components of graphs as vectors of length n^2.

    The components are symmetric matrices C_k of norm 1, orthogonal to each other, and the features
    are <A_i - mean, C_k>. They come from the inner products of the graphs, m x m, and never from
    a covariance n^2 x n^2. Of sparse graphs, components are kept as combinations of the training
    graphs. Components nest: the first k columns of the features are those of ``n_components=k``.

    Parameters
    ----------
    n_components : int
        Number of components, d. Those beyond the rank of the (centred) training graphs, at most
        m - 1 with centring, are zero, and so are their features: there are always d columns.
    center : bool
        Subtract the mean training graph. Without it, this is the singular value decomposition of
        the vectorised graphs.
    diagonal : {"observed", "filled"}
        Take the diagonal as it is, or put the mean of its row into each diagonal entry.

    Attributes
    ----------
    components_ : (d, n, n), or d sparse arrays
        Components; made when asked for.
    mean_ : (n, n) array or sparse array
        Mean training graph; zero without centring.
    explained_variance_ : (d,)
        Sample variance of each feature of the training graphs; without centring, its mean square.
    explained_variance_ratio_ : (d,)
        Share of the squared norm of the (centred) training graphs.
    rank_ : int
        Number of components that are not zero.
    n_components_ : int
        As asked for.
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

    def __init__(
        self, n_components: int = 2, *, center: bool = True, diagonal: str = "observed"
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.diagonal = diagonal

    def _check(self, stack: GraphStack) -> None:
        check_choice("center", self.center, (False, True))
        check_choice("diagonal", self.diagonal, ("observed", "filled"))
        n = stack.n_vertices
        check_dimension(self.n_components, n * (n + 1) // 2, "the number n(n+1)/2 of vertex pairs")

    def _learn(self, stack: GraphStack) -> Array:
        d, m = int(self.n_components), stack.n_graphs
        kind = SparseBasis if stack.is_sparse else DenseBasis
        graphs = with_diagonal(stack, self.diagonal)
        found: Solution = kind.solve(graphs, d, center=bool(self.center))
        self._basis = found.basis
        self.n_components_, self.rank_ = d, int((found.squares > 0).sum())
        self.explained_variance_ = found.squares / (max(m - 1, 1) if self.center else m)
        self.explained_variance_ratio_ = found.squares / (found.total if self.rank_ else 1.0)
        return found.scores

    def _embed(self, stack: GraphStack) -> Array:
        graphs = with_diagonal(stack, self._settings["diagonal"])
        scores: Array = self._basis.scores(graphs)
        return scores

    def _feature_names(self) -> list[str]:
        return [f"pc{k + 1}" for k in range(self.n_components_)]

    @property
    def components_(self) -> Any:
        """Components, (d, n, n); of sparse graphs d sparse arrays."""
        check_is_fitted(self)
        return self._basis.components()

    @property
    def mean_(self) -> Any:
        """Mean training graph, (n, n); zero without centring."""
        check_is_fitted(self)
        return self._basis.mean()

    def inverse_transform(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the graphs mean + sum_k scores[i, k] C_k, as an array (m', n, n).

        Parameters
        ----------
        scores : (m', d)
            Features, a row for each graph.

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
        graphs: NDArray[np.float64] = self._basis.graphs(Z)
        return graphs
