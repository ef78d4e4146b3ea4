"""What a stack tells of itself: sizes, names, kinds, what it hides, and how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.graphs.build import Storage
from eigengraphs.graphs.coerce import label
from eigengraphs.graphs.facts import GraphFacts
from eigengraphs.graphs.kernels import flat_diagonals
from eigengraphs.graphs.mask import Mask

__all__ = ["StackFacts"]

_NOTHING = 1e-5  # of the largest entry: squares of 1e-10, which no product in float32 keeps
_FEW = 0.1  # of a graph's entries may be broken; more of them are a unit


class StackFacts:
    """Properties of :class:`~eigengraphs.GraphStack`."""

    __slots__ = ()
    _storage: Storage
    _facts: GraphFacts
    _graph_names: tuple[str, ...] | None
    _vertex_names: tuple[str, ...] | None
    _mask: Mask | None

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

    def _label(self, i: int) -> str:
        return label(i, None if self._graph_names is None else self._graph_names[i])

    def _entry(self, s: int, t: int) -> str:
        if self._vertex_names is None:
            return f"entry ({s}, {t})"
        return f"entry ({s}, {t}), {self._vertex_names[s]!r} to {self._vertex_names[t]!r}"

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
        if not isinstance(self._storage, np.ndarray):
            raise InputError("this stack is sparse; use .flat, or to_dense() if it fits in memory")
        return self._storage

    @property
    def flat(self) -> sparse.csr_array:
        """The graphs as one CSR matrix (m * n, n), hidden entries 0; for sparse stacks only."""
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
        """The one value of all (observed) diagonal entries, up to rounding, or None."""
        return self._facts.constant_diagonal

    @property
    def density(self) -> float:
        """Share of the (observed) pairs of different vertices that are joined, over all graphs."""
        n = self.n_vertices
        edges = float((self._facts.n_nonzero - self._facts.n_loops).sum())
        pairs = self.n_graphs * n * (n - 1)
        if self._mask is not None:
            pairs = int(self._mask.counts(diagonal=False).sum())
        return edges / pairs if pairs > 0 else 0.0

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
        if isinstance(self._storage, np.ndarray):
            return np.array(np.einsum("iss->is", self._storage), dtype=np.float64)
        out = np.zeros(self.shape[:2])
        if not self.is_hollow:
            flat_diagonals(self._storage.data, self._storage.indices, self._storage.indptr, out)
        return out

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
        A = self._graph(i)
        if self._mask is not None and not self._mask.is_symmetric[i]:
            raise InputError(
                f"{self._label(i)} has a direction: it hides entries whose mirror images it shows; "
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
        """Raise an error that names an entry beside which all others are nothing, if there is one.

        Their squares together are less than 1e-10 of its own, so that the entry is all that a fit
        would see: a broken cell, as 1e300 among counts. There may be a few such entries.

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
        norms = self._facts.norm
        first = int(np.argmax(norms))
        if not self.is_weighted or not 0 < norms[first] < np.inf:
            return
        A = self._graph(first)
        sizes = np.abs(A if isinstance(A, np.ndarray) else A.data)
        most, at = float(sizes.max()), int(sizes.argmax())
        large = norms > _NOTHING * most
        rest = float(((norms[~large] / most) ** 2).sum())
        n_rest = int(self._facts.n_nonzero.sum())
        for i in np.flatnonzero(large)[np.argsort(-norms[large], kind="stable")]:
            graph = self._graph(int(i))
            shares = np.abs(graph if isinstance(graph, np.ndarray) else graph.data) / most
            small = shares[shares < _NOTHING]
            rest += float((small**2).sum())
            n_large = shares.size - small.size
            n_rest -= n_large
            if rest > _NOTHING**2 or n_large > max(2, _FEW * self._facts.n_nonzero[i]):
                return  # nearly always at the first graph
        if n_rest == 0:
            return
        if isinstance(A, np.ndarray):
            s, t = divmod(at, self.n_vertices)
        else:
            s, t = int(np.searchsorted(A.indptr, at, side="right")) - 1, int(A.indices[at])
        where = f"{files[first]}: " if files else ""
        raise InputError(
            f"{where}{self._label(first)} has a broken weight: {self._entry(s, t)} is {A[s, t]:g}, "
            "and all other weights of all graphs are nothing beside it; correct it, or replace it "
            "by nan and pass missing='unobserved'"
        )

    # ------------------------------------------------------------------ to look at

    def _summary(self) -> list[str]:
        def count(number: int, one: str, many: str) -> str:
            return f"{number} {one if number == 1 else many}"

        loops = "hollow" if self.is_hollow else "with loops"
        m, n, _ = self.shape
        hidden = [f"{100 * self.n_hidden / (m * n * n):.3g} % hidden"] if self.has_missing else []
        return [
            count(self.n_graphs, "graph", "graphs"),
            count(self.n_vertices, "vertex", "vertices"),
            "directed" if self.is_directed else "undirected",
            "weighted" if self.is_weighted else "unweighted",
            loops,
            f"density {self.density:.3g}",
            *hidden,
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
