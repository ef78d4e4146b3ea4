"""The greedy problem on small cores: all of it, with many starts, in milliseconds.

Given cores C_i = V^T A_i V (s, s), find unit vectors y_1, ..., y_d one after the other, each a
maximum of :class:`~eigengraphs.solvers.quotient.Quotient` on what the earlier ones left. Packed
as vectors, the weighted cores are the rows of a matrix R, and only R^T R matters, so many
graphs are compressed to at most p = s (s + 1) / 2 rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.deflation import Deflation
from eigengraphs.solvers.eigen import eigen_small
from eigengraphs.solvers.moment_kernels import put_back
from eigengraphs.solvers.packing import Packer, Packing
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.quotient import OVERLAP, Quotient
from eigengraphs.solvers.remainder import Remainder

__all__ = [
    "NEGLIGIBLE",
    "CoreFit",
    "CoreProblem",
    "Greedy",
    "Search",
    "compress",
    "find_greedily",
    "root_of_moment",
    "solve_core",
]

_CLIMB = 4  # steps of every start
_FINALISTS = 3  # that go on to their maximum
_CLOSE = 0.9  # to the best: how good a finalist must be
_ROUGH = 1e-2  # relative gradient at which they are compared where no rounds follow
NEGLIGIBLE = 1e-6  # a mean core smaller than this beside the cores, as when centred, is rounding
_SAME = 0.99  # |cosine| of starts that climbed to one maximum
_MANY = 4  # times p: so many graphs are summed up in their second moment
_SMALL_MOMENT = 2**22  # bytes
_DEFINITE = 1e3  # times p roundings: pivots of this size at least leave no doubt of the rank
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class CoreProblem:
    """Cores, compressed, and what the components must be orthogonal to."""

    R: Array  # (r, p) packed weighted cores, without the frozen components
    mean: Array  # (p,) packed weighted mean core, times the root of the weights' sum
    V: Array  # (n, s) basis
    frozen: Array  # (n, k) earlier components
    hollow: bool  # the pairs s = t take no part in the loss
    floor: float  # a gain below this is rounding
    left: float = np.inf  # sum_i w_i ||A_i||^2 of the graphs without the frozen components
    nothing: float = 0.0  # of which this much is rounding
    squares: Array | None = None  # (s, s) sum_i w_i C_i^2, if it is known


@dataclass(frozen=True)
class Search:
    """Where the components are looked for."""

    warm: Array  # (s, b) vectors to start from
    in_order: bool  # component k starts from warm[:, k]; otherwise from the best that is left
    by_mean: bool  # and from the top eigenvector of the mean core
    n_squares: int  # and from so many top eigenvectors of the sum of squared cores
    random: Array  # (d, b, s) and from these, for each component
    n_fixed: int = 0  # the first so many components are those of warm, as they are
    n_settled: int = 0  # and so many start from those of warm, in order
    n_stayed: int = 0  # and so many from the best that is left, alone
    n_pool: int = 1  # how many of those that are left, when not in order
    to_the_top: bool = False  # compare finalists at their maxima and not on their way

    @property
    def spectral(self) -> bool:
        """Whether any start comes from a spectrum."""
        return self.by_mean or self.n_squares > 0


@dataclass(frozen=True)
class CoreFit:
    """Components of the cores."""

    Y: Array  # (s, d), unit columns, zero where nothing was left
    gains: Array  # (d,) f at y_k, of what was left
    stationarity: Array  # (d,) relative gradient within the core; nan for those that are fixed
    agreement: Array  # (d,) share of the starts that climbed to the same maximum; nan for one
    deflation: Deflation


def compress(packed: Array, weights: Array) -> tuple[Array, Array, bool]:
    """Return R (r, p) with R^T R = sum_i w_i c_i c_i^T, the mean core, and whether by squares.

    ``packed`` (m, p) holds the cores c_i. The second moment itself costs half of what a QR
    factorisation does, and half the digits. Graphs of weight 0 are not there: how many rows there
    are changes how starts see them.
    """
    if not (weights > 0).all():
        packed, weights = packed[weights > 0], weights[weights > 0]
    m, p = packed.shape
    R = packed if (weights == 1.0).all() else packed * np.sqrt(weights)[:, None]
    mean = weights @ packed / np.sqrt(weights.sum())
    if m <= p:
        return R, mean, False
    if m <= _MANY * p:
        return np.asarray(linalg.qr(R, mode="r", check_finite=False)[0][:p]), mean, False
    return root_of_moment(R.T @ R), mean, True


def root_of_moment(M: Array, *, overwrite: bool = False) -> Array:
    """Return R (r, p) with R^T R = M, r the rank, by Cholesky, with pivoting if need be.

    The upper triangle of M is enough. With ``overwrite``, one in Fortran's order is used up.
    """
    if M.nbytes <= _SMALL_MOMENT:  # a copy costs less than the pivoting that few need
        factor, info = linalg.lapack.dpotrf(M.T, lower=1, clean=1)
        least = _DEFINITE * len(M) * _EPS * M.diagonal().max(initial=0.0)
        if info == 0 and (factor.diagonal() ** 2).min(initial=np.inf) > least:
            return np.ascontiguousarray(factor.T)
    factor, pivots, rank, _ = linalg.lapack.dpstrf(M, lower=0, overwrite_a=overwrite)
    R = np.zeros((rank, len(M)))
    put_back(factor, pivots, R)
    return R


class Spectra(Protocol):
    """Starts from the spectra of what is left of the cores."""

    def starts(self, search: Search) -> list[Array]:
        """Return points, (s,) each."""
        ...

    def take_off(self, t: Array, q: Array, z: Array, square: float) -> None:
        """Take t q^T off, ``square`` being ||q||^2, of the component z (p,); cores come next."""
        ...


@dataclass(frozen=True)
class Greedy:
    """What components are found with, of one kind or another."""

    quotient: Quotient
    deflation: Deflation
    cores: Remainder
    packing: Packer
    spectra: Spectra | None  # if some are asked for
    floor: float  # as of the problem, and what follows
    left: float
    nothing: float


def solve_core(problem: CoreProblem, d: int, search: Search, tol: Array | float) -> CoreFit:
    """Find d components of the cores, to relative gradients of ``tol``, (d,) or one, in them."""
    packing = Packing(problem.V.shape[1])
    deflation = Deflation(packing, problem.V, problem.frozen, problem.hollow)
    cores = Remainder(problem.R, deflation.known, combine=not search.to_the_top)
    quotient = Quotient(cores, packing, problem.V if problem.hollow else None, d)
    spectra = _Squares(problem, cores, packing) if search.spectral else None
    limits = problem.floor, problem.left, problem.nothing
    return find_greedily(
        Greedy(quotient, deflation, cores, packing, spectra, *limits), d, search, tol
    )


def find_greedily(parts: Greedy, d: int, search: Search, tol: Array | float) -> CoreFit:
    """Find d components; see :func:`solve_core`."""
    tol = np.broadcast_to(tol, (d,))
    quotient, deflation, cores, packing = (
        parts.quotient, parts.deflation, parts.cores, parts.packing
    )  # fmt: skip
    s = len(search.warm)
    Y, gains, stationarity = np.zeros((s, d)), np.zeros(d), np.zeros(d)
    agreement = np.full(d, np.nan)
    pool = search.warm.T  # (b, s), the points that no component has taken yet
    pool_Z = packing.outer(pool)
    pool_T = cores.rough_forms(pool_Z)  # (b, r) y^T C_i y, as cores go on
    left = parts.left
    for k in range(d):
        starts = np.zeros((0, s))
        in_order = search.in_order or k < max(search.n_fixed, search.n_settled)
        stays = k < max(search.n_fixed, search.n_stayed)
        if in_order:
            starts, pool, pool_T, pool_Z = pool[:1], pool[1:], pool_T[1:], pool_Z[1:]
        elif len(pool):
            best = np.argsort(-_falls(quotient, deflation, pool, pool_Z, pool_T), kind="stable")
            starts = pool[contenders(best, 1 if stays else search.n_pool)]
        n_left = len(starts)
        if parts.spectra is not None:
            starts = np.vstack([starts, *parts.spectra.starts(search)])
        if k < len(search.random) and not stays:
            starts = np.vstack([starts, search.random[k]])
        if len(starts) == 0:
            starts = _elsewhere(quotient, s)[None]
        searched = len(starts) > n_left or (search.n_pool > 1 and not stays)
        start, is_maximum, agreed = _best_start(
            quotient, deflation, starts, n_left, tol[k], search.to_the_top
        )
        agreement[k] = agreed if searched else np.nan  # two that contend are no search
        if k < search.n_fixed:
            y, gains[k], stationarity[k] = start, quotient.measure(start), np.nan
        else:
            y, gains[k], stationarity[k] = quotient.maximise(
                start, tol[k], exact=search.to_the_top, is_maximum=is_maximum
            )
        if left > parts.nothing and gains[k] <= parts.floor:
            # y^T C_i y = 0 for all i, as on one side of bipartite graphs: no way is up from
            # there, but from almost anywhere else.
            y, gains[k], stationarity[k] = quotient.maximise(_elsewhere(quotient, s), tol[k])
        if not in_order and len(pool):
            taken = quotient.cosines(pool, y)
            # One at least, lest a component that moved far leaves a place too few.
            kept = (taken < _SAME) & (taken < taken.max())
            pool, pool_T, pool_Z = pool[kept], pool_T[kept], pool_Z[kept]
        if left <= parts.nothing or gains[k] <= parts.floor:
            gains[k] = stationarity[k] = 0.0
            break
        Y[:, k] = y
        q, square = deflation.add(y)
        t = quotient.forms / square
        left -= square * float(t @ t)
        if parts.spectra is not None:
            parts.spectra.take_off(t, q, packing.outer(y[None])[0], square)
        cores.take_off(t, q, square)
        if len(pool):
            pool_T -= np.outer(pool_Z @ q, t)
    return CoreFit(Y, gains, stationarity, agreement, deflation)


def contenders(best: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return which of the components that are left may take a place: the best ``count`` of them.

    Where one alone may, and it is not the first, which had the place before, both climb, and then
    the better takes it. As they are, either may seem the better as long as the other has the place,
    and they would change places round after round.
    """
    chosen = best[:count]
    return chosen if count > 1 or chosen[0] == 0 else np.append(chosen, 0)


