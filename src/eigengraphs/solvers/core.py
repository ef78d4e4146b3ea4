"""The greedy problem in a basis: all of it, with many starts, in milliseconds.

Rows stand for the graphs: packed cores of A_i in the basis, or, where loadings are linear in them,
a root of their second moment. With R_i = A_i - sum_j lam_ij S_j under the loadings so far,
component k maximizes

    f(S) = sum_i w_i max(0, gain(tau_i) - c_i),    tau_i = <R_i, S>_i / sqrt(q_i),  q_i = <S, S>_i,

where gain and c_i are the rule's. f is convex in the forms, so its linear model bounds it from
below: raising that raises f (the climb); Newton's method finishes. Geometry, metric and rule are
values: there is one search for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.geometry import Geometry
from eigengraphs.solvers.metric import CoreMetric
from eigengraphs.solvers.options import DEFAULTS, SolverOptions
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.rules import LoadingRule, objective_of

__all__ = ["CoreFit", "CoreProblem", "Rows", "Search", "rows_of", "solve_core"]

_EPS = float(np.finfo(np.float64).eps)
_MANY = 4  # times p: so many graphs are summed up in their second moment


# ---------------------------------------------------------------- rows that stand for graphs


@dataclass(frozen=True)
class Rows:
    """Graphs in a basis, or fewer rows with the same second moment."""

    R: Array  # (r, p) packed cores
    Psi: Array  # (r, k) forms with the components that are frozen
    weights: Array  # (r,)
    mean: Array | None = None  # (p + k,) of cores and forms, if the rows do not tell; times the
    # root of the weights' sum, as of the rows
    rounding: float = 0.0  # what rounding may be of a gain


def rows_of(packed: Array, Psi: Array, weights: Array, *, linear: bool) -> Rows:
    """Return rows for packed cores (m, p) and forms (m, k) of all graphs."""
    if not (weights > 0).all():
        on = weights > 0  # how many rows there are changes how starts see them
        packed, Psi, weights = packed[on], Psi[on], weights[on]
    m, p = packed.shape
    k = Psi.shape[1]
    if not linear or m <= p + k:
        return Rows(packed, Psi, weights)
    both = np.hstack([packed, Psi]) if k else packed
    mean = weights @ both / np.sqrt(weights.sum())
    scaled = both * np.sqrt(weights)[:, None]
    if m > _MANY * (p + k):
        return rows_of_moment(scaled.T @ scaled, mean, p)
    root: Any = linalg.qr(scaled, mode="r", check_finite=False)[0][: p + k]
    return Rows(np.ascontiguousarray(root[:, :p]), root[:, p:], np.ones(len(root)), mean)


def rows_of_moment(M: Array, mean: Array, p: int) -> Rows:
    """Return rows for a second moment of cores and forms, (p + k, p + k), and their mean."""
    root = root_of_moment(M)
    rounding = 10 * len(M) * _EPS * float(np.einsum("rp,rp->", root, root))
    return Rows(np.ascontiguousarray(root[:, :p]), root[:, p:], np.ones(len(root)), mean, rounding)


def root_of_moment(M: Array) -> Array:
    """Return R (r, p) with R^T R = M, r the rank, by Cholesky with pivoting."""
    factor, pivots, rank, _ = linalg.lapack.dpstrf(M, lower=0)
    root = np.zeros((rank, len(M)))
    root[:, pivots - 1] = np.triu(factor[:rank])
    return root


@dataclass(frozen=True)
class Remainder:
    """Rows less components, R - Lam E: to write it out takes as long as several products."""

    R: NDArray[Any]  # (r, p)
    Lam: Array  # (r, k)
    E: Array  # (k, p)

    def forms(self, Z: Array) -> Array:
        """Return inner products with packed components ``Z`` (b, p), (b, r)."""
        whole = (Z.astype(self.R.dtype, copy=False) @ self.R.T).astype(np.float64, copy=False)
        return np.asarray(whole - (Z @ self.E.T) @ self.Lam.T) if len(self.E) else whole

    def sums(self, A: Array) -> NDArray[Any]:
        """Return combinations of the rows by ``A`` (b, r), (b, p)."""
        whole = A.astype(self.R.dtype, copy=False) @ self.R
        return np.asarray(whole - (A @ self.Lam) @ self.E) if len(self.E) else whole

    def pull(self, geometry: Geometry, x: Array) -> Array:
        """Return u_i of every row, (r, size), at the point ``x``."""
        U = geometry.pull(self.R, x)
        if len(self.E):
            U -= self.Lam @ geometry.pull(self.E, x)
        return U

    def written_out(self) -> Array:
        """Return the rows, (r, p)."""
        return self.R - self.Lam @ self.E if len(self.E) else self.R


# ---------------------------------------------------------------- one component


@dataclass(frozen=True)
class _State:
    """The objective at a point."""

    f: float
    theta: float  # sum_i w_i s_i tau_i
    r: Array  # (size,) gradient over 2 c, tangent
    U: Array  # (r, size)
    a: Array  # (r,) w_i s_i / sqrt(q_i)
    b: Array  # (r,) w_i s_i tau_i / q_i
    bend: Array  # (r,) w_i s'_i
    t: Array  # (r,) forms
    norm: Any

    @property
    def size(self) -> float:
        """Relative gradient."""
        return _length(self.r) / self.theta if self.theta > 0 else 0.0


class Ascent:
    """f on residual rows, with ways up.

    Parameters
    ----------
    geometry, metric, rule
        What a component is, how entries count, which loadings there may be.
    rows
        What earlier components left.
    weights : (r,)
        Of the rows.
    costs : (r,), optional
        c_i.
    options
        Tuned values.
    """

    def __init__(
        self,
        geometry: Geometry,
        metric: CoreMetric,
        rule: LoadingRule,
        rows: Remainder,
        weights: Array,
        costs: Array | None,
        options: SolverOptions,
    ) -> None:
        self._geometry, self._metric, self._rule = geometry, metric, rule
        self._rows, self._w, self._costs, self._options = rows, weights, costs, options

    def values(self, X: Array) -> Array:
        """Return f at points (b, size), (b,)."""
        return self._look(X)[0]

    def _look(self, X: Array, *, eager: bool = False) -> tuple[Array, Array, Array]:
        """Return f, (b,), w_i s_i / sqrt(q_i), (b, r), and sum_i w_i s_i tau_i / q_i, (b,)."""
        root = np.sqrt(self._metric.norms(X))
        T = self._rows.forms(self._geometry.outer(X)) / root
        loading, gain, _ = self._rule.alone(T)
        if eager:  # where no graph takes the component, no way is up
            loading = np.abs(T) if self._rule.nonnegative else T
        elif self._costs is not None:
            on = gain > self._costs
            loading, gain = np.where(on, loading, 0.0), np.where(on, gain - self._costs, 0.0)
        A = loading / root * self._w
        return gain @ self._w, A, np.einsum("br,br->b", A, T / root)

    def climb(
        self, X: Array, n_steps: int, *, n_eager: int = 0, known: Array | None = None
    ) -> tuple[Array, Array]:
        """Take steps from points (b, size); return where to, and f there.

        f never falls in steps that are not eager, but where q is bent. With ``known`` (k, p), an
        orthonormal basis of earlier components, what rises is by how much the objective falls when
        all loadings are solved again, F = f / (1 - sum_j <S, known_j>^2): F <S, known_j>^2 is
        convex, too. Maxima that overlap with earlier components are hard to find by f.
        """
        geometry = self._geometry
        for step in range(n_steps):
            f, A, b = self._look(X, eager=step < n_eager)
            S = self._rows.sums(A)
            lift = self._metric.lift(X, b)
            if lift is not None:
                S = S + lift
            if known is not None:
                overlaps = geometry.outer(X) @ known.T
                S = S + (self.falls(X, f, known)[:, None] * overlaps) @ known
            X = geometry.climb(geometry.unpack(S), X, self._options.turns)
            X = unit_points(X, geometry.widths)  # to the last digit: f is that of unit vectors
        return X, self.values(X)

    def falls(self, X: Array, f: Array, known: Array) -> Array:
        """Return by how much the objective falls at points where f is ``f``, (b,), at most."""
        new = 1 - ((self._geometry.outer(X) @ known.T) ** 2).sum(axis=1)
        return np.asarray(f / np.maximum(new, self._options.overlap))

    def state(self, x: Array) -> _State:
        """Return f and its gradient at a point (size,)."""
        U = self._rows.pull(self._geometry, x)
        first = self._geometry.widths[0]
        t = U[:, :first] @ x[:first]
        norm = self._metric.norm(x)
        root = np.sqrt(norm.q)
        tau = t / root
        loading, gain, slope = self._rule.alone(tau)
        if self._costs is not None:
            on = gain > self._costs
            loading, slope = np.where(on, loading, 0.0), np.where(on, slope, 0.0)
            gain = np.where(on, gain - self._costs, 0.0)
        weighted = self._w * loading
        b = weighted * tau / norm.q
        a = weighted / root
        r = U.T @ a
        theta = float(weighted @ tau)
        if norm.slope is None:
            r -= theta * x
        else:
            r -= b.sum() * norm.slope if norm.slope.ndim == 1 else b @ norm.slope
        return _State(
            float(self._w @ gain), theta, self._tangent(r, x), U, a, b, self._w * slope, t, norm
        )

    def maximize(self, x: Array, tol: float) -> tuple[Array, _State]:
        """Go from a point to a maximum by Newton's method, to a relative gradient of ``tol``.

        Where f bends upwards eigenvalues are turned round, which leads away from saddle points.
        """
        options, now = self._options, self.state(x)
        if now.size > 1 or now.theta <= 0:  # far from any maximum, where Newton's steps are short
            higher = self.climb(x[None], options.climb)[0][0]
            there = self.state(higher)
            if there.f > now.f:
                x, now = higher, there
        concave = False  # a short step before: so it is here, and need not be looked at again
        for _ in range(options.newton):
            small = now.size <= tol
            if now.theta <= 0 or (small and (concave or tol >= options.rough)):
                break
            step, concave = self._step(x, now, small)
            if step is None:
                break
            concave = concave and _length(step) <= options.rough
            found = self._along(x, now, step, both_ways=small)
            if found is None:
                break
            x, now = found
        return x, now

    def _along(
        self, x: Array, now: _State, step: Array, *, both_ways: bool
    ) -> tuple[Array, _State] | None:
        """Return the first point along the step that is better, or one of a climb."""
        lengths = (1.0, -1.0, 0.1, -0.1) if both_ways else (1.0, 0.5, 0.1, 0.01, 1e-3, 1e-4)
        for length in lengths:
            trial = self._unit(x + length * step)
            there = self.state(trial)
            if there.f > now.f * (1 + 4 * _EPS):
                return trial, there
            # At the rounding of f the gradient decides.
            if there.f >= now.f * (1 - 100 * _EPS) and _length(there.r) < 0.5 * _length(now.r):
                return trial, there
        if not both_ways:
            trial = self.climb(x[None], 1)[0][0]
            there = self.state(trial)
            if there.f > now.f * (1 + 4 * _EPS):
                return trial, there
        return None

    def _step(self, x: Array, now: _State, small: bool) -> tuple[Array | None, bool]:
        """Return Newton's step, None at a maximum, and whether f is concave here."""
        K = self._minus_hessian(x, now)
        if small:
            K.flat[:: len(x) + 1] += self._options.curved * now.theta
        factor, info = linalg.lapack.dpotrf(K, lower=1)
        if info == 0:
            if small:
                return None, True
            return np.asarray(linalg.lapack.dpotrs(factor, now.r, lower=1)[0]), True
        values, vectors = np.linalg.eigh(K)
        if small:  # a saddle point, and the way up
            return 0.3 * vectors[:, 0], False
        scale = np.maximum(np.abs(values), 1e-3 * now.theta)
        return vectors @ ((vectors.T @ now.r) / scale), False

    def _minus_hessian(self, x: Array, now: _State) -> Array:
        """Return minus the Hessian of f over 2 c on the tangent space, (size, size).

        With g_i the slope of q_i, and b_i = (u_i - (t_i / q_i) g_i) / sqrt(q_i), f has the Hessian

            c sum w s' b b^T + hess(S) - c sum (a / q) (u g^T + g u^T) + 3 c sum (a t / q^2) g g^T
            - sum (a t / q) q''.

        Along the point itself there is no way to go: these directions get a unit of their own.
        """
        geometry, norm, c = self._geometry, now.norm, self._geometry.c
        q, g = norm.q, norm.slope
        S = geometry.unpack(self._rows.sums(now.a[None])[0].astype(np.float64, copy=False))
        K: Array = -geometry.hessian(S)
        B = now.U
        if g is None:
            K.flat[:: len(x) + 1] += now.theta
        else:
            G = np.broadcast_to(g, B.shape)
            ratio = np.broadcast_to(now.t / q, (len(B),))
            cross = (B * (now.a / q)[:, None]).T @ G
            K += c * (cross + cross.T)
            K -= 3 * c * (G * (now.a * ratio / q)[:, None]).T @ G
            K += norm.curvature * (now.a @ ratio)
            B = (B - ratio[:, None] * G) / np.sqrt(np.broadcast_to(q, (len(B),)))[:, None]
        BW = B * np.sqrt(now.bend)[:, None]
        K -= c * (BW.T @ BW)
        e = np.zeros((geometry.n_sides, len(x)))
        for j, (mine, part) in enumerate(
            zip(sides_of(x, geometry.widths), sides_of(e, geometry.widths), strict=True)
        ):
            part[j] = mine
        Ke = e @ K
        K -= e.T @ Ke
        K -= (Ke.T - e.T @ (Ke @ e.T + now.theta * np.eye(len(e)))) @ e
        return (K + K.T) / 2

    def _tangent(self, r: Array, x: Array) -> Array:
        widths = self._geometry.widths
        for part, mine in zip(sides_of(r, widths), sides_of(x, widths), strict=True):
            part -= (part @ mine) * mine
        return r

    def _unit(self, x: Array) -> Array:
        return unit_points(x, self._geometry.widths)


