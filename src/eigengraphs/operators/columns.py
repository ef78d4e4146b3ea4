"""What is asked of graphs as they are stored: columns on one side, and products with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Columns", "Raw"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Columns B of one side, and what the treatment does to products with them.

    The products are B^T (A_i + Diag(D_i)) - C^T on the left, and the same with A_i^T on the right.
    Of undirected graphs the two are one.
    """

    left: bool
    B: NDArray[Any]  # (n, b), in the type of the graphs, as is C
    D: Array | None = None  # (m, n)
    C: NDArray[Any] | None = None  # (n, b)

    def back(self) -> Self:
        """Return what multiplies products with these columns by the graphs again, to squares."""
        return replace(self, left=not self.left, C=None)


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

    def sketch(self, columns: Sequence[Columns], weights: Array) -> tuple[tuple[Array, Array], ...]:
        """Return sum_i w_i X_i P_i^T and sum_i w_i P_i^T, (n, b), of each.

        X_i is (A_i + Diag(D_i)) if P_i is from the left, and its transpose otherwise.
        """
        ...

    def line_sums(self, absolute: bool = False) -> tuple[Array, Array]:
        """Return the sums of rows, and of columns, (m, n); of undirected graphs one array twice."""
        ...

    def part(self, lo: int, hi: int) -> Self:
        """Return the same for graphs lo to hi, without a copy."""
        ...
