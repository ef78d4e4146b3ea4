"""Algorithm 1 of the paper: alternating descent, one component after the other.

In the paper's letters, with weights w_i of the graphs, component k minimizes (eq. 3)

    f(lam, h) = sum_i w_i ||R_i - lam_i h h^T||^2    over lam and ||h|| = 1,

where R_i = A_i - sum_{j<k} Lam_ij h_j h_j^T is what the earlier components leave. At the best
lam_i = h^T R_i h (eq. 6), f = sum_i w_i ||R_i||^2 - theta with theta = sum_i w_i lam_i^2, and the
gradient (eq. 5) is -4 r with r = sum_i w_i lam_i R_i h - theta h, tangent to the sphere.

This is the plain version, and the oracle of the tests. Each point that is tried is one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigengraphs.operators.protocol import Operator
from eigengraphs.solvers.full_space import lanczos
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import component_gram, rounding_share, solve_loadings
from eigengraphs.solvers.solution import Array, Fit, Progress, Stage, Start, Watcher

__all__ = ["algorithm1"]

_ARMIJO = 1e-4  # share of the promised decrease that a step must deliver


def algorithm1(
    graphs: Operator,
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
        The graphs A_i, through their products.
    d
        Number of components.
    weights : (m,)
        Weight w_i of each graph in the objective.
    init
        Where a component starts. "svd": the top singular vector of the mean residual, as in the
        paper. "random". "auto": that singular vector or the top eigenvector of sum_i R_i^2,
        whichever explains more. An array (n, d'): its columns, then "auto". Where the mean
        residual is nothing but rounding, as of centered graphs, sum_i R_i^2 takes its place.
    n_init
        Starts of each component, further ones being random; the best result is kept.
    tol
        A component is found when ||r|| <= tol * theta.
    max_iter
        Most iterations from one start.
    seed
        Child k is for component k, so that d does not change the first components.
    resume
        A fit whose components are kept as they are.
    watch
        Called after each iteration.
    """
    n, m = graphs.n_vertices, graphs.n_graphs
    R = _Residuals(graphs, weights)
    H, Psi, stages = np.zeros((n, 0)), np.zeros((m, 0)), list[Stage]()
    if resume is not None:
        H, Psi, stages = resume.H, resume.Psi, list(resume.stages)
    interrupted = False
    try:
        for k, child in enumerate(seed.spawn(d)[len(stages) :], len(stages)):
            # Lines 11 and 12: all loadings by Gamma Lam^T = Psi (eq. 7), and new residuals.
            active = np.array([stage.stop_reason != "exhausted" for stage in stages], dtype=bool)
            Lam = solve_loadings(component_gram(H * active), Psi)
            R.H, R.Lam = H, Lam
            left = R.norm - float(weights @ np.einsum("ik,ik->i", Lam, Psi))
            start: Start | Array = init if isinstance(init, str) else "auto"
            if isinstance(init, np.ndarray) and k < init.shape[1]:
                start = init[:, k]
            rng = np.random.default_rng(child)
            h, stage = _random_unit(n, rng), Stage(0, "exhausted", 0.0, 0.0, "none")
            if left > max(rounding_share(n) * R.norm, R.noise):
                for j, (name, h_0) in enumerate(_starts(R, start, left, n_init, tol, rng)):
                    if j == n_init and stage.gain > 0:
                        break
                    found, reason, n_iter = _search(R, h_0, k, tol, max_iter, watch, rng)
                    if found.theta > max(stage.gain, n * R.noise):
                        h = found.h
                        stage = Stage(n_iter, reason, found.stationarity, found.theta, name)
            psi = R.forms(h[:, None])
            H, Psi, stages = np.column_stack([H, h]), np.column_stack([Psi, psi]), [*stages, stage]
    except KeyboardInterrupt:
        if not stages:
            raise
        interrupted = True
    return Fit(H, Psi, tuple(stages), R.n_passes, interrupted=interrupted)


