"""Tasks that keep products with a basis beside blocks that stay in memory from pass to pass.

With P_i = U^T A_i at hand, sums of products with columns in the span of U need no pass. Whether it
is at hand, each block finds out for itself: one that was just loaded, after a worker was lost, has
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs.blocked import Block
from eigengraphs.graphs.blocked_tasks import Look, WithRows
from eigengraphs.parallel import spans

__all__ = ["Combine", "Project"]

Array = NDArray[np.float64]

_NAME = "products"  # in the memo of a block: one basis at a time
_SPANNED = 1e-10  # of a unit column may be outside
# Columns that room is made for at a time, as new pages take longer than products; no more than the
# quarter of the graphs' own room that they may have.
_ROOM = 128
_TYPED_SUM = 64  # terms of a sum that the type of the graphs may take before float64 does


@dataclass
class _Kept:
    """P_i = U^T A_i of a block, in the type of the graphs."""

    key: str  # of the look
    U: Array  # (n, s), orthonormal
    room: NDArray[Any]  # (graphs, s or more, n), of which the first s rows are P_i

    @property
    def P(self) -> NDArray[Any]:
        """The products, (graphs, s, n)."""
        return self.room[:, : self.U.shape[1]]

    def for_new(self, b: int) -> NDArray[Any]:
        """Return where products with b more columns go, (graphs, b, n)."""
        m, rows, n = self.room.shape
        s = self.U.shape[1]
        if s + b > rows:
            most = max(s + b, min(-(-(s + b) // _ROOM) * _ROOM, n // 4))
            wider = np.empty((m, most, n), dtype=self.room.dtype)
            wider[:, :s] = self.P
            self.room = wider
        return self.room[:, s : s + b]


@dataclass(frozen=True)
class Project:
    """Find [V B]^T A_i B, (graphs, s + b, b), and keep the products; columns are orthonormal."""

    V: Array
    B: Array
    slim: ClassVar[bool] = True

    def __call__(self, block: Block, look: Look) -> Array:
        """Return them for the block."""
        kept = self._of_V(block, look)
        new = kept.for_new(self.B.shape[1])
        look.at(block).products(self.B, _ignore, new)
        kept.U = self._both
        block.memo[_NAME] = kept
        (m, b, n), s = new.shape, self._both.shape[1]
        found = np.zeros((m * b, s))
        for lo, hi in spans(n, _TYPED_SUM):
            rows = new[:, :, lo:hi].reshape(m * b, hi - lo)
            found += rows @ self._both[lo:hi].astype(rows.dtype)
        return np.asarray(found.reshape(m, b, s).transpose(0, 2, 1))

    def __getstate__(self) -> dict[str, Any]:
        # Without what is found on the way, which another thread may be about to add.
        return {"V": self.V, "B": self.B}

    @cached_property
    def _both(self) -> Array:
        """[V B], one array for all blocks that the task comes to."""
        return np.column_stack([self.V, self.B])

    def _of_V(self, block: Block, look: Look) -> _Kept:
        """Return V^T A_i: what is kept, or made of it if V is in its span, or found anew."""
        kept: _Kept | None = block.memo.get(_NAME)
        # Far cheaper to see than whether it is in the span.
        if kept is not None and kept.key == look.key and np.array_equal(kept.U, self.V):
            return kept
        m, n, _ = block.graphs.shape
        if self.V.shape[1] == 0:
            return _Kept(look.key, self.V, np.empty((m, 0, n), dtype=block.graphs.dtype))
        T = _within(block, look, self.V)
        if T is None:
            return _Kept(look.key, self.V, _products(block, look, self.V))
        assert kept is not None
        return _Kept(look.key, self.V, np.matmul(T.T.astype(kept.room.dtype), kept.P))


@dataclass(frozen=True)
class Combine(WithRows):
    """Find sum_i W_ik A_i h_k, (n, d); rows are W."""

    H: Array
    slim: ClassVar[bool] = True

    def __call__(self, block: Block, look: Look) -> Array:
        """Return the sum over the block."""
        W = self._of(block.lo, block.hi)
        assert W is not None
        Y = self._in_basis(block, look)
        if Y is None:
            return np.asarray(look.at(block).weighted_multiply(W, self.H))
        P = block.memo[_NAME].P
        # A block has few graphs: first A_i h_k for each, which is less than sums for each column.
        each = np.matmul(Y.T.astype(P.dtype), P)  # (graphs, d, n)
        total = np.matmul(W.T[:, None, :].astype(P.dtype), each.transpose(1, 0, 2))[:, 0]
        return np.asarray(total.T, dtype=np.float64)

    def _in_basis(self, block: Block, look: Look) -> Array | None:
        """Return Y with U Y = H, if there is one; found once for blocks that share their U."""
        kept: _Kept | None = block.memo.get(_NAME)
        if kept is None or kept.key != look.key:
            return None
        known = self._known.get(id(kept.U))
        if known is None:
            known = self._known[id(kept.U)] = (kept.U, _within(block, look, self.H))
        return known[1]

    @cached_property
    def _known(self) -> dict[int, tuple[Array, Array | None]]:
        """U, which must live as long as its place is known, and Y."""
        return {}


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
