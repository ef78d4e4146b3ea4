"""The population objective of section 4: its gradient, its minimiser, the bounds and lemmas."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eigengraphs.errors import InputError
from eigengraphs.models.theory import bounds, lemmas, minimizer
from eigengraphs.models.theory.expectations import Expectations
from eigengraphs.models.theory.lemmas import DistanceLemma, EigenvectorLemma
from eigengraphs.models.theory.minimizer import PopulationMinimizer
from eigengraphs.models.theory.vectors import ROUNDING, Array, unit
from eigengraphs.models.validation import float_array, number, whole_number

__all__ = ["PopulationObjective"]


@dataclass(frozen=True, repr=False, eq=False)
class PopulationObjective(Expectations):
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
    >>> from eigengraphs.models.theory import PopulationObjective
    >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
    >>> theory
    PopulationObjective(n=100, E(lambda)=50, E(lambda^2)=2500, loops=True)
    >>> [(round(low, 2), round(high, 2)) for low, high in theory.allowed_distances()]
    [(0.0, 0.04), (1.28, 1.52)]
    >>> best = theory.minimizer()
    >>> best.distance < 1e-8, theory.lemma_eigenvector(best.vector).holds()
    (True, True)
    """

    def __repr__(self) -> str:
        return (
            f"PopulationObjective(n={self.h1.size}, E(lambda)={self.mean_loading:.6g}, "
            f"E(lambda^2)={self.mean_squared_loading:.6g}, loops={self.loops})"
        )

    @classmethod
    def from_loadings(
        cls, h1: Array, loadings: ArrayLike, weights: ArrayLike | None = None, loops: bool = True
    ) -> PopulationObjective:
        """Take the moments from loadings, each as likely as its weight says.

        Parameters
        ----------
        h1 : (n,)
            Unit vector h_1.
        loadings : (m,)
            Values of lambda.
        weights : (m,), optional
            How likely each is; by default all alike.
        loops : bool
            Whether self-loops are drawn.

        Returns
        -------
        PopulationObjective

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> PopulationObjective.from_loadings([0.6, 0.8], [0.5, 1.5])
        PopulationObjective(n=2, E(lambda)=1, E(lambda^2)=1.25, loops=True)
        """
        lam = float_array(loadings, "loadings", 1, "(m,)")
        w = np.ones(lam.size) if weights is None else float_array(weights, "weights", 1, "(m,)")
        if w.size != lam.size:
            raise InputError(
                f"weights must have as many entries as loadings, {lam.size}, got {w.size}"
            )
        if w.min() < 0:
            raise InputError(f"weights[{w.argmin()}] is {w.min():.6g}, expected weights >= 0")
        if not w.any():
            raise InputError("weights are all zero; give at least one loading a weight > 0")
        lam, w = lam[w > 0], w[w > 0]
        mu, nu = (float(np.average(lam**k, weights=w)) for k in (1, 2))
        theory = cls(h1, mu, nu, loops)
        if not 0 <= lam.min() <= lam.max() <= theory.largest_loading * (1 + ROUNDING):
            raise InputError(
                f"loadings must be within [0, {theory.largest_loading:.6g}], or edge probabilities "
                f"leave [0, 1] for this h1; they go from {lam.min():.6g} to {lam.max():.6g}"
            )
        return theory

    @classmethod
    def erdos_renyi(cls, n: int, p: float, loops: bool = True) -> PopulationObjective:
        """Erdos-Renyi graphs: h_1 constant and lambda = n p without variation.

        Parameters
        ----------
        n : int
            Number of vertices.
        p : float
            Probability of an edge.
        loops : bool
            Whether self-loops are drawn.

        Returns
        -------
        PopulationObjective

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> PopulationObjective.erdos_renyi(20, 0.3, loops=False)
        PopulationObjective(n=20, E(lambda)=6, E(lambda^2)=36, loops=False)
        """
        n, p = whole_number(n, "n", 2), number(p, "p")
        if not 0 < p <= 1:
            raise InputError(f"p is {p:.6g}, expected 0 < p <= 1; pass an edge probability")
        return cls(np.full(n, 1 / math.sqrt(n)), n * p, (n * p) ** 2, loops)

    def objective(self, h: ArrayLike) -> float:
        """Return D(h, h_1) = E||A||^2 - E<A, hh^T>^2 for a unit vector h.

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> round(theory.objective(theory.h1), 6)
        2499.5025
        """
        return self.squared_norm() - self.second_moment(h)

    def gradient(self, h: ArrayLike) -> Array:
        """Return the gradient of D on the unit sphere, -4 (M(h) h - (h^T M(h) h) h), (n,).

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> bool(abs(theory.gradient(theory.h1)).max() < 1e-9)  # h_1 is a critical point
        True
        """
        h = unit(h, "h", self.h1.size)
        g = self._multiply(h, h)
        return np.asarray(-4 * (g - (h @ g) * h))

    def minimizer(
        self, n_random: int = 6, tol: float = 1e-12, max_iter: int = 200
    ) -> PopulationMinimizer:
        """Find h' = argmin D(h, h_1) by ascents of E<A, hh^T>^2 from several starts.

        Starts: h_1, its square and root, the 1, 2, 4, ... vertices where h_1 is largest (the noise
        peaks there), ``n_random`` from a fixed seed. An ascent ends after ``max_iter`` steps or at
        a stationarity of ``tol``. The best end is likely, not surely, global.

        Parameters
        ----------
        n_random : int
            Random starts.
        tol : float
            Stationarity at which an ascent ends.
        max_iter : int
            Most steps of an ascent.

        Returns
        -------
        PopulationMinimizer

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> PopulationObjective.erdos_renyi(20, 0.5).minimizer(n_random=2).distance < 1e-8
        True
        """
        n_random = whole_number(n_random, "n_random", 0)
        max_iter = whole_number(max_iter, "max_iter")
        tol = number(tol, "tol")
        if tol < 0:
            raise InputError(f"tol is {tol:.6g}, expected tol >= 0; the default is 1e-12")
        return minimizer.minimize(self, n_random, tol, max_iter)

    def bound(self, h: ArrayLike) -> float:
        """Return the bound of Theorem 4.2, 2 E(lambda) / (E(lambda^2) (h_1 . h)^2).

        It needs h_1 . h' >= 0: for -h' it fails as printed. Hollow graphs, which the paper does not
        treat, raise an error unless `distance_bound` proves the inequality for them.

        Why the constant holds: let phi be the angle of h' and h_1. Davis-Kahan bounds sin(phi), and
        ||h' - h_1|| = 2 sin(phi / 2) = sin(phi) / cos(phi / 2) is larger, which the paper's last
        step leaves out. But the gap may be E<A, h'h'^T>^2, at least E(lambda^2) since h' does no
        worse than h_1, so that sin(phi) <= 2 E(lambda) / E(lambda^2) without (h_1 . h')^2 =
        cos(phi)^2 below the line; and cos(phi)^2 <= cos(phi / 2) pays for the rest.

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> round(theory.bound(theory.h1), 6)
        0.04
        """
        return bounds.theorem_bound(self, unit(h, "h", self.h1.size))

    def allowed_distances(self, up_to_sign: bool = False) -> list[tuple[float, float]]:
        """Return the closed intervals of x = ||h' - h_1|| that Theorem 4.2 allows.

        With h_1 . h' = 1 - x^2 / 2 it reads x (1 - x^2 / 2)^2 <= K = 2 E(lambda) / E(lambda^2): two
        intervals for K < 0.405, one for weaker signals, all of [0, 2] for K >= 2. That is what the
        paper prints; yet h' = -h_1, at x = 2, may violate it. ``up_to_sign`` takes the nearer
        of h' and -h', so x <= sqrt(2): the reading in which the theorem is true.

        Parameters
        ----------
        up_to_sign : bool
            Take the nearer of h' and -h'.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> allowed = theory.allowed_distances(up_to_sign=True)
        >>> [(round(low, 2), round(high, 2)) for low, high in allowed]
        [(0.0, 0.04), (1.28, 1.41)]
        """
        return bounds.allowed_distances(self, up_to_sign)

    def distance_bound(self) -> float:
        """Return a bound of min(||h' - h_1||, ||h' + h_1||) that needs no knowledge of h'.

        It is 2 sin(phi / 2) where, with U = max_s h_1s^2 and for graphs with loops,

            sin(phi) <= 2 E(lambda) U / (E(lambda^2) + noise(h_1)).

        This is never above Theorem 4.2 and has no second interval; sqrt(2) says nothing.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> round(theory.distance_bound(), 6)
        0.0004
        """
        return bounds.distance_bound(self)

    def loading_bound(
        self, distance: float, spectral_norm: float, alpha: float | None = None
    ) -> float:
        """Bound the error of the estimated loading h'^T A h' (end of section 4).

        With x = ``distance`` >= ||h' - h_1||, at most sqrt(2) (the nearer sign), and with ||A|| =
        ``spectral_norm``, ``|h'^T A h' - h_1^T A h_1| <= ||A|| x sqrt(4 - x^2)``. With ``alpha``,
        ``|h'^T A h' - lambda|`` is bounded with probability at least 1 - alpha by Hoeffding's
        inequality.

        Parameters
        ----------
        distance : float
            At least ||h' - h_1||, at most sqrt(2).
        spectral_norm : float
            ||A||.
        alpha : float, optional
            Probability that the bound of the distance from lambda fails.

        Returns
        -------
        float

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> round(theory.loading_bound(theory.distance_bound(), 50.0), 3)
        0.04
        """
        return bounds.loading_bound(self, distance, spectral_norm, alpha)

    def lemma_eigenvector(self, h: ArrayLike) -> EigenvectorLemma:
        """Check the first lemma of Appendix A at h; it holds at h', with loops and without.

        It does not mark h' out: vectors orthogonal to h_1, where the signal is zero, may pass too,
        which is how the interval near sqrt(2) gets into Theorem 4.2.

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Returns
        -------
        EigenvectorLemma

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> theory.lemma_eigenvector(theory.h1).holds()
        True
        """
        return lemmas.check_eigenvector(self, unit(h, "h", self.h1.size))

    def lemma_distance(self, h: ArrayLike) -> DistanceLemma:
        """Check the second lemma at h; it holds for every h (hollow: with P_0 for h_1 h_1^T).

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Returns
        -------
        DistanceLemma

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> theory.lemma_distance(theory.h1).holds
        True
        """
        return lemmas.check_distance(self, unit(h, "h", self.h1.size))
