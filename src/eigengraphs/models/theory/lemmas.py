"""The two lemmas of Appendix A about M(h) = E(<A, hh^T> A), checked at one vector h."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigengraphs.models.theory.expectations import Expectations
from eigengraphs.models.theory.vectors import ROUNDING, Array

__all__ = ["DistanceLemma", "EigenvectorLemma", "check_distance", "check_eigenvector"]


@dataclass(frozen=True)
class EigenvectorLemma:
    """First lemma of Appendix A at one h: h leads the spectrum of M(h).

    Attributes
    ----------
    residual : float
        Norm of M(h) h / eigenvalue - h.
    eigenvalue : float
        h^T M(h) h = E<A, hh^T>^2.
    gap : float
        The eigenvalue less the largest magnitude of the others.

    Examples
    --------
    The minimiser passes, a single vertex does not:

    >>> import numpy as np
    >>> from eigengraphs.models.theory import PopulationObjective
    >>> theory = PopulationObjective.erdos_renyi(20, 0.5)
    >>> theory.lemma_eigenvector(theory.minimizer().vector).holds()
    True
    >>> lemma = theory.lemma_eigenvector(np.eye(20)[0])
    >>> lemma.holds(), round(lemma.eigenvalue, 6), lemma.residual > 1
    (False, 0.5, True)
    """

    residual: float
    eigenvalue: float
    gap: float

    def holds(self, tolerance: float = 1e-8) -> bool:
        """Tell whether h is an eigenvector and no other eigenvalue is larger in magnitude.

        Parameters
        ----------
        tolerance : float
            Of the residual, and of the gap beside the eigenvalue.

        Examples
        --------
        >>> from eigengraphs.models.theory import EigenvectorLemma
        >>> EigenvectorLemma(residual=1e-12, eigenvalue=2.0, gap=0.5).holds()
        True
        """
        return self.residual <= tolerance and self.gap >= -tolerance * self.eigenvalue


@dataclass(frozen=True)
class DistanceLemma:
    """Second lemma of Appendix A at one h: M(h) is near its noiseless part.

    Attributes
    ----------
    distance : float
        ||M(h) - E(lambda^2) (h_1 . h)^2 h_1 h_1^T||_F.
    bound : float
        2 E(lambda), as printed.
    sharper_bound : float
        2 E(lambda) sum_s h_1s^2 h_s^2; the proof's last line says ``=`` where it means ``<=``.

    Examples
    --------
    >>> from eigengraphs.models.theory import PopulationObjective
    >>> theory = PopulationObjective.erdos_renyi(10, 0.3)
    >>> lemma = theory.lemma_distance(theory.h1)
    >>> [round(x, 3) for x in (lemma.distance, lemma.sharper_bound, lemma.bound)]
    [0.404, 0.6, 6.0]
    >>> lemma.holds
    True
    """

    distance: float
    bound: float
    sharper_bound: float

    @property
    def holds(self) -> bool:
        """Whether the distance is within both bounds."""
        return self.distance <= min(self.bound, self.sharper_bound) * (1 + ROUNDING)


def check_eigenvector(theory: Expectations, h: Array) -> EigenvectorLemma:
    """Compare a unit vector h, shape (n,), with the spectrum of M(h)."""
    M = theory.expected_weighted_adjacency(h)
    theta = float(h @ M @ h)
    eigenvalues = np.linalg.eigvalsh(M)
    others = np.delete(eigenvalues, np.argmin(np.abs(eigenvalues - theta)))
    residual = float(np.linalg.norm(M @ h - theta * h))
    gap = theta - float(np.abs(others).max())
    return EigenvectorLemma(residual / theta if theta else residual, theta, gap)


def check_distance(theory: Expectations, h: Array) -> DistanceLemma:
    """Compare M(h) with nu (h^T P_0 h) P_0 for a unit vector h, shape (n,)."""
    P0 = theory._dense_pattern()
    noiseless = theory.mean_squared_loading * float(h @ P0 @ h) * P0
    distance = float(np.linalg.norm(theory.expected_weighted_adjacency(h) - noiseless))
    bound = 2 * theory.mean_loading
    return DistanceLemma(distance, bound, bound * float(theory.h1**2 @ h**2))
