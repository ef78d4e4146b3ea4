"""Graphs with hidden entries as a solver sees them: treated, and never copied.

The graphs, and what is observed of them, are

    Ã_i = scale * (A_i - M_i o M + Diag(D_i)),      M̃_i = M_i + Diag(E_i),      M_i = p_i p_i^T -
    N_i,

with M_i the mask of the stack (p_i the vertices that a graph has, N_i its further hidden entries),
``M`` the mean when centering, and D, E what the rule for the diagonal changes. Ã_i is 0 where M̃_i
is. A product with all M_i reads the hidden entries alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from eigengraphs.operators.csr import SparseGraphs
from eigengraphs.operators.means import (
    MeanGraph,
    entries_at,
    hidden_sum,
    mask_sum,
    off_diagonal_squares,
    weighted_sum,
)
from eigengraphs.operators.protocol import Array, Columns, Raw
from eigengraphs.operators.treated import DiagonalRule, TreatedGraphs, raw_graphs
from eigengraphs.stack.flat_matrix import row_numbers
from eigengraphs.stack.mask import Mask
from eigengraphs.stack.stack import GraphStack
from eigengraphs.system.parallel import on_blocks, spans

__all__ = ["WRITTEN_OUT", "ObservedGraphs", "ratio"]

WRITTEN_OUT = 3000  # vertices up to which the mean residual of sparse graphs is an array


class ObservedGraphs(TreatedGraphs):
    """The products of a treated stack, and of its mask; see :class:`~.protocol.ObservedOperator`.

    Parameters are those of :class:`TreatedGraphs`. ``"filled"`` puts the mean of the observed
    entries of its row and column into each diagonal entry, which is then observed (but where there
    are none, and it is hidden); ``"hollow"`` hides the diagonal. ``mean`` is subtracted where an
    entry is observed.
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
        mask = stack.mask or Mask.complete(stack.n_graphs, stack.n_vertices)
        self._mean = mean
        self._seen: _MaskGraphs = _MaskGraphs(mask) if like is None else like._seen
        self._E: Array | None = None
        super().__init__(stack, diagonal, None, scale, directed=directed, like=like)

    def _make_raw(self) -> Raw:
        raw = raw_graphs(self._stack, self.directed)
        if self._mean is None:
            return raw
        return _LessObservedMean.of(raw, self._seen.mask, self._mean, self.directed)

    def _change_diagonals(self) -> None:
        mask = self._seen.mask
        seen, now = mask.diagonal, self._centered_diagonals()
        if self._rule == "hollow":
            self._D, self._E = -now, -seen.astype(np.float64)
            return
        rows, columns = self._raw.line_sums()
        in_rows = np.diff(mask.hidden.indptr).reshape(seen.shape)
        graph, n = row_numbers(mask.hidden) // self.n_vertices, self.n_vertices
        in_columns = np.bincount(graph * n + mask.hidden.indices, minlength=seen.size)
        kept = 2.0 * mask.present * mask.present.sum(axis=1, keepdims=True)
        others = kept - in_rows - in_columns.reshape(seen.shape) - 2.0 * seen
        sums = rows + columns - 2 * now
        fill = np.divide(sums, others, out=np.zeros_like(sums), where=others > 0)
        self._D, self._E = fill - now, (others > 0).astype(np.float64) - seen

    def _centered_diagonals(self) -> Array:
        """Return the diagonals of A_i - M_i o M, (m, n)."""
        now = self._stack.diagonals()
        if self._mean is not None:
            now -= self._seen.mask.diagonal * np.asarray(self._mean.diagonal())
        return now

    def _diagonals(self) -> Array:
        now = self._centered_diagonals()
        return now if self._D is None else now + self._D

    def _find_off_squares(self) -> Array:
        if self._mean is None:
            return super()._find_off_squares()
        return off_diagonal_squares(self._stack, self._mean, self._scale)

    def _is_as_stored(self) -> bool:
        return self._mean is None and self._D is None

    def part(self, lo: int, hi: int) -> Self:
        """Return the operator of graphs lo to hi, which are not copied."""
        found = super().part(lo, hi)
        found._seen = self._seen.part(lo, hi)
        found._E = None if self._E is None else self._E[lo:hi]
        return found

    # ------------------------------------------------------------------ products with the mask

    @property
    def hollow(self) -> bool:
        """Whether no pair s = t is observed in any graph."""
        on: Any = self._seen.mask.diagonal
        return not bool((on if self._E is None else on + self._E).any())

    def mask_products(self, *columns: Array) -> tuple[Array, ...]:
        """Return B^T M̃_i, (m, b, n); directed: left^T M̃_i and right^T M̃_i^T."""
        return tuple(self._seen.products(not k, B, self._E) for k, B in enumerate(columns))

    def mask_forms(self, X: Array, Z: Array) -> Array:
        """Return x_k^T M̃_i z_k, (m, c)."""
        return self._seen.forms(X, Z, self._E)

    def grams(self, *sides: Array) -> Array:
        """Return <M̃_i o h_j g_j^T, h_k g_k^T> = (h_j o h_k)^T M̃_i (g_j o g_k), (m, d, d)."""
        H, G = sides[0], sides[-1]
        d = H.shape[1]
        j, k = np.triu_indices(d)
        found = np.empty((self.n_graphs, len(j)))
        for lo, hi in spans(len(j), 64):  # some columns at a time
            some = slice(lo, hi)
            X = H[:, j[some]] * H[:, k[some]]
            Z = X if G is H else G[:, j[some]] * G[:, k[some]]
            found[:, some] = self.mask_forms(X, Z)
        Gammas = np.empty((self.n_graphs, d, d))
        Gammas[:, j, k] = Gammas[:, k, j] = found
        return Gammas

    def observed(self) -> Array:
        """Return the share of the entries of each graph that is observed, (m,)."""
        seen = self._seen.mask.counts().astype(np.float64)
        if self._E is not None:
            seen += self._E.sum(axis=1)
        return seen / self.n_vertices**2

    # ------------------------------------------------------------------ means

    def mean(self, weights: Array) -> Any:
        """Return the mean of each entry over the graphs that observe it, (n, n), or an operator."""
        nothing = (np.zeros((self.n_vertices, 0)),) * (1 + self.directed)
        return self.mean_residual(weights, nothing, np.zeros((self.n_graphs, 0)))

    def mean_residual(self, weights: Array, sides: tuple[Array, ...], Lam: Array) -> Any:
        """Return the mean of Ã_i - sum_k Lam_ik h_k g_k^T, (n, n), for a start.

        Each entry is the weighted mean over the graphs that observe it. Of sparse graphs on many
        vertices it is an operator, and the weighted sum of what is observed. Reads the graphs once,
        and the mask once a component.
        """
        if self._stack.is_sparse and self.n_vertices > WRITTEN_OUT:
            return self._residual_operator(weights, sides, Lam)
        return ratio(*self.residual_sums(np.column_stack([weights, Lam]), sides), weights)

    def residual_sums(self, rows: Array, sides: tuple[Array, ...]) -> tuple[Array, Array]:
        """Return weighted sums of residuals and of the mask, (n, n); rows are weights, loadings."""
        weights, Lam = rows[:, 0], rows[:, 1:]
        mask, on = self._seen.mask, np.diag_indices(self.n_vertices)
        total: Any = weighted_sum(self._stack, weights)
        total = total if isinstance(total, np.ndarray) else total.toarray()
        counts = mask_sum(mask, weights)
        if self._mean is not None:
            M: Any = self._mean
            total -= counts * (M if isinstance(M, np.ndarray) else M.toarray())
        if self._D is not None and self._E is not None:
            total[on] += weights @ self._D
            counts[on] += weights @ self._E
        total *= self._scale
        for h, g, lam in zip(sides[0].T, sides[-1].T, Lam.T, strict=True):
            K = mask_sum(mask, weights * lam)
            if self._E is not None:
                K[on] += (weights * lam) @ self._E
            total -= np.outer(h, g) * K
        return total, counts

    def _residual_operator(
        self, weights: Array, sides: tuple[Array, ...], Lam: Array
    ) -> LinearOperator:
        n, mask = self.n_vertices, self._seen.mask
        total: Any = weighted_sum(self._stack, weights)
        W = weights[:, None] * np.column_stack([np.ones(len(weights)), Lam])
        P = mask.present.astype(np.float64)
        gone = [hidden_sum(mask, w) for w in W.T]
        on: Any = np.zeros((n, W.shape[1])) if self._E is None else self._E.T @ W
        if self._mean is not None:  # less what absent vertices hide of it: it is for a start
            M = sparse.csr_array(self._mean)
            total = total - weights.sum() * M + M.multiply(gone[0])
        if self._D is not None:
            total = total + sparse.diags_array(weights @ self._D)

        def applied(v: Array, side: int, A: Any, transposed: bool) -> Array:
            v = v.ravel()
            found = self._scale * (A @ v)
            near, far = sides[side], sides[-1 - side]
            for j in range(near.shape[1]):
                x, N = far[:, j] * v, gone[1 + j].T if transposed else gone[1 + j]
                seen = P.T @ (W[:, 1 + j] * (P @ x)) - N @ x + on[:, 1 + j] * x
                found -= near[:, j] * seen
            return np.asarray(found)

        return LinearOperator(
            (n, n), dtype=np.dtype(np.float64), matvec=lambda v: applied(v, 0, total, False),
            rmatvec=lambda v: applied(v, -1, total.T, True),
        )  # fmt: skip


