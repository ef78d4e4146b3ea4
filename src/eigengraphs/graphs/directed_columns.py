"""Columns on both sides of directed graphs, and what is asked of the stack with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs.columns import Columns, Consumer

__all__ = ["BothSides", "DirectedProducts", "Receiver"]


@dataclass(frozen=True)
class BothSides:
    """Columns to multiply with: A_i^T B for those of the left, A_i B for those of the right."""

    left: Columns
    right: Columns


@dataclass(frozen=True)
class Receiver:
    """Who takes the products with the columns of one side, and where they are put."""

    consume: Consumer  # (lo, hi, P) with P (hi - lo, b, n)
    out: NDArray[Any] | None = None  # (m, b, n)


class DirectedProducts(Protocol):
    """Products of all graphs with columns on both sides, for one way to keep a stack.

    Every method is one pass over the graphs, on several threads, and its result does not depend
    on their number.
    """

    def products(self, columns: BothSides, left: Receiver, right: Receiver) -> None:
        """Hand out (A_i^T B)^T for the columns of the left, (A_i B)^T for those of the right."""
        ...

    def project(
        self, U: NDArray[np.float64], V: NDArray[np.float64], columns: BothSides
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return [U B_left]^T A_i B_right, and V^T A_i^T B_left."""
        ...

    def weighted_multiply(
        self, W: NDArray[np.float64], H: NDArray[Any], G: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum_i W_ik A_i g_k and sum_i W_ik A_i^T h_k, (n, d), without treatment."""
        ...

    def square_multiply(
        self, columns: BothSides, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], ...]:
        """Return sums over the graphs, (n, b), of P_i = A_i^T B_left and of Q_i = A_i B_right.

        They are sum_i w_i (A_i + Diag(D_i)) P_i, sum_i w_i P_i, sum_i w_i (A_i + Diag(D_i))^T Q_i
        and sum_i w_i Q_i.
        """
        ...

    def bilinear_forms(self, H: NDArray[Any], G: NDArray[Any]) -> NDArray[np.float64]:
        """Return h_k^T A_i g_k, (m, d), without treatment."""
        ...

    def line_sums(self) -> NDArray[np.float64]:
        """Return the mean of the sums of row s and of column s, (m, n)."""
        ...