def _falls(
    quotient: Quotient,
    deflation: Deflation,
    Y: Array,
    Z: Array | None = None,
    T: Array | None = None,
) -> Array:
    """Return by how much the objective falls with each of the rows of ``Y`` (b, s).

    All loadings are solved again, so that it falls by more than f where components overlap. Among
    maxima of f, the one to keep is the one that leaves least. ``Z`` (b, p) holds packed y y^T and
    ``T`` (b, r) y^T C_i y, if they are known.
    """
    norms = quotient.norms(Y)
    left = np.maximum(deflation.remaining(Y, norms, Z), OVERLAP * norms)
    numerators = quotient.numerators(Y) if T is None else np.einsum("br,br->b", T, T)
    falls: Array = numerators / left
    return falls


def _best_start(
    quotient: Quotient,
    deflation: Deflation,
    starts: Array,
    n_left: int,
    tol: float,
    to_the_top: bool,
) -> tuple[Array, bool, float]:
    """Return from where to finish, of ``starts`` (b, s), the first ``n_left`` components before.

    Beside it, whether that is a maximum of the main cores for sure, and the share of the starts
    that climbed there, nan for one. Finalists are compared where they are maxima, of the main cores
    or, ``to_the_top``, of all: on the way, they seem better or worse than they are.
    """
    if len(starts) == 1:
        return starts[0], False, np.nan
    n_once = n_left if deflation.n_known and quotient.has_two_ways else len(starts)
    starts, agreed = _explore(
        quotient, starts, n_once, 2 * _FINALISTS if to_the_top else _FINALISTS
    )
    is_maximum = np.zeros(len(starts), dtype=bool)
    if not to_the_top:
        starts, is_maximum = quotient.approach(starts)
    elif len(starts) > 1:
        enough = max(tol, _ROUGH)
        starts = np.array([quotient.maximise(start, enough)[0] for start in starts])
    best = int(np.argmax(_falls(quotient, deflation, starts))) if len(starts) > 1 else 0
    return starts[best], bool(is_maximum[best]), agreed


