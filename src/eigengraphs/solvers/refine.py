"""All components improved together, from where a greedy search left them.

The greedy search never returns to a component. Here all of them move. With loadings at their best
under a rule, what is left of the graphs depends on the components alone,

    phi = sum_i w_i min_lam ||A_i - sum_k lam_k S_k||^2,

and by the envelope theorem its gradient is that for fixed loadings, -2 c r_k with

    r_k = sum_i w_i Lam_ik (A_i - sum_j Lam_ij S_j) applied to the other side of component k.

As in :mod:`subspace` the problem is solved in a small basis, which grows by what the full-space
gradients have outside of it, until every ||r_k|| <= tol * theta_k. theta_k is what the objective
would rise by without component k. For one component, and for orthogonal ones, this is the measure
of the greedy search. Nothing nests: another number of components moves all of them.

A minimum need not exist: two components may come together while their loadings go to infinity with
opposite signs. So phi is bent upwards, once differentiable, where the inner products Gamma of the
components have small eigenvalues; and, off the diagonal, near a single vertex (:mod:`metric`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import linalg

from eigengraphs.solvers.basis import (
    CoreBasis,
    all_rounds,
    basis_width,
    grow,
    orthonormal,
    whole_pays,
)
from eigengraphs.solvers.geometry import Geometry, geometry_of, sides_of, unit_points
from eigengraphs.solvers.metric import AllEntries, Metric, bent_norm, bent_pushes
from eigengraphs.solvers.options import DEFAULTS, SolverOptions
from eigengraphs.solvers.rules import (
    LoadingRule,
    component_gram,
    condition,
    objective_of,
    rounding_share,
)
from eigengraphs.solvers.solution import Array, Progress, Sides, Watcher

__all__ = ["Refined", "lbfgs", "refine"]

_WAY = 4.0  # from where the bending begins to the bound
_DAMPING = 0.01  # of the curvature of each component alone
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Refined:
    """Components that were improved together."""

    sides: Sides  # (n, d) each, unit columns
    Psi: Array  # (m, d) <A_i, S_k>
    Lam: Array  # (m, d) loadings under the rule
    n_iter: int  # rounds
    n_passes: int
    stationarity: Array  # (d,) ||r_k|| / theta_k
    # "stationary", "precision", "stalled", "max_iter", "interrupted", "exhausted" (the start fits)
    stop_reason: str
    objective_before: float  # sum_i w_i ||A_i - sum_k Lam_ik S_k||^2, and the penalty if any
    objective_after: float
    condition: float  # of the components' inner products
    bound_met: bool  # they would go on towards dependence, and loadings to infinity

    @property
    def converged(self) -> bool:
        """Whether the components are as good as the tolerance or the arithmetic allows."""
        return self.stop_reason in ("stationary", "precision", "exhausted")


def refine(
    graphs: Any,
    sides: Sides,
    *,
    metric: Metric,
    rule: LoadingRule,
    weights: Array,
    tol: float,
    max_iter: int,
    keep: Literal["products", "cores"] = "products",
    watch: Watcher | None = None,
    options: SolverOptions = DEFAULTS,
) -> Refined:
    """Improve all components and the loadings together; never worse than the start.

    Parameters
    ----------
    graphs
        The graphs as an operator, undirected or directed.
    sides : (n, d) for each side
        Components to start from, without those that had nothing to fit.
    metric
        How entries count. Off the diagonal, the diagonals of the graphs must be zero.
    rule
        Which loadings there may be. The supports of sparse ones are held in a descent and chosen
        again after it, if that is better.
    weights : (m,)
        Weight of each graph in the objective.
    tol
        Stop when ||r_k|| <= tol * theta_k for every component.
    max_iter
        Most rounds: each is one or two reads of the graphs.
    keep
        What is kept of the graphs in a basis; see :mod:`basis`.
    watch
        Called after each round.
    options
        Tuned values. The objective is bent upwards from a quarter of ``max_condition`` on;
        components that start beyond it are driven apart.
    """
    rounds = _Rounds(graphs, sides, metric, rule, weights, tol, max_iter, keep, options)
    found: Refined = all_rounds(rounds, watch)
    return found


# ---------------------------------------------------------------- rounds


class _Rounds:
    """The state between rounds."""

    def __init__(
        self, graphs: Any, sides: Sides, metric: Metric, rule: LoadingRule, weights: Array,
        tol: float, max_iter: int, keep: Literal["products", "cores"], options: SolverOptions,
    ) -> None:  # fmt: skip
        n, m, d = graphs.n_vertices, graphs.n_graphs, sides[0].shape[1]
        self._metric, self._rule, self._weights = metric, rule, weights
        self._counted = metric.on(weights > 0)
        self._tol, self._max_iter, self._options = tol, max_iter, options
        self._total = float(weights @ graphs.squared_norms())
        Gamma = _search_gram(metric, sides)
        self._bend = _Bend(options.max_condition, Gamma, self._total)
        self._noise = float(weights @ graphs.rounding())
        linear = rule.linear and metric.degrees is None
        whole = whole_pays(m, n, graphs.directed, linear, options)
        products = keep == "products" and not whole
        degrees = self._counted.degrees or ()
        self._basis = CoreBasis(graphs, weights, products=products, degrees=degrees)
        none = np.zeros((n, 0))
        self._basis.append(tuple(np.eye(n) if whole else orthonormal(h, none) for h in sides))
        self._width = basis_width(m, keep == "products", graphs.directed, options)
        self._start = sides
        self._X = self._basis.points(sides)  # (d, coordinates)
        self._Lam = rule.solve(_row_gram(metric, sides, Gamma), self._basis.forms(self._X))
        self._history: list[Array] = []
        self._core_tol = np.inf  # the start is judged as it is
        self._n_iter = 0
        self._best, self._since = np.inf, 0
        self._r, self._theta, self._sizes = sides, np.zeros(d), np.zeros(d)
        self._moved, self._near, self._settled = False, False, True
        self.record: Refined | None = None  # the last complete round
        self._first: Refined | None = None

    def step(self) -> bool:
        """Descend in the core and look outside; return whether this was the last round."""
        basis, weights = self._basis, self._weights
        held, on = self._rule.held(self._Lam), weights > 0
        problem = _Problem(
            basis, self._counted, self._rule.held(self._Lam[on]), self._bend, self._options.memory
        )
        point = problem(self._X)
        if np.isfinite(self._core_tol):
            point = _descend(problem, point, self._core_tol)
        sides = self._start
        if self._n_iter:
            sides = tuple(h / np.sqrt((h**2).sum(axis=0)) for h in basis.components(point.X))
        Psi, Gamma = basis.forms(point.X), point.Gamma
        Gammas = _row_gram(self._metric, sides, Gamma)
        Lam = held.solve(Gammas, Psi)
        self._moved = not np.array_equal(point.X, self._X)
        self._X, self._Lam, self._settled = point.X, Lam, True
        if held is not self._rule:  # the next round holds other supports
            self._Lam = self._rule.solve(Gammas, Psi, Lam)
            gain = objective_of(Gammas, Psi, Lam) - objective_of(Gammas, Psi, self._Lam)
            self._settled = float(weights @ gain) <= self._tol * abs(point.value)
        weighted = weights[:, None] * Lam
        M = weighted.T @ Lam
        self._theta = _carried(M, Gamma)
        if basis.is_everything:
            self._r = basis.components(point.r)
        else:
            r = basis.combine(weighted, point.X)
            if point.pulls is None:
                self._r = _gradient(self._metric, r, sides, M + point.D)
            else:
                r = _gradient(AllEntries(), r, sides, point.D)
                self._r = self._counted.take_off(r, sides, point.pulls[0], sides, point.pulls[1])
        self._sizes = _relative(sum((side**2).sum(axis=0) for side in self._r), self._theta)
        # As in subspace.py: of a random vector a graph keeps 1 / sqrt(n).
        noise = self._noise / len(sides[0]) * np.diagonal(M)
        self._near = bool(
            (self._sizes <= np.maximum(10 * _relative(noise, self._theta), self._tol)).all()
        )
        reason = self._keep(sides, Psi, self._judge())
        self._n_iter += 1
        return reason != ""

    def _judge(self) -> str:
        """Return why to stop, or nothing; decide how exactly the core is to be solved next."""
        size, options = float(self._sizes.max()), self._options
        self._since = 0 if size < 0.9 * self._best else self._since + 1
        self._best = min(size, self._best)
        self._core_tol = max(0.0 if self._basis.is_everything else 0.1 * size, 0.3 * self._tol)
        # A little below: whoever takes the gradient again, in another order, finds it below tol.
        if size <= (0.9 if self._n_iter else 1.0) * self._tol and self._settled:
            return "stationary"
        if self._near and self._since >= options.patience:
            return "precision"
        if self._since >= options.stalled:
            return "stalled"
        return "max_iter" if self._n_iter >= self._max_iter else ""

    def _keep(self, sides: Sides, Psi: Array, reason: str) -> str:
        """Record the round, with what the loss itself says of it; return why to stop."""
        Gamma, Lam = self._metric.gram(sides), self._Lam
        if self._metric.hollow:  # the search saw longer components near a vertex
            Lam = self._rule.solve(Gamma, Psi, Lam)
        losses = float(self._weights @ self._rule.changes(Gamma, Psi, Lam))
        objective = max(self._total + losses, 0.0)
        nothing = rounding_share(len(sides[0])) * self._total
        if self._first is None and not reason and objective <= nothing:
            reason = "exhausted"
        before = objective if self._first is None else self._first.objective_before
        self.record = Refined(
            sides, Psi, Lam, self._n_iter, self._basis.n_passes + 1, self._sizes, reason, before,
            objective, condition(_search_gram(self._metric, sides, bent=False)),
            self._bend.met(_search_gram(self._metric, sides)),
        )  # fmt: skip
        self._first = self._first or self.record
        return reason

    def widen(self) -> bool:
        """Append what the gradients have outside of the basis; False if the core gave its best."""
        open_ones = self._sizes > 0.3 * self._tol
        r = tuple(side[:, open_ones] / self._theta[open_ones] for side in self._r)
        (self._X, *older), grew = grow(self._basis, r, [self._X, *self._history], self._width)
        self._history = [self._X, *older][: self._options.history] if grew else older
        # If the basis holds all there is, going on is for the core.
        return grew or self._moved or not self._settled or self._n_iter == 1

    def progress(self) -> Progress:
        """Return where the search stands."""
        found = int((self._sizes <= self._tol).sum())
        worst = float(self._sizes.max(initial=0.0))
        return Progress(self._n_iter - 1, None, worst, found, self._basis.n_passes + 1)

    def result(self, interrupted: bool) -> Refined:
        """Return the last complete round, or the start where that is better."""
        assert self.record is not None
        assert self._first is not None
        found, reason = self.record, self.record.stop_reason
        if interrupted:
            reason = "interrupted"
        elif not reason:  # the basis holds everything, and the core finds no way down
            reason = "precision" if self._near else "stalled"
        if found.objective_after > self._first.objective_after:
            found = self._first
        n_passes = self._basis.n_passes + 1
        return replace(found, n_iter=self.record.n_iter, n_passes=n_passes, stop_reason=reason)


# ---------------------------------------------------------------- the objective


def _search_gram(metric: Metric, sides: Sides, *, bent: bool = True) -> Array:
    """Return Gamma, (d, d), with the norms that the search sees: they do not vanish at a vertex.

    By degrees, whose mean over graphs is 1, it is that of all entries.
    """
    if metric.degrees is not None:
        return component_gram(sides[0], sides[-1])
    Gamma = metric.gram(sides)
    if metric.hollow and bent:
        np.fill_diagonal(Gamma, bent_norm((sides[0] ** 2 * sides[-1] ** 2).sum(axis=0)))
    return Gamma


def _row_gram(metric: Metric, sides: Sides, Gamma: Array) -> Array:
    """Return the inner products that loadings are solved with: Gamma, or those of each row."""
    return Gamma if metric.degrees is None else metric.gram(sides)


def _gradient(metric: Metric, r: Sides, sides: Sides, N: Array) -> Sides:
    """Return r less d/dS of <N, Gamma> over 2 c, (n, d) for each side, for symmetric ``N``."""
    alone = np.diagonal(N)
    return metric.take_off(r, sides, N - np.diag(alone), sides, alone)


def _carried(M: Array, Gamma: Array) -> Array:
    """Return theta_k = sum_i w_i Lam_ik^2 / (Gamma^-1)_kk, (d,), for M = sum_i w_i lam_i lam_i^T.

    1 / (Gamma^-1)_kk is the squared norm of what S_k has outside of the span of the others, so that
    theta_k is what the objective would rise by without component k. The whole norm would call
    loadings that cancel large, and any gradient small beside them.
    """
    ridge = 1e-10 * float(np.trace(Gamma))  # components may be the same
    inverse = linalg.inv(Gamma + ridge * np.eye(len(Gamma)), check_finite=False)
    return np.asarray(np.diagonal(M) / np.diagonal(inverse))


def _relative(squares: Array, theta: Array) -> Array:
    """Return sizes over theta_k, (d,); nothing for a component that carries nothing."""
    return np.divide(np.sqrt(squares), theta, out=np.zeros_like(theta), where=theta > 0)


class _Bend:
    """What is added to the objective where components are nearly dependent.

    strength * sum_e max(0, log(b / e))^2 over the eigenvalues e of Gamma, b = ||Gamma|| / begin.
    It keeps within the bound, or brings a start ``Gamma`` back.
    """

    def __init__(self, max_condition: float, Gamma: Array, total: float) -> None:
        # ||Gamma|| over the least eigenvalue: sqrt(d) for orthonormal components.
        self.begin = max(max_condition / _WAY, 2 * np.sqrt(len(Gamma)))
        self.end = max(_WAY * self.begin, 1.01 * self._ratio(Gamma))  # beyond it is infinite
        self.strength = 0.01 * total  # a hundred times what is to be gained beyond the usual bound

    def __call__(self, Gamma: Array) -> tuple[float, Array]:
        """Return its value, infinite out of bounds, and its gradient (d, d)."""
        size = float(linalg.norm(Gamma))
        values, vectors = linalg.eigh(Gamma, driver="evd", check_finite=False)
        values = np.maximum(values, _EPS * size)
        depth = np.log(np.maximum(size / self.begin / values, 1.0))
        value = self.strength * float(depth @ depth) if size <= self.end * values[0] else np.inf
        gradient = (vectors * (-2 * self.strength * depth / values)) @ vectors.T
        return value, gradient + 2 * self.strength * depth.sum() * Gamma / size**2

    def met(self, Gamma: Array) -> bool:
        """Tell whether Gamma is where the objective is bent, or a hundredth short of it."""
        return bool(self._ratio(Gamma) > 0.99 * self.begin)

    @staticmethod
    def _ratio(Gamma: Array) -> float:
        size = float(linalg.norm(Gamma))
        return size / max(float(linalg.eigvalsh(Gamma)[0]), _EPS * size)


@dataclass(frozen=True)
class _Point:
    """The objective at unit points."""

    X: Array  # (d, size)
    value: float  # bent, less sum_i w_i ||A_i||^2; infinite out of bounds
    r: Array  # (d, size) minus the gradient over 2 c
    M: Array  # (d, d) sum_i w_i Lam_ij Lam_ik
    D: Array  # (d, d) what else the gradient of the objective with respect to Gamma has
    Gamma: Array  # (d, d)
    push: Array  # (d, size) what the norms add to the curvature, and zero where they are not bent
    pulls: tuple[Any, Any] | None = None  # by degrees, what :meth:`core.InBasis.pulls` returns

    @property
    def stationarity(self) -> float:
        """Return the largest ||r_k|| / theta_k."""
        sizes = _relative((self.r**2).sum(axis=1), _carried(self.M, self.Gamma))
        return float(sizes.max(initial=0.0))


class _Problem:
    """phi on cores, bent."""

    def __init__(
        self, basis: CoreBasis, metric: Metric, rule: LoadingRule, bend: _Bend, memory: int
    ) -> None:
        self.geometry: Geometry = basis.geometry
        self.memory = memory
        linear = rule.linear and metric.degrees is None
        rows = basis.rows(np.zeros((len(basis.cores), 0)), linear=linear)
        self._R, self._weights = rows.R, rows.weights
        self._in_basis = metric.in_basis(basis.geometry, basis.bases, basis.degree_cores)
        self._basis, self._metric, self._rule, self._bend = basis, metric, rule, bend

    def _sides(self, X: Array) -> Sides:
        """Return columns with the metric's inner products: coordinates will do for all entries."""
        if self._metric.hollow:
            return self._basis.components(X)
        return tuple(part.T for part in sides_of(X, self.geometry.widths))

    def __call__(self, X: Array) -> _Point:
        """Return the objective at unit points ``X`` (d, size)."""
        sides = self._sides(X)
        Gamma = _search_gram(self._metric, sides)
        bent, D = self._bend(Gamma)
        push = np.zeros_like(X)
        if not np.isfinite(bent):
            return _Point(X, bent, push, D, D, Gamma, push)
        Psi = self._R @ self.geometry.outer(X).T
        images, Gammas = Gamma, Gamma
        if not self._in_basis.common:
            images, Gammas = self._in_basis.images_and_gram(X)
        Lam = self._rule.solve(Gammas, Psi)
        weighted = self._weights[:, None] * Lam
        M = weighted.T @ Lam
        value = float(self._weights @ self._rule.changes(Gammas, Psi, Lam)) + bent
        S = weighted.T @ self._R  # sum_i w_i Lam_ik C_i
        u = np.vstack([self.geometry.pull(S[k : k + 1], X[k]) for k in range(len(X))])
        if not self._in_basis.common:
            pulls = self._in_basis.pulls(X, images, weighted.T, self._met(Gammas, Lam))
            u = self._in_basis.take_off(u, images, *pulls)
            r = np.concatenate(_gradient(AllEntries(), self._sides(u), sides, D)).T
            return _Point(X, value, r, M, D, Gamma, push, pulls)
        if self._rule.penalty:  # as lengths change
            lengths = np.sqrt(np.diagonal(Gamma))
            D = D + np.diag(self._rule.penalty * np.abs(weighted).sum(axis=0) / lengths)
        gradient = _gradient(self._metric, self._sides(u), sides, M + D)
        if not self._metric.hollow:
            return _Point(X, value, np.concatenate(gradient).T, M, D, Gamma, push)
        push = _tangent(X, self._basis.points(tuple(bent_pushes(*sides))), self.geometry)
        return _Point(X, value, self._basis.points(gradient), M, D, Gamma, push)

    def _met(self, Gammas: Array, Lam: Array) -> Array:
        """Return the loadings that each component meets, (d, r, d)."""
        d = Lam.shape[1]
        met = np.repeat(Lam[None], d, axis=0)
        if self._rule.penalty:  # it pulls as a larger loading would, along the component itself
            lengths = np.sqrt(np.diagonal(Gammas, axis1=1, axis2=2))
            pulled = Lam + self._rule.penalty * np.sign(Lam) / lengths
            met[np.arange(d), :, np.arange(d)] = pulled.T
        return met


