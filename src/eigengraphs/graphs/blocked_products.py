"""Tasks that keep products with a basis beside blocks that stay in memory from pass to pass.

With P_i = U^T A_i at hand, sums of products with columns in the span of U need no pass. Whether it
is at hand, each block finds out for itself: one that was just loaded, after a worker was lost, has
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs.blocked import Block
from eigengraphs.graphs.blocked_tasks import Look, WithRows

__all__ = ["Combine", "Project"]

Array = NDArray[np.float64]

_NAME = "products"  # in the memo of a block: one basis at a time
_SPANNED = 1e-10  # of a unit column may be outside


@dataclass
class _Kept:
    """P_i = U^T A_i of a block, in the type of the graphs."""

    key: str  # of the look
    U: Array  # (n, s), orthonormal
    parts: list[NDArray[Any]]  # (graphs, b_j, n), one above the other


@dataclass(frozen=True)
class Project:
    """Find [V B]^T A_i B, (graphs, s + b, b), and keep the products; columns are orthonormal."""

    V: Array
    B: Array

    def __call__(self, block: Block, look: Look) -> Array:
        """Return them for the block."""
        both = np.column_stack([self.V, self.B])
        parts = self._turned(block, look)
        if parts is None:
            parts = [] if self.V.shape[1] == 0 else [_products(block, look, self.V)]
        new = _products(block, look, self.B)
        block.memo[_NAME] = _Kept(look.key, both, [*parts, new])
        return np.asarray((new.astype(np.float64, copy=False) @ both).transpose(0, 2, 1))

    def _turned(self, block: Block, look: Look) -> list[NDArray[Any]] | None:
        """Return V^T A_i from what is kept, if V is in its span."""
        T = _within(block, look, self.V)
        if T is None:
            return None
        parts: list[NDArray[Any]] = block.memo[_NAME].parts
        if np.array_equal(block.memo[_NAME].U, self.V):
            return parts
        total: Any = 0
        first = 0
        for part in parts:
            b = part.shape[1]
            total = total + np.matmul(T[first : first + b].T.astype(part.dtype), part)
            first += b
        return [total]


@dataclass(frozen=True)
class Combine(WithRows):
    """Find sum_i W_ik A_i h_k, (n, d); rows are W."""

    H: Array

    def __call__(self, block: Block, look: Look) -> Array:
        """Return the sum over the block."""
        W = self._of(block.lo, block.hi)
        assert W is not None
        Y = _within(block, look, self.H)
        if Y is None:
            return np.asarray(look.at(block).weighted_multiply(W, self.H))
        # A block has few graphs: first A_i h_k for each, which is less than sums for each column.
        each: Any = 0
        first = 0
        for part in block.memo[_NAME].parts:
            b = part.shape[1]
            each = each + np.matmul(Y[first : first + b].T.astype(part.dtype), part)
            first += b
        return np.asarray(np.einsum("ik,ikn->nk", W, each))


def _within(block: Block, look: Look, columns: Array) -> Array | None:
    """Return T with U T = columns, or None if there is no such U or T."""
    kept = block.memo.get(_NAME)
    if kept is None or kept.key != look.key or columns.shape[1] == 0:
        return None
    T: Array = kept.U.T @ columns
    outside = np.abs(kept.U @ T - columns).max()
    return T if outside <= _SPANNED * np.abs(columns).max() else None


def _products(block: Block, look: Look, B: Array) -> NDArray[Any]:
    m, n, _ = block.graphs.shape
    P = np.empty((m, B.shape[1], n), dtype=block.graphs.dtype)
    look.at(block).products(B, _ignore, P)
    return P


def _ignore(lo: int, hi: int, P: NDArray[Any]) -> None:
    """Take products that are also put where they are wanted."""