def _explore(
    quotient: Quotient, starts: Array, n_once: int, most: int = _FINALISTS
) -> tuple[Array, float]:
    """Climb from ``starts`` (b, s); return the best few that differ, and how many agree on one.

    All climb f, and but for the first ``n_once``, they climb once more by what counts in the end:
    maxima of f that overlap with earlier components, and let the objective fall by more than f, are
    hard to find by f. Of those that were components before nothing new is to be found. ``most`` go
    on, and the first; those that agree are counted by where they climbed to by f.
    """
    by_falls = np.arange(2 * len(starts) - n_once) >= len(starts)
    climbed, falls = quotient.explore(np.vstack([starts, starts[n_once:]]), _CLIMB, by_falls)
    order = np.argsort(-falls, kind="stable")
    finalists = climbed[order[:1]]
    for place in order[1:]:
        if len(finalists) == most or falls[place] < _CLOSE * falls[order[0]]:
            break
        if quotient.cosines(finalists, climbed[place]).max() < _SAME:
            finalists = np.vstack([finalists, climbed[place]])
    if quotient.cosines(finalists, climbed[0]).max() < _SAME:
        finalists = np.vstack([finalists, climbed[0]])  # so that more starts never find less
    agree = quotient.cosines(climbed[: len(starts)], finalists[0]) > _SAME
    return finalists, float(agree.mean())


