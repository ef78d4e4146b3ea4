"""Population theory of the one-dimensional joint embedding: section 4 and Appendix A.

Given lambda, A has independent Bernoulli entries for s <= t with means P = lambda h_1 h_1^T; of the
random lambda only two moments matter. Letters: u = h_1, mu = E(lambda), nu = E(lambda^2), P_0 =
h_1 h_1^T, and V the mean variances E(P * (J - P)) of the entries, doubled off the diagonal since
A_st and A_ts are one variable. Graphs without loops: both have a zero diagonal. Then

    E<A, hh^T>^2 = nu (h^T P_0 h)^2 + (h*h)^T V (h*h),
    M(h) = E(<A, hh^T> A) = nu (h^T P_0 h) P_0 + hh^T * V.

>>> theory = PopulationObjective.erdos_renyi(100, 0.5)
>>> round(theory.bound(theory.h1), 3)  # of Theorem 4.2
0.04
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space
from scipy.optimize import brentq

from eigengraphs.errors import InputError
from experiments.repetitions import Array

ROUNDING = 1e-12  # relative room for sums in floating point


class PopulationMinimizer(NamedTuple):
    """A minimizer h' of D(h, h_1), signed so that h_1 . h' >= 0.

    ``vector`` is h', (n,); ``second_moment`` E<A, h'h'^T>^2; ``distance`` ||h' - h_1||;
    ``stationarity`` ||M(h') h' - theta h'|| / theta, zero at a critical point.
    """

    vector: Array
    objective: float
    second_moment: float
    distance: float
    stationarity: float


class PopulationObjective:
    """The population objective D(h, h_1) = E||A - <A, hh^T> hh^T||^2 of section 4, exactly.

    Parameters
    ----------
    h1 : array-like of shape (n,)
        Unit vector h_1 without entries of opposite sign (probabilities would be negative).
    mean_loading, mean_squared_loading : float
        E(lambda) and E(lambda^2).
    loops : bool, default=True
        Whether self-loops are drawn, as in the paper. Otherwise the diagonal of A is zero, and
        h' differs from h_1 even without noise.

    Examples
    --------
    >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
    >>> [(round(low, 2), round(high, 2)) for low, high in theory.allowed_distances()]
    [(0.0, 0.04), (1.28, 1.52)]
    >>> best = theory.minimizer()
    >>> best.distance < 1e-8, theory.leads_spectrum(best.vector)
    (True, True)
    """

    def __init__(
        self, h1: ArrayLike, mean_loading: float, mean_squared_loading: float, loops: bool = True
    ) -> None:
        h = np.asarray(h1, dtype=float)
        self.h1, self.loops = h / np.linalg.norm(h), loops  # freed from rounding
        self.mu, self.nu = mean_loading, mean_squared_loading
        P0 = np.outer(self.h1, self.h1)
        V = 2 * (self.mu * P0 - self.nu * P0**2)
        V[np.diag_indices_from(V)] /= 2
        kept = 1.0 if loops else 1.0 - np.eye(len(P0))
        self.P0, self.V = P0 * kept, V * kept

    @classmethod
    def from_loadings(
        cls, h1: ArrayLike, loadings: ArrayLike, loops: bool = True
    ) -> PopulationObjective:
        """Take the moments from loadings, (m,), each as likely as the others."""
        lam = np.asarray(loadings, dtype=float)
        return cls(h1, float(lam.mean()), float((lam**2).mean()), loops)

    @classmethod
    def erdos_renyi(cls, n: int, p: float, loops: bool = True) -> PopulationObjective:
        """Erdos-Renyi graphs: h_1 constant and lambda = n p without variation."""
        return cls(np.full(n, 1 / math.sqrt(n)), n * p, (n * p) ** 2, loops)

    # Expectations ------------------------------------------------------------------------

    def signal(self, h: Array) -> float:
        """Return E<P, hh^T>^2 = E(lambda^2) (h_1 . h)^4; hollow: E(lambda^2) (h^T P_0 h)^2."""
        return self.nu * float(h @ self.P0 @ h) ** 2

    def noise(self, h: Array) -> float:
        """Return E((h^T (A - P) h)^2) = (h*h)^T V (h*h)."""
        return float(h**2 @ self.V @ h**2)

    def second_moment(self, h: Array) -> float:
        """Return E<A, hh^T>^2, signal and noise together (display after Theorem 4.2)."""
        return self.signal(h) + self.noise(h)

    def squared_norm(self) -> float:
        """Return E||A||_F^2, the mean number of ones: entries 0 and 1 are their own squares."""
        return self.mu * float(self.P0.sum())

    def objective(self, h: Array) -> float:
        """Return D(h, h_1) = E||A||^2 - E<A, hh^T>^2 for a unit vector h."""
        return self.squared_norm() - self.second_moment(h)

    def gradient(self, h: Array) -> Array:
        """Return the gradient of D on the unit sphere, -4 (M(h) h - (h^T M(h) h) h), (n,)."""
        g = self.expected_weighted_adjacency(h) @ h
        return -4 * (g - (h @ g) * h)

    def expected_weighted_adjacency(self, h: Array) -> Array:
        """Return M(h) = E(<A, hh^T> A), shape (n, n).

        The paper's first display of it has h_1 for h' in the diag term; its second is right.
        """
        return self.nu * float(h @ self.P0 @ h) * self.P0 + np.outer(h, h) * self.V

    # The minimizer -----------------------------------------------------------------------

    def minimizer(self, n_random: int = 6, tol: float = 1e-12) -> PopulationMinimizer:
        """Find h' = argmin D(h, h_1) by ascents of E<A, hh^T>^2 from several starts.

        Starts: h_1, its square and root, the 1, 2, 4, ... vertices where h_1 is largest (the noise
        peaks there), ``n_random`` from a fixed seed. An ascent ends at a stationarity of ``tol``.
        The best end is likely, not surely, global.
        """
        u, n = np.abs(self.h1), self.h1.size
        ranks = np.argsort(np.argsort(-u, kind="stable"))
        starts = [u, u**2, np.sqrt(u), *(1.0 * (ranks < 2**k) for k in range(n.bit_length() + 1))]
        starts += list(np.random.default_rng(0).standard_normal((n_random, n)))
        ends = [self._ascend(start / np.linalg.norm(start), tol) for start in starts]
        values = np.array([self.second_moment(h) for h in ends])
        h = ends[int(np.argmax(values >= values.max() * (1 - 1e-10)))]
        h = h if h @ self.h1 >= 0 else -h
        theta = self.second_moment(h)
        left = float(np.linalg.norm(self.gradient(h))) / 4 / (theta or 1.0)
        distance = float(np.linalg.norm(h - self.h1))
        return PopulationMinimizer(h, self.squared_norm() - theta, theta, distance, left)

    def _ascend(self, h: Array, tol: float, max_iter: int = 200) -> Array:
        """Climb E<A, hh^T>^2 from h to a critical point; Newton's method finishes.

        A step h <- M(h) h + c h, normalized, where M(h) + c I >= 0, never
        lowers E<A, hh^T>^2 (Cauchy-Schwarz, as in the first lemma of Appendix A).
        """
        for _ in range(max_iter):
            M = self.expected_weighted_adjacency(h)
            g = M @ h
            theta = float(h @ g)
            size = float(np.linalg.norm(g - theta * h))
            if size <= tol * theta:
                break
            step = g - min(float(np.linalg.eigvalsh(M)[0]), 0.0) * h
            if size <= 0.01 * theta:  # farther off, Newton's method may head for a saddle
                newton = h + self._newton_step(h, M, theta)
                newton /= np.linalg.norm(newton)
                step = newton if self.second_moment(newton) >= theta * (1 - 1e-14) else step
            h = step / np.linalg.norm(step)
        return h

    def _newton_step(self, h: Array, M: Array, theta: float) -> Array:
        """Return the Newton step for M(h) h = theta h on the sphere."""
        Ph = self.P0 @ h
        H = M + np.outer(h, h) * self.V + 2 * self.nu * np.outer(Ph, Ph)
        H += np.diag(self.V @ h**2 - theta)
        T = null_space(h[None])
        return -T @ np.linalg.lstsq(T.T @ H @ T, T.T @ M @ h)[0]

    # Bounds and lemmas -------------------------------------------------------------------

    def bound(self, h: Array) -> float:
        """Return the bound of Theorem 4.2, 2 E(lambda) / (E(lambda^2) (h_1 . h)^2).

        It needs h_1 . h' >= 0: for -h' it fails as printed. Hollow graphs, which the paper does not
        treat, raise an error unless `distance_bound` proves the inequality for them.

        Why the constant holds: let phi be the angle of h' and h_1. Davis-Kahan bounds sin(phi), and
        ||h' - h_1|| = 2 sin(phi / 2) = sin(phi) / cos(phi / 2) is larger, which the paper's last
        step leaves out. But the gap may be E<A, h'h'^T>^2, at least E(lambda^2) since h' does no
        worse than h_1, so that sin(phi) <= 2 E(lambda) / E(lambda^2) without (h_1 . h')^2 =
        cos(phi)^2 below the line; and cos(phi)^2 <= cos(phi / 2) pays for the rest.
        """
        overlap = float(self.h1 @ h)
        return self._printed_constant() / overlap**2 if overlap else math.inf

    def allowed_distances(self) -> list[tuple[float, float]]:
        """Return the closed intervals of x = ||h' - h_1|| that Theorem 4.2 allows.

        With h_1 . h' = 1 - x^2 / 2 it reads x (1 - x^2 / 2)^2 <= K = 2 E(lambda) / E(lambda^2). The
        left side rises to 0.405 at sqrt(2/5), falls to 0 at sqrt(2), rises to 2 at 2: two
        intervals for K < 0.405, one for weaker signals, all of [0, 2] for K >= 2. That is what the
        paper prints; yet h' = -h_1, at x = 2, may violate it. The theorem is true for the nearer of
        h' and -h', where x <= sqrt(2).
        """
        K, peak, zero = self._printed_constant(), math.sqrt(0.4), math.sqrt(2)

        def crossing(low: float, high: float) -> float:
            return float(brentq(lambda x: x * (1 - x**2 / 2) ** 2 - K, low, high, xtol=1e-15))

        end = 2.0 if K >= 2 else crossing(zero, 2.0)
        if peak * 0.8**2 <= K:
            return [(0.0, end)]
        return [(0.0, crossing(0.0, peak)), (crossing(peak, zero), end)]

    def distance_bound(self) -> float:
        """Return a bound of min(||h' - h_1||, ||h' + h_1||) that needs no knowledge of h'.

        It is 2 sin(phi / 2) for the largest angle phi that `_sine_bound` allows. It is never above
        Theorem 4.2 and has no second interval; sqrt(2) says nothing.
        """
        return 2 * math.sin(math.asin(min(self._sine_bound, 1.0)) / 2)

    def leads_spectrum(self, h: Array, tolerance: float = 1e-8) -> bool:
        """Tell whether h leads the spectrum of M(h): the first lemma of Appendix A.

        It holds at h', with loops and without, but does not mark h' out: vectors orthogonal to h_1,
        where the signal is zero, may pass too, which is how the interval near sqrt(2) gets into
        Theorem 4.2.
        """
        M = self.expected_weighted_adjacency(h)
        theta = float(h @ M @ h)
        residual = float(np.linalg.norm(M @ h - theta * h))
        largest = float(np.abs(np.linalg.eigvalsh(M)).max())
        return residual <= tolerance * (theta or 1.0) and largest <= theta * (1 + tolerance)

    def noise_distances(self, h: Array) -> tuple[float, float, float]:
        """Return ||M(h) - E(lambda^2) (h_1 . h)^2 h_1 h_1^T||_F and two bounds of it.

        The second lemma: the first bound is 2 E(lambda), as printed, and the sharper one that times
        sum_s h_1s^2 h_s^2 (the proof's last line says ``=`` where it means ``<=``). They hold for
        every h; for hollow graphs with P_0 for h_1 h_1^T.
        """
        distance = float(np.linalg.norm(np.outer(h, h) * self.V))
        return distance, 2 * self.mu, 2 * self.mu * float(self.h1**2 @ h**2)

    @cached_property
    def _sine_bound(self) -> float:
        """A bound of sin(phi), possibly above 1, that needs no knowledge of h'.

        Project M(h') h' = theta h' off h_1: with loops only hh^T * V is left of M, of norm at most
        2 E(lambda) U with U = max_s h_1s^2, and theta >= E(lambda^2) + noise(h_1), so

            sin(phi) <= 2 E(lambda) U / (E(lambda^2) + noise(h_1)).

        For hollow graphs the missing diagonal adds E(lambda^2) max(U^2, (U - min_s h_1s^2) / 2)
        above the line, and theta >= second_moment(h_1) stands below.
        """
        u2, theta = self.h1**2, self.second_moment(self.h1)
        U, spread = float(u2.max()), float(np.ptp(u2))
        lacking = 0.0 if self.loops else self.nu * max(U**2, spread / 2)
        return (lacking + 2 * self.mu * U) / theta if theta else math.inf

    def _printed_constant(self) -> float:
        """Return K = 2 E(lambda) / E(lambda^2), if Theorem 4.2 is proved for this model."""
        K = 2 * self.mu / self.nu
        if min(self._sine_bound, 1.0) > K * (1 + ROUNDING):
            raise InputError(
                "Theorem 4.2 is not proved for these hollow graphs: use distance_bound()"
            )
        return K
