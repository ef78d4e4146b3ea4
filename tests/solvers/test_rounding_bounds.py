"""The two bounds of rounding of Newton's method, to the last digit."""

import numpy as np
import pytest

from eigengraphs.solvers.ascent import Ascent
from eigengraphs.solvers.quotient import Quotient

EPS = float(np.finfo(float).eps)
START, TRIAL, OTHER = np.eye(3)
SIZE = 1e-3


class ToldQuotient(Quotient):
    """Offers one trial, whose value and gradient are told."""

    _hollow = False

    def __init__(self, f, size):
        self.f, self.size = f, size

    def _state(self, y, rough=False):
        f, size = (1.0, SIZE) if np.array_equal(y, START) else (self.f, self.size)
        return f, size * OTHER, np.eye(3), np.ones(2)

    def _step(self, y, f, r, S, is_stationary, bent=False, climb=False):
        return TRIAL, True

    def _trials(self, y, f, r, S, step):
        yield TRIAL


class ToldAscent(Ascent):
    """The same under a rule."""

    def __init__(self, f, size):
        self.f, self.size = f, size

    def _state(self, y):
        f, size = (1.0, SIZE) if np.array_equal(y, START) else (self.f, self.size)
        return f, 1.0, size * OTHER, np.eye(3), np.ones(1)

    def _trials(self, y, theta, r, matrix, t, small):
        return [TRIAL]


@pytest.mark.parametrize("kind", [ToldQuotient, ToldAscent])
@pytest.mark.parametrize(
    ("f", "size", "taken"),
    [
        (1 + 5 * EPS, 0.9, True),
        (1 + 4 * EPS, 0.9, False),
        (1 - 100 * EPS, 0.49, True),
        (1 - 100.5 * EPS, 0.49, False),
    ],
)
def test_f_rises_by_more_than_four_and_falls_by_a_hundred_units_at_most(kind, f, size, taken):
    y, _, _ = kind(f, size * SIZE).maximise(START, 1e-30)
    assert np.array_equal(y, TRIAL if taken else START)
