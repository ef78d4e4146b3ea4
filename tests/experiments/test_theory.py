"""The theorems in numbers: what the steps measure is what they say."""

import numpy as np
import pytest
from experiments.theory import slopes

from experiments import population_steps, representation_steps


@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("kind", representation_steps.DISTRIBUTIONS)
def test_theorem_2_1_holds_for_every_graph_of_three_vertices(loops, kind):
    found = representation_steps.represent(
        np.random.default_rng(0), n=3, loops=loops, kind=kind, repetition=0
    )
    assert found["components"] == 6
    assert found["error"] < 1e-12
    assert found["pvalue"] > 1e-6
    assert found["covariance"] > 1e-3  # edges depend on each other
    assert found["dimension"] == (6 if loops else 3)
    if not loops:
        assert found["pairs"]["components"] == 3
        assert found["pairs"]["error"] < 1e-12


def test_frequencies_of_another_distribution_are_told_apart():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    assert representation_steps._pvalue(np.array([400, 800, 1200, 1600]), p) > 0.99
    assert representation_steps._pvalue(np.array([1000, 1000, 1000, 1000]), p) < 1e-6
    assert representation_steps._pvalue(np.array([1, 2]), np.array([1.0, 0.0])) == 0


def test_theorem_3_1_components_are_independent_or_have_no_loadings():
    rng = np.random.default_rng(0)
    assert representation_steps.dependent(rng, n=4, draws=3) < 1e-9
    task = {"n": 3, "m": 5, "repetition": 0}
    full = representation_steps.greedy(rng, kind="weighted", diagonal="observed", **task)
    assert min(full["distance"]) > 0.01
    assert min(full["loading"]) > 0.01
    assert full["left"] < 1e-9
    few = representation_steps.greedy(rng, kind="three components", diagonal="observed", **task)
    assert max(few["loading"][3:]) < 1e-9 < 0.1 < min(few["loading"][:3])
    assert few["exhausted"] == 3
    hollow = representation_steps.greedy(rng, kind="weighted", diagonal="filled", **task)
    # Three pairs of different vertices: the fourth component depends on the others there.
    assert [x < 1e-7 for x in hollow["hollow distance"]] == 3 * [False] + 3 * [True]
    for found in (full, few, hollow):
        assert max(found["excess"]) < 1e-12


def test_theorem_4_1_slope_is_that_of_a_power():
    m = [16, 32, 64]
    found = [{"observed": {"limit": [c * x**-0.5 for x in m]}} for c in (1.0, 3.0)]
    np.testing.assert_allclose(slopes(found, "observed", m), -0.5)


def test_theorem_4_1_more_graphs_come_nearer_to_the_minimiser():
    found = [
        population_steps.converge(
            np.random.default_rng(r), design="n = 10, graded", repetition=r, largest=512
        )
        for r in range(4)
    ]
    for treatment in ("observed", "hollow"):
        limit = np.mean([one[treatment]["limit"] for one in found], axis=0)
        assert limit[-1] < 0.4 * limit[0]
    # Without loops the minimiser is another one.
    assert found[0]["hollow"]["bias"] > 10 * found[0]["observed"]["bias"]


def test_theorem_4_2_and_its_lemmas_hold_and_the_slip_is_one():
    for one in population_steps.bounds(np.random.default_rng(0), chunk=0, draws=3):
        for kind in ("loops", "hollow"):
            assert one[kind]["distance"] <= one[kind]["printed"]
            assert one[kind]["distance"] <= one[kind]["sharper"]
            assert one[kind]["eigenvector"]
            assert one[kind]["norm holds"]
    found = population_steps.identity(np.random.default_rng(0), n=3, draws=5)
    assert found["corrected"] < 1e-12 < 1e-6 < found["printed"]
