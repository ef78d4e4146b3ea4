"""Loadings under a rule (nonnegative, sparse), in a basis.

Such loadings are no projection: what k components leave of a graph depends on its own loadings, so
that all graphs' cores are needed, and no second moment stands for them. Component k fits

    R_i = A_i - sum_{j < k} Lam_ij h_j h_j^T,      Lam the rule's loadings of those before it,

by a maximum of sum_i w_i s(h^T R_i h)^2 (:mod:`ascent`). The search is that of free loadings.

A graph that has all the nonzeros it may have takes a further component only for one of them: Lam
is then what it has left without that one, and c_i what it gives up. If there is no component
for which any graph would, the next one fits what is left of the graphs as they are, and waits
for others to join it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.ascent import Ascent, Shrink
from eigengraphs.solvers.block import Job
from eigengraphs.solvers.deflated import DeflatedGraphs
from eigengraphs.solvers.eigen import eigen_small
from eigengraphs.solvers.left_cores import LeftCores
from eigengraphs.solvers.loadings import component_gram, rounding_share
from eigengraphs.solvers.old_core import NEGLIGIBLE, Search
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array, BlockGraphs
from eigengraphs.solvers.rules import (
    LoadingRule,
    PenalisedLoadings,
    SparseLoadings,
    objective_of,
    stage_loadings,
)
from eigengraphs.solvers.symmetric import SymmetricSpace

__all__ = ["RuledFit", "RuledSpace", "shrink_of"]

_STEPS, _EAGER = 4, 2  # of every start, and those of them without thresholds and costs
_FINALISTS = 3  # that go on to their maximum
_CLOSE = 0.9  # to the best: how good a finalist must be
_ROUGH = 1e-2  # relative gradient at which finalists are compared
_SAME = 0.99  # |cosine| of starts that climbed to one maximum


def shrink_of(rule: LoadingRule) -> Shrink:
    """Return how the rule makes loadings of the forms of one component of norm 1 alone."""
    penalty = rule.penalty if isinstance(rule, PenalisedLoadings) else 0.0
    return Shrink(rule.nonnegative, float(penalty))


@dataclass(frozen=True)
class _Beside:
    """What a new component meets."""

    Lam: Array  # (m, k) loadings beside which it fits
    costs: Array  # (m,) what a graph gives up for it


@dataclass(frozen=True)
class RuledFit:
    """Components of the cores, each with the loadings of those before it."""

    Y: Array  # (s, d), unit columns, zero where nothing was left
    gains: Array  # (d,) f at y_k
    stationarity: Array  # (d,) relative gradient within the core; nan for those that are fixed
    agreement: Array  # (d,) share of the starts that climbed to the same maximum
    Psi: Array  # (m, k + d) forms of the frozen components and these
    beside: tuple[_Beside, ...]  # what each component meets


@dataclass(frozen=True)
class _Pool:
    """Components that no place has been given to yet."""

    Y: Array  # (b, s)
    T: Array  # (b, m) y^T C_i y of the cores as they are, roughly

    @classmethod
    def of(cls, Y: Array, cores: LeftCores, packing: Packing) -> _Pool:
        return cls(Y, (packing.rough_outer(Y) @ cores.rough[0].T).astype(np.float64))

    def only(self, which: NDArray[np.intp]) -> _Pool:
        return _Pool(self.Y[which], self.T[which])

    def gains(self, ascent: Ascent, Lam: Array, X: Array) -> Array:
        """Return f of each, (b,), beside loadings ``Lam`` (m, k) of the columns of ``X`` (s, k)."""
        return ascent.gains(self.T - (self.Y @ X) ** 2 @ Lam.T)


class RuledSpace(SymmetricSpace):
    """A basis and the problem under a rule in it; see :class:`~eigengraphs.solvers.block.Space`.

    Parameters
    ----------
    graphs
        The graphs.
    job
        Settings.
    frozen : (n, k)
        Components that are found, whose loadings may still change.
    Psi : (m, k)
        Their forms h_j^T A_i h_j.
    rule
        Which loadings there may be.
    """

    _short = False  # under a rule, what a round missed is not found later

    def __init__(
        self, graphs: BlockGraphs, job: Job, frozen: Array, Psi: Array, rule: LoadingRule
    ) -> None:
        self._rule, self._weights, self._Psi = rule, job.weights, Psi
        self._shrink = shrink_of(rule)
        self._Gamma = component_gram(frozen)
        self._Lam = stage_loadings(rule, self._Gamma, Psi)[-1]  # (m, k), of the frozen ones
        self._total = float(job.sizes.sum())
        rest = DeflatedGraphs(graphs, frozen, self._Lam, False) if frozen.shape[1] else graphs
        super().__init__(graphs, job, frozen, self._total, rest)

    def solve(self, d: int, search: Search, tol: Array) -> RuledFit:
        """Find d components within the basis."""
        basis, floor = self._basis, self._job.floor
        s, rounding = basis.V.shape[1], rounding_share(len(basis.V))
        packing = Packing(s)
        Y, gains, stationarity = np.zeros((s, d)), np.zeros(d), np.zeros(d)
        agreement = np.full(d, np.nan)
        in_basis = basis.V.T @ self._frozen  # (s, k + found)
        Gamma, Psi, Lam = self._Gamma, self._Psi, self._Lam
        beside: list[_Beside] = []
        cores = LeftCores.of(basis.cores)
        pool = _Pool.of(search.warm.T, cores, packing)
        for k in range(d):
            E = packing.outer(in_basis.T)
            for meets in self._choices(Gamma, Psi, Lam):
                left = cores.less(meets.Lam, E)
                ascent = Ascent(left, self._weights, self._shrink, meets.costs)
                now = pool.gains(ascent, meets.Lam, in_basis)
                found, rest = self._next(ascent, left, search, k, pool, now, tol[k], packing)
                y, stationarity[k], agreement[k] = found
                forms = cores.exact[0] @ packing.outer(y[None])[0]  # h^T A_i h, exactly
                overlaps = (in_basis.T @ y) ** 2
                gains[k] = ascent.gains(forms - meets.Lam @ overlaps)
                # What a graph gives up is a difference, of which more than of squares is rounding.
                if gains[k] > floor + rounding * float(self._weights @ meets.costs):
                    break
            beside.append(meets)
            pool = rest
            remains = self._total + float(self._weights @ objective_of(Gamma, Psi, Lam))
            if remains <= self._job.nothing or gains[k] <= floor:
                gains[k] = stationarity[k] = 0.0
                break
            Y[:, k] = y
            Gamma = np.block([[Gamma, overlaps[:, None]], [overlaps[None], np.ones((1, 1))]])
            Psi = np.column_stack([Psi, forms])
            in_basis = np.column_stack([in_basis, y])
            Lam = self._rule.solve(Gamma, Psi, Lam)
        return RuledFit(Y, gains, stationarity, agreement, Psi, tuple(beside))

    def look_outside(self, fit: RuledFit) -> tuple[Array, Array]:
        """Return the gradients r_k, (n, d), and ||r_k|| / theta_k, (d,), in the full space."""
        basis = self._basis
        d, known = len(fit.gains), self._frozen.shape[1]
        active = int((fit.gains > 0).sum())
        Y = fit.Y[:, :active]
        H = basis.V @ Y
        both = np.column_stack([self._frozen, H])
        overlaps = both.T @ H  # (k + d, d)
        WT, N = np.zeros((len(fit.Psi), active)), np.zeros((active, known + active))
        theta = np.zeros(active)
        for k in range(active):
            Lam, costs = fit.beside[k].Lam, fit.beside[k].costs
            t = fit.Psi[:, known + k] - Lam @ overlaps[: known + k, k] ** 2
            lone = self._shrink(t)
            WT[:, k] = self._weights * np.where(costs < lone**2, lone, 0.0)
            N[k, : known + k] = WT[:, k] @ Lam
            theta[k] = WT[:, k] @ t
        r = basis.combine(WT, Y)  # sum_i w_i s(t_ik) A_i h_k
        r -= both @ (N.T * overlaps) + theta * H
        r -= H * (H * r).sum(axis=0)
        sizes = np.sqrt((r**2).sum(axis=0)) / np.maximum(theta, 1e-300)
        return np.pad(r, ((0, 0), (0, d - active))), np.pad(sizes, (0, d - active))

    def _choices(self, Gamma: Array, Psi: Array, Lam: Array) -> list[_Beside]:
        """Return what a further component may meet, the best first."""
        as_they_are = _Beside(Lam, np.zeros(len(Lam)))
        if not isinstance(self._rule, SparseLoadings):
            return [as_they_are]
        full = (Lam != 0).sum(axis=1) >= self._rule.max_nonzeros
        if not full.any():
            return [as_they_are]
        fewer = np.zeros_like(Lam)
        if self._rule.max_nonzeros > 1:
            rule = replace(self._rule, max_nonzeros=self._rule.max_nonzeros - 1)
            fewer = rule.solve(Gamma, Psi)
        costs = objective_of(Gamma, Psi, fewer) - objective_of(Gamma, Psi, Lam)
        swap = _Beside(
            np.where(full[:, None], fewer, Lam), np.where(full, np.maximum(costs, 0.0), 0.0)
        )
        return [swap, as_they_are]

    def _next(
        self,
        ascent: Ascent,
        left: LeftCores,
        search: Search,
        k: int,
        pool: _Pool,
        now: Array,
        tol: float,
        packing: Packing,
    ) -> tuple[tuple[Array, float, float], _Pool]:
        """Return component k (y, relative gradient, agreement), and what is left of the pool."""
        starts = np.zeros((0, packing.order))
        in_order = search.in_order or k < max(search.n_fixed, search.n_settled)
        stays = k < max(search.n_fixed, search.n_stayed)
        if in_order:
            starts = pool.Y[:1]
            pool = pool.only(np.arange(1, len(pool.Y)))
        elif len(pool.Y):
            best = np.argsort(-now, kind="stable")
            starts = pool.Y[best[: 1 if stays else search.n_pool]]
        if k < search.n_fixed:
            return (starts[0], np.nan, np.nan), pool
        n_known = len(starts)
        if not stays or n_known == 0:
            starts = np.vstack([starts, *self._further(search, k, left, packing)])
        y, size, agreement = _best_of(ascent, starts, n_known, max(tol, _ROUGH))
        if size > tol:
            y, _, size = ascent.maximise(y, tol)
        if not in_order and len(pool.Y):
            taken = np.abs(pool.Y @ y)
            # One at least, lest a component that moved far leaves a place too few.
            pool = pool.only(np.flatnonzero((taken < _SAME) & (taken < taken.max())))
        return (y, size, agreement), pool

    def _further(self, search: Search, k: int, left: LeftCores, packing: Packing) -> list[Array]:
        """Return starts from the mean core, the sum of squared cores, and at random, (b, s)."""
        starts: list[Array] = []
        spectral = search.by_mean or search.n_squares > 0
        R = left.written_out() if spectral else np.zeros((0, packing.size))
        if search.by_mean:
            mean = self._weights @ R / self._weights.sum()
            squares = np.einsum("ip,ip->i", R, R)
            if mean @ mean > NEGLIGIBLE**2 * float(self._weights @ squares) / self._weights.sum():
                values, vectors = eigen_small(packing.unpack(mean))
                best = np.argmax(values if self._rule.nonnegative else np.abs(values))
                starts.append(vectors[:, [best]].T)
        if search.n_squares or (search.by_mean and not starts):
            C = packing.unpack(R * np.sqrt(self._weights)[:, None]).reshape(-1, packing.order)
            vectors = eigen_small(C.T @ C)[1]
            starts.append(vectors[:, -max(search.n_squares, 1) :].T)
        if k < len(search.random):
            starts.append(search.random[k])
        return starts


def _best_of(
    ascent: Ascent, starts: Array, n_known: int, enough: float
) -> tuple[Array, float, float]:
    """Return the best place that the starts (b, s) lead to, (s,), and how many agree on it.

    Between them is its relative gradient, infinite where it is a start as it is. The first
    ``n_known`` starts were components before: without thresholds and costs, they would leave maxima
    that they are at, and come back, round after round.
    """
    if len(starts) == 0:
        s = starts.shape[1]
        starts = np.random.default_rng(s).standard_normal((4, s))
        starts /= np.sqrt((starts**2).sum(axis=1, keepdims=True))
    if len(starts) == 1:
        return starts[0], np.inf, np.nan
    parts = [(starts[:n_known], 0), (starts[n_known:], _EAGER)]
    ways = [ascent.climb(Y, n_eager, _STEPS - n_eager) for Y, n_eager in parts if len(Y)]
    climbed, gains = (np.concatenate(both) for both in zip(*ways, strict=True))
    order = np.argsort(-gains, kind="stable")
    finalists = climbed[order[:1]]
    for place in order[1:]:
        if len(finalists) == _FINALISTS or gains[place] < _CLOSE * gains[order[0]]:
            break
        if np.abs(finalists @ climbed[place]).max() < _SAME:
            finalists = np.vstack([finalists, climbed[place]])
    ends = [ascent.maximise(y, enough) for y in finalists]
    best = int(np.argmax([f for _, f, _ in ends]))
    y, _, size = ends[best]
    return y, size, float((np.abs(climbed @ finalists[best]) > _SAME).mean())
