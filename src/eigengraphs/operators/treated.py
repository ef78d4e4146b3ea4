"""Graphs in memory as a solver sees them: diagonal treated, centered and scaled, never copied.

Every graph is linear in a graph of the stack,

    Ã_i = scale * (A_i + Diag(D_i) - (M + Diag(D_M))),

with ``M`` the mean when centering and ``D`` what the rule for the diagonal adds to it. So a product
costs one read of the stack and a few vectors, and sparse graphs stay sparse.
"""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.operators.csr import SparseGraphs
from eigengraphs.operators.dense import DenseGraphs
from eigengraphs.operators.means import MeanGraph, mean_graph, off_diagonal_squares
from eigengraphs.operators.protocol import Array, BlockTask, Columns, Raw
from eigengraphs.stack.stack import GraphStack
from eigengraphs.system.parallel import add_up, alone, on_blocks, spans

__all__ = ["DiagonalRule", "TreatedGraphs", "raw_graphs"]

DiagonalRule: TypeAlias = Literal["observed", "filled", "hollow"]


def raw_graphs(stack: GraphStack, directed: bool) -> Raw:
    """Return the products of a stack as it is stored."""
    if stack.is_sparse:
        return SparseGraphs(stack.flat, directed=directed, ones=not stack.is_weighted)
    return DenseGraphs(stack.dense, directed=directed)


