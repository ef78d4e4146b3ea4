"""The methods of a stack that make a new stack of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.graphs import transforms
from eigengraphs.graphs.align import VertexRule, check_vertex_rule, refuse_nameless
from eigengraphs.graphs.build import (
    Storage,
    StorageRule,
    check_dtype,
    check_names,
    check_storage,
    flatten,
    read_names,
)
from eigengraphs.graphs.coerce import some_of
from eigengraphs.graphs.facts import GraphFacts
from eigengraphs.graphs.mask import Mask, make_mask
from eigengraphs.graphs.missing import (
    one_sided,
    pairs_to_hide,
    without_loops,
    zero_hidden,
    zero_there,
)
from eigengraphs.graphs.selection import places

__all__ = ["StackTransforms"]


class StackTransforms(ABC):
    """Transforms of :class:`~eigengraphs.GraphStack`; none of them changes the stack itself."""

    __slots__ = ()
    _storage: Storage
    _facts: GraphFacts
    _graph_names: tuple[str, ...] | None
    _vertex_names: tuple[str, ...] | None
    _mask: Mask | None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int]:
        """(m, n, n)."""

    @property
    @abstractmethod
    def vertex_names(self) -> tuple[str, ...]:
        """Names of the vertices."""

    @classmethod
    @abstractmethod
    def _make(
        cls,
        storage: Storage,
        facts: GraphFacts | None,
        graph_names: tuple[str, ...] | None,
        vertex_names: tuple[str, ...] | None,
        mask: Mask | None = None,
    ) -> Self: ...

    @abstractmethod
    def _graph(self, i: int) -> Any:
        """Return one graph, hidden entries 0."""

    @abstractmethod
    def _label(self, i: int) -> str: ...

    @abstractmethod
    def _entry(self, s: int, t: int) -> str: ...

    def _changed(self, storage: Storage, mask: Mask | None = None) -> Self:
        return self._make(storage, None, self._graph_names, self._vertex_names, mask)

    def symmetrize(self, how: transforms.SymmetrizeRule = "mean") -> Self:
        """Return undirected graphs: the "mean", "max", "min" or "sum" of A_st and A_ts.

        Where one of the two is hidden the other stands for both; a sum with it is hidden.

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

    def binarize(self, threshold: float = 0.0) -> Self:
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
            storage = zero_hidden(storage, self._mask)
        return self._changed(storage, self._mask)

    def log1p(self) -> Self:
        """Return the graphs with log(1 + weight) for weight; weights must be above -1.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, 9], [9, 0]]]).log1p()[0].round(2).tolist()
        [[0.0, 2.3], [2.3, 0.0]]
        """
        return self._changed(transforms.log1p(self._storage), self._mask)

    def signed_log1p(self) -> Self:
        """Return the graphs with ``sign(weight) log(1 + |weight|)`` for weight.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[0, -9], [-9, 0]]]).signed_log1p()[0].round(2).tolist()
        [[0.0, -2.3], [-2.3, 0.0]]
        """
        return self._changed(transforms.signed_log1p(self._storage), self._mask)

    def fisher_z(self) -> Self:
        """Return graphs of correlations with z = arctanh(correlation) for weight.

        The diagonal is set to zero: that of a correlation matrix, all 1, is no data and has no
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

    def rank(self) -> Self:
        """Return the graphs with ranks for weights ("pass to ranks").

        Within each graph, the nonzero weights off the diagonal, A_st and A_ts each counted, are
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

    def signed_rank(self) -> Self:
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

    def unit_norm(self) -> Self:
        """Return the graphs divided by their own Frobenius norms; a zero graph stays zero.

        Loops count in the norm: drop them first if the diagonal is no data.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[3, 0], [0, 4]]]).unit_norm()[0].tolist()
        [[0.6, 0.0], [0.0, 0.8]]
        """
        return self._changed(transforms.unit_norm(self._storage), self._mask)

    def drop_loops(self) -> Self:
        """Return the graphs with zero diagonals; those of hidden loops, too, are then known.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> eg.GraphStack([[[3, 1], [1, 4]]]).drop_loops()[0].tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        mask = None if self._mask is None else without_loops(self._mask)
        return self._changed(transforms.drop_loops(self._storage), mask)

    def hide(self, pairs: Any) -> Self:
        """Return the graphs with more entries hidden, for example to hold them out.

        Costs a copy of the graphs, and five bytes an entry and graph.

        Parameters
        ----------
        pairs : array of bool (n, n) or (m, n, n), or sparse array (n, n) or (m * n, n)
            True where an entry is to be hidden, in all graphs or in each. In undirected graphs an
            entry takes its mirror image with it.

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

    def select_vertices(self, which: Any) -> Self:
        """Return the graphs induced on some vertices, given by name, place, mask or slice.

        Parameters
        ----------
        which : name, place, sequence of them, mask (n,) of bool, or slice
            The vertices, in the order that they are to have.

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

    def reorder(self, orders: Any) -> Self:
        """Return the graphs with their vertices in other orders, each graph in its own.

        Parameters
        ----------
        orders : (m, n) or (n,)
            Permutations of 0 ... n - 1: vertex s of the new graph i is vertex ``orders[i, s]``
            of the old one. One permutation (n,) serves all graphs.

        Notes
        -----
        Names of the vertices stay where they are: they name places in the common order.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1, 2], [1, 0, 3], [2, 3, 0]]])
        >>> stack.reorder([2, 0, 1])[0].tolist()
        [[0.0, 2.0, 3.0], [2.0, 0.0, 1.0], [3.0, 1.0, 0.0]]
        """
        if self._mask is not None:
            raise InputError("graphs with hidden entries are not reordered; fill them first")
        m, n, _ = self.shape
        given = np.asarray(orders)
        if given.shape not in ((m, n), (n,)) or given.dtype.kind not in "iu":
            raise InputError(
                f"orders must hold one permutation of {n} vertices for each of {m} graphs; got an "
                f"array of shape {given.shape} and dtype {given.dtype}"
            )
        each = np.broadcast_to(given, (m, n)).astype(np.intp)
        wrong = np.flatnonzero((np.sort(each, axis=1) != np.arange(n)).any(axis=1))
        if wrong.size:
            raise InputError(
                f"orders[{wrong[0]}] must hold each of 0 ... {n - 1} once, as a permutation does"
            )
        storage = transforms.reorder(self._storage, each)
        return self._make(storage, self._facts, self._graph_names, self._vertex_names)

    def among(self, names: Sequence[str]) -> Self:
        """Return the graphs on the vertices ``names``; what they do not have is unobserved.

        Every vertex of the stack must be among them.

        Parameters
        ----------
        names : sequence of str
            All vertices of the new stack, in their order.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1], [1, 0]]], vertex_names=["a", "c"])
        >>> stack.among(["a", "b", "c"])[0].tolist()
        [[0.0, nan, 1.0], [nan, nan, nan], [1.0, nan, 0.0]]
        """
        unknown = sorted(set(self.vertex_names) - set(names))
        if unknown or self._mask is not None:
            what = f"these are not: {some_of(unknown)}" if unknown else "entries are hidden already"
            raise AlignmentError(f"all vertices must be among those asked for; {what}")
        m, _, _ = self.shape
        n, place = len(names), {name: s for s, name in enumerate(names)}
        at = np.array([place[name] for name in self.vertex_names])
        storage = transforms.spread(self._storage, at, n)
        present = np.zeros((m, n), dtype=np.bool_)
        present[:, at] = True
        return self._make(storage, None, self._graph_names, tuple(names), make_mask(present, None))

    def in_order_of(self, names: Sequence[str]) -> Self:
        """Return the graphs with their vertices in the order of ``names``, which must be theirs.

        Parameters
        ----------
        names : sequence of str
            Names of all vertices, in the order that they are to have.

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
                f"the graphs must have the vertices asked for; only in one of the two: "
                f"{some_of(differ)}"
            )
        return self.select_vertices(list(names))

    def largest_common_component(self) -> Self:
        """Return the graphs on the largest vertex set on which every one of them is connected.

        A hidden entry is no edge, so a vertex that some graph lacks is not among them.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> stack = eg.GraphStack([[[0, 1, 0], [1, 0, 0], [0, 0, 0]]], vertex_names=["a", "b", "c"])
        >>> stack.largest_common_component().vertex_names
        ('a', 'b')
        """
        graphs = [self._graph(i) for i in range(self.shape[0])]
        return self.select_vertices(transforms.largest_common_component(graphs))

    def with_names(
        self,
        *,
        graph_names: Sequence[str] | None = None,
        vertex_names: Sequence[str] | None = None,
    ) -> Self:
        """Return the same graphs under other names.

        Parameters
        ----------
        graph_names, vertex_names : sequence of str, optional
            New names; by default those that are there.

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

    def astype(self, dtype: DTypeLike) -> Self:
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

    def to_dense(self) -> Self:
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

    def to_sparse(self) -> Self:
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
