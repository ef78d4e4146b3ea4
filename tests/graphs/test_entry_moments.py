"""Second moments of the entries of small graphs: by entries, on any threads."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs import GraphStack
from eigengraphs.graphs import entry_moments, view
from eigengraphs.graphs.view import StackView, mean_graph

RULES = ["observed", "filled", "hollow"]


def stack_of(m, n, *, binary, dtype=np.float64, storage="dense", seed=0):
    A = random_symmetric(m, n, seed=seed, density=0.5)
    return GraphStack((A != 0 if binary else A).astype(dtype), storage=storage)


def written_out(graphs, weights):
    """The sums, from the products of a view with all unit vectors."""
    n = graphs.n_vertices
    A = np.stack([graphs.multiply(unit) for unit in np.eye(n)], axis=2)
    s, t = np.tril_indices(n)
    C = A[:, s, t]
    return C.T @ (weights[:, None] * C), weights @ C


def assert_same(found, expected, dtype=np.float64):
    near = 1e-13 if dtype == np.float64 else 1e-6
    assert np.allclose(np.triu(found[0]), np.triu(expected[0]), rtol=0, atol=near * found[0].max())
    assert np.allclose(found[1], expected[1], rtol=0, atol=near * 1e3)
    assert found[0].flags.f_contiguous


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("binary", [False, True])
def test_the_moment_is_that_of_treated_graphs(binary, n, dtype, storage, centre, rule):
    stack = stack_of(1100, n, binary=binary, dtype=dtype, storage=storage)
    for weights in (np.full(1100, 0.5), np.random.default_rng(0).random(1100)):
        mean = mean_graph(stack, weights) if centre else None
        graphs = StackView(stack, rule, mean, 0.25)
        assert_same(graphs.entry_moment(weights), written_out(graphs, weights), dtype)


@pytest.mark.parametrize("own_sums", [True, False])
@pytest.mark.parametrize("binary", [False, True])
def test_threads_change_nothing(monkeypatch, binary, own_sums):
    stack = stack_of(3000, 9, binary=binary)
    weights = np.ones(3000) if binary else np.random.default_rng(1).random(3000)
    monkeypatch.setattr(entry_moments, "_THREADS_PAY_FROM", 0)
    if not own_sums:
        monkeypatch.setattr(entry_moments, "_SMALL_SUM", 0)
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("EIGENGRAPHS_THREADS", threads)
        found.append(StackView(stack).entry_moment(weights))
    for M, mean in found:
        assert np.array_equal(np.triu(M), np.triu(found[0][0]))
        assert np.array_equal(mean, found[0][1])
    assert_same(found[0], written_out(StackView(stack), weights))


@pytest.mark.parametrize("n", [32, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_forms_of_few_vertices_are_those_of_many(n, dtype, monkeypatch):
    stack = stack_of(50, n, binary=False, dtype=dtype)
    H = np.linalg.qr(np.random.default_rng(0).standard_normal((n, 3)))[0]
    graphs = StackView(stack, "filled", mean_graph(stack, np.ones(50)), 0.5)
    found = graphs.quadratic_forms(H)
    A = np.stack([graphs.multiply(unit) for unit in np.eye(n)], axis=2)
    near = 1e-12 if dtype == np.float64 else 1e-4
    assert np.allclose(found, np.einsum("sk,ist,tk->ik", H, A, H), rtol=0, atol=near)
    monkeypatch.setattr(view, "_THREADS_PAY_FROM", 0)
    monkeypatch.setattr(view, "_FORM_ENTRIES", 3 * n * n)
    assert np.array_equal(graphs.quadratic_forms(H), found)
