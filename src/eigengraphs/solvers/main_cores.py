"""What starts are tried on: the cores seen from few directions among the graphs.

Of many graphs, what they have in common is in a few combinations of them, and the rest is noise,
which adds about the same to every value of the objective. To climb, that is enough, and takes a
fraction of the time: the combinations stay in a near cache, which the cores do not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.core_kernels import weigh_overlaps
from eigengraphs.solvers.main_kernels import climb_main, newton_main
from eigengraphs.solvers.protocol import Array

__all__ = ["MainCores", "main_combinations"]

_MAIN = 32  # combinations of the graphs; whole vectors of the processor
_FIRST = 24 * 25 // 2  # entries of packed cores that tell which: those of the first, main columns
_MANY = 48  # graphs beyond which they are combined


class MainCores:
    """U^T (R - sum_j t_j q_j^T) in float32, U (r, b) orthonormal, above q_j / ||q_j||.

    Parameters
    ----------
    RT : (p, r)
        Packed weighted cores, one a column.
    n_taken
        How many components may be taken off.
    combine
        Whether many are combined; U is the unit matrix otherwise.
    """

    def __init__(self, RT: NDArray[np.float32], n_taken: int, *, combine: bool) -> None:
        p, r = RT.shape
        self._U = main_combinations(self._first(RT)) if combine and r > _MANY else None
        self._b = r if self._U is None else self._U.shape[1]
        self._rows = np.empty((self._b + n_taken, p), dtype=np.float32)
        self._rows[: self._b] = RT.T if self._U is None else (RT @ self._U).T
        self._end = self._b

    def _first(self, RT: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the rows of ``RT`` (p, r) that tell combinations apart: the first columns do."""
        return RT[:_FIRST]

    @property
    def cores(self) -> NDArray[np.float32]:
        """What is left, (b, p)."""
        return self._rows[: self._b]

    def take_off(self, t: Array, q: Array, square: float) -> None:
        """Take t q^T off, for ``t`` (r,) and ``q`` (p,) of this squared norm."""
        off = t if self._U is None else t.astype(np.float32) @ self._U
        linalg.blas.sger(-1.0, q, off, a=self.cores.T, overwrite_a=True)
        self.remember(q, square)

    def remember(self, q: Array, square: float) -> None:
        """Count what overlaps with q (p,) as known."""
        self._rows[self._end] = q / np.sqrt(square)
        self._end += 1

    def climb(
        self, Y: Array, n_steps: int, n_turns: int, by_falls: NDArray[np.bool_], least: float
    ) -> tuple[Array, Array]:
        """Climb from unit rows of ``Y`` (d, s); see :func:`main_kernels.climb_main`."""
        Y, falls = np.array(Y, order="C"), np.empty(len(Y))
        known = self._rows[: self._end]
        climb_main(known, self._b, Y, n_steps, n_turns, by_falls, least, falls)
        return Y, falls

    def maximise(self, y: Array, tol: float, n_steps: int, n_turns: int) -> tuple[Array, bool]:
        """Go on from ``y`` (s,); see :func:`main_kernels.newton_main`."""
        y = y.copy()
        T = np.ascontiguousarray(self.cores.T)
        is_maximum = newton_main(self.cores, T, y, tol, n_steps, n_turns)
        return y, is_maximum

    def look(
        self, Z: NDArray[np.float32], norms: Array, least: float
    ) -> tuple[NDArray[np.float32], Array]:
        """Return inner products with the rows z of ``Z`` (d, p), and by how much z lets fall.

        Parameters
        ----------
        Z
            Packed components.
        norms : (d,)
            Their squared norms, over the entries that count.
        least
            Share of it that counts as new at least.

        Returns
        -------
        T : (d, b + k)
            <z, c_i>; then <z, q_j> times what the objective falls by, 0 where less is new.
        falls : (d,)
            By how much the objective falls: sum_i <z, c_i>^2 over the squared norm of what is new.
        """
        T = np.asarray(Z @ self._rows[: self._end].T)
        falls = np.empty(len(T))
        weigh_overlaps(T, self._b, norms, least, falls)
        return T, falls


def main_combinations(RT: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return orthonormal combinations of the columns of ``RT`` (p, r), (r, b), about the largest.

    By two steps of subspace iteration from a fixed random one.
    """
    r = RT.shape[1]
    U = np.random.default_rng(r).standard_normal((r, _MAIN), dtype=np.float32)
    for _ in range(2):
        U = linalg.qr(RT.T @ (RT @ U), mode="economic", check_finite=False)[0]
    return np.asarray(U)
