"""Loadings of held-out graphs: noise is called noise, and signal of either kind signal."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import stats
from written_out import outer_products

from eigengraphs import GraphStack
from eigengraphs.dimension.selection_rules import (
    noise_p_values,
    staged_basis,
)
from eigengraphs.fitting.plan import Treatment
from eigengraphs.solvers.rules import component_gram, solve_loadings


@pytest.mark.parametrize("hollow", [False, True])
def test_the_basis_is_gram_and_schmidts(hollow):
    rng = np.random.default_rng(0)
    H = rng.standard_normal((8, 5))
    H /= np.linalg.norm(H, axis=0)
    E = outer_products(H, hollow=hollow).reshape(5, -1)
    W = staged_basis(component_gram(H, hollow=hollow))
    Q = W.T @ E
    assert np.allclose(Q @ Q.T, np.eye(5), atol=1e-10)
    assert np.allclose(W, np.triu(W))
    A = rng.standard_normal((3, 64))
    for k in range(1, 6):  # least-squares loadings of the first k, from one set of coordinates
        by_stage = (A @ E.T @ W)[:, :k] @ W[:k, :k].T
        at_once = solve_loadings(component_gram(H[:, :k], hollow=hollow), (A @ E.T)[:, :k])
        assert np.allclose(by_stage, at_once, atol=1e-9)


def test_what_adds_nothing_has_no_place():
    # On two vertices three components span all symmetric matrices; a fourth adds nothing.
    angles = np.array([0.1, 0.9, 2.0, 2.9])
    H = np.stack([np.cos(angles), np.sin(angles)])
    W = staged_basis(component_gram(H))
    assert W[:, :3].any(axis=0).all()
    assert not W[:, 3].any()
    assert not staged_basis(np.zeros((2, 2))).any()


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
