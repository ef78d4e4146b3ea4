"""Population theory of the one-dimensional joint embedding: section 4 and Appendix A.

Given lambda, A has independent Bernoulli entries for s <= t with means P = lambda h_1 h_1^T; of the
random lambda only two moments matter. Letters: u = h_1, mu = E(lambda), nu = E(lambda^2), P_0 =
h_1 h_1^T, and V the mean variances E(P * (J - P)) of the entries, doubled off the diagonal since
A_st and A_ts are one variable. Graphs without loops: both have a zero diagonal. Then

    E<A, hh^T>^2 = nu (h^T P_0 h)^2 + (h*h)^T V (h*h),
    M(h) = E(<A, hh^T> A) = nu (h^T P_0 h) P_0 + hh^T * V.

:class:`PopulationObjective` computes them exactly; the others are what its methods return.

>>> theory = PopulationObjective.erdos_renyi(100, 0.5)
>>> round(theory.bound(theory.h1), 3)  # of Theorem 4.2
0.04
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.sparse.linalg import LinearOperator, minres

from eigengraphs.errors import InputError

__all__ = ["DistanceLemma", "EigenvectorLemma", "PopulationMinimizer", "PopulationObjective"]

Array = NDArray[np.float64]
ROUNDING = 1e-12  # relative room for sums in floating point


@dataclass(frozen=True, eq=False)
class PopulationMinimizer:
    """A minimizer h' of D(h, h_1), signed so that h_1 . h' >= 0.

    ``vector`` is h', (n,); ``second_moment`` E<A, h'h'^T>^2; ``distance`` ||h' - h_1||;
    ``stationarity`` ||M(h') h' - theta h'|| / theta, zero at a critical point.
    """

    vector: Array
    objective: float
    second_moment: float
    distance: float
    stationarity: float


@dataclass(frozen=True)
class EigenvectorLemma:
    """First lemma of Appendix A at one h: h leads the spectrum of M(h).

    ``residual`` is the norm of M(h) h / eigenvalue - h, ``eigenvalue`` h^T M(h) h, and ``gap`` the
    eigenvalue minus the largest magnitude of the others.
    """

    residual: float
    eigenvalue: float
    gap: float

    def holds(self, tolerance: float = 1e-8) -> bool:
        """Tell whether h is an eigenvector and no other eigenvalue is larger in magnitude."""
        return self.residual <= tolerance and self.gap >= -tolerance * self.eigenvalue


@dataclass(frozen=True)
class DistanceLemma:
    """Second lemma of Appendix A at one h: M(h) is near its noiseless part.

    ``distance`` is ||M(h) - E(lambda^2) (h_1 . h)^2 h_1 h_1^T||_F and ``bound`` 2 E(lambda), as
    printed; ``sharper_bound`` is that times sum_s h_1s^2 h_s^2 (the proof's last line says ``=``
    where it means ``<=``).
    """

    distance: float
    bound: float
    sharper_bound: float

    @property
    def holds(self) -> bool:
        """Whether the distance is within both bounds."""
        return self.distance <= min(self.bound, self.sharper_bound) * (1 + ROUNDING)


@dataclass(frozen=True, eq=False)
class PopulationObjective:
    """The population objective D(h, h_1) = E||A - <A, hh^T> hh^T||^2 of section 4, exactly.

    Parameters
    ----------
    h1 : array-like of shape (n,)
        Unit vector h_1 without entries of opposite sign (probabilities would be negative).
    mean_loading, mean_squared_loading : float
        E(lambda) and E(lambda^2). With L the largest loading that keeps probabilities at most 1,
        E(lambda)^2 <= E(lambda^2) <= L E(lambda), which is all that two moments can tell.
    loops : bool, default=True
        Whether self-loops are drawn, as in the paper. Otherwise the diagonal of A is zero, and
        h' differs from h_1 even without noise.

    Examples
    --------
    >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
    >>> [(round(low, 2), round(high, 2)) for low, high in theory.allowed_distances()]
    [(0.0, 0.04), (1.28, 1.52)]
    >>> best = theory.minimizer()
    >>> best.distance < 1e-8, theory.lemma_eigenvector(best.vector).holds()
    (True, True)
    """

    h1: Array
    mean_loading: float
    mean_squared_loading: float
    loops: bool = True

    def __post_init__(self) -> None:
        u, mu, nu = _unit(self.h1), self.mean_loading, self.mean_squared_loading
        object.__setattr__(self, "h1", u)
        L, slack = self.largest_loading, 1 + ROUNDING
        if u.min() < -ROUNDING and u.max() > ROUNDING:
            raise InputError(
                "h1 must be of one sign, or lambda h1 h1^T has negative entries; got entries from "
                f"{u.min():.3g} to {u.max():.3g}"
            )
        if not (0 < mu < math.inf and mu**2 <= nu * slack < math.inf and nu <= L * mu * slack):
            raise InputError(
                f"no loading within [0, {L:.6g}], where edge probabilities are within [0, 1] for "
                f"this h1, has mean_loading = {mu:.6g} > 0 and mean_squared_loading = {nu:.6g}"
            )

    @classmethod
    def from_loadings(
        cls, h1: ArrayLike, loadings: ArrayLike, loops: bool = True
    ) -> PopulationObjective:
        """Take the moments from loadings, (m,), each as likely as the others."""
        lam = np.asarray(loadings, dtype=float)
        theory = cls(h1, float(lam.mean()), float((lam**2).mean()), loops)
        if not 0 <= lam.min() <= lam.max() <= theory.largest_loading * (1 + ROUNDING):
            raise InputError(
                f"loadings must be within [0, {theory.largest_loading:.6g}], or edge probabilities "
                f"leave [0, 1] for this h1; they go from {lam.min():.6g} to {lam.max():.6g}"
            )
        return theory

    @classmethod
    def erdos_renyi(cls, n: int, p: float, loops: bool = True) -> PopulationObjective:
        """Erdos-Renyi graphs: h_1 constant and lambda = n p without variation."""
        return cls(np.full(n, 1 / math.sqrt(n)), n * p, (n * p) ** 2, loops)

    @property
    def largest_loading(self) -> float:
        """Largest lambda with lambda h_1s h_1t <= 1 for every pair that may be an edge."""
        second, first = np.sort(np.abs(self.h1))[-2:]
        product = float(first * (first if self.loops else second))
        return 1 / product if product > 0 else math.inf

    # Expectations ------------------------------------------------------------------------

    def signal(self, h: ArrayLike) -> float:
        """Return E<P, hh^T>^2 = E(lambda^2) (h_1 . h)^4; hollow: E(lambda^2) (h^T P_0 h)^2."""
        h = _unit(h)
        return self.mean_squared_loading * float(h @ self._pattern(h)) ** 2

    def noise(self, h: ArrayLike) -> float:
        """Return E((h^T (A - P) h)^2) = (h*h)^T V (h*h)."""
        h = _unit(h)
        return float(h**2 @ self._variances(h**2))

    def second_moment(self, h: ArrayLike) -> float:
        """Return E<A, hh^T>^2, signal and noise together (display after Theorem 4.2)."""
        return self.signal(h) + self.noise(h)

    def squared_norm(self) -> float:
        """Return E||A||_F^2, the mean number of ones: entries 0 and 1 are their own squares."""
        return self.mean_loading * float(self._pattern(np.ones(self.h1.size)).sum())

    def objective(self, h: ArrayLike) -> float:
        """Return D(h, h_1) = E||A||^2 - E<A, hh^T>^2 for a unit vector h."""
        return self.squared_norm() - self.second_moment(h)

    def gradient(self, h: ArrayLike) -> Array:
        """Return the gradient of D on the unit sphere, -4 (M(h) h - (h^T M(h) h) h), (n,)."""
        h = _unit(h)
        g = self._multiply(h, h)
        return -4 * (g - (h @ g) * h)

    def expected_weighted_adjacency(self, h: ArrayLike) -> Array:
        """Return M(h) = E(<A, hh^T> A), shape (n, n).

        The paper's first display of it has h_1 for h' in the diag term; its second is right.
        """
        h, P0 = _unit(h), self._dense_pattern()
        V = 2 * (self.mean_loading * P0 - self.mean_squared_loading * P0**2)
        V[np.diag_indices_from(V)] /= 2
        return self.mean_squared_loading * (h @ P0 @ h) * P0 + np.outer(h, h) * V

    def _dense_pattern(self) -> Array:
        P0 = np.outer(self.h1, self.h1)
        return P0 if self.loops else P0 - np.diag(np.diag(P0))

    def _pattern(self, x: Array) -> Array:
        """Return P_0 x."""
        ux = self.h1 * x
        return self.h1 * (ux.sum() if self.loops else _sum_of_others(ux))

    def _variances(self, x: Array) -> Array:
        """Return V x."""
        u, mu, nu = self.h1, self.mean_loading, self.mean_squared_loading
        Vx = 2 * (mu * u * _sum_of_others(u * x) - nu * u**2 * _sum_of_others(u**2 * x))
        return Vx + (mu * u**2 - nu * u**4) * x if self.loops else Vx

    def _multiply(self, h: Array, x: Array) -> Array:
        """Return M(h) x."""
        form = h @ self._pattern(h)
        return self.mean_squared_loading * form * self._pattern(x) + h * self._variances(h * x)

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
        theta, size = self.second_moment(h), float(np.linalg.norm(self.gradient(h))) / 4
        distance = float(np.linalg.norm(h - self.h1))
        return PopulationMinimizer(
            h, self.squared_norm() - theta, theta, distance, size / theta if theta else size
        )

    def _ascend(self, h: Array, tol: float, max_iter: int = 200) -> Array:
        """Climb E<A, hh^T>^2 from h to a critical point; Newton's method finishes.

        A step h <- M(h) h + c h, normalized, where M(h) + c I >= 0 by Gershgorin's theorem, never
        lowers E<A, hh^T>^2 (Cauchy-Schwarz, as in the first lemma of Appendix A).
        """
        radius = float(min(np.max(self.h1**2), np.max(self._pattern(np.ones(h.size)))))
        for _ in range(max_iter):
            g = self._multiply(h, h)
            theta = float(h @ g)
            residual = g - theta * h
            size = float(np.linalg.norm(residual))
            if size <= tol * theta:
                break
            c = float(np.max(np.abs(h) * self._variances(np.abs(h))))
            if not self.loops:
                c += self.mean_squared_loading * abs(float(h @ self._pattern(h))) * radius
            step = g + c * h
            if size <= 0.01 * theta:  # farther off, Newton's method may head for a saddle
                newton = self._newton_point(h, theta, residual)
                step = newton if self.second_moment(newton) >= theta * (1 - 1e-14) else step
            h = step / np.linalg.norm(step)
        return h

    def _newton_point(self, h: Array, theta: float, residual: Array) -> Array:
        """Return the Newton point for M(h) h = theta h on the sphere."""
        nu, Ph, Vhh = self.mean_squared_loading, self._pattern(h), self._variances(h**2)

        def matvec(x: Array) -> Array:
            x = x - (h @ x) * h
            y = nu * (2 * (Ph @ x) * Ph + (h @ Ph) * self._pattern(x))
            y += x * Vhh + 2 * h * self._variances(h * x) - theta * x
            return y - (h @ y) * h

        H = LinearOperator((h.size, h.size), matvec=matvec, dtype=np.float64)
        d = minres(H, -residual, rtol=1e-10, maxiter=4 * h.size)[0]
        return (h + d) / np.linalg.norm(h + d)

    # Bounds and lemmas -------------------------------------------------------------------

    def bound(self, h: ArrayLike) -> float:
        """Return the bound of Theorem 4.2, 2 E(lambda) / (E(lambda^2) (h_1 . h)^2).

        It needs h_1 . h' >= 0: for -h' it fails as printed. Hollow graphs, which the paper does not
        treat, raise an error unless `distance_bound` proves the inequality for them.

        Why the constant holds: let phi be the angle of h' and h_1. Davis-Kahan bounds sin(phi), and
        ||h' - h_1|| = 2 sin(phi / 2) = sin(phi) / cos(phi / 2) is larger, which the paper's last
        step leaves out. But the gap may be E<A, h'h'^T>^2, at least E(lambda^2) since h' does no
        worse than h_1, so that sin(phi) <= 2 E(lambda) / E(lambda^2) without (h_1 . h')^2 =
        cos(phi)^2 below the line; and cos(phi)^2 <= cos(phi / 2) pays for the rest.
        """
        overlap = float(self.h1 @ _unit(h))
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
        return 2 * math.sin(math.asin(min(self._sine_bound(), 1.0)) / 2)

    def lemma_eigenvector(self, h: ArrayLike) -> EigenvectorLemma:
        """Check the first lemma of Appendix A at h; it holds at h', with loops and without.

        It does not mark h' out: vectors orthogonal to h_1, where the signal is zero, may pass too,
        which is how the interval near sqrt(2) gets into Theorem 4.2.
        """
        h, M = _unit(h), self.expected_weighted_adjacency(h)
        theta = float(h @ M @ h)
        eigenvalues = np.linalg.eigvalsh(M)
        others = np.delete(eigenvalues, np.argmin(np.abs(eigenvalues - theta)))
        residual = float(np.linalg.norm(M @ h - theta * h))
        gap = theta - float(np.abs(others).max())
        return EigenvectorLemma(residual / theta if theta else residual, theta, gap)

    def lemma_distance(self, h: ArrayLike) -> DistanceLemma:
        """Check the second lemma at h; it holds for every h (hollow: with P_0 for h_1 h_1^T)."""
        h, P0 = _unit(h), self._dense_pattern()
        noiseless = self.mean_squared_loading * float(h @ P0 @ h) * P0
        distance = float(np.linalg.norm(self.expected_weighted_adjacency(h) - noiseless))
        bound = 2 * self.mean_loading
        return DistanceLemma(distance, bound, bound * float(self.h1**2 @ h**2))

    def _sine_bound(self) -> float:
        """Return a bound of sin(phi), possibly above 1, that needs no knowledge of h'.

        Project M(h') h' = theta h' off h_1: with loops only hh^T * V is left of M, of norm at most
        2 E(lambda) U with U = max_s h_1s^2, and theta >= E(lambda^2) + noise(h_1), so

            sin(phi) <= 2 E(lambda) U / (E(lambda^2) + noise(h_1)).

        For hollow graphs the missing diagonal adds E(lambda^2) max(U^2, (U - min_s h_1s^2) / 2)
        above the line, and theta >= second_moment(h_1) stands below.
        """
        u2, nu, theta = self.h1**2, self.mean_squared_loading, self.second_moment(self.h1)
        U, spread = float(u2.max()), float(np.ptp(u2))
        lacking = 0.0 if self.loops else nu * max(U**2, spread / 2)
        return (lacking + 2 * self.mean_loading * U) / theta if theta else math.inf

    def _printed_constant(self) -> float:
        """Return K = 2 E(lambda) / E(lambda^2), if Theorem 4.2 is proved for this model."""
        K = 2 * self.mean_loading / self.mean_squared_loading
        if min(self._sine_bound(), 1.0) > K * (1 + ROUNDING):
            raise InputError(
                "Theorem 4.2 is not proved for these hollow graphs: use distance_bound()"
            )
        return K


def _unit(vector: ArrayLike) -> Array:
    """Return a copy of a vector of norm 1, (n,), freed from rounding and not to be written to."""
    v = np.array(vector, dtype=float)
    norm = float(np.linalg.norm(v))
    if v.ndim != 1 or v.size < 2 or not abs(norm - 1) <= 1e-6:
        raise InputError(f"expected a vector of norm 1; got shape {v.shape}, norm {norm:.6g}")
    v /= norm
    v.setflags(write=False)
    return v


def _sum_of_others(y: Array) -> Array:
    """Return sum_{t != s} y_t for every s; subtracting y_s from the sum would cancel digits."""
    before, after = np.zeros_like(y), np.zeros_like(y)
    before[1:] = np.cumsum(y[:-1])
    after[:-1] = np.cumsum(y[:0:-1])[::-1]
    return before + after
