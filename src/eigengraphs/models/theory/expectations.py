"""Exact expectations over graphs of one component, section 4: E<A, hh^T>^2, E||A||^2 and M(h)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eigengraphs.errors import InputError
from eigengraphs.models.theory.vectors import ROUNDING, Array, sum_of_others, unit
from eigengraphs.models.validation import number

__all__ = ["Expectations"]


@dataclass(frozen=True, repr=False, eq=False)
class Expectations:
    """What :class:`~eigengraphs.models.theory.PopulationObjective` is made of.

    Parameters
    ----------
    h1 : array-like of shape (n,)
        Unit vector h_1 without entries of opposite sign.
    mean_loading, mean_squared_loading : float
        E(lambda) and E(lambda^2).
    loops : bool, default=True
        Whether self-loops are drawn.
    """

    h1: Array
    mean_loading: float
    mean_squared_loading: float
    loops: bool = True

    def __post_init__(self) -> None:
        u = unit(self.h1, "h1")
        u.setflags(write=False)
        if u.min() < -ROUNDING and u.max() > ROUNDING:
            raise InputError(
                f"h1 must be of one sign, or lambda h1 h1^T has negative entries; got "
                f"h1[{u.argmin()}] = {u.min():.3g} and h1[{u.argmax()}] = {u.max():.3g}"
            )
        mu = number(self.mean_loading, "mean_loading")
        nu = number(self.mean_squared_loading, "mean_squared_loading")
        for name, value in (("h1", u), ("mean_loading", mu), ("mean_squared_loading", nu)):
            object.__setattr__(self, name, value)
        L, slack = self.largest_loading, 1 + ROUNDING
        if not (0 < mu < math.inf and mu**2 <= nu * slack < math.inf and nu <= L * mu * slack):
            raise InputError(
                f"no loading within [0, {L:.6g}], where edge probabilities are within [0, 1] for "
                f"this h1, has mean_loading = {mu:.6g} > 0 and mean_squared_loading = {nu:.6g}"
            )

    @property
    def largest_loading(self) -> float:
        """Largest lambda with lambda h_1s h_1t <= 1 for every pair that may be an edge."""
        second, first = np.sort(np.abs(self.h1))[-2:]
        product = float(first * (first if self.loops else second))
        return 1 / product if product > 0 else math.inf

    def signal(self, h: ArrayLike) -> float:
        """Return E<P, hh^T>^2 = E(lambda^2) (h_1 . h)^4; hollow: E(lambda^2) (h^T P_0 h)^2.

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> round(theory.signal(theory.h1), 6)
        2500.0
        """
        h = unit(h, "h", self.h1.size)
        return self.mean_squared_loading * float(h @ self._pattern(h)) ** 2

    def noise(self, h: ArrayLike) -> float:
        """Return E((h^T (A - P) h)^2) = (h*h)^T V (h*h).

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> round(theory.noise(theory.h1), 6)
        0.4975
        """
        h = unit(h, "h", self.h1.size)
        return float(h**2 @ self._variances(h**2))

    def second_moment(self, h: ArrayLike) -> float:
        """Return E<A, hh^T>^2, signal and noise together (display after Theorem 4.2).

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> round(theory.second_moment(theory.h1), 6)
        2500.4975
        """
        return self.signal(h) + self.noise(h)

    def squared_norm(self) -> float:
        """Return E||A||_F^2, the mean number of ones: entries 0 and 1 are their own squares.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> round(theory.squared_norm(), 6)
        5000.0
        """
        return self.mean_loading * float(self._pattern(np.ones(self.h1.size)).sum())

    def expected_weighted_adjacency(self, h: ArrayLike) -> Array:
        """Return M(h) = E(<A, hh^T> A), shape (n, n).

        The paper's first display of it has h_1 for h' in the diag term; its second is right.

        Parameters
        ----------
        h : (n,)
            Unit vector.

        Examples
        --------
        >>> from eigengraphs.models.theory import PopulationObjective
        >>> theory = PopulationObjective.erdos_renyi(100, 0.5)
        >>> theory.expected_weighted_adjacency(theory.h1).shape
        (100, 100)
        """
        h = unit(h, "h", self.h1.size)
        P0 = self._dense_pattern()
        V = 2 * (self.mean_loading * P0 - self.mean_squared_loading * P0**2)
        V[np.diag_indices_from(V)] /= 2
        return np.asarray(self.mean_squared_loading * (h @ P0 @ h) * P0 + np.outer(h, h) * V)

    def _dense_pattern(self) -> Array:
        P0 = np.outer(self.h1, self.h1)
        return P0 if self.loops else P0 - np.diag(np.diag(P0))

    def _pattern(self, x: Array) -> Array:
        """Return P_0 x."""
        ux = self.h1 * x
        return np.asarray(self.h1 * (ux.sum() if self.loops else sum_of_others(ux)))

    def _variances(self, x: Array) -> Array:
        """Return V x."""
        u, mu, nu = self.h1, self.mean_loading, self.mean_squared_loading
        Vx = 2 * (mu * u * sum_of_others(u * x) - nu * u**2 * sum_of_others(u**2 * x))
        return np.asarray(Vx + (mu * u**2 - nu * u**4) * x if self.loops else Vx)

    def _multiply(self, h: Array, x: Array) -> Array:
        """Return M(h) x."""
        form = h @ self._pattern(h)
        noise = h * self._variances(h * x)
        return np.asarray(self.mean_squared_loading * form * self._pattern(x) + noise)
