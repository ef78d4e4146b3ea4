"""The greedy problem on small cores: all of it, with many starts, in milliseconds.

Given cores C_i = V^T A_i V (s, s), find unit vectors y_1, ..., y_d one after the other, each a
maximum of

    F(y) = sum_i w_i (y^T C_i y)^2     on what the earlier ones left.

Packed as vectors, the weighted cores are the rows of a matrix R, and F(y) = ||R z||^2 with
z = packed y y^T. Only R^T R matters, so many graphs are compressed to at most p = s (s + 1) / 2
rows. Because all loadings are solved again after each component, what is left is R (I - P), P the
projector on the z found so far: the graphs are not needed again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array

__all__ = ["CoreFit", "solve_core"]

_NEWTON_STEPS = 300  # a few do near a maximum; the monotone steps before may be many
_FIRST_CLIMB = 4  # monotone steps of every start
_SECOND_CLIMB = 8  # further ones of the best few
_FINALISTS = 3
_NEGLIGIBLE = 1e-6  # a mean core smaller than this beside the cores, as when centred, is rounding


@dataclass(frozen=True)
class CoreFit:
    """Components of the cores."""

    Y: Array  # (s, d), unit columns
    gains: Array  # (d,) theta_k = F(y_k) on what was left
    stationarity: Array  # (d,) ||S y - theta y|| / theta within the core


def solve_core(
    cores: Array,
    weights: Array,
    d: int,
    *,
    warm: Array,
    n_fixed: int,
    explore: bool,
    random: Array,
    tol: float,
    floor: float,
) -> CoreFit:
    """Find d components of ``cores`` (m, s, s).

    Parameters
    ----------
    cores, weights
        Cores of the graphs and the weight of each.
    d
        Number of components.
    warm : (s, any)
        Vectors to start from; each component takes the one that explains most of what is left.
    n_fixed
        The first so many components are those of ``warm``, not to be changed.
    explore
        Try spectral and random starts as well.
    random : (d, b, s)
        Random starts of each component.
    tol
        Relative gradient at which Newton's method stops.
    floor
        A gain below this is rounding: the component and all later ones are zero.
    """
    s = cores.shape[1]
    packing = Packing(s)
    R = packing.pack(cores) * np.sqrt(weights)[:, None]
    mean = weights @ packing.pack(cores) / weights.sum()
    if len(R) > packing.size:
        R = np.asarray(linalg.qr(R, mode="r", check_finite=False)[0][: packing.size])
    Y = np.zeros((s, d))
    gains, stationarity = np.zeros(d), np.zeros(d)
    pool = warm.T  # (b, s), the vectors that no component has taken yet
    found: list[Array] = []  # orthonormal basis of the packed components
    for k in range(d):
        if k < n_fixed:
            y = pool[0]
            theta = _state(R, packing, y)[1]
            pool = pool[1:]
        else:
            explained = ((packing.outer(pool) @ R.T) ** 2).sum(axis=1)
            y = pool[np.argmax(explained)] if len(pool) else random[k, 0]
            if explore or len(pool) == 0:
                starts = np.array([y, *_spectral(R, mean, packing), *random[k]])
                y = _explore(R, packing, starts)
            pool = np.delete(pool, np.argmax(explained), axis=0) if len(pool) else pool
            y, theta, stationarity[k] = _newton(R, packing, y, tol)
        if theta <= floor:
            break
        Y[:, k], gains[k] = y, theta
        z = packing.outer(y[None])[0]
        for _ in range(2):  # twice: once leaves rounding of nearly dependent components
            for q in found:
                z = z - (z @ q) * q
        z /= linalg.norm(z)
        found.append(z)
        R = R - np.outer(R @ z, z)
        mean = mean - (mean @ z) * z
    return CoreFit(Y, gains, stationarity)


def _spectral(R: Array, mean: Array, packing: Packing) -> list[Array]:
    """Return top eigenvectors of sum_i C_i^2, and of the mean core unless it is rounding."""
    C = packing.unpack(R)
    squares = linalg.eigh(np.tensordot(C, C, axes=([0, 2], [0, 2])))[1]
    starts = list(squares[:, -3:].T)
    if linalg.norm(mean) > _NEGLIGIBLE * linalg.norm(R):
        values, vectors = linalg.eigh(packing.unpack(mean))
        starts.append(vectors[:, np.argmax(np.abs(values))])
    return starts


def _explore(R: Array, packing: Packing, starts: Array) -> Array:
    """Return the best vector found from ``starts`` (b, s)."""
    finalists, values = _climb(R, packing, starts, _FIRST_CLIMB)
    best = np.argsort(-values, kind="stable")[:_FINALISTS]
    finalists, values = _climb(R, packing, finalists[best], _SECOND_CLIMB)
    best_one: Array = finalists[np.argmax(values)]
    return best_one


def _climb(R: Array, packing: Packing, Y: Array, n_steps: int) -> tuple[Array, Array]:
    """Take steps y <- top eigenvector of sum_i (y^T C_i y) C_i; F never falls.

    F is convex in z = y y^T, so its linear model at z, <S, y y^T>, bounds it from below; the
    top eigenvector maximises that over all unit y.
    """
    for _ in range(n_steps):
        S = packing.unpack((packing.outer(Y) @ R.T) @ R)
        Y = np.linalg.eigh(S)[1][:, :, -1]
    return Y, ((packing.outer(Y) @ R.T) ** 2).sum(axis=1)


def _newton(R: Array, packing: Packing, y: Array, tol: float) -> tuple[Array, float, float]:
    """Finish by Newton's method on the sphere, with a monotone step where Newton's is worse.

    The Hessian of F / 4 on the tangent space is S + 2 sum_i (C_i y)(C_i y)^T - theta I.
    """
    C = packing.unpack(R)
    S, theta, r = _state(R, packing, y)
    for _ in range(_NEWTON_STEPS):
        size = float(linalg.norm(r))
        if size <= tol * theta or theta == 0.0:
            break
        B = C @ y
        Hessian = S + 2 * B.T @ B - theta * np.eye(len(y))
        # Bordered by y: the step stays tangent without a basis of the tangent space.
        system = np.block([[Hessian, y[:, None]], [y[None], np.zeros((1, 1))]])
        step = linalg.lstsq(system, np.append(-r, 0.0), check_finite=False)[0][:-1]
        trial = y + step
        trial /= linalg.norm(trial)
        S_new, theta_new, r_new = _state(R, packing, trial)
        if theta_new < theta * (1 - 1e-14) or linalg.norm(r_new) * theta >= size * theta_new:
            trial = linalg.eigh(S)[1][:, -1]
            S_new, theta_new, r_new = _state(R, packing, trial)
        y, S, theta, r = trial, S_new, theta_new, r_new
    return y, theta, float(linalg.norm(r)) / theta if theta > 0 else 0.0


def _state(R: Array, packing: Packing, y: Array) -> tuple[Array, float, Array]:
    """Return S = sum_i (y^T C_i y) C_i, theta = F(y), and r = S y - theta y."""
    t = R @ packing.outer(y[None])[0]
    S = packing.unpack(t @ R)
    theta = float(t @ t)
    return S, theta, S @ y - theta * y
