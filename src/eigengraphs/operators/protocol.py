"""What a solver may ask of graphs, wherever they are: one protocol for both geometries.

``sides`` are the factors of components, one array H (n, d) for h_k h_k^T and two, H and G, for h_k
g_k^T. "Left" belongs to the rows of graphs and "right" to their columns. Every method but those
that say otherwise reads all graphs once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "BlockTask", "Columns", "ObservedOperator", "Operator", "Raw"]

Array: TypeAlias = NDArray[np.float64]

# A function of the operator of some graphs, and of rows that belong to them. It can be pickled, and
# returns an array or a tuple of arrays.
BlockTask: TypeAlias = Callable[[Any, Array], Any]


class Operator(Protocol):
    """Products of graphs A_i (n x n), symmetric or directed, with a few columns."""

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        ...

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the graphs, and of products with them."""
        ...

    @property
    def directed(self) -> bool:
        """Whether components have two sides."""
        ...

    def products(
        self, *columns: Array, out: tuple[NDArray[Any], ...] | None = None
    ) -> tuple[NDArray[Any], ...]:
        """Return B^T A_i, (m, b, n), in the type of the graphs.

        Directed: for columns ``left`` and ``right``, left^T A_i and right^T A_i^T. ``out`` are
        arrays to fill.
        """
        ...

    def project(self, bases: tuple[Array, ...], columns: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return [V B]^T A_i B, (m, s + b, b), for bases (V,) and columns (B,).

        Directed: [U left]^T A_i right, (m, s + b, c), and V^T A_i^T left, (m, t, b), for bases (U,
        V).
        """
        ...

    def combine(self, W: Array, *sides: Array) -> tuple[Array, ...]:
        """Return sum_i W_ik A_i h_k, (n, d); directed: of A_i g_k, and of A_i^T h_k."""
        ...

    def forms(self, *sides: Array) -> Array:
        """Return h_k^T A_i g_k, (m, d)."""
        ...

    def diagonal_forms(self, *sides: Array) -> Array:
        """Return what the rule for the diagonal adds to ``forms``, (m, d); in memory no pass."""
        ...

    def sketch(
        self, Omega: Array, weights: Array, scales: Array | None = None
    ) -> tuple[tuple[Array, Array], ...]:
        """Return sums of w_i A_i A_i^T Omega and w_i A_i Omega; directed: and of the transposes.

        With ``scales`` (m, n), directed (m, 2 n), rows and columns of each graph are multiplied by
        its own factors: of Diag(x_i) A_i and Diag(z_i) A_i^T.
        """
        ...

    def scaled_squares(self, scales: Array) -> Array:
        """Return sum_st x_is A_ist^2 z_it, (m,), for factors (m, n), directed (m, 2 n)."""
        ...

    def mean(self, weights: Array) -> Any:
        """Return the weighted mean graph, (n, n), dense or sparse."""
        ...

    def squared_norms(self) -> Array:
        """Return ||A_i||^2, (m,)."""
        ...

    def rounding(self) -> Array:
        """Return the squared norm that rounding alone may leave of each graph, (m,): no pass."""
        ...

    def degrees(self) -> tuple[Array, ...]:
        """Return sums of absolute weights over rows, (m, n); directed: and over columns."""
        ...

    def written_out(self) -> Array:
        """Return the graphs as an array, (m, n, n): for blocks of graphs on few vertices."""
        ...

    def total(self, task: BlockTask, weights: Array) -> Any:
        """Return the sum of task(operator of a block, its rows of ``weights``) over all blocks."""
        ...


class ObservedOperator(Operator, Protocol):
    """Graphs of which only the entries where M_i is 1 are observed; all else counts 0."""

    def mask_products(self, *columns: Array) -> tuple[Array, ...]:
        """Return what ``products`` does, of M_i."""
        ...

    def mask_forms(self, X: Array, Z: Array) -> Array:
        """Return x_k^T M_i z_k, (m, c)."""
        ...

    def grams(self, *sides: Array) -> Array:
        """Return <M_i o h_j g_j^T, h_k g_k^T>, (m, d, d)."""
        ...

    def observed(self) -> Array:
        """Return the share of entries that is observed, (m,)."""
        ...

    def mean_residual(self, weights: Array, sides: tuple[Array, ...], Lam: Array) -> Any:
        """Return the mean of A_i - sum_k Lam_ik h_k g_k^T over the graphs that observe an entry."""
        ...


# ---------------------------------------------------------------- graphs as they are stored


class Columns(NamedTuple):
    """Columns B of one side, and what the treatment does to products with them.

    The products are B^T (A_i + Diag(D_i)) - C^T on the left, and the same with A_i^T on the right.
    Of undirected graphs the two are one.
    """

    left: bool
    B: NDArray[Any]  # (n, b), in the type of the graphs, as is C
    D: Array | None = None  # (m, n)
    C: NDArray[Any] | None = None  # (n, b)


class Raw(Protocol):
    """Products of the graphs of a stack, for one way to store them.

    Every method reads the graphs once, on several threads, and its result does not depend on their
    number. Several columns are of different sides.
    """

    def products(self, columns: Sequence[Columns], out: Sequence[NDArray[Any]]) -> None:
        """Fill ``out`` (m, b, n) with the products of each."""
        ...

    def cross(
        self, columns: Sequence[Columns], others: Sequence[tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Return Z^T P_i^T, (m, z, b), for the products P_i of each and the others Z.

        Of undirected graphs the last of the others are the columns themselves.
        """
        ...

    def combine(self, W: Array, columns: Sequence[Columns]) -> tuple[Array, ...]:
        """Return sum_i W_ik P_ik, (n, d), of each, without treatment."""
        ...

    def forms(self, H: Array, G: Array) -> Array:
        """Return h_k^T A_i g_k, (m, d), without treatment."""
        ...

    def sketch(
        self, columns: Sequence[Columns], weights: Array, scales: tuple[Array, Array] | None = None
    ) -> tuple[tuple[Array, Array], ...]:
        """Return sum_i w_i X_i P_i^T and sum_i w_i P_i^T, (n, b), of each.

        X_i is (A_i + Diag(D_i)) if P_i is from the left, and its transpose otherwise. With
        ``scales`` (m, n), products from the right have their rows multiplied by the first, and
        those from the left by the second.
        """
        ...

    def scaled_squares(self, X: Array, Z: Array) -> Array:
        """Return sum_st X_is A_ist^2 Z_it, (m,)."""
        ...

    def line_sums(self, absolute: bool = False) -> tuple[Array, Array]:
        """Return the sums of rows, and of columns, (m, n); of undirected graphs one array twice."""
        ...

    def part(self, lo: int, hi: int) -> Self:
        """Return the same for graphs lo to hi, without a copy."""
        ...
