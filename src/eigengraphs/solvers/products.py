"""A growing basis V, the cores V^T A_i V, and sums of products of the graphs with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.parallel import on_blocks, spans
from eigengraphs.solvers.directions import turned_basis, widened
from eigengraphs.solvers.old_core import compress
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array, BlockGraphs
from eigengraphs.solvers.tall import times

__all__ = [
    "Basis",
    "CachedBasis",
    "StreamedBasis",
    "combined",
    "freed",
    "leave",
    "part_for",
    "projected",
    "rotated",
]

_BLOCK_BYTES = 2**25  # of cores that are turned at a time
_ROW_BYTES = 2**21  # of products that are projected at a time
_TYPED_SUM = 64  # terms of a sum that the type of the graphs may take before float64 does
_TASKS = 16  # of threads, where there is something for each graph


class Basis:
    """An orthonormal basis and the packed cores of all graphs in it.

    Attributes
    ----------
    V : (n, s)
        Orthonormal columns.
    cores : (m, p)
        V^T A_i V, packed.
    n_passes : int
        How often the graphs were read.
    """

    def __init__(self, graphs: BlockGraphs, weights: Array) -> None:
        self._graphs, self._weights = graphs, weights
        self.V: Array = np.zeros((graphs.n_vertices, 0))
        self.cores: Array = np.zeros((graphs.n_graphs, 0))
        self.n_passes = 0
        self._known: tuple[Array, Array] | None = None  # the last points, and their forms

    def append(self, B: Array) -> None:
        """Add the columns of B, orthonormal and orthogonal to V: one pass."""
        cross = self._cross(B)
        self.V = widened(self.V, B)
        new = Packing(self.V.shape[1]).pack_last_rows(cross)
        self.cores = new if self.cores.shape[1] == 0 else np.hstack([self.cores, new])
        self.n_passes += 1

    def rotate(self, T: Array) -> None:
        """Replace V by V T."""
        old, new = Packing(T.shape[0]), Packing(T.shape[1])
        m = len(self.cores)
        turned = np.empty((m, new.size))
        step = max(1, _BLOCK_BYTES // (8 * T.shape[0] ** 2))
        for lo in range(0, m, step):
            C = old.unpack(self.cores[lo : lo + step])
            turned[lo : lo + step] = new.pack(np.matmul(T.T, np.matmul(C, T)))
        self.cores = turned
        self.V = turned_basis(self.V, T)
        self._known = None  # the same numbers are other points now

    def compressed(self) -> tuple[Array, Array, bool]:
        """Return what :func:`core.compress` makes of the cores."""
        return compress(self.cores, self._weights)

    def forms(self, Y: Array) -> Array:
        """Return h_k^T A_i h_k, (m, d), for h_k = V y_k; of the last points without any work."""
        d = Y.shape[1]
        if self._known is None or not np.array_equal(self._known[0][:, :d], Y):
            self._known = (Y.copy(), self.cores @ Packing(len(Y)).outer(Y.T).T)
        return self._known[1][:, :d].copy()

    def root_forms(self, Y: Array) -> Array:
        """Return sqrt(w_i) h_k^T A_i h_k, (m, d)."""
        return np.asarray(np.sqrt(self._weights)[:, None] * self.forms(Y))

    def gradients(self, Y: Array, X: Array) -> Array:
        """Return sum_i w_i t_ik A_i h_k, (n, d), with t_i = (h_k^T A_i h_k)_k X, ``X`` (d, d)."""
        return self.combine(self._weights[:, None] * (self.forms(Y) @ X), Y)

    def combine(self, W: Array, Y: Array) -> Array:
        """Return sum_i W_ik A_i V y_k, (n, d), for ``W`` (m, d) and ``Y`` (s, d)."""
        raise NotImplementedError

    def _cross(self, B: Array) -> Array:
        """Return [V B]^T A_i B, (m, s + b, b)."""
        raise NotImplementedError


class CachedBasis(Basis):
    """Keep A_i V: a pass for new columns and none for anything else.

    Takes m n s numbers, which beside a dense stack is s / n of it.
    """

    def __init__(self, graphs: BlockGraphs, weights: Array) -> None:
        super().__init__(graphs, weights)
        self._parts: list[NDArray[Any]] = []  # V_j^T A_i, (m, b_j, n), in the type of the graphs
        self._free: list[NDArray[Any]] = []  # room of earlier ones: new memory takes its time

    def _cross(self, B: Array) -> Array:
        m, n, b = self._graphs.n_graphs, self._graphs.n_vertices, B.shape[1]
        part = part_for(m, b, n, self._graphs.dtype, self._free)
        self._graphs.products(B, leave, out=part)
        self._parts.append(part)
        return projected(part, np.column_stack([self.V, B]))

    def combine(self, W: Array, Y: Array) -> Array:
        """Return sum_i W_ik A_i V y_k, (n, d), for ``W`` (m, d) and ``Y`` (s, d)."""
        return combined(self._parts, self._graphs.n_vertices, W, Y)

    def rotate(self, T: Array) -> None:
        """Replace V by V T."""
        before, self._parts = self._parts, rotated(self._parts, T)
        self._free = freed(before, self._parts)
        super().rotate(T)


class StreamedBasis(Basis):
    """Keep V and the cores alone: two passes where the cache needs one, and little memory."""

    def _cross(self, B: Array) -> Array:
        return self._graphs.project(self.V, B)

    def combine(self, W: Array, Y: Array) -> Array:
        """Return sum_i W_ik A_i V y_k, (n, d), for ``W`` (m, d) and ``Y`` (s, d)."""
        self.n_passes += 1
        return self._graphs.weighted_multiply(W, times(self.V, Y))


def leave(lo: int, hi: int, P: NDArray[Any]) -> None:
    """Take products as they come, and leave them where they are."""


def projected(part: NDArray[Any], V: Array) -> Array:
    """Return V^T P_i^T, (m, s, b), for the rows P_i of ``part`` (m, b, n) and ``V`` (n, s).

    A few terms of a sum are added in the type of the part, and those sums in float64: float32 alone
    loses a digit where all terms have one sign, as in graphs of few blocks.
    """
    m, b, n = part.shape
    s = V.shape[1]
    cross = np.empty((m, s, b))
    typed = [(lo, hi, V[lo:hi].astype(part.dtype)) for lo, hi in spans(n, _TYPED_SUM)]

    def work(lo: int, hi: int) -> None:
        # Some graphs in one product: BLAS copies V for each.
        rows = part[lo:hi].reshape((hi - lo) * b, n)
        found = np.zeros((len(rows), s))
        for first, last, some in typed:
            found += rows[:, first:last] @ some
        cross[lo:hi] = found.reshape(hi - lo, b, s).transpose(0, 2, 1)

    on_blocks(work, spans(m, _ROW_BYTES // max(1, part.itemsize * b * n)))
    return cross


def combined(parts: list[NDArray[Any]], n: int, W: Array, Y: Array) -> Array:
    """Return sum_i W_ik P_i^T y_k, (n, d), for the parts (m, b_j, n) of P_i one above the other."""
    m, d = W.shape
    total = np.zeros((n, d))
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])

    def add(j: int, _: int) -> Array:
        part = parts[j]
        b = part.shape[1]
        sums = (W.T.astype(part.dtype) @ part.reshape(m, b * n)).reshape(d, b, n)
        return np.asarray(np.matmul(Y[ends[j] : ends[j + 1]].T[:, None, :], sums)[:, 0].T)

    on_blocks(add, spans(len(parts), 1), total.__iadd__)
    return total


def rotated(parts: list[NDArray[Any]], T: Array) -> list[NDArray[Any]]:
    """Return T^T P_i in parts, for the parts (m, b_j, n) of P_i one above the other.

    T has no more columns than rows. What is returned is in the place of the first parts, which are
    used up, and the others are free.
    """
    if not parts:
        return []
    m = len(parts[0])
    TT = T.T.astype(parts[0].dtype)
    kept: list[NDArray[Any]] = []
    left = len(TT)
    for part in parts:
        if left > 0:
            kept.append(part[:, :left])
            left -= kept[-1].shape[1]
    ends = np.cumsum([0, *(part.shape[1] for part in kept)])

    def turn(lo: int, hi: int) -> None:
        for i in range(lo, hi):
            turned = TT @ (np.concatenate([part[i] for part in parts]))
            for part, first, last in zip(kept, ends, ends[1:], strict=False):
                part[i] = turned[first:last]

    on_blocks(turn, spans(m, -(-m // _TASKS)))
    return kept


def part_for(
    m: int, b: int, n: int, dtype: np.dtype[Any], free: list[NDArray[Any]]
) -> NDArray[Any]:
    """Return room for products, (m, b, n): the least that is free and large enough, or new.

    Where none is large enough, all that is free is given up: it would be there beside the new one.
    """
    enough = [place for place, part in enumerate(free) if part.shape[1] >= b]
    if b > 0 and enough:
        return free.pop(min(enough, key=lambda place: free[place].shape[1]))[:, :b]
    if b > 0:
        free.clear()
    return np.empty((m, b, n), dtype=dtype)


def freed(before: list[NDArray[Any]], kept: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the room of parts that are no longer needed, whole where they had a share of it."""
    rest = before[len(kept) :]
    return [part if part.base is None else part.base for part in rest if part.shape[1]]
