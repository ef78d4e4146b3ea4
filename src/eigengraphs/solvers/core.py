"""The greedy problem on small cores: all of it, with many starts, in milliseconds.

Given cores C_i = V^T A_i V (s, s), find unit vectors y_1, ..., y_d one after the other, each a
maximum of :class:`~eigengraphs.solvers.quotient.Quotient` on what the earlier ones left. Packed
as vectors, the weighted cores are the rows of a matrix R, and only R^T R matters, so many
graphs are compressed to at most p = s (s + 1) / 2 rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs.solvers.deflation import Deflation
from eigengraphs.solvers.eigen import eigen_small
from eigengraphs.solvers.moment_kernels import put_back
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.quotient import Quotient
from eigengraphs.solvers.remainder import Remainder

__all__ = ["CoreFit", "CoreProblem", "Search", "compress", "root_of_moment", "solve_core"]

_CLIMB = 4  # steps of every start
_FINALISTS = 3  # that go on to their maximum
_CLOSE = 0.9  # to the best: how good a finalist must be
_FINAL_CLIMB = 4  # steps of finalists, after which they are compared where rounds follow
_ROUGH = 1e-2  # relative gradient at which they are compared where none does
_NEGLIGIBLE = 1e-6  # a mean core smaller than this beside the cores, as when centred, is rounding
_SAME = 0.99  # |cosine| of starts that climbed to one maximum
_OVERLAP = 0.3  # of a component is counted as new at least: less makes loadings that cancel
_MANY = 4  # times p: so many graphs are summed up in their second moment


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


@dataclass(frozen=True)
class CoreFit:
    """Components of the cores."""

    Y: Array  # (s, d), unit columns, zero where nothing was left
    gains: Array  # (d,) f at y_k, of what was left
    stationarity: Array  # (d,) relative gradient within the core
    agreement: Array  # (d,) share of the starts that climbed to the same maximum; nan for one
    deflation: Deflation


def compress(packed: Array, weights: Array) -> tuple[Array, Array, bool]:
    """Return R (r, p) with R^T R = sum_i w_i c_i c_i^T, the mean core, and whether by squares.

    ``packed`` (m, p) holds the cores c_i. The second moment itself costs half of what a QR
    factorisation does, and half the digits.
    """
    m, p = packed.shape
    R = packed if (weights == 1.0).all() else packed * np.sqrt(weights)[:, None]
    mean = weights @ packed / np.sqrt(weights.sum())
    if m <= p:
        return R, mean, False
    if m <= _MANY * p:
        return np.asarray(linalg.qr(R, mode="r", check_finite=False)[0][:p]), mean, False
    return root_of_moment(R.T @ R), mean, True


def root_of_moment(M: Array, *, overwrite: bool = False) -> Array:
    """Return R (r, p) with R^T R = M, r the rank, by Cholesky with pivoting.

    The upper triangle of M is enough. With ``overwrite``, one in Fortran's order is used up.
    """
    factor, pivots, rank, _ = linalg.lapack.dpstrf(M, lower=0, overwrite_a=overwrite)
    R = np.zeros((rank, len(M)))
    put_back(factor, pivots, R)
    return R


def solve_core(problem: CoreProblem, d: int, search: Search, tol: Array | float) -> CoreFit:
    """Find d components of the cores, to relative gradients of ``tol``, (d,) or one, in them."""
    tol = np.broadcast_to(tol, (d,))
    s = problem.V.shape[1]
    packing = Packing(s)
    deflation = Deflation(packing, problem.V, problem.frozen, problem.hollow)
    cores, mean = Remainder(problem.R), problem.mean
    spectral = search.by_mean or search.n_squares > 0
    squares = _sum_of_squares(problem.R, packing) if spectral else np.zeros((s, s))
    Y, gains, stationarity = np.zeros((s, d)), np.zeros(d), np.zeros(d)
    agreement = np.full(d, np.nan)
    pool = search.warm.T  # (b, s), the vectors that no component has taken yet
    pool_T = cores.rough_forms(packing.rough_outer(pool))  # (b, r) y^T C_i y, as cores go on
    pool_Z = packing.outer(pool)
    left = problem.left
    quotient = Quotient(cores, packing, problem.V if problem.hollow else None)
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
        if spectral:
            starts = np.vstack([starts, *_spectral(search, cores, mean, squares, packing)])
        if k < len(search.random) and not stays:
            starts = np.vstack([starts, search.random[k]])
        if len(starts) == 0:
            starts = _elsewhere(quotient, s)[None]
        searched = len(starts) > n_left or (search.n_pool > 1 and not stays)
        if len(starts) > 1:
            starts, agreed = _explore(quotient, deflation, starts)
            agreement[k] = agreed if searched else np.nan  # two that contend are no search
        if len(starts) > 1 and search.to_the_top:
            enough = max(tol[k], _ROUGH)
            starts = np.array([quotient.maximise(start, enough)[0] for start in starts])
        elif len(starts) > 1:
            starts = quotient.climb(starts, _FINAL_CLIMB)
        if len(starts) > 1:
            starts = starts[[np.argmax(_falls(quotient, deflation, starts))]]
        climb = quotient.measure if k < search.n_fixed else quotient.maximise
        y, gains[k], stationarity[k] = climb(starts[0], tol[k])
        if left > problem.nothing and gains[k] <= problem.floor:
            # y^T C_i y = 0 for all i, as on one side of bipartite graphs: no way is up from
            # there, but from almost anywhere else.
            y, gains[k], stationarity[k] = quotient.maximise(_elsewhere(quotient, s), tol[k])
        if not in_order and len(pool):
            taken = np.abs(pool @ y)
            # One at least, lest a component that moved far leaves a place too few.
            kept = (taken < _SAME) & (taken < taken.max())
            pool, pool_T, pool_Z = pool[kept], pool_T[kept], pool_Z[kept]
        if left <= problem.nothing or gains[k] <= problem.floor:
            gains[k] = stationarity[k] = 0.0
            break
        Y[:, k] = y
        q, square = deflation.add(y)
        z = packing.outer(y[None])
        t = quotient.forms / square
        left -= square * float(t @ t)
        if spectral:
            S = packing.unpack(cores.sums(t[None])[0])
            squares = _deflated_squares(squares, S, packing.unpack(q), float(t @ t))
        cores.take_off(t, q)
        if len(pool):
            pool_T -= np.outer(pool_Z @ q, t).astype(np.float32)
        mean = mean - (mean @ z[0] / square) * q
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
    T: NDArray[np.float32] | None = None,
) -> Array:
    """Return by how much the objective falls with each of the rows of ``Y`` (b, s).

    All loadings are solved again, so that it falls by more than f where components overlap. Among
    maxima of f, the one to keep is the one that leaves least. ``Z`` (b, p) holds packed y y^T and
    ``T`` (b, r) y^T C_i y, if they are known.
    """
    norms = quotient.norms(Y)
    left = np.maximum(deflation.remaining(Y, norms, Z), _OVERLAP * norms)
    numerators = quotient.numerators(Y) if T is None else np.einsum("br,br->b", T, T, dtype=float)
    falls: Array = numerators / left
    return falls


def _explore(quotient: Quotient, deflation: Deflation, starts: Array) -> tuple[Array, float]:
    """Climb from ``starts`` (b, s); return the best few that differ, and how many agree on one."""
    climbed = quotient.climb(starts, _CLIMB)
    falls = _falls(quotient, deflation, climbed)
    order = np.argsort(-falls, kind="stable")
    finalists = climbed[order[:1]]
    for place in order[1:]:
        if len(finalists) == _FINALISTS or falls[place] < _CLOSE * falls[order[0]]:
            break
        if np.abs(finalists @ climbed[place]).max() < _SAME:
            finalists = np.vstack([finalists, climbed[place]])
    if np.abs(finalists @ climbed[0]).max() < _SAME:
        finalists = np.vstack([finalists, climbed[0]])  # so that more starts never find less
    return finalists, float((np.abs(climbed @ finalists[0]) > _SAME).mean())


def _elsewhere(quotient: Quotient, s: int) -> Array:
    """Return the best of a few directions that have nothing to do with the graphs, (s,)."""
    Y = np.random.default_rng(s).standard_normal((4, s))
    Y = quotient.climb(Y / np.sqrt((Y**2).sum(axis=1, keepdims=True)), _CLIMB, exact=True)
    return np.asarray(Y[np.argmax(quotient.numerators(Y) / quotient.norms(Y))])


def _sum_of_squares(R: Array, packing: Packing) -> Array:
    """Return sum_i C_i^2, (s, s)."""
    C = packing.unpack(R).reshape(-1, packing.order)
    return np.asarray(C.T @ C)


def _deflated_squares(squares: Array, S: Array, Q: Array, t2: float) -> Array:
    """Return sum_i (C_i - t_i Q)^2 for S = sum_i t_i C_i."""
    SQ = S @ Q
    return np.asarray(squares - SQ - SQ.T + t2 * (Q @ Q))


def _spectral(
    search: Search, cores: Remainder, mean: Array, squares: Array, packing: Packing
) -> list[Array]:
    """Return top eigenvectors of the mean core, and of sum_i C_i^2.

    A mean that is rounding has none, and the latter take its place.
    """
    starts: list[Array] = []
    if search.by_mean and linalg.norm(mean) > _NEGLIGIBLE * linalg.norm(cores.rough):
        values, vectors = eigen_small(packing.unpack(mean))
        starts.append(vectors[:, np.argmax(np.abs(values))])
    n_squares = max(search.n_squares, not starts)
    vectors = eigen_small(squares)[1]
    starts += list(vectors[:, max(0, len(squares) - n_squares) :].T)
    return starts