# ---------------------------------------------------------------- descent


def _tangent(X: Array, Z: Array, geometry: Geometry) -> Array:
    """Return Z without what would change the lengths of the sides of X."""
    both = zip(sides_of(X, geometry.widths), sides_of(Z, geometry.widths), strict=True)
    return np.hstack([z - x * (x * z).sum(axis=1, keepdims=True) for x, z in both])


def _descend(problem: _Problem, point: _Point, tol: float) -> _Point:
    """Return a point that is lower, with every ||r_k|| <= tol * theta_k if steps suffice.

    L-BFGS whose first guess of the Hessian is that of Gauss and Newton with the loadings
    eliminated. For graphs that the components fit well it is exact; what residuals add is learned
    from the steps.
    """
    geometry, history = problem.geometry, list[tuple[Array, Array]]()
    for _ in range(200):  # in one round; 20 to 50 are usual
        if point.stationarity <= tol:
            break
        hessian = _GaussNewton(point, geometry)
        direction = lbfgs(2 * geometry.c * point.r, history, hessian.solve)
        direction = _tangent(point.X, direction, geometry)
        after, length = _search(problem, point, direction)
        if after is None:
            if not history:
                break  # no way down that rounding leaves visible
            history = []
            continue
        X = after.X
        step = _tangent(X, length * direction, geometry)
        change = 2 * geometry.c * (_tangent(X, point.r, geometry) - after.r)
        history = [(_tangent(X, a, geometry), _tangent(X, b, geometry)) for a, b in history]
        if (step * change).sum() > 1e-10 * linalg.norm(step) * linalg.norm(change):
            history = [*history, (step, change)][-problem.memory :]
        point = after
    return point


