"""The search for h' = argmin D(h, h_1): ascents of E<A, hh^T>^2 that Newton's method finishes.

A step h <- M(h) h + c h, normalised, where M(h) + c I >= 0 by Gershgorin's theorem, never lowers
E<A, hh^T>^2 (Cauchy-Schwarz, as in the first lemma of Appendix A).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.linalg import LinearOperator, minres

from eigengraphs.models.theory.vectors import Array
from eigengraphs.system.tables import short_repr

if TYPE_CHECKING:
    from eigengraphs.models.theory.objective import PopulationObjective

__all__ = ["PopulationMinimizer", "minimize", "newton_point"]


@dataclass(frozen=True, eq=False)
class PopulationMinimizer:
    """A minimiser h' of D(h, h_1), signed so that h_1 . h' >= 0, with what vouches for it.

    Attributes
    ----------
    vector : (n,)
        h'.
    objective : float
        D(h', h_1).
    second_moment : float
        theta = E<A, h'h'^T>^2.
    distance : float
        ||h' - h_1||.
    stationarity : float
        ||M(h') h' - theta h'|| / theta, zero at a critical point.
    n_starts, n_agreeing : int
        Ascents that were made, and those that ended at this value of the objective.

    Examples
    --------
    Where one vertex has a larger degree than the others, h' is near h_1 but not equal to it:

    >>> import numpy as np
    >>> from eigengraphs.models.theory import PopulationObjective
    >>> h1 = np.array([3] + 16 * [1]) / 5
    >>> theory = PopulationObjective.from_loadings(h1, [1.0])
    >>> best = theory.minimizer()
    >>> round(best.distance, 3), round(theory.distance_bound(), 3)
    (0.044, 0.659)
    >>> best.stationarity < 1e-9, best.n_agreeing == best.n_starts
    (True, True)
    """

    vector: Array = field(repr=False)
    objective: float
    second_moment: float
    distance: float
    stationarity: float
    n_starts: int
    n_agreeing: int

    __repr__ = short_repr


def minimize(
    theory: PopulationObjective, n_random: int, tol: float, max_iter: int
) -> PopulationMinimizer:
    """Return the best end of the ascents from all starts."""
    starts = _starts(theory.h1, n_random)
    ends = [_ascend(theory, start / np.linalg.norm(start), tol, max_iter) for start in starts]
    values = np.array([theory.second_moment(h) for h in ends])
    best = values >= values.max() * (1 - 1e-10)
    h = ends[int(np.argmax(best))]
    h = h if h @ theory.h1 >= 0 else -h
    theta, size = theory.second_moment(h), float(np.linalg.norm(theory.gradient(h))) / 4
    return PopulationMinimizer(
        vector=h,
        objective=theory.squared_norm() - theta,
        second_moment=theta,
        distance=float(np.linalg.norm(h - theory.h1)),
        stationarity=size / theta if theta else size,
        n_starts=len(starts),
        n_agreeing=int(np.count_nonzero(best)),
    )


def newton_point(theory: PopulationObjective, h: Array, theta: float, residual: Array) -> Array:
    """Return the Newton point for M(h) h = theta h on the sphere."""
    nu, Ph, Vhh = theory.mean_squared_loading, theory._pattern(h), theory._variances(h**2)

    def matvec(x: Array) -> Array:
        x = x - (h @ x) * h
        y = nu * (2 * (Ph @ x) * Ph + (h @ Ph) * theory._pattern(x))
        y += x * Vhh + 2 * h * theory._variances(h * x) - theta * x
        return np.asarray(y - (h @ y) * h)

    H = LinearOperator((h.size, h.size), matvec=matvec, dtype=np.float64)
    d = minres(H, -residual, rtol=1e-10, maxiter=4 * h.size)[0]
    return np.asarray((h + d) / np.linalg.norm(h + d))


def _starts(h1: Array, n_random: int) -> list[Array]:
    """Return vectors of any norm to climb from; the noise peaks where h_1 is largest."""
    u, n = np.abs(h1), h1.size
    ranks = np.argsort(np.argsort(-u, kind="stable"))
    starts = [u, u**2, np.sqrt(u), *(1.0 * (ranks < 2**k) for k in range(n.bit_length() + 1))]
    return starts + list(np.random.default_rng(0).standard_normal((n_random, n)))


def _ascend(theory: PopulationObjective, h: Array, tol: float, max_iter: int) -> Array:
    """Climb E<A, hh^T>^2 from h to a critical point."""
    nu = theory.mean_squared_loading
    radius = float(min(np.max(theory.h1**2), np.max(theory._pattern(np.ones(h.size)))))
    for _ in range(max_iter):
        g = theory._multiply(h, h)
        theta = float(h @ g)
        residual = g - theta * h
        size = float(np.linalg.norm(residual))
        if size <= tol * theta:
            break
        c = float(np.max(np.abs(h) * theory._variances(np.abs(h))))
        c += 0 if theory.loops else nu * abs(float(h @ theory._pattern(h))) * radius
        step = g + c * h
        if size <= 0.01 * theta:  # farther off, Newton's method may head for a saddle
            newton = newton_point(theory, h, theta, residual)
            step = newton if theory.second_moment(newton) >= theta * (1 - 1e-14) else step
        h = step / np.linalg.norm(step)
    return h
