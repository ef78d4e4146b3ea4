"""Several components together from a small basis: a pass or two over the graphs for each digit.

Keep an orthonormal basis V (n, s). The cores V^T A_i V carry the whole greedy problem restricted
to span V, which :mod:`core` solves. What is missing shows in the full-space gradients

    r_k = sum_i w_i lam_ik R_i h_k - theta_k h_k,      h_k = V y_k,

whose parts outside of span V are appended to it (a block Davidson method), and again, until
every ||r_k|| <= tol * theta_k.

The first rounds search: components start from many places. All compete for their order, until one
and those before it are finished: then it stays as it is. A block has a fixed number of
components, whatever is wanted of it, and goes on until those are finished: so how many are wanted
changes nothing but when it stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.core import Search
from eigengraphs.solvers.directions import (
    basis_width,
    first_basis,
    orthonormal,
    random_starts,
)
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.products import Basis, CachedBasis, StreamedBasis
from eigengraphs.solvers.protocol import Array, BlockGraphs, Progress, Watcher

__all__ = ["BLOCK", "FLAT", "Block", "Core", "Job", "find_block"]

BLOCK = 12  # components that are searched together
_SEARCH = 3  # rounds that search
_FROM_POOL = 3  # earlier components that a place is given to while searching, the best later
_HISTORY = 2  # earlier solutions that a shortened basis keeps
_ROUGH = 1e-3  # relative gradient in the core that is enough while searching
FLAT = 1e-6  # relative gradient that the bend of an unobserved diagonal's norm resolves for sure
_PATIENCE = 3  # rounds without progress near the rounding of the products
_STALLED = 60  # and anywhere else


@dataclass(frozen=True)
class Job:
    """What does not change from block to block."""

    weights: Array  # (m,)
    sizes: Array  # (m,) w_i ||A_i||^2
    hollow: bool  # the pairs s = t take no part in the loss
    by_mean: bool  # which starts the core tries
    n_squares: int
    n_random: int
    n_beside_given: int  # random starts where a direction is given
    tol: float
    max_iter: int
    floor: float  # a gain below this is rounding
    nothing: float  # and so is a squared norm below this
    noise: float  # sum_i w_i times the squared norm that rounding may leave of A_i
    cache: bool  # keep A_i V
    watch: Watcher | None


@dataclass(frozen=True)
class Block:
    """Components found together."""

    H: Array  # (n, d), unit columns, zero where nothing was left
    Psi: Array | None  # (m, d) h_k^T A_i h_k, if the graphs need not be read for it
    gains: Array  # (d,)
    stationarity: Array  # (d,)
    agreement: Array  # (d,)
    reasons: tuple[str, ...]  # (d,)
    size: int  # how many components were searched for them
    n_iter: int
    n_passes: int
    interrupted: bool


class Core(Protocol):
    """The problem restricted to a basis: which loadings there may be, and what is found."""

    def solve(self, basis: Basis, d: int, search: Search, tol: Array) -> Any:
        """Return d components of the cores (with ``Y``, ``gains``, ``agreement``)."""
        ...

    def gradients(self, basis: Basis, fit: Any) -> tuple[Array, Array]:
        """Return the gradients r_k, (n, d), and ||r_k|| / theta_k, (d,), in the full space."""
        ...


class _Record(NamedTuple):
    """One complete round."""

    H: Array  # (n, d)
    Psi: Array  # (m, d)
    gains: Array  # (d,), as all that follow
    stationarity: Array
    agreement: Array
    done: NDArray[np.bool_]
    near_rounding: NDArray[np.bool_]
    n_iter: int


def find_block(
    graphs: BlockGraphs,
    want: int,
    job: Job,
    core: Core,
    *,
    rest: BlockGraphs,
    n_frozen: int,
    given: Array,
    seed: np.random.SeedSequence,
    n_before: int,
    passes_before: int,
) -> Block:
    """Find the next components.

    Parameters
    ----------
    graphs
        The graphs that the core is of.
    want
        Number of components, at most ``BLOCK``.
    job
        Settings.
    core
        The problem in the basis.
    rest
        The graphs less the components that are found: where the first basis comes from.
    n_frozen
        How many are found.
    given : (n, any)
        Directions to start from, one a component in order.
    seed
        Of the first basis and the random starts.
    n_before, passes_before
        Components found, and reads of the graphs, before: for the watcher.
    """
    rng = np.random.default_rng(seed)
    n = graphs.n_vertices
    size = given.shape[1] or min(BLOCK, max(n * (n + 1) // 2 - n_frozen, want))
    basis: Basis = CachedBasis(graphs) if job.cache else StreamedBasis(graphs)
    first = first_basis(rest, orthonormal(given, np.zeros((n, 0))), job.weights, job.sizes, rng)
    basis.n_passes += 1 + (n_frozen > 0)
    if first.shape[1] == 0:  # the graphs are zero, and any direction is as good
        first = orthonormal(rng.standard_normal((n, size)), first)
    basis.append(first)
    state = _State(basis, job, core, size, want, searches=_SEARCH if not given.shape[1] else 0)
    state.warm = basis.V.T @ given
    interrupted = False
    try:
        while True:
            last = state.step(rng)
            if job.watch is not None:
                job.watch(state.progress(n_before, passes_before))
            if last:
                break
            new = state.new_columns()
            if new.shape[1]:
                basis.append(new)
            elif not state.sharpen():
                break
    except KeyboardInterrupt:
        if state.record is None:
            raise
        interrupted = True
    return state.result(interrupted)


class _State:
    """The rounds of one block."""

    def __init__(
        self,
        basis: Basis,
        job: Job,
        core: Core,
        size: int,
        want: int,
        searches: int,
    ) -> None:
        self._basis, self._job, self._core = basis, job, core
        self._size, self._want, self._searches = size, want, searches
        self._width = basis_width(len(basis.cores), job.cache)
        self.warm: Array = np.zeros((basis.V.shape[1], 0))  # (s, b)
        self._history: list[Array] = []  # earlier solutions, (s, d)
        self._n_iter = 0
        self._core_tol = np.full(size, _ROUGH)
        self._n_fixed = 0  # finished components, before which none is unfinished
        self._best, self._since = np.full(size, np.inf), np.zeros(size, dtype=int)
        self.fit: Any = None
        self.record: _Record | None = None
        self._r = np.zeros((len(basis.V), 0))  # (n, d) gradients
        self._stationarity = np.zeros(0)
        self._done = self._near_rounding = np.zeros(0, dtype=bool)
        self._H = np.zeros((len(basis.V), 0))
        self._agreement = np.full(size, np.nan)

    def step(self, rng: np.random.Generator) -> bool:
        """Solve the core and look outside; return whether this was the last round."""
        job, basis = self._job, self._basis
        searching = self._n_iter < self._searches
        d, s = self._size, basis.V.shape[1]
        fresh = self._n_iter == 0  # later, most maxima are known, and wait in the pool
        n_random = job.n_random if searching else job.n_beside_given * fresh
        search = Search(
            warm=self.warm,
            in_order=self._searches == 0,
            by_mean=searching and fresh and job.by_mean,
            n_squares=job.n_squares if searching and fresh else 0,
            random=random_starts(rng, d, n_random, s),
            n_fixed=self._n_fixed,
            n_pool=_FROM_POOL if searching else 1,
        )
        fit = self._core.solve(basis, d, search, self._core_tol)
        r, stationarity = self._core.gradients(basis, fit)
        self.fit, self._r, self._stationarity = fit, r, stationarity
        self._H = basis.V @ fit.Y
        self._n_iter += 1
        if searching:
            self._agreement = fit.agreement
        last = self._judge(searching)
        # One assignment: whenever an interruption comes, the record is of one round.
        Psi = basis.cores @ Packing(s).outer(fit.Y.T).T
        self.record = _Record(
            self._H, Psi, fit.gains, stationarity, self._agreement, self._done, self._near_rounding,
            self._n_iter,
        )  # fmt: skip
        return last

    def _judge(self, searching: bool) -> bool:
        """Decide whether to go on, and how exactly the core is to be solved next."""
        job, size = self._job, self._stationarity
        gains = self.fit.gains
        improved = searching | (size < 0.9 * self._best)
        self._since = np.where(improved, 0, self._since + 1)
        self._best = np.where(improved, size, self._best)
        # Rounding of h and of the products is a random vector, of which a graph keeps 1 / sqrt(n).
        rounding = np.sqrt(job.noise / len(self._r) / np.maximum(gains, job.floor + 1e-300))
        self._near_rounding = size <= np.maximum(10 * rounding, FLAT * job.hollow)
        settled = self._near_rounding & (self._since >= _PATIENCE)
        settled |= self._since >= _STALLED
        # A little below: whoever takes the gradient again, in another order, finds it below tol.
        self._done = (size <= 0.9 * job.tol) | settled
        self._core_tol = np.clip(0.01 * size, 0.1 * job.tol, _ROUGH)
        if self._n_iter >= job.max_iter:
            return True
        if self._n_iter < self._searches:
            return bool(self._done.all())
        self._n_fixed = int(np.cumprod(self._done).sum())
        return self._n_fixed >= self._want

    def new_columns(self) -> Array:
        """Return what the gradients have outside of the basis; shorten that if it is wide."""
        basis, fit = self._basis, self.fit
        # Those that are nearly there still move a little with the components before them.
        open_ones = self._stationarity > 0.3 * self._job.tol
        open_ones[: self._n_fixed] = False
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
        if (self._core_tol <= best).all():
            self._done[:] = True  # nothing but rounding is left to move the components
            return False
        self._core_tol = np.full(self._size, best)
        return True

    def progress(self, n_before: int, passes_before: int) -> Progress:
        """Return where the block stands."""
        found = int((self._stationarity[: self._want] <= self._job.tol).sum())
        worst = float(self._stationarity[: self._want].max(initial=0.0))
        n_passes = passes_before + self._basis.n_passes
        return Progress(self._n_iter, None, worst, n_before + found, n_passes)

    def result(self, interrupted: bool) -> Block:
        """Return the components that are wanted, as the last complete round left them."""
        assert self.record is not None
        found, want = self.record, self._want
        unfinished = "interrupted" if interrupted else "max_iter"
        reasons = tuple(
            "exhausted" if gain == 0
            else "stationary" if size <= self._job.tol
            else "precision" if done and near
            else "stalled" if done
            else unfinished
            for gain, size, done, near in zip(
                found.gains[:want], found.stationarity[:want], found.done[:want],
                found.near_rounding[:want], strict=True,
            )
        )  # fmt: skip
        return Block(
            found.H[:, :want], found.Psi[:, :want], found.gains[:want], found.stationarity[:want],
            found.agreement[:want], reasons, self._size, found.n_iter, self._basis.n_passes,
            interrupted,
        )  # fmt: skip