class _Residuals:
    """R_i = A_i - sum_j Lam_ij h_j h_j^T, never built (below eq. 7), with a count of the passes."""

    def __init__(self, graphs: Operator, weights: Array) -> None:
        n, m = graphs.n_vertices, graphs.n_graphs
        self._graphs, self.w, self.n = graphs, weights, n
        self.H, self.Lam = np.zeros((n, 0)), np.zeros((m, 0))
        self.norm = float(weights @ graphs.squared_norms())
        self.noise = float(weights @ graphs.rounding())
        self._mean: Array | None = None
        self.n_passes = 1

    def products(self, B: Array) -> Array:
        """Return B^T R_i, (m, b, n)."""
        self.n_passes += 1
        (P,) = self._graphs.products(B)
        products: Array = P - (self.Lam[:, None, :] * (B.T @ self.H)) @ self.H.T
        return products

    def combine(self, W: Array, B: Array) -> Array:
        """Return sum_i W_ik R_i b_k, (n, b)."""
        self.n_passes += 1
        combined = self._graphs.combine(W, B)[0]
        return combined - self.H @ ((self.Lam.T @ W) * (self.H.T @ B))

    def forms(self, B: Array) -> Array:
        """Return b_k^T A_i b_k, (m, b): of the graphs and not of the residuals."""
        self.n_passes += 1
        return np.asarray(self._graphs.forms(B))

    def mean(self, v: Array) -> Array:
        """Return (sum_i w_i R_i / sum_i w_i) v, (n,); the graphs are read only once."""
        if self._mean is None:
            self._mean = self._graphs.mean(self.w)
            self.n_passes += 1
        lam = self.w @ self.Lam / self.w.sum()
        return np.asarray(self._mean @ v - self.H @ (lam * (self.H.T @ v)))


@dataclass(frozen=True)
class _Point:
    """A point of the sphere, and what a pass tells of it."""

    h: Array  # (n,)
    Y: Array  # R_i h, (m, n)
    lam: Array  # eq. (6), (m,)
    theta: float
    r: Array  # eq. (5) over -4, (n,)
    stationarity: float  # ||r|| / theta
    slack: float  # by how much theta may be off by rounding

    @classmethod
    def at(cls, R: _Residuals, x: Array) -> _Point:
        """Return the point h = x / ||x||."""
        h = x / linalg.norm(x)
        Y = R.products(h[:, None])[:, 0]
        lam = Y @ h
        theta = float(R.w @ lam**2)
        r = (R.w * lam) @ Y - theta * h
        r -= (r @ h) * h  # tangent but for rounding
        size = float(linalg.norm(r)) / max(theta, 1e-300)
        return cls(h, Y, lam, theta, r, size, 2 * float(np.sqrt(theta * R.noise)))


def _search(
    R: _Residuals, h: Array, k: int, tol: float, max_iter: int, watch: Watcher | None,
    rng: np.random.Generator,
) -> tuple[_Point, str, int]:  # fmt: skip
    """Return where lines 5 to 10 lead from ``h`` (n,), why they ended, and the iterations."""
    at = best = _Point.at(R, h)
    step = 1 / max(at.theta, 1e-300)  # a power iteration: h + r / theta is along sum_i lam_i R_i h
    n_iter = last = 0
    while True:
        if watch is not None:
            watch(Progress(n_iter, k, at.stationarity, k, R.n_passes))
        if at.theta <= R.noise:
            return at, "flat", n_iter
        if at.theta > best.theta + best.slack or at.stationarity < best.stationarity:
            best, last = at, n_iter
        if at.stationarity <= tol or n_iter - last >= DEFAULTS.stalled:
            above = _leave_saddle(R, best, tol, rng) if n_iter < max_iter else None
            if above is None:
                return best, "stationary" if best.stationarity <= tol else "precision", n_iter
            after, step = above, 1 / above.theta
        elif n_iter == max_iter:
            return at, "max_iter", n_iter
        else:
            after, step = _descend(R, at, step)
        at, n_iter = after, n_iter + 1


def _descend(R: _Residuals, at: _Point, step: float) -> tuple[_Point, float]:
    """Return the next point by lines 6 to 9, with Armijo backtracking, and the next step to try.

    The objective that must fall is the one after the update of lam (line 9); at the old lam long
    steps would be forbidden. The next step is Barzilai and Borwein's, the shorter of their two:
    the longer one is refused more often, and a refusal costs a pass.
    """
    size = float(linalg.norm(at.r))
    while True:
        after = _Point.at(R, at.h + step * at.r)
        enough = after.theta >= at.theta + 4 * _ARMIJO * step * size**2 - at.slack
        if enough or step * size < np.finfo(np.float64).eps:
            break
        step /= 2
    moved, turned = after.h - at.h, after.r - at.r
    bend = float(turned @ turned)
    return after, abs(float(moved @ turned)) / bend if bend > 0 else 1 / after.theta