def ratio(total: Array, counts: Array, weights: Array) -> Array:
    """Return total / counts, 0 where nothing is counted but rounding."""
    floor = 1e-12 * float(weights.max())
    return np.asarray(np.divide(total, counts, out=np.zeros_like(total), where=counts > floor))


class _MaskGraphs:
    """Products of the masks M_i = p_i p_i^T - N_i, in float64."""

    def __init__(self, mask: Mask) -> None:
        self.mask = mask

    @cached_property
    def _P(self) -> Array:
        return self.mask.present.astype(np.float64)

    @cached_property
    def _hidden(self) -> SparseGraphs:
        one_way = not bool(self.mask.is_symmetric.all())
        kind = np.dtype(np.float64)
        return SparseGraphs(self.mask.hidden, directed=one_way, ones=True, dtype=kind)

    def part(self, lo: int, hi: int) -> _MaskGraphs:
        """Return the same for graphs lo to hi."""
        return _MaskGraphs(self.mask.part(lo, hi))

    def products(self, left: bool, B: Array, E: Array | None) -> Array:
        """Return B^T (M_i + Diag(E_i)), or with M_i^T, (m, b, n)."""
        out = np.empty((self.mask.n_graphs, B.shape[1], len(B)))
        self._hidden.products([Columns(left, B, None if E is None else -E)], [out])
        np.negative(out, out=out)
        out += (self._P @ B)[:, :, None] * self._P[:, None, :]
        return out

    def forms(self, X: Array, Z: Array, E: Array | None) -> Array:
        """Return x_k^T (M_i + Diag(E_i)) z_k, (m, c)."""
        found: Array = (self._P @ X) * (self._P @ Z)
        if E is not None:
            found += E @ (X * Z)
        return found - self._hidden.forms(X, Z) if self.mask.hidden.nnz else found


