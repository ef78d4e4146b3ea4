"""Power of planned studies: that of textbooks where there is one; plans do not promise too much."""

import numpy as np
import pytest
from scipy import stats

from eigengraphs.errors import InputError
from eigengraphs.inference import compare, power

GROUP = ["a", "b"] * 20


@pytest.fixture(scope="module")
def pilot():
    """Return loadings (40, 4), correlated, in other units, with a difference on the third."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(40, 4)) @ (np.eye(4) + 0.3) * [1.0, 20.0, 0.1, 5.0] + 100.0
    Y[1::2, 2] += 0.12
    return Y


def of_a_t_test(effect, n):
    """Return the power of the two-sided t test at 5 %, by the noncentral t distribution."""
    df, shift = 2 * n - 2, effect * np.sqrt(n / 2)
    t = stats.t.ppf(0.975, df)
    return stats.nct.sf(t, df, shift) + stats.nct.cdf(-t, df, shift)


@pytest.mark.parametrize("effect", [0.0, 0.5, 1.0])
def test_one_component_has_the_power_of_a_t_test(pilot, effect):
    sizes = (10, 20, 40)
    found = power(pilot[:, 1], GROUP, effect=effect, sizes=sizes, n_studies=300,
                  n_permutations=199, random_state=0)  # fmt: skip
    expected = np.array([of_a_t_test(effect, n) for n in sizes])
    # Four standard errors, and two points for permutations and a statistic that are not t.
    error = np.sqrt(expected * (1 - expected) / 300)
    assert (np.abs(found.power.T - expected) < 4 * error + 0.02).all()
    low, high = found.ends
    assert ((low < found.power) & (found.power <= high)).all()


def test_without_an_effect_every_test_keeps_its_level(pilot):
    found = power(pilot, GROUP, effect=0.0, sizes=(8, 16), n_studies=400, n_permutations=199,
                  random_state=0)  # fmt: skip
    assert (found.found.sum(axis=0) / 800 < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 800)).all()
    assert found.found[:, found.tests.index("alone")].sum() / 800 > 0.02


def test_a_planned_study_is_like_the_pilot(pilot):
    found = power(pilot, GROUP, sizes=(20,), n_studies=10, random_state=0)
    assert found.components[int(np.argmax(found.effects))] == "je3"
    assert "je3 (where the pilot's groups differ most)" in found.words()[0]
    # Units do not matter, nor what is constant in all loadings.
    same = power(pilot * 7.0 - 3.0, GROUP, sizes=(20,), n_studies=10, random_state=0)
    assert (same.found == found.found).all()
    # Several graphs of a person are one unit.
    twice = power(np.repeat(pilot, 2, axis=0), np.repeat(GROUP, 2), sizes=(20,), n_studies=10,
                  subjects=np.repeat(np.arange(40), 2), random_state=0)  # fmt: skip
    assert (twice.n_pilot, twice.found.tolist()) == (40, found.found.tolist())


def test_the_pilots_own_effect_is_shrunk_without_bias(pilot):
    found = power(pilot, GROUP, effect="pilot", sizes=(20,), n_studies=10, random_state=0)
    a, b = pilot[::2], pilot[1::2]
    d = (b.mean(0) - a.mean(0)) / np.sqrt((a.var(0, ddof=1) + b.var(0, ddof=1)) / 2)
    expected = np.sign(d) * np.sqrt(np.maximum(d**2 - 1 / 20 - 1 / 20, 0))
    assert found.effects == pytest.approx(expected)
    assert found.tests == ("fdr", "family", "joint")
    rng, squares = np.random.default_rng(1), []
    for _ in range(200):  # true effect 0.8: squares average 0.64, not 0.64 + 2 / 15
        Y = rng.normal(size=(30, 1)) + 0.8 * (np.arange(30) % 2)[:, None]
        once = power(Y, ["a", "b"] * 15, effect="pilot", sizes=(2,), n_studies=1,
                     n_permutations=19, random_state=0)  # fmt: skip
        squares.append(once.effects[0] ** 2)
    assert np.mean(squares) == pytest.approx(0.64, abs=4 * np.std(squares) / np.sqrt(200))


def test_the_size_that_is_needed_is_that_of_the_t_test(pilot):
    found = power(pilot[:, 1], GROUP, effect=0.8, sizes=(10, 20, 40), n_studies=500,
                  n_permutations=199, random_state=0)  # fmt: skip
    needed = next(n for n in range(10, 100) if of_a_t_test(0.8, n) >= 0.8)  # 26
    value, low, high = found.size(0.8, "alone")
    assert low < value < high
    assert low <= needed <= high
    assert abs(value - needed) <= 3
    assert found.size(0.999, "alone").value == np.inf
    assert found.size(0.1, "alone").value == 10
    assert "more than 40" in " ".join(
        power(pilot, GROUP, effect=0.1, sizes=(10, 40), n_studies=20, random_state=0).words()
    )
    assert {len(row) for row in found.rows} == {len(found.header)}


def test_tests_are_those_of_compare(pilot):
    from eigengraphs.inference.studies.designs import read_design
    from eigengraphs.inference.studies.planned_studies import _p_values

    rng = np.random.default_rng(0)
    p = _p_values(read_design(pilot, GROUP), 999, rng, np.array([1]))
    same = compare(pilot, GROUP, n_permutations=999, n_bootstrap=1, random_state=0)
    found = (same.p_values[1], same.p_fdr[1], same.p_family[1], same.joint_p)
    assert found[2] > found[0] + 0.1
    # Twice the standard errors of both, with 999 permutations.
    assert tuple(p.values()) == pytest.approx(found, abs=4 * np.sqrt(0.25 / 999))


@pytest.mark.parametrize(
    ("group", "options", "said"),
    [
        (np.arange(40.0), {}, "is a quantity"),
        (["a", "b", "c", "d"] * 10, {"effect": "pilot"}, "has 4"),
        (GROUP, {"effect": "large"}, "a number or 'pilot'"),
        (GROUP, {"sizes": (1, 20)}, "at least 2 per group"),
        (GROUP, {"component": "je9"}, "component must be one of 'je1'"),
        (GROUP, {"n_permutations": 9}, "at least 19"),
        (GROUP, {"subjects": np.repeat(np.arange(20), 2)}, "different within participants"),
    ],
)
def test_what_cannot_be_planned_is_said(pilot, group, options, said):
    with pytest.raises(InputError, match=said):
        power(pilot, group, **options)
