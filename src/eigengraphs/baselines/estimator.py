"""What all baselines share: scikit-learn's interface, checks of input, and distances of graphs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigengraphs.baselines.inputs import as_stack, like_training
from eigengraphs.fitting.settings import name_rows
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import one_blas_thread

__all__ = ["Array", "GraphBaseline", "PositionsBaseline"]

Array = NDArray[np.float64]


class GraphBaseline(TransformerMixin, BaseEstimator):
    """A method that turns each graph into an array, and compares graphs by these arrays.

    A subclass gives ``_check``, ``_embed`` and names of features; ``_learn`` where training graphs
    decide something; ``_features`` and ``_distances`` where arrays are not compared entry by entry.
    """

    n_vertices_: int

    def _check(self, stack: GraphStack) -> None:
        """Raise an error for settings that are wrong, or do not go with these graphs."""

    def _learn(self, stack: GraphStack) -> Array:
        """Set fitted attributes, and return the arrays of the training graphs, (m, ...)."""
        return self._embed(stack)

    def _embed(self, stack: GraphStack) -> Array:
        """Return the arrays of graphs, (m, ...)."""
        raise NotImplementedError

    def _features(self, embedded: Array) -> Array:
        """Return features (m, p) of embedded graphs."""
        return embedded.reshape(len(embedded), -1)

    def _distances(self, a: Array, b: Array) -> Array:
        """Return distances (m, m') of embedded graphs."""
        return np.asarray(cdist(self._features(a), self._features(b)))

    def _feature_names(self) -> list[str]:
        raise NotImplementedError

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """Learn from training graphs.

        Parameters
        ----------
        graphs
            A :class:`~eigengraphs.GraphStack`, or anything it can be made of; undirected and
            without missing entries.
        y
            Ignored.

        Returns
        -------
        GraphBaseline
            The estimator itself.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
        >>> eg.baselines.Omnibus(2).fit(graphs).n_vertices_
        10
        """
        stack = as_stack(graphs)
        self._check(stack)
        before = self.__dict__.copy()
        # New graphs meet the settings of the fit, whatever the parameters are then.
        self._settings = self.get_params(deep=False)
        try:
            with one_blas_thread():
                embedded = self._learn(stack)
        except BaseException:
            self.__dict__ = before  # an older fit stays whole
            raise
        embedded.flags.writeable = False  # attributes show it
        self._embedded = embedded
        self._graph_names = stack.graph_names
        self._has_vertex_names = stack.has_vertex_names
        self.n_vertices_, self.vertex_names_ = stack.n_vertices, stack.vertex_names
        return self

    def transform(self, graphs: Any) -> Any:
        """Return the features of graphs, (m', p).

        Graphs with vertex names are put in the order of the training graphs' names.

        Parameters
        ----------
        graphs : GraphStack, or anything it can be made of
            m' graphs on the vertices of the training graphs.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
        >>> eg.baselines.VectorizedPCA(2).fit(graphs[:4]).transform(graphs[4:]).shape
        (2, 2)
        """
        check_is_fitted(self)
        stack = as_stack(graphs)
        found = self._features(self._embedded_graphs(stack)).copy()
        return name_rows(self, found, stack._graph_names)

    def fit_transform(self, graphs: Any, y: Any = None) -> Any:
        """Fit, and return the features of the training graphs, (m, p).

        Parameters
        ----------
        graphs, y
            As of :meth:`fit`.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
        >>> eg.baselines.VectorizedPCA(2).fit_transform(graphs).shape
        (6, 2)
        """
        stack = as_stack(graphs)
        found = self._features(self.fit(stack, y)._embedded).copy()
        return name_rows(self, found, stack._graph_names)

    def pairwise_distances(self, graphs: Any = None, other: Any = None) -> Array:
        """Return the distances of all pairs of graphs, (m, m').

        Parameters
        ----------
        graphs
            Graphs of the rows; by default the training graphs, which are not embedded again.
        other
            Graphs of the columns; by default those of the rows.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
        >>> eg.baselines.MultipleASE(2).fit(graphs).pairwise_distances(graphs[:2], graphs).shape
        (2, 6)
        """
        a = self._embedded_graphs(graphs)
        return self._distances(a, a if other is None else self._embedded_graphs(other))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return names of the columns of the features, (p,).

        Parameters
        ----------
        input_features
            Ignored; scikit-learn passes it.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
        >>> eg.baselines.VectorizedPCA(2).fit(graphs).get_feature_names_out()
        array(['pc1', 'pc2'], dtype=object)
        """
        check_is_fitted(self)
        return np.array(self._feature_names(), dtype=object)

    def _embedded_graphs(self, graphs: Any) -> Array:
        """Return the arrays of graphs, None for the training graphs."""
        check_is_fitted(self)
        if graphs is None:
            return self._embedded
        names, have_names = self.vertex_names_, self._has_vertex_names
        stack = like_training(as_stack(graphs), names, have_names=have_names)
        with one_blas_thread():
            return self._embed(stack)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        return tags


class PositionsBaseline(GraphBaseline):
    """A method that gives every vertex a position in every graph; compared entry by entry."""

    @property
    def positions_(self) -> Array:
        """Positions of the vertices in each training graph, (m, n, d)."""
        return self.positions()

    def positions(self, graphs: Any = None) -> Array:
        """Return the positions of the vertices in each graph, (m', n, d).

        Parameters
        ----------
        graphs : GraphStack, or anything it can be made of, optional
            m' graphs; by default the training graphs.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
        >>> eg.baselines.Omnibus(2).fit(graphs).positions(graphs[:3]).shape
        (3, 10, 2)
        """
        return self._embedded_graphs(graphs)

    def _feature_names(self) -> list[str]:
        d = self._embedded.shape[2]
        return [f"{name}_{k + 1}" for name in self.vertex_names_ for k in range(d)]
