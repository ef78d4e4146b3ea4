"""A stack with hidden entries as a solver sees it: treated, and never copied.

The graphs of the view, and what is observed of them, are

    Ã_i = scale * (A_i - M_i o M + Diag(D_i)),      M̃_i = M_i + Diag(E_i),

with M_i the mask of the stack, ``M`` the mean when centring, and D, E what the rule for the
diagonal changes. Ã_i is 0 where M̃_i is.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from eigengraphs.graphs.columns import Columns, Consumer, StackProducts
from eigengraphs.graphs.mask_kernels import masked_dense_distances, masked_flat_distances
from eigengraphs.graphs.mask_products import MaskProducts, weighted_hidden, weighted_mask
from eigengraphs.graphs.masked_mean import MaskedMean
from eigengraphs.graphs.view import DiagonalRule, weighted_sum
from eigengraphs.graphs.view_dense import DenseProducts
from eigengraphs.graphs.view_sparse import SparseProducts
from eigengraphs.parallel import on_blocks, spans
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.stack import GraphStack

__all__ = ["MaskedView"]

Floats: TypeAlias = NDArray[np.float64]

_BLOCK_ENTRIES = 2**20  # of graphs that one thread takes at a time
_WRITTEN_OUT = 3000  # vertices up to which the mean residual of sparse graphs is an array


class MaskedView:
    """The products of a treated stack, and of its mask, that a solver asks for.

    A product with b columns reads the graphs once and takes m n b numbers. One with the mask reads
    the hidden entries once for every eight columns. Centring reads the hidden entries again, with
    eight bytes more for each, and multiplies M by b columns for each set of vertices that some
    graphs have in common.

    Parameters
    ----------
    stack
        Symmetric graphs.
    diagonal : {"observed", "filled", "hollow"}
        Keep the diagonal as it is; put the mean of the observed entries of its row into each
        entry, which is then observed (but where there are none, and it is hidden); or hide it.
    mean
        Mean graph (n, n) to subtract where an entry is observed, as
        :func:`~eigengraphs.graphs.masked_mean.masked_mean` finds it; or None.
    scale : float
        Factor on every entry.
    like : MaskedView, optional
        A view that differs in its diagonal alone: what both need is found once.
    """

    def __init__(
        self,
        stack: GraphStack,
        diagonal: DiagonalRule = "observed",
        mean: NDArray[np.float64] | sparse.csr_array | None = None,
        scale: float = 1.0,
        *,
        like: MaskedView | None = None,
    ) -> None:
        self._stack, self._rule, self._M, self._scale = stack, diagonal, mean, scale
        self._F: Any = stack.flat if stack.is_sparse else stack.dense.reshape(-1, stack.n_vertices)
        self._mask: Mask
        self._masks: MaskProducts
        self._raw: StackProducts
        self._mean: MaskedMean | None
        if like is not None:
            self._mask, self._raw, self._mean = like._mask, like._raw, like._mean
            self._masks = like._masks
        else:
            self._mask = stack.mask or Mask.complete(stack.n_graphs, stack.n_vertices)
            self._masks = MaskProducts(self._mask)
            self._raw = (
                SparseProducts(stack.flat, ones=not stack.is_weighted)
                if stack.is_sparse
                else DenseProducts(stack.dense)
            )
            self._mean = None if mean is None else MaskedMean(self._mask, mean)
        self._like = like
        self._D: Floats | None = None
        self._E: Floats | None = None
        if diagonal != "observed":
            self._D, self._E = self._changes()

    def _changes(self) -> tuple[Floats, Floats]:
        """Return what the rule adds to the diagonals of the graphs and of the mask, (m, n)."""
        seen = self._mask.diagonal
        now = self._diagonals()
        if self._rule == "hollow":
            return -now, -seen.astype(np.float64)
        sums = self._raw.row_sums()
        if self._mean is not None:
            centre = np.zeros((self.n_graphs, 1, self.n_vertices))
            self._mean.subtract(np.ones((self.n_vertices, 1)), centre)
            sums += centre[:, 0]
        others = self._mask.row_counts() - seen
        fill = np.divide(sums - now, others, out=np.zeros_like(sums), where=others > 0)
        return fill - now, (others > 0).astype(np.float64) - seen

    def _diagonals(self) -> Floats:
        """Return the diagonals of A_i - M_i o M, (m, n)."""
        now = self._stack.diagonals()
        return now if self._mean is None else now - self._mean.diagonals

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
        """Type in which the graphs are multiplied."""
        return self._stack.dtype

    @cached_property
    def hollow(self) -> bool:
        """Whether no pair s = t is observed in any graph."""
        on: Any = self._mask.diagonal
        return not bool((on if self._E is None else on + self._E).any())

    # ------------------------------------------------------------------ products with the graphs

    def multiply(self, B: Floats) -> Floats:
        """Return (Ã_i B)^T, (m, b, n), for ``B`` (n, b)."""
        typed = (self._scale * B).astype(self.dtype)
        out = np.empty((self.n_graphs, B.shape[1], self.n_vertices), self.dtype)
        self._raw.products(Columns(typed, self._D, None), lambda *_: None, out)
        found: Floats = out.astype(np.float64, copy=False)
        if self._mean is not None:
            self._mean.subtract(typed.astype(np.float64), found)
        return found

    def sum_multiply(self, Y: Floats) -> Floats:
        """Return sum_i Ã_i y_i, (n, b), for ``Y`` (m, b, n), b vectors a graph."""
        m, b, n = Y.shape
        columns = Y.transpose(0, 2, 1).reshape(m * n, b)
        total = np.asarray(self._F.T @ columns.astype(self.dtype, copy=False), dtype=np.float64)
        if self._D is not None:
            total += np.einsum("is,ibs->sb", self._D, Y)
        if self._mean is not None:
            total -= self._mean.sum_multiply(Y)
        return self._scale * total

    def quadratic_forms(self, H: Floats) -> Floats:
        """Return h_k^T Ã_i h_k, (m, d)."""
        Psi = self._raw.quadratic_forms(H.astype(self.dtype, copy=False))
        if self._D is not None:
            Psi += self._D @ H**2
        if self._mean is not None:
            Psi -= self._mean.quadratic_forms(H)
        return self._scale * Psi

    def diagonal_forms(self, H: Floats) -> Floats:
        """Return what the rule for the diagonal adds to ``quadratic_forms``, (m, d): no pass."""
        if self._D is None:
            return np.zeros((self.n_graphs, H.shape[1]))
        return np.asarray(self._scale * (self._D @ H**2))

    # ------------------------------------------------------------------ products with the mask

    def mask_products(self, B: Floats, consume: Consumer) -> None:
        """Call ``consume(lo, hi, Q)`` with Q_i = (M̃_i B)^T, (hi - lo, b, n), block by block."""
        self._masks.products(B, consume, self._E)

    def mask_sum_multiply(self, Y: Floats) -> Floats:
        """Return sum_i M̃_i y_i, (n, b), for ``Y`` (m, b, n)."""
        total = self._masks.sum_multiply(Y.transpose(0, 2, 1))
        if self._E is not None:
            total += np.einsum("is,ibs->sb", self._E, Y)
        return total

    def mask_forms(self, X: Floats) -> Floats:
        """Return x_k^T M̃_i x_k, (m, c), for ``X`` (n, c)."""
        return self._masks.forms(X, self._E)

    def grams(self, H: Floats) -> Floats:
        """Return Gamma_i,jk = <M̃_i o h_j h_j^T, h_k h_k^T>, (m, d, d)."""
        return self._masks.grams(H, self._E)

    def observed(self) -> Floats:
        """Return the share of the entries of each graph that is observed, (m,)."""
        seen = self._mask.counts().astype(np.float64)
        if self._E is not None:
            seen += self._E.sum(axis=1)
        return seen / self.n_vertices**2

    # ------------------------------------------------------------------ norms and means

    def squared_norms(self) -> Floats:
        """Return ||Ã_i||^2, (m,); scaled before they are squared, as in ``StackView``."""
        on_diagonal = self._diagonals()
        if self._D is not None:
            on_diagonal += self._D
        on_diagonal *= self._scale
        squares: Floats = np.einsum("is,is->i", on_diagonal, on_diagonal)
        return squares + self._off_squares

    @cached_property
    def _off_squares(self) -> Floats:
        """Of ||scale (A_i - M_i o M)||^2 the part off the diagonal, (m,)."""
        if self._like is not None:
            return self._like._off_squares
        M: Any = self._M
        scale, stack, n = self._scale, self._stack, self.n_vertices
        if M is None:
            squares: Floats = (scale * stack.facts.off_norm) ** 2
            return squares
        squares = np.empty(self.n_graphs)
        gone, present = self._mask.hidden, self._mask.present
        if not stack.is_sparse and not isinstance(M, np.ndarray):
            M = M.toarray()
        if stack.is_sparse and isinstance(M, np.ndarray):
            M = sparse.csr_array(M)

        def work(lo: int, hi: int) -> None:
            hidden = gone.indptr[lo * n : hi * n + 1]
            if not stack.is_sparse:
                masked_dense_distances(
                    stack.dense[lo:hi], present[lo:hi], gone.indices, hidden, M, scale,
                    squares[lo:hi],
                )  # fmt: skip
                return
            flat = stack.flat
            masked_flat_distances(
                flat.data, flat.indices, flat.indptr[lo * n : hi * n + 1], present[lo:hi],
                gone.indices, hidden, M.data, M.indices, M.indptr, scale, squares[lo:hi],
            )  # fmt: skip

        on_blocks(work, spans(self.n_graphs, 1 + _BLOCK_ENTRIES // n**2))
        return squares

    def rounding(self) -> Floats:
        """Return the squared norm that rounding alone may leave of each graph, (m,)."""
        eps = float(np.finfo(self.dtype).eps)
        noise: Floats = (4 * eps * self._scale * self._stack.facts.norm) ** 2
        return noise

    def mean_residual(self, weights: Floats, H: Floats, Lam: Floats) -> Any:
        """Return the mean of Ã_i - sum_k Lam_ik h_k h_k^T, (n, n), for a start.

        Each entry is the weighted mean over the graphs that observe it. Of sparse graphs on many
        vertices it is an operator, and the weighted sum of what is observed. Reads the graphs
        once, and the mask once a component.
        """
        total: Any = weighted_sum(self._stack, weights)
        if self._stack.is_sparse and self.n_vertices > _WRITTEN_OUT:
            return self._residual_operator(total, weights, H, Lam)
        if not isinstance(total, np.ndarray):
            total = total.toarray()
        counts = weighted_mask(self._mask, weights)
        if self._M is not None:
            M: Any = self._M if isinstance(self._M, np.ndarray) else self._M.toarray()
            total -= counts * M
        on = np.diag_indices(self.n_vertices)
        if self._D is not None and self._E is not None:
            total[on] += weights @ self._D
            counts[on] += weights @ self._E
        total *= self._scale
        for h, lam in zip(H.T, Lam.T, strict=True):
            K = weighted_mask(self._mask, weights * lam)
            if self._E is not None:
                K[on] += (weights * lam) @ self._E
            total -= np.outer(h, h) * K
        floor = 1e-12 * float(weights.max())
        return np.divide(total, counts, out=np.zeros_like(total), where=counts > floor)

    def _residual_operator(
        self, total: Any, weights: Floats, H: Floats, Lam: Floats
    ) -> LinearOperator:
        n, mask = self.n_vertices, self._mask
        W = weights[:, None] * np.column_stack([np.ones(len(weights)), Lam])
        P = mask.present.astype(np.float64)
        gone = [weighted_hidden(mask, w) for w in W.T]
        on: Any = np.zeros((n, W.shape[1])) if self._E is None else self._E.T @ W
        D: Any = 0.0 if self._D is None else weights @ self._D
        M: Any = None if self._M is None else sparse.csr_array(self._M)
        if M is not None:  # sum_i w_i M_i o M, less what absent vertices hide of it: it is a start
            total = total - weights.sum() * M + M.multiply(gone[0])

        def apply(v: Floats) -> Floats:
            v = v.ravel()
            product = self._scale * (total @ v + D * v)
            for j, h in enumerate(H.T, start=1):
                x = h * v
                product -= h * (P.T @ (W[:, j] * (P @ x)) - gone[j] @ x + on[:, j] * x)
            return np.asarray(product)

        return LinearOperator((n, n), matvec=apply, dtype=np.float64)