class _LessObservedMean:
    """Graphs A_i - M_i o M as a :class:`~eigengraphs.operators.protocol.Raw`.

    M_i o M = p_i p_i^T o M - N_i o M. The first term is the same for graphs with the same vertices,
    and found once for them; the second is kept, eight bytes (and places) a hidden entry.
    """

    def __init__(
        self, raw: Raw, hidden: SparseGraphs, M: Any, groups: Array, group: NDArray[np.intp]
    ) -> None:
        self._raw, self._hidden, self._M = raw, hidden, M
        self._groups, self._group = groups, group  # vertices of each group (g, n); of graphs (m,)

    @classmethod
    def of(cls, raw: Raw, mask: Mask, M: Any, directed: bool) -> Self:
        """Take a mean off graphs where they are observed."""
        groups, group = np.unique(mask.present, axis=0, return_inverse=True)
        flat, n = mask.hidden, mask.n_vertices
        parts = (entries_at(M, row_numbers(flat) % n, flat.indices), flat.indices, flat.indptr)
        parts[0].flags.writeable = False
        hidden = SparseGraphs(sparse.csr_array(parts, shape=flat.shape), directed=directed)
        return cls(raw, hidden, M, groups.astype(np.float64), group.ravel())

    def part(self, lo: int, hi: int) -> Self:
        """Return the same for graphs lo to hi."""
        raw, hidden = self._raw.part(lo, hi), self._hidden.part(lo, hi)
        return type(self)(raw, hidden, self._M, self._groups, self._group[lo:hi])

    def _of_groups(self, left: bool, S: Array) -> Array:
        """Return p_g o (M (p_g o S_g)), (g, n, b); for the left with M^T."""
        P = self._groups[:, :, None]
        PS = P * S
        g, n, b = PS.shape
        found = np.asarray(
            (self._M.T if left else self._M) @ PS.transpose(1, 0, 2).reshape(n, g * b)
        )
        return np.asarray(P * found.reshape(n, g, b).transpose(1, 0, 2))

    def products(self, columns: Sequence[Columns], out: Sequence[NDArray[Any]]) -> None:
        """Fill ``out`` (m, b, n) with the products of each."""
        self._raw.products(columns, out)
        for one, P in zip(columns, out, strict=True):
            B = one.B.astype(np.float64)
            rows = self._of_groups(one.left, B).transpose(0, 2, 1)
            for lo, hi in spans(len(P), 1 + 2**20 // B.size):
                mine = np.empty(P[lo:hi].shape)
                self._hidden.part(lo, hi).products([Columns(one.left, B)], [mine])
                mine -= rows[self._group[lo:hi]]
                P[lo:hi] += mine.astype(P.dtype, copy=False)

    def cross(
        self, columns: Sequence[Columns], others: Sequence[tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Return Z^T P_i^T, (m, z, b), for the products P_i of each and the others Z."""
        plain = [Columns(one.left, one.B.astype(np.float64)) for one in columns]
        found = self._raw.cross(columns, others)
        gone = self._hidden.cross(plain, others)
        for one, Z, cores, hidden in zip(plain, others, found, gone, strict=True):
            sums = np.column_stack(Z).T @ self._of_groups(one.left, one.B)
            cores += hidden - sums[self._group]
        return found

    def combine(self, W: Array, columns: Sequence[Columns]) -> tuple[Array, ...]:
        """Return sum_i W_ik P_ik, (n, d), of each, without treatment."""
        plain = [Columns(one.left, one.B.astype(np.float64)) for one in columns]
        of_group = np.zeros((len(self._groups), W.shape[1]))
        np.add.at(of_group, self._group, W)
        found, gone = self._raw.combine(W, columns), self._hidden.combine(W, plain)
        for one, total, hidden in zip(plain, found, gone, strict=True):
            total += hidden - self._of_groups(one.left, of_group[:, None] * one.B).sum(axis=0)
        return found

    def forms(self, H: Array, G: Array) -> Array:
        """Return h_k^T P_ik, (m, d), for products with G, without treatment."""
        means: Array = np.einsum("gsk,sk->gk", self._of_groups(False, G), H)
        return self._raw.forms(H, G) - means[self._group] + self._hidden.forms(H, G)

    def sketch(
        self, columns: Sequence[Columns], weights: Array, scales: tuple[Array, Array] | None = None
    ) -> tuple[tuple[Array, Array], ...]:
        """Return sum_i w_i X_i P_i^T and sum_i w_i P_i^T, (n, b), of each, graph by graph."""
        assert scales is None  # degrees know no centering
        totals = [np.zeros((2, *one.B.shape)) for one in columns]

        def work(lo: int, hi: int) -> list[Array]:
            parts = [np.zeros_like(total) for total in totals]
            for i in (lo + np.flatnonzero(weights[lo:hi])).tolist():
                graph, P = (
                    self.part(i, i + 1),
                    np.empty((1, *columns[0].B.T.shape), columns[0].B.dtype),
                )
                for one, part in zip(columns, parts, strict=True):
                    D = None if one.D is None else one.D[i : i + 1]
                    graph.products([Columns(one.left, one.B, D)], [P])
                    part[1] += weights[i] * P[0].T
                    graph.products([Columns(not one.left, P[0].T.copy(), D)], [P])
                    part[0] += weights[i] * P[0].T
            return parts

        def gather(parts: list[Array]) -> None:
            for total, part in zip(totals, parts, strict=True):
                total += part

        on_blocks(work, spans(len(weights), -(-len(weights) // 16)), gather)
        return tuple((squares, sums) for squares, sums in totals)

    def scaled_squares(self, X: Array, Z: Array) -> Array:
        """Return sum_st X_is A_ist^2 Z_it, (m,), of A_i alone."""
        return self._raw.scaled_squares(X, Z)

    def line_sums(self, absolute: bool = False) -> tuple[Array, Array]:
        """Return the sums of rows, and of columns, (m, n); absolute ones of A_i alone."""
        sums = self._raw.line_sums(absolute)
        if absolute:
            return sums
        ones, gone = np.ones((self._groups.shape[1], 1)), self._hidden.line_sums()
        rows, columns = (
            total + hidden - self._of_groups(left, ones)[self._group, :, 0]
            for left, total, hidden in zip((False, True), sums, gone, strict=True)
        )
        return rows, columns
