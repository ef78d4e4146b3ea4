"""A stack as a solver sees it: diagonal treated, centred and scaled, and never copied.

Every graph of the view is linear in a graph of the stack,

    Ã_i = scale * (A_i + Diag(D_i) - (M + Diag(D_M))),

with ``M`` the mean when centring and ``D`` what the rule for the diagonal adds to it. So the
products below cost one read of the stack and a few vectors, and sparse graphs stay sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.graphs.blocked import Block, BlockedStack
from eigengraphs.graphs.columns import Columns, Consumer, StackProducts
from eigengraphs.graphs.dense_sums import group_sums
from eigengraphs.graphs.entry_kernels import dense_forms
from eigengraphs.graphs.entry_moments import Entries, moment_of_entries, triangle
from eigengraphs.graphs.treated import DiagonalRule, TreatedStack, Vector
from eigengraphs.graphs.view_dense import DenseProducts, as_rows
from eigengraphs.graphs.view_sparse import SparseProducts
from eigengraphs.parallel import on_blocks, spans
from eigengraphs.stack.stack import GraphStack

__all__ = ["DiagonalRule", "StackView", "mean_graph", "weighted_sum"]

_ROWS = 2**15  # of a diagonal that are multiplied at a time
_FEW = 32  # vertices
_FORM_ENTRIES = 2**18  # of graphs in one task of a thread
_THREADS_PAY_FROM = 2**24  # products of two numbers


def mean_graph(stack: GraphStack, weights: Vector) -> NDArray[np.float64] | sparse.csr_array:
    """Return the weighted mean of the graphs, (n, n), dense or sparse as they are."""
    if stack.mask is not None and stack.mask.hides_pairs:
        stack.require_complete("the mean of what is observed is that of masked_mean")
    return weighted_sum(stack, weights / weights.sum())


def weighted_sum(stack: GraphStack, weights: Vector) -> NDArray[np.float64] | sparse.csr_array:
    """Return sum_i w_i A_i, (n, n), hidden entries counting 0; dense or sparse as they are."""
    if isinstance(stack, BlockedStack):
        return cast(sparse.csr_array, stack.total(_WeightedSum(weights)))
    m, n, _ = stack.shape
    if not stack.is_sparse:
        return np.asarray(group_sums(stack.dense, weights, np.zeros(m, dtype=np.intp), 1)[0])
    # Row s of the sum is a combination of rows s, n + s, 2n + s, ... of the flat matrix.
    combine = sparse.csr_array(
        (np.repeat(weights, n), np.tile(np.arange(n), m), np.arange(m * n + 1)), shape=(m * n, n)
    )
    total = sparse.csr_array(combine.T @ stack.flat)
    total.sum_duplicates()
    return total


@dataclass(frozen=True)
class _WeightedSum:
    """The sum over a block."""

    weights: Vector
    first: int = 0  # graph of the first weight

    def __call__(
        self,
        block: Block,
        shared: None,  # noqa: ARG002
    ) -> NDArray[np.float64] | sparse.csr_array:
        lo = block.lo - self.first
        return weighted_sum(block.graphs, self.weights[lo : lo + block.hi - block.lo])

    def part(self, lo: int, hi: int) -> _WeightedSum:
        """Return the task for these graphs alone."""
        return _WeightedSum(self.weights[lo - self.first : hi - self.first], lo)


class StackView(TreatedStack):
    """The products of a treated stack that a solver asks for.

    Parameters
    ----------
    stack
        Symmetric graphs.
    diagonal : {"observed", "filled", "hollow"}
        Keep the diagonal; put the mean of its row, degree / (n - 1), into each entry; or zero.
    mean
        Mean graph (n, n) to subtract, before the same treatment of its diagonal; or None.
    scale : float
        Factor on every entry.
    like : StackView, optional
        A view that differs in its diagonal alone: what both need is found once.
    """

    def __init__(
        self,
        stack: GraphStack,
        diagonal: DiagonalRule = "observed",
        mean: NDArray[np.float64] | sparse.csr_array | None = None,
        scale: float = 1.0,
        *,
        like: StackView | None = None,
    ) -> None:
        if stack.mask is not None and (diagonal == "observed" or stack.mask.hides_pairs):
            # A hidden diagonal is no matter where the rule does without it.
            stack.require_complete("these products would take them for zeros; use MaskedView")
        self._F: Any = stack.flat if stack.is_sparse else stack.dense.reshape(-1, stack.n_vertices)
        self._raw: StackProducts
        if like is not None:
            self._raw = like._raw
        else:
            self._raw = (
                SparseProducts(stack.flat, ones=not stack.is_weighted)
                if stack.is_sparse
                else DenseProducts(stack.dense)
            )
        super().__init__(stack, diagonal, mean, scale, like)

    def _line_sums(self) -> NDArray[np.float64]:
        return self._raw.row_sums()

    def _mean_line_sums(self) -> Vector:
        M: Any = self._M
        return np.asarray(M.sum(axis=1)).ravel()

    def _raw_multiply(self, v: Vector) -> NDArray[np.float64]:
        """Return A_i v for each graph of the stack as it is, (m, n)."""
        products = self._F @ v.astype(self._stack.dtype, copy=False)
        return np.asarray(products, dtype=np.float64).reshape(self.n_graphs, self.n_vertices)

    def multiply(self, v: Vector) -> NDArray[np.float64]:
        """Return Ã_i v for each graph, (m, n)."""
        Y = self._raw_multiply(v)
        if self._D is not None:
            Y += self._D * v
        if self._M is not None:
            Y -= self._M @ v + self._D_M * v
        Y *= self._scale
        return Y

    def quadratic_forms(self, H: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return h_k^T Ã_i h_k, (m, d)."""
        if self.n_vertices <= _FEW and not self._stack.is_sparse:
            Psi = self._few_forms(H)
        else:
            Psi = self._raw.quadratic_forms(H.astype(self._stack.dtype, copy=False))
        if self._D is not None:
            Psi += self._D @ H**2
        if self._M is not None:
            Psi -= np.einsum("sk,sk->k", H, self._mean_multiply(H))
        return self._scale * Psi

    def _few_forms(self, H: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return h_k^T A_i h_k, (m, d), of graphs too small to be multiplied singly."""
        m, n = self.n_graphs, self.n_vertices
        HT = as_rows(H)
        X = (HT[:, :, None] * HT[:, None, :]).reshape(-1, n * n)
        forms, rows = np.empty((m, len(X))), self._stack.dense.reshape(m, n * n)

        def work(lo: int, hi: int) -> None:
            dense_forms(rows[lo:hi], X, forms[lo:hi])

        threads = None if X.size * m >= _THREADS_PAY_FROM else 1
        on_blocks(work, spans(m, 1 + _FORM_ENTRIES // (n * n)), threads=threads)
        return forms

    def diagonal_forms(self, H: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the rule for the diagonal adds to ``quadratic_forms``, (m, d): no pass."""
        if self._D is None:
            return np.zeros((self.n_graphs, H.shape[1]))
        return np.asarray(self._scale * ((self._D - self._D_M) @ H**2))

    def products(
        self, B: NDArray[np.float64], consume: Consumer, out: NDArray[Any] | None = None
    ) -> None:
        """Call ``consume(lo, hi, P)`` with P_i = B^T Ã_i for lo <= i < hi, block by block.

        Parameters
        ----------
        B : (n, b)
            Columns.
        consume
            Called in threads, in no order; P is (hi - lo, b, n) in the type of the stack.
        out : (m, b, n), optional
            Where to put the products: P is ``out[lo:hi]``. Otherwise P is the consumer's to keep.
        """
        self._raw.products(self._columns(B), consume, out)

    def entry_moment(self, weights: Vector) -> tuple[NDArray[np.float64], Vector]:
        """Return sum_i w_i c_i c_i^T, (p, p), and sum_i w_i c_i, (p,), for graphs on few vertices.

        c_i is the lower triangle of Ã_i, row by row. Of the first the upper triangle is filled, in
        Fortran's order.
        """
        n = self.n_vertices
        M: Any = np.zeros((n, n)) if self._M is None else self._M
        M = np.array(M if isinstance(M, np.ndarray) else M.toarray())
        M[np.diag_indices(n)] += self._D_M
        storage = self._stack.flat if self._stack.is_sparse else self._stack.dense
        entries = Entries(storage, self._D, M[triangle(n)], self._scale)
        return moment_of_entries(entries, weights)

    def project(self, V: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return [V B]^T Ã_i B, (m, s + b, b), for ``V`` (n, s) and ``B`` (n, b)."""
        cores = self._raw.project(V, self._columns(B, scale=1.0))
        cores *= self._scale
        return cores

    def weighted_multiply(
        self, W: NDArray[np.float64], H: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return sum_i W_ik Ã_i h_k, (n, d), for ``W`` (m, d) and ``H`` (n, d)."""
        total = self._raw.weighted_multiply(W, H.astype(self._stack.dtype, copy=False))
        if self._D is not None:
            for lo, hi in spans(len(H), _ROWS):
                total[lo:hi] += (self._D[:, lo:hi].T @ W) * H[lo:hi]
        if self._M is not None:
            total -= self._mean_multiply(H) * W.sum(axis=0)
        total *= self._scale
        return total

    def sketch(
        self, V: NDArray[np.float64], weights: Vector
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum_i w_i Ã_i Ã_i V and sum_i w_i Ã_i V, each (n, s).

        Each graph is read twice while it is at hand; large ones of weight zero are not read.
        """
        squares, sums = self._raw.square_multiply(self._columns(V), weights)
        if self._M is not None:
            squares -= self._mean_multiply(sums)
        squares *= self._scale
        return squares, sums

    def _mean_multiply(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (M + Diag(D_M)) V, (n, s)."""
        M: Any = self._M
        return np.asarray(M @ V + np.asarray(self._D_M).reshape(-1, 1) * V)

    def _columns(self, B: NDArray[np.float64], scale: float | None = None) -> Columns:
        # Rounded once: then graphs and mean meet the same columns, and their difference is small.
        scale = self._scale if scale is None else scale
        typed = (B if scale == 1 else scale * B).astype(self._stack.dtype, copy=False)
        C = None
        if self._M is not None:
            C = self._mean_multiply(typed.astype(np.float64)).astype(typed.dtype)
        return Columns(typed, self._D, C)

    def mean(self, weights: Vector) -> Any:
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