def _elsewhere(quotient: Quotient, s: int) -> Array:
    """Return the best of a few directions that have nothing to do with the graphs, (s,)."""
    Y = np.random.default_rng(s).standard_normal((4, s))
    Y = quotient.climb(np.array([quotient.unit(y) for y in Y]), _CLIMB)
    return np.asarray(Y[np.argmax(quotient.numerators(Y) / quotient.norms(Y))])


class _Squares:
    """The mean core and sum_i C_i^2 of what is left."""

    def __init__(self, problem: CoreProblem, cores: Remainder, packing: Packing) -> None:
        self._cores, self._packing, self._mean = cores, packing, problem.mean
        known = problem.squares
        self._squares = _sum_of_squares(problem.R, packing) if known is None else known

    def starts(self, search: Search) -> list[Array]:
        """Return unit vectors, (s,) each."""
        return _spectral(search, self._mean, self._squares, self._packing)

    def take_off(self, t: Array, q: Array, z: Array, square: float) -> None:
        """Take t q^T off, ``square`` being ||q||^2, of the component z (p,); cores come next."""
        packing = self._packing
        S = packing.unpack(self._cores.sums(t[None])[0])
        self._squares = _deflated_squares(self._squares, S, packing.unpack(q), float(t @ t))
        self._mean = self._mean - (self._mean @ z / square) * q


def _sum_of_squares(R: Array, packing: Packing) -> Array:
    """Return sum_i C_i^2, (s, s)."""
    C = packing.unpack(R).reshape(-1, packing.order)
    return np.asarray(C.T @ C)


def _deflated_squares(squares: Array, S: Array, Q: Array, t2: float) -> Array:
    """Return sum_i (C_i - t_i Q)^2 for S = sum_i t_i C_i."""
    SQ = S @ Q
    return np.asarray(squares - SQ - SQ.T + t2 * (Q @ Q))


def _spectral(search: Search, mean: Array, squares: Array, packing: Packing) -> list[Array]:
    """Return top eigenvectors of the mean core, and of sum_i C_i^2.

    A mean that is rounding has none, and the latter take its place.
    """
    starts: list[Array] = []
    # The trace is the sum of the squared norms of the cores.
    if search.by_mean and mean @ mean > NEGLIGIBLE**2 * np.trace(squares):
        values, vectors = eigen_small(packing.unpack(mean))
        starts.append(vectors[:, np.argmax(np.abs(values))])
    n_squares = max(search.n_squares, not starts)
    vectors = eigen_small(squares)[1]
    starts += list(vectors[:, max(0, len(squares) - n_squares) :].T)
    return starts
