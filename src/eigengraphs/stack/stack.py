"""``GraphStack``: many graphs on one vertex set, checked once and never changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.stack import transforms
from eigengraphs.stack.build import (
    StorageRule,
    VertexRule,
    build,
    check_choice,
    check_dtype,
    refuse_nameless,
    storage_for,
)
from eigengraphs.stack.edge_table import flat_from_edges
from eigengraphs.stack.flat_matrix import Storage, canonical, flatten, transpose_flat
from eigengraphs.stack.graph_facts import GraphFacts, broken_entry, find_facts
from eigengraphs.stack.mask import (
    Mask,
    MissingRule,
    about_observed,
    graph_with_nan,
    hide_missing,
    make_mask,
    one_sided,
    pairs_to_hide,
    zero_there,
)
from eigengraphs.stack.names import (
    check_names,
    label,
    one_place,
    places,
    read_names,
    some_of,
    spelling,
)
from eigengraphs.system.labels import count_of, size_in_words

_PARTS = ("_storage", "_facts", "_graph_names", "_vertex_names", "_mask")


class GraphStack:
    """Many vertex-aligned graphs as one immutable sample.

    Parameters
    ----------
    graphs
        A list, dictionary (names to graphs) or iterable of graphs, or an array (m, n, n). A
        graph is a square array, a scipy sparse array or matrix of any format, a networkx or
        igraph graph, or a pandas DataFrame with vertex names on both axes; kinds may be mixed.
        Graphs with vertex names are aligned by them. A graph without names is assumed to be in
        the order of the first graph with names or, if the names are the numbers from 0 on, in the
        order of the numbers.
    graph_names, vertex_names : sequence of str, optional
        Names of the graphs and of the vertices. For graphs that carry vertex names,
        ``vertex_names`` gives their order.
    weight : str or None
        Edge attribute of networkx and igraph graphs with the weight; an edge without it has weight
        1. None ignores weights.
    vertices : {"same", "intersection", "union"}
        What to do when named graphs have different vertices. In a union, a vertex that a networkx
        or igraph graph does not have is isolated there. A vertex that a DataFrame does not have
        was not measured, and is refused. With ``missing="unobserved"`` both are hidden.
    storage : {"auto", "dense", "sparse"}
        One array (m, n, n), or one flat CSR matrix (m * n, n). "auto" keeps an array (m, n, n)
        and never makes a scipy sparse matrix dense; otherwise it takes the smaller one.
    dtype : float32 or float64, optional
        Type of the weights. By default float32 stays float32 and all else becomes float64.
    copy : bool
        With False, a float array (m, n, n) is shared and not copied; then it must not be changed,
        because its norms and other facts are computed only once.
    missing : {"error", "unobserved"}
        What to do with entries that are nan, or masked in a ``numpy.ma`` array. "unobserved" hides
        them: they are left out of every loss, and listed in ``mask``. Vertices that a graph
        lacks in a union are then hidden, too. If only one of an entry and its mirror image is
        known, and the graph is symmetric except for such entries, the known one is used for both.
        Infinite entries are always refused. Hidden entries stay hidden in derived stacks.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs import GraphStack
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> stack = GraphStack([triangle, 2 * triangle], vertex_names=["a", "b", "c"])
    >>> stack
    GraphStack(2 graphs, 3 vertices, undirected, weighted, hollow, density 1, dense float64, 144 B)
    >>> stack[1:].binarize()[0]
    array([[0., 1., 1.],
           [1., 0., 1.],
           [1., 1., 0.]])
    >>> triangle[0, 1] = np.nan
    >>> GraphStack([triangle, triangle.T + triangle], missing="unobserved").n_hidden
    2
    """

    __slots__ = ("__weakref__", *_PARTS)

    _storage: Storage  # (m, n, n), or one CSR matrix (m * n, n); hidden entries are 0
    _facts: GraphFacts
    _graph_names: tuple[str, ...] | None
    _vertex_names: tuple[str, ...] | None
    _mask: Mask | None  # None: every entry is observed

    # ------------------------------------------------------------------ making one

    def __init__(
        self,
        graphs: Any,
        *,
        graph_names: Sequence[str] | None = None,
        vertex_names: Sequence[str] | None = None,
        weight: str | None = "weight",
        vertices: VertexRule = "same",
        storage: StorageRule = "auto",
        dtype: DTypeLike | None = None,
        copy: bool = True,
        missing: MissingRule = "error",
    ) -> None:
        check_choice("missing", missing, "error", "unobserved")
        check_choice("storage", storage, "auto", "dense", "sparse")
        check_choice("vertices", vertices, "same", "intersection", "union")
        if isinstance(graphs, GraphStack):
            same = graphs._as_given(graph_names, vertex_names, vertices, storage, dtype)
            self._set(*(getattr(same, name) for name in _PARTS))
            return
        kept, names, vertex, present = build(
            graphs, graph_names, vertex_names, weight, vertices, storage, dtype, copy,
            hide=missing == "unobserved",
        )  # fmt: skip
        facts = mask = None
        if missing == "unobserved":
            kept, facts, mask = hide_missing(kept, present, shared=not copy)
        self._set(kept, facts, names, vertex, mask)

    def _as_given(
        self,
        graph_names: Sequence[str] | None,
        vertex_names: Sequence[str] | None,
        vertices: VertexRule,
        storage: StorageRule,
        dtype: DTypeLike | None,
    ) -> GraphStack:
        """Return the stack that GraphStack(self, ...) makes: names order, or name what has none."""
        if vertices != "same" and self._vertex_names is None:
            refuse_nameless(vertices)
        stack = self.with_names(graph_names=graph_names)
        if vertex_names is not None:
            if self._vertex_names is None:
                stack = stack.with_names(vertex_names=vertex_names)
            else:
                stack = stack.in_order_of(read_names(vertex_names, "vertex_names"))
        if dtype is not None:
            stack = stack.astype(dtype)
        if storage == "auto":
            return stack
        return stack.to_dense() if storage == "dense" else stack.to_sparse()

    @classmethod
    def from_flat(
        cls,
        flat: sparse.csr_array,
        n_graphs: int,
        *,
        graph_names: Sequence[str] | None = None,
        vertex_names: Sequence[str] | None = None,
        missing: MissingRule = "error",
    ) -> GraphStack:
        """Make a sparse stack of one CSR matrix (m * n, n), graph after graph.

        Parameters
        ----------
        flat : scipy.sparse.csr_array (m * n, n)
            The graphs below each other.
        n_graphs : int
            How many there are, m.
        graph_names, vertex_names : sequence of str, optional
            Names of the graphs and of the vertices.
        missing : {"error", "unobserved"}
            What to do with entries that are nan; see :class:`GraphStack`.

        Returns
        -------
        GraphStack

        Examples
        --------
        >>> from scipy import sparse
        >>> import eigengraphs as eg
        >>> flat = sparse.csr_array([[0, 1], [1, 0], [0, 2], [2, 0]])
        >>> eg.GraphStack.from_flat(flat, 2).shape
        (2, 2, 2)
        """
        check_choice("missing", missing, "error", "unobserved")
        rows, n = flat.shape
        if n_graphs < 1 or rows != n_graphs * n:
            raise InputError(
                f"a flat matrix of {n_graphs} graphs on {n} vertices must have "
                f"{n_graphs * n} rows, got {rows}"
            )
        kept = canonical(flat.astype(np.float32 if flat.dtype == np.float32 else np.float64))
        names = check_names(graph_names, n_graphs, "graph_names")
        vertex = check_names(vertex_names, n, "vertex_names")
        facts = mask = None
        if missing == "unobserved":
            kept, facts, mask = hide_missing(kept, None, shared=False)
        return cls._make(kept, facts, names, vertex, mask)

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        *,
        source: str = "source",
        target: str = "target",
        graph: str | None = "graph",
        weight: str | None = "weight",
        directed: bool = False,
        vertex_names: Sequence[str] | None = None,
        missing: MissingRule = "error",
    ) -> GraphStack:
        """Make a stack from one table of edges, with a column that names the graph of each edge.

        Every graph is on all vertices of the table. Weights of rows with the same edge of the same
        graph are added.

        Parameters
        ----------
        edges : pandas or polars DataFrame, or dictionary of arrays
            One row per edge.
        source, target : str
            Columns of the two vertices.
        graph : str or None
            Column with the name of the graph; None for a single graph. Graphs are in the order of
            their first edges.
        weight : str or None
            Column of weights; with None, or without a column "weight", every edge has weight 1.
        directed : bool
            Keep the direction. Otherwise an edge in one direction counts for both, and an edge in
            both directions must have the same weight.
        vertex_names : sequence of str, optional
            All vertices in the desired order, including those without edges. By default those of
            the edges, sorted.
        missing : {"error", "unobserved"}
            What to do with weights that are nan; see :class:`GraphStack`.

        Returns
        -------
        GraphStack

        Examples
        --------
        >>> import eigengraphs as eg
        >>> edges = {"from": ["a", "b", "a"], "to": ["b", "c", "c"], "year": [1, 1, 2]}
        >>> stack = eg.GraphStack.from_edges(edges, source="from", target="to", graph="year")
        >>> stack.graph_names, stack[1].tolist()
        (('1', '2'), [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
        """
        columns = {"source": source, "target": target, "graph": graph, "weight": weight}
        flat, names, vertex = flat_from_edges(
            edges, columns, directed=directed, vertex_names=vertex_names
        )
        m, n = flat.shape[0] // flat.shape[1], flat.shape[1]
        stack = cls.from_flat(flat, m, graph_names=names, vertex_names=vertex, missing=missing)
        kept = storage_for(m, n, int(flat.nnz), False, flat.dtype)
        return stack.to_dense() if kept == "dense" else stack

    @staticmethod
    def _make(
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
        mask: Mask | None = None,
    ) -> GraphStack:
        """Return a stack of its parts; without facts, they are found and entries are checked."""
        stack = object.__new__(GraphStack)
        stack._set(storage, facts, graph_names, vertex_names, mask)
        return stack

    def _changed(self, storage: Storage, mask: Mask | None = None) -> GraphStack:
        """Return a stack with other weights under the same names."""
        return self._make(storage, None, self._graph_names, self._vertex_names, mask)

    def _set(
        self,
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
        mask: Mask | None = None,
    ) -> None:
        if isinstance(storage, np.ndarray):
            storage = storage.view()  # read-only for us; the caller's array stays as it was
            storage.flags.writeable = False
        else:
            for part in (storage.data, storage.indices, storage.indptr):
                part.flags.writeable = False
        parts = (storage, facts or find_facts(storage), graph_names, vertex_names, mask)
        for name, value in zip(_PARTS, parts, strict=True):
            object.__setattr__(self, name, value)
        if facts is None:
            self._refuse_non_finite()
            if mask is not None:
                seen = about_observed(self._facts, self.diagonals(), mask)
                object.__setattr__(self, "_facts", seen)

    # ------------------------------------------------------------------ what is known of it

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return len(self._facts.norm)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return int(self._storage.shape[-1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """(m, n, n)."""
        return (self.n_graphs, self.n_vertices, self.n_vertices)

    @property
    def ndim(self) -> int:
        """Always 3: scikit-learn asks."""
        return 3

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return np.dtype(self._storage.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes that the weights and their places take, and the mask."""
        masked = 0 if self._mask is None else self._mask.nbytes
        if isinstance(self._storage, np.ndarray):
            return self._storage.nbytes + masked
        flat = self._storage
        return int(flat.data.nbytes + flat.indices.nbytes + flat.indptr.nbytes) + masked

    @property
    def mask(self) -> Mask | None:
        """Which entries are observed; None if all are. Hidden ones are 0 in the storage."""
        return self._mask

    @property
    def has_missing(self) -> bool:
        """Whether some entry is hidden."""
        return self._mask is not None

    @property
    def n_hidden(self) -> int:
        """Number of hidden entries of all graphs; a pair of an undirected graph counts twice."""
        return 0 if self._mask is None else int(self._mask.n_hidden.sum())

    @property
    def is_sparse(self) -> bool:
        """Whether the stack is kept as one flat CSR matrix."""
        return not isinstance(self._storage, np.ndarray)

    @property
    def dense(self) -> NDArray[Any]:
        """The graphs as one read-only array (m, n, n), hidden entries 0; for dense stacks only."""
        if self.is_sparse:
            raise InputError("this stack is sparse; use .flat, or to_dense() if it fits in memory")
        return cast("NDArray[Any]", self._storage)

    @property
    def flat(self) -> sparse.csr_array:
        """The graphs as one CSR matrix (m * n, n), hidden entries 0; for sparse stacks only."""
        if not self.is_sparse:
            raise InputError("this stack is dense; use .dense, or to_sparse()")
        return cast(sparse.csr_array, self._storage)

    @property
    def facts(self) -> GraphFacts:
        """Norms, counts and kinds of the graphs, one value per graph."""
        return self._facts

    @property
    def has_vertex_names(self) -> bool:
        """Whether the vertices were given names."""
        return self._vertex_names is not None

    @property
    def graph_names(self) -> tuple[str, ...]:
        """Names of the graphs; their indices ('0', '1', ...) if none were given."""
        return self._graph_names or tuple(map(str, range(self.n_graphs)))

    @property
    def vertex_names(self) -> tuple[str, ...]:
        """Names of the vertices; their indices ('0', '1', ...) if none were given."""
        return self._vertex_names or tuple(map(str, range(self.n_vertices)))

    @property
    def is_directed(self) -> bool:
        """Whether some graph is not symmetric (beyond rounding)."""
        return not bool(self._facts.is_symmetric.all())

    @property
    def is_weighted(self) -> bool:
        """Whether some entry is neither 0 nor 1."""
        return not bool(self._facts.is_binary.all())

    @property
    def is_hollow(self) -> bool:
        """Whether no graph has a loop."""
        return not bool(self._facts.n_loops.any())

    @property
    def constant_diagonal(self) -> float | None:
        """The one value of all (observed) diagonal entries, up to rounding, or None."""
        return self._facts.constant_diagonal

    @property
    def density(self) -> float:
        """Share of the (observed) pairs of different vertices that are joined, over all graphs."""
        edges, pairs = float((self._facts.n_nonzero - self._facts.n_loops).sum()), self._n_pairs()
        return edges / pairs if pairs > 0 else 0.0

    def _n_pairs(self) -> int:
        """Return the number of observed entries off the diagonal."""
        m, n, _ = self.shape
        return (
            m * n * (n - 1) if self._mask is None else int(self._mask.counts(diagonal=False).sum())
        )

    def diagonals(self) -> NDArray[np.float64]:
        """Return the diagonals; 0 where they are hidden.

        Returns
        -------
        array (m, n)

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[3, 1], [1, 4]]]).diagonals()
        array([[3., 4.]])
        """
        m, n, _ = self.shape
        if self.is_hollow:
            return np.zeros((m, n))
        if isinstance(self._storage, np.ndarray):
            return np.array(np.einsum("iss->is", self._storage), dtype=np.float64)
        on: Any = self._storage[np.arange(m * n), np.tile(np.arange(n), m)]
        return np.asarray(on, dtype=np.float64).reshape(m, n)

    # ------------------------------------------------------------------ what others require of it

    def require_undirected(self, remedy: str) -> None:
        """Raise an error that names the first entry without its mirror image, if there is one.

        Parameters
        ----------
        remedy : str
            What to do about it: the end of the message.

        Raises
        ------
        InputError
            If some graph is directed.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 1], [1, 0]]]).require_undirected("symmetrize it")
        >>> eg.GraphStack([[[0, 2], [1, 0]]]).require_undirected("no")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        eigengraphs.errors.InputError: graphs[0] is not symmetric: entry (0, 1) is 2 and its ...
        """
        if not self.is_directed:
            return
        i = int(np.flatnonzero(~self._facts.is_symmetric)[0])
        alone = self._alone(i)
        A = alone._graph(0)
        if alone._mask is not None and not alone._mask.is_symmetric[0]:
            raise InputError(
                f"{self._label(i)} is directed: it hides entries whose mirror images are known; "
                f"{remedy}"
            )
        gap = np.abs(A - A.T) if isinstance(A, np.ndarray) else abs(A - A.T)
        s, t = divmod(int(gap.argmax()), self.n_vertices)
        raise InputError(
            f"{self._label(i)} is not symmetric: {self._entry(s, t)} is {A[s, t]:g} and its mirror "
            f"image is {A[t, s]:g}; {remedy}"
        )

    def require_complete(self, remedy: str) -> None:
        """Raise an error that names a graph with hidden entries, if there is one.

        Parameters
        ----------
        remedy : str
            What to do about it: the end of the message.

        Raises
        ------
        InputError
            If some entry is hidden.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1], [1, 0]]]).hide([[False, True], [False, False]])
        >>> stack.require_complete("fill them")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        eigengraphs.errors.InputError: 2 entries are hidden, most of them (2) in graphs[0]; ...
        """
        if self._mask is None:
            return
        i = int(np.argmax(self._mask.n_hidden))
        raise InputError(
            f"{self.n_hidden} entries are hidden, most of them ({self._mask.n_hidden[i]}) in "
            f"{self._label(i)}; {remedy}"
        )

    def require_comparable(self, files: Sequence[str] = ()) -> None:
        """Raise an error that names a broken entry, which makes all others negligible.

        The sum of their squares is less than 1e-10 of its square, so a fit would describe only this
        entry: a broken cell, such as 1e300 among counts. There may be a few such entries.

        Parameters
        ----------
        files : sequence of str, optional
            File of each graph, for the message.

        Raises
        ------
        InputError
            If there is such an entry.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 2], [2, 0]], [[0, 3], [3, 0]]]).require_comparable()
        >>> broken = eg.GraphStack([[[0, 2], [2, 0]], [[0, 1e9], [1e9, 0]]])
        >>> broken.require_comparable()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        eigengraphs.errors.InputError: graphs[1] has a broken weight: entry (0, 1) is 1e+09, ...
        """
        found = broken_entry(self._graph, self._facts) if self.is_weighted else None
        if found is None:
            return
        first, s, t, value = found
        where = f"{files[first]}: " if files else ""
        raise InputError(
            f"{where}{self._label(first)} has a broken weight: {self._entry(s, t)} is {value:g}, "
            "which makes all other weights of all graphs negligible; correct it, or replace it "
            "by nan and pass missing='unobserved'"
        )

    # ------------------------------------------------------------------ as a sequence

    def __len__(self) -> int:
        return self.n_graphs

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.n_graphs))

    def __getitem__(self, which: Any) -> Any:
        """Return one graph for an index or a name, a stack for a slice, a mask or indices.

        In one graph, entries that are hidden are nan.
        ``stack[graphs, ...]`` is the same as ``stack[graphs]``: scikit-learn selects samples so.
        """
        if isinstance(which, tuple):
            if len(which) != 2 or which[1] is not Ellipsis:
                raise InputError(
                    "a GraphStack is indexed by graph only: stack[graphs] or stack[graphs, ...]; "
                    "for vertices use select_vertices"
                )
            which = which[0]
        if isinstance(which, str | int | np.integer) and not isinstance(which, bool):
            return self._shown(one_place(which, self.graph_names, "graph"))
        return self._several(which, places(which, self.graph_names, "graph"))

    def _several(self, which: Any, chosen: NDArray[np.intp]) -> GraphStack:
        """Return the graphs at some places; ``which`` is what the user wrote for them."""
        names = self._graph_names and tuple(self._graph_names[i] for i in chosen)
        if isinstance(self._storage, np.ndarray):
            contiguous = isinstance(which, slice) and which.step in (None, 1)
            kept: Storage = self._storage[which if contiguous else chosen]
        else:
            rows = (chosen[:, None] * self.n_vertices + np.arange(self.n_vertices)).ravel()
            kept = self._storage[rows]
        mask = None if self._mask is None else self._mask.take(chosen)
        return self._make(kept, self._facts.take(chosen), names, self._vertex_names, mask)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if self._mask is None:
            return np.array(self.dense, dtype=dtype, copy=copy)
        if copy is False:
            raise ValueError("graphs with hidden entries become an array with nan only by a copy")
        shown = np.array(self.dense, dtype=dtype)
        shown[~self._mask.toarray()] = np.nan
        return shown

    # ------------------------------------------------------------------ with other weights

    def symmetrize(self, how: transforms.SymmetrizeRule = "mean") -> GraphStack:
        """Return undirected graphs: the "mean", "max", "min" or "sum" of A_st and A_ts.

        If one of the two is hidden, the other is used for both; a sum is then hidden.

        Parameters
        ----------
        how : {"mean", "max", "min", "sum"}
            What becomes of A_st and A_ts.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 3], [1, 0]]]).symmetrize("max")[0].tolist()
        [[0.0, 3.0], [3.0, 0.0]]
        """
        storage = transforms.symmetrize(self._storage, how)
        mask = self._mask
        if mask is None or mask.is_symmetric.all():
            return self._changed(storage, mask)
        return self._changed(*one_sided(self._storage, storage, mask, fill=how != "sum"))

    def binarize(self, threshold: float = 0.0) -> GraphStack:
        """Return unweighted graphs with an edge where the weight is above ``threshold``.

        Parameters
        ----------
        threshold : float
            Weights above it become 1, all others 0.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 3], [3, 0]], [[0, 1], [1, 0]]]).binarize(2).dense[:, 0, 1]
        array([1., 0.])
        """
        storage = transforms.binarize(self._storage, threshold)
        if self._mask is not None and isinstance(storage, np.ndarray) and threshold < 0:
            storage *= self._mask.toarray()
        return self._changed(storage, self._mask)

    def log1p(self) -> GraphStack:
        """Return the graphs with log(1 + weight) for weight; weights must be above -1.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 9], [9, 0]]]).log1p()[0].round(2).tolist()
        [[0.0, 2.3], [2.3, 0.0]]
        """
        return self._changed(transforms.log1p(self._storage), self._mask)

    def signed_log1p(self) -> GraphStack:
        """Return the graphs with ``sign(weight) log(1 + |weight|)`` for weight.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, -9], [-9, 0]]]).signed_log1p()[0].round(2).tolist()
        [[0.0, -2.3], [-2.3, 0.0]]
        """
        return self._changed(transforms.signed_log1p(self._storage), self._mask)

    def fisher_z(self) -> GraphStack:
        """Return graphs of correlations with z = arctanh(correlation) for weight.

        The diagonal is set to zero: that of a correlation matrix, all 1, is not data and has no
        finite z. Weights off the diagonal must lie in (-1, 1), by more than rounding.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[1, 0.5], [0.5, 1]]]).fisher_z()[0].round(2).tolist()
        [[0.0, 0.55], [0.55, 0.0]]
        """
        bad = transforms.not_correlation(self._storage)
        if bad is not None:
            i, s, t, value = bad
            raise InputError(
                f"{self._label(i)} has {value:.17g} at {self._entry(s, t)}; fisher_z needs "
                "correlations, strictly between -1 and 1 off the diagonal: leave out one of two "
                "vertices that are copies of each other, or shrink the correlations a little"
            )
        return self._changed(
            transforms.fisher_z(self._storage, self._facts.is_symmetric), self._mask
        )

    def rank(self) -> GraphStack:
        """Return the graphs with ranks for weights ("pass to ranks").

        Within each graph, the nonzero weights off the diagonal (A_st and A_ts both count) are
        replaced by average rank / (their number + 1), which lies in (0, 1) and does not depend
        on the scale. Absent edges stay absent, symmetric graphs stay symmetric. Loops are
        ranked in the same way among themselves. Negative weights get the lowest ranks, which are
        above the 0 of an absent edge: for signed weights take :meth:`signed_rank`.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> path = eg.GraphStack([[[0, 7, 0], [7, 0, 90], [0, 90, 0]]])
        >>> path.rank()[0].round(2).tolist()
        [[0.0, 0.3, 0.0], [0.3, 0.0, 0.7], [0.0, 0.7, 0.0]]
        """
        symmetric = self._facts.is_symmetric
        return self._changed(transforms.rank(self._storage, symmetric, signed=False), self._mask)

    def signed_rank(self) -> GraphStack:
        """Return the graphs with sign(weight) times the rank of ``|weight|``; see :meth:`rank`.

        The same as :meth:`rank` where no weight is negative.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> path = eg.GraphStack([[[0, 7, 0], [7, 0, -90], [0, -90, 0]]])
        >>> path.signed_rank()[0].round(2).tolist()
        [[0.0, 0.3, 0.0], [0.3, 0.0, -0.7], [0.0, -0.7, 0.0]]
        """
        symmetric = self._facts.is_symmetric
        return self._changed(transforms.rank(self._storage, symmetric, signed=True), self._mask)

    def unit_norm(self) -> GraphStack:
        """Return the graphs divided by their own Frobenius norms; a zero graph stays zero.

        Loops count in the norm: drop them first if the diagonal holds no data.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[3, 0], [0, 4]]]).unit_norm()[0].tolist()
        [[0.6, 0.0], [0.0, 0.8]]
        """
        return self._changed(transforms.unit_norm(self._storage), self._mask)

    def laplacian(self) -> GraphStack:
        """Return the graphs ``D_i^(-1/2) A_i D_i^(-1/2)``, with ``A_i`` divided by its mean degree.

        ``D_i`` are the degrees, sums of absolute weights with loops, divided by their mean, plus
        a quarter; of a directed graph, out-degrees on the left and in-degrees on the right. A
        vertex or graph without edges stays what it is, and the unit of the weights does not
        matter. Where entries are hidden, a degree is the sum of the observed ones, divided by
        the share of the vertex's entries that they are.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> path = eg.GraphStack([[[0, 7, 0], [7, 0, 7], [0, 7, 0]]])
        >>> path.laplacian()[0].round(2).tolist()
        [[0.0, 0.57, 0.0], [0.57, 0.0, 0.57], [0.0, 0.57, 0.0]]
        """
        mask, shares = self._mask, None
        if mask is not None:
            sides = mask, Mask(mask.present, transpose_flat(mask.hidden))
            shares = np.stack([side.row_counts() for side in sides]) / self.n_vertices
        return self._changed(transforms.laplacian(self._storage, shares), mask)

    def drop_loops(self) -> GraphStack:
        """Return the graphs with zero diagonals; hidden loops are then also known to be zero.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[3, 1], [1, 4]]]).drop_loops()[0].tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        mask = None if self._mask is None else self._mask.without_loops()
        return self._changed(transforms.drop_loops(self._storage), mask)

    def hide(self, pairs: Any) -> GraphStack:
        """Return the graphs with more entries hidden, for example to hold them out.

        Costs a copy of the graphs, and five bytes per hidden entry.

        Parameters
        ----------
        pairs : array of bool (n, n) or (m, n, n), or sparse array (n, n) or (m * n, n)
            True where an entry is hidden, in all graphs or in each. In undirected graphs the
            mirror image is also hidden.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1], [1, 0]], [[0, 2], [2, 0]]])
        >>> stack.hide([[False, True], [False, False]])[1].tolist()
        [[0.0, nan], [nan, 0.0]]
        """
        m, n, _ = self.shape
        more = pairs_to_hide(pairs, m, n, self._facts.is_symmetric)
        if more.nnz == 0:
            return self
        mask = make_mask(None, more) if self._mask is None else self._mask.hiding(more)
        return self._changed(zero_there(self._storage, more), mask)

    # ------------------------------------------------------------------ kept in another way

    def astype(self, dtype: DTypeLike) -> GraphStack:
        """Return the graphs with float32 or float64 weights.

        Parameters
        ----------
        dtype : float32 or float64
            Type of the weights.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 1], [1, 0]]]).astype("float32").dtype
        dtype('float32')
        """
        wanted = check_dtype(dtype)
        if isinstance(self._storage, np.ndarray):
            return self._changed(self._storage.astype(wanted), self._mask)
        return self._changed(sparse.csr_array(self._storage.astype(wanted)), self._mask)

    def to_dense(self) -> GraphStack:
        """Return the same graphs as one array; needs 8 m n^2 bytes (4 in float32).

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 1], [1, 0]]], storage="sparse").to_dense().dense.shape
        (1, 2, 2)
        """
        if isinstance(self._storage, np.ndarray):
            return self
        kept = self._storage.toarray().reshape(self.shape)
        return self._make(kept, self._facts, self._graph_names, self._vertex_names, self._mask)

    def to_sparse(self) -> GraphStack:
        """Return the same graphs as one flat CSR matrix.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 1], [1, 0]]]).to_sparse().flat.shape
        (2, 2)
        """
        if not isinstance(self._storage, np.ndarray):
            return self
        flat = flatten(list(self._storage), self._storage.dtype)
        return self._make(flat, self._facts, self._graph_names, self._vertex_names, self._mask)

    # ------------------------------------------------------------------ other vertices or names

    def select_vertices(self, which: Any) -> GraphStack:
        """Return the graphs induced on some vertices, given by name, index, mask or slice.

        Parameters
        ----------
        which : name, index, sequence of them, mask (n,) of bool, or slice
            The vertices, in the desired order.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1, 2], [1, 0, 3], [2, 3, 0]]], vertex_names=["a", "b", "c"])
        >>> stack.select_vertices(["c", "a"])[0].tolist()
        [[0.0, 2.0], [2.0, 0.0]]
        """
        keep = self._kept(which)
        names = self._vertex_names and tuple(self._vertex_names[s] for s in keep)
        storage = transforms.select_vertices(self._storage, keep)
        mask = None if self._mask is None else self._mask.select(keep)
        return self._make(storage, None, self._graph_names, names, mask)

    def _kept(self, which: Any) -> NDArray[np.intp]:
        """Return the places of the vertices chosen, each once."""
        keep = places(which, self.vertex_names, "vertex")
        if len(np.unique(keep)) < len(keep):
            raise InputError("the selection names a vertex more than once")
        return keep

    def among(self, names: Sequence[str], *, isolated: bool = False) -> GraphStack:
        """Return the graphs on the vertices ``names``; vertices that they lack are unobserved.

        Every vertex of the stack must be among them.

        Parameters
        ----------
        names : sequence of str
            All vertices of the new stack, in their order.
        isolated : bool
            Whether added vertices have no edges instead of being unobserved.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1], [1, 0]]], vertex_names=["a", "c"])
        >>> stack.among(["a", "b", "c"])[0].tolist()
        [[0.0, nan, 1.0], [nan, nan, nan], [1.0, nan, 0.0]]
        """
        unknown = sorted(set(self.vertex_names) - set(names))
        if unknown:
            raise AlignmentError(
                f"all vertices must be among those asked for; these are not: {some_of(unknown)}"
            )
        m, _, _ = self.shape
        n, place = len(names), {name: s for s, name in enumerate(names)}
        at = np.array([place[name] for name in self.vertex_names])
        storage = transforms.spread(self._storage, at, n)
        present, hidden = np.full((m, n), isolated), None
        present[:, at] = True if self._mask is None else self._mask.present
        if self._mask is not None:
            hidden = sparse.csr_array(transforms.spread(self._mask.hidden, at, n))
        mask = make_mask(present, hidden)
        return self._make(storage, None, self._graph_names, tuple(names), mask)

    def in_order_of(self, names: Sequence[str]) -> GraphStack:
        """Return the graphs with their vertices in the order of ``names``.

        Parameters
        ----------
        names : sequence of str
            Names of all vertices, in the desired order.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1], [2, 0]]], vertex_names=["a", "b"])
        >>> stack.in_order_of(["b", "a"])[0].tolist()
        [[0.0, 2.0], [1.0, 0.0]]
        """
        if tuple(names) == self.vertex_names:
            return self
        differ = sorted(set(names) ^ set(self.vertex_names))
        if differ:
            raise AlignmentError(
                f"the graphs must have exactly these vertices; only in one of the two: "
                f"{some_of(differ)}{spelling(differ, differ)}"
            )
        return self.select_vertices(list(names))

    def with_names(
        self,
        *,
        graph_names: Sequence[str] | None = None,
        vertex_names: Sequence[str] | None = None,
    ) -> GraphStack:
        """Return the same graphs under other names.

        Parameters
        ----------
        graph_names, vertex_names : sequence of str, optional
            New names; by default the present ones.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 1], [1, 0]]]).with_names(vertex_names=["a", "b"]).vertex_names
        ('a', 'b')
        """
        m, n, _ = self.shape
        graph = check_names(graph_names, m, "graph_names") or self._graph_names
        vertex = check_names(vertex_names, n, "vertex_names") or self._vertex_names
        return self._make(self._storage, self._facts, graph, vertex, self._mask)

    # ------------------------------------------------------------------ parts, and how it looks

    def _graph(self, i: int) -> Any:
        """Return one graph, hidden entries 0."""
        if isinstance(self._storage, np.ndarray):
            return self._storage[i]
        flat, n = self._storage, self.n_vertices
        first, last = flat.indptr[i * n], flat.indptr[(i + 1) * n]
        parts = (
            flat.data[first:last],
            flat.indices[first:last],
            flat.indptr[i * n : (i + 1) * n + 1] - first,
        )
        graph = sparse.csr_array(parts, shape=(n, n))
        graph.data.flags.writeable = graph.indices.flags.writeable = False
        return graph

    def _shown(self, i: int) -> Any:
        """Return one graph, hidden entries nan."""
        graph = self._graph(i)
        if self._mask is None or self._mask.n_hidden[i] == 0:
            return graph
        return graph_with_nan(graph, self._mask, i, self._label(i))

    def _alone(self, i: int) -> GraphStack:
        """Return one graph as a stack in memory."""
        return self._several(slice(i, i + 1), np.array([i]))

    def _label(self, i: int) -> str:
        return label(i, None if self._graph_names is None else self._graph_names[i])

    def _entry(self, s: int, t: int) -> str:
        if self._vertex_names is None:
            return f"entry ({s}, {t})"
        return f"entry ({s}, {t}), {self._vertex_names[s]!r} to {self._vertex_names[t]!r}"

    def _refuse_non_finite(self) -> None:
        bad = np.flatnonzero(self._facts.first_bad >= 0)
        if bad.size == 0:
            return
        i = int(bad[0])
        s, t = divmod(int(self._facts.first_bad[i]), self.n_vertices)
        more = f" ({bad.size - 1} more graphs have such entries)" if bad.size > 1 else ""
        value = self._graph(i)[s, t]
        way_out = ""
        if np.isnan(value):
            way_out = ", or pass missing='unobserved' to GraphStack to leave it out of the fit"
        raise InputError(
            f"{self._label(i)} has {value} at {self._entry(s, t)}{more}; weights must be "
            "finite: leave that graph or vertex out, or fill the entry, before making the stack"
            f"{way_out}"
        )

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a GraphStack cannot be changed; make a new one instead of .{name} =")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a GraphStack cannot be changed, so .{name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphStack._make, tuple(getattr(self, name) for name in _PARTS)

    def _summary(self) -> list[str]:
        loops = "hollow" if self.is_hollow else "with loops"
        m, n, _ = self.shape
        hidden = [f"{100 * self.n_hidden / (m * n * n):.3g} % hidden"] if self.has_missing else []
        return [
            count_of(m, "graph"),
            count_of(n, "vertex"),
            "directed" if self.is_directed else "undirected",
            "weighted" if self.is_weighted else "unweighted",
            loops,
            f"density {self.density:.3g}",
            *hidden,
            f"{'sparse' if self.is_sparse else 'dense'} {self.dtype}",
            size_in_words(self.nbytes),
        ]

    def __repr__(self) -> str:
        return f"GraphStack({', '.join(self._summary())})"

    def _repr_html_(self) -> str:
        cells = "".join(f"<td>{escape(part)}</td>" for part in self._summary())
        return f"<table><tr><th>GraphStack</th>{cells}</tr></table>"
