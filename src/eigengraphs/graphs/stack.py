"""``GraphStack``: many graphs on one vertex set, checked once and never changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.graphs.align import VertexRule, check_vertex_rule, refuse_nameless
from eigengraphs.graphs.bits import Words, bits_pay, pack
from eigengraphs.graphs.build import (
    Storage,
    StorageRule,
    build,
    check_names,
    check_storage,
    flat_from_edges,
    read_names,
    storage_for,
)
from eigengraphs.graphs.facts import EntryBits, GraphFacts, about_observed, scan_and_pack
from eigengraphs.graphs.mask import Mask, make_mask
from eigengraphs.graphs.missing import (
    MissingRule,
    check_missing,
    graph_with_nan,
    take_out_nan,
)
from eigengraphs.graphs.selection import one_place, places
from eigengraphs.graphs.stack_facts import StackFacts
from eigengraphs.graphs.stack_transforms import StackTransforms
from eigengraphs.graphs.stack_vertices import StackVertices

__all__ = ["GraphStack"]


class GraphStack(StackFacts, StackTransforms, StackVertices):
    """Many vertex-aligned graphs as one immutable sample.

    Parameters
    ----------
    graphs
        A list, dictionary (names to graphs) or iterable of graphs, or an array (m, n, n). A
        graph is a square array, a scipy sparse array or matrix of any format, a networkx or
        igraph graph, or a pandas DataFrame with vertex names on both axes; kinds may be mixed.
        Graphs that carry vertex names are aligned by them. One without names among them is taken
        to be in the order of the first that has names or, if the names are the numbers from 0
        on, in the order of the numbers.
    graph_names, vertex_names : sequence of str, optional
        Names of the graphs and of the vertices. For graphs that carry vertex names,
        ``vertex_names`` gives their order.
    weight : str or None
        Edge attribute of networkx and igraph graphs that holds the weight; an edge without it
        counts 1. None ignores weights.
    vertices : {"same", "intersection", "union"}
        What to do when named graphs have different vertices. In a union, a vertex that a networkx
        or igraph graph does not have is isolated there, and one that a DataFrame does not have
        was not measured, which is refused; with ``missing="unobserved"`` both are hidden.
    storage : {"auto", "dense", "sparse"}
        One array (m, n, n), or one flat CSR matrix (m * n, n). "auto" leaves an array (m, n, n)
        as it is, never makes a scipy sparse matrix dense, and takes the smaller otherwise.
    dtype : float32 or float64, optional
        Type of the weights. By default float32 stays float32 and all else becomes float64.
    copy : bool
        With False, a float array (m, n, n) is shared and not copied: then it must stay as it is,
        because norms, kinds and the bits of unweighted graphs are found once.
    missing : {"error", "unobserved"}
        What to do with entries that are nan, or masked in a ``numpy.ma`` array. "unobserved" hides
        them: they take no part in any loss, and ``mask`` knows them. Then the vertices that a graph
        lacks in a union are hidden, too. Where only one of an entry and its mirror image is known,
        and the graph is symmetric but for such entries, the known one stands for both. Infinite
        entries are always refused. The hidden entries of a stack stay hidden in what is made of it.

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

    __slots__ = (
        "__weakref__",
        "_entry_bits",
        "_facts",
        "_graph_names",
        "_mask",
        "_storage",
        "_vertex_names",
        "_words",
    )

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
        check_missing(missing)
        if isinstance(graphs, GraphStack):
            same = graphs._as_given(graph_names, vertex_names, vertices, storage, dtype)
            self._set(*same._parts)
            return
        kept, names, vertex, present = build(
            graphs,
            graph_names=graph_names,
            vertex_names=vertex_names,
            weight=weight,
            vertices=vertices,
            storage=storage,
            dtype=dtype,
            copy=copy,
            nan_for_masked=missing == "unobserved",
        )
        if missing == "error":
            self._set(kept, None, names, vertex)
        else:
            self._set_hiding(kept, present, names, vertex, shared=not copy)

    def _as_given(
        self,
        graph_names: Sequence[str] | None,
        vertex_names: Sequence[str] | None,
        vertices: VertexRule,
        storage: StorageRule,
        dtype: DTypeLike | None,
    ) -> Self:
        """Return the stack that GraphStack(self, ...) makes: names order, or name what has none."""
        check_storage(storage)
        check_vertex_rule(vertices)
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
        check_missing(missing)
        rows, n = flat.shape
        if n_graphs < 1 or rows != n_graphs * n:
            raise InputError(
                f"a flat matrix of {n_graphs} graphs on {n} vertices must have "
                f"{n_graphs * n} rows, got {rows}"
            )
        keep_type = flat.dtype in (np.float32, np.float64)
        kept = sparse.csr_array(flat.copy() if keep_type else flat.astype(np.float64))
        kept.sum_duplicates()
        kept.eliminate_zeros()
        names = check_names(graph_names, n_graphs, "graph_names")
        vertex = check_names(vertex_names, n, "vertex_names")
        if missing == "error":
            return cls._make(kept, None, names, vertex)
        stack = object.__new__(cls)
        stack._set_hiding(kept, None, names, vertex, shared=False)
        return stack

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
        """Make a stack of one table of edges, with a column that tells the graph of each.

        Every graph is on all vertices of the table. Rows that name the same edge of the same graph
        are added up.

        Parameters
        ----------
        edges : pandas or polars DataFrame, or dictionary of arrays
            One row per edge.
        source, target : str
            Columns of the two ends.
        graph : str or None
            Column of the graph's name; None for one graph. Graphs are in the order of their first
            edges.
        weight : str or None
            Column of weights; every edge counts 1 with None, or where there is no column "weight".
        directed : bool
            Keep the direction. Otherwise an edge that stands in one direction stands for both, and
            one that stands in both must have the same weight.
        vertex_names : sequence of str, optional
            All vertices in the order that they are to have, with those that have no edge. By
            default those of the edges, sorted.
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

    @classmethod
    def _make(
        cls,
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
        mask: Mask | None = None,
        words: Words | None = None,
    ) -> Self:
        stack = object.__new__(cls)
        stack._set(storage, facts, graph_names, vertex_names, mask, words)
        return stack

    def _set_hiding(
        self,
        storage: Storage,
        present: NDArray[np.bool_] | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
        *,
        shared: bool,
    ) -> None:
        """Set everything, with nan and absent vertices hidden."""
        facts: GraphFacts | None
        facts, words, _ = scan_and_pack(storage, storage.shape[-1])
        hidden = None
        if (facts.first_bad >= 0).any():
            storage, hidden = take_out_nan(storage, shared=shared)
            facts = None
        mask = make_mask(present, hidden)
        known = (facts, words) if mask is None else (None, None)
        self._set(storage, known[0], graph_names, vertex_names, mask, known[1])

    def _set(
        self,
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
        mask: Mask | None = None,
        words: Words | None = None,
    ) -> None:
        if isinstance(storage, np.ndarray):
            storage = storage.view()  # read-only for us; the caller's array stays as it was
            storage.flags.writeable = False
        else:
            for part in (storage.data, storage.indices, storage.indptr):
                part.flags.writeable = False
        object.__setattr__(self, "_storage", storage)
        object.__setattr__(self, "_graph_names", graph_names)
        object.__setattr__(self, "_vertex_names", vertex_names)
        object.__setattr__(self, "_mask", mask)
        entry_bits, scanned = None, facts is None
        if facts is None:
            facts, words, entry_bits = scan_and_pack(storage, storage.shape[-1])
        object.__setattr__(self, "_facts", facts)
        object.__setattr__(self, "_words", words)
        object.__setattr__(self, "_entry_bits", entry_bits)
        if scanned:
            self._refuse_non_finite()
            if mask is not None:
                seen = about_observed(self._facts, self.diagonals(), mask)
                object.__setattr__(self, "_facts", seen)

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
            way_out = ", or pass missing='unobserved' to GraphStack, and it takes no part"
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
        return self._make, self._parts

    @property
    def _parts(self) -> tuple[Any, ...]:
        names = (self._graph_names, self._vertex_names)
        return (self._storage, self._facts, *names, self._mask, self._words)

    @property
    def words(self) -> Words | None:
        """The graphs a bit an entry, if they are large, dense and unweighted; found once."""
        if self._words is None and not self.is_weighted and bits_pay(self._storage):
            object.__setattr__(self, "_words", pack(self.dense))
        return self._words

    @property
    def entry_bits(self) -> EntryBits | None:
        """A bit for each entry of each graph, if the scan of many small ones found ones alone."""
        return self._entry_bits

    # ------------------------------------------------------------------ as a sequence

    def __len__(self) -> int:
        return self.n_graphs

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.n_graphs))

    def __getitem__(self, which: Any) -> Any:
        """Return one graph for a place or a name, a stack for a slice, a mask or places.

        In one graph, entries that are hidden are nan.
        ``stack[places, ...]`` is the same as ``stack[places]``: scikit-learn takes samples so.
        """
        if isinstance(which, tuple):
            if len(which) != 2 or which[1] is not Ellipsis:
                raise InputError(
                    "a GraphStack is indexed by graph alone: stack[graphs] or stack[graphs, ...]; "
                    "for vertices use select_vertices"
                )
            which = which[0]
        if isinstance(which, str | int | np.integer) and not isinstance(which, bool):
            i = one_place(which, self.graph_names, "graph")
            graph = self._graph(i)
            if self._mask is None or self._mask.n_hidden[i] == 0:
                return graph
            return graph_with_nan(graph, self._mask, i, self._label(i))
        return self._several(which, places(which, self.graph_names, "graph"))

    def _several(self, which: Any, chosen: NDArray[np.intp]) -> GraphStack:
        """Return the graphs at some places; ``which`` is what the user wrote for them."""
        names = self._graph_names and tuple(self._graph_names[i] for i in chosen)
        words = None
        if isinstance(self._storage, np.ndarray):
            contiguous = isinstance(which, slice) and which.step in (None, 1)
            places = which if contiguous else chosen
            kept: Storage = self._storage[places]
            words = None if self._words is None else self._words[places]
        else:
            rows = (chosen[:, None] * self.n_vertices + np.arange(self.n_vertices)).ravel()
            kept = self._storage[rows]
        mask = None if self._mask is None else self._mask.take(chosen)
        facts = self._facts.take(chosen)
        return self._make(kept, facts, names, self._vertex_names, mask, words)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if self._mask is None:
            return np.array(self.dense, dtype=dtype, copy=copy)
        if copy is False:
            raise ValueError("graphs with hidden entries become an array with nan by a copy alone")
        shown = np.array(self.dense, dtype=dtype)
        for i in np.flatnonzero(self._mask.n_hidden).tolist():
            shown[i, self._mask.hidden_of(i).toarray()] = np.nan
        return shown
