"""Every product of a treated stack against the matrices written out."""

import numpy as np
import pytest
from known_graphs import random_symmetric, stored
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView, mean_graph

M, N = 6, 9


def written_out(A, rule, weights, center, scale):
    """The treated graphs as an array, by the definition."""
    off = A * (1 - np.eye(N))
    fill = off.sum(axis=2) / (N - 1)
    B = {"observed": A, "hollow": off, "filled": off + fill[:, :, None] * np.eye(N)}[rule]
    if center:
        B = B - np.tensordot(weights / weights.sum(), B, axes=1)
    return scale * B


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("rule", ["observed", "filled", "hollow"])
@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products(storage, hollow, rule, center, dtype):
    rng = np.random.default_rng(0)
    A = random_symmetric(M, N, seed=2, density=0.4, hollow=hollow)
    A[3] = 0  # an empty graph
    weights = rng.random(M)
    stack = stored(GraphStack(A), storage).astype(dtype)
    mean = mean_graph(stack, weights) if center else None
    view = StackView(stack, rule, mean, scale=3.0)
    B = written_out(A, rule, weights, center, 3.0)
    v, H, Y = rng.standard_normal(N), rng.standard_normal((N, 4)), rng.standard_normal((M, N))
    found = view.mean(weights)
    pairs = {
        "multiply": (view.multiply(v), B @ v),
        "sum_multiply": (view.sum_multiply(Y), np.einsum("ist,it->s", B, Y)),
        "quadratic_forms": (view.quadratic_forms(H), np.einsum("sk,ist,tk->ik", H, B, H)),
        "mean": (
            found.toarray() if sparse.issparse(found) else found,
            np.tensordot(weights / weights.sum(), B, axes=1),
        ),
        "squared_norms": (view.squared_norms(), (B**2).sum(axis=(1, 2))),
    }
    tolerance = 1e-11 if dtype == np.float64 else 1e-4
    for name, (found, expected) in pairs.items():
        assert np.allclose(found, expected, atol=tolerance), name
        assert np.asarray(found).dtype == np.float64, name
    if storage == "sparse":
        assert sparse.issparse(view.mean(weights))


@pytest.mark.parametrize("spread", [1e-4, 1e-8, 1e-12])
def test_distances_to_a_near_mean_keep_their_digits(spread):
    base = random_symmetric(1, 15, seed=1, density=0.5)
    A = base * (1 + spread * np.random.default_rng(0).standard_normal((6, 1, 1)))
    dense, sparse = GraphStack(A), GraphStack(A).to_sparse()
    weights = np.ones(6)
    exact = StackView(dense, "observed", mean_graph(dense, weights)).squared_norms()
    found = StackView(sparse, "observed", mean_graph(sparse, weights)).squared_norms()
    assert np.allclose(found, exact, rtol=1e-3)


def test_a_large_diagonal_does_not_hide_what_is_beside_it(storage):
    A = 1e9 * np.eye(5)[None] + np.array([1e-3, 2e-3])[:, None, None] * (1 - np.eye(5))
    view = StackView(stored(GraphStack(A), storage), "hollow")
    assert np.allclose(view.squared_norms(), 20 * np.array([1e-6, 4e-6]), rtol=1e-12)


def test_blocks_of_graphs_change_nothing(monkeypatch, storage):
    stack = stored(GraphStack(random_symmetric(20, 10, seed=3)), storage)
    H = np.random.default_rng(0).standard_normal((10, 3))
    weights = np.ones(20)
    before = StackView(stack).quadratic_forms(H), mean_graph(stack, weights)
    monkeypatch.setattr("eigengraphs.graphs.view._BLOCK_BYTES", 10 * 10 * 8 * 3)
    after = StackView(stack).quadratic_forms(H), mean_graph(stack, weights)
    assert np.allclose(before[0], after[0])
    assert np.allclose((before[1] - after[1]).max(), 0)
