"""Figure 1: bounds that set models apart are bounds, and counterexamples are caught."""

import numpy as np
import pytest
from experiments.block_families import family
from experiments.nesting_checks import ARROWS, DRAWS, GAPS

import eigengraphs as eg
from experiments import nesting_checks


@pytest.mark.parametrize("which", range(len(ARROWS)))
def test_an_arrow_keeps_probabilities_likelihoods_and_promises(which):
    found = nesting_checks.arrow(np.random.default_rng(which), which=which, draws=3)
    assert max(found["probability"]) < 1e-12
    assert max(found["likelihood"]) < 1e-9
    assert found["kept"] == 3


def test_a_wrong_conversion_would_be_seen(monkeypatch):
    wrong = nesting_checks.Arrow(
        "SBM", "ER", lambda m: eg.models.ErdosRenyi(m.n_vertices, 0.5), lambda *_: False
    )
    monkeypatch.setattr(nesting_checks, "ARROWS", (wrong,))
    found = nesting_checks.arrow(np.random.default_rng(0), which=0, draws=3)
    assert min(found["probability"]) > 0.01
    assert min(found["likelihood"]) > 0.01
    assert found["kept"] == 0


@pytest.mark.parametrize("which", range(len(GAPS)))
def test_the_least_distance_is_zero_for_members_of_the_target_and_below_any_of_them(which):
    # Members: what the target's own draws give. Distances to them from the source are above it.
    rng = np.random.default_rng(which)
    gap = GAPS[which]
    members = {
        "ER": lambda n: np.full((n, n), rng.uniform()),
        "RDPG": lambda n: _dot_products(rng, n),
        "SBM, fewer than n blocks": lambda n: _blocks(rng, n),
        "MREG, d < n / 2": lambda n: _low_rank(rng, n),
    }[gap.target]
    for _ in range(20):
        assert gap.least(members(24)) < 1e-12
        P = DRAWS[gap.source](rng).edge_probabilities()
        Q = members(len(P))
        nearest = np.abs(P - Q)[np.triu_indices_from(P, 1)].max()
        assert gap.least(P) <= nearest
    found = nesting_checks.gap(rng, which=which, draws=5)
    assert all(found["refused"])
    assert max(found["least"]) > 1e-4


def test_an_indefinite_block_model_may_be_a_dot_product_graph_once_its_diagonal_is_free():
    # n = 2: vectors at an angle with cosine 0.5, whatever the (zero) diagonal of P says.
    small = nesting_checks.freed(np.random.default_rng(0), size=2, draws=20)
    large = nesting_checks.freed(np.random.default_rng(0), size=30, draws=20)
    assert small["count"] > large["count"]
    assert small["error"] < 1e-12


@pytest.mark.parametrize("K", [2, 3])
def test_a_family_of_block_models_needs_more_than_k_components(K):
    found = family(np.random.default_rng(K), K=K, repetition=0)
    full = K * (K + 1) // 2
    assert found["dimension"] == found["components"] == full
    assert found["exact"] < 1e-14
    assert found["planted"] < 1e-14
    # No fit with K goes below the bound (which leaves the diagonal out, so compare loosely).
    assert found["least"] > 0.01
    assert found["fitted"][str(K)] > 0.5 * found["least"]
    assert found["fitted"][str(full)] < 1e-6 < found["last"]


def _dot_products(rng, n):
    X = rng.uniform(size=(n, 3))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    return X @ X.T


def _blocks(rng, n):
    labels = rng.permutation(np.append(np.arange(n - 1), 0))
    B = rng.uniform(size=(n - 1, n - 1))
    return ((B + B.T) / 2)[np.ix_(labels, labels)]


def _low_rank(rng, n):
    X = rng.uniform(size=(n, n // 2 - 1))
    P = X @ X.T
    return P / P.max()
