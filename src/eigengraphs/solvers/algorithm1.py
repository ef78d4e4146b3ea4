"""Algorithm 1 of the paper: alternating descent, one component after the other.

For component k with residual graphs R_i and weights w_i, minimise

    f(lam, h) = sum_i w_i ||R_i - lam_i h h^T||^2    over lam and ||h|| = 1.

An iteration takes a gradient step in h at fixed lam (eq. 5), puts h back on the sphere, and
updates lam exactly (eq. 6). With S = sum_i w_i lam_i R_i and theta = sum_i w_i lam_i^2 at the
exact lam, the gradient is -4 r with r = S h - theta h, which is tangent to the sphere.

R_i is linear, so R_i h after a step along r follows from R_i h and R_i r, and so do lam and the
objective for any length of the step: an iteration is one pass, and backtracking costs none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigengraphs.solvers.curvature import ascent_direction
from eigengraphs.solvers.loadings import active_gram, rounding_share, solve_loadings
from eigengraphs.solvers.protocol import Array, Fit, Graphs, Progress, Stage, Watcher
from eigengraphs.solvers.residuals import Residuals
from eigengraphs.solvers.start import Start, random_unit, starts

__all__ = ["algorithm1"]

_ARMIJO = 1e-4  # share of the decrease promised by the gradient that a step must deliver
_SHRINK = 0.5
_MAX_SHRINKS = 60
_REFRESH = 30  # iterations between fresh products, before rounding adds up
_ESCAPES = 5  # saddle points that one search may leave
_PATIENCE = 60  # iterations without a smaller gradient: rounding is all that is left
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class _Ascent:
    """Result of one search from one start."""

    h: Array  # (n,)
    theta: float
    stationarity: float
    n_iter: int
    stop_reason: str


def algorithm1(
    graphs: Graphs,
    d: int,
    *,
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
        The graphs, through their products.
    d
        Number of components.
    weights : (m,)
        Weight of each graph in the objective.
    init, n_init
        See :func:`~eigengraphs.solvers.start.starts`; an array holds one column a component, and
        components beyond its columns start by "auto".
    tol
        Stop a component when ||r|| <= tol * theta.
    max_iter
        Most iterations from one start.
    seed
        Child k starts component k, so d does not change the first components.
    resume
        A fit whose components are kept as they are.
    watch
        Called after each iteration.
    """
    n, m = graphs.n_vertices, graphs.n_graphs
    H, Lam, Psi = np.zeros((n, 0)), np.zeros((m, 0)), np.zeros((m, 0))
    stages: list[Stage] = []
    squared_norms = graphs.squared_norms()
    n_passes = 1
    if resume is not None:
        H, Psi, stages = resume.H, resume.Psi, list(resume.stages)
    total = float(weights @ squared_norms)
    noise = float(weights @ graphs.rounding())
    residuals = Residuals(graphs, H, Lam, weights)
    interrupted = False
    try:
        for k, child in enumerate(seed.spawn(d)):
            if k < len(stages):
                continue
            active = np.array([stage.stop_reason != "exhausted" for stage in stages], dtype=bool)
            # All loadings again, after each component: Gamma Lam^T = Psi.
            Lam = solve_loadings(active_gram(H, active), Psi)
            left = total - float(weights @ np.einsum("ik,ik->i", Lam, Psi))
            residuals = residuals.deflated(H, Lam)
            kind: Start | Array = "auto"
            if not isinstance(init, np.ndarray):
                kind = init
            elif k < init.shape[1]:
                kind = init[:, k]
            rng = np.random.default_rng(child)
            found, start_name = _component(
                residuals, weights, left, total, noise, kind, n_init, tol, max_iter, k, watch, rng
            )
            Psi = np.column_stack([Psi, graphs.quadratic_forms(found.h[:, None])[:, 0]])
            H = np.column_stack([H, found.h])
            n_passes += 1
            stages.append(
                Stage(found.n_iter, found.stop_reason, found.stationarity, found.theta, start_name)
            )
    except KeyboardInterrupt:
        if not stages:
            raise
        interrupted = True
    done = len(stages)
    n_passes += residuals.n_passes
    return Fit(H[:, :done], Psi[:, :done], tuple(stages), n_passes, interrupted=interrupted)


def _component(
    residuals: Residuals,
    weights: Array,
    left: float,
    total: float,
    noise: float,
    kind: Start | Array,
    n_init: int,
    tol: float,
    max_iter: int,
    k: int,
    watch: Watcher | None,
    rng: np.random.Generator,
) -> tuple[_Ascent, str]:
    """Return the best of the searches for component k, and the name of its start."""
    n = residuals.n_vertices
    best: _Ascent | None = None
    start_name = "none"
    if left > max(rounding_share(n) * total, noise):
        for name, h in starts(kind, residuals, weights, left, n_init, rng):
            found = _ascend(residuals, h, weights, tol, max_iter, total, k, watch, rng)
            if best is None or found.theta > best.theta:
                best, start_name = found, name
        if best is not None and best.stop_reason == "flat":
            # h^T R_i h = 0 for all i, as on one side of bipartite graphs: no way is up from
            # there, but almost any other start does.
            start_name, h = "random", random_unit(n, rng)
            best = _ascend(residuals, h, weights, tol, max_iter, total, k, watch, rng)
    if best is None or best.theta <= n * noise:
        best = _Ascent(random_unit(n, rng), 0.0, 0.0, 0, "exhausted")
    return best, start_name