def lbfgs(r: Array, history: list[tuple[Array, Array]], solve: Callable[[Array], Array]) -> Array:
    """Return the direction of L-BFGS (Nocedal's two loops), shaped as ``r``.

    Parameters
    ----------
    r
        Minus the gradient.
    history
        Steps and the changes of the gradient on them, shaped as ``r``, the latest last.
    solve
        Applies the inverse of the first guess of the Hessian.
    """
    shares: list[float] = []
    for step, change in reversed(history):
        shares.append(float(np.vdot(step, r) / np.vdot(step, change)))
        r = r - shares[-1] * change
    r = solve(r)
    for (step, change), share in zip(history, reversed(shares), strict=True):
        r = r + (share - float(np.vdot(change, r) / np.vdot(step, change))) * step
    return r


def _search(problem: _Problem, point: _Point, direction: Array) -> tuple[_Point | None, float]:
    """Return the first point along the direction that is low enough, and the step's length.

    None if there is no such point, or if the direction leads up.
    """
    c, armijo = problem.geometry.c, 1e-4
    descent = 2 * c * float((point.r * direction).sum())
    # Of loadings that cancel, the value is a small difference.
    rounding = 10 * _EPS * max(abs(point.value), float(np.trace(point.M)))
    length = 1.0
    while descent > 0 and length > 1e-8:
        after = problem(unit_points(point.X + length * direction, problem.geometry.widths))
        if after.value <= point.value - armijo * length * descent:
            return after, length
        # Where differences of values are rounding, the gradient tells (Hager and Zhang).
        further = 2 * c * float((after.r * direction).sum())
        if after.value <= point.value + rounding and -further <= (1 - 2 * armijo) * descent:
            return after, length
        length *= 0.4
    return None, 0.0


