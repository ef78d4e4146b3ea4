"""Graphs in blocks as a solver sees them: every product is a task on the operator of a block.

Results are put one behind the other or added up. Where blocks are, and where tasks run, is the
stack's affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from eigengraphs.operators.means import MeanGraph, mean_graph, weighted_sum
from eigengraphs.operators.observed import WRITTEN_OUT, ObservedGraphs, ratio
from eigengraphs.operators.protocol import Array, BlockTask
from eigengraphs.operators.treated import DiagonalRule, TreatedGraphs
from eigengraphs.stack.blocked import Block, BlockedStack
from eigengraphs.stack.stack import GraphStack

__all__ = ["BlockedGraphs", "BlockedObserved"]

_TALL = 200_000  # vertices: beyond, sums of a sketch are found for few columns at a time


@dataclass(frozen=True)
class _Look:
    """How every block is looked at: the same from pass to pass."""

    kind: type[TreatedGraphs]
    directed: bool
    rule: DiagonalRule
    mean: MeanGraph | None
    scale: float
    key: str  # names it, on every machine and in every run

    @classmethod
    def of(
        cls, kind: type, directed: bool, rule: DiagonalRule, mean: MeanGraph | None, scale: float
    ) -> Self:
        """Name a way to look by what it is."""
        digest = sha256(f"{kind.__name__} {directed} {rule} {scale!r}".encode())
        if isinstance(mean, np.ndarray):
            digest.update(np.ascontiguousarray(mean).data)
        elif mean is not None:
            for part in (mean.data, mean.indices, mean.indptr):
                digest.update(part.data)
        return cls(kind, directed, rule, mean, scale, digest.hexdigest())

    def at(self, block: Block) -> Any:
        """Return the operator of a block, made once while the block is in memory."""
        if self.key not in block.memo:
            block.memo[self.key] = self._make(block, self.rule, None)
        return block.memo[self.key]

    def without_diagonal(self, block: Block) -> Any:
        """Return the operator of a block that differs in its diagonal, which is left out."""
        return self._make(block, "hollow", self.at(block))

    def _make(self, block: Block, rule: DiagonalRule, like: Any) -> TreatedGraphs:
        given = (block.graphs, rule, self.mean, self.scale)
        return self.kind(*given, directed=self.directed, like=like)


@dataclass(frozen=True)
class _Task:
    """A task with an array that has a row for each graph, from graph ``first`` on, or with None.

    ``slim`` says that what it returns takes little room.
    """

    rows: Array | None
    first: int
    slim: ClassVar[bool] = True

    def part(self, lo: int, hi: int) -> Self:
        """Return the task for these graphs alone: less to send."""
        return self.with_rows(self._of(lo, hi), lo)

    def with_rows(self, rows: Array | None, first: int) -> Self:
        """Return the task with other rows, those from graph ``first`` on."""
        return replace(self, rows=rows, first=first)

    def _of(self, lo: int, hi: int) -> Array | None:
        return None if self.rows is None else self.rows[lo - self.first : hi - self.first]

    def _weights(self, block: Block) -> Array:
        """Return the rows of a block as weights, which are 1 where there are none."""
        weights = self._of(block.lo, block.hi)
        return np.ones(block.hi - block.lo) if weights is None else weights


@dataclass(frozen=True)
class _Ask(_Task):
    """Ask the operator of every block, with its rows before all other arguments."""

    method: str
    args: tuple[Any, ...]

    def __call__(self, block: Block, look: _Look) -> Any:
        mine = self._of(block.lo, block.hi)
        args = self.args if mine is None else (mine, *self.args)
        found = getattr(look.at(block), self.method)
        return found(*args) if callable(found) else found


@dataclass(frozen=True)
class _Large(_Ask):
    """The same, where results take as much room as graphs."""

    slim: ClassVar[bool] = False


@dataclass(frozen=True)
class _Sketch(_Task):
    """Find the sums of a sketch; rows are the weights, None if all are 1, and scales if any."""

    Omega: Array

    def __call__(self, block: Block, look: _Look) -> Any:
        rows = self._weights(block)
        if rows.ndim == 1:
            return look.at(block).sketch(self.Omega, rows)
        return look.at(block).sketch(self.Omega, rows[:, 0], rows[:, 1:])


@dataclass(frozen=True)
class _Sum(_Task):
    """Let a solver's task see the operator of every block; rows are None if all are 1."""

    task: BlockTask
    slim: ClassVar[bool] = False

    def __call__(self, block: Block, look: _Look) -> Any:
        return self.task(look.at(block), self._weights(block))


@dataclass(frozen=True)
class _Norms(_Task):
    """Find squared norms, and those without the diagonal."""

    def __call__(self, block: Block, look: _Look) -> tuple[Array, Array]:
        return look.at(block).squared_norms(), look.without_diagonal(block).squared_norms()


