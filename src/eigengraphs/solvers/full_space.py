"""Components of graphs of which only some entries are observed, one after the other.

    minimize sum_i w_i || M_i o (A_i - sum_k lam_ik S_k) ||^2,      S_k = h_k h_k^T or h_k g_k^T,

M_i being 1 where graph i is observed. Every graph has inner products of its own, which no small
basis carries, so that components are searched in the full space. With R_i what earlier ones left,

    t_i = h^T R_i g,    q_i = (h^2)^T M_i g^2,    f = sum_i w_i max(0, gain(t_i / sqrt(q_i)) - c_i),

where gain and c_i are the rule's, is what a component takes off the objective; then all loadings
are solved again. Where h lives on entries that are missing q_i vanishes, and the loading may be
anything. For unit vectors, q_i counts as

    q_i                              from e_i on,
    (q_i^2 + e_i^2) / (2 e_i)        below, once differentiable and never under e_i / 2,

so that what graph i has to say fades with what it sees. e_i is a hundredth of the share of its
entries that graph i observes, which is about the q_i of a component spread over all vertices.

A climb is limited-memory BFGS with an exact search on every line: on (h + a p, g + a r), t_i is a
polynomial of degree 2 in a and q_i of degree 4, so that one pass tells f everywhere on it. Several
climbs share their passes. A component takes 10 to 30 passes, one of noise maybe 100. A pass reads
the graphs once, and the missing entries k + 2 times with b columns, b climbs being under way after
k components.

A point is an array (sides, n): h, or h and g. What belongs to a side of it is multiplied with the
other side: R_i g with h, and R_i^T h with g.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy import linalg
from scipy import optimize
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from eigengraphs.solvers.geometry import unit_points
from eigengraphs.solvers.metric import CONCENTRATED, Metric, bend
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.refine import Refined, lbfgs
from eigengraphs.solvers.rules import LoadingRule, Seen, condition, rounding_share, stage_loadings
from eigengraphs.solvers.solution import Array, Fit, Progress, Sides, Stage, Start, Watcher

__all__ = ["full_space", "lanczos", "refine_observed"]

_HOPE = 10.0  # a climb with relative gradient g may still get 1 + 10 g times as high
_EPS = float(np.finfo(np.float64).eps)


# ---------------------------------------------------------------- what earlier components left


class _Products(NamedTuple):
    """What a pass tells of a direction P at a point X, each (sides, m, n)."""

    RP: Array  # R_i P
    MXP: Array  # M_i (X o P)
    MPP: Array  # M_i P^2


class _Residuals:
    """R_i = M_i o (A_i - sum_k lam_ik S_k) as an operator, with a count of the passes.

    R_i v = A_i v - sum_k lam_ik h_k o (M_i (g_k o v)) costs a product with the graphs and, for k
    components, one of the mask with k columns.
    """

    def __init__(self, graphs: Any, S: Array, Lam: Array, weights: Array, n_passes: int) -> None:
        self._graphs, self._S, self._Lam, self._weights = graphs, S, Lam, weights
        self.n_passes, self.shape = n_passes, S.shape[:2]

    def multiply(self, B: Array) -> Array:
        """Return R_i B, (sides, m, b, n), for columns B (sides, n, b)."""
        # Rounded once: then the graphs and the components meet the same columns.
        B = B.astype(self._graphs.dtype, copy=False).astype(np.float64, copy=False)
        Y = np.array(self._graphs.products(*B)[::-1], dtype=np.float64)
        self.n_passes += 1
        for S, lam in zip(self._S.transpose(2, 0, 1), self._Lam.T, strict=True):
            Q = self.masked(S[:, :, None] * B)
            Y -= lam[:, None, None] * S[:, None, None] * Q
        return Y

    def masked(self, B: Array) -> Array:
        """Return M_i B, (sides, m, b, n), for columns B (sides, n, b)."""
        return np.array(self._graphs.mask_products(*B)[::-1])

    def products(self, pairs: Sequence[tuple[Array, Array]]) -> list[_Products]:
        """Return what is asked of each of some (X, P), all in one pass."""
        X, P = (np.stack(points, axis=2) for points in zip(*pairs, strict=True))
        RP, MXP, MPP = self.multiply(P), self.masked(X * P), self.masked(P**2)
        return [_Products(RP[:, :, j], MXP[:, :, j], MPP[:, :, j]) for j in range(len(pairs))]

    def mean(self) -> LinearOperator:
        """Return the weighted mean residual as an operator on vectors (n,)."""
        self.n_passes += 1
        return aslinearoperator(
            self._graphs.mean_residual(self._weights, tuple(self._S), self._Lam)
        )

    def squares(self, rng: np.random.Generator) -> Array:
        """Return about the top eigenvector of sum_i w_i R_i R_i^T, and what goes with it."""
        sides, n = self.shape
        root = np.sqrt(self._weights)[:, None]

        def top(Y: Array) -> Array:  # of the rows of some vectors of each graph, (m, b, n)
            rows = (root[:, :, None] * Y).reshape(-1, n)
            v0 = rng.standard_normal((n,))
            found: Array = lanczos(lambda v: rows.T @ (rows @ v), v0, DEFAULTS.memory)[1][-1]
            return found

        h = top(self.multiply(rng.standard_normal((sides, n, min(n, DEFAULTS.sketch))))[0])
        if sides == 1:
            return h[None]
        return np.array([h, top(self.multiply(np.array([h, h])[:, :, None])[1])])


def lanczos(multiply: Callable[[Array], Array], v: Array, n_steps: int) -> tuple[Array, Array]:
    """Return Ritz values of a symmetric operator in ascending order, and vectors (k, n)."""
    Q, AQ, largest = np.zeros((0, len(v))), np.zeros((0, len(v))), 0.0
    for _ in range(min(n_steps, len(v))):
        for _ in range(2):  # orthogonal to all that came before
            v = v - Q.T @ (Q @ v)
        size = float(linalg.norm(v))
        if size <= 1e-10 * largest:  # the vectors span all that the operator can reach
            break
        Q = np.vstack([Q, v / size])
        v = multiply(Q[-1])
        largest = max(largest, float(linalg.norm(v)))
        AQ = np.vstack([AQ, v])
    T = Q @ AQ.T
    values, vectors = np.linalg.eigh((T + T.T) / 2)
    return values, vectors.T @ Q


# ---------------------------------------------------------------- f at a point, and on a line


@dataclass(frozen=True)
class _Loss:
    """What f is made of besides a point."""

    rule: LoadingRule
    weights: Array  # (m,)
    floors: Array  # (m,) e_i > 0
    hollow: bool  # no pair s = t is observed, so that a single vertex has q = 0
    costs: Array | None  # (m,) c_i
    eager: bool = False  # where all graphs are below thresholds and costs, no way is up

    def look(self, t: Array, q: Array, u: Array) -> tuple[Array, ...]:
        """Return f, loadings of unit norm s, tau and what q counts as, with its slope.

        ``t`` and ``q`` are (..., m), and ``u`` = sum_s h_s^2 g_s^2 is (..., 1).
        """
        q, e = np.maximum(q, 0.0), self.floors
        size = np.where(q < e, (q**2 + e**2) / (2 * e), q)
        if self.hollow:
            size = size + bend(u)[0]
        tau = t / np.sqrt(size)
        if self.eager:
            s = np.maximum(tau, 0.0) if self.rule.nonnegative else tau
            gain = s**2
        else:
            s, gain, _ = self.rule.alone(tau)
            if self.costs is not None:
                on = gain > self.costs
                s, gain = np.where(on, s, 0.0), np.where(on, gain - self.costs, 0.0)
        return gain @ self.weights, s, tau, size, np.where(q < e, q / e, 1.0)


@dataclass(frozen=True)
class _Place:
    """A point and f there."""

    X: Array  # (sides, n), unit vectors
    RX: Array  # (sides, m, n)
    MXX: Array  # (sides, m, n)
    t: Array  # (m,)
    f: float
    theta: float  # sum_i w_i s_i tau_i
    r: Array  # (sides, n) gradient over 2 c, tangent; c is 2 for one side and 1 for two
    stationarity: float  # ||r|| / theta

    @classmethod
    def at(cls, X: Array, RX: Array, MXX: Array, loss: _Loss) -> _Place:
        """Return the place X from the products there."""
        t, q = RX[0] @ X[0], MXX[0] @ X[0] ** 2
        u = (X[0] ** 2 * X[-1] ** 2).sum(keepdims=True)
        f, s, tau, size, slope = loss.look(t, q, u)
        heavy = loss.weights * s
        b = heavy * tau / size
        r = np.einsum("i,jin->jn", heavy / np.sqrt(size), RX)
        r -= X * np.einsum("i,jin->jn", b * slope, MXX)
        if loss.hollow:
            r -= bend(u)[1] * b.sum() * X * X[::-1] ** 2
        r = _tangent(r, X)
        theta = float(heavy @ tau)
        return cls(X, RX, MXX, t, float(f), theta, r, float(linalg.norm(r)) / max(theta, 1e-300))

    def along(self, P: Array, products: _Products, a: float, loss: _Loss) -> _Place:
        """Return the place that X + a P points to."""
        X = self.X + a * P
        lengths = np.sqrt((X**2).sum(axis=1, keepdims=True))
        other = lengths[::-1, :, None]
        RX = (self.RX + a * products.RP) / other
        MXX = (self.MXX + (2 * a) * products.MXP + a**2 * products.MPP) / other**2
        return _Place.at(X / lengths, RX, MXX, loss)


class _Line:
    """f on X + a P for all a, P being tangent to the spheres at X."""

    def __init__(self, place: _Place, P: Array, products: _Products, loss: _Loss) -> None:
        X = place.X
        squares = [[X[j] ** 2, 2 * X[j] * P[j], P[j] ** 2] for j in (0, -1)]
        masked = [place.MXX[0], 2 * products.MXP[0], products.MPP[0]]
        self._t = _convolved([place.RX[0], products.RP[0]], [X[0], P[0]])
        self._q = _convolved(masked, squares[0])
        self._u = _convolved([x[None] for x in squares[1]], squares[0])
        self._lengths = (P**2).sum(axis=1)
        self._loss = loss

    def values(self, a: Array) -> tuple[Array, Array]:
        """Return f and its derivative at each of ``a`` (k,)."""
        a = a[:, None]
        scale, growth = np.ones_like(a), np.zeros_like(a)  # growth of the logarithm of the scale
        for length in (self._lengths[0], self._lengths[-1]):
            scale = scale * (1 + a**2 * length)
            growth = growth + 2 * a * length / (1 + a**2 * length)
        t, dt = _polynomial(self._t, a, np.sqrt(scale), growth / 2)
        q, dq = _polynomial(self._q, a, scale, growth)
        u, du = _polynomial(self._u, a, scale, growth)
        f, s, tau, size, slope = self._loss.look(t, q, u)
        dsize = slope * dq
        if self._loss.hollow:
            dsize = dsize + bend(u)[1] * du
        dtau = dt / np.sqrt(size) - tau * dsize / (2 * size)
        return f, 2 * ((s * dtau) @ self._loss.weights)

    def best(self, *, both_ways: bool = False) -> float:
        """Return a step to a maximum of f on the line: the highest, as far as a grid shows it.

        It is where the slope falls through 0: near a maximum, differences of f are rounding.
        ``both_ways``: a may be negative.
        """
        grid = np.concatenate([[0.0], 2.0 ** np.arange(-8, 7)])
        if both_ways:
            grid = np.unique(np.concatenate([-grid, grid]))
        f, slope = self.values(grid)
        tops = np.flatnonzero((slope[:-1] > 0) & (slope[1:] <= 0))  # between here and the next
        if not len(tops):
            return float(grid[np.argmax(f)])
        j = tops[np.argmax(np.maximum(f[tops], f[tops + 1]))]
        lo, hi, enough = float(grid[j]), float(grid[j + 1]), 1e-3 * slope[j]

        def rounded(a: float) -> float:  # an exact 0 is where brentq stops
            found = float(self.values(np.array([a]))[1][0])
            return 0.0 if abs(found) <= enough else found

        brentq: Any = optimize.brentq
        return float(brentq(rounded, lo, hi, maxiter=20, disp=False))


def _convolved(rows: Sequence[Array], columns: Sequence[Array]) -> Array:
    """Return the coefficients of (sum_j a^j rows_j) (sum_k a^k columns_k), (j + k - 1, m)."""
    found = np.zeros((len(rows) + len(columns) - 1, len(rows[0])))
    for j, row in enumerate(rows):
        for k, column in enumerate(columns):
            found[j + k] += row @ column
    return found


def _polynomial(c: Array, a: Array, scale: Array, growth: Array) -> tuple[Array, Array]:
    """Return the polynomial with coefficients ``c`` over ``scale``, and its derivative."""
    value, slope = np.zeros_like(a) + c[-1], np.zeros((1, c.shape[1]))
    for row in c[-2::-1]:
        slope = slope * a + value
        value = value * a + row
    value = value / scale
    return value, slope / scale - value * growth


def _tangent(P: Array, X: Array) -> Array:
    """Return P without what would change the length of a side of X."""
    return np.asarray(P - X * (P * X).sum(axis=1, keepdims=True))


# ---------------------------------------------------------------- climbs


@dataclass(frozen=True)
class _Job:
    """What does not change from component to component."""

    visible: Array  # (sides, n) 1 for vertices of which some graph observes something
    n_init: int
    tol: float
    max_iter: int
    nothing: float  # an f below this is none
    rounding: float  # a relative gradient below this may be rounding
    watch: Watcher | None


class _Climb:
    """One search from one start, step by step: whoever runs it makes the products it asks for.

    An eager one takes its first step without thresholds and costs.
    """

    def __init__(self, start: str, X: Array, loss: _Loss, job: _Job, *, eager: bool) -> None:
        self.start, self.n_iter, self.reason = start, 0, ""
        self.place: _Place | None = None
        self._X, self._loss, self._job = unit_points(X, X.shape[1:]), loss, job
        self._eager = eager and job.max_iter > 0
        self._P: Array | None = None  # without a direction, products at X itself are wanted
        self._steps: list[tuple[Array, Array]] = []
        self._best, self._best_iter = np.inf, 0  # the least gradient

    @property
    def f(self) -> float:
        """The objective now, 0 before the first products."""
        return 0.0 if self.place is None or self._eager else self.place.f

    @property
    def stationarity(self) -> float:
        """The relative gradient now."""
        return np.inf if self.place is None else self.place.stationarity

    @property
    def wants(self) -> tuple[Array, Array]:
        """The point and the direction for which products are wanted."""
        return self._X, self._X if self._P is None else self._P

    def go_on(self, products: _Products) -> None:
        """Take the step that the products allow; ``reason`` says when it was the last."""
        job, loss = self._job, replace(self._loss, eager=self._eager)
        before, fresh = self.place, self._P is None
        if before is None or self._P is None:
            place = _Place.at(self._X, products.RP, products.MPP, loss)
        else:
            a = _Line(before, self._P, products, loss).best()
            place = before.along(self._P, products, a, loss)
            step, change = place.X - before.X, before.r - place.r
            sizes = linalg.norm(step) * linalg.norm(change)
            if np.vdot(step, change) > 1e-8 * sizes:  # f bends down
                self._steps = [*self._steps, (step, change)][-DEFAULTS.memory :]
            self.n_iter += 1
        if self._eager and (self.n_iter or place.theta <= job.nothing):
            self._eager, self._steps, fresh = False, [], True
            place = _Place.at(place.X, place.RX, place.MXX, self._loss)
        self.place, self._X = place, place.X
        reason = "" if self._eager else self._why_to_stop(place)
        if reason and fresh:
            self.reason = reason
        # What was summed up over the steps is computed again before it says that this is the end.
        self._P = None if reason else self._direction(place)

    def _why_to_stop(self, place: _Place) -> str:
        """Return why this may be the end, or nothing."""
        job = self._job
        if place.stationarity < self._best:
            self._best, self._best_iter = place.stationarity, self.n_iter
        if place.f <= job.nothing:
            return "flat"
        if place.stationarity <= job.tol:
            return "stationary"
        if self.n_iter >= job.max_iter:
            return "max_iter"
        if self.n_iter - self._best_iter < DEFAULTS.stalled:
            return ""
        return "precision" if place.stationarity <= job.rounding else "stalled"

    def _direction(self, place: _Place) -> Array:
        """Return where to look next, (sides, n): tangent to the spheres, and up."""
        scale = 1 / place.theta  # the length of a power iteration
        if self._steps:
            step, change = self._steps[-1]
            scale = float(np.vdot(step, change) / np.vdot(change, change))
        return _tangent(lbfgs(place.r, self._steps, lambda r: scale * r), place.X)


def _way_up(
    residuals: _Residuals, place: _Place, loss: _Loss, rng: np.random.Generator
) -> Array | None:
    """Return a point beyond a saddle point, up from it, or None at a maximum.

    A few Lanczos steps, one pass each, look for a tangent vector along which f bends up. How it
    bends is the difference of two gradients, which the products of one line tell.
    """
    X, step = place.X, 1e-4

    def hessian(v: Array) -> Array:
        q = v.reshape(X.shape)
        products = residuals.products([(X, q)])[0]
        ahead, behind = (place.along(q, products, a, loss).r for a in (step, -step))
        return _tangent((ahead - behind) / (2 * step), X).ravel()

    start = _tangent(rng.standard_normal(X.shape), X).ravel()
    values, vectors = lanczos(hessian, start, min(DEFAULTS.memory, X.size - len(X)))
    if not len(values) or values[-1] <= DEFAULTS.curved * place.theta:
        return None
    P = vectors[-1].reshape(X.shape)
    a = _Line(place, P, residuals.products([(X, P)])[0], loss).best(both_ways=True)
    return unit_points(X + a * P, X.shape[1:])


# ---------------------------------------------------------------- one component


class _Search:
    """The search for one component, from several starts together."""

    def __init__(
        self, residuals: _Residuals, loss: _Loss, job: _Job, k: int, rng: np.random.Generator
    ) -> None:
        self._residuals, self._loss, self._job, self._k = residuals, loss, job, k
        self._rng = rng

    def run(self, kind: Start | Array, left: float) -> tuple[_Climb, float]:
        """Return the highest of the climbs, and the share of them that end there."""
        climbs = [self._climb(name, X) for name, X in self._starts(kind, left)]
        best = self._together(climbs)
        if best.reason == "flat":
            # All forms are zero, as on one side of bipartite graphs: no way is up from there, but
            # from almost anywhere else.
            climbs = [self._climb("random", self._anywhere()) for _ in range(DEFAULTS.finalists)]
            best = self._together(climbs)
        there = [c for c in climbs if self._alike(c, best)]
        agreement = len(there) / len(climbs) if len(climbs) > 1 else float("nan")
        if any(c.start == "random" for c in there):  # which has no symmetry to keep
            return best, agreement
        while best.place is not None and best.reason == "stationary":
            beyond = _way_up(self._residuals, best.place, self._loss, self._rng)
            if beyond is None:
                break
            other = self._together([self._climb(best.start, beyond, eager=False)])
            if other.f <= best.f * (1 + 4 * _EPS):  # or rounding would lead on
                break
            other.n_iter += best.n_iter
            best = other
        return best, agreement

    def _anywhere(self) -> Array:
        shape = self._residuals.shape
        return unit_points(self._rng.standard_normal(shape), shape[1:])

    def _climb(self, name: str, X: Array, *, eager: bool = True) -> _Climb:
        # A vertex that nobody sees would keep what a start has there: f does not depend on it.
        seen = X * self._job.visible
        if not seen.any(axis=1).all():
            seen = self._anywhere() * self._job.visible
        eager = eager and not self._loss.rule.linear and name != "given"
        return _Climb(name, seen, self._loss, self._job, eager=eager)

    def _together(self, climbs: list[_Climb]) -> _Climb:
        best = climbs[0]
        while under_way := [c for c in climbs if not c.reason]:
            answers = self._residuals.products([c.wants for c in under_way])
            for c, answer in zip(under_way, answers, strict=True):
                c.go_on(answer)
            best = max((c for c in climbs if c.reason != "given up"), key=lambda c: c.f)
            for c in under_way:  # those that are where the best one is, or will not get as high
                hope = c.f * (1 + _HOPE * c.stationarity)
                lower = c.n_iter >= DEFAULTS.climb and hope < best.f
                if c is not best and not c.reason and (lower or self._alike(c, best)):
                    c.reason = "given up"
            if self._job.watch is not None:
                passes = self._residuals.n_passes
                self._job.watch(Progress(best.n_iter, self._k, best.stationarity, self._k, passes))
        return best

    def _alike(self, a: _Climb, b: _Climb) -> bool:
        """Tell whether two climbs are at one component; h and -g make another than h and g."""
        cosines = (a.wants[0] * b.wants[0]).sum(axis=1)
        both = float(cosines[0] * cosines[-1])
        return (both if self._loss.rule.nonnegative else abs(both)) > DEFAULTS.same

    def _starts(self, kind: Start | Array, left: float) -> list[tuple[str, Array]]:
        """Return named points from which to search; see :func:`full_space`."""
        found: list[tuple[str, Array]] = []
        n_random = self._job.n_init - 1
        if isinstance(kind, np.ndarray):
            found.append(("given", kind))
        elif kind == "random":
            n_random += 1
        else:
            value, X = self._top_of_mean()
            says_something = value > 1e-4 * np.sqrt(left / self._loss.weights.sum())
            if says_something:
                found.append(("svd", X))
            if kind == "auto":
                n_random += DEFAULTS.random
            if kind == "auto" or not says_something:
                found.append(("squares", self._residuals.squares(self._rng)))
        return found + [("random", self._anywhere()) for _ in range(n_random)]

    def _top_of_mean(self) -> tuple[float, Array]:
        """Return about the top singular value of the mean residual, and its vectors."""
        mean, v0 = self._residuals.mean(), self._anywhere()[0]
        if self._residuals.shape[0] == 1:
            values, vectors = lanczos(mean.matvec, v0, DEFAULTS.memory)
            size = values if self._loss.rule.nonnegative else np.abs(values)
            top = int(np.argmax(size))
            return float(size[top]), vectors[top][None]
        g = lanczos(lambda v: mean.rmatvec(mean.matvec(v)), v0, DEFAULTS.memory)[1][-1]
        h = mean.matvec(g)
        value = float(linalg.norm(h))
        return value, np.array([h / value if value > 0 else v0, g])


# ---------------------------------------------------------------- all components


def full_space(
    graphs: Any,
    d: int,
    *,
    metric: Metric,
    rule: LoadingRule,
    weights: Array,
    init: Start | Array,
    n_init: int,
    tol: float,
    max_iter: int,
    seed: np.random.SeedSequence,
    resume: Fit | None = None,
    watch: Watcher | None = None,
) -> Fit:
    """Find d components greedily.

    Parameters
    ----------
    graphs
        The graphs and their masks as an operator, or :class:`~.operators.means.GroupGraphs`.
    d
        Number of components.
    metric
        Which entries count where they are observed. Without the diagonal, a component may shrink to
        a single vertex and its star, and q is bent upwards as in :mod:`metric`.
    rule
        Which loadings there may be.
    weights : (m,)
        Weight of each graph in the objective.
    init
        Where a component is searched from: "svd", the top singular vectors of the mean residual
        over the graphs that observe an entry, or, where that is nothing, of the sum of squared
        residuals; "random"; "auto", from both of these and at random; or an array (n, any),
        directed (2, n, any), one column per component, with "auto" for those beyond its columns.
    n_init
        Starts of each component; further ones are random. One more with "auto".
    tol
        Stop a component when ||r|| <= tol * theta.
    max_iter
        Most steps of a component.
    seed
        Child k starts component k, so d does not change the first components.
    resume
        A fit whose components are kept as they are.
    watch
        Called after each step.
    """
    n, m, sides = graphs.n_vertices, graphs.n_graphs, 2 if graphs.directed else 1
    total = float(weights @ graphs.squared_norms())
    noise = float(weights @ graphs.rounding())
    observed = graphs.observed()
    counts = graphs.mask_products(*np.ones((sides, n, 1)))[::-1]
    visible = np.array([(weights > 0) @ seen[:, 0] > 0 for seen in counts], dtype=np.float64)
    floors = DEFAULTS.fades * np.where(observed > 0, observed, 1.0)
    rounding = 100 * float(np.sqrt(np.finfo(graphs.dtype).eps))
    job = _Job(visible, n_init, tol, max_iter, _EPS**2 * total, rounding, watch)
    given = np.zeros((sides, n, 0)) if isinstance(init, str) else np.reshape(init, (sides, n, -1))
    S, Psi, stages = np.zeros((sides, n, 0)), np.zeros((m, 0)), list[Stage]()
    if resume is not None:
        S = np.array([resume.H] if resume.G is None else [resume.H, resume.G])
        Psi, stages = resume.Psi, list(resume.stages)
    on = sum(stage.stop_reason != "exhausted" for stage in stages)  # those that are come last
    n_passes = 1  # the norms
    interrupted = False
    try:
        Gammas = graphs.grams(*S[:, :, :on])
        seen = Seen(metric.gram(tuple(S[:, :, :on])), observed)
        Lam = stage_loadings(rule, Gammas, Psi[:, :on], seen)[-1]
        for k, own in enumerate(seed.spawn(d)[len(stages) :], len(stages)):
            start: Start | Array = given[:, :, k] if k < given.shape[2] else "auto"
            start = init if isinstance(init, str) else start
            stage, X = Stage(0, "exhausted", 0.0, 0.0, "none"), None
            left = total + float(weights @ rule.changes(Gammas, Psi[:, :on], Lam))
            if on == k and left > max(rounding_share(n) * total, noise):
                for beside, costs in rule.beside(Gammas, Psi, Lam, seen):
                    residuals = _Residuals(graphs, S, beside, weights, n_passes)
                    loss = _Loss(rule, weights, floors, metric.hollow, costs)
                    rng = np.random.default_rng(own)
                    best, agreement = _Search(residuals, loss, job, k, rng).run(start, left)
                    n_passes = residuals.n_passes
                    # What a graph gives up is a difference, more of which is rounding.
                    given_up = 0.0 if costs is None else float(weights @ costs)
                    floor = n * noise + 100 * n * _EPS * given_up
                    if best.place is not None and best.f > floor:
                        X, t = best.place.X, best.place.t
                        stage = Stage(
                            best.n_iter, best.reason, best.stationarity, best.f, best.start,
                            agreement,
                        )  # fmt: skip
                        break
            if X is None:
                X = unit_points(np.random.default_rng(own).standard_normal((sides, n)), (n,))
                psi = graphs.forms(*X[:, :, None])[:, 0]
                n_passes += 1
                S = np.concatenate([S, X[:, :, None]], axis=2)
            else:
                S = np.concatenate([S, X[:, :, None]], axis=2)
                # Orthogonal to nothing: the components before it have a part of the form.
                pairs = [side * x[:, None] for side, x in zip(S, X, strict=True)]
                row = graphs.mask_forms(pairs[0], pairs[-1])
                psi = t + np.einsum("ij,ij->i", beside, row[:, :-1])
                Gammas = np.concatenate([Gammas, row[:, None, :-1]], axis=1)
                Gammas = np.concatenate([Gammas, row[:, :, None]], axis=2)
                seen = Seen(metric.gram(tuple(S)), observed)
                Lam = rule.solve(Gammas, np.column_stack([Psi, psi]), Lam, seen)
                on += 1
            Psi = np.column_stack([Psi, psi])
            stages.append(stage)
    except KeyboardInterrupt:
        if not stages:
            raise
        interrupted = True
    H, G = S[0, :, : len(stages)], S[1, :, : len(stages)] if sides == 2 else None
    return Fit(H, Psi[:, : len(stages)], tuple(stages), n_passes, interrupted=interrupted, G=G)


# ---------------------------------------------------------------- all components together


def refine_observed(
    graphs: Any,
    sides: Sides,
    *,
    metric: Metric,
    rule: LoadingRule,
    weights: Array,
    tol: float,
    max_iter: int,
    watch: Watcher | None = None,
) -> Refined:
    """Improve all components together where entries are missing; see :func:`refine.refine`.

    On complete graphs that are exactly a sum of orthogonal components, greedy ones are these. Where
    entries are missing, M_i o S_j and M_i o S_k are not orthogonal, and an early component carries
    a trace of the later ones, which goes when all move together, with the loadings at their best.
    By limited-memory BFGS; an evaluation reads the graphs once and the missing entries d times.
    Which loadings may differ from zero is held in a descent, and chosen again after it. There need
    be no minimum: components may become collinear. The best place is taken at which the condition
    of their inner products is at most ``DEFAULTS.max_condition``, or the start if there is none.

    Parameters
    ----------
    graphs, metric, rule, weights, watch
        As for :func:`full_space`.
    sides : (n, d) for each side
        Components to start from, without those that had nothing to fit.
    tol
        Stop when the gradient is this small beside what the components explain.
    max_iter
        Most iterations.
    """
    problem = _Together(graphs, np.array(sides), metric, rule, weights, watch)
    reason = ""
    try:
        while problem.n_iter < max_iter and problem.descend(tol, max_iter):
            pass
    except KeyboardInterrupt:
        if problem.best is None:
            raise
        reason = "interrupted"
    before = problem.first or problem.at(np.array(sides))
    found = problem.best or before
    sizes = np.sqrt((found.slope**2).sum(axis=(0, 1)))
    ended = "max_iter" if problem.n_iter >= max_iter else "precision"
    reason = reason or ("stationary" if sizes.max() <= tol else ended)
    size = condition(metric.gram(tuple(found.S)))
    # Near the bound with a slope that leads on: there it was stopped.
    bound_met = bool(sizes.max() > 1e3 * tol and size > 0.1 * DEFAULTS.max_condition)
    return Refined(
        tuple(found.S), found.Psi, found.Lam, problem.n_iter, problem.n_passes, sizes, reason,
        before.f * problem.unit, found.f * problem.unit, size, bound_met,
    )  # fmt: skip


class _All(NamedTuple):
    """All components, and the objective over what they explain at first."""

    S: Array  # (sides, n, d)
    f: float
    slope: Array  # (sides, n, d) its gradient over 2 c
    Gammas: Array  # (m, d, d)
    Psi: Array  # (m, d)
    Lam: Array  # (m, d)


class _Together:
    """The objective of all components, with the loadings at their best, and its gradient."""

    def __init__(
        self, graphs: Any, S: Array, metric: Metric, rule: LoadingRule, weights: Array,
        watch: Watcher | None,
    ) -> None:  # fmt: skip
        self._graphs, self._metric, self._rule, self._weights = graphs, metric, rule, weights
        self._watch, self._start, self._observed = watch, S, graphs.observed()
        self._total = float(weights @ graphs.squared_norms())
        # With the diagonal unobserved, components do not go on towards a single vertex.
        self._most = max(CONCENTRATED + 0.01, _concentration(S))
        self._held: LoadingRule | None = None  # with the supports of this descent
        self.unit = 0.0  # what the components explain at first
        self.first: _All | None = None
        self.best: _All | None = None  # where the objective is lowest within the bounds
        self.n_iter, self.n_passes, self._beyond = 0, 0, 0

    def descend(self, tol: float, max_iter: int) -> bool:
        """Go down from the best place; return whether other supports lead further."""
        S = self._start if self.best is None else self.best.S
        before = np.inf if self.best is None else self.best.f
        left, memory = max_iter - self.n_iter, 2 * DEFAULTS.memory
        options = {"maxiter": left, "maxfun": 4 * left, "maxcor": memory, "ftol": 4 * _EPS,
                   "gtol": tol / np.sqrt(S.size)}  # fmt: skip

        def count(_: Array) -> None:
            self.n_iter += 1
            if self._watch is not None and self.best is not None:
                size = float(np.sqrt((self.best.slope**2).sum(axis=(0, 1)).max()))
                self._watch(Progress(self.n_iter, None, size, 0, self.n_passes))
            if self._beyond > memory:  # all that it learns from is beyond the bounds
                raise StopIteration

        minimize: Any = optimize.minimize
        minimize(self, S.ravel(), jac=True, method="L-BFGS-B", callback=count, options=options)
        # Or the supports that were chosen again brought nothing.
        if self._held is self._rule or self.best is None or self.best.f >= before - 1e-12:
            return False
        Lam = self._rule.solve(
            self.best.Gammas, self.best.Psi, self.best.Lam, self._seen(self.best.S)
        )
        if np.array_equal(Lam != 0, self.best.Lam != 0):
            return False
        self._held = self._rule.held(Lam)
        return True

    def _seen(self, S: Array) -> Seen:
        return Seen(self._metric.gram(tuple(S)), self._observed)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return the objective and its gradient, for vectors of any length."""
        S = x.reshape(self._start.shape)
        lengths = np.sqrt((S**2).sum(axis=1, keepdims=True))
        here = self.at(S / lengths)
        self.first = self.first or here
        bounded = condition(self._metric.gram(tuple(here.S))) <= DEFAULTS.max_condition and not (
            self._metric.hollow and _concentration(here.S) > self._most
        )
        self._beyond = 0 if bounded else self._beyond + 1
        if bounded and (self.best is None or here.f < self.best.f):
            self.best = here
        return here.f, ((4 / len(S)) * here.slope / lengths).ravel()

    def at(self, S: Array) -> _All:
        """Return the objective and its gradient at unit vectors."""
        graphs, d, seen = self._graphs, S.shape[2], self._seen(S)
        Y = np.array(graphs.products(*S)[::-1], dtype=np.float64)  # R_i S from below on
        self.n_passes += 1
        Psi, Gammas = np.einsum("iks,sk->ik", Y[0], S[0]), graphs.grams(*S)
        if self._held is None:
            self._held = self._rule.held(stage_loadings(self._rule, Gammas, Psi, seen)[-1])
        Lam = self._held.solve(Gammas, Psi, seen=seen)
        # The penalty pulls as a larger loading would, along the component itself.
        lengths = np.sqrt(np.maximum(np.diagonal(Gammas, axis1=1, axis2=2), 1e-300))
        pulled = Lam + self._held.penalty * np.sign(Lam) / lengths
        for k in range(d):  # with itself and those after it, (sides, m, d - k, n)
            Q = np.array(graphs.mask_products(*(S[:, :, k:] * S[:, :, k : k + 1]))[::-1])
            loadings = np.column_stack([pulled[:, k], *[Lam[:, k]] * (d - k - 1)])
            Y[:, :, k:] -= loadings[:, :, None] * S[:, None, None, :, k] * Q
            after = slice(k + 1, d)
            Y[:, :, k] -= np.einsum("ij,asj,aijs->ais", Lam[:, after], S[:, :, after], Q[:, :, 1:])
        slope = _tangent(-np.einsum("ik,jiks->jsk", self._weights[:, None] * Lam, Y), S)
        explained = -float(self._weights @ self._held.changes(Gammas, Psi, Lam))
        self.unit = self.unit or explained or 1.0
        f = (self._total - explained) / self.unit
        return _All(S, f, slope / self.unit, Gammas, Psi, Lam)


def _concentration(S: Array) -> float:
    """Return the largest sum_s h_s^2 g_s^2 of any component."""
    return float((S[0] ** 2 * S[-1] ** 2).sum(axis=0).max(initial=0.0))
