"""The greedy problem on small cores of directed graphs, as :mod:`~eigengraphs.solvers.core` has it.

Given cores C_i = U^T A_i V (s, t), find pairs (y_k, z_k) of unit vectors one after the other, each
a maximum of :class:`~eigengraphs.solvers.directed.quotient.PairQuotient` on what the earlier ones
left. Points are pairs, y above z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigengraphs.solvers.core import CoreFit, Search
from eigengraphs.solvers.deflation import Deflation
from eigengraphs.solvers.directed.pairs import PairDeflation, PairPacking, unit_pairs
from eigengraphs.solvers.directed.quotient import PairQuotient
from eigengraphs.solvers.protocol import Array

__all__ = ["PairProblem", "solve_pairs"]

_CLIMB = 4  # steps of every start
_FINALISTS = 3  # that go on to their maximum
_CLOSE = 0.9  # to the best: how good a finalist must be
_ROUGH = 1e-2  # relative gradient at which finalists are compared
_NEGLIGIBLE = 1e-6  # a mean core smaller than this beside the cores, as when centred, is rounding
_SAME = 0.98  # |cosine| of components that climbed to one maximum
_OVERLAP = 0.3  # of a component is counted as new at least: less makes loadings that cancel


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


class _Left:
    """What the components so far leave of the cores, updated in place."""

    def __init__(self, problem: PairProblem, spectral: bool) -> None:
        self.packing = problem.packing
        self.R, self.mean = problem.R.copy(), problem.mean
        self.rough = np.ascontiguousarray(self.R.T, dtype=np.float32)
        self.deflation = PairDeflation(problem.U, problem.V, problem.frozen, problem.hollow)
        self._spectral = spectral
        self._squares = (np.zeros((0, 0)),) * 2
        if spectral:
            C = self.packing.unpack(self.R)
            rows = C.transpose(1, 0, 2).reshape(self.packing.s, -1)
            columns = C.reshape(-1, self.packing.t)
            self._squares = (rows @ rows.T, columns.T @ columns)  # sum C_i C_i^T, sum C_i^T C_i

    def take_off(self, x: Array) -> float:
        """Take the component x off; return by how much the squared norm falls."""
        packing = self.packing
        q, square = self.deflation.add(x)
        outer = packing.outer(x[None])[0]
        t = self.R @ outer / square
        if self._spectral:
            S, Q, t2 = packing.unpack(t @ self.R), packing.unpack(q), float(t @ t)
            SQ, QS = S @ Q.T, Q.T @ S
            rows, columns = self._squares
            self._squares = (
                rows - SQ - SQ.T + t2 * (Q @ Q.T),
                columns - QS - QS.T + t2 * (Q.T @ Q),
            )
        linalg.blas.dger(-1.0, q, t, a=self.R.T, overwrite_a=True)  # R -= t q^T in place
        linalg.blas.sger(-1.0, t, q, a=self.rough.T, overwrite_a=True)
        self.mean = self.mean - (self.mean @ outer / square) * q
        return square * float(t @ t)

    def spectral_starts(self, search: Search) -> list[Array]:
        """Return the top singular pair of the mean core, and pairs of the sums of squares.

        A mean that is rounding has none, and the latter take its place.
        """
        starts: list[Array] = []
        if search.by_mean and linalg.norm(self.mean) > _NEGLIGIBLE * linalg.norm(self.R):
            left, _, right = linalg.svd(
                self.packing.unpack(self.mean), full_matrices=False, check_finite=False
            )
            starts.append(np.concatenate([left[:, 0], right[0]]))
        n_squares = max(search.n_squares, not starts)
        C = self.packing.unpack(self.R)
        for side, squares in enumerate(self._squares):
            vectors = linalg.eigh(squares, check_finite=False, driver="evd")[1]
            for y in vectors[:, max(0, len(squares) - n_squares) :].T:
                # The best partner of y is the top right singular vector of the rows y^T C_i.
                B = y @ C if side == 0 else C @ y
                z = linalg.eigh(B.T @ B, check_finite=False, driver="evd")[1][:, -1]
                starts.append(np.concatenate([y, z] if side == 0 else [z, y]))
        return starts


def solve_pairs(problem: PairProblem, d: int, search: Search, tol: Array | float) -> CoreFit:
    """Find d components of the cores, to relative gradients of ``tol``, (d,) or one, in them."""
    tol = np.broadcast_to(tol, (d,))
    spectral = search.by_mean or search.n_squares > 0
    state, packing = _Left(problem, spectral), problem.packing
    deflation = state.deflation
    length = packing.s + packing.t
    bases = (problem.U, problem.V) if problem.hollow else None
    X, gains, stationarity = np.zeros((length, d)), np.zeros(d), np.zeros(d)
    agreement = np.full(d, np.nan)
    pool = search.warm.T  # (b, s + t), the pairs that no component has taken yet
    left = problem.left
    for k in range(d):
        quotient = PairQuotient(state.R, packing, bases, state.rough)
        starts = np.zeros((0, length))
        in_order = search.in_order or k < max(search.n_fixed, search.n_settled)
        stays = k < max(search.n_fixed, search.n_stayed)
        if in_order:
            starts, pool = pool[:1], pool[1:]
        elif len(pool):
            best = np.argsort(-_falls(quotient, deflation, pool), kind="stable")
            starts = pool[best[: 1 if stays else search.n_pool]]
        if spectral:
            starts = np.vstack([starts, *state.spectral_starts(search)])
        if k < len(search.random) and not stays:
            starts = np.vstack([starts, search.random[k]])
        if len(starts) == 0:
            starts = _elsewhere(quotient, packing)[None]
        if len(starts) > 1:
            starts, agreement[k] = _explore(quotient, deflation, packing, starts)
        if len(starts) > 1:
            enough = max(tol[k], _ROUGH)
            starts = np.array([quotient.maximise(start, enough)[0] for start in starts])
            starts = starts[[np.argmax(_falls(quotient, deflation, starts))]]
        climb = quotient.measure if k < search.n_fixed else quotient.maximise
        x, gains[k], stationarity[k] = climb(starts[0], tol[k])
        if left > problem.nothing and gains[k] <= problem.floor:
            # y^T C_i z = 0 for all i: no way is up from there, but from almost anywhere else.
            x, gains[k], stationarity[k] = quotient.maximise(_elsewhere(quotient, packing), tol[k])
        if not in_order and len(pool):
            taken = np.abs(packing.cosines(pool, x[None])[:, 0])
            # One at least, lest a component that moved far leaves a place too few.
            pool = pool[(taken < _SAME) & (taken < taken.max())]
        if left <= problem.nothing or gains[k] <= problem.floor:
            gains[k] = stationarity[k] = 0.0
            break
        X[:, k] = x
        left -= state.take_off(x)
    return CoreFit(X, gains, stationarity, agreement, deflation)


def _falls(quotient: PairQuotient, deflation: Deflation, X: Array) -> Array:
    """Return by how much the objective falls with each of the rows of ``X`` (b, s + t).

    All loadings are solved again, so that it falls by more than f where components overlap. Among
    maxima of f, the one to keep is the one that leaves least.
    """
    norms = quotient.norms(X)
    left = np.maximum(deflation.remaining(X, norms), _OVERLAP * norms)
    falls: Array = quotient.numerators(X) / left
    return falls


def _explore(
    quotient: PairQuotient, deflation: Deflation, packing: PairPacking, starts: Array
) -> tuple[Array, float]:
    """Climb from ``starts``; return the best few that differ, and how many agree on one."""
    climbed = quotient.climb(starts, _CLIMB)
    falls = _falls(quotient, deflation, climbed)
    order = np.argsort(-falls, kind="stable")
    alike = np.abs(packing.cosines(climbed, climbed)) >= _SAME
    finalists = [order[0]]
    for place in order[1:]:
        if len(finalists) == _FINALISTS or falls[place] < _CLOSE * falls[order[0]]:
            break
        if not alike[place, finalists].any():
            finalists.append(place)
    if not alike[0, finalists].any():
        finalists.append(0)  # so that more starts never find less
    return climbed[finalists], float(alike[:, order[0]].mean())


def _elsewhere(quotient: PairQuotient, packing: PairPacking) -> Array:
    """Return the best of a few pairs that have nothing to do with the graphs, (s + t,)."""
    length = packing.s + packing.t
    X = unit_pairs(np.random.default_rng(length).standard_normal((4, length)), packing.s)
    X = quotient.climb(X, _CLIMB, exact=True)
    return np.asarray(X[np.argmax(quotient.numerators(X) / quotient.norms(X))])
