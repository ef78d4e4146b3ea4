"""The greedy problem on small cores of directed graphs, as :mod:`~eigengraphs.solvers.core` has it.

Given cores C_i = U^T A_i V (s, t), find pairs (y_k, z_k) of unit vectors one after the other, each
a maximum of :class:`~eigengraphs.solvers.directed.quotient.PairQuotient` on what the earlier ones
left. Points are pairs, y above z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from eigengraphs.solvers.directed.pairs import PairDeflation, PairPacking, unit_pairs
from eigengraphs.solvers.directed.quotient import PairQuotient
from eigengraphs.solvers.directed.remainder import MainPairs, PairRemainder
from eigengraphs.solvers.eigen import eigen_small
from eigengraphs.solvers.old_core import NEGLIGIBLE, CoreFit, Greedy, Search, find_greedily
from eigengraphs.solvers.protocol import Array

__all__ = ["PairProblem", "solve_pairs"]


@dataclass(frozen=True)
class PairProblem:
    """Cores, compressed, and what the components must be orthogonal to."""

    R: Array  # (r, s t) packed weighted cores, without the frozen components
    mean: Array  # (s t,) packed weighted mean core, times the root of the weights' sum
    U: Array  # (n, s) basis of the left
    V: Array  # (n, t) and of the right
    frozen: Array  # (2 n, k) earlier components
    hollow: bool  # the pairs s = t take no part in the loss
    floor: float  # a gain below this is rounding
    left: float = np.inf  # sum_i w_i ||A_i||^2 of the graphs without the frozen components
    nothing: float = 0.0  # of which this much is rounding

    @property
    def packing(self) -> PairPacking:
        """How cores are packed."""
        return PairPacking(self.U.shape[1], self.V.shape[1])


def solve_pairs(problem: PairProblem, d: int, search: Search, tol: Array | float) -> CoreFit:
    """Find d components of the cores, to relative gradients of ``tol``, (d,) or one, in them."""
    packing = problem.packing
    deflation = PairDeflation(problem.U, problem.V, problem.frozen, problem.hollow)
    cores = PairRemainder(problem.R, packing, deflation.known, combine=not search.to_the_top)
    bases = (problem.U, problem.V) if problem.hollow else None
    quotient = PairQuotient(cores, packing, bases, d)
    spectra = _Squares(problem, cores, d) if search.spectral else None
    limits = problem.floor, problem.left, problem.nothing
    return find_greedily(
        Greedy(quotient, deflation, cores, packing, spectra, *limits), d, search, tol
    )


class _Squares:
    """The mean core, sum_i C_i C_i^T and sum_i C_i^T C_i of what is left."""

    def __init__(self, problem: PairProblem, cores: PairRemainder, room: int) -> None:
        self._cores, self._packing, self._mean = cores, problem.packing, problem.mean
        self._room = room
        C = self._packing.unpack(problem.R)
        rows = C.transpose(1, 0, 2).reshape(self._packing.s, -1)
        columns = C.reshape(-1, self._packing.t)
        self._squares = (rows @ rows.T, columns.T @ columns)

    def take_off(self, t: Array, q: Array, z: Array, square: float) -> None:
        """Take t q^T off, ``square`` being ||q||^2, of the component z (p,); cores come next."""
        packing = self._packing
        S, Q, t2 = packing.unpack(self._cores.sums(t[None])[0]), packing.unpack(q), float(t @ t)
        SQ, QS = S @ Q.T, Q.T @ S
        rows, columns = self._squares
        self._squares = (
            rows - SQ - SQ.T + t2 * (Q @ Q.T),
            columns - QS - QS.T + t2 * (Q.T @ Q),
        )
        self._mean = self._mean - (self._mean @ z / square) * q

    def starts(self, search: Search) -> list[Array]:
        """Return the top singular pair of the mean core, and pairs of the sums of squares.

        A mean that is rounding has none, and the latter take its place.
        """
        starts: list[Array] = []
        # The trace is the sum of the squared norms of the cores.
        if search.by_mean and self._mean @ self._mean > NEGLIGIBLE**2 * np.trace(self._squares[0]):
            C = self._packing.unpack(self._mean)
            z = eigen_small(C.T @ C)[1][:, -1]
            starts.append(unit_pairs(np.concatenate([C @ z, z]), self._packing.s))
        n_squares = max(search.n_squares, not starts)
        main = cast(MainPairs, self._cores.main(self._room))
        for side, squares in enumerate(self._squares):
            vectors = eigen_small(squares)[1]
            for y in vectors[:, max(0, len(squares) - n_squares) :].T:
                z = main.partner(y, side)
                starts.append(np.concatenate([y, z] if side == 0 else [z, y]))
        return starts