def unit_points(X: Array, widths: tuple[int, ...]) -> Array:
    """Return points (..., size) with every side of norm 1."""
    X = np.array(X)
    for part in sides_of(X, widths):
        part /= np.sqrt((part**2).sum(axis=-1, keepdims=True))
    return X


def sides_of(X: Array, widths: tuple[int, ...]) -> list[Array]:
    """Return the part of points (..., size) that belongs to each side, as views."""
    return [X] if len(widths) == 1 else [X[..., : widths[0]], X[..., widths[0] :]]


def cosines(X: Array, x: Array, widths: tuple[int, ...]) -> Array:
    """Return how alike points (b, size) are to ``x``: the least |cosine| of any side, (b,)."""
    parts = zip(sides_of(X, widths), sides_of(x, widths), strict=True)
    found: Array = np.min([np.abs(part @ mine) for part, mine in parts], axis=0)
    return found


def _length(x: Array) -> float:
    return float(np.sqrt(x @ x))  # a tenth of what scipy's takes on short vectors


# ---------------------------------------------------------------- all components


@dataclass(frozen=True)
class CoreProblem:
    """Rows, and what counts on them."""

    geometry: Geometry
    metric: CoreMetric
    rule: LoadingRule
    rows: Rows
    Gamma: Array  # (k, k) of the components that are frozen
    E: Array  # (k, p) what they are in the basis
    total: float  # sum_i w_i ||A_i||^2
    floor: float  # a gain below this is rounding
    nothing: float  # and so is a squared norm below this
    options: SolverOptions = DEFAULTS