@dataclass(frozen=True)
class _Forms(_Task):
    """Find forms; where the diagonal is no data, what it adds, and what leaving it out would."""

    sides: tuple[Array, ...]

    def __call__(self, block: Block, look: _Look) -> tuple[Array, ...]:
        operator = look.at(block)
        found = (operator.forms(*self.sides),)
        if look.rule == "observed":
            return found
        hollow = look.without_diagonal(block)
        return (*found, *(one.diagonal_forms(*self.sides) for one in (operator, hollow)))


class BlockedGraphs:
    """The products of a treated stack in blocks; parameters are those of :class:`TreatedGraphs`."""

    _kind: ClassVar[type[TreatedGraphs]] = TreatedGraphs

    def __init__(
        self,
        stack: BlockedStack,
        diagonal: DiagonalRule = "observed",
        mean: MeanGraph | None = None,
        scale: float = 1.0,
        *,
        directed: bool = False,
        like: Self | None = None,
    ) -> None:
        self._stack, self._rule, self._mean, self._scale = stack, diagonal, mean, scale
        self.directed = directed
        self._look = _Look.of(self._kind, directed, diagonal, mean, scale)
        # Those of one stack that differ in their diagonal share what one pass tells both.
        self._norms: dict[str, Array] = {} if like is None else like._norms
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
        """Type of the graphs, and of products with them."""
        return self._stack.dtype

    # ------------------------------------------------------------------ one pass

    def _each(self, task: Any) -> Iterator[Any]:
        return self._stack.each(task, self._look)

    def _joined(self, task: Any) -> tuple[Array, ...]:
        """Return the results of all blocks, one behind the other."""
        found = zip(*self._each(task), strict=True)
        return tuple(np.concatenate(parts) for parts in found)

    def _joined_one(self, method: str, *args: Any) -> Array:
        found = self._each(_Ask(None, 0, method, args))
        return np.concatenate(list(found))

    def total(self, task: BlockTask, weights: Array) -> Any:
        """Return the sum of task(operator of a block, its rows of ``weights``) over all blocks."""
        return self._stack.total(_Sum(_unless_ones(weights), 0, task), self._look)

    # ------------------------------------------------------------------ products

    def products(
        self, *columns: Array, out: tuple[NDArray[Any], ...] | None = None
    ) -> tuple[NDArray[Any], ...]:
        """Return B^T Ã_i, (m, b, n); directed: left^T Ã_i and right^T Ã_i^T."""
        m, n = self.n_graphs, self.n_vertices
        if out is None:
            out = tuple(np.empty((m, B.shape[1], n), self.dtype) for B in columns)
        passed = self._each(_Large(None, 0, "products", columns))
        for (lo, hi), found in zip(self._stack.spans, passed, strict=True):
            for place, P in zip(out, found, strict=True):
                place[lo:hi] = P
        return out

    def project(self, bases: tuple[Array, ...], columns: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return [V B]^T Ã_i B; directed: [U left]^T Ã_i right, and V^T Ã_i^T left."""
        return self._joined(_Ask(None, 0, "project", (bases, columns)))

    def combine(self, W: Array, *sides: Array) -> tuple[Array, ...]:
        """Return sum_i W_ik Ã_i h_k; directed: sum_i W_ik Ã_i g_k and sum_i W_ik Ã_i^T h_k."""
        found: tuple[Array, ...] = self._stack.total(_Ask(W, 0, "combine", sides), self._look)
        return found

    def forms(self, *sides: Array) -> Array:
        """Return h_k^T Ã_i g_k, (m, d)."""
        return self._forms(sides, f"forms {self._rule}")

    def diagonal_forms(self, *sides: Array) -> Array:
        """Return what the rule for the diagonal adds to ``forms``, (m, d)."""
        if self._rule == "observed":
            return np.zeros((self.n_graphs, sides[0].shape[1]))
        return self._forms(sides, self._rule)

    def _forms(self, sides: tuple[Array, ...], which: str) -> Array:
        """Return forms with components, or what a diagonal adds; those of the last are kept."""
        if which in self._known:
            signs = _signs(self._known["sides"], sides)
            if signs is not None:
                return np.asarray(self._known[which] * signs)
        found = self._joined(_Forms(None, 0, sides))
        names = (f"forms {self._rule}", self._rule, "hollow")
        self._known.clear()
        self._known.update(zip(names, found, strict=False), sides=sides)
        return np.asarray(self._known[which].copy())

    def sketch(
        self, Omega: Array, weights: Array, scales: Array | None = None
    ) -> tuple[tuple[Array, Array], ...]:
        """Return sums of w_i Ã_i Ã_i^T Omega and w_i Ã_i Omega; directed: and of the transposes."""
        rows = _unless_ones(weights) if scales is None else np.column_stack([weights, scales])
        step = 8 if len(Omega) > _TALL else max(1, Omega.shape[1])
        parts = [
            self._stack.total(_Sketch(rows, 0, Omega[:, lo : lo + step]), self._look)
            for lo in range(0, Omega.shape[1], step)
        ]
        if len(parts) == 1:
            found: tuple[tuple[Array, Array], ...] = parts[0]
            return found
        return tuple(
            (np.column_stack([p[0] for p in side]), np.column_stack([p[1] for p in side]))
            for side in zip(*parts, strict=True)
        )

    # ------------------------------------------------------------------ norms, means, degrees

    def squared_norms(self) -> Array:
        """Return ||Ã_i||^2, (m,); without a pass where graphs are taken as they are."""
        if self._rule not in self._norms:
            facts = self._stack.facts
            if self._mean is None and self._rule != "filled":
                known = facts.norm if self._rule == "observed" else facts.off_norm
                self._norms[self._rule] = (self._scale * known) ** 2
            else:
                self._norms[self._rule], self._norms["hollow"] = self._joined(_Norms(None, 0))
        return self._norms[self._rule]

    def rounding(self) -> Array:
        """Return the squared norm that rounding alone may leave of each graph, (m,)."""
        eps = float(np.finfo(self.dtype).eps)
        return np.asarray((4 * eps * self._scale * self._stack.facts.norm) ** 2)

    def mean(self, weights: Array) -> Any:
        """Return sum_i w_i Ã_i / sum_i w_i, (n, n), sparse for sparse graphs."""
        # All treatment is linear: the mean of the treated graphs is the treated mean graph.
        mean: Any = mean_graph(self._stack, weights)
        if isinstance(mean, np.ndarray):
            one = GraphStack(mean[None], copy=False)
        else:
            one = GraphStack.from_flat(mean, 1)
        treated = TreatedGraphs(one, self._rule, self._mean, self._scale, directed=self.directed)
        return treated.mean(np.ones(1))

    def degrees(self) -> tuple[Array, ...]:
        """Return sums of absolute weights over rows, (m, n); directed: and over columns."""
        return self._joined(_Large(None, 0, "degrees", ()))

    def scaled_squares(self, scales: Array) -> Array:
        """Return sum_st x_is (scale A_ist)^2 z_it, (m,)."""
        return np.concatenate(list(self._each(_Ask(scales, 0, "scaled_squares", ()))))


class BlockedObserved(BlockedGraphs):
    """The same for graphs with hidden entries; see :class:`ObservedGraphs`."""

    _kind: ClassVar[type[TreatedGraphs]] = ObservedGraphs

    @cached_property
    def hollow(self) -> bool:
        """Whether no pair s = t is observed in any graph."""
        return self._rule == "hollow" or all(self._each(_Ask(None, 0, "hollow", ())))

    def mask_products(self, *columns: Array) -> tuple[Array, ...]:
        """Return B^T M̃_i, (m, b, n); directed: left^T M̃_i and right^T M̃_i^T."""
        return self._joined(_Large(None, 0, "mask_products", columns))

    def mask_forms(self, X: Array, Z: Array) -> Array:
        """Return x_k^T M̃_i z_k, (m, c)."""
        return self._joined_one("mask_forms", X, Z)

    def grams(self, *sides: Array) -> Array:
        """Return <M̃_i o h_j g_j^T, h_k g_k^T>, (m, d, d)."""
        return self._joined_one("grams", *sides)

    def observed(self) -> Array:
        """Return the share of the entries of each graph that is observed, (m,)."""
        return self._joined_one("observed")

    def mean(self, weights: Array) -> Any:
        """Return the mean of each entry over the graphs that observe it, (n, n), or an operator."""
        nothing = (np.zeros((self.n_vertices, 0)),) * (1 + self.directed)
        return self.mean_residual(weights, nothing, np.zeros((self.n_graphs, 0)))

    def mean_residual(self, weights: Array, sides: tuple[Array, ...], Lam: Array) -> Any:
        """Return the mean of Ã_i - sum_k Lam_ik h_k g_k^T, (n, n), for a start.

        As in memory, but of sparse graphs on many vertices the components are taken off as if each
        graph observed its share of every entry of them, and no mean.
        """
        rows = np.column_stack([weights, Lam])
        if not self._stack.is_sparse or self.n_vertices <= WRITTEN_OUT:
            ask = _Ask(rows, 0, "residual_sums", (sides,))
            total, counts = self._stack.total(ask, self._look)
            return ratio(total, counts, weights)
        mean: Any = self._scale * weighted_sum(self._stack, weights)
        lam = (weights * self.observed()) @ Lam
        low = aslinearoperator(sides[0] * lam) @ aslinearoperator(sides[-1].T)
        return aslinearoperator(sparse.csr_array(mean)) - low


def _unless_ones(weights: Array) -> Array | None:
    """Return weights, or None if all are 1: nothing to send."""
    return None if weights.ndim == 1 and bool((weights == 1).all()) else weights


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
