"""Population theory of the one-dimensional joint embedding: section 4 and Appendix A.

Here A given lambda has independent Bernoulli entries for s <= t with probabilities
P = lambda h_1 h_1^T, and lambda is random. Everything below needs only its first two moments.

Notation of the kernels: ``u`` is h_1, ``mu`` = E(lambda), ``nu`` = E(lambda^2),
Q = E(P * (J - P)) the mean variances of the entries, M(h) = E(<A, hh^T> A).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.sparse.linalg import LinearOperator, eigsh, minres

from eigengraphs.errors import InputError

__all__ = ["DistanceLemma", "EigenvectorLemma", "PopulationMinimizer", "PopulationObjective"]

Vector: TypeAlias = NDArray[np.float64]

ROUNDING = 1e-12  # relative room for sums in floating point when moments are checked
DENSE_LIMIT = 64  # below it a full eigendecomposition is faster than Lanczos


@dataclass(frozen=True, repr=False, eq=False)
class PopulationMinimizer:
    """A minimiser h' of D(h, h_1) on the unit sphere, with what vouches for it.

    Attributes
    ----------
    vector : ndarray of shape (n,)
        h', signed so that h_1 . h' >= 0.
    objective, second_moment : float
        D(h', h_1) and E<A, h'h'^T>^2.
    distance : float
        ``||h' - h_1||``, at most sqrt(2) because of the sign.
    stationarity : float
        ``||M(h') h' - theta h'|| / theta`` with theta = E<A, h'h'^T>^2; zero at a critical point.
    n_starts, n_agreeing : int
        Ascents made, and those among them that ended at this value of the objective.
    """

    vector: Vector
    objective: float
    second_moment: float
    distance: float
    stationarity: float
    n_starts: int
    n_agreeing: int

    def __repr__(self) -> str:
        return (
            f"PopulationMinimizer(distance={self.distance:.3g}, objective={self.objective:.6g}, "
            f"stationarity={self.stationarity:.1e}, {self.n_agreeing} of {self.n_starts} starts)"
        )


@dataclass(frozen=True)
class EigenvectorLemma:
    """First lemma of Appendix A, looked at for one h: is it the leading eigenvector of M(h)?

    Attributes
    ----------
    residual : float
        ``||M(h) h - eigenvalue h|| / eigenvalue``.
    eigenvalue : float
        h^T M(h) h = E<A, hh^T>^2.
    gap : float
        ``eigenvalue`` less the largest magnitude among the other eigenvalues of M(h).
    """

    residual: float
    eigenvalue: float
    gap: float

    def holds(self, tolerance: float = 1e-8) -> bool:
        """Tell whether h is an eigenvector and no other eigenvalue is larger in magnitude."""
        return self.residual <= tolerance and self.gap >= -tolerance * self.eigenvalue


@dataclass(frozen=True)
class DistanceLemma:
    """Second lemma of Appendix A, looked at for one h: is M(h) near its noiseless part?

    Attributes
    ----------
    distance : float
        ``||M(h) - E(lambda^2) (h_1 . h)^2 h_1 h_1^T||_F``.
    bound : float
        2 E(lambda), as printed.
    sharper_bound : float
        2 E(lambda) sum_s h_1s^2 h_s^2: the proof's last line says ``=`` where ``<=`` is meant.
    """

    distance: float
    bound: float
    sharper_bound: float

    @property
    def holds(self) -> bool:
        """Whether the distance is within both bounds."""
        return self.distance <= min(self.bound, self.sharper_bound) * (1 + ROUNDING)


@dataclass(frozen=True, repr=False, eq=False)
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
        Whether self-loops are drawn, as in the paper. Otherwise the diagonal of A is zero,
        h_1 h_1^T loses its diagonal in every formula, and h' is biased also without noise.

    Examples
    --------
    >>> from eigengraphs.models.theory import PopulationObjective
    >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
    >>> theory
    PopulationObjective(n=100, E(lambda)=50, E(lambda^2)=2500, loops=True)
    >>> [(round(low, 2), round(high, 2)) for low, high in theory.allowed_distances()]
    [(0.0, 0.04), (1.28, 1.52)]
    >>> theory.minimizer().distance < 1e-8
    True
    """

    h1: Vector
    mean_loading: float
    mean_squared_loading: float
    loops: bool = True

    def __post_init__(self) -> None:
        u = _unit(self.h1, "h1")
        u.setflags(write=False)
        if u.min() < -ROUNDING and u.max() > ROUNDING:
            raise InputError(
                f"h1 has entries of opposite sign (h1[{u.argmin()}] = {u.min():.3g}, "
                f"h1[{u.argmax()}] = {u.max():.3g}), so lambda h1 h1^T has negative entries; "
                f"give a vector of one sign"
            )
        object.__setattr__(self, "h1", u)
        mu, nu = float(self.mean_loading), float(self.mean_squared_loading)
        object.__setattr__(self, "mean_loading", mu)
        object.__setattr__(self, "mean_squared_loading", nu)
        if not (math.isfinite(mu) and math.isfinite(nu) and mu > 0):
            raise InputError(
                f"E(lambda) must be positive and finite with E(lambda^2); got {mu}, {nu}"
            )
        if nu < mu**2 * (1 - ROUNDING):
            raise InputError(
                f"mean_squared_loading = {nu:.6g} is below mean_loading^2 = {mu**2:.6g}; "
                f"no random loading has these moments"
            )
        L = self.largest_loading
        if nu > L * mu * (1 + ROUNDING):
            raise InputError(
                f"with mean_loading = {mu:.6g} and mean_squared_loading = {nu:.6g} some loading "
                f"exceeds {L:.6g}, beyond which an edge probability exceeds 1 for this h1"
            )

    def __repr__(self) -> str:
        return (
            f"PopulationObjective(n={self.h1.size}, E(lambda)={self.mean_loading:.6g}, "
            f"E(lambda^2)={self.mean_squared_loading:.6g}, loops={self.loops})"
        )

    @classmethod
    def from_loadings(
        cls,
        h1: ArrayLike,
        loadings: ArrayLike,
        weights: ArrayLike | None = None,
        loops: bool = True,
    ) -> PopulationObjective:
        """Take the moments from loadings of shape (m,), each as likely as its weight says."""
        lam = np.asarray(loadings, dtype=np.float64)
        w = np.ones_like(lam) if weights is None else np.asarray(weights, dtype=np.float64)
        if lam.ndim != 1 or lam.size == 0 or w.shape != lam.shape:
            raise InputError(
                f"loadings and weights must be vectors of one length >= 1; "
                f"got shapes {lam.shape} and {w.shape}"
            )
        if not np.isfinite(w).all() or w.min() < 0 or w.sum() == 0:
            raise InputError("weights must be finite, not negative, and not all zero")
        theory = cls(
            np.asarray(h1, dtype=np.float64),
            float(np.average(lam, weights=w)),
            float(np.average(lam**2, weights=w)),
            loops,
        )
        likely = np.where(w > 0, lam, 0.0)
        worst = int(np.argmax(np.maximum(-likely, likely - theory.largest_loading)))
        if not -ROUNDING <= likely[worst] <= theory.largest_loading * (1 + ROUNDING):
            raise InputError(
                f"loadings[{worst}] = {lam[worst]:.6g} is outside [0, {theory.largest_loading:.6g}], "
                f"where the edge probabilities are within [0, 1] for this h1"
            )
        return theory

    @classmethod
    def erdos_renyi(cls, n: int, p: float, loops: bool = True) -> PopulationObjective:
        """Erdos-Renyi graphs: h_1 constant and lambda = n p without variation."""
        if not (n >= 2 and 0 < p <= 1):
            raise InputError(f"expected n >= 2 vertices and 0 < p <= 1; got n = {n}, p = {p}")
        return cls(np.full(n, 1 / math.sqrt(n)), n * p, (n * p) ** 2, loops)

    @property
    def largest_loading(self) -> float:
        """Largest lambda with lambda h_1s h_1t <= 1 for every pair that may be an edge."""
        second, first = np.sort(np.abs(self.h1))[-2:]
        product = float(first * (first if self.loops else second))
        return 1 / product if product > 0 else math.inf

    def signal(self, h: ArrayLike) -> float:
        """Return E<P, hh^T>^2: E(lambda^2) (h_1 . h)^4, hollow E(lambda^2) <P_0, hh^T>^2.

        P_0 is h_1 h_1^T without its diagonal.
        """
        return self.mean_squared_loading * self._form(_unit(h, "h", self.h1.size)) ** 2

    def noise(self, h: ArrayLike) -> float:
        """Return E((h^T (A - P) h)^2) = 2 sum_{s != t} Q_st h_s^2 h_t^2 + sum_s Q_ss h_s^4.

        Without loops the last sum is absent. Q has rank two, so that O(n) steps are enough.
        """
        h = _unit(h, "h", self.h1.size)
        u, mu, nu, h2 = self.h1, self.mean_loading, self.mean_squared_loading, h**2
        pairs = 2 * (mu * float(u @ h2) ** 2 - nu * float(u**2 @ h2) ** 2)
        return max(pairs - float(self._diagonal() @ h2**2), 0.0)

    def second_moment(self, h: ArrayLike) -> float:
        """Return E<A, hh^T>^2, signal and noise together (display after Theorem 4.2)."""
        return self.signal(h) + self.noise(h)

    def squared_norm(self) -> float:
        """Return E||A||_F^2, the mean number of ones: entries 0 and 1 are their own squares."""
        return self.mean_loading * (float(self.h1.sum()) ** 2 - (0 if self.loops else 1))

    def objective(self, h: ArrayLike) -> float:
        """Return D(h, h_1) = E||A||^2 - E<A, hh^T>^2 for a unit vector h."""
        return self.squared_norm() - self.second_moment(h)

    def gradient(self, h: ArrayLike) -> Vector:
        """Return the gradient of D on the unit sphere, -4 (M(h) h - (h^T M(h) h) h), (n,).

        It is tangent at h and zero at h', which is the first half of the first lemma.
        """
        h = _unit(h, "h", self.h1.size)
        g = self._multiply(h, h)
        return -4 * (g - (h @ g) * h)

    def minimizer(
        self, n_random: int = 6, tol: float = 1e-12, max_iter: int = 500
    ) -> PopulationMinimizer:
        """Find h' = argmin D(h, h_1) by ascents of E<A, hh^T>^2 from several starts.

        A step replaces h by the leading eigenvector of M(h): the Cauchy-Schwarz argument of the
        first lemma shows that it never lowers E<A, hh^T>^2. Newton's method on the sphere
        finishes. The starts are h_1, its square and square root, the vertices where h_1 is
        largest (1, 2, 4, ... of them, where the noise peaks) and ``n_random`` random ones from a
        fixed seed. The best end is returned; that it is global is likely, not proved.
        """
        n, order = self.h1.size, np.argsort(-np.abs(self.h1))
        starts = [self.h1, self.h1**2, np.sqrt(np.abs(self.h1))]
        for k in 2 ** np.arange(n.bit_length()):
            starts.append(np.isin(np.arange(n), order[:k]).astype(np.float64))
        starts += list(np.random.default_rng(0).standard_normal((n_random, n)))
        ends = [self._ascend(start / np.linalg.norm(start), tol, max_iter) for start in starts]
        values = np.array([self.second_moment(h) for h in ends])
        # The first of the equals, so that ties go to the start h_1.
        h = ends[int(np.argmax(values >= values.max() * (1 - 1e-10)))]
        h = h if h @ self.h1 >= 0 else -h
        theta = self.second_moment(h)
        return PopulationMinimizer(
            vector=h,
            objective=self.objective(h),
            second_moment=theta,
            distance=float(np.linalg.norm(h - self.h1)),
            stationarity=float(np.linalg.norm(self.gradient(h))) / (4 * theta) if theta else 0.0,
            n_starts=len(starts),
            n_agreeing=int(np.count_nonzero(values >= values.max() * (1 - 1e-10))),
        )

    def bound(self, h: ArrayLike) -> float:
        """Return the bound of Theorem 4.2, 2 E(lambda) / (E(lambda^2) (h_1 . h)^2).

        What is proved, for loops. The Davis-Kahan theorem bounds the sine of the angle phi of h'
        and h_1, while the distance is 2 sin(phi / 2) = sin(phi) / cos(phi / 2), up to sqrt(2)
        times larger; the paper's last step leaves this out, so that step alone would justify
        ``||h' - h_1|| cos(phi / 2)`` on the left. The printed constant is right all the same: the
        gap in that theorem may be taken as theta = E<A, h'h'^T>^2, and theta >= E(lambda^2)
        because h' does no worse than h_1. Hence sin(phi) <= 2 E(lambda) / E(lambda^2) without
        (h_1 . h')^2, and cos(phi)^2 <= cos(phi / 2) pays for the difference. The sign of h' must
        be such that h_1 . h' >= 0: for -h' the statement as printed fails. Without loops it is
        proved only where `distance_bound` says enough; an error is raised elsewhere.
        """
        overlap = float(self.h1 @ _unit(h, "h", self.h1.size))
        return self._printed_constant() / overlap**2 if overlap else math.inf

    def allowed_distances(self, up_to_sign: bool = False) -> list[tuple[float, float]]:
        """Return the closed intervals of x = ||h' - h_1|| that Theorem 4.2 allows.

        With h_1 . h' = 1 - x^2 / 2 the theorem reads x (1 - x^2 / 2)^2 <= K for
        K = 2 E(lambda) / E(lambda^2). The left side rises to 0.405 at sqrt(2/5), falls to 0 at
        sqrt(2) and rises to 2 at 2: there are two intervals for K < 0.405, one for weaker
        signals, and the whole of [0, 2] for K >= 2.

        Parameters
        ----------
        up_to_sign : bool, default=False
            False gives what the paper prints, x in [0, 2]. True gives the distance to the
            nearer of h' and -h', so x <= sqrt(2), the only reading in which the theorem is
            true: -h' is a minimiser too, and at -h_1 the printed inequality fails. Even then
            the second interval is void in truth: see `distance_bound`.
        """
        K = self._printed_constant()
        peak, zero = math.sqrt(0.4), math.sqrt(2)

        def crossing(low: float, high: float) -> float:
            return float(brentq(lambda x: x * (1 - x**2 / 2) ** 2 - K, low, high, xtol=1e-15))

        end = 2.0 if K >= 2 else crossing(zero, 2.0)
        if peak * 0.8**2 <= K:
            intervals = [(0.0, end)]
        else:
            intervals = [(0.0, crossing(0.0, peak)), (crossing(peak, zero), end)]
        return [(a, min(b, zero)) for a, b in intervals] if up_to_sign else intervals

    def distance_bound(self) -> float:
        """Return a bound of min(||h' - h_1||, ||h' + h_1||) that needs no knowledge of h'.

        Multiply M(h') h' = theta h' by the projection off h_1. With loops only the noise part of
        M is left, at most 2 E(lambda) U in norm for U = max_s h_1s^2, and
        theta >= E(lambda^2) + noise(h_1), so that

            sin(phi) <= 2 E(lambda) U / (E(lambda^2) + noise(h_1)).

        This is never above Theorem 4.2 and leaves no second interval, without the further
        assumptions that the paper asks for. Without loops the missing diagonal adds at most
        E(lambda^2) max(U^2, (U - min_s h_1s^2) / 2) above, and (1 - sum_s h_1s^4)^2 multiplies
        E(lambda^2) below. The value is 2 sin(phi / 2), and sqrt(2) says nothing.
        """
        return 2 * math.sin(math.asin(min(self._sine_bound(), 1.0)) / 2)

    def loading_bound(
        self, distance: float, spectral_norm: float, alpha: float | None = None
    ) -> float:
        """Bound the error of the estimated loading h'^T A h' (end of section 4).

        Parameters
        ----------
        distance : float
            x >= ||h' - h_1||, within [0, sqrt(2)], for instance from `distance_bound`.
        spectral_norm : float
            ||A||_2 of the graph.
        alpha : float, optional
            Without it, bound ``|h'^T A h' - h_1^T A h_1|`` by ||A||_2 x sqrt(4 - x^2), from
            (h' - h_1)^T A (h' + h_1). With it, bound ``|h'^T A h' - lambda|`` with probability at
            least 1 - alpha: Hoeffding's inequality over the pairs s <= t, whose ranges are
            2 |h_1s h_1t| and h_1s^2, adds sqrt((2 - q) log(2 / alpha) / 2) with
            q = sum_s h_1s^4; without loops (2 - 2q), and q times the largest possible
            loading for the diagonal that h_1^T A h_1 lacks.
        """
        if not 0 <= distance <= math.sqrt(2) * (1 + ROUNDING):
            raise InputError(
                f"distance must be in [0, sqrt(2)], measured to the nearer of h' and -h'; "
                f"got {distance}"
            )
        if not 0 <= spectral_norm < math.inf:
            raise InputError(f"spectral_norm must be finite and not negative; got {spectral_norm}")
        turned = spectral_norm * distance * math.sqrt(4 - distance**2)
        if alpha is None:
            return turned
        if not 0 < alpha < 1:
            raise InputError(f"alpha must be strictly between 0 and 1; got {alpha}")
        q = float(np.sum(self.h1**4))
        lacking = 0.0 if self.loops else q * self.largest_loading
        squared_ranges = 2 - (q if self.loops else 2 * q)
        return turned + lacking + math.sqrt(squared_ranges * math.log(2 / alpha) / 2)

    def expected_weighted_adjacency(self, h: ArrayLike) -> Vector:
        """Return M(h) = E(<A, hh^T> A), shape (n, n).

        M(h) = E(lambda^2) (h_1 . h)^2 h_1 h_1^T + 2 hh^T * Q - diag(hh^T * Q), of which only the
        entries off the diagonal remain without loops, with <P_0, hh^T> for (h_1 . h)^2. (The
        paper's first display of this has h_1 for h' in the diag term; the second is right.)
        """
        h = _unit(h, "h", self.h1.size)
        u, mu, nu = self.h1, self.mean_loading, self.mean_squared_loading
        M = nu * self._form(h) * np.outer(u, u)
        M += 2 * np.outer(h, h) * (mu * np.outer(u, u) - nu * np.outer(u**2, u**2))
        M[np.diag_indices_from(M)] -= self._diagonal() * h**2 if self.loops else np.diag(M)
        return M

    def lemma_eigenvector(self, h: ArrayLike) -> EigenvectorLemma:
        """Check the first lemma of Appendix A at h: it holds at h', with and without loops."""
        h = _unit(h, "h", self.h1.size)
        M = self.expected_weighted_adjacency(h)
        theta = float(h @ M @ h)
        eigenvalues = np.linalg.eigvalsh(M)
        others = np.delete(eigenvalues, np.argmin(np.abs(eigenvalues - theta)))
        residual = float(np.linalg.norm(M @ h - theta * h))
        return EigenvectorLemma(
            residual=residual / theta if theta else residual,
            eigenvalue=theta,
            gap=theta - float(np.abs(others).max()),
        )

    def lemma_distance(self, h: ArrayLike) -> DistanceLemma:
        """Check the second lemma of Appendix A at h: it holds for every unit vector h.

        Without loops M(h) is compared with E(lambda^2) <P_0, hh^T> P_0.
        """
        h = _unit(h, "h", self.h1.size)
        part = np.outer(self.h1, self.h1)
        if not self.loops:
            np.fill_diagonal(part, 0)
        part *= self.mean_squared_loading * self._form(h)
        bound = 2 * self.mean_loading
        return DistanceLemma(
            distance=float(np.linalg.norm(self.expected_weighted_adjacency(h) - part)),
            bound=bound,
            sharper_bound=bound * float(self.h1**2 @ h**2),
        )

    def _form(self, h: Vector) -> float:
        """Return <P, hh^T> / lambda."""
        return float(self.h1 @ h) ** 2 - (0.0 if self.loops else float(self.h1**2 @ h**2))

    def _diagonal(self) -> Vector:
        """Return what 2 hh^T * Q has too much on its diagonal, over h^2: once Q_ss or twice."""
        w = self.mean_loading * self.h1**2 - self.mean_squared_loading * self.h1**4
        return w if self.loops else 2 * w

    def _multiply(self, h: Vector, x: Vector) -> Vector:
        """Return M(h) x in O(n)."""
        u, mu, nu = self.h1, self.mean_loading, self.mean_squared_loading
        uh, uuh = u * h, u**2 * h
        y = nu * self._form(h) * ((u @ x) * u - (0 if self.loops else u**2 * x))
        y += 2 * (mu * (uh @ x) * uh - nu * (uuh @ x) * uuh) - self._diagonal() * h**2 * x
        return np.asarray(y)

    def _curve(self, h: Vector, x: Vector) -> Vector:
        """Return the derivative of M(h) h along x, a quarter of the Hessian of E<A, hh^T>^2."""
        u, mu, nu = self.h1, self.mean_loading, self.mean_squared_loading
        uh, uuh = u * h, u**2 * h
        v = (u @ h) * u - (0 if self.loops else uuh)
        y = nu * (v @ x) * v + mu * ((uh @ h) * u * x + (uh @ x) * uh)
        y -= nu * ((uuh @ h) * u**2 * x + (uuh @ x) * uuh) + self._diagonal() * h**2 * x
        return np.asarray(self._multiply(h, x) + 2 * y)

    def _ascend(self, h: Vector, tol: float, max_iter: int) -> Vector:
        """Climb E<A, hh^T>^2 from h to a critical point."""
        for _ in range(max_iter):
            g = self._multiply(h, h)
            theta = float(h @ g)
            residual = g - theta * h
            if np.linalg.norm(residual) <= tol * theta:
                break
            step = self._newton(h, theta, residual)
            if self.second_moment(step) < theta:
                step = self._leading(h)
            h = step
        return h

    def _newton(self, h: Vector, theta: float, residual: Vector) -> Vector:
        """Return the Newton point for M(h) h = theta h on the sphere."""

        def matvec(x: Vector) -> Vector:
            x = x - (h @ x) * h
            y = self._curve(h, x) - theta * x
            return np.asarray(y - (h @ y) * h)

        n = h.size
        H = LinearOperator((n, n), matvec=matvec, dtype=np.float64)
        d = minres(H, -residual, rtol=1e-10, maxiter=4 * n)[0]
        return np.asarray((h + d) / np.linalg.norm(h + d))

    def _leading(self, h: Vector) -> Vector:
        """Return the eigenvector of M(h) whose eigenvalue is largest in magnitude."""
        n = h.size
        if n <= DENSE_LIMIT:
            values, vectors = np.linalg.eigh(self.expected_weighted_adjacency(h))
            return np.asarray(vectors[:, np.argmax(np.abs(values))])
        M = LinearOperator((n, n), matvec=lambda x: self._multiply(h, x.ravel()), dtype=np.float64)
        return np.asarray(eigsh(M, k=1, which="LM", v0=h)[1][:, 0])

    def _sine_bound(self) -> float:
        """Return the bound of sin(phi) that `distance_bound` derives, possibly above 1."""
        u2, mu, nu = self.h1**2, self.mean_loading, self.mean_squared_loading
        U = float(u2.max())
        lacking = 0.0 if self.loops else max(U**2, (U - float(u2.min())) / 2)
        theta = self.second_moment(self.h1)
        return (nu * lacking + 2 * mu * U) / theta if theta else math.inf

    def _printed_constant(self) -> float:
        """Return 2 E(lambda) / E(lambda^2), if Theorem 4.2 is proved for this model."""
        K = 2 * self.mean_loading / self.mean_squared_loading
        if min(self._sine_bound(), 1.0) > K * (1 + ROUNDING):
            raise InputError(
                "Theorem 4.2 is stated for graphs with loops, and its bound is not proved for these "
                "hollow graphs; use distance_bound() instead"
            )
        return K


def _unit(vector: ArrayLike, name: str, n: int | None = None) -> Vector:
    """Return a float64 copy of a vector of norm 1, shape (n,), freed from rounding."""
    v = np.array(vector, dtype=np.float64)
    if v.ndim != 1 or v.size < 2 or (n is not None and v.size != n):
        expected = "at least 2" if n is None else f"{n}, as h1 has"
        raise InputError(f"{name} must be a vector of {expected} entries; got shape {v.shape}")
    norm = float(np.linalg.norm(v))
    if not abs(norm - 1) <= 1e-6:
        raise InputError(f"{name} must have norm 1; it has {norm:.6g}: divide by it")
    return v / norm
