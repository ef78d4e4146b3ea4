"""The methods of a stack that choose, order or name what it holds: a new stack each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.errors import AlignmentError, InputError
from eigengraphs.graphs import transforms
from eigengraphs.graphs.align import spelling
from eigengraphs.graphs.build import check_names
from eigengraphs.graphs.coerce import some_of
from eigengraphs.graphs.mask import make_mask
from eigengraphs.graphs.selection import places
from eigengraphs.graphs.stack_parts import StackParts

__all__ = ["StackVertices"]


class StackVertices(StackParts):
    """Choice, order and names of the vertices of :class:`~eigengraphs.GraphStack`."""

    __slots__ = ()

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
                f"array of shape {given.shape} and dtype {given.dtype}; to order vertices by name, "
                "use select_vertices(names)"
            )
        each = np.broadcast_to(given, (m, n)).astype(np.intp)
        wrong = np.flatnonzero((np.sort(each, axis=1) != np.arange(n)).any(axis=1))
        if wrong.size:
            raise InputError(
                f"orders[{wrong[0]}] must hold each of 0 ... {n - 1} once, as a permutation does"
            )
        storage = transforms.reorder(self._storage, each)
        return self._make(storage, self._facts, self._graph_names, self._vertex_names)

    def among(self, names: Sequence[str], *, isolated: bool = False) -> Self:
        """Return the graphs on the vertices ``names``; what they do not have is unobserved.

        Every vertex of the stack must be among them.

        Parameters
        ----------
        names : sequence of str
            All vertices of the new stack, in their order.
        isolated : bool
            Whether the vertices that are added have no edges instead.

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
                f"{some_of(differ)}{spelling(differ, differ)}"
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
        return self._make(self._storage, self._facts, graph, vertex, self._mask, self._words)
