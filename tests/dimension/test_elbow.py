"""The elbow: Zhu and Ghodsi's profile where it applies, and sensible answers where it does not."""

import numpy as np
import pytest
from scipy import stats

from eigengraphs.dimension.selection_rules import elbow, profile_likelihood


def path_of(gains, left):
    """Return the objective after each gain, with something left at the end."""
    return np.append(np.cumsum(gains[::-1])[::-1], 0.0) + left


def test_without_a_slope_the_profile_is_that_of_zhu_and_ghodsi():
    values = np.random.default_rng(0).normal(size=9)
    profile = profile_likelihood(values)
    for q in range(1, 9):
        means = np.repeat([values[:q].mean(), values[q:].mean()], [q, 9 - q])
        sd = np.sqrt(((values - means) ** 2).mean())
        assert profile[q] == pytest.approx(stats.norm.logpdf(values, means, sd).sum(), rel=1e-12)
    assert profile[0] == pytest.approx(stats.norm.logpdf(values, *stats.norm.fit(values)).sum())


FLAT = [1.02, 0.99, 1.01, 0.98, 1.0, 0.99, 0.97, 0.98]


@pytest.mark.parametrize(
    ("gains", "left", "expected"),
    [
        ([100, *FLAT], 500, 1),
        ([100, 90, 80, *FLAT], 500, 3),
        ([30000, 30, *FLAT], 500, 2),  # the first would hide the second
        ([30000, 30, 1.5, *FLAT], 500, 3),
        (FLAT, 500, 0),  # noise
        (0.9 ** np.arange(12), 500, 0),  # noise that falls
        (np.linspace(1, 0.05, 12), 20, 0),  # noise that runs out
        ([100, *np.linspace(1, 0.05, 11)], 20, 1),
        ([5, 4.5, 4, 3.8], 1e-9, 4),  # nothing is left
        ([5, 4.5, 4, 3.8, 0, 0, 0], 0, 4),  # nor for the last ones
        ([2.0], 0, 1),
        ([2.0], 50, 0),
        ([0, 0, 0], 0, 0),
    ],
)
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_elbows_of_known_paths(gains, left, expected, scale):
    assert elbow(scale * path_of(np.array(gains, dtype=float), left)) == expected
