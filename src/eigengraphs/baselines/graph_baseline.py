"""What all baselines share: checks of input, scikit-learn's interface, distances of graphs."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.fitting.settings import check_count, name_rows
from eigengraphs.solvers.solution import Array
from eigengraphs.stack import GraphStack
from eigengraphs.system.parallel import one_blas_thread


def each_graph(stack: GraphStack) -> Iterator[Any]:
    """Yield the graphs one by one, arrays or CSR (n, n)."""
    return map(stack._graph, range(stack.n_graphs))


def rows(stack: GraphStack) -> Any:
    """Return all graphs below each other, array or CSR (m * n, n)."""
    return stack.flat if stack.is_sparse else stack.dense.reshape(-1, stack.n_vertices)


class GraphBaseline(TransformerMixin, BaseEstimator):
    """A method that describes each graph by an array, and compares graphs by these arrays.

    A subclass defines ``_embed``, and ``_learn`` if something is learned from the training graphs;
    the settings of the fit are attributes of ``self._fitted``. If arrays are not compared entry by
    entry, it defines ``_features`` and ``_distances``, and names of features other than numbers
    after ``_feature``. Parameters are checked here: ``n_components``, ``diagonal``, and all others
    are True or False.
    """

    _feature: ClassVar[str] = ""
    directed: Any = False  # a parameter of those that take directed graphs, too
    _fitted: Any  # parameters: new graphs are treated as at the fit, whatever is set later

    def __init__(self, n_components: int = 2, *, diagonal: str = "observed") -> None:
        self.n_components: Any = n_components
        self.diagonal = diagonal

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
        return [f"{self._feature}{k + 1}" for k in range(self._embedded.shape[1])]

    def _most_components(self, n: int) -> tuple[int, str]:
        """Return the largest ``n_components`` on n vertices, and what it is the number of."""
        return n, "the number of vertices"

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """Learn from training graphs.

        Parameters
        ----------
        graphs
            A :class:`~eigengraphs.GraphStack`, or anything it can be made of; without missing
            entries, and undirected unless ``directed=True``.
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
        stack = self._as_stack(graphs, self.directed)
        settings = self.get_params(deep=False)
        for name, value in settings.items():
            if name == "n_components":
                self._check_dimension(value, stack.n_vertices)
            else:
                _check_choice(name, value)
        before = self.__dict__.copy()
        self._fitted = SimpleNamespace(**settings)
        try:
            with one_blas_thread():
                embedded = self._learn(self._with_diagonal(stack))
        except BaseException:
            self.__dict__ = before  # an older fit stays whole
            raise
        embedded.flags.writeable = False  # attributes show it
        self._embedded, self._graph_names = embedded, stack.graph_names
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
        stack = self._as_stack(graphs, self._is_directed)
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
        stack = self._as_stack(graphs, self.directed)
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
        stack, names = self._as_stack(graphs, self._is_directed), self.vertex_names_
        if stack.n_vertices != len(names):
            raise AlignmentError(
                f"the graphs have {stack.n_vertices} vertices, expected {len(names)} as in the "
                "training graphs"
            )
        # Where only one side has names, vertices are taken in their order.
        both_named = stack.has_vertex_names and self._has_vertex_names
        if both_named or set(stack.vertex_names) == set(names):
            stack = stack.in_order_of(names)
        with one_blas_thread():
            return self._embed(self._with_diagonal(stack))

    def _with_diagonal(self, stack: GraphStack) -> GraphStack:
        """Return the graphs as they are, or with a diagonal of row means if it is "filled".

        The mean is that of the n - 1 other entries of a row: degree / (n - 1).
        """
        if getattr(self._fitted, "diagonal", "observed") == "observed":
            return stack
        m, n, _ = stack.shape
        F, old = rows(stack), stack.diagonals()
        mean = (np.asarray(F.sum(axis=1)).reshape(m, n) - old) / max(n - 1, 1)
        if not stack.is_sparse:
            A = stack.dense.copy()
            np.einsum("iss->is", A)[...] = mean
            return GraphStack(A, copy=False)
        places = np.tile(np.arange(n), m), np.arange(m * n + 1)
        change = sparse.csr_array(((mean - old).ravel(), *places), F.shape)
        return GraphStack.from_flat(sparse.csr_array(F + change), m)

    @property
    def _is_directed(self) -> bool:
        return bool(getattr(self._fitted, "directed", False))

    def _as_stack(self, graphs: Any, directed: Any) -> GraphStack:
        """Return graphs of any supported kind as one checked stack of float64."""
        # No copy: a stack made here is read at once and not kept.
        stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs, copy=False)
        stack.require_complete(
            "baselines take only complete graphs: fill the entries, or use "
            "JointEmbedding(missing='unobserved')"
        )
        if not directed:
            todo = "fit with directed=True, or " if "directed" in self.get_params() else ""
            stack.require_undirected(
                f"this baseline takes undirected graphs: {todo}use GraphStack(graphs).symmetrize()"
            )
        return stack if stack.dtype == np.float64 else stack.astype(np.float64)

    def _check_dimension(self, d: Any, n: int) -> None:
        check_count("n_components", d)
        most, what = self._most_components(n)
        if d > most:
            raise InputError(f"n_components={d} is more than {most}, {what}; ask for fewer")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        return tags


class PositionsBaseline(GraphBaseline):
    """A method with positions of every vertex in every graph, compared entry by entry."""

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


def _check_choice(name: str, value: Any) -> None:
    allowed: tuple[Any, ...] = ("observed", "filled") if name == "diagonal" else (False, True)
    kind = str if name == "diagonal" else bool | np.bool_
    if not isinstance(value, kind) or value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise InputError(f"{name} must be one of {listed}, got {name}={value!r}")