def _ascend(
    residuals: Residuals,
    h: Array,
    weights: Array,
    tol: float,
    max_iter: int,
    total: float,
    k: int,
    watch: Watcher | None,
    rng: np.random.Generator,
) -> _Ascent:
    """Maximise sum_i w_i (h^T R_i h)^2 from ``h`` by gradient steps with Armijo backtracking."""
    nothing = _EPS**2 * total
    Y, fresh = residuals.multiply(h), True  # R_i h
    lam, theta, r, stationarity = _gradient(Y, h, weights)
    step = 1.0 / max(theta, 1e-300)  # the length of a power iteration: h + r / theta = S h / theta
    best, best_iter, best_theta = stationarity, 0, theta
    n_iter = n_escapes = 0
    while True:
        if theta <= nothing:
            return _Ascent(h, theta, 0.0, n_iter, "flat")
        if not fresh and (stationarity <= tol or n_iter % _REFRESH == 0 or n_iter == max_iter):
            Y, fresh = residuals.multiply(h), True
            lam, theta, r, stationarity = _gradient(Y, h, weights)
        if watch is not None:
            watch(Progress(n_iter, k, stationarity, k, residuals.n_passes))
        if stationarity <= tol:
            p = None
            if n_escapes < _ESCAPES and n_iter < max_iter:
                p = ascent_direction(residuals, h, Y, lam, theta, weights, rng)
            if p is None:
                return _Ascent(h, theta, stationarity, n_iter, "stationary")
            n_escapes += 1
            n_iter += 1
            h, Y = _escape(h, Y, lam, p, residuals.multiply(p), weights)
            fresh = False
            lam, theta, r, stationarity = _gradient(Y, h, weights)
            step, best, best_iter, best_theta = 1.0 / theta, stationarity, n_iter, theta
            continue
        if n_iter == max_iter:
            return _Ascent(h, theta, stationarity, n_iter, "max_iter")
        if stationarity < best:
            best, best_iter, best_theta = stationarity, n_iter, theta
        elif n_iter - best_iter >= _PATIENCE and theta <= best_theta * (1 + 1e-10):
            return _Ascent(h, theta, stationarity, n_iter, "precision")

        Z = residuals.multiply(r)  # R_i r
        step = _backtrack(step, r, Y @ r, Z @ r, lam, theta, weights)
        h_old, r_old = h, r
        h = h + step * r
        length = float(linalg.norm(h))
        h, Y, fresh = h / length, (Y + step * Z) / length, False
        lam, theta, r, stationarity = _gradient(Y, h, weights)
        step = _next_step(h - h_old, r - r_old, theta)
        n_iter += 1


def _gradient(Y: Array, h: Array, weights: Array) -> tuple[Array, float, Array, float]:
    """Return lam (m,) by eq. (6), theta, r (n,) of eq. (5) without its -4, and ||r|| / theta."""
    lam = Y @ h
    theta = float(weights @ lam**2)
    r = (weights * lam) @ Y - theta * h
    r -= (r @ h) * h  # tangent but for rounding
    return lam, theta, r, float(linalg.norm(r)) / max(theta, 1e-300)


def _backtrack(
    step: float, r: Array, hRr: Array, rRr: Array, lam: Array, theta: float, weights: Array
) -> float:
    """Shrink the step along r until it meets Armijo's condition.

    The objective that must fall enough is the one after the update of lam (line 9 of the
    algorithm); asking it at the old lam forbids the long steps and costs up to five times the
    iterations. Along h(t) = (h + t r) / ||h + t r|| the loadings change by

        change_i = (2 t h^T R_i r + t^2 (r^T R_i r - lam_i ||r||^2)) / (1 + t^2 ||r||^2)

    and the objective falls by 2 sum_i w_i lam_i change_i + sum_i w_i change_i^2, whose first sum
    is taken by sum_i w_i lam_i h^T R_i r = ||r||^2, without cancellation.
    """
    r2 = float(r @ r)
    rSr = float((weights * lam) @ rRr)
    for _ in range(_MAX_SHRINKS):
        length2 = 1 + step**2 * r2
        change = (2 * step * hRr + step**2 * (rRr - lam * r2)) / length2
        first = 2 * step * (2 * r2 + step * (rSr - theta * r2)) / length2
        if first + float(weights @ change**2) >= 4 * _ARMIJO * step * r2:
            break
        step *= _SHRINK
    return step


def _escape(
    h: Array, Y: Array, lam: Array, p: Array, Z: Array, weights: Array
) -> tuple[Array, Array]:
    """Return the best point, and its R_i h, on the circle through h and the tangent p.

    On h cos t + p sin t the loadings are lam cos^2 t + 2 (h^T R_i p) cos t sin t + (p^T R_i p)
    sin^2 t, so that the whole circle costs the one pass that gave ``Z``, R_i p.
    """
    t = np.linspace(-np.pi / 2, np.pi / 2, 181)[:, None]
    loadings = lam * np.cos(t) ** 2 + (Y @ p) * np.sin(2 * t) + (Z @ p) * np.sin(t) ** 2
    best = float(t[np.argmax(loadings**2 @ weights), 0])
    cos, sin = np.cos(best), np.sin(best)
    return cos * h + sin * p, cos * Y + sin * Z


def _next_step(change: Array, gradient_change: Array, theta: float) -> float:
    """Return the first step to try: Barzilai and Borwein's, within sane bounds."""
    bend = abs(float(change @ gradient_change))
    step = float(change @ change) / bend if bend > 0 else 1.0 / theta
    return min(max(step, 1e-2 / theta), 1e4 / theta)
