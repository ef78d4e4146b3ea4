"""Packed cores less what components took off them: exactly as factors, roughly written out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.core_kernels import packed_state
from eigengraphs.solvers.growing import GrowingRows
from eigengraphs.solvers.protocol import Array

__all__ = ["Remainder"]

_FOUR = 4  # columns: BLAS takes longer for three, and for six than for eight


class Remainder:
    """R_k = R - sum_{j <= k} t_j q_j^T.

    To write that out takes as long, for each component, as several values of its objective; the
    factors are few. What starts are tried on is written out, in float32, when somebody asks for it.

    Parameters
    ----------
    R : (r, p)
        Packed weighted cores; they are not changed.
    """

    def __init__(self, R: Array) -> None:
        self._R = np.ascontiguousarray(R)  # kernels are compiled for one layout
        r, p = R.shape
        self._t, self._q = GrowingRows(np.zeros((0, r))), GrowingRows(np.zeros((0, p)))
        self._rough: NDArray[np.float32] = self._R.astype(np.float32)
        self._rough_T: NDArray[np.float32] = self._rough.T.copy(order="C")
        self._n_off, self._n_off_T = 0, 0  # components that were taken off these two

    @property
    def rough(self) -> NDArray[np.float32]:
        """What is left, (r, p), in float32."""
        t, q = self._t.rows[self._n_off :], self._q.rows[self._n_off :]
        self._n_off += len(t)
        return _less(self._rough, t, q)

    @property
    def rough_T(self) -> NDArray[np.float32]:
        """The same in the other order, (p, r): each product is twice as fast in one of them."""
        t, q = self._t.rows[self._n_off_T :], self._q.rows[self._n_off_T :]
        self._n_off_T += len(t)
        return _less(self._rough_T, q, t)

    def take_off(self, t: Array, q: Array) -> None:
        """Take t q^T off, for ``t`` (r,) and ``q`` (p,)."""
        self._t.append(t)
        self._q.append(q)

    def state(self, y: Array, S: Array) -> tuple[float, Array]:
        """Fill ``S`` (s, s) with sum_i (y^T C_i y) C_i.

        Returns sum_i (y^T C_i y)^2, and what is squared there, (r,).
        """
        forms: Array = np.empty(len(self._R))
        return float(packed_state(self._R, self._t.rows, self._q.rows, y, S, forms)), forms

    def forms(self, Z: Array) -> Array:
        """Return <z, c_i>, (b, r), for the rows z of ``Z`` (b, p)."""
        return np.asarray(Z @ self._R.T - (Z @ self._q.rows.T) @ self._t.rows)

    def sums(self, T: Array) -> Array:
        """Return sum_i t_i c_i, (b, p), for the rows t of ``T`` (b, r)."""
        return np.asarray(T @ self._R - (T @ self._t.rows.T) @ self._q.rows)

    def rough_forms(self, Z: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the same as :meth:`forms` in float32."""
        return np.asarray((_padded(Z) @ self.rough_T)[: len(Z)])

    def rough_sums(self, T: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the same as :meth:`sums` in float32."""
        return np.asarray((_padded(T) @ self.rough)[: len(T)])


def _less(X: NDArray[np.float32], a: Array, b: Array) -> NDArray[np.float32]:
    """Return X, changed in place, less a^T b, for ``a`` (k, rows) and ``b`` (k, columns)."""
    if len(a) == 1:
        linalg.blas.sger(-1.0, b[0], a[0], a=X.T, overwrite_a=True)
    elif len(a) > 1:
        factors = (b.T.astype(np.float32), a.astype(np.float32))
        linalg.blas.sgemm(-1.0, *factors, beta=1.0, c=X.T, overwrite_c=True)
    return X


def _padded(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return X with rows of zeros, so that their number is one or a multiple of four."""
    b, size = X.shape
    if b <= 1 or b % _FOUR == 0:
        return X
    wider = np.zeros((b + -b % _FOUR, size), dtype=X.dtype)
    wider[:b] = X
    return wider
