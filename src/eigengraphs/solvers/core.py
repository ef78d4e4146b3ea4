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
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.operators.degrees import Members
from eigengraphs.solvers import ascent
from eigengraphs.solvers.ascent import Climb, Core, Entries
from eigengraphs.solvers.geometry import Geometry, Symmetric, sides_of, unit_points
from eigengraphs.solvers.options import DEFAULTS, SolverOptions
from eigengraphs.solvers.rules import LoadingRule
from eigengraphs.solvers.solution import Array

__all__ = [
    "MANY", "CoreFit", "CoreProblem", "InBasis", "Rows", "Search", "alike", "rows_of",
    "solve_core",
]  # fmt: skip

_EPS = float(np.finfo(np.float64).eps)
MANY = 4  # times p: so many graphs are summed up in their second moment


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
    if m > MANY * (p + k):
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


# ---------------------------------------------------------------- one component


class State(NamedTuple):
    """f at a point."""

    x: Array  # (size,)
    f: float
    theta: float  # sum_i w_i s_i tau_i
    size: float  # ||r|| / theta
    q: float
    r: Array  # (size,) gradient over 2 c, tangent
    t: Array  # (r,) forms
    a: Array  # (r,) w_i s_i / sqrt(q_i)


class Ascent:
    """f on residual rows, and ways up; compiled in :mod:`ascent`.

    Parameters
    ----------
    problem
        What a component is, how entries count, which loadings there may be.
    R : (r, p)
        Packed cores.
    Lam, E : (r, k), (k, p)
        Loadings on earlier components, and what these are: R - Lam E is what they leave.
    weights, costs : (r,)
        Of the rows, and what each gives up for a further component.
    known : (k, p)
        Orthonormal basis of the earlier components; (0, p) where loadings are not linear.
    """

    def __init__(
        self, problem: CoreProblem, R: Array, Lam: Array, E: Array, weights: Array,
        costs: Array | None, known: Array,
    ) -> None:  # fmt: skip
        self.core = problem.like._replace(
            R=np.ascontiguousarray(R), Lam=np.ascontiguousarray(Lam), E=np.ascontiguousarray(E),
            w=weights, costs=np.zeros(len(R)) if costs is None else costs,
        )  # fmt: skip
        self._options, self._known = problem.options, known

    def climb(self, X: Array, n_steps: int, modes: Any = Climb.PLAIN) -> tuple[Array, Array]:
        """Take steps from points (b, size); return where to, and the decrease there, (b,)."""
        options, X, f = self._options, np.array(X, order="C"), np.empty(len(X))
        modes = np.full(len(X), modes) if np.ndim(modes) == 0 else modes
        ascent.climb(
            self.core, X, modes, n_steps, options.turns, self._known, options.overlap, f
        )  # fmt: skip
        return X, f

    def decreases(self, X: Array) -> Array:
        """Return by how much the objective falls at points (b, size), (b,).

        For linear loadings it is with all loadings solved again, otherwise f.
        """
        return self.climb(X, 0)[1]

    def state(self, x: Array) -> State:
        """Return f and its gradient at a point (size,)."""
        return self.maximize(x, 0.0, 0)

    def maximize(self, x: Array, tol: float, n_newton: int | None = None) -> State:
        """Go from a point to a maximum, to a relative gradient of ``tol``; return what is there."""
        options, x, count = self._options, np.array(x, order="C"), len(self.core.w)
        r, t, a, numbers = np.empty(len(x)), np.empty(count), np.empty(count), np.empty(4)
        ascent.maximize(
            self.core, x, tol, options.newton if n_newton is None else n_newton, options.climb,
            options.turns, options.rough, options.curved, r, t, a, numbers,
        )  # fmt: skip
        f, theta, size, q = numbers.tolist()
        return State(x, f, theta, size, q, r, t, a)


# ---------------------------------------------------------------- all components


