"""Stacks in blocks as a solver sees them: the products of a view, block by block.

Each method is one pass: a task for every block, whose results are put one behind the other or added
up (:mod:`blocked`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.blocked import BlockedStack
from eigengraphs.graphs.blocked_products import Combine, Project
from eigengraphs.graphs.blocked_tasks import Ask, Forms, Look, Norms, Products, Sketch, Sum
from eigengraphs.graphs.columns import Consumer
from eigengraphs.graphs.ordering import order_is_fixed
from eigengraphs.graphs.treated import DiagonalRule, Vector
from eigengraphs.graphs.view import StackView, mean_graph
from eigengraphs.stack.stack import GraphStack

__all__ = ["BlockedDirectedView", "BlockedView"]

Array = NDArray[np.float64]
Pair = tuple[Array, Array]

_TALL = 200_000  # vertices: beyond, sums of a sketch are found for few columns at a time,
_SLAB = 8  # which takes a pass more, and half of the memory


class _Blocked:
    """What does not depend on direction; parameters are those of :class:`StackView`."""

    _directed: bool

    def __init__(
        self,
        stack: BlockedStack,
        diagonal: DiagonalRule = "observed",
        mean: NDArray[np.float64] | sparse.csr_array | None = None,
        scale: float = 1.0,
        *,
        like: Any = None,
    ) -> None:
        self._stack, self._rule, self._mean, self._scale = stack, diagonal, mean, scale
        self._look = Look.of(self._directed, diagonal, mean, scale)
        # Views of one stack that differ in their diagonal share what one pass tells both.
        self._norms: dict[str, Vector] = {} if like is None else like._norms
        self._known: dict[str, Any] = {} if like is None else like._known

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return self._stack.n_graphs

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self._stack.n_vertices

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the products: that of the stack."""
        return self._stack.dtype

    def total(self, task: Callable[[Any, Array], Any], weights: Array) -> Any:
        """Return the sum of task(view of some graphs, their weights) over all of them: one pass."""
        return self._total(Sum(_unless_alike(weights), 0, task))

    def _total(self, task: Any) -> Any:
        return self._stack.total(task, self._look)

    def _each(self, task: Any, axis: int = 0) -> Any:
        """Return the results of all blocks, one behind the other."""
        return np.concatenate(list(self._stack.each(task, self._look)), axis=axis)

    def squared_norms(self) -> Vector:
        """Return ||Ã_i||^2, (m,); without a pass where graphs are taken as they are."""
        if self._rule not in self._norms:
            facts = self._stack.facts
            if self._mean is None and self._rule != "filled":
                known = facts.norm if self._rule == "observed" else facts.off_norm
                self._norms[self._rule] = (self._scale * known) ** 2
            else:
                both = self._each(Norms(), axis=1)
                self._norms[self._rule], self._norms["hollow"] = both.copy()
        return self._norms[self._rule]

    def rounding(self) -> Vector:
        """Return the squared norm that rounding alone may leave of each graph, (m,)."""
        eps = float(np.finfo(self._stack.dtype).eps)
        noise: Vector = (4 * eps * self._scale * self._stack.facts.norm) ** 2
        return noise

    def _forms(self, sides: tuple[Array, ...], which: str) -> Array:
        """Return forms with components, or what a diagonal adds; those of the last are kept."""
        if which in self._known:
            signs = _signs(self._known["sides"], sides)
            if signs is not None:
                return np.asarray(self._known[which] * signs)
        found = self._each(Forms(sides), axis=1)
        names = (f"forms {self._rule}", self._rule, "hollow")
        self._known.clear()
        self._known.update(zip(names, found, strict=False), sides=sides)
        return np.asarray(self._known[which].copy())

    def _diagonal_forms(self, *sides: Array) -> Array:
        """Return what the rule for the diagonal adds to forms, (m, d)."""
        if self._rule == "observed":
            return np.zeros((self.n_graphs, sides[0].shape[1]))
        return self._forms(sides, self._rule)