class TreatedGraphs:
    """The products of a treated stack; see :class:`~eigengraphs.operators.protocol.Operator`.

    Parameters
    ----------
    stack
        Complete graphs.
    diagonal : {"observed", "filled", "hollow"}
        Keep the diagonal; put the mean of the other entries of its row and column into each entry;
        or zero.
    mean
        Mean graph (n, n) to subtract, before the same treatment of its diagonal; or None.
    scale : float
        Factor on every entry.
    directed : bool
        Whether A_i^T is to be told from A_i.
    like : TreatedGraphs, optional
        The same but for the rule for the diagonal: what both need is found once.
    """

    def __init__(
        self,
        stack: GraphStack,
        diagonal: DiagonalRule = "observed",
        mean: MeanGraph | None = None,
        scale: float = 1.0,
        *,
        directed: bool = False,
        like: Self | None = None,
    ) -> None:
        self._whole, self._span = stack, (0, stack.n_graphs)
        self._rule, self._M, self._scale = diagonal, mean, scale
        self.directed, self.n_vertices, self.dtype = directed, stack.n_vertices, stack.dtype
        self._raw: Raw = self._make_raw() if like is None else like._raw
        # Shared, and no function of this one: a cycle would keep graphs until Python looks for it.
        self._off_squares: list[Array] = [] if like is None else like._off_squares
        self._norms: Array | None = None
        self._D: Array | None = None
        self._D_M: Array | float = 0.0
        if diagonal != "observed":
            self._change_diagonals()

    def _make_raw(self) -> Raw:
        if self._stack.mask is not None and (
            self._rule == "observed" or self._stack.mask.hides_pairs
        ):  # a hidden diagonal is no matter where the rule does without it
            self._stack.require_complete("these products would take them for zeros")
        return raw_graphs(self._stack, self.directed)

    def _change_diagonals(self) -> None:
        """Find what the rule adds to the diagonals of graphs, and of the mean."""
        M: Any = self._M
        rows, columns = (0.0, 0.0) if self._rule == "hollow" else self._raw.line_sums()
        self._D = self._change(self._stack.diagonals(), (rows + columns) / 2)
        if M is not None:
            sums = np.asarray(M.sum(axis=1)).ravel() + np.asarray(M.sum(axis=0)).ravel()
            self._D_M = self._change(np.asarray(M.diagonal()), sums / 2)

    def _change(self, on_diagonal: NDArray[Any], line_sums: Any) -> Array:
        """Return what the rule adds to the diagonal, for one graph (n,) or for all (m, n)."""
        if self._rule == "hollow":
            return -on_diagonal
        others = max(self.n_vertices - 1, 1)
        return np.asarray((line_sums - on_diagonal) / others - on_diagonal)

    @property
    def _stack(self) -> GraphStack:
        """The graphs; of a part a copy, which products do not need."""
        (lo, hi), whole = self._span, self._whole
        part: GraphStack = whole if hi - lo == whole.n_graphs else whole[lo:hi]
        return part

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        return self._span[1] - self._span[0]

    # ------------------------------------------------------------------ products

    def products(
        self, *columns: Array, out: tuple[NDArray[Any], ...] | None = None
    ) -> tuple[NDArray[Any], ...]:
        """Return B^T Ã_i, (m, b, n); directed: left^T Ã_i and right^T Ã_i^T."""
        asked = [self._columns(not k, B, self._scale) for k, B in enumerate(columns)]
        if out is None:
            m, n = self.n_graphs, self.n_vertices
            out = tuple(np.empty((m, B.shape[1], n), self.dtype) for B in columns)
        self._raw.products(asked, out)
        return out

    def project(self, bases: tuple[Array, ...], columns: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return [V B]^T Ã_i B; directed: [U left]^T Ã_i right, and V^T Ã_i^T left."""
        if self.directed:
            left, right = columns
            asked = [self._columns(False, right), self._columns(True, left)]
            others: list[tuple[Array, ...]] = [(bases[0], left), (bases[1],)]
        else:
            asked, others = [self._columns(True, columns[0])], [(bases[0], columns[0])]
        found = self._raw.cross(asked, others)
        for cores in found:
            cores *= self._scale
        return found

    def combine(self, W: Array, *sides: Array) -> tuple[Array, ...]:
        """Return sum_i W_ik Ã_i h_k; directed: sum_i W_ik Ã_i g_k and sum_i W_ik Ã_i^T h_k."""
        asked = [(left, sides[not left and self.directed]) for left in (False, True)]
        asked = asked if self.directed else asked[1:]
        found = self._raw.combine(W, [Columns(left, self._typed(X)) for left, X in asked])
        for total, (left, X) in zip(found, asked, strict=True):
            if self._D is not None:
                for lo, hi in spans(len(X), 2**15):  # few rows: D may be large
                    total[lo:hi] += (self._D[:, lo:hi].T @ W) * X[lo:hi]
            if self._M is not None:
                total -= self._mean_times(left, X) * W.sum(axis=0)
            total *= self._scale
        return found

    def forms(self, *sides: Array) -> Array:
        """Return h_k^T Ã_i g_k, (m, d)."""
        H, G = sides[0], sides[-1]
        Psi = self._raw.forms(H, G)
        if self._D is not None:
            Psi += self._D @ (H * G)
        if self._M is not None:
            Psi -= np.einsum("sk,sk->k", H, self._mean_times(False, G))
        return self._scale * Psi

    def diagonal_forms(self, *sides: Array) -> Array:
        """Return what the rule for the diagonal adds to ``forms``, (m, d): no pass."""
        if self._D is None:
            return np.zeros((self.n_graphs, sides[0].shape[1]))
        return np.asarray(self._scale * ((self._D - self._D_M) @ (sides[0] * sides[-1])))

    def sketch(
        self, Omega: Array, weights: Array, scales: Array | None = None
    ) -> tuple[tuple[Array, Array], ...]:
        """Return sums of w_i Ã_i Ã_i^T Omega and w_i Ã_i Omega; directed: and of the transposes."""
        lefts = (True, False)[: 1 + self.directed]
        asked = [self._columns(left, Omega, self._scale) for left in lefts]
        n = self.n_vertices
        both = None if scales is None else (scales[:, :n], scales[:, -n:])
        found = self._raw.sketch(asked, weights, both)
        for left, (squares, sums) in zip(lefts, found, strict=True):
            if self._M is not None:
                squares -= self._mean_times(not left, sums)
            squares *= self._scale
        # Products from the left are of transposes, whose sums are for the other side.
        return tuple((found[k][0], found[-1 - k][1]) for k in range(len(found)))

    def _typed(self, X: Array) -> NDArray[Any]:
        return X.astype(self.dtype, copy=False)

    def _columns(self, left: bool, B: Array, scale: float = 1.0) -> Columns:
        # Rounded once: then graphs and mean meet the same columns, and their difference is small.
        typed = self._typed(B if scale == 1 else scale * B)
        C = None
        if self._M is not None:
            C = self._mean_times(left, typed.astype(np.float64)).astype(typed.dtype)
        return Columns(left, typed, self._D, C)

    def _mean_times(self, left: bool, X: Array) -> Array:
        """Return (M + Diag(D_M)) X, or with the transpose of M for columns of the left, (n, s)."""
        M: Any = self._M
        return np.asarray((M.T if left else M) @ X + np.asarray(self._D_M).reshape(-1, 1) * X)

    # ------------------------------------------------------------------ norms, means, degrees

    def scaled_squares(self, scales: Array) -> Array:
        """Return sum_st x_is (scale A_ist)^2 z_it, (m,); of graphs as they are, as degrees."""
        n, scale = self.n_vertices, self._scale
        return self._raw.scaled_squares(scale * scales[:, :n], scale * scales[:, -n:])

    def squared_norms(self) -> Array:
        """Return ||Ã_i||^2, (m,).

        Entries are scaled before they are squared: squares of extreme weights leave the range of a
        float64. Both parts are sums of squares: taking the diagonal's off the whole would lose the
        digits of what is left beside a large diagonal.
        """
        if self._norms is None:
            if self._is_as_stored():
                self._norms = (self._scale * self._stack.facts.norm) ** 2
            else:
                on = self._scale * self._diagonals()
                if not self._off_squares:
                    self._off_squares.append(self._find_off_squares())
                self._norms = np.einsum("is,is->i", on, on) + self._off_squares[0]
        return self._norms

    def _is_as_stored(self) -> bool:
        return self._M is None and self._D is None

    def _diagonals(self) -> Array:
        """Return the diagonals of the treated graphs before they are scaled, (m, n)."""
        on = self._stack.diagonals()
        if self._M is not None:
            on -= np.asarray(self._M.diagonal())
        return on if self._D is None else on + (self._D - self._D_M)

    def _find_off_squares(self) -> Array:
        """Return ||Ã_i||^2 off the diagonal, (m,)."""
        if self._M is None:
            return np.asarray((self._scale * self._stack.facts.off_norm) ** 2)
        return off_diagonal_squares(self._stack, self._M, self._scale)

    def rounding(self) -> Array:
        """Return the squared norm that rounding alone may leave of each graph, (m,).

        Graphs that are their mean are not exactly zero when centered.
        """
        eps = float(np.finfo(self.dtype).eps)
        norm = self._whole.facts.norm[slice(*self._span)]
        return np.asarray((4 * eps * self._scale * norm) ** 2)

    def mean(self, weights: Array) -> Any:
        """Return sum_i w_i Ã_i / sum_i w_i, (n, n), sparse for sparse graphs."""
        mean: Any = mean_graph(self._stack, weights)
        if self._M is not None:
            mean = mean - self._M
        if self._D is not None:
            change = weights @ self._D / weights.sum() - self._D_M
            if isinstance(mean, np.ndarray):
                mean[np.diag_indices(self.n_vertices)] += change
            else:
                mean = mean + sparse.diags_array(change)
        return mean * self._scale

    def degrees(self) -> tuple[Array, ...]:
        """Return sums of absolute weights over rows, (m, n); directed: and over columns.

        Of the graphs as they are, but for their scale: degree correction knows no centering.
        """
        rows, columns = self._raw.line_sums(absolute=True)
        return tuple(self._scale * sums for sums in (rows, columns)[: 1 + self.directed])

    def written_out(self) -> Array:
        """Return the graphs Ã_i as an array, (m, n, n): for blocks of graphs on few vertices."""
        (lo, hi), n, M = self._span, self.n_vertices, self._M
        if self._whole.is_sparse:
            A = self._whole.flat[lo * n : hi * n].toarray().reshape(-1, n, n)
        else:
            A = self._whole.dense[lo:hi]
        X: Array = np.multiply(A, self._scale, dtype=np.float64)
        if M is not None:
            X -= self._scale * (M if isinstance(M, np.ndarray) else M.toarray())
        if self._D is not None:
            np.einsum("iss->is", X)[:] += self._scale * (self._D - self._D_M)
        return X

    # ------------------------------------------------------------------ some of the graphs

    def part(self, lo: int, hi: int) -> Self:
        """Return the operator of graphs lo to hi, which are not copied."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        found._span = (self._span[0] + lo, self._span[0] + hi)
        found._raw = self._raw.part(lo, hi)
        found._D = None if self._D is None else self._D[lo:hi]
        found._norms = None if self._norms is None else self._norms[lo:hi]
        found._off_squares = [squares[lo:hi] for squares in self._off_squares]
        return found

    def total(self, task: BlockTask, weights: Array) -> Any:
        """Return the sum of task(operator of a block, its rows of ``weights``) over all blocks."""
        total: list[Any] = []

        def work(lo: int, hi: int) -> Any:
            with alone():
                return task(self.part(lo, hi), weights[lo:hi])

        def gather(part: Any) -> None:
            total[:] = [add_up(total[0], part) if total else part]

        blocks = spans(self.n_graphs, max(32, 2**19 // self.n_vertices**2))
        if len(blocks) == 1:
            return task(self, weights)
        on_blocks(work, blocks, gather)
        return total[0]