@dataclass(frozen=True)
class InBasis:
    """A metric in bases; q and its derivatives are compiled, in :mod:`ascent`.

    The *image* of a component is what stands for <S, .>_i: a packed core, (p,), where the metric is
    one for all graphs, and W_i y beside W_i z, (w, size), where degrees make it differ.
    """

    geometry: Geometry
    kind: Entries
    left: Any = None  # what its functions need, as in :class:`ascent.Core`
    right: Any = None
    members: Members | None = None  # by degrees: of which rows W_i are

    @property
    def common(self) -> bool:
        """Whether the metric is one for all graphs."""
        return self.members is None

    def image(self, x: Array, z: Array) -> Array:
        """Return the image of the point ``x`` (size,), whose component is packed in ``z`` (p,)."""
        if self.kind == Entries.ALL:
            return z
        if self.kind == Entries.BY_DEGREES:
            both = zip((self.left, self.right), sides_of(x, self.geometry.widths), strict=False)
            return np.hstack([Symmetric(len(y)).pull(W, y) for W, y in both])
        s = self.left.shape[1]
        on = (self.left @ x[:s]) * (self.right @ x[-self.right.shape[1] :])
        packed: Array = self.geometry.pack(self.left.T @ (on[:, None] * self.right))
        return z - packed

    def inner(self, images: Array, x: Array, z: Array) -> Array:
        """Return <S_j, S>_i of components with ``images`` and that of ``x``, (k,) or (r, k)."""
        if self.members is None:
            return np.asarray(images @ z)
        widths = self.geometry.widths
        both = zip(sides_of(images, widths), sides_of(x, widths), strict=True)
        forms = [(mine @ y).T for mine, y in both]
        return self.members.means(forms[0] * forms[-1])

    def images_and_gram(self, X: Array) -> tuple[Array, Array]:
        """Return images and Gamma of points (d, size), (d, d) or (r, d, d)."""
        Z = self.geometry.outer(X)
        images = np.stack([self.image(x, z) for x, z in zip(X, Z, strict=True)])
        rows = [self.inner(images, x, z) for x, z in zip(X, Z, strict=True)]
        return images, np.stack(rows, axis=-2)

    def pulls(self, X: Array, images: Array, W: Array, Lam: Array) -> tuple[Any, Any]:
        """Return what components and their loadings take off the gradient at points (d, size).

        Parameters
        ----------
        X : (d, size)
            Points; the last of the images are theirs.
        images : (k, p) or (k, w, size)
            Of all components.
        W : (d, r)
            Factors of each row.
        Lam : (d, r, k)
            Loadings that each point meets, its own among them.

        Returns
        -------
        N, own
            (d, k) and (d,), sums over rows for the other components and for itself. By degrees,
            (d, w, k) and (d, w) for each side, times the inner products of the other side.
        """
        places = np.arange(len(X)), np.arange(len(images) - len(X), len(images))
        if self.members is None:
            N = np.einsum("di,dik->dk", W, Lam)
            own = N[places]
            N[places] = 0.0
            return N, own
        widths, members = self.geometry.widths, self.members
        rows = (members.share * W[:, members.of_row])[:, :, None] * Lam[:, members.of_row]
        found = []
        for mine, points in reversed(
            list(zip(sides_of(images, widths), sides_of(X, widths), strict=True))
        ):
            N = rows * np.einsum("kis,ds->dik", mine, points)
            own = N[places[0], :, places[1]]
            N[places[0], :, places[1]] = 0.0
            found.append((N, own))
        return tuple(N for N, _ in found), tuple(own for _, own in found)

    def take_off(self, u: Array, images: Array, N: Any, own: Any) -> Array:
        """Return u (d, size) less what :meth:`pulls` says; where inner products differ by graph."""
        found, d = np.array(u), len(u)
        widths = self.geometry.widths
        for part, mine, rows, itself in zip(
            sides_of(found, widths), sides_of(images, widths), N, own, strict=True
        ):
            part -= np.einsum("dik,kis->ds", rows, mine, optimize=True)
            part -= np.einsum("di,dis->ds", itself, mine[-d:])
        return found

    def left_of(self, R: Array, Lam: Array, images: Array) -> tuple[Array, Array, Array]:
        """Return rows, loadings and packed components whose difference is what is left of ``R``."""
        if self.members is None:
            return R, Lam, images
        for lam, image in zip(Lam.T, images, strict=True):
            R = R - lam[:, None] * self.members.means(self.geometry.outer(image))
        return R, Lam[:, :0], np.zeros((0, R.shape[1]))


