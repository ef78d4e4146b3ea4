"""What the population theory refuses, and in which words."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from eigengraphs.errors import InputError
from eigengraphs.models.theory import PopulationObjective


def unit(*entries: float) -> np.ndarray:
    return np.array(entries) / np.linalg.norm(entries)


def test_impossible_models_are_refused():
    h1 = unit(2, 1, 1)  # probabilities reach 1 at lambda = 1.5
    with pytest.raises(InputError, match="one sign"):
        PopulationObjective(unit(1, -1, 1), 0.5, 0.3)
    with pytest.raises(InputError, match="norm 1"):
        PopulationObjective(np.ones(3), 0.5, 0.3)
    with pytest.raises(InputError, match="at least 2"):
        PopulationObjective(np.ones(1), 0.5, 0.3)
    for moments in [(0.5, 0.24), (0.5, 0.76), (1.6, 2.56), (0, 0), (-0.5, 0.3)]:
        with pytest.raises(InputError, match=r"no loading within \[0, 1\.5\]"):
            PopulationObjective(h1, *moments)
    PopulationObjective(h1, 0.5, 0.75)  # lambda is 0 or 1.5: possible, though only just
    with pytest.raises(InputError, match=r"within \[0, 1\.5\]"):
        PopulationObjective.from_loadings(h1, [1.6, 0.1, 1.3])
    with pytest.raises(InputError, match=r"go from -0\.1"):
        PopulationObjective.from_loadings(h1, [-0.1, 1.0])


def test_bad_arguments_are_refused():
    theory = PopulationObjective.erdos_renyi(5, 0.5)
    with pytest.raises(InputError, match="h must be a vector of 5 entries, as many as h1 has;"):
        theory.noise(unit(1, 1))
    with pytest.raises(InputError, match="norm 1"):
        theory.objective(np.ones(5))
    for distance, norm in [(-0.1, 1), (1.5, 1), (1, -1)]:
        with pytest.raises(InputError, match="expected a distance"):
            theory.loading_bound(distance, norm)
    for alpha in (0, 1, -0.1):
        with pytest.raises(InputError, match="alpha"):
            theory.loading_bound(0.1, 1, alpha)


ER = PopulationObjective.erdos_renyi(5, 0.5)
H1 = unit(2, 1, 1)


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda: PopulationObjective.erdos_renyi("a", 0.5), "n must be a whole number, got 'a'; "),
        (lambda: PopulationObjective.erdos_renyi(10.5, 0.5), "n must be a whole number, got 10.5"),
        (lambda: PopulationObjective.erdos_renyi(1, 0.5), "n must be at least 2, got 1"),
        (lambda: PopulationObjective.erdos_renyi(10, None), "p must be a number, got None; pass "),
        (lambda: PopulationObjective.erdos_renyi(10, [0.5]), "p must be a number, got [0.5]; "),
        (lambda: PopulationObjective.erdos_renyi(10, math.nan), "p is nan, expected a finite"),
        (lambda: PopulationObjective.erdos_renyi(10, 0.0), "p is 0, expected 0 < p <= 1; pass "),
        (lambda: PopulationObjective.erdos_renyi(10, 1.1), "p is 1.1, expected 0 < p <= 1"),
        (lambda: PopulationObjective("abc", 1, 1), "h1 must be an array of numbers of shape (n,)"),
        (lambda: PopulationObjective(None, 1, 1), "h1 must be an array of numbers of shape (n,)"),
        (lambda: PopulationObjective([], 1, 1), "h1 is empty"),
        (lambda: PopulationObjective(np.eye(2), 1, 1), "h1 must have shape (n,), got shape (2, 2)"),
        (lambda: PopulationObjective([np.nan, 1], 1, 1), "h1[0] is nan, expected a finite number"),
        (lambda: PopulationObjective(H1, "x", 1), "mean_loading must be a number, got 'x'; pass "),
        (lambda: PopulationObjective(H1, 1, [1, 2]), "mean_squared_loading must be a number, got "),
        (lambda: PopulationObjective(H1, 10**400, 1), "mean_loading must be a number, got 1"),
        (lambda: PopulationObjective(H1, np.nan, 1.0), "mean_loading is nan, expected a finite"),
        (lambda: PopulationObjective.from_loadings(H1, ["a"]), "loadings must be an array of numb"),
        (lambda: PopulationObjective.from_loadings(H1, [[1.0]]), "loadings must have shape (m,)"),
        (lambda: PopulationObjective.from_loadings(H1, []), "loadings is empty"),
        (lambda: PopulationObjective.from_loadings(H1, [np.inf]), "loadings[0] is inf, expected"),
        (lambda: PopulationObjective.from_loadings(H1, [1.0], ["b"]), "weights must be an array"),
        (
            lambda: PopulationObjective.from_loadings(H1, [1.0], [1, 2]),
            "weights must have as many entries as loadings, 1, got 2",
        ),
        (
            lambda: PopulationObjective.from_loadings(H1, [1.0, 1.0], [2, -1]),
            "weights[1] is -1, expected weights >= 0",
        ),
        (lambda: PopulationObjective.from_loadings(H1, [1.0], [0.0]), "weights are all zero; "),
        (lambda: PopulationObjective.from_loadings(H1, [1.0], [np.nan]), "weights[0] is nan"),
        (lambda: ER.loading_bound("a", 50), "distance must be a number, got 'a'; pass "),
        (lambda: ER.loading_bound(math.nan, 1), "distance is nan, expected a finite number"),
        (lambda: ER.loading_bound(1, None), "spectral_norm must be a number, got None"),
        (lambda: ER.loading_bound(1, math.inf), "spectral_norm is inf, expected a finite number"),
        (lambda: ER.loading_bound(0.1, 1, "a"), "alpha must be a number, got 'a'"),
        (lambda: ER.loading_bound(0.1, 1, math.nan), "alpha is nan, expected a finite number"),
        (lambda: ER.objective("abc"), "h must be an array of numbers of shape (n,)"),
        (lambda: ER.minimizer(n_random="a"), "n_random must be a whole number, got 'a'"),
        (lambda: ER.minimizer(max_iter=0), "max_iter must be at least 1, got 0"),
        (lambda: ER.minimizer(tol="a"), "tol must be a number, got 'a'"),
        (lambda: ER.minimizer(tol=-1), "tol is -1, expected tol >= 0"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(use, text):
    with pytest.raises(InputError, match=re.escape(text)):
        use()


def test_numbers_may_be_of_any_kind():
    theory = PopulationObjective.erdos_renyi(np.int64(10), Fraction(1, 2))
    assert theory.mean_loading == PopulationObjective.erdos_renyi(10, np.float32(0.5)).mean_loading
    assert type(theory.mean_loading) is float
    assert theory.loading_bound(np.array(1.0), 2) == pytest.approx(2 * math.sqrt(3))
