"""A stack with hidden entries as a solver sees it: treated, and never copied.

The graphs of the view, and what is observed of them, are

    Ã_i = scale * (A_i - M_i o M + Diag(D_i)),      M̃_i = M_i + Diag(E_i),

with M_i the mask of the stack, ``M`` the mean when centring, and D, E what the rule for the
diagonal changes. Ã_i is 0 where M̃_i is.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from eigengraphs.graphs.columns import Columns
from eigengraphs.graphs.directed_columns import BothSides, Receiver
from eigengraphs.graphs.directed_dense import DirectedDense
from eigengraphs.graphs.directed_sparse import DirectedSparse
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

    Columns, and sides of components, are one array of undirected graphs, and two of directed ones:
    the left belongs to the rows of the graphs, the right to their columns.

    Parameters
    ----------
    stack
        Graphs, symmetric unless ``directed``.
    diagonal : {"observed", "filled", "hollow"}
        Keep the diagonal as it is; put the mean of the observed entries of its row (and column)
        into each entry, which is then observed (but where there are none, and it is hidden); or
        hide it.
    mean
        Mean graph (n, n) to subtract where an entry is observed, as
        :func:`~eigengraphs.graphs.masked_mean.masked_mean` finds it; or None.
    scale : float
        Factor on every entry.
    like : MaskedView, optional
        A view that differs in its diagonal alone: what both need is found once.
    directed
        Whether components have two sides.
    """

    def __init__(
        self,
        stack: GraphStack,
        diagonal: DiagonalRule = "observed",
        mean: NDArray[np.float64] | sparse.csr_array | None = None,
        scale: float = 1.0,
        *,
        like: MaskedView | None = None,
        directed: bool = False,
    ) -> None:
        self.directed = directed
        self._stack, self._rule, self._M, self._scale = stack, diagonal, mean, scale
        self._raw: Any
        # Those that columns meet: of directed graphs, transposes on the left.
        self._masks: tuple[MaskProducts, ...]
        self._means: tuple[MaskedMean, ...]
        if like is not None:
            self._masks, self._raw, self._means = like._masks, like._raw, like._means
        else:
            mask = stack.mask or Mask.complete(stack.n_graphs, stack.n_vertices)
            masks = (mask.transposed(), mask) if directed else (mask,)
            self._masks = tuple(map(MaskProducts, masks))
            self._raw = _raw_products(stack, directed)
            self._means = ()
            if mean is not None:
                turned = mean.T if isinstance(mean, np.ndarray) else sparse.csr_array(mean.T)
                graphs = (turned, mean) if directed else (mean,)
                self._means = tuple(map(MaskedMean, masks, graphs))
        self._like = like
        self._D: Floats | None = None
        self._E: Floats | None = None
        if diagonal != "observed":
            self._D, self._E = self._changes()

    @property
    def _mask(self) -> Mask:
        return self._masks[-1].mask

    def _changes(self) -> tuple[Floats, Floats]:
        """Return what the rule adds to the diagonals of the graphs and of the mask, (m, n)."""
        seen = self._mask.diagonal
        now = self._diagonals()
        if self._rule == "hollow":
            return -now, -seen.astype(np.float64)
        sums = self._raw.line_sums() if self.directed else self._raw.row_sums()
        for mean in self._means:
            centre = np.zeros((self.n_graphs, 1, self.n_vertices))
            mean.subtract(np.ones((self.n_vertices, 1)), centre)
            sums += centre[:, 0] / len(self._means)
        counts = np.mean([products.mask.row_counts() for products in self._masks], axis=0)
        others = counts - seen
        fill = np.divide(sums - now, others, out=np.zeros_like(sums), where=others > 0)
        return fill - now, (others > 0).astype(np.float64) - seen

    def _diagonals(self) -> Floats:
        """Return the diagonals of A_i - M_i o M, (m, n)."""
        now = self._stack.diagonals()
        return now - self._means[-1].diagonals if self._means else now

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

    def products(self, *columns: Floats) -> tuple[Floats, ...]:
        """Return B^T Ã_i, (m, b, n), for ``B`` (n, b).

        Directed: for columns ``left`` and ``right``, left^T Ã_i and right^T Ã_i^T.
        """
        typed = [(self._scale * B).astype(self.dtype) for B in columns]
        out = [np.empty((self.n_graphs, B.shape[1], self.n_vertices), self.dtype) for B in typed]
        parts = [Columns(B, self._D, None) for B in typed]
        if self.directed:
            receivers = [Receiver(lambda *_: None, P) for P in out]
            self._raw.products(BothSides(*parts), *receivers)
        else:
            self._raw.products(parts[0], lambda *_: None, out[0])
        found: list[Floats] = [P.astype(np.float64, copy=False) for P in out]
        for mean, B, P in zip(self._means, typed, found, strict=bool(self._means)):
            mean.subtract(B.astype(np.float64), P)
        return tuple(found)

    def forms(self, *sides: Floats) -> Floats:
        """Return h_k^T Ã_i g_k, (m, d); undirected, g is h."""
        typed = [side.astype(self.dtype, copy=False) for side in sides]
        find = self._raw.bilinear_forms if self.directed else self._raw.quadratic_forms
        Psi: Floats = find(*typed)
        if self._D is not None:
            Psi += self._D @ (sides[0] * sides[-1])
        if self._means:
            Psi -= self._means[-1].forms(sides[0], sides[-1])
        return self._scale * Psi

    def diagonal_forms(self, *sides: Floats) -> Floats:
        """Return what the rule for the diagonal adds to ``forms``, (m, d): no pass."""
        if self._D is None:
            return np.zeros((self.n_graphs, sides[0].shape[1]))
        return np.asarray(self._scale * (self._D @ (sides[0] * sides[-1])))

    # ------------------------------------------------------------------ products with the mask

    def mask_products(self, *columns: Floats) -> tuple[Floats, ...]:
        """Return what ``products`` does, of M̃_i."""
        found = []
        for masks, B in zip(self._masks, columns, strict=True):
            out = np.empty((self.n_graphs, B.shape[1], self.n_vertices))
            masks.products(B, partial(_put, out), self._E)
            found.append(out)
        return tuple(found)

    def mask_forms(self, X: Floats, Z: Floats) -> Floats:
        """Return x_k^T M̃_i z_k, (m, c), for ``X`` and ``Z`` (n, c)."""
        return self._masks[-1].forms(X, Z, self._E)

    def grams(self, *sides: Floats) -> Floats:
        """Return Gamma_i,jk = <M̃_i o h_j g_j^T, h_k g_k^T>, (m, d, d); undirected, g is h."""
        return self._masks[-1].grams(sides[0], sides[-1], self._E)

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

    def mean_residual(self, weights: Floats, sides: tuple[Floats, ...], Lam: Floats) -> Any:
        """Return the mean of Ã_i - sum_k Lam_ik h_k g_k^T, (n, n), for a start.

        Each entry is the weighted mean over the graphs that observe it. Of sparse graphs on many
        vertices it is an operator, and the weighted sum of what is observed. Reads the graphs
        once, and the mask once a component.
        """
        total: Any = weighted_sum(self._stack, weights)
        if self._stack.is_sparse and self.n_vertices > _WRITTEN_OUT:
            return self._residual_operator(total, weights, sides, Lam)
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
        for h, g, lam in zip(sides[0].T, sides[-1].T, Lam.T, strict=True):
            K = weighted_mask(self._mask, weights * lam)
            if self._E is not None:
                K[on] += (weights * lam) @ self._E
            total -= np.outer(h, g) * K
        floor = 1e-12 * float(weights.max())
        return np.divide(total, counts, out=np.zeros_like(total), where=counts > floor)

    def _residual_operator(
        self, total: Any, weights: Floats, sides: tuple[Floats, ...], Lam: Floats
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

        def apply(v: Floats, transposed: bool = False) -> Floats:
            v = v.ravel()
            here, there = (sides[-1], sides[0]) if transposed else (sides[0], sides[-1])
            product = self._scale * ((total.T if transposed else total) @ v + D * v)
            for j, (h, g) in enumerate(zip(here.T, there.T, strict=True), start=1):
                x, N = g * v, gone[j].T if transposed else gone[j]
                product -= h * (P.T @ (W[:, j] * (P @ x)) - N @ x + on[:, j] * x)
            return np.asarray(product)

        back = partial(apply, transposed=True)
        return LinearOperator((n, n), matvec=apply, rmatvec=back, dtype=np.float64)


def _raw_products(stack: GraphStack, directed: bool) -> Any:
    """Return the products of the graphs as they are stored."""
    ones = not stack.is_weighted
    if stack.is_sparse:
        return (DirectedSparse if directed else SparseProducts)(stack.flat, ones)
    return DirectedDense(stack) if directed else DenseProducts(stack.dense)


def _put(out: Floats, lo: int, hi: int, Q: Floats) -> None:
    out[lo:hi] = Q