@dataclass(frozen=True)
class CoreProblem:
    """Rows, and what counts on them."""

    geometry: Geometry
    metric: InBasis
    rule: LoadingRule
    rows: Rows
    Gamma: Array  # (k, k) or (r, k, k) of the components that are frozen
    images: Array  # (k, p) or (k, r, size), what they are in the basis
    total: float  # sum_i w_i ||A_i||^2
    floor: float  # a gain below this is rounding
    nothing: float  # and so is a squared norm below this
    options: SolverOptions = DEFAULTS

    @property
    def linear(self) -> bool:
        """Whether loadings are linear in the forms: rows of a root may stand for graphs."""
        return self.rule.linear and self.metric.common

    @cached_property
    def like(self) -> Core:
        """Geometry, metric and rule as numbers, without rows."""
        none, widths, members = np.zeros((0, 0)), self.geometry.widths, self.metric.members
        lower, upper = self.rule.bounds()
        return Core(
            none, none, none, np.zeros(0), np.zeros(0), lower, upper, float(self.rule.penalty),
            widths[0], sum(widths[1:]), int(self.metric.kind), self.metric.left, self.metric.right,
            np.zeros(0, np.int64) if members is None else members.of_row,
            np.zeros(0) if members is None else members.share,
        )  # fmt: skip


@dataclass(frozen=True)
class Search:
    """Where the components are looked for."""

    warm: Array  # (b, size) points to start from
    in_order: bool  # component k starts from warm[k]; otherwise from the best that are left
    by_mean: bool = False  # starts beside: from the spectrum of the mean
    random: Array | None = None  # (d, b, size) and from these, for each component
    n_fixed: int = 0  # the first so many components are those of warm, as they are
    n_stayed: int = 0  # and so many start from the best that is left alone
    combine: bool = True  # whether starts are tried on a few combinations of many rows

    @property
    def wide(self) -> bool:
        """Whether there are starts beside the warm ones."""
        return self.by_mean or (self.random is not None and self.random.size > 0)


@dataclass(frozen=True)
class Stage:
    """What component k met, and what it makes of the rows."""

    Lam: Array  # (r, j) loadings of all components before it
    t: Array  # (r,) forms of what they leave
    W: Array  # (r,) w_i s_i / sqrt(q_i)
    q: Any  # a number, or (r,) by degrees
    theta: float
    to_form: Array  # (j + 1,) for linear loadings: forms of all components so far become t


@dataclass(frozen=True)
class CoreFit:
    """Components of the rows."""

    X: Array  # (d, size) points, zero where nothing was left
    gains: Array  # (d,)
    stationarity: Array  # (d,) relative gradient within the core
    agreement: Array  # (d,) share of the starts that climbed to the same maximum; nan for one
    Psi: Array  # (r, k + d) forms of all components
    Gamma: Array  # (k + d, k + d) or (r, k + d, k + d)
    images: Array  # (k + d, p) or (k + d, w, size)
    stages: tuple[Stage, ...]


def alike(X: Array, Y: Array, s: int) -> Array:
    """Return how alike points (b, size) and (c, size) are: the least |cosine| of a side, (b, c)."""
    left, right = np.abs(X[:, :s] @ Y[:, :s].T), np.abs(X[:, s:] @ Y[:, s:].T)
    return np.minimum(left, right) if X.shape[1] > s else left


def solve_core(problem: CoreProblem, d: int, search: Search, tol: Array) -> CoreFit:
    """Find d components of the rows, one after the other, to relative gradients ``tol`` (d,)."""
    return _Greedy(problem, d, search, tol).run()


