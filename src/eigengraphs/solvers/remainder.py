"""Packed cores less what components took off them: exactly as factors, roughly written out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.core_kernels import packed_curvature, packed_state, unpack_one
from eigengraphs.solvers.growing import GrowingRows
from eigengraphs.solvers.main_cores import MainCores
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array

__all__ = ["Remainder"]


class Remainder:
    """R_k = R - sum_{j <= k} t_j q_j^T.

    To write that out takes as long, for each component, as several values of its objective; the
    factors are few. Of what starts are tried on, which is small, it is written out when somebody
    asks for it.

    Attributes
    ----------
    square : float
        sum_i ||c_i||^2 of the cores as they were given.

    Parameters
    ----------
    R : (r, p)
        Packed weighted cores; they are not changed.
    known : (k, p)
        What earlier components hold of the basis, of norm 1 as components: R is without it.
    combine
        Whether starts see combinations of many cores. What they are depends on what was taken off
        before, so that it is not for where there is no second round.
    """

    def __init__(self, R: Array, known: Array | None = None, *, combine: bool = True) -> None:
        self._R = np.ascontiguousarray(R)  # kernels are compiled for one layout
        r, p = R.shape
        self._combine = combine
        self._known = np.zeros((0, p)) if known is None else known
        self._t, self._q = GrowingRows(np.zeros((0, r))), GrowingRows(np.zeros((0, p)))
        self._squares: list[float] = []
        self._rough_T = self._roughly()
        self._main: MainCores | None = None
        self.square = float(np.einsum("rp,rp->", self._R, self._R))
        self._n_off = 0  # components that were taken off the main cores

    def _roughly(self) -> NDArray[np.float32]:
        """Return the cores, one a column, (p, r), as :meth:`curvature` wants them."""
        return self._R.T.astype(np.float32, order="C")

    def _seen_by_starts(self, room: int) -> MainCores:
        """Return the cores as starts see them, when nothing is taken off."""
        return MainCores(self._rough_T, room, combine=self._combine)

    def main(self, room: int) -> MainCores:
        """Return the cores as starts see them, with room for so many components in all."""
        if self._main is None:
            self._main = self._seen_by_starts(len(self._known) + room)
            for row in self._known:
                self._main.remember(row, 1.0)
        for j in range(self._n_off, len(self._squares)):
            self._main.take_off(self._t.rows[j], self._q.rows[j], self._squares[j])
        self._n_off = len(self._squares)
        return self._main

    def take_off(self, t: Array, q: Array, square: float) -> None:
        """Take t q^T off, for ``t`` (r,) and ``q`` (p,), ``square`` its squared norm."""
        self._t.append(t)
        self._q.append(q)
        self._squares.append(square)

    def state(self, y: Array, S: Array) -> tuple[float, Array]:
        """Fill ``S`` (s, s) with sum_i (y^T C_i y) C_i.

        Returns sum_i (y^T C_i y)^2, and what is squared there, (r,).
        """
        forms: Array = np.empty(len(self._R))
        return float(packed_state(self._R, self._t.rows, self._q.rows, y, S, forms)), forms

    def rough_state(self, y: Array, S: Array) -> tuple[float, Array]:
        """Return and fill the same as :meth:`state`, found in float32."""
        packing = Packing(len(y))
        z = packing.outer(y[None])[0]
        forms = self.rough_forms(z)
        # Where a row is five float32, OpenBLAS 0.3.31 with AVX-512 also multiplies what an earlier
        # call left on the stack: it does not enter the product, but may raise the flag.
        with np.errstate(invalid="ignore"):
            whole = self._rough_T @ forms.astype(np.float32)
        unpack_one(whole - (self._t.rows @ forms) @ self._q.rows, 1.0, S)
        return float(forms @ forms), forms

    def curvature(self, y: Array) -> NDArray[np.float32]:
        """Return sum_i (C_i y)(C_i y)^T, (s, s), in float32."""
        found: NDArray[np.float32] = np.empty((len(y), len(y)), dtype=np.float32)
        packed_curvature(self._rough_T, self._t.rows, self._q.rows, y.astype(np.float32), found)
        return found

    def forms(self, Z: Array) -> Array:
        """Return <z, c_i>, (b, r), for the rows z of ``Z`` (b, p)."""
        return np.asarray(Z @ self._R.T - (Z @ self._q.rows.T) @ self._t.rows)

    def sums(self, T: Array) -> Array:
        """Return sum_i t_i c_i, (b, p), for the rows t of ``T`` (b, r)."""
        return np.asarray(T @ self._R - (T @ self._t.rows.T) @ self._q.rows)

    def rough_forms(self, Z: Array) -> Array:
        """Return the same as :meth:`forms`, found in float32."""
        taken = (Z @ self._q.rows.T) @ self._t.rows
        return np.asarray(Z.astype(np.float32) @ self._rough_T - taken)