def _leave_saddle(R: _Residuals, at: _Point, tol: float, rng: np.random.Generator) -> _Point | None:
    """Return a point with a larger theta, along which theta bends up, or None at a maximum.

    At a stationary point theta / 4 has the Hessian sum_i w_i lam_i R_i + 2 sum_i w_i (R_i h)
    (R_i h)^T - theta I on the tangent space. The way up is its top Ritz vector after a few Lanczos
    steps. Bends that the tolerance of the gradient may cause do not count.
    """

    def hessian(q: Array) -> Array:
        Hq = R.combine((R.w * at.lam)[:, None], q[:, None])[:, 0]
        Hq += 2 * (R.w * (at.Y @ q)) @ at.Y - at.theta * q
        return Hq - at.h * (at.h @ Hq)

    q = rng.standard_normal(R.n)
    values, vectors = lanczos(hessian, q - at.h * (at.h @ q), min(DEFAULTS.memory, R.n - 1))
    if not len(values):
        return None
    bend = float(values[-1])
    step = 1.0
    while bend > np.sqrt(tol) * at.theta and _ARMIJO * bend * step**2 > at.slack:
        above = _Point.at(R, at.h + step * vectors[-1])
        if above.theta >= at.theta + 2 * _ARMIJO * bend * step**2:
            return above
        step /= 2
    return None


def _starts(
    R: _Residuals, init: Start | Array, left: float, n_init: int, tol: float,
    rng: np.random.Generator,
) -> Iterator[tuple[str, Array]]:  # fmt: skip
    """Yield ``n_init`` named vectors (n,) from which to search, and one more.

    That one is for when the others find nothing: where h^T R_i h = 0 for all i, as on one side of
    bipartite graphs, the gradient is zero, but it is not at almost any other point. ``left`` is
    sum_i w_i ||R_i||^2.
    """
    if isinstance(init, np.ndarray):
        yield "given", init
    elif init == "random":
        yield "random", _random_unit(R.n, rng)
    else:
        # Of a symmetric matrix, eigenvectors are singular vectors.
        values, vectors = lanczos(R.mean, _random_unit(R.n, rng), 5 * DEFAULTS.memory)
        top = int(np.argmax(np.abs(values)))
        svd = vectors[top]
        speaks = R.w.sum() * values[top] ** 2 > max(tol * left, R.noise)
        if init == "auto" or not speaks:
            squares = _top_of_squares(R, rng)
        if init == "auto" and speaks:
            both = np.column_stack([svd, squares])
            gains = R.w @ np.einsum("ibn,nb->ib", R.products(both), both) ** 2
            speaks = gains[1] <= (1 + tol) * gains[0]  # a tie is the paper's
        yield ("svd", svd) if speaks else ("squares", squares)
    for _ in range(n_init):
        yield "random", _random_unit(R.n, rng)


def _top_of_squares(R: _Residuals, rng: np.random.Generator) -> Array:
    """Return a top eigenvector (n,) of sum_i w_i R_i^2, as far as a start needs it.

    By orthogonal iteration on sum_i w_i R_i V V^T R_i with V (n, b) itself in the middle, so that
    a turn is one pass; on b vertices or fewer V V^T = I.
    """
    X: Array = rng.standard_normal((R.n, min(R.n, DEFAULTS.memory)))
    for _ in range(DEFAULTS.memory):
        V: Array = np.linalg.qr(X)[0]
        P = R.products(V)
        C = P @ V  # V^T R_i V, (m, b, b)
        wC = R.w[:, None, None] * C
        X = np.tensordot(P, wC, axes=([0, 1], [0, 1]))
    top: Array = V @ linalg.eigh(np.tensordot(C, wC, axes=([0, 1], [0, 1])), driver="evd")[1][:, -1]
    return top


def _random_unit(n: int, rng: np.random.Generator) -> Array:
    """Return a direction drawn uniformly from the unit sphere, (n,)."""
    h: Array = rng.standard_normal(n)
    return h / linalg.norm(h)
