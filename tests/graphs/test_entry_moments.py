"""Second moments of the entries of small graphs: by entries, by counts, on any threads."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs import GraphStack
from eigengraphs.graphs import entry_moments, view
from eigengraphs.graphs.entry_moments import moment_of_counts
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


def counted(monkeypatch):
    """Have it told whether bits were counted, and with what success."""
    told = []

    def count(*args):
        told.append(moment_of_counts(*args))
        return told[-1]

    monkeypatch.setattr(view, "moment_of_counts", count)
    return told


def test_bits_are_counted_where_graphs_are_alike(monkeypatch):
    told = counted(monkeypatch)
    weighted, binary = (stack_of(300, 4, binary=binary) for binary in (False, True))
    StackView(weighted).entry_moment(np.ones(300))
    StackView(binary).entry_moment(np.r_[2.0, np.ones(299)])
    assert told == []
    StackView(binary).entry_moment(np.ones(300))
    assert len(told) == 1


@pytest.mark.parametrize("rule", RULES)
def test_graphs_less_something_else_than_their_mean_are_not_counted(monkeypatch, rule):
    told = counted(monkeypatch)
    stack, weights = stack_of(300, 5, binary=True), np.ones(300)
    other = mean_graph(stack, weights)
    other[1, 0] = other[0, 1] = other[0, 1] + 1e-6
    graphs = StackView(stack, rule, other, 0.25)
    assert_same(graphs.entry_moment(weights), written_out(graphs, weights))
    assert told == [None]


def test_what_differs_in_one_graph_of_many_keeps_its_digits():
    A = np.ones((2**20, 2, 2), dtype=np.float32)
    A[5, 1, 1] = 0
    stack, weights = GraphStack(A), np.ones(2**20)
    M, mean = StackView(stack, mean=mean_graph(stack, weights)).entry_moment(weights)
    assert M[2, 2] == pytest.approx(1 - 2.0**-20, rel=1e-14)
    assert np.array_equal(np.triu(M)[:2], np.zeros((2, 3)))
    assert (mean == 0).all()


@pytest.mark.parametrize("own_sums", [True, False])
@pytest.mark.parametrize("binary", [False, True])
def test_threads_change_nothing(monkeypatch, binary, own_sums):
    stack = stack_of(3000, 9, binary=binary)
    weights = np.ones(3000) if binary else np.random.default_rng(1).random(3000)
    monkeypatch.setattr(entry_moments, "_THREADS_PAY_FROM", 0)
    monkeypatch.setattr(entry_moments, "_BITS_PAY_FROM", 0)
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


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (63, 2), (64, 5), (65, 6), (300, 9)])
def test_forms_by_bits_are_those_by_entries(m, n, storage, centre, rule):
    stack, weights = stack_of(m, n, binary=True, storage=storage), np.ones(m)
    mean = mean_graph(stack, weights) if centre else None
    by_entries, by_bits = (StackView(stack, rule, mean, 0.25) for _ in range(2))
    by_bits.entry_moment(weights)
    assert by_bits._bits is not None
    H = np.random.default_rng(0).standard_normal((n, 3))
    assert np.allclose(by_entries.quadratic_forms(H), by_bits.quadratic_forms(H), atol=1e-12)
