"""``GraphStack``: many graphs on one vertex set, checked once and never changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.graphs.align import VertexRule
from eigengraphs.graphs.build import Storage, StorageRule, build, check_names
from eigengraphs.graphs.coerce import label
from eigengraphs.graphs.facts import GraphFacts, scan
from eigengraphs.graphs.kernels import flat_diagonals
from eigengraphs.graphs.selection import one_place, places
from eigengraphs.graphs.stack_transforms import StackTransforms

__all__ = ["GraphStack"]


class GraphStack(StackTransforms):
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
        What to do when named graphs have different vertices; in a union, a vertex that a graph
        does not have is isolated there.
    storage : {"auto", "dense", "sparse"}
        One array (m, n, n), or one flat CSR matrix (m * n, n). "auto" leaves an array (m, n, n)
        as it is, never makes a scipy sparse matrix dense, and takes the smaller otherwise.
    dtype : float32 or float64, optional
        Type of the weights. By default float32 stays float32 and all else becomes float64.
    copy : bool
        With False, a float array (m, n, n) is shared and not copied: then whoever changes it
        changes the stack.

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
    """

    __slots__ = ("__weakref__", "_facts", "_graph_names", "_storage", "_vertex_names")

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
    ) -> None:
        if isinstance(graphs, GraphStack):
            same = graphs._as_given(graph_names, vertex_names, vertices, storage, dtype)
            self._set(same._storage, same._facts, same._graph_names, same._vertex_names)
            return
        kept, names, vertex = build(
            graphs,
            graph_names=graph_names,
            vertex_names=vertex_names,
            weight=weight,
            vertices=vertices,
            storage=storage,
            dtype=dtype,
            copy=copy,
        )
        self._set(kept, None, names, vertex)

    @classmethod
    def from_flat(
        cls,
        flat: sparse.csr_array,
        n_graphs: int,
        *,
        graph_names: Sequence[str] | None = None,
        vertex_names: Sequence[str] | None = None,
    ) -> GraphStack:
        """Make a sparse stack of one CSR matrix (m * n, n), graph after graph."""
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
        return cls._make(kept, None, names, check_names(vertex_names, n, "vertex_names"))

    @classmethod
    def _make(
        cls,
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
    ) -> Self:
        stack = object.__new__(cls)
        stack._set(storage, facts, graph_names, vertex_names)
        return stack

    def _set(
        self,
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
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
        object.__setattr__(self, "_facts", facts or scan(storage, storage.shape[-1]))
        if facts is None:
            self._refuse_non_finite()

    def _refuse_non_finite(self) -> None:
        bad = np.flatnonzero(self._facts.first_bad >= 0)
        if bad.size == 0:
            return
        i = int(bad[0])
        s, t = divmod(int(self._facts.first_bad[i]), self.n_vertices)
        more = f" ({bad.size - 1} more graphs have such entries)" if bad.size > 1 else ""
        raise InputError(
            f"{self._label(i)} has {self[i][s, t]} at {self._entry(s, t)}{more}; weights must be "
            "finite: leave that graph or vertex out, or fill the entry, before making the stack"
        )

    def _label(self, i: int) -> str:
        return label(i, None if self._graph_names is None else self._graph_names[i])

    def _entry(self, s: int, t: int) -> str:
        if self._vertex_names is None:
            return f"entry ({s}, {t})"
        return f"entry ({s}, {t}), {self._vertex_names[s]!r} to {self._vertex_names[t]!r}"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a GraphStack cannot be changed; make a new one instead of .{name} =")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a GraphStack cannot be changed, so .{name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return self._make, (self._storage, self._facts, self._graph_names, self._vertex_names)

    # ------------------------------------------------------------------ what it holds

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
        """Bytes that the weights and their places take."""
        if isinstance(self._storage, np.ndarray):
            return self._storage.nbytes
        flat = self._storage
        return int(flat.data.nbytes + flat.indices.nbytes + flat.indptr.nbytes)

    @property
    def is_sparse(self) -> bool:
        """Whether the stack is kept as one flat CSR matrix."""
        return not isinstance(self._storage, np.ndarray)

    @property
    def dense(self) -> NDArray[Any]:
        """The graphs as one read-only array (m, n, n); for dense stacks only."""
        if not isinstance(self._storage, np.ndarray):
            raise InputError("this stack is sparse; use .flat, or to_dense() if it fits in memory")
        return self._storage

    @property
    def flat(self) -> sparse.csr_array:
        """The graphs as one CSR matrix (m * n, n), graph after graph; for sparse stacks only."""
        if isinstance(self._storage, np.ndarray):
            raise InputError("this stack is dense; use .dense, or to_sparse()")
        return self._storage

    @property
    def facts(self) -> GraphFacts:
        """Norms, counts and kinds of the graphs, one value a graph."""
        return self._facts

    @property
    def has_vertex_names(self) -> bool:
        """Whether the vertices were given names."""
        return self._vertex_names is not None

    @property
    def graph_names(self) -> tuple[str, ...]:
        """Names of the graphs; their places ('0', '1', ...) where none were given."""
        return self._graph_names or tuple(map(str, range(self.n_graphs)))

    @property
    def vertex_names(self) -> tuple[str, ...]:
        """Names of the vertices; their places ('0', '1', ...) where none were given."""
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
        """The one value of all diagonal entries of all graphs, up to rounding, or None."""
        return self._facts.constant_diagonal

    @property
    def density(self) -> float:
        """Share of the pairs of different vertices that are joined, over all graphs."""
        n = self.n_vertices
        edges = float((self._facts.n_nonzero - self._facts.n_loops).sum())
        return edges / (self.n_graphs * n * (n - 1)) if n > 1 else 0.0

    def diagonals(self) -> NDArray[np.float64]:
        """Return the diagonals, (m, n)."""
        if isinstance(self._storage, np.ndarray):
            return np.array(np.einsum("iss->is", self._storage), dtype=np.float64)
        out = np.zeros(self.shape[:2])
        if not self.is_hollow:
            flat_diagonals(self._storage.data, self._storage.indices, self._storage.indptr, out)
        return out

    def require_undirected(self, remedy: str) -> None:
        """Raise an error that names the first entry without its mirror image, if there is one."""
        if not self.is_directed:
            return
        i = int(np.flatnonzero(~self._facts.is_symmetric)[0])
        A = self[i]
        gap = np.abs(A - A.T) if isinstance(A, np.ndarray) else abs(A - A.T)
        s, t = divmod(int(gap.argmax()), self.n_vertices)
        raise InputError(
            f"{self._label(i)} is not symmetric: {self._entry(s, t)} is {A[s, t]:g} and its mirror "
            f"image is {A[t, s]:g}; {remedy}"
        )

    # ------------------------------------------------------------------ as a sequence

    def __len__(self) -> int:
        return self.n_graphs

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.n_graphs))

    def __getitem__(self, which: Any) -> Any:
        """Return one graph for a place or a name, a stack for a slice, a mask or places.

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
            return self._graph(one_place(which, self.graph_names, "graph"))
        chosen = places(which, self.graph_names, "graph")
        names = self._graph_names and tuple(self._graph_names[i] for i in chosen)
        if isinstance(self._storage, np.ndarray):
            contiguous = isinstance(which, slice) and which.step in (None, 1)
            kept: Storage = self._storage[which] if contiguous else self._storage[chosen]
        else:
            rows = (chosen[:, None] * self.n_vertices + np.arange(self.n_vertices)).ravel()
            kept = self._storage[rows]
        return self._make(kept, self._facts.take(chosen), names, self._vertex_names)

    def _graph(self, i: int) -> Any:
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

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.dense, dtype=dtype, copy=copy)

    # ------------------------------------------------------------------ to look at

    def _summary(self) -> list[str]:
        def count(number: int, one: str, many: str) -> str:
            return f"{number} {one if number == 1 else many}"

        loops = "hollow" if self.is_hollow else "with loops"
        return [
            count(self.n_graphs, "graph", "graphs"),
            count(self.n_vertices, "vertex", "vertices"),
            "directed" if self.is_directed else "undirected",
            "weighted" if self.is_weighted else "unweighted",
            loops,
            f"density {self.density:.3g}",
            f"{'sparse' if self.is_sparse else 'dense'} {self.dtype}",
            _bytes(self.nbytes),
        ]

    def __repr__(self) -> str:
        return f"GraphStack({', '.join(self._summary())})"

    def _repr_html_(self) -> str:
        cells = "".join(f"<td>{escape(part)}</td>" for part in self._summary())
        return f"<table><tr><th>GraphStack</th>{cells}</tr></table>"


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
