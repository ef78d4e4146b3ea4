"""``FlatEmbedding``: graphs as rows of a table, for tools of scikit-learn that need tables."""

from __future__ import annotations

from math import isqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError

__all__ = ["FlatEmbedding"]

_LAYOUTS = ("auto", "full", "triangle", "strict", "partial")
_COLUMNS = {
    "full": "n^2 (all pairs)",
    "triangle": "n(n+1)/2 (a triangle with its diagonal)",
    "strict": "n(n-1)/2 (a triangle without its diagonal)",
}


def _has(name: str) -> Any:
    return available_if(lambda self: hasattr(self._wrapped(), name))


class FlatEmbedding(TransformerMixin, BaseEstimator):
    """Embed graphs that are rows of a table, one column per pair of vertices.

    This allows an embedding where scikit-learn expects two dimensions: in a
    ``ColumnTransformer``, after a scaler, or in anything that splits and stacks tables.

    Parameters
    ----------
    embedding : estimator, optional
        An estimator of stacks of graphs, by default ``JointEmbedding()``. Its parameters are
        ``embedding__n_components`` and so on.
    layout : {"auto", "full", "triangle", "strict", "partial"} or array (p, 2)
        What the columns are. "full": all n^2 pairs, row by row, as ``graphs.reshape(m, -1)`` has
        them. "triangle": the n(n+1)/2 pairs of ``np.triu_indices(n)``. "strict": the n(n-1)/2 of
        ``np.triu_indices(n, 1)``, with 0 on the diagonal. "auto": "full" or "triangle",
        whichever has that number of columns. "partial": any number of columns, (0, 0), (0, 1),
        (1, 1), (0, 2), ..., with 0 for absent columns. An array gives the two vertices of each
        column; pairs that it does not name are 0.

    Attributes
    ----------
    embedding_ : estimator
        The fitted embedding.
    n_features_in_, n_vertices_ : int
        Number of columns, and of vertices.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> import numpy as np
    >>> rows = np.asarray(eg.datasets.load_mice().graphs).reshape(32, -1)
    >>> flat = eg.FlatEmbedding(eg.JointEmbedding(2, random_state=0))
    >>> make_pipeline(FunctionTransformer(np.log1p), flat).fit_transform(rows).shape
    (32, 2)
    """

    def __init__(self, embedding: Any = None, *, layout: Any = "auto") -> None:
        self.embedding = embedding
        self.layout = layout

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the embedding to the graphs of a table.

        Parameters
        ----------
        X : (m, p) array, sparse array or table
            One row per graph, one column per pair of vertices.
        y : (m,), optional
            Labels, for embeddings that take them.
        **fit_params
            Passed to ``fit`` of the embedding, such as ``sample_weight`` (m,).

        Returns
        -------
        FlatEmbedding
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> rows = np.random.default_rng(0).normal(size=(6, 10))  # triangles of 4 vertices
        >>> flat = eg.FlatEmbedding(eg.JointEmbedding(2, random_state=0)).fit(rows)
        >>> flat.n_vertices_, flat.embedding_.loadings_.shape
        (4, (6, 2))
        """
        embedding = self._wrapped()
        if not hasattr(embedding, "fit") or not hasattr(embedding, "transform"):
            raise InputError(
                f"embedding must be an estimator of graphs or None, got {self.embedding!r}"
            )
        X = self._table(X, reset=True)
        directed = bool(embedding.get_params(deep=False).get("directed", False))
        columns = _PairColumns(self.layout, X.shape[1], directed=directed)
        try:
            self.embedding_ = clone(embedding).fit(columns.graphs(X), y, **fit_params)
        except InputError as error:
            p, n = X.shape[1], columns.n_vertices
            told = f"{error} (X has {p} feature(s), so these are graphs on {n} vertices)"
            raise type(error)(told) from error
        self._columns = columns
        self.n_vertices_ = columns.n_vertices
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of the graphs of a table: loadings, (m', d).

        Parameters
        ----------
        X : (m', p) array, sparse array or table
            One row per graph.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> rows = np.random.default_rng(0).normal(size=(6, 10))  # triangles of 4 vertices
        >>> flat = eg.FlatEmbedding(eg.JointEmbedding(2, random_state=0)).fit(rows)
        >>> flat.transform(rows[:2]).shape
        (2, 2)
        """
        return np.asarray(self.embedding_.transform(self.graphs(X)))

    def graphs(self, X: Any) -> Any:
        """Return the graphs of a table, an array (m', n, n) or a list of sparse graphs.

        Parameters
        ----------
        X : (m', p) array, sparse array or table
            One row per graph.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> rows = np.random.default_rng(0).normal(size=(6, 10))  # triangles of 4 vertices
        >>> flat = eg.FlatEmbedding(eg.JointEmbedding(2, random_state=0)).fit(rows)
        >>> flat.graphs(rows).shape
        (6, 4, 4)
        """
        check_is_fitted(self)
        return self._columns.graphs(self._table(X, reset=False))

    @_has("inverse_transform")
    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the rows, (m', p), of the graphs reconstructed from loadings (m', d).

        Parameters
        ----------
        X : (m', d)
            Loadings, one row per graph.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> rows = np.random.default_rng(0).normal(size=(6, 10))  # triangles of 4 vertices
        >>> flat = eg.FlatEmbedding(eg.JointEmbedding(2, random_state=0)).fit(rows)
        >>> flat.inverse_transform(flat.transform(rows)).shape
        (6, 10)
        """
        check_is_fitted(self)
        return self._columns.rows(self.embedding_.inverse_transform(X))

    @_has("score")
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the score of the embedding: the share of the squared norm that it explains.

        Parameters
        ----------
        X : (m', p) array, sparse array or table
            One row per graph.
        y : (m',), optional
            Labels, for embeddings that take them.
        sample_weight : (m',), optional
            Weight of each graph.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> rows = np.random.default_rng(0).normal(size=(6, 10))  # triangles of 4 vertices
        >>> flat = eg.FlatEmbedding(eg.JointEmbedding(2, random_state=0)).fit(rows)
        >>> 0 < flat.score(rows) < 1
        True
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.embedding_.score(self.graphs(X), y, **weights))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names that the embedding gives its columns.

        Parameters
        ----------
        input_features
            Ignored; scikit-learn passes it.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> rows = np.random.default_rng(0).normal(size=(6, 10))  # triangles of 4 vertices
        >>> flat = eg.FlatEmbedding(eg.JointEmbedding(2, random_state=0)).fit(rows)
        >>> flat.get_feature_names_out()
        array(['je1', 'je2'], dtype=object)
        """
        check_is_fitted(self)
        return np.asarray(self.embedding_.get_feature_names_out(), dtype=object)

    def _wrapped(self) -> Any:
        return JointEmbedding() if self.embedding is None else self.embedding

    def _table(self, X: Any, *, reset: bool) -> Any:
        nan = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        kinds = (np.float64, np.float32)
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=nan
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if not hasattr(self._wrapped(), "__sklearn_tags__"):
            return tags  # refused by a fit
        inner = get_tags(self._wrapped())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.required = inner.target_tags.required
        tags.transformer_tags.preserves_dtype = inner.transformer_tags.preserves_dtype
        return tags


class _PairColumns:
    """Which pair of vertices each column of a table stands for.

    Parameters
    ----------
    layout
        One of ``_LAYOUTS``, or an array (p, 2) of vertices.
    p
        Number of columns.
    directed
        Whether a column (s, t) does not stand for (t, s) as well.
    """

    def __init__(self, layout: Any, p: int, *, directed: bool) -> None:
        if not isinstance(layout, str):
            self.pairs, self.mirrored = _given(layout, p, directed=directed), not directed
            self.n_vertices = int(self.pairs.max()) + 1
            return
        if layout not in _LAYOUTS:
            raise InputError(
                f"layout must be one of {', '.join(map(repr, _LAYOUTS))}, or an array (p, 2) with "
                f"the two vertices of each column; got layout={layout!r}"
            )
        if directed and layout not in ("auto", "full"):
            raise InputError(
                f"layout={layout!r} has one column for both directions, and a directed embedding "
                "needs each; use layout='full', or an array (p, 2) of vertices"
            )
        tried = ["full", "triangle"][: 1 if directed else 2] if layout == "auto" else [layout]
        found = {name: n for name in tried if (n := _vertices(name, p)) is not None}
        if len(found) == 2 and p > 1:
            raise InputError(
                f"{p} columns are all pairs of {found['full']} vertices, and the triangle of "
                f"{found['triangle']}; name one: layout='full' or layout='triangle'"
            )
        if not found:
            raise InputError(
                f"X has {p} feature(s), expected {' or '.join(_COLUMNS[name] for name in tried)} "
                f"for layout={layout!r}; columns of other graphs are told by layout=pairs, an "
                "array (p, 2) of vertices"
            )
        layout, n = next(iter(found.items()))
        self.n_vertices, self.mirrored = n, layout != "full"
        if layout == "full":
            s, t = np.indices((n, n)).reshape(2, -1)
        elif layout == "partial":  # a vertex more is a few columns more, at the end
            t, s = np.tril_indices(n)
        else:
            s, t = np.triu_indices(n, 1 if layout == "strict" else 0)
        self.pairs = np.stack([s, t], axis=1)[:p]

    def graphs(self, X: Any) -> Any:
        """Return rows (m, p) as graphs: an array (m, n, n), or a list of sparse graphs."""
        n, (s, t) = self.n_vertices, self.pairs.T
        if not sparse.issparse(X):
            A = np.zeros((X.shape[0], n, n), dtype=X.dtype)
            A[:, s, t] = X
            if self.mirrored:
                A[:, t, s] = X
            return A
        column, entry = np.arange(len(s)), s * n + t
        if self.mirrored:
            off = s != t
            column, entry = np.r_[column, column[off]], np.r_[entry, (t * n + s)[off]]
        # Every entry of a graph is one column: a product with ones puts each in its place.
        make: Any = sparse.csr_array
        ones, shape = np.ones(len(column), dtype=make(X).dtype), (len(s), n * n)
        A = make(X) @ make((ones, (column, entry)), shape=shape)
        return [A[[i]].reshape(n, n).tocsr() for i in range(A.shape[0])]

    def rows(self, A: NDArray[Any]) -> NDArray[Any]:
        """Return graphs (m, n, n) as rows (m, p)."""
        return np.asarray(A[:, self.pairs[:, 0], self.pairs[:, 1]])


def _given(layout: Any, p: int, *, directed: bool) -> NDArray[np.intp]:
    """Return the pairs (p, 2) that a user gave."""
    try:
        pairs = np.asarray(layout)
    except ValueError:
        pairs = np.empty(0)
    whole = pairs.ndim == 2 and pairs.shape[1] == 2 and pairs.dtype.kind in "iu"
    if not whole or (pairs < 0).any():
        raise InputError(
            "layout must be a name, or an array (p, 2) of whole numbers from 0, the two vertices "
            f"of each column; got layout={layout!r}"
        )
    if len(pairs) != p:
        raise InputError(f"layout has {len(pairs)} pairs of vertices for {p} columns")
    if len(np.unique(pairs if directed else np.sort(pairs, axis=1), axis=0)) < p:
        raise InputError("layout has two columns for one pair of vertices")
    return pairs.astype(np.intp)


def _vertices(layout: str, p: int) -> int | None:
    """Return the number of vertices of so many columns, or None if there is none."""
    if layout == "full":
        return n if (n := isqrt(p)) ** 2 == p else None
    n = (isqrt(8 * p + 1) - 1) // 2  # the largest with n (n + 1) / 2 <= p
    whole = n * (n + 1) // 2 == p
    if layout == "partial":
        return n if whole else n + 1
    return n + (layout == "strict") if whole else None
