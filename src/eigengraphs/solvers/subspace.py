"""All components from a small basis: a pass or two over the graphs for each digit.

Keep an orthonormal basis V (n, s). The cores V^T A_i V carry the whole greedy problem restricted
to span V, which :mod:`core` solves. What is missing shows in the full-space gradients

    r_k = sum_i w_i lam_ik R_i h_k - theta_k h_k,      h_k = V y_k,

whose part outside of span V is that of sum_i w_i lam_ik A_i h_k, because all h_j lie in it. Append
them to V (a block Davidson method), and again, until every ||r_k|| <= tol * theta_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigengraphs.solvers.core import CoreFit, solve_core
from eigengraphs.solvers.loadings import component_gram, solve_loadings
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.products import (
    BasisProducts,
    BlockGraphs,
    CachedProducts,
    StreamedProducts,
)
from eigengraphs.solvers.protocol import Array, Fit, Progress, Stage
from eigengraphs.solvers.start import Start

__all__ = ["subspace"]

_WHOLE = 32  # vertices; up to here the basis is everything and one pass is enough
_GUARDS = 3  # components beyond d that are carried along, lest a better one is overlooked
_EXTRA = 6  # columns of the first basis beyond d
_LEAST = 16  # columns of the first basis at least; products of 16 cost what those of 10 do
_RANDOM = 3  # random starts in the core beyond n_init
_EXPLORE = 8  # rounds that look for other optima: weak components show late in the basis
_PATIENCE = 3  # rounds without progress near the rounding of the products
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class _Round:
    """What one round found, guards included."""

    r: Array  # (n, D) gradients outside of span V
    outside: Array  # (D,) their norms over theta
    stationarity: Array  # (D,) norms of the whole gradients over theta


def subspace(
    graphs: BlockGraphs,
    d: int,
    *,
    weights: Array,
    init: Start | Array,
    n_init: int,
    tol: float,
    max_iter: int,
    seed: np.random.SeedSequence,
    cache: bool,
    resume: Fit | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Find d components greedily, all of them in each pass.

    Parameters
    ----------
    graphs
        The graphs, through their products with blocks.
    d
        Number of components.
    weights : (m,)
        Weight of each graph in the objective.
    init : (n, any) or str
        Vectors to begin with, one a component; names of starts mean nothing here, for the core
        tries them all.
    n_init
        Random starts of each component in the core, beside the spectral ones.
    tol
        Stop when ||r_k|| <= tol * theta_k for every component.
    max_iter
        Most rounds.
    seed
        Source of the first basis and of the random starts.
    cache
        Keep the products of the graphs with the basis: m n s numbers against every second pass.
    resume
        A fit whose components are kept as they are.
    progress
        Called after each round for each component.
    """
    n, m = graphs.n_vertices, graphs.n_graphs
    D = min(d + _GUARDS, n * (n + 1) // 2)
    n_fixed = 0 if resume is None else resume.H.shape[1]
    basis_seed, *seeds = seed.spawn(D + 1)
    # Directions in the whole space, a stream a component: neither d nor the basis changes them.
    random = np.array(
        [np.random.default_rng(child).standard_normal((n_init + _RANDOM, n)) for child in seeds]
    )
    total = float(weights @ graphs.squared_norms())
    noise = float(weights @ graphs.rounding())
    floor = max((100 * n * _EPS) ** 2 * total, n * noise)
    products: BasisProducts = CachedProducts(graphs) if cache else StreamedProducts(graphs)
    given = _given(init, resume, n)
    new = _first_basis(graphs, D, weights, given, basis_seed)
    if new.shape[1] == 0:  # the graphs are zero, and any direction is as good
        new = _orthonormal(random[:, 0].T, np.zeros((n, 0)))
    n_passes = 2 if new.shape[1] < n else 1  # norms, and the sum of squares
    cores, warm, before = np.zeros((m, 0, 0)), new.T @ given, np.zeros((new.shape[1], 0))
    best, since, n_iter = np.inf, 0, 0
    while True:
        cores = _extended(cores, products.append(new))
        fit = solve_core(
            cores, weights, D, warm=warm, n_fixed=n_fixed, explore=n_iter < _EXPLORE,
            random=_within(random, products.V), tol=0.1 * tol, floor=floor,
        )  # fmt: skip
        found = _look_outside(products, cores, weights, fit, n_fixed)
        n_iter += 1
        if progress is not None:
            for k in range(d):
                progress(k, n_iter, float(found.stationarity[k]))
        size = found.stationarity[:d]
        best, since = (size.max(), 0) if size.max() < 0.9 * best else (best, since + 1)
        # Rounding of the products alone leaves a gradient of about this size beside theta.
        rounding = np.sqrt(noise / np.maximum(fit.gains[:d], floor + 1e-300))
        done = (size <= tol) | ((size <= 10 * rounding) & (since >= _PATIENCE))
        whole = products.V.shape[1] >= n
        if done.all() or whole or n_iter >= max_iter:
            break
        warm = fit.Y
        if warm.shape[0] + D > 4 * D + 2 * _EXTRA:
            T = _orthonormal(np.column_stack([fit.Y, before]), np.zeros((len(fit.Y), 0)))
            products.rotate(T)
            cores = np.matmul(T.T, np.matmul(cores, T))
            warm = T.T @ fit.Y
        # Guards need not converge, only not be overlooked.
        needed = np.where(np.arange(D) < d, 0.1 * tol, max(tol, 1e-2))
        new = _orthonormal(found.r[:, found.outside > needed], products.V)
        warm = np.vstack([warm, np.zeros((new.shape[1], D))])
        before = warm
    reasons = [
        "exhausted" if gain == 0
        else "stationary" if left <= tol
        else "precision" if settled
        else "max_iter"
        for gain, left, settled in zip(fit.gains[:d], size, done, strict=True)
    ]  # fmt: skip
    stages = tuple(
        Stage(n_iter, reason, float(left), float(gain), "core")
        for reason, left, gain in zip(reasons, size, fit.gains[:d], strict=True)
    )
    n_passes += products.n_passes
    return _result(products.V, cores, fit, random[:, 0].T, stages, resume, n_passes)


def _look_outside(
    products: BasisProducts, cores: Array, weights: Array, fit: CoreFit, n_fixed: int
) -> _Round:
    """Return the full-space gradients of the components of the cores."""
    V = products.V
    r = products.combine(weights[:, None] * _stage_loadings(cores, fit), fit.Y)
    for _ in range(2):
        r = r - V @ (V.T @ r)
    sizes = np.sqrt((r**2).sum(axis=0))
    outside = np.divide(sizes, fit.gains, out=np.zeros_like(sizes), where=fit.gains > 0)
    outside[:n_fixed] = 0.0  # they are as they are
    return _Round(r, outside, np.hypot(outside, fit.stationarity))


def _result(
    V: Array,
    cores: Array,
    fit: CoreFit,
    random: Array,
    stages: tuple[Stage, ...],
    resume: Fit | None,
    n_passes: int,
) -> Fit:
    """Return the first components, one a stage, with loadings by least squares.

    A component that had nothing to fit is a column of ``random`` (n, any), without loadings.
    """
    d = len(stages)
    Y, active = fit.Y[:, :d], fit.gains[:d] > 0
    H = np.where(active, V @ Y, random[:, :d])
    H /= np.sqrt((H**2).sum(axis=0))
    if resume is not None:
        kept = resume.H.shape[1]
        H[:, :kept] = resume.H
        stages = resume.stages + stages[kept:]
    packing = Packing(len(Y))
    Psi = packing.pack(cores) @ packing.outer(Y.T).T
    Gamma = np.where(np.outer(active, active), component_gram(H), 0.0)
    return Fit(H, solve_loadings(Gamma, Psi), stages, n_passes)


def _given(init: Start | Array, resume: Fit | None, n: int) -> Array:
    """Return the vectors to begin with, (n, b), unit columns, fixed ones first."""
    given = np.zeros((n, 0)) if resume is None else resume.H
    if isinstance(init, np.ndarray):
        further = init[:, given.shape[1] :]
        given = np.column_stack([given, further / np.sqrt((further**2).sum(axis=0))])
    return given


def _first_basis(
    graphs: BlockGraphs, d: int, weights: Array, given: Array, seed: np.random.SeedSequence
) -> Array:
    """Return the first orthonormal basis: the range of sum_i w_i A_i^2, and given vectors."""
    n = graphs.n_vertices
    s = max(_LEAST, d + _EXTRA)
    if n <= max(_WHOLE, s):
        return np.eye(n)
    # Column by column, so that fewer components begin with the first of the same columns.
    Omega = np.random.default_rng(seed).standard_normal((s, n)).T
    G = graphs.square_multiply(np.ascontiguousarray(Omega), weights)
    return _orthonormal(np.column_stack([given, G]), np.zeros((n, 0)))


def _orthonormal(columns: Array, V: Array) -> Array:
    """Return an orthonormal basis of what ``columns`` have outside of span V."""
    B = np.zeros((len(columns), 0))
    # One after the other: QR with pivoting would let rounding choose among equals, and without
    # it a dependent column becomes an arbitrary direction that the later ones then lose.
    for column in columns.T:
        size = float(linalg.norm(column))
        for _ in range(2):
            column = column - V @ (V.T @ column) - B @ (B.T @ column)
        left = float(linalg.norm(column))
        if left > 1e-10 * size:
            B = np.column_stack([B, column / left])
    return B


def _within(directions: Array, V: Array) -> Array:
    """Return directions (d, b, n) as unit vectors of span V, (d, b, s)."""
    Y = directions @ V
    units: Array = Y / np.sqrt((Y**2).sum(axis=2, keepdims=True))
    return units


def _extended(cores: Array, cross: Array) -> Array:
    """Return the cores of [V B] from those of V and [V B]^T A_i B."""
    m, size, b = cross.shape
    s = size - b
    larger = np.empty((m, size, size))
    larger[:, :s, :s] = cores
    larger[:, :, s:] = cross
    larger[:, s:, :s] = cross[:, :s].transpose(0, 2, 1)
    corner = larger[:, s:, s:]
    larger[:, s:, s:] = (corner + corner.transpose(0, 2, 1)) / 2  # symmetric but for rounding
    return larger


def _stage_loadings(cores: Array, fit: CoreFit) -> Array:
    """Return lam_ik = h_k^T R_i h_k on the residuals of stage k, (m, d).

    What stage k has left of a packed core is its part outside of the earlier z_j, so that
    lam_ik is the inner product with z_k less its projection on them.
    """
    packing = Packing(len(fit.Y))
    Z = packing.outer(fit.Y.T).T  # (p, d)
    Q, outside = np.zeros_like(Z), np.zeros_like(Z)
    for k in np.flatnonzero(fit.gains > 0):
        z = Z[:, k] - Q[:, :k] @ (Q[:, :k].T @ Z[:, k])
        outside[:, k] = z
        z = z - Q[:, :k] @ (Q[:, :k].T @ z)
        Q[:, k] = z / linalg.norm(z)
    loadings: Array = packing.pack(cores) @ outside
    return loadings
