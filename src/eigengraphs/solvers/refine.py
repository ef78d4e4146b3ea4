"""All components improved together, from where a greedy search left them.

The greedy search never returns to a component. Here every column of H moves, with the loadings at
their best under a rule, to lower what is left of the graphs (:mod:`refine_objective`). As in
:mod:`block`, the problem is solved in a small basis V on the cores V^T A_i V
(:mod:`refine_descent`), and V is widened by what the full-space gradients have outside of it, until
every ||r_k|| <= tol * theta_k, theta_k = sum_i w_i Lam_ik^2 ||h_k h_k^T||^2. For one component, and
for orthogonal ones, this is the measure of the greedy search. Nothing nests: another number of
components moves all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.solvers.directions import basis_width, orthonormal
from eigengraphs.solvers.loadings import component_gram, condition, rounding_share
from eigengraphs.solvers.old_core import compress
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.products import Basis, CachedBasis, StreamedBasis
from eigengraphs.solvers.protocol import Array, Progress, SubspaceGraphs, Watcher
from eigengraphs.solvers.refine_descent import descend
from eigengraphs.solvers.refine_objective import (
    Bend,
    Objective,
    Point,
    carried,
    holding,
    relative,
    search_gram,
)
from eigengraphs.solvers.rules import (
    FreeLoadings,
    LoadingRule,
    PenalisedLoadings,
    SparseLoadings,
    SupportLoadings,
    objective_of,
)
from eigengraphs.solvers.whole import whole_pays

__all__ = ["MAX_CONDITION", "Refined", "refine"]

# Two columns are 0.8 degrees apart at this bound (1.6 where the bending begins), and loadings of
# opposite signs up to 70 times as large as what they explain together: in float32 three digits are
# left of them. What the best would be beyond is lower by about the inverse of the bound.
MAX_CONDITION = 1e4

_WHOLE = 2**22  # numbers of all graphs, packed, that are kept
_HISTORY = 2  # earlier solutions that a shortened basis keeps
_SPAN = 6  # columns of the basis at least, for each component
_STEPS = 200  # of the descent in one round
_CORE = 0.1  # of the last gradient: how exactly the core is solved
_PATIENCE = 3  # rounds without progress near the rounding of the products
_STALLED = 20  # and anywhere else
_PROGRESS = 1e-10  # relative fall of the objective in a round


@dataclass(frozen=True)
class Refined:
    """Components that were improved together."""

    H: Array  # (n, d), unit columns
    Psi: Array  # (m, d) <A_i, h_k h_k^T>
    Lam: Array  # (m, d) loadings under the rule
    n_iter: int  # rounds
    n_passes: int
    stationarity: Array  # (d,) ||r_k|| / theta_k
    # "stationary", "precision", "stalled", "max_iter", "interrupted", "exhausted" (the start fits)
    stop_reason: str
    objective_before: float  # sum_i w_i ||A_i - sum_k Lam_ik h_k h_k^T||^2, and the penalty if any
    objective_after: float
    condition: float  # of the components' inner products
    bound_met: bool  # they would go on towards dependence, and loadings to infinity

    @property
    def converged(self) -> bool:
        """Whether the components are as good as the tolerance or the arithmetic allows."""
        return self.stop_reason in ("stationary", "precision", "exhausted")


def refine(
    graphs: SubspaceGraphs,
    H: Array,
    *,
    weights: Array,
    rule: LoadingRule,
    tol: float,
    max_iter: int,
    cache: bool,
    hollow: bool = False,
    max_condition: float = MAX_CONDITION,
    watch: Watcher | None = None,
) -> Refined:
    """Improve all columns of H and the loadings together; never worse than the start.

    Parameters
    ----------
    graphs
        The graphs, through their products with blocks of columns.
    H : (n, d)
        Components to start from, without those that had nothing to fit.
    weights : (m,)
        Weight of each graph in the objective.
    rule
        What loadings are allowed. The supports of sparse ones are held in a descent and chosen
        again after it, if that is better.
    tol
        Stop when ||r_k|| <= tol * theta_k for every component.
    max_iter
        Most rounds: each is one or two reads of the graphs.
    cache
        Keep the products of the graphs with the basis: m n s numbers against every second pass.
    hollow
        The pairs s = t take no part in the loss; the diagonals of the graphs must be zero.
    max_condition
        Bound on the condition number of the components' inner products. The objective is bent
        upwards from a quarter of it on. Components that start beyond it are driven apart.
    watch
        Called after each round.
    """
    n, m = graphs.n_vertices, graphs.n_graphs
    if H.ndim != 2 or len(H) != n:
        raise InputError(f"components have shape {H.shape}, expected ({n}, d): a row a vertex")
    lengths = np.sqrt((H**2).sum(axis=0))
    if not (lengths > 0).all():
        raise InputError(
            f"component {int(np.argmin(lengths))} is zero; leave out those that fit nothing"
        )
    if H.shape[1] > (most := n * (n - 1 if hollow else n + 1) // 2):
        raise InputError(
            f"{H.shape[1]} components on {n} vertices are dependent, at most {most} are not; leave "
            "out those that fit nothing"
        )
    if not max_condition > 1:
        raise InputError(f"max_condition must be above 1, got {max_condition}")
    if H.shape[1] == 0:
        total = float(weights @ graphs.squared_norms())
        nothing = np.zeros((m, 0))
        return Refined(
            H, nothing, nothing, 0, 1, np.zeros(0), "stationary", total, total, 1.0, False
        )
    H = H / np.where(np.abs(lengths - 1) > 1e-12, lengths, 1.0)
    rounds = _Rounds(graphs, H, weights, rule, tol, max_iter, cache, hollow, max_condition)
    interrupted = False
    try:
        while True:
            last = rounds.step()
            if watch is not None:
                watch(rounds.progress())
            if last or not rounds.widen():
                break
    except KeyboardInterrupt:
        if rounds.record is None:
            raise
        interrupted = True
    return rounds.result(interrupted)


@dataclass(frozen=True)
class _Record:
    """One complete round."""

    H: Array
    Psi: Array
    Lam: Array
    objective: float
    stationarity: Array
    reason: str
    n_iter: int
    condition: float
    bound_met: bool


class _Rounds:
    """The state between rounds."""

    def __init__(
        self,
        graphs: SubspaceGraphs,
        H: Array,
        weights: Array,
        rule: LoadingRule,
        tol: float,
        max_iter: int,
        cache: bool,
        hollow: bool,
        max_condition: float,
    ) -> None:
        n, m, d = graphs.n_vertices, graphs.n_graphs, H.shape[1]
        self._weights, self._rule, self._hollow = weights, rule, hollow
        self._tol, self._max_iter = tol, max_iter
        self._penalty = rule.penalty if isinstance(rule, PenalisedLoadings) else 0.0
        self._total = float(weights @ graphs.squared_norms())
        self._noise = float(weights @ graphs.rounding())
        whole = whole_pays(m, n) and m * n * (n + 1) // 2 <= _WHOLE
        kind = CachedBasis if cache and not whole else StreamedBasis
        self._basis: Basis = kind(graphs, weights)
        self._basis.append(np.eye(n) if whole else orthonormal(H, np.zeros((n, 0))))
        self._width = max(basis_width(m, cache), _SPAN * d)
        self._bend = Bend.at(max_condition, search_gram(H, hollow=hollow), self._total)
        self._start = H
        self._Y = self._basis.V.T @ H
        self._Lam: Array | None = None
        self._history: list[Array] = []
        self._core_tol = np.inf  # the start is judged as it is
        self._n_iter = 0
        self._best, self._lowest, self._since = np.inf, np.inf, 0
        self._r, self._theta, self._sizes = np.zeros_like(H), np.zeros(d), np.zeros(d)
        self._rounding = np.zeros(d)
        self._moved, self._near, self._settled = False, False, True
        self.record: _Record | None = None
        self._first: _Record | None = None

    def step(self) -> bool:
        """Descend in the core and look outside; return whether this was the last round."""
        V = self._basis.V
        point, Psi, Lam = self._solve()
        self._moved = not np.array_equal(point.Y, self._Y)
        self._Y, self._Lam, self._settled = point.Y, Lam, True
        if isinstance(self._rule, SparseLoadings):  # the next round holds other supports
            self._Lam = self._rule.solve(point.Gamma, Psi, Lam)
            gain = objective_of(point.Gamma, Psi, Lam) - objective_of(point.Gamma, Psi, self._Lam)
            self._settled = float(self._weights @ gain) <= self._tol * abs(point.value)
        H = self._start if self._n_iter == 0 else V @ point.Y
        H = H / np.sqrt((H**2).sum(axis=0)) if self._n_iter else H
        M = (self._weights[:, None] * Lam).T @ Lam
        self._theta = carried(M, point.Gamma)
        # As in block.py: of a random vector a graph keeps 1 / sqrt(n).
        self._rounding = 10 * relative(
            np.sqrt(self._noise / len(V) * np.diagonal(M))[None], self._theta
        )
        if V.shape[1] == len(V):
            self._r = V @ point.r
        else:
            r = self._basis.combine(self._weights[:, None] * Lam, point.Y)
            r -= holding(H, point.N, hollow=self._hollow)
            self._r = r - H * (H * r).sum(axis=0)
        self._sizes = relative(self._r, self._theta)
        self._keep(H, Psi, self._Lam, self._judge(point.value))
        assert self.record is not None
        self._n_iter += 1
        return self.record.reason != ""

    def _solve(self) -> tuple[Point, Array, Array]:
        """Return the best point in the core, and Psi and loadings of all graphs there."""
        basis = self._basis
        packing = Packing(basis.V.shape[1])
        R, weights = basis.cores, self._weights
        free = isinstance(self._rule, FreeLoadings)
        if free:  # only R^T R matters
            R = compress(basis.cores, weights)[0]
            weights = np.ones(len(R))
        loadings = self._rule.solve
        if isinstance(self._rule, SparseLoadings):
            if self._Lam is None:
                Psi = basis.cores @ packing.outer(self._Y.T).T
                Gamma = search_gram(basis.V @ self._Y, hollow=self._hollow)
                self._Lam = self._rule.solve(Gamma, Psi)
            loadings = SupportLoadings(self._Lam != 0, self._rule.nonnegative).solve
        objective = Objective(
            R, weights, basis.V, loadings, self._penalty, self._bend, hollow=self._hollow
        )
        point = objective(self._Y)
        if np.isfinite(self._core_tol):
            point = descend(objective, point, self._core_tol, _STEPS)
        Psi = basis.cores @ packing.outer(point.Y.T).T
        return point, Psi, self._rule.solve(point.Gamma, Psi) if free else point.Lam

    def _judge(self, value: float) -> str:
        """Return why to stop, or nothing; decide how exactly the core is to be solved next."""
        size = float(self._sizes.max())
        fell = self._lowest - value > _PROGRESS * abs(value)
        self._since = 0 if size < 0.9 * self._best or fell else self._since + 1
        self._best, self._lowest = min(size, self._best), min(value, self._lowest)
        everything = self._basis.V.shape[1] == len(self._basis.V)
        self._core_tol = max((0.0 if everything else _CORE * size), 0.3 * self._tol)
        # A little below: whoever takes the gradient again, in another order, finds it below tol.
        if size <= (0.9 if self._n_iter else 1.0) * self._tol and self._settled:
            return "stationary"
        self._near = bool((self._sizes <= np.maximum(self._rounding, self._tol)).all())
        if self._near and self._since >= _PATIENCE:
            return "precision"
        if self._since >= _STALLED:
            return "stalled"
        return "max_iter" if self._n_iter >= self._max_iter else ""

    def _keep(self, H: Array, Psi: Array, Lam: Array, reason: str) -> None:
        """Record the round, with what the loss itself says of it."""
        Gamma = component_gram(H, hollow=self._hollow)
        if self._hollow:  # the search saw longer components near a vertex
            Lam = self._rule.solve(Gamma, Psi, Lam)
        losses = objective_of(Gamma, Psi, Lam)
        losses += 2 * self._penalty * np.abs(Lam) @ np.sqrt(np.diagonal(Gamma))
        bound_met = self._bend.met(search_gram(H, hollow=self._hollow))
        objective = max(self._total + float(self._weights @ losses), 0.0)
        if self._first is None and not reason and objective <= rounding_share(len(H)) * self._total:
            reason = "exhausted"
        self.record = _Record(
            H, Psi, Lam, objective, self._sizes, reason, self._n_iter, condition(Gamma), bound_met
        )
        if self._first is None:
            self._first = self.record

    def widen(self) -> bool:
        """Append what the gradients have outside of the basis; False if the core gave its best."""
        basis = self._basis
        open_ones = self._sizes > 0.3 * self._tol
        r = self._r[:, open_ones] / self._theta[open_ones]
        if basis.V.shape[1] + r.shape[1] > self._width and basis.V.shape[1] < len(basis.V):
            kept = orthonormal(
                np.column_stack([self._Y, *self._history]), np.zeros((len(self._Y), 0))
            )
            basis.rotate(kept)
            self._Y, *self._history = (kept.T @ Y for Y in (self._Y, *self._history))
        new = orthonormal(r, basis.V)[:, : len(basis.V) - basis.V.shape[1]]
        if new.shape[1] == 0:  # the basis holds all there is
            return self._moved or not self._settled or self._n_iter == 1
        basis.append(new)
        grow = ((0, new.shape[1]), (0, 0))
        self._Y, *older = (np.pad(Y, grow) for Y in (self._Y, *self._history))
        self._history = [self._Y, *older][:_HISTORY]
        return True

    def progress(self) -> Progress:
        """Return where the search stands."""
        found = int((self._sizes <= self._tol).sum())
        worst = float(self._sizes.max(initial=0.0))
        return Progress(self._n_iter - 1, None, worst, found, self._basis.n_passes + 1)

    def result(self, interrupted: bool) -> Refined:
        """Return the last complete round, or the start where that is better."""
        assert self.record is not None
        assert self._first is not None
        found, first = self.record, self._first
        if found.objective > first.objective:
            found = first
        reason = self.record.reason
        if interrupted:
            reason = "interrupted"
        elif not reason:  # the basis holds everything, and the core finds no way down
            reason = "precision" if self._near else "stalled"
        return Refined(
            found.H, found.Psi, found.Lam, self.record.n_iter, self._basis.n_passes + 1,
            found.stationarity, reason, first.objective, found.objective, found.condition,
            found.bound_met,
        )  # fmt: skip
