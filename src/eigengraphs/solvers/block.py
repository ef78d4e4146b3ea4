"""Several components together from a small basis: a pass or two over the graphs for each digit.

Keep an orthonormal basis V (n, s). The cores V^T A_i V carry the whole greedy problem restricted
to span V, which :mod:`core` solves. What is missing shows in the full-space gradients

    r_k = sum_i w_i lam_ik R_i h_k - theta_k h_k,      h_k = V y_k,

whose parts outside of span V are appended to it (a block Davidson method), and again, until
every ||r_k|| <= tol * theta_k.

The first rounds search: they take up a fixed number of components, more than are wanted, with
many starts, and let them compete for the places. So what they find does not depend on how many
components are wanted. As many go on until each is near its maximum, because a rough one may still
come to another, depending on what else is in the basis. The later rounds finish those that are
wanted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigengraphs.solvers.core import CoreFit, CoreProblem, Search, compress, solve_core
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.products import Basis, CachedBasis, StreamedBasis
from eigengraphs.solvers.protocol import Array, BlockGraphs, Progress, Watcher
from eigengraphs.solvers.quotient import norm_gradient, squared_norm

__all__ = ["BLOCK", "Block", "Job", "basis_width", "find_block", "orthonormal", "random_starts"]

BLOCK = 16  # components that are searched together: products with 16 columns cost what 10 do
_SHARED = 8  # columns of the first basis that come from the mean graph
_SEARCH = 3  # rounds that search
_SETTLED = 0.03  # relative gradient of all components after which each stays with its maximum
_SETTLING = 20  # rounds for that at most
_HISTORY = 2  # earlier solutions that a shortened basis keeps
_WIDTHS = (64, 96)  # columns of the basis: least and most before it is shortened
_CORE_NUMBERS = 5 * 2**18  # entries of the compressed cores that set the width between these
_ROUGH = 1e-3  # relative gradient in the core that is enough while searching
_PATIENCE = 3  # rounds without progress near the rounding of the products


@dataclass(frozen=True)
class Job:
    """What does not change from block to block."""

    weights: Array  # (m,)
    hollow: bool  # the pairs s = t take no part in the loss
    by_mean: bool  # which starts the core tries
    n_squares: int
    n_random: int
    tol: float
    max_iter: int
    floor: float  # a gain below this is rounding
    noise: float  # sum_i w_i times the squared norm that rounding may leave of A_i
    cache: bool  # keep A_i V
    watch: Watcher | None


@dataclass(frozen=True)
class Block:
    """Components found together."""

    H: Array  # (n, d), unit columns, zero where nothing was left
    gains: Array  # (d,)
    stationarity: Array  # (d,)
    agreement: Array  # (d,)
    reasons: tuple[str, ...]  # (d,)
    pending: Array  # (n, any) rough directions of the components after these
    n_iter: int
    n_passes: int
    interrupted: bool


def find_block(
    graphs: BlockGraphs,
    want: int,
    job: Job,
    *,
    frozen: Array,
    given: Array,
    new_search: bool,
    seed: np.random.SeedSequence,
    n_before: int,
) -> Block:
    """Find the next components.

    Parameters
    ----------
    graphs
        The graphs less the components that are frozen.
    want
        Number of components, at most ``BLOCK``.
    job
        Settings.
    frozen : (n, k)
        Components that are found.
    given : (n, any)
        Directions to start from, one a component in order.
    new_search
        Search freely; otherwise the given directions are all there is.
    seed
        Of the first basis and the random starts.
    n_before
        Components found before, for the watcher.
    """
    rng = np.random.default_rng(seed)
    n = graphs.n_vertices
    size = want if given.shape[1] else min(BLOCK, max(n * (n + 1) // 2 - frozen.shape[1], want))
    basis: Basis = CachedBasis(graphs) if job.cache else StreamedBasis(graphs)
    first = orthonormal(given, np.zeros((n, 0)))
    if new_search:
        first = _first_basis(graphs, first, job.weights, rng)
        basis.n_passes += 1 + (frozen.shape[1] > 0)
    if first.shape[1] == 0:  # the graphs are zero, and any direction is as good
        first = orthonormal(rng.standard_normal((n, size)), first)
    basis.append(first)
    state = _State(basis, job, frozen, size, want, searches=_SEARCH if not given.shape[1] else 0)
    state.warm = basis.V.T @ given
    interrupted = False
    try:
        while not state.step(rng):
            if job.watch is not None:
                job.watch(state.progress(n_before))
            new = state.new_columns()
            if new.shape[1]:
                basis.append(new)
            elif not state.sharpen():
                break
    except KeyboardInterrupt:
        if state.fit is None:
            raise
        interrupted = True
    return state.result(interrupted)


class _State:
    """The rounds of one block."""

    def __init__(
        self, basis: Basis, job: Job, frozen: Array, size: int, want: int, searches: int
    ) -> None:
        self._basis, self._job, self._frozen = basis, job, frozen
        self._size, self._want, self._searches = size, want, searches
        self._width = basis_width(len(basis.cores))
        self.warm: Array = np.zeros((basis.V.shape[1], 0))  # (s, b)
        self._history: list[Array] = []  # earlier solutions, (s, d)
        self._n_iter = 0
        self._settling = False  # whether unwanted components go on, too
        self._core_tol = _ROUGH
        self._pending = np.zeros((len(basis.V), 0))
        self._best, self._since = np.inf, 0
        self.fit: CoreFit | None = None
        self._r = np.zeros((len(basis.V), 0))  # (n, d) gradients
        self._stationarity = np.zeros(0)
        self._done = np.zeros(0, dtype=bool)
        self._H = np.zeros((len(basis.V), 0))
        self._agreement = np.full(size, np.nan)

    def step(self, rng: np.random.Generator) -> bool:
        """Solve the core and look outside; return whether this was the last round."""
        job, basis = self._job, self._basis
        searching = self._n_iter < self._searches
        settling = searching or self._settling
        d = self._size if settling else self._want
        s = basis.V.shape[1]
        n_squares = n_random = 0
        if searching:
            fresh = self._n_iter == 0
            n_squares = job.n_squares if fresh else min(job.n_squares, 1)
            n_random = job.n_random if fresh else max(job.n_random - 2, 1)
        search = Search(
            warm=self.warm[:, :d] if not searching else self.warm,
            in_order=not searching,
            by_mean=searching and job.by_mean,
            n_squares=n_squares,
            random=random_starts(rng, d, n_random, s) if searching else np.zeros((0, 0, s)),
        )
        R, mean, by_squares = compress(basis.cores, job.weights)
        floor = job.floor
        if by_squares:
            floor = max(floor, 10 * R.shape[1] * np.finfo(np.float64).eps * float((R**2).sum()))
        problem = CoreProblem(R, mean, basis.V, self._frozen, job.hollow, floor)
        fit = solve_core(problem, d, search, self._core_tol)
        r, stationarity = _gradients(basis, fit, job, self._frozen)
        self.fit, self._r, self._stationarity = fit, r, stationarity
        self._H = basis.V @ fit.Y
        self._n_iter += 1
        if searching:
            self._agreement = fit.agreement
        if settling:
            self._pending = self._H[:, self._want :]
            rough = float(stationarity.max(initial=0.0)) > _SETTLED
            self._settling = self._searches > 0 and rough and self._n_iter < _SETTLING
        return self._judge(searching)

    def _judge(self, searching: bool) -> bool:
        """Decide whether to go on, and how exactly the core is to be solved next."""
        assert self.fit is not None
        job, size = self._job, self._stationarity
        gains = self.fit.gains
        count = len(size) if searching else self._want
        worst = float(size[:count].max(initial=0.0))
        improved = worst < 0.9 * self._best or searching
        self._best, self._since = (worst, 0) if improved else (self._best, self._since + 1)
        # Rounding of the products alone leaves a gradient of about this size beside theta.
        rounding = np.sqrt(job.noise / np.maximum(gains, job.floor + 1e-300))
        settled = (size <= 10 * rounding) & (self._since >= _PATIENCE)
        self._done = (size <= job.tol) | settled
        open_ones = size[:count][~self._done[:count]]
        self._core_tol = float(np.clip(0.01 * open_ones.max(initial=0.0), 0.1 * job.tol, _ROUGH))
        return bool(self._done[:count].all()) or self._n_iter >= job.max_iter

    def new_columns(self) -> Array:
        """Return what the gradients have outside of the basis; shorten that if it is wide."""
        assert self.fit is not None
        basis, fit = self._basis, self.fit
        # Those that are nearly there still move a little with the components before them.
        open_ones = self._stationarity > 0.3 * self._job.tol
        if self._n_iter >= self._searches and not self._settling:
            open_ones[self._want :] = False
        r = self._r[:, open_ones] / np.maximum(fit.gains[open_ones], 1e-300)
        warm = fit.Y
        if warm.shape[0] + int(open_ones.sum()) > self._width:
            kept = orthonormal(np.column_stack([warm, *self._history]), np.zeros((len(warm), 0)))
            basis.rotate(kept)
            warm = kept.T @ warm
            self._history = [kept.T @ Y for Y in self._history]
        new = orthonormal(r, basis.V)
        grow = ((0, new.shape[1]), (0, 0))
        self.warm = np.pad(warm, grow)
        self._history = [np.pad(Y, grow) for Y in self._history][: _HISTORY - 1]
        self._history.insert(0, self.warm)
        return new

    def sharpen(self) -> bool:
        """Ask more of the core when the basis holds all there is; False if it gave its best."""
        best = 0.1 * self._job.tol
        if self._core_tol <= best:
            self._done[:] = True  # nothing but rounding is left to move the components
            return False
        self._core_tol = best
        return True

    def progress(self, n_before: int) -> Progress:
        """Return where the block stands."""
        found = int((self._stationarity[: self._want] <= self._job.tol).sum())
        worst = float(self._stationarity[: self._want].max(initial=0.0))
        return Progress(self._n_iter, None, worst, n_before + found, self._basis.n_passes)

    def result(self, interrupted: bool) -> Block:
        """Return the components that are wanted."""
        assert self.fit is not None
        want, gains = self._want, self.fit.gains[: self._want]
        left = self._stationarity[:want]
        unfinished = "interrupted" if interrupted else "max_iter"
        reasons = tuple(
            "exhausted" if gain == 0
            else "stationary" if size <= self._job.tol
            else "precision" if done
            else unfinished
            for gain, size, done in zip(gains, left, self._done[:want], strict=True)
        )  # fmt: skip
        return Block(
            self._H[:, :want], gains, left, self._agreement[:want], reasons, self._pending,
            self._n_iter, self._basis.n_passes, interrupted,
        )  # fmt: skip


def _first_basis(
    graphs: BlockGraphs, given: Array, weights: Array, rng: np.random.Generator
) -> Array:
    """Return an orthonormal basis of given columns and the main directions of the graphs.

    Components that differ from graph to graph show in sum_i w_i A_i^2; weak ones that most graphs
    share, in the mean, where the noise is averaged.
    """
    n = graphs.n_vertices
    squares, sums = graphs.sketch(rng.standard_normal((n, BLOCK)), weights)
    main = linalg.svd(sums, full_matrices=False, check_finite=False)[0][:, :_SHARED]
    return np.column_stack([given, orthonormal(np.column_stack([main, squares]), given)])


def _gradients(basis: Basis, fit: CoreFit, job: Job, frozen: Array) -> tuple[Array, Array]:
    """Return the gradients r_k, (n, d), and ||r_k|| / theta_k, (d,), in the full space."""
    d = len(fit.gains)
    active = int((fit.gains > 0).sum())
    Y = fit.Y[:, :active]
    H = basis.V @ Y
    Psi = basis.cores @ Packing(len(Y)).outer(Y.T).T
    T, squares, combination = fit.deflation.projections(Psi, Y)
    WT = job.weights[:, None] * T
    r = basis.combine(WT, Y)  # sum_i w_i t_ik A_i h_k
    # Take off what the earlier components of the block hold: sum_{j < k} N_kj q_j h_k.
    N = np.tril((WT.T @ T) / squares, -1) @ combination
    both = np.column_stack([frozen, H])
    r -= both @ (N.T * (both.T @ H))
    theta = np.einsum("ik,ik->k", WT, T)
    if job.hollow:
        r += (both**2 @ N.T) * H
        q = squared_norm((H**4).sum(axis=0))
        theta = theta / q
        r = (r - theta * norm_gradient(H)) / q
    else:
        r -= theta * H
    r -= H * (H * r).sum(axis=0)
    sizes = np.sqrt((r**2).sum(axis=0)) / theta
    return np.pad(r, ((0, 0), (0, d - active))), np.pad(sizes, (0, d - active))


def random_starts(rng: np.random.Generator, d: int, b: int, s: int) -> Array:
    """Return unit vectors, (d, b, s)."""
    Y = rng.standard_normal((d, b, s))
    return np.asarray(Y / np.sqrt((Y**2).sum(axis=2, keepdims=True)))


def basis_width(n_graphs: int) -> int:
    """Return how many columns the basis may have: fewer where the cores of many graphs cost."""
    low, high = _WIDTHS
    for s in range(high, low, -8):
        p = s * (s + 1) // 2
        if min(n_graphs, p) * p <= _CORE_NUMBERS:
            return s
    return low


def orthonormal(columns: Array, V: Array) -> Array:
    """Return an orthonormal basis of what ``columns`` have outside of span V."""
    sizes = np.sqrt((columns**2).sum(axis=0))
    for _ in range(2):
        columns = columns - V @ (V.T @ columns)
    B = np.zeros_like(columns)
    kept = 0
    # One after the other: QR with pivoting would let rounding choose among equals, and without
    # it a dependent column becomes an arbitrary direction that the later ones then lose.
    for column, size in zip(columns.T, sizes, strict=True):
        for _ in range(2):
            column = column - B[:, :kept] @ (B[:, :kept].T @ column)
        left = float(linalg.norm(column))
        if left > 1e-10 * size:
            B[:, kept] = column / left
            kept += 1
    B = B[:, :kept]
    if kept and V.shape[1]:  # small remainders lose their orthogonality to V
        B = B - V @ (V.T @ B)
        B /= np.sqrt((B**2).sum(axis=0))
    return B