@dataclass(frozen=True)
class Search:
    """Where the components are looked for."""

    warm: Array  # (b, size) points to start from
    in_order: bool  # component k starts from warm[k]; otherwise from the best that are left
    by_mean: bool = False  # and from the spectrum of the mean
    n_spectral: int = 0  # and from so many of the spectrum of the sum of squares
    random: Array | None = None  # (d, b, size) and from these, for each component
    n_fixed: int = 0  # the first so many components are those of warm, as they are
    n_stayed: int = 0  # and so many start from the best that is left alone
    combine: bool = True  # whether starts are tried on a few combinations of many rows

    @property
    def wide(self) -> bool:
        """Whether there are starts beside the warm ones."""
        return (
            self.by_mean
            or self.n_spectral > 0
            or (self.random is not None and self.random.size > 0)
        )


@dataclass(frozen=True)
class Stage:
    """What component k met, and what it makes of the rows."""

    Lam: Array  # (r, j) loadings of all components before it
    t: Array  # (r,) forms of what they leave
    W: Array  # (r,) w_i s_i / sqrt(q_i)
    theta: float


@dataclass(frozen=True)
class CoreFit:
    """Components of the rows."""

    X: Array  # (d, size) points, zero where nothing was left
    gains: Array  # (d,)
    stationarity: Array  # (d,) relative gradient within the core
    agreement: Array  # (d,) share of the starts that climbed to the same maximum; nan for one
    Psi: Array  # (r, k + d) forms of all components
    Gamma: Array  # (k + d, k + d)
    stages: tuple[Stage, ...]