class BlockedView(_Blocked):
    """The products of a treated stack of undirected graphs; see :class:`StackView`."""

    _directed = False

    def multiply(self, v: Array) -> Array:
        """Return Ã_i v for each graph, (m, n)."""
        return np.asarray(self._each(Ask(None, 0, "multiply", (v,))))

    def quadratic_forms(self, H: Array) -> Array:
        """Return h_k^T Ã_i h_k, (m, d)."""
        return self._forms((H,), f"forms {self._rule}")

    def diagonal_forms(self, H: Array) -> Array:
        """Return what the rule for the diagonal adds to ``quadratic_forms``, (m, d)."""
        return self._diagonal_forms(H)

    def products(self, B: Array, consume: Consumer, out: NDArray[Any] | None = None) -> None:
        """Call ``consume(lo, hi, P)`` with P_i = B^T Ã_i for lo <= i < hi, (hi - lo, b, n)."""
        passed = self._stack.each(Products((B,)), self._look)
        for (lo, hi), (P,) in zip(self._stack.spans, passed, strict=True):
            _hand_over(lo, hi, P, consume, out)

    def project(self, V: Array, B: Array) -> Array:
        """Return [V B]^T Ã_i B, (m, s + b, b)."""
        if self._keeps(V.shape[1] + B.shape[1]):
            return np.asarray(self._each(Project(V, B)))
        return np.asarray(self._each(Ask(None, 0, "project", (V, B))))

    def weighted_multiply(self, W: Array, H: Array) -> Array:
        """Return sum_i W_ik Ã_i h_k, (n, d), for ``W`` (m, d) and ``H`` (n, d)."""
        if self._keeps(H.shape[1]):
            return np.asarray(self._total(Combine(W, 0, H)))
        return np.asarray(self._total(Ask(W, 0, "weighted_multiply", (H,))))

    def _keeps(self, columns: int) -> bool:
        """Return whether blocks keep products with so many columns: beside dense ones, 1 / 4."""
        stack = self._stack
        if order_is_fixed():  # it depends on the workers' memory
            return False
        return stack.keeps_blocks and not stack.is_sparse and 4 * columns <= stack.n_vertices

    def sketch(self, V: Array, weights: Vector) -> Pair:
        """Return sum_i w_i Ã_i Ã_i V and sum_i w_i Ã_i V, each (n, s)."""
        alike, step = _unless_alike(weights), _SLAB if len(V) > _TALL else V.shape[1]
        parts = [
            self._total(Sketch(alike, 0, V[:, lo : lo + step])) for lo in range(0, V.shape[1], step)
        ]
        if len(parts) == 1:
            squares, sums = parts[0]
            return squares, sums
        squares = np.column_stack([part[0] for part in parts])
        return squares, np.column_stack([part[1] for part in parts])

    def mean(self, weights: Vector) -> Any:
        """Return sum_i w_i Ã_i / sum_i w_i, (n, n), sparse for sparse graphs."""
        # All treatment is linear: the mean of the treated graphs is the treated mean graph.
        mean: Any = mean_graph(self._stack, weights)
        if isinstance(mean, np.ndarray):
            one = GraphStack(mean[None], copy=False)
        else:
            one = GraphStack.from_flat(mean, 1)
        return StackView(one, self._rule, self._mean, self._scale).mean(np.ones(1))


class BlockedDirectedView(_Blocked):
    """The products of a treated stack of directed graphs; see :class:`DirectedView`."""

    _directed = True

    def bilinear_forms(self, H: Array, G: Array) -> Array:
        """Return h_k^T Ã_i g_k, (m, d)."""
        return self._forms((H, G), f"forms {self._rule}")

    def diagonal_forms(self, H: Array, G: Array) -> Array:
        """Return what the rule for the diagonal adds to ``bilinear_forms``, (m, d)."""
        return self._diagonal_forms(H, G)

    def products(
        self,
        left: Array,
        right: Array,
        consume_left: Consumer,
        consume_right: Consumer,
        out_left: NDArray[Any] | None = None,
        out_right: NDArray[Any] | None = None,
    ) -> None:
        """Call ``consume_left(lo, hi, P)`` with P_i = left^T Ã_i, and the same for the right."""
        passed = self._stack.each(Products((left, right)), self._look)
        for (lo, hi), (P, Q) in zip(self._stack.spans, passed, strict=True):
            _hand_over(lo, hi, P, consume_left, out_left)
            _hand_over(lo, hi, Q, consume_right, out_right)

    def project(self, U: Array, V: Array, left: Array, right: Array) -> Pair:
        """Return [U left]^T Ã_i right, (m, s + b, c), and V^T Ã_i^T left, (m, t, b)."""
        ask = Ask(None, 0, "project", (U, V, left, right))
        parts = list(self._stack.each(ask, self._look))
        onto_left, onto_right = (np.concatenate(side) for side in zip(*parts, strict=True))
        return onto_left, onto_right

    def weighted_multiply(self, W: Array, H: Array, G: Array) -> Pair:
        """Return sum_i W_ik Ã_i g_k and sum_i W_ik Ã_i^T h_k, (n, d), for ``W`` (m, d)."""
        of_G, of_H = self._total(Ask(W, 0, "weighted_multiply", (H, G)))
        return of_G, of_H

    def sketch(self, Omega: Array, weights: Vector) -> tuple[Pair, Pair]:
        """Return what shows the main directions of the rows, and of the columns, of the graphs."""
        left, right = self._total(Sketch(_unless_alike(weights), 0, Omega))
        return left, right


def _unless_alike(weights: Array) -> Array | None:
    """Return weights, or None if all are 1: nothing to send."""
    return None if bool((weights == 1).all()) else weights


def _hand_over(
    lo: int, hi: int, P: NDArray[Any], consume: Consumer, out: NDArray[Any] | None
) -> None:
    if out is not None:
        out[lo:hi] = P
        P = out[lo:hi]
    consume(lo, hi, P)


def _signs(known: tuple[Array, ...], sides: tuple[Array, ...]) -> Array | None:
    """Return the signs, (d,), by which forms with other components differ from known ones.

    None if these are not the same components, each side up to its sign.
    """
    signs = np.ones(sides[0].shape[1])
    for old, new in zip(known, sides, strict=True):
        if old.shape != new.shape or not np.array_equal(np.abs(old), np.abs(new)):
            return None
        # h h^T does not change with the sign of h, h g^T changes with that of either.
        if len(sides) == 2:
            signs *= np.where((old * new).sum(axis=0) < 0, -1.0, 1.0)
    return signs
