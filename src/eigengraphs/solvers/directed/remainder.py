"""Packed cores of directed graphs less what components took off; what starts are tried on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.directed.kernels import multiply_pairs, weigh_cores
from eigengraphs.solvers.directed.main_kernels import climb_main_pairs, newton_main_pairs
from eigengraphs.solvers.directed.pairs import PairPacking
from eigengraphs.solvers.main_cores import MainCores
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.remainder import Remainder

__all__ = ["MainPairs", "PairRemainder"]

_POWER_STEPS = 4


class MainPairs(MainCores):
    """The same as :class:`MainCores`, of matrices (s, t); ``packing`` is theirs."""

    def __init__(
        self, RT: NDArray[np.float32], n_taken: int, packing: PairPacking, *, combine: bool
    ) -> None:
        self._packing = packing
        super().__init__(RT, n_taken, combine=combine)

    def _first(self, RT: NDArray[np.float32]) -> NDArray[np.float32]:
        return RT  # the first columns alone do not do: others are found with two bases

    def climb(
        self, Y: Array, n_steps: int, n_turns: int, by_falls: NDArray[np.bool_], least: float
    ) -> tuple[Array, Array]:
        """Climb from pairs, the rows of ``Y`` (d, s + t)."""
        X, falls, s = np.array(Y, order="C"), np.empty(len(Y)), self._packing.s
        known = self._rows[: self._end]
        climb_main_pairs(known, self._b, X, s, n_steps, n_turns, by_falls, least, falls)
        return X, falls

    def maximise(self, y: Array, tol: float, n_steps: int, n_turns: int) -> tuple[Array, bool]:
        """Go on from the pair ``y`` (s + t,)."""
        x = y.copy()
        is_maximum = newton_main_pairs(self.cores, x, self._packing.s, tol, n_steps, n_turns)
        return x, is_maximum

    def partner(self, y: Array, side: int) -> Array:
        """Return a unit vector of the other side, (t,) or (s,), that goes well with ``y``.

        ``y`` is on the left, if ``side`` is 0, or on the right. The best is the top right singular
        vector of the products of y with the cores; some steps of the power method do for a start.
        """
        s, t = self._packing.s, self._packing.t
        halves = [np.zeros(s, dtype=np.float32), np.zeros(t, dtype=np.float32)]
        halves[side][:] = y
        products: NDArray[np.float32] = np.empty((len(self.cores), s + t), dtype=np.float32)
        multiply_pairs(self.cores, halves[0], halves[1], products)
        # BLAS may warn of what lies beside short vectors of float32: hence the other type.
        B = (products[:, s:] if side == 0 else products[:, :s]).astype(np.float64)
        if not len(B):  # all graphs are zero
            return np.full(B.shape[1], 1.0 / np.sqrt(B.shape[1]))
        z = B[np.argmax(np.einsum("it,it->i", B, B))]
        for _ in range(_POWER_STEPS):
            length = float(np.sqrt(z @ z))
            if length == 0.0:
                return np.full(len(z), 1.0 / np.sqrt(len(z)))
            z = (B @ (z / length)) @ B
        return np.asarray(z / np.sqrt(z @ z))


class PairRemainder(Remainder):
    """The same as :class:`Remainder`, of matrices (s, t): points are pairs, y above z.

    Parameters
    ----------
    R : (r, s t)
        Packed weighted cores; they are not changed.
    packing
        How they are packed.
    known, combine
        As there.
    """

    def __init__(
        self, R: Array, packing: PairPacking, known: Array | None = None, *, combine: bool = True
    ) -> None:
        self._packing = packing
        super().__init__(R, known, combine=combine)

    def _roughly(self) -> NDArray[np.float32]:
        return self._R.astype(np.float32).T  # kernels of pairs take the rows as they are

    def _seen_by_starts(self, room: int) -> MainPairs:
        return MainPairs(self._rough_T, room, self._packing, combine=self._combine)

    def state(self, y: Array, S: Array) -> tuple[float, Array]:
        """Fill ``S`` (s, t) with sum_i (y^T C_i z) C_i.

        Returns sum_i (y^T C_i z)^2, and what is squared there, (r,).
        """
        return self._weigh(self._R, y, S)

    def rough_state(self, y: Array, S: Array) -> tuple[float, Array]:
        """Return and fill the same as :meth:`state`, found in float32."""
        return self._weigh(self._rough_T.T, y, S)

    def _weigh(self, R: NDArray[np.float64] | NDArray[np.float32], x: Array, S: Array
    ) -> tuple[float, Array]:  # fmt: skip
        z = self._packing.outer(x[None])[0]
        taken, Q = self._t.rows, self._q.rows
        forms, total = np.empty(len(R)), np.empty(R.shape[1], dtype=R.dtype)
        square = weigh_cores(R, z.astype(R.dtype, copy=False), (Q @ z) @ taken, forms, total)
        S[:] = self._packing.unpack(total - (taken @ forms) @ Q)
        return float(square), forms

    def curvature(self, y: Array) -> NDArray[np.float32]:
        """Return sum_i b_i b_i^T, (s + t, s + t), in float32, with b_i = (C_i z, C_i^T y)."""
        s, R = self._packing.s, self._rough_T.T
        x = y.astype(np.float32)
        B: NDArray[np.float32] = np.empty((len(R), len(x)), dtype=np.float32)
        multiply_pairs(R, x[:s], x[s:], B)
        if len(self._q.rows):
            Q = self._packing.unpack(self._q.rows)
            off = np.hstack([Q @ y[s:], y[:s] @ Q])
            B -= self._t.rows.T.astype(np.float32) @ off.astype(np.float32)
        return np.asarray(B.T @ B)
