"""The subspace solver: about ten passes over the graphs for all components together.

Keep a small orthonormal basis on each side. The graphs projected on it carry the whole greedy
problem restricted to its span, and are small (:mod:`core`). What is missing shows in the full-space
gradients, whose parts outside of the span are appended to the basis (a block Davidson method), and
again, until every gradient ||r_k|| <= tol * theta_k.

Components come in blocks of a fixed size, each on what the earlier ones left, and a block is
searched whole, whatever is wanted of it: so the first k components do not depend on how many
follow. On few vertices the basis is everything, and one pass is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.basis import (
    Basis,
    CoreBasis,
    MomentBasis,
    RowBasis,
    all_rounds,
    basis_width,
    first_bases,
    grow,
    whole_pays,
)
from eigengraphs.solvers.core import CoreFit, CoreProblem, InBasis, Search, alike, solve_core
from eigengraphs.solvers.geometry import unit_points
from eigengraphs.solvers.metric import Metric
from eigengraphs.solvers.options import DEFAULTS, SolverOptions
from eigengraphs.solvers.rules import LoadingRule, rounding_share
from eigengraphs.solvers.solution import (
    Array,
    Fit,
    Progress,
    Sides,
    Stage,
    Start,
    Watcher,
    column_signs,
    first_components,
)

__all__ = ["Keep", "subspace"]

Keep: TypeAlias = Literal["products", "cores", "moments", "rows"]

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class _Job:
    """What does not change from block to block."""

    graphs: Any
    metric: Metric
    rule: LoadingRule
    weights: Array  # (m,)
    sizes: Array  # (m,) w_i ||A_i||^2
    by_mean: bool  # which starts the core tries
    n_random: int
    n_beside_given: int  # random starts where a component is given
    tol: float
    max_iter: int
    noise: float  # sum_i w_i times the squared norm that rounding may leave of A_i
    keep: Keep
    wide: bool
    options: SolverOptions

    @property
    def linear(self) -> bool:
        """Whether loadings are linear in the forms: rows of a root may stand for graphs."""
        return self.rule.linear and self.metric.degrees is None

    @cached_property
    def counted(self) -> Metric:
        """The metric of the rows of the core, which are the graphs of positive weight."""
        return self.metric.on(self.weights > 0)

    @cached_property
    def total(self) -> float:
        """sum_i w_i ||A_i||^2."""
        return float(self.sizes.sum())

    @property
    def nothing(self) -> float:
        """A squared norm below this is rounding."""
        return rounding_share(self.graphs.n_vertices) * self.total

    @property
    def floor(self) -> float:
        """A gain below this is rounding."""
        rounding = 100 * int(self.graphs.n_vertices) * _EPS
        return max(rounding**2 * self.total, 4 * self.noise)

    @cached_property
    def whole(self) -> bool:
        """Whether the basis is everything."""
        graphs = self.graphs
        return self.keep == "rows" or whole_pays(
            graphs.n_graphs, graphs.n_vertices, graphs.directed, self.linear, self.options
        )


@dataclass(frozen=True)
class _Frozen:
    """Components that are found, and what graphs have in common with them."""

    sides: Sides  # (n, k) each
    Psi: Array  # (m, k)


def subspace(
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
    keep: Keep = "products",
    wide: bool = True,
    resume: Fit | None = None,
    watch: Watcher | None = None,
    options: SolverOptions = DEFAULTS,
) -> Fit:
    """Find d components greedily, many of them in each pass.

    Parameters
    ----------
    graphs
        The graphs as an operator, undirected or directed.
    d
        Number of components.
    metric
        How entries count.
    rule
        Which loadings there may be.
    weights : (m,)
        Weight of each graph in the objective.
    init
        Where components are searched from: "svd" from the mean alone, "random", "auto" from the
        mean, the sum of squares and at random; or an array (n, any), directed (2, n, any), one
        column per component, with "auto" for components beyond its columns.
    n_init
        Starts of each component; further ones are random.
    tol
        Stop when ||r_k|| <= tol * theta_k for every component.
    max_iter
        Most rounds for a block of components.
    seed
        Source of the first basis and of the random starts.
    keep
        What is kept of the graphs in a basis; see :mod:`basis`. "moments" is for linear rules, and
        "rows" for graphs that are gone (:class:`moments.StandIns`).
    wide
        Whether the basis may be as wide as where products are kept.
    resume
        A fit whose components are kept as they are, but for those that were interrupted.
    watch
        Called after each round.
    options
        Tuned values.
    """
    named = isinstance(init, str)
    auto = not named or init == "auto"
    job = _Job(
        graphs, metric, rule, weights, weights * graphs.squared_norms(),
        by_mean=not named or init != "random",
        n_random=n_init + options.random if auto else n_init - (init == "svd"),
        n_beside_given=n_init - 1, tol=tol, max_iter=max_iter,
        noise=float(weights @ graphs.rounding()), keep=keep, wide=wide,
        options=options,
    )  # fmt: skip
    if job.whole:  # one round is all there is
        job = replace(job, options=replace(options, finalists=2 * options.finalists))
    n, m = graphs.n_vertices, graphs.n_graphs
    given: Sides = tuple(np.zeros((n, 0)) for _ in range(2 if graphs.directed else 1))
    if not named:
        columns = np.asarray(init).reshape(len(given), n, -1)
        given = tuple(side / np.sqrt((side**2).sum(axis=0)) for side in columns)
    nothing = Fit(np.zeros((n, 0)), np.zeros((m, 0)), (), 0,
                  G=np.zeros((n, 0)) if graphs.directed else None)  # fmt: skip
    # The first components are those of ``resume`` that were not interrupted.
    resume = resume or nothing
    reasons = [stage.stop_reason for stage in resume.stages]
    resume = first_components(
        resume, reasons.index("interrupted") if "interrupted" in reasons else len(reasons)
    )
    sides: Sides = (resume.H,) if resume.G is None else (resume.H, resume.G)
    Psi, stages, blocks = resume.Psi, list(resume.stages), list(resume.blocks)
    n_passes = 1  # the norms
    interrupted = False
    while len(stages) < d and not interrupted:
        k = len(stages)
        first, in_search = blocks[-1] if blocks else (0, 0)
        # A block that was cut short is found again, whole, as if it had never been.
        start = first if k < first + in_search else k
        if stages and stages[-1].stop_reason == "exhausted":
            block, start = _nothing(job, d - k), k
        else:
            on = np.array([s.stop_reason != "exhausted" for s in stages[:start]], dtype=bool)
            frozen = _Frozen(tuple(side[:, :start][:, on] for side in sides), Psi[:, :start][:, on])
            try:
                rest = tuple(side[:, start:] for side in given)
                rounds = _next_block(job, d - start, frozen, rest, seed, start, n_passes)
                block = all_rounds(rounds, watch)
            except KeyboardInterrupt:  # before the first round of this block
                if not stages:
                    raise
                interrupted = True
                break
            n_passes += block.n_passes
            known = k - start
            if known and block.interrupted:
                interrupted = True
                break
            if known and not _same(block.sides, tuple(side[:, start:k] for side in sides)):
                blocks[-1] = (first, known)  # another search found those: go on behind them
                continue
            block = block.columns(slice(known, None))
        rng = np.random.default_rng(_child(seed, k))
        new = [side.copy() for side in block.sides]
        for j in np.flatnonzero(block.gains == 0):  # nothing to fit: an arbitrary component
            for side in new:
                column = rng.standard_normal(len(side))
                side[:, j] = column / np.sqrt(column @ column)
        forms = block.Psi
        if forms is None or (block.gains == 0).any():
            forms = job.graphs.forms(*new)
            n_passes += 1
        sides = tuple(np.column_stack(pair) for pair in zip(sides, new, strict=True))
        Psi = np.column_stack([Psi, forms])
        stages += block.stages(job.tol)
        if start == k:
            blocks.append((k, block.size))
        interrupted = block.interrupted
    G = sides[1] if len(sides) == 2 else None
    fit = Fit(sides[0], Psi, tuple(stages), n_passes, tuple(blocks), interrupted, G)
    return _with_positive_forms(fit, rule)


def _with_positive_forms(fit: Fit, rule: LoadingRule) -> Fit:
    """Return the fit with the largest form of every component h g^T positive.

    h g^T and -h g^T are one component, unless the rule tells loadings of either sign apart.
    """
    lower, upper = rule.bounds()
    if fit.G is None or lower != -upper:
        return fit
    signs = column_signs(fit.Psi)
    return replace(fit, G=fit.G * signs, Psi=fit.Psi * signs)


# ---------------------------------------------------------------- block after block


@dataclass(frozen=True)
class _Block:
    """Components found together, as one complete round left them; (d,) where not said."""

    sides: Sides  # (n, d) unit vectors, zero where nothing was left
    Psi: Array | None  # (m, d), if no graph is read for it
    gains: Array
    stationarity: Array
    agreement: Array
    done: NDArray[np.bool_]  # no further round would help
    near_rounding: NDArray[np.bool_]
    size: int  # how many components were searched for them
    n_iter: int
    n_passes: int
    interrupted: bool = False

    def columns(self, which: slice) -> _Block:
        """Return the block with some of its components."""
        each = ("gains", "stationarity", "agreement", "done", "near_rounding")
        return replace(
            self, sides=tuple(side[:, which] for side in self.sides),
            Psi=None if self.Psi is None else self.Psi[:, which],
            **{name: getattr(self, name)[which] for name in each},
        )  # fmt: skip

    def stages(self, tol: float) -> list[Stage]:
        """Return how the components were found."""
        unfinished = "interrupted" if self.interrupted else "max_iter"
        columns = self.gains, self.stationarity, self.agreement, self.done, self.near_rounding
        return [
            Stage(
                self.n_iter,
                "exhausted" if gain == 0
                else "stationary" if size <= tol
                else unfinished if not done
                else "precision" if near
                else "stalled",
                size, gain, "core", agreement,
            )
            for gain, size, agreement, done, near in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]  # fmt: skip


def _child(seed: np.random.SeedSequence, k: int) -> np.random.SeedSequence:
    """Return the source of what begins with component k, whatever was drawn before."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k))


