"""How far the minimiser h' may be from h_1, and the loadings with it: Theorem 4.2 and what follows.

Davis-Kahan bounds the sine of the angle phi of h' and h_1; the distance is 2 sin(phi / 2) =
sin(phi) / cos(phi / 2), up to sqrt(2) times more, which the paper's last step leaves out. The
printed constant holds all the same: the gap may be theta = E<A, h'h'^T>^2, at least E(lambda^2)
since h' does no worse than h_1, so that sin(phi) <= 2 E(lambda) / E(lambda^2) without
(h_1 . h')^2, and cos(phi)^2 <= cos(phi / 2) pays for the rest.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from eigengraphs.errors import InputError
from eigengraphs.models.theory.expectations import Expectations
from eigengraphs.models.theory.vectors import ROUNDING, Array
from eigengraphs.models.validation import number

__all__ = ["allowed_distances", "distance_bound", "loading_bound", "theorem_bound"]


def theorem_bound(theory: Expectations, h: Array) -> float:
    """Return 2 E(lambda) / (E(lambda^2) (h_1 . h)^2) for a unit vector h, shape (n,)."""
    overlap = float(theory.h1 @ h)
    return _printed_constant(theory) / overlap**2 if overlap else math.inf


def allowed_distances(theory: Expectations, up_to_sign: bool) -> list[tuple[float, float]]:
    """Return the intervals of x in [0, 2] with x (1 - x^2 / 2)^2 <= K.

    The left side rises to 0.405 at sqrt(2/5), falls to 0 at sqrt(2), rises to 2 at 2: two
    intervals for K < 0.405, one for weaker signals, all of [0, 2] for K >= 2.
    """
    K, peak, zero = _printed_constant(theory), math.sqrt(0.4), math.sqrt(2)

    def crossing(low: float, high: float) -> float:
        return float(brentq(lambda x: x * (1 - x**2 / 2) ** 2 - K, low, high, xtol=1e-15))

    end = zero if up_to_sign else 2.0 if K >= 2 else crossing(zero, 2.0)
    if peak * 0.8**2 <= K:
        return [(0.0, end)]
    return [(0.0, crossing(0.0, peak)), (crossing(peak, zero), end)]


def distance_bound(theory: Expectations) -> float:
    """Return 2 sin(phi / 2) for the largest angle phi that `_sine_bound` allows."""
    return 2 * math.sin(math.asin(min(_sine_bound(theory), 1.0)) / 2)


def loading_bound(
    theory: Expectations, distance: float, spectral_norm: float, alpha: float | None
) -> float:
    """Return the bound of |h'^T A h' - h_1^T A h_1|, or with ``alpha`` of |h'^T A h' - lambda|.

    The first is |(h' - h_1)^T A (h' + h_1)| <= ||A|| x sqrt(4 - x^2). Hoeffding's inequality over
    s <= t, ranges 2 |h_1s h_1t| and h_1s^2, adds sqrt((2 - q) log(2 / alpha) / 2), q =
    sum_s h_1s^4. Hollow graphs: 2 - 2 q for 2 - q, and q times the largest loading for the
    diagonal that A lacks.
    """
    distance, spectral_norm = number(distance, "distance"), number(spectral_norm, "spectral_norm")
    if not (0 <= distance <= math.sqrt(2) * (1 + ROUNDING) and spectral_norm >= 0):
        raise InputError(
            f"expected a distance in [0, sqrt(2)], to the nearer of h' and -h', and a "
            f"spectral norm >= 0; got {distance} and {spectral_norm}"
        )
    turned = spectral_norm * distance * math.sqrt(4 - distance**2)
    if alpha is None:
        return turned
    alpha = number(alpha, "alpha")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be strictly between 0 and 1; got {alpha}")
    q = float(np.sum(theory.h1**4))
    squared_ranges = 2 - q if theory.loops else 2 - 2 * q
    lacking = 0.0 if theory.loops else q * theory.largest_loading
    return turned + lacking + math.sqrt(squared_ranges * math.log(2 / alpha) / 2)


def _sine_bound(theory: Expectations) -> float:
    """Return a bound of sin(phi), possibly above 1, that needs no knowledge of h'.

    Project M(h') h' = theta h' off h_1: with loops only hh^T * V is left of M, of norm at most
    2 E(lambda) U with U = max_s h_1s^2, and theta >= E(lambda^2) + noise(h_1), so

        sin(phi) <= 2 E(lambda) U / (E(lambda^2) + noise(h_1)).

    For hollow graphs the missing diagonal adds E(lambda^2) max(U^2, (U - min_s h_1s^2) / 2) above
    the line, and theta >= second_moment(h_1) stands below.
    """
    u2, nu, theta = theory.h1**2, theory.mean_squared_loading, theory.second_moment(theory.h1)
    U, spread = float(u2.max()), float(np.ptp(u2))
    lacking = 0.0 if theory.loops else nu * max(U**2, spread / 2)
    return (lacking + 2 * theory.mean_loading * U) / theta if theta else math.inf


def _printed_constant(theory: Expectations) -> float:
    """Return K = 2 E(lambda) / E(lambda^2), if Theorem 4.2 is proved for this model."""
    K = 2 * theory.mean_loading / theory.mean_squared_loading
    if min(_sine_bound(theory), 1.0) > K * (1 + ROUNDING):
        raise InputError("Theorem 4.2 is not proved for these hollow graphs: use distance_bound()")
    return K
