"""A block of columns with all that the treatment of the graphs does to products with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "Consumer", "StackProducts"]

Consumer: TypeAlias = Callable[[int, int, NDArray[Any]], Any]


@dataclass(frozen=True)
class Columns:
    """Columns B, and what turns A_i B into (A_i + Diag(D_i)) B - C."""

    B: NDArray[Any]  # (n, b), in the type of the stack, as is C
    D: NDArray[np.float64] | None  # (m, n)
    C: NDArray[Any] | None  # (n, b)


class StackProducts(Protocol):
    """Products of all graphs with blocks of columns, for one way to keep a stack.

    Every method is one pass over the graphs, on several threads, and its result does not depend
    on their number.
    """

    def products(self, columns: Columns, consume: Consumer, out: NDArray[Any] | None) -> None:
        """Call ``consume(lo, hi, P)`` with P_i = B^T A_i for lo <= i < hi, (hi - lo, b, n)."""
        ...

    def project(self, V: NDArray[np.float64], columns: Columns) -> NDArray[np.float64]:
        """Return [V B]^T A_i B, (m, s + b, b)."""
        ...

    def weighted_multiply(self, W: NDArray[np.float64], H: NDArray[Any]) -> NDArray[np.float64]:
        """Return sum_i W_ik A_i h_k, (n, d), without treatment."""
        ...

    def square_multiply(
        self, columns: Columns, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum_i w_i (A_i + Diag(D_i)) P_i and sum_i w_i P_i, (n, b), for P_i = A_i B."""
        ...

    def quadratic_forms(self, H: NDArray[Any]) -> NDArray[np.float64]:
        """Return h_k^T A_i h_k, (m, d), without treatment."""
        ...

    def row_sums(self) -> NDArray[np.float64]:
        """Return A_i 1, (m, n)."""
        ...