def solve_core(problem: CoreProblem, d: int, search: Search, tol: Array) -> CoreFit:
    """Find d components of the rows, one after the other, to relative gradients ``tol`` (d,)."""
    return _Greedy(problem, d, search, tol).run()


class _Greedy:
    """The components so far, and the rows that they leave."""

    def __init__(self, problem: CoreProblem, d: int, search: Search, tol: Array) -> None:
        self._problem, self._d, self._search, self._tol = problem, d, search, tol
        rows = problem.rows
        self._Gamma, self._Psi, self._E = problem.Gamma, rows.Psi, problem.E
        self._Lam = problem.rule.solve(self._Gamma, self._Psi)
        self._pool = search.warm[search.warm.any(axis=1)]  # zero where nothing was left
        self._mixing = self._combinations()
        self._mixed = None if self._mixing is None else self._mixing.T @ rows.R
        self._mean_forms = np.zeros(0) if rows.mean is None else rows.mean[rows.R.shape[1] :]
        self._stages: list[Stage] = []

    def _combinations(self) -> Array | None:
        """Return orthonormal combinations of many rows, (r, b), about the largest.

        Starts are tried on these: what graphs have in common is in few combinations, and the rest
        adds about the same everywhere.
        """
        rows, count = self._problem.rows, self._problem.options.combined
        r = len(rows.R)
        if not (self._problem.rule.linear and self._search.wide and self._search.combine):
            return None
        if r <= 3 * count // 2:
            return None
        root = np.sqrt(rows.weights)[:, None]
        R = (rows.R * root).astype(np.float32)
        U = np.random.default_rng(r).standard_normal((r, count), dtype=np.float32)
        for _ in range(2):
            U = linalg.qr(R @ (R.T @ U), mode="economic", check_finite=False)[0]
        return np.asarray(U * root)

    def run(self) -> CoreFit:
        problem, d = self._problem, self._d
        rows, size = problem.rows, problem.geometry.size
        X, gains, stationarity = np.zeros((d, size)), np.zeros(d), np.zeros(d)
        agreement = np.full(d, np.nan)
        floor = max(problem.floor, rows.rounding)
        for k in range(d):
            left = problem.total + self._loss(self._Gamma, self._Psi, self._Lam)
            if left <= problem.nothing:
                break
            for Lam, costs in problem.rule.beside(self._Gamma, self._Psi, self._Lam):
                left_rows = Remainder(rows.R, Lam, self._E)
                ascent = self._ascent(left_rows, rows.weights, costs)
                x, now, agreement[k] = self._next(k, ascent, left_rows)
                given_up = 0.0 if costs is None else float(rows.weights @ costs)
                # What a graph gives up is a difference, of which more than of squares is rounding.
                if now.f > floor + 100 * size * _EPS * given_up:
                    break
            if now.f <= floor:
                break
            X[k], gains[k], stationarity[k] = x, now.f, now.size
            self._stages.append(Stage(Lam, now.t, now.a, now.theta))
            self._pool = self._untaken(x, k)
            self._add(x)
        return CoreFit(
            X, gains, stationarity, agreement, self._Psi, self._Gamma, tuple(self._stages)
        )

    # ------------------------------------------------------------ parts of a step

    def _ascent(self, rows: Remainder, weights: Array, costs: Array | None) -> Ascent:
        problem = self._problem
        return Ascent(
            problem.geometry, problem.metric, problem.rule, rows, weights, costs, problem.options
        )

    def _loss(self, Gamma: Array, Psi: Array, Lam: Array) -> float:
        """Return sum_i w_i of what the objective changes by with these loadings."""
        values = objective_of(Gamma, Psi, Lam) + self._problem.rule.costs(Gamma, Lam)
        return float(self._problem.rows.weights @ values)

    def _with(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Return Gamma and Psi with one component more, packed, and E of it."""
        z = self._problem.geometry.outer(x[None])[0]
        e = self._problem.metric.component(x)
        overlaps = self._E @ z
        k = len(overlaps)
        Gamma = np.empty((k + 1, k + 1))
        Gamma[:k, :k], Gamma[k, :k], Gamma[:k, k], Gamma[k, k] = (
            self._Gamma,
            overlaps,
            overlaps,
            e @ z,
        )
        return Gamma, np.column_stack([self._Psi, self._problem.rows.R @ z]), z, e

    def _add(self, x: Array) -> None:
        self._Gamma, self._Psi, z, e = self._with(x)
        self._E = np.vstack([self._E, e])
        if self._problem.rows.mean is not None:
            form = self._problem.rows.mean[: len(z)] @ z
            self._mean_forms = np.append(self._mean_forms, form)
        self._Lam = self._problem.rule.solve(self._Gamma, self._Psi, self._Lam)

    def _falls(self, X: Array, f: Array) -> Array:
        """Return by how much the objective falls with each point, all loadings solved again.

        It falls by more than f where components overlap. Among maxima of f, the one to keep is the
        one that leaves least.
        """
        problem, before = self._problem, self._loss(self._Gamma, self._Psi, self._Lam)
        falls = np.empty(len(X))
        for place, x in enumerate(X):
            Gamma, Psi, _, _ = self._with(x)
            after = problem.rule.solve(Gamma, Psi, self._Lam)
            falls[place] = before - self._loss(Gamma, Psi, after)
        return np.minimum(falls, f / problem.options.overlap)

    def _untaken(self, x: Array, k: int) -> Array:
        """Return the warm points that no component has taken."""
        if self._search.in_order or k < self._search.n_fixed or not len(self._pool):
            return self._pool[1:]
        near = cosines(self._pool, x, self._problem.geometry.widths)
        # One at least, lest a component that moved far leaves a place too few.
        left: Array = self._pool[(near < self._problem.options.same) & (near < near.max())]
        return left

    def _next(self, k: int, ascent: Ascent, rows: Remainder) -> tuple[Array, _State, float]:
        """Return component k, the state there, and the share of the starts that agree on it."""
        search, options, tol = self._search, self._problem.options, float(self._tol[k])
        if k < search.n_fixed:
            return self._pool[0], ascent.state(self._pool[0]), np.nan
        known, agreement = self._pool[:1], np.nan
        wide = search.wide and not (k < search.n_stayed and len(self._pool))
        if not search.in_order and len(self._pool) > 1:
            order = np.argsort(-ascent.values(self._pool), kind="stable")
            known = self._pool[order[: options.finalists if wide else 1]]
            if not wide and order[0] != 0:
                # The best that is left, and the first, which had the place before: both climb,
                # lest they change places round after round.
                both = np.vstack([known, self._pool[:1]])
                known = np.array([ascent.maximize(x, max(tol, options.rough))[0] for x in both])
        starts = self._further(k, rows) if wide else np.zeros((0, 0))
        if len(starts) == 0 and len(known) == 0:
            starts = self._elsewhere()
        if len(starts):
            known, agreement = self._explored(known, starts, ascent, rows)
        x = known[0]
        if len(known) > 1:
            x = known[int(np.argmax(self._falls(known, ascent.values(known))))]
        x, now = ascent.maximize(x, tol)
        if now.f <= self._problem.floor:
            # All forms are zero, as on one side of bipartite graphs: no way is up from there, but
            # from almost anywhere else.
            steps = options.climb
            others = ascent.climb(self._elsewhere(), steps, n_eager=steps // 2)
            x, now = ascent.maximize(others[0][np.argmax(others[1])], tol)
        return x, now, agreement

    def _elsewhere(self) -> Array:
        """Return a few points that have nothing to do with the graphs, (4, size)."""
        geometry = self._problem.geometry
        X = np.random.default_rng(geometry.size).standard_normal((4, geometry.size))
        return unit_points(X, geometry.widths)

    def _further(self, k: int, rows: Remainder) -> Array:
        """Return starts beside the warm ones, (b, size)."""
        search, geometry = self._search, self._problem.geometry
        starts = [np.zeros((0, geometry.size))]
        if search.by_mean or search.n_spectral:
            C = self._mixed_less(rows)
            if C is None:
                C = rows.written_out() * np.sqrt(self._problem.rows.weights)[:, None]
            mean = self._mean(rows) if search.by_mean else None
            # A mean that is rounding, as of centered graphs, has no spectrum of its own.
            if mean is not None and mean @ mean < 1e-12 * np.einsum("rp,rp->", C, C):
                mean = None
            count = max(search.n_spectral, mean is None)
            starts.append(geometry.spectral(geometry.unpack(C), mean, count))
        if search.random is not None and k < len(search.random):
            starts.append(search.random[k])
        return np.vstack(starts)

    def _mean(self, rows: Remainder) -> Array:
        """Return the mean of what is left, packed, (p,), times the root of the weights' sum."""
        given = self._problem.rows
        if given.mean is None:
            shares = given.weights / np.sqrt(given.weights.sum())
            return np.asarray(rows.sums(shares[None])[0])
        Lam = self._problem.rule.solve(self._Gamma, self._mean_forms[None])
        return np.asarray(given.mean[: rows.R.shape[1]] - (Lam @ self._E)[0])

    def _mixed_less(self, rows: Remainder) -> Array | None:
        """Return combinations of what is left of the rows, (b, p), if there are any."""
        if self._mixing is None or self._mixed is None:
            return None
        return np.asarray(self._mixed - (self._mixing.T @ rows.Lam) @ rows.E)

    def _orthonormal(self) -> Array | None:
        """Return an orthonormal basis of the components so far, (k, p), for linear loadings."""
        if not (self._problem.rule.linear and self._problem.options.climb_by_falls):
            return None
        if not len(self._E):
            return None
        values, vectors = np.linalg.eigh(self._Gamma)
        keep = values > 1e-13 * values[-1]
        return np.asarray((vectors[:, keep] / np.sqrt(values[keep])).T @ self._E)

    def _explored(
        self, known: Array, starts: Array, ascent: Ascent, rows: Remainder
    ) -> tuple[Array, float]:
        """Return the best few maxima that starts lead to, roughly, and how many agree on the best.

        Points that were components before climb as they are: without thresholds and costs, they
        would leave maxima that they are at, and come back, round after round.
        """
        options, widths = self._problem.options, self._problem.geometry.widths
        mixed = self._mixed_less(rows)
        if mixed is not None:
            none = Remainder(mixed.astype(np.float32), rows.Lam[:0], rows.E[:0])
            ascent = self._ascent(none, np.ones(len(mixed)), None)
        n_eager = 0 if self._problem.rule.linear else options.climb // 2
        ways = [ascent.climb(known, options.climb)] if len(known) else []
        ways.append(ascent.climb(starts, options.climb, n_eager=n_eager))
        known_ones = self._orthonormal()
        if known_ones is not None:
            ways.append(ascent.climb(starts, options.climb, known=known_ones))
        climbed, f = (np.concatenate(both) for both in zip(*ways, strict=True))
        if known_ones is not None:
            f = ascent.falls(climbed, f, known_ones)
        order = np.argsort(-f, kind="stable")
        finalists = climbed[order[:1]]
        for place in order[1:]:
            if len(finalists) == options.finalists or f[place] < options.close * f[order[0]]:
                break
            if cosines(finalists, climbed[place], widths).max() < options.same:
                finalists = np.vstack([finalists, climbed[place]])
        if len(known) and cosines(finalists, climbed[0], widths).max() < options.same:
            finalists = np.vstack([finalists, climbed[:1]])  # so that more starts never find less
        by_f = (np.arange(len(f)) < len(known) + len(starts)) & (f > 1e-6 * f.max())
        agree = cosines(climbed[by_f], finalists[0], widths) > options.same
        ends = np.array([ascent.maximize(x, options.rough)[0] for x in finalists])
        return ends, float(agree.mean()) if len(agree) > 1 else np.nan
