"""Several components together from a small basis: a pass or two over the graphs for each digit.

Keep a small orthonormal basis. The graphs projected on it carry the whole greedy problem restricted
to its span, and are small. What is missing shows in the full-space gradients, whose parts outside
of the span are appended to the basis (a block Davidson method), and again, until every gradient
||r_k|| <= tol * theta_k. How that is done for components h h^T is in :mod:`symmetric`, for h g^T in
:mod:`directed.space`; here are the rounds.

The first rounds search: components start from many places. All compete for their order, until one
and those before it are finished: then it stays as it is. A block has a fixed number of
components, whatever is wanted of it, and goes on until those are finished: so how many are wanted
changes nothing but when it stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.old_core import Search
from eigengraphs.solvers.protocol import Array, Progress, Watcher

__all__ = ["BLOCK", "FLAT", "Block", "Job", "Keep", "Space", "find_block"]

Keep: TypeAlias = Literal["products", "cores", "moments"]

BLOCK = 12  # components that are searched together
_SEARCH, _FRESH = 3, 2  # rounds that search, and those of them that have spectral starts, too,
_SEARCH_ON = 8  # and until this one from the first component on that moved elsewhere
_RANDOM_ON = 3  # with so many random starts at most: bases are wide by then
_FEW = BLOCK // 3  # if fewer stay, it is noise, and one maximum is as good as another
_STAYED = 0.99  # |cosine| with itself, a round before, of a component that did not move
_SETTLED = 1e-2  # relative gradient: when all are below, those that stay compete no more
_FAR = 0.03  # relative gradient: with all others above, those before that are below go on alone
_GAP = 4.0  # if they gain this many times as much as the others, which will not overtake them,
_ALIKE = 2.0  # and which gain alike, up to this factor, as noise does
_FROM_POOL = 3  # earlier components that a place is given to while searching, the best later
_HISTORY, _SHORT_HISTORY = 2, 1  # earlier solutions that shortened bases keep, wide and narrow
_ROUGH = 3e-3, 1e-2  # relative gradients in the core that are enough far from the end
FLAT = 1e-6  # relative gradient that the bend of an unobserved diagonal's norm resolves for sure
_PATIENCE, _STALLED = 3, 60  # rounds without progress near the rounding of products, and elsewhere


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
    keep: Keep  # of the graphs in a basis: A_i V, the cores V^T A_i V, or their second moment
    wide: bool  # whether the basis may be as wide as where products are kept
    watch: Watcher | None


@dataclass(frozen=True)
class Block:
    """Components found together."""

    H: Array  # (n, d) h_k, or (2 n, d) h_k above g_k: unit vectors, zero where nothing was left
    Psi: Array | None  # (m, d) h_k^T A_i h_k, or h_k^T A_i g_k, if no graph is read for it
    gains: Array  # (d,)
    stationarity: Array  # (d,)
    agreement: Array  # (d,)
    reasons: tuple[str, ...]  # (d,)
    size: int  # how many components were searched for them
    n_iter: int
    n_passes: int
    interrupted: bool


class _Record(NamedTuple):
    """One complete round."""

    H: Array  # as of the block, those that are wanted
    Psi: Array | None  # (m, d), if known
    gains: Array  # of all in the block, as all that follow
    stationarity: Array
    agreement: Array
    done: NDArray[np.bool_]
    near_rounding: NDArray[np.bool_]
    n_iter: int


class Space(Protocol):
    """A basis for components of one kind, and the problem on the graphs projected on it.

    Components in the basis are points, columns of s numbers; with two sides, those of the left
    above those of the right.
    """

    @property
    def n_passes(self) -> int:
        """How often the graphs were read."""
        ...

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        ...

    @property
    def most(self) -> int:
        """How many components there can be."""
        ...

    def begin(self, given: Array, size: int, rng: np.random.Generator) -> Array:
        """Make the first basis; return the given components in it, (s, b)."""
        ...

    def random_starts(self, rng: np.random.Generator, d: int, b: int) -> Array:
        """Return points, (d, b, s)."""
        ...

    def solve(self, d: int, search: Search, tol: Array) -> Any:
        """Find d components within the basis; what is found has ``Y``, ``gains``, ``agreement``."""
        ...

    def look_outside(self, fit: Any) -> tuple[Array, Array]:
        """Return the full-space gradients, a column each, and their sizes over the gains, (d,)."""
        ...

    def components(self, Y: Array) -> Array:
        """Return the components that points are, a column each."""
        ...

    def forms(self, Y: Array) -> Array | None:
        """Return the inner products of the graphs with them, (m, d), if no graph is read for it."""
        ...

    def shorten(self, points: list[Array], n_new: int) -> list[Array]:
        """Leave the span of these points alone, if the basis has no room for n_new more columns.

        Returns the points in the basis that is left.
        """
        ...

    def widen(self, r: Array, points: list[Array]) -> list[Array] | None:
        """Add what the gradients have outside of the basis; None if there is nothing.

        Returns the points in the wider basis.
        """
        ...


def find_block(
    space: Space,
    want: int,
    job: Job,
    *,
    given: Array,
    seed: np.random.SeedSequence,
    n_before: int,
    passes_before: int,
) -> Block:
    """Find the next components.

    Parameters
    ----------
    space
        Where to look: at the graphs less the components that are frozen.
    want
        Number of components, at most ``BLOCK``.
    job
        Settings.
    given : (n, any)
        Components to start from, one after the other in order.
    seed
        Of the first basis and the random starts.
    n_before, passes_before
        Components found, and reads of the graphs, before: for the watcher.
    """
    rng = np.random.default_rng(seed)
    size = given.shape[1] or min(BLOCK, max(space.most, want))
    warm = space.begin(given, size, rng)
    searches = _SEARCH if not given.shape[1] else 0
    state = _State(space, job, size, want, searches, warm)
    interrupted = False
    try:
        while True:
            last = state.step(rng)
            if job.watch is not None:
                job.watch(state.progress(n_before, passes_before))
            if last:
                break
            if not state.widen() and not state.sharpen():
                break
    except KeyboardInterrupt:
        if state.record is None:
            raise
        interrupted = True
    return state.result(interrupted)


class _State:
    """The rounds of one block."""

    def __init__(
        self, space: Space, job: Job, size: int, want: int, searches: int, warm: Array
    ) -> None:
        self._space, self._job = space, job
        self._size, self._want, self._searches = size, want, searches
        self._warm = warm  # (s, b)
        self._history: list[Array] = []  # earlier solutions, (s, d)
        self._n_iter = 0
        self._n_together = 0  # rounds of all components
        self._n_at_work = size  # components of the next round; the others wait
        self._core_tol = self._asked = np.full(size, _ROUGH[1])  # of the next core, and of the last
        self._n_fixed = 0  # finished components, before which none is unfinished
        self._n_stayed = 0  # components that did not move, before which none did
        self._n_settled = 0  # as many, or none while some are far from finished
        self._best, self._since = np.full(size, np.inf), np.zeros(size, dtype=int)
        self.record: _Record | None = None
        self._Y = warm  # (s, size) where the components are
        self._r = np.zeros((0, 0))  # gradients, one a column; of those that wait, when last seen
        self._gains, self._stationarity = np.zeros(size), np.full(size, np.inf)
        self._done = self._near_rounding = np.zeros(size, dtype=bool)
        self._agreement = np.full(size, np.nan)

    def step(self, rng: np.random.Generator) -> bool:
        """Solve the core and look outside; return whether this was the last round."""
        job, space, k = self._job, self._space, self._n_at_work
        together = k == self._size
        first = searching = together and self._n_together < self._searches
        if self._searches and together and not first:
            searching = self._n_together < _SEARCH_ON and _FEW <= self._n_stayed < self._size
        fresh = self._n_iter < _FRESH  # later, most maxima are known, and wait in the pool
        n_random = job.n_random if searching else job.n_beside_given * (self._n_iter == 0)
        if searching and not first:
            n_random = min(n_random, _RANDOM_ON)
        search = Search(
            warm=self._warm,
            in_order=self._searches == 0,
            by_mean=searching and fresh and job.by_mean,
            n_squares=job.n_squares if searching and fresh else 0,
            random=space.random_starts(rng, k, n_random),
            n_fixed=self._n_fixed,
            n_stayed=self._n_stayed,
            n_settled=self._n_settled,
            n_pool=_FROM_POOL if searching else 1,
        )
        fit = space.solve(k, search, self._core_tol[:k])
        self._asked = self._core_tol
        r, stationarity = space.look_outside(fit)
        self._r = r if together else np.column_stack([r, self._r])
        self._Y = fit.Y if together else np.column_stack([fit.Y, _untaken(self._warm, fit.Y)])
        self._gains = np.append(fit.gains, self._gains[k:])
        self._stationarity = np.append(stationarity, self._stationarity[k:])
        self._n_iter += 1
        self._n_together += together
        self._n_stayed = _count_stayed(self._warm, fit)
        self._n_settled = self._n_stayed if self._stationarity.max() <= _SETTLED else 0
        known = np.append(fit.agreement, np.full(self._size - k, np.nan))
        self._agreement = np.where(np.isnan(known), self._agreement, known)
        last = self._judge(searching)
        # One assignment: whenever an interruption comes, the record is of one round.
        self.record = _Record(
            space.components(self._Y[:, : self._want]), space.forms(self._Y[:, : self._want]),
            self._gains, self._stationarity,
            self._agreement, self._done, self._near_rounding, self._n_iter,
        )  # fmt: skip
        return last

    def _judge(self, searching: bool) -> bool:
        """Decide whether to go on, and how exactly the core is to be solved next."""
        job, size, gains = self._job, self._stationarity, self._gains
        waiting = np.arange(self._size) >= self._n_at_work
        improved = searching | (size < 0.9 * self._best)
        self._since = np.where(improved, 0, self._since + ~waiting)
        self._best = np.where(improved, size, self._best)
        # Rounding of h and of the products is a random vector, of which a graph keeps 1 / sqrt(n).
        n = self._space.n_vertices
        rounding = np.sqrt(job.noise / n / np.maximum(gains, job.floor + 1e-300))
        self._near_rounding = size <= np.maximum(10 * rounding, FLAT * job.hollow)
        settled = self._near_rounding & (self._since >= _PATIENCE)
        settled |= self._since >= _STALLED
        # A little below: whoever takes the gradient again, in another order, finds it below tol.
        self._done = (size <= 0.9 * job.tol) | settled
        near, far = np.maximum(0.01 * size, 0.1 * job.tol), np.clip(0.05 * size, *_ROUGH)
        self._core_tol = np.where(size < _FAR, near, far)
        if self._n_iter >= job.max_iter:
            return True
        first = self._n_together < self._searches  # components come and go
        if not first or self._n_at_work < self._size:
            self._n_fixed = int(np.cumprod(self._done & ~waiting).sum())
        self._n_at_work = self._count_at_work()
        if first and self._n_at_work == self._size:
            self._n_stayed = self._n_settled = 0
            if self._done.all():
                return True
        return 0 < self._want <= self._n_fixed

    def _count_at_work(self) -> int:
        """Return how many components go on: all, or the first few that left the others behind.

        These are where they will stay, and need a few more digits. The others, noise as a rule,
        are far from anything and would take most of the time. They wait until those are finished.
        """
        if self._searches == 0:
            return self._size
        if self._n_at_work < self._size:
            stay = self._n_fixed < self._n_at_work <= self._n_stayed
            return self._n_at_work if stay else self._size
        ahead = int(np.cumprod(self._stationarity < _FAR).sum())
        if self._n_together == 1 or not self._n_fixed < ahead < self._size:
            return self._size
        before, behind = self._gains[:ahead], self._gains[ahead:]
        noise = (self._stationarity[ahead:] >= _FAR).all() and behind.max() <= _ALIKE * behind.min()
        return ahead if noise and before.min() >= _GAP * behind.max() else self._size

    def widen(self) -> bool:
        """Add what the gradients have outside of the basis; False if that is nothing."""
        # Those that are nearly there still move a little with the components before them.
        open_ones = self._stationarity > 0.3 * self._job.tol
        open_ones[: self._n_fixed] = False
        open_ones[self._n_at_work :] = False
        r = self._r[:, open_ones]
        r /= np.maximum(self._gains[open_ones], 1e-300)
        # What is left of all is for those that wait: of many vertices, each column counts.
        self._r = self._r[:, self._n_at_work :].copy()
        points = self._space.shorten([self._Y, *self._history], r.shape[1])
        wider = self._space.widen(r, points)
        kept = _HISTORY if self._job.wide else _SHORT_HISTORY
        self._history = (points if wider is None else wider)[:kept]
        self._warm = self._history[0]
        return wider is not None

    def sharpen(self) -> bool:
        """Ask more of the core when the basis holds all there is; False if it gave its best."""
        best = 0.1 * self._job.tol
        k = self._n_at_work
        if (self._asked[:k] <= best).all():
            self._done[:k] = True  # nothing but rounding is left to move these components
            self._n_fixed, self._n_at_work = k, self._size
            return k < min(self._want, self._size)
        self._core_tol = np.full(self._size, best)
        return True

    def progress(self, n_before: int, passes_before: int) -> Progress:
        """Return where the block stands."""
        found = int((self._stationarity[: self._want] <= self._job.tol).sum())
        worst = float(self._stationarity[: self._want].max(initial=0.0))
        n_passes = passes_before + self._space.n_passes
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
            found.H, found.Psi,
            found.gains[:want], found.stationarity[:want], found.agreement[:want], reasons,
            self._size, found.n_iter, self._space.n_passes, interrupted,
        )  # fmt: skip


def _count_stayed(warm: Array, fit: Any) -> int:
    """Return how many components are where ``warm`` (s, b) has them, up to the first that moved."""
    if warm.shape[1] < fit.Y.shape[1]:
        return 0
    warm = warm[:, : fit.Y.shape[1]]
    sizes = np.sqrt((warm**2).sum(axis=0) * (fit.Y**2).sum(axis=0))
    cosines = np.abs((warm * fit.Y).sum(axis=0))
    return int(np.cumprod((cosines >= _STAYED * sizes) | (fit.gains == 0)).sum())


def _untaken(warm: Array, Y: Array) -> Array:
    """Return the columns of ``warm`` (s, b) that are none of those of ``Y`` (s, d): b - d of them.

    Each of ``Y`` takes the one that is nearest to it of those that are left.
    """
    near = np.abs(warm.T @ Y)  # (b, d)
    left = np.ones(warm.shape[1], dtype=bool)
    for k in range(Y.shape[1]):
        left[np.argmax(np.where(left, near[:, k], -1.0))] = False
    return np.asarray(warm[:, left])