class _GaussNewton:
    """The Hessian of Gauss and Newton at a point, damped.

    With D_k the derivative of component k and M_kl = sum_i w_i Lam_ik Lam_il, it has the blocks
    2 M_kl D_k^T P D_l, where P takes off what loadings follow: the span of the components. Outside
    of the span of the points only 2 c M_kl <g_k, g_l> is left, one (d, d) matrix for each side;
    inside, points are short.
    """

    def __init__(self, point: _Point, geometry: Geometry) -> None:
        d, c, parts = len(point.X), geometry.c, sides_of(point.X, geometry.widths)
        alone = np.diagonal(point.M)
        # What carries nothing moves for the bend's sake alone, and not far.
        largest = max(float(alone.max()), 1e-300)
        self._scale = 1 / np.sqrt(np.where(alone > 1e-10 * largest, alone, largest))[:, None]
        scales = self._scale * self._scale.T  # a unit diagonal: then damping is the same for all
        pushed = np.flatnonzero(point.push.any(axis=1))
        within = sides_of(np.vstack([point.X, point.push[pushed]]), geometry.widths)
        self._Q, P = zip(*(linalg.qr(x.T, mode="economic") for x in within), strict=True)
        small = geometry_of(tuple(len(p) for p in P))
        both, unit, q = np.vstack(P).T, np.eye(small.size), small.size
        Y, push = both[:d], both[d:]
        # Components are of the second degree: differences are derivatives.
        D = np.stack([small.outer(y + unit) - small.outer(y - unit) for y in Y]) / 2  # (d, q, p)
        E = small.outer(Y)
        Gamma, follow, flat = E @ E.T, D @ E.T, D.reshape(d * q, -1)
        # A little more than Gamma: its inverse is less, and the difference stays positive. All
        # entries, though some may take no part, and all loadings: the sums must belong together.
        inverse = linalg.inv(Gamma + 1e-8 * np.eye(d), check_finite=False)
        F = follow.reshape(d * q, d)
        inner = (flat @ flat.T - F @ inverse @ F.T).reshape(d, q, d, q) / c
        inner = ((point.M * scales)[:, None, :, None] * inner).reshape(d * q, d * q)
        for k, y in zip(pushed, push, strict=True):
            inner[k * q : (k + 1) * q, k * q : (k + 1) * q] += np.outer(y, y)
        inner.flat[:: d * q + 1] += _DAMPING
        self._inner = linalg.cho_factor(inner, overwrite_a=True, check_finite=False)
        damping = _DAMPING * np.eye(d)
        self._outer = [
            linalg.cho_factor(point.M * scales * (x @ x.T) + damping, check_finite=False)
            for x in reversed(parts)
        ]
        self._geometry, self._small = geometry, small

    def solve(self, X: Array) -> Array:
        """Return Z, (d, size), with B Z = X for this Hessian B."""
        parts = sides_of(X * self._scale / (2 * self._geometry.c), self._geometry.widths)
        inside = np.hstack([x @ Q for x, Q in zip(parts, self._Q, strict=True)])
        solved = linalg.cho_solve(self._inner, inside.ravel()).reshape(inside.shape)
        widths = self._small.widths
        within = zip(sides_of(inside, widths), sides_of(solved, widths), strict=True)
        found = [
            z @ Q.T + linalg.cho_solve(outer, x - y @ Q.T)
            for x, (y, z), Q, outer in zip(parts, within, self._Q, self._outer, strict=True)
        ]
        return np.asarray(np.hstack(found) * self._scale)