class _Greedy:
    """The components so far, and the rows that they leave."""

    def __init__(self, problem: CoreProblem, d: int, search: Search, tol: Array) -> None:
        self._problem, self._d, self._search, self._tol = problem, d, search, tol
        self._linear = problem.linear
        rows, k = problem.rows, len(problem.images)
        (r, p), most = rows.R.shape, k + d
        self._k = k  # components so far, of which arrays below hold as many rows or columns
        self._Gamma = np.zeros((*problem.Gamma.shape[:-2], most, most))
        self._Psi, self._mean_forms = np.empty((r, most)), np.zeros(most)
        self._images = np.empty((most, *problem.images.shape[1:]))
        self._Gamma[..., :k, :k], self._Psi[:, :k] = problem.Gamma, rows.Psi
        self._images[:k] = problem.images
        if rows.mean is not None:
            self._mean_forms[:k] = rows.mean[p:]
        self._Lam = problem.rule.solve(problem.Gamma, rows.Psi)
        # For linear loadings, combinations B (k', k) of the components that are orthonormal, B E.
        self._B, self._BE, self._n_known = np.zeros((most, most)), np.empty((most, p)), 0
        self._dependent = 10 * most * _EPS  # of a component is new: less is rounding
        if self._linear and k:
            values, vectors = np.linalg.eigh(problem.Gamma)
            keep = values > self._dependent * values[-1]
            self._n_known = int(keep.sum())
            self._B[: self._n_known, :k] = (vectors[:, keep] / np.sqrt(values[keep])).T
            self._BE[: self._n_known] = self._B[: self._n_known, :k] @ problem.images
        self._pool = search.warm[search.warm.any(axis=1)]  # zero where nothing was left
        self._mixing = self._combinations()
        self._mixed = None if self._mixing is None else self._mixing.T @ rows.R
        self._stages: list[Stage] = []
        self._left = problem.total  # of the objective, with the components so far

    def _combinations(self) -> Array | None:
        """Return orthonormal combinations of many rows, (r, b), about the largest.

        Starts are tried on these: what graphs have in common is in few combinations, and the rest
        adds about the same everywhere.
        """
        rows, count = self._problem.rows, self._problem.options.combined
        r = len(rows.R)
        if not (self._linear and self._search.wide and self._search.combine):
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
            self._left = self._objective()
            if self._left <= problem.nothing:
                break
            n = self._k
            beside: list[tuple[Array, Array | None]] = [(self._Lam, None)]
            if problem.rule.limited:
                beside = problem.rule.beside(self._Gamma[..., :n, :n], self._Psi[:, :n], self._Lam)
            known = self._BE[: self._n_known]
            for Lam, costs in beside:
                left = problem.metric.left_of(rows.R, Lam, self._images[:n])
                here = Ascent(problem, *left, rows.weights, costs, known)
                now, agreement[k] = self._next(k, here)
                given_up = 0.0 if costs is None else float(rows.weights @ costs)
                # What a graph gives up is a difference, of which more than of squares is rounding.
                if now.f > floor + 100 * size * _EPS * given_up:
                    break
            if now.f <= floor:
                break
            X[k], gains[k], stationarity[k] = now.x, now.f, now.size
            self._pool = self._pool[self._untaken(now.x, k)]
            self._add(now, Lam)
        n = self._k
        return CoreFit(
            X, gains, stationarity, agreement, self._Psi[:, :n], self._Gamma[..., :n, :n],
            self._images[:n], tuple(self._stages),
        )  # fmt: skip

    # ------------------------------------------------------------ parts of a step

    def _objective(self) -> float:
        """Return the objective with the components so far."""
        n, problem = self._k, self._problem
        if self._linear:  # least squares
            changes = -np.einsum("ik,ik->i", self._Lam, self._Psi[:, :n])
        else:
            changes = problem.rule.changes(self._Gamma[..., :n, :n], self._Psi[:, :n], self._Lam)
        return problem.total + float(problem.rows.weights @ changes)

    def _put(self, x: Array) -> Array:
        """Put a component behind the others, in Gamma and images; return it packed, (p,)."""
        n, metric, like = self._k, self._problem.metric, self._problem.like
        Z = np.empty((1, self._BE.shape[1]))
        ascent.outer(x[None], like.s, like.t, Z)
        z: Array = Z[0]
        self._images[n] = metric.image(x, z)
        self._Gamma[..., n, : n + 1] = metric.inner(self._images[: n + 1], x, z)
        self._Gamma[..., :n, n] = self._Gamma[..., n, :n]
        return z

    def _add(self, now: State, Lam: Array) -> None:
        """Take the component that was found beside loadings ``Lam``."""
        problem, n = self._problem, self._k
        z, mean = self._put(now.x), problem.rows.mean
        self._Psi[:, n] = now.t + (Lam * self._Gamma[..., n, :n]).sum(axis=1)
        if mean is not None:
            self._mean_forms[n] = mean[: len(z)] @ z
        to_form = np.ones(n + 1)
        if self._linear:
            overlaps, j = self._BE[: self._n_known] @ z, self._n_known
            to_form[:n] = -overlaps @ self._B[:j, :n]
            new = self._Gamma[n, n] - overlaps @ overlaps
            if new > self._dependent:
                self._B[j, : n + 1] = to_form / np.sqrt(new)
                self._BE[j] = self._B[j, : n + 1] @ self._images[: n + 1]
                self._n_known += 1
        q = now.q if problem.metric.common else self._Gamma[..., n, n].copy()
        self._stages.append(Stage(Lam, now.t, now.a, q, now.theta, to_form))
        self._k = n = n + 1
        self._Lam = problem.rule.solve(self._Gamma[..., :n, :n], self._Psi[:, :n], self._Lam)

    def _best(self, X: Array, here: Ascent) -> Array:
        """Return the point with which the objective falls most, all loadings solved again.

        It falls by more than f where components overlap. Among maxima of f, the one to keep is the
        one that leaves least.
        """
        if len(X) == 1:
            return np.asarray(X[0])
        problem, falls, n = self._problem, here.decreases(X), self._k + 1
        if not self._linear:
            most, before = falls, self._left - problem.total
            for place, x in enumerate(X):
                self._Psi[:, n - 1] = problem.rows.R @ self._put(x)
                Gamma, Psi = self._Gamma[..., :n, :n], self._Psi[:, :n]
                Lam = problem.rule.solve(Gamma, Psi, self._Lam)
                after = problem.rows.weights @ problem.rule.changes(Gamma, Psi, Lam)
                falls[place] = min(before - after, most[place] / problem.options.overlap)
        return np.asarray(X[int(np.argmax(falls))])

    def _untaken(self, x: Array, k: int) -> NDArray[np.bool_]:
        """Tell which of the warm points no component has taken."""
        if self._search.in_order or k < self._search.n_fixed or not len(self._pool):
            return np.arange(len(self._pool)) > 0
        near = alike(self._pool, x[None], self._problem.like.s)[:, 0]
        # One at least, lest a component that moved far leaves a place too few.
        left: NDArray[np.bool_] = (near < self._problem.options.same) & (near < near.max())
        return left

    def _next(self, k: int, here: Ascent) -> tuple[State, float]:
        """Return component k, and the share of the starts that agree on it."""
        search, options, tol = self._search, self._problem.options, float(self._tol[k])
        if k < search.n_fixed:
            return here.state(self._pool[0]), np.nan
        warm, agreement = self._pool[:1], np.nan
        wide = search.wide and not (k < search.n_stayed and len(self._pool))
        near = self._on_combinations(here)
        if not search.in_order and len(self._pool) > 1:
            falls = near.decreases(self._pool)
            order = np.argsort(-falls, kind="stable")
            warm = self._pool[order[: options.finalists if wide else 1]]
            if not wide and order[0] != 0:
                # The best that is left, and the first, which had the place before: both climb,
                # lest they change places round after round.
                both = np.vstack([warm, self._pool[:1]])
                warm = np.array([here.maximize(x, max(tol, options.rough)).x for x in both])
        starts = self._further(k, here) if wide else self._pool[:0]
        if len(starts) == 0 and len(warm) == 0:
            starts = self._elsewhere()
        if len(starts):
            warm, agreement = self._explored(warm, starts, near)
        now = here.maximize(self._best(warm, here), tol)
        if now.f <= self._problem.floor:
            # All forms are zero, as on one side of bipartite graphs: no way is up from there, but
            # from almost anywhere else.
            others, f = here.climb(self._elsewhere(), options.climb, Climb.EAGER)
            now = here.maximize(others[np.argmax(f)], tol)
        return now, agreement

    def _elsewhere(self) -> Array:
        """Return a few points that have nothing to do with the graphs, (4, size)."""
        geometry = self._problem.geometry
        X = np.random.default_rng(geometry.size).standard_normal((4, geometry.size))
        return unit_points(X, geometry.widths)

    def _further(self, k: int, here: Ascent) -> Array:
        """Return starts beside the warm ones, (b, size)."""
        search, geometry, options = self._search, self._problem.geometry, self._problem.options
        starts = [self._pool[:0]]
        if search.by_mean:
            mean = self._mean(here)
            # A mean that is rounding, as of centered graphs, has no spectrum of its own.
            if mean @ mean >= 1e-12 * self._left:
                starts.append(geometry.of_mean(mean, options.climb * options.turns))
            elif not len(self._pool):
                starts.append(geometry.of_squares(self._left_of(here)))
        if search.random is not None and k < len(search.random):
            starts.append(search.random[k])
        return np.vstack(starts)

    def _mean(self, here: Ascent) -> Array:
        """Return the mean of what is left, packed, (p,), times the root of the weights' sum."""
        given, core = self._problem.rows, here.core
        if given.mean is None:
            shares = core.w / np.sqrt(core.w.sum())
            return np.asarray(shares @ core.R - (shares @ core.Lam) @ core.E)
        n = self._k
        Lam = self._problem.rule.solve(self._Gamma[:n, :n], self._mean_forms[None, :n])
        return np.asarray(given.mean[: core.R.shape[1]] - (Lam @ core.E)[0])

    def _left_of(self, here: Ascent) -> Array:
        """Return what is left of the rows, times the root of their weights, or combinations."""
        core = here.core
        if self._mixing is not None and self._mixed is not None:
            return np.asarray(self._mixed - (self._mixing.T @ core.Lam) @ core.E)
        return np.asarray((core.R - core.Lam @ core.E) * np.sqrt(core.w)[:, None])

    def _on_combinations(self, here: Ascent) -> Ascent:
        """Return f on the few combinations of rows, if there are any."""
        if self._mixing is None:
            return here
        R, known = self._left_of(here), self._BE[: self._n_known]
        none, ones = np.zeros((len(R), 0)), np.ones(len(R))
        return Ascent(self._problem, R, none, known[:0], ones, None, known)

    def _explored(self, warm: Array, starts: Array, here: Ascent) -> tuple[Array, float]:
        """Return the best few maxima that starts lead to, roughly, and how many agree on the best.

        Points that were components before climb as they are: without thresholds and costs, they
        would leave maxima that they are at, and come back, round after round.
        """
        options = self._problem.options
        X = np.vstack([warm, starts])
        modes = np.full(len(X), Climb.PLAIN if self._linear else Climb.EAGER)
        modes[: len(warm)] = Climb.PLAIN
        n_plain = len(X)
        if self._n_known:
            X = np.vstack([X, starts])
            modes = np.append(modes, np.full(len(starts), Climb.BY_DECREASE))
        climbed, f = here.climb(X, options.climb, modes)
        order = np.argsort(-f, kind="stable").tolist()
        near = alike(climbed, climbed, here.core.s) >= options.same
        finalists = order[:1]
        for place in order[1:]:
            if len(finalists) == options.finalists:
                break
            if not near[place, finalists].any():
                finalists.append(place)
        if len(warm) and not near[0, finalists].any():
            finalists.append(0)  # so that more starts never find less
        agree = near[:n_plain, finalists[0]][f[:n_plain] > 1e-6 * f.max()]
        ends = np.array([here.maximize(x, options.rough).x for x in climbed[finalists]])
        return ends, float(agree.mean()) if len(agree) > 1 else np.nan