def _same(found: Sides, known: Sides) -> bool:
    """Tell whether components were found again."""
    k = known[0].shape[1]
    if found[0].shape[1] < k:
        return False
    cosines = np.prod(
        [(a[:, :k] * b).sum(axis=0) for a, b in zip(found, known, strict=True)], axis=0
    )
    return bool((np.abs(cosines) > 1 - 1e-12).all())


def _nothing(job: _Job, d: int) -> _Block:
    """Return components for graphs of which nothing is left."""
    zeros, n = np.zeros(d), job.graphs.n_vertices
    sides = tuple(np.zeros((n, d)) for _ in range(2 if job.graphs.directed else 1))
    return _Block(sides, None, zeros, zeros, np.full(d, np.nan), zeros > 0, zeros > 0, d, 0, 0)


def _next_block(
    job: _Job, want: int, frozen: _Frozen, given: Sides, seed: np.random.SeedSequence,
    n_before: int, passes_before: int,
) -> _Rounds:  # fmt: skip
    """Return the rounds that find components after the frozen ones, as many as a block takes."""
    if given[0].shape[1]:
        want = min(want, given[0].shape[1])  # what is not given is searched afterwards
    n = job.graphs.n_vertices
    most = (n * n if job.graphs.directed else n * (n + 1) // 2) - frozen.Psi.shape[1]
    if job.whole:
        size, rng = want, np.random.default_rng(_child(seed, 0))
    else:
        want = min(want, job.options.block)
        size = given[0].shape[1] or min(job.options.block, max(most, want))
        size = min(size, job.options.block)
        rng = np.random.default_rng(_child(seed, n_before))
    given = tuple(side[:, :size] for side in given)
    basis = _first_basis(job, frozen, given, rng)
    return _Rounds(job, size, want, frozen, given, n_before, passes_before, basis, rng)


def _first_basis(job: _Job, frozen: _Frozen, given: Sides, rng: np.random.Generator) -> Basis:
    """Return a basis to begin with: all vertices, or the main directions of what is left."""
    graphs = job.graphs
    basis: Basis
    if job.keep == "moments":
        basis = MomentBasis(graphs, job.weights, frozen.sides)
    elif job.keep == "rows":
        basis = RowBasis(graphs, job.weights, frozen.sides)
    else:
        products = job.keep == "products" and not job.whole
        basis = CoreBasis(graphs, job.weights, products=products, degrees=job.counted.degrees or ())
    if job.whole:
        basis.append(tuple(np.eye(graphs.n_vertices) for _ in given))
        return basis
    options, taken = (
        job.options,
        (frozen.sides, job.rule.solve(job.metric.gram(frozen.sides), frozen.Psi)),
    )
    if job.metric.degrees is not None:
        # Beside equal degrees, noise is stronger: in 3 of 20 draws fewer columns miss a component.
        options = replace(options, sketch=3 * options.sketch)
        # What a component is differs by graph, and is not taken off. So the bases hold it.
        given = tuple(np.column_stack(both) for both in zip(frozen.sides, given, strict=True))
        taken = tuple(side[:, :0] for side in frozen.sides), taken[1][:, :0]
    basis.append(first_bases(graphs, given, taken, job.weights, job.sizes, rng, options))
    basis.n_passes += 1 + (taken[1].shape[1] > 0)
    return basis


# ---------------------------------------------------------------- the rounds of one block


class _Rounds:
    """The state between rounds."""

    def __init__(
        self, job: _Job, size: int, want: int, frozen: _Frozen, given: Sides, n_before: int,
        passes_before: int, basis: Basis, rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self._job, self._size, self._want, self._frozen = job, size, want, frozen
        self._n_before, self._passes_before, self._rng = n_before, passes_before, rng
        self._given = given[0].shape[1] > 0
        self._Gamma = job.counted.gram(frozen.sides)
        self._basis = basis
        self._width = basis_width(job.graphs.n_graphs, job.wide, job.graphs.directed, job.options)
        self._X = self._basis.points(given)  # (b, coordinates)
        self._history: list[Array] = []
        self._n_iter = 0
        first = 0.1 * job.tol if self._basis.is_everything else job.options.rough
        self._core_tol = self._asked = np.full(size, first)
        self._n_fixed = 0  # finished components, before which none is unfinished
        self._n_stayed = 0  # components that did not move, before which none did
        self._best, self._since = np.full(size, np.inf), np.zeros(size, dtype=int)
        self._sides: Sides = ()
        self._r: Sides = ()
        self._gains, self._stationarity = np.zeros(size), np.full(size, np.inf)
        self._agreement = np.full(size, np.nan)
        self._done = self._near_rounding = np.zeros(size, dtype=bool)
        self._random = self._draw_starts()
        self.record: _Block | None = None

    def _draw_starts(self) -> Array:
        """Return random starts for every component, (size, b, coordinates).

        On all vertices they are drawn for the components before, too: a component's starts do not
        depend on where a fit was resumed.
        """
        job, geometry = self._job, self._basis.geometry
        count = job.n_beside_given if self._given else job.n_random
        if not self._given and count and (job.whole or not job.rule.linear):
            # With thresholds and costs maxima are many, and on all vertices there is one round.
            count = max(count, job.options.random_coordinates // geometry.size)
            count *= job.options.search_rounds if job.whole else 1
        before = self._n_before if job.whole else 0
        X = self._rng.standard_normal((before + self._size, count, geometry.size))
        return unit_points(X[before:], geometry.widths)

    def step(self) -> bool:
        """Solve the core and look outside; return whether this was the last round."""
        job, basis, options = self._job, self._basis, self._job.options
        first = self._n_iter < (1 if self._given else options.search_rounds)
        # Where few stay it is noise, and one maximum is as good as another.
        unsettled = self._size // 3 <= self._n_stayed < self._size
        searching = first or (not self._given and unsettled and self._n_iter < options.search_on)
        if self._n_iter:
            self._random = self._draw_starts() if searching and not self._given else self._random
        search = Search(
            self._X,
            # Those that all stayed where they were are in their order.
            in_order=self._given or (self._n_stayed == self._size and not searching),
            by_mean=searching and not self._given and job.by_mean,
            random=self._random if searching else None,
            n_fixed=self._n_fixed,
            n_stayed=0 if first else self._n_stayed,
            combine=not job.whole,  # there, one round is all there is
        )  # fmt: skip
        geometry = basis.geometry
        problem = CoreProblem(
            geometry, job.counted.in_basis(geometry, basis.bases, basis.degree_cores), job.rule,
            basis.rows(self._frozen.Psi, linear=job.linear), self._Gamma,
            job.counted.known(geometry, basis.bases, self._frozen.sides), job.total, job.floor,
            job.nothing, options,
        )  # fmt: skip
        fit = solve_core(problem, self._size, search, self._core_tol)
        self._n_stayed = self._count_stayed(fit)
        self._asked, self._X, self._gains = self._core_tol, fit.X, fit.gains
        self._agreement = np.where(np.isnan(fit.agreement), self._agreement, fit.agreement)
        self._look_outside(fit, problem.metric)
        self._n_iter += 1
        last = self._judge(first)
        wanted = self._X[: self._want]
        found = _Block(
            self._sides, None, self._gains, self._stationarity, self._agreement,
            self._done | basis.is_everything, self._near_rounding, self._size, self._n_iter,
            basis.n_passes,
        ).columns(slice(self._want))  # fmt: skip
        # One assignment: whenever an interruption comes, the record is of one round.
        self.record = replace(found, Psi=basis.forms(wanted))
        return last

    def _look_outside(self, fit: CoreFit, metric: InBasis) -> None:
        """Find the gradients in full space, (n, size) on each side, and how large they are."""
        job, basis, frozen = self._job, self._basis, self._frozen
        active = len(fit.stages)
        self._sides = basis.components(fit.X)
        if basis.is_everything:
            self._r = ()
            self._stationarity = fit.stationarity
            return
        first = min(self._n_fixed, active)  # components before it are as they were
        stages, X = fit.stages[first:], fit.X[:active]
        known, sides = (tuple(side[:, lo:active] for side in self._sides) for lo in (0, first))
        theta = np.array([stage.theta for stage in stages])
        W_rows = np.array([stage.W for stage in stages]).reshape(len(stages), len(fit.Psi))
        Lam = np.zeros((*W_rows.shape, len(fit.images)))
        for place, stage in enumerate(stages):
            j = stage.Lam.shape[1]
            Lam[place, :, :j], Lam[place, :, j] = stage.Lam, stage.t / stage.q
        N, own = metric.pulls(X[first:], fit.images, W_rows, Lam)
        if job.linear:
            r = basis.combine_forms(frozen.Psi, self._to_loadings(fit)[:, first:], X)
        else:
            W = np.zeros((len(job.weights), len(stages)))
            if stages:
                W[job.weights > 0] = W_rows.T
            r = basis.combine(W, X[first:])
        both = tuple(np.column_stack(pair) for pair in zip(frozen.sides, known, strict=True))
        r = job.counted.take_off(r, both, N, sides, own)
        sizes = np.sqrt(sum(np.einsum("sk,sk->k", side, side) for side in r)) / theta
        nothing = np.zeros(self._size - active)
        self._stationarity = np.concatenate([self._stationarity[:first], sizes, nothing])
        self._r = tuple(map(np.zeros_like, self._sides))
        for of_all, side in zip(self._r, r, strict=True):
            of_all[:, first:active] = side

    def _to_loadings(self, fit: CoreFit) -> Array:
        """Return T with t_ik / q_k = (psi_i T)_k for linear loadings, (k + d, d)."""
        T = np.zeros((self._frozen.Psi.shape[1] + len(fit.stages), len(fit.stages)))
        for k, stage in enumerate(fit.stages):
            T[: len(stage.to_form), k] = stage.to_form / stage.q
        return T

    def _count_stayed(self, fit: CoreFit) -> int:
        """Return how many components are where they were, up to the first that moved."""
        if len(self._X) < self._size:
            return 0
        near = np.diagonal(alike(fit.X, self._X, self._basis.geometry.widths[0]))
        stayed = near >= self._job.options.same
        return int(np.cumprod(stayed | (fit.gains == 0)).sum())

    def _judge(self, searching: bool) -> bool:
        """Decide whether to go on, and how exactly the core is to be solved next."""
        job, options, size = self._job, self._job.options, self._stationarity
        improved = searching | (size < 0.9 * self._best)
        self._since = np.where(improved, 0, self._since + 1)
        self._best = np.where(improved, size, self._best)
        # Rounding of h and of the products is a random vector, of which a graph keeps 1 / sqrt(n).
        n = job.graphs.n_vertices
        rounding = np.sqrt(job.noise / n / np.maximum(self._gains, job.floor + 1e-300))
        flat = 1e-6 if job.metric.hollow else 0.0  # what the bend of the norm resolves for sure
        self._near_rounding = size <= np.maximum(10 * rounding, flat)
        settled = self._near_rounding & (self._since >= options.patience)
        settled |= self._since >= options.stalled
        # A little below: whoever takes the gradient again, in another order, finds it below tol.
        self._done = (size <= 0.9 * job.tol) | settled
        if self._basis.is_everything and (self._asked <= 0.1 * job.tol).all():
            return True
        self._core_tol = np.clip(0.02 * size, 0.1 * job.tol, options.rough)
        if self._n_iter >= job.max_iter:
            return True
        if searching and not self._given:  # components come and go
            return bool(self._done.all())
        self._n_fixed = int(np.cumprod(self._done).sum())
        return 0 < self._want <= self._n_fixed

    def widen(self) -> bool:
        """Add what the gradients have outside of the basis, or ask more of the core.

        False if the basis holds all there is, and the core gave its best.
        """
        if not self._basis.is_everything:
            # Those that are nearly there still move a little with the components before them.
            open_ones = self._stationarity > 0.3 * self._job.tol
            open_ones[: self._n_fixed] = False
            scale = np.maximum(self._gains[open_ones], 1e-300)
            r = tuple(side[:, open_ones] / scale for side in self._r)
            points, grew = grow(self._basis, r, [self._X, *self._history], self._width)
            self._X, self._history = points[0], points[: self._job.options.history]
            if grew:
                return True
        best = 0.1 * self._job.tol
        if (self._asked <= best).all():
            # Nothing but rounding is left to move these components.
            assert self.record is not None
            self.record = replace(self.record, done=self.record.gains >= 0)
            return False
        self._core_tol = np.full(self._size, best)
        return True

    def progress(self) -> Progress:
        """Return where the block stands."""
        wanted = self._stationarity[: self._want]
        found = self._n_before + int((wanted <= self._job.tol).sum())
        n_passes = self._passes_before + self._basis.n_passes
        return Progress(self._n_iter, None, float(wanted.max(initial=0.0)), found, n_passes)

    def result(self, interrupted: bool) -> _Block:
        """Return the components that are wanted, as the last complete round left them."""
        assert self.record is not None
        return replace(self.record, n_passes=self._basis.n_passes, interrupted=interrupted)
