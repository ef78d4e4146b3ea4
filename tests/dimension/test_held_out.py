"""Loadings of held-out graphs: noise is called noise, and signal of either kind signal."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import stats

from eigengraphs import GraphStack
from eigengraphs.dimension.selection_rules import (
    noise_p_values,
)
from eigengraphs.fitting.plan import Treatment


def p_values(A, H, seed, *, centered=False):
    treatment = Treatment.learn(GraphStack(A), "filled", centered, np.ones(len(A)))
    return noise_p_values(treatment, GraphStack(A), H, len(A), np.random.default_rng(seed))


def directions(n, d, rng):
    return np.linalg.qr(rng.standard_normal((n, d)))[0]


def share_allowed(alpha, repeats):
    """Return the share of false alarms that a test of level alpha exceeds once in a million."""
    return stats.binom.isf(1e-6, repeats, alpha) / repeats


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("m", [2, 10])
def test_noise_is_called_noise_whatever_its_variance_from_pair_to_pair(m, centered):
    rng = np.random.default_rng(m)
    repeats, n = 150, 20
    below = 0
    for r in range(repeats):
        spread = rng.uniform(0.3, 1.5, n)
        A = random_symmetric(m, n, 1000 + r, hollow=True) * np.outer(spread, spread)
        below += p_values(A, directions(n, 2, rng), r, centered=centered)[1] <= 0.05
    assert below / repeats <= share_allowed(0.05, repeats)


@pytest.mark.parametrize("centered", [False, True])
def test_loadings_of_mean_zero_that_vary_are_signal(centered):
    h = np.ones(40) / np.sqrt(40)
    lam = 8 * np.resize([1.0, -1.0], 30)
    A = random_symmetric(30, 40, 0, hollow=True) + lam[:, None, None] * np.outer(h, h)
    assert p_values(A, h[:, None], 0, centered=centered)[0] < 1e-10


def test_a_small_mean_that_all_graphs_share_is_signal():
    h = np.ones(40) / np.sqrt(40)
    A = random_symmetric(200, 40, 0, hollow=True) + 0.6 * np.outer(h, h)
    assert p_values(A, h[:, None], 0)[0] < 1e-4
    assert p_values(A, h[:, None], 0, centered=True)[0] > 0.05  # gone with the mean


def test_a_component_counts_for_what_it_adds_to_the_earlier():
    rng = np.random.default_rng(0)
    h = np.ones(40) / np.sqrt(40)
    A = random_symmetric(30, 40, 0, hollow=True) + 20 * np.outer(h, h)
    near = h + 0.2 * directions(40, 1, rng)[:, 0]
    p = p_values(A, np.stack([h, near / np.linalg.norm(near)], axis=1), 0)
    assert p[0] < 1e-10
    assert p[1] > 0.05


def test_components_that_are_nothing_are_noise():
    A = np.ones((5, 12, 12)) - np.eye(12)
    H = np.stack([np.ones(12) / np.sqrt(12), np.zeros(12)], axis=1)
    first, second = p_values(A, H, 0)
    assert first < 1e-10
    assert second == 1
