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
    v, H = rng.standard_normal(N), rng.standard_normal((N, 4))
    V, W = rng.standard_normal((N, 3)), rng.standard_normal((M, 4))
    found = view.mean(weights)
    pairs = {
        "multiply": (view.multiply(v), B @ v),
        "quadratic_forms": (view.quadratic_forms(H), np.einsum("sk,ist,tk->ik", H, B, H)),
        "project": (
            view.project(V, H),
            np.einsum("sj,ist,tk->ijk", np.column_stack([V, H]), B, H),
        ),
        "project alone": (
            view.project(np.empty((N, 0)), H),
            np.einsum("sj,ist,tk->ijk", H, B, H),
        ),
        "weighted_multiply": (
            view.weighted_multiply(W, H),
            np.einsum("ik,ist,tk->sk", W, B, H),
        ),
        "sketch, squares": (
            view.sketch(V, weights)[0],
            np.einsum("i,ist,itu,uk->sk", weights, B, B, V),
        ),
        "sketch, sums": (
            view.sketch(V, weights)[1],
            np.einsum("i,ist,tk->sk", weights, B, V),
        ),
        "mean": (
            found.toarray() if sparse.issparse(found) else found,
            np.tensordot(weights / weights.sum(), B, axes=1),
        ),
        "squared_norms": (view.squared_norms(), (B**2).sum(axis=(1, 2))),
    }
    tolerance = 1e-11 if dtype == np.float64 else 1e-4
    size = max(1.0, np.abs(B).max())
    for name, (found, expected) in pairs.items():
        assert np.allclose(found, expected, rtol=tolerance, atol=tolerance * size), name
        assert np.asarray(found).dtype == np.float64, name
    if storage == "sparse":
        assert sparse.issparse(view.mean(weights))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("rule", ["observed", "filled", "hollow"])
@pytest.mark.parametrize("width", [1, 7, 16, 35])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_blocks_of_columns(storage, width, rule, center, dtype):
    A = random_symmetric(M, N, seed=5, density=0.4)
    weights = np.ones(M)
    stack = stored(GraphStack(A), storage).astype(dtype)
    view = StackView(stack, rule, mean_graph(stack, weights) if center else None, scale=0.5)
    columns = np.random.default_rng(0).standard_normal((N, width))
    expected = columns.T @ written_out(A, rule, weights, center, 0.5)
    out = np.empty((M, width, N), dtype)
    for place in (None, out):
        found = np.full((M, width, N), np.nan, dtype)

        def keep(lo, hi, P, place=place, found=found):
            assert P.dtype == dtype
            assert P.shape == (hi - lo, width, N)
            assert place is None or np.shares_memory(P, place[lo:hi])
            found[lo:hi] = P

        view.products(columns, keep, place)
        assert np.allclose(found, expected, atol=1e-11 if dtype == np.float64 else 1e-4)
    assert np.array_equal(out, found)


@pytest.fixture
def in_small_blocks(monkeypatch):
    """Make blocks, tiles and threads show on small stacks."""
    for name, value in [("_TILE", 4), ("_TASK_ENTRIES", 50), ("_THREADS_PAY_FROM", 0)]:
        monkeypatch.setattr(f"eigengraphs.graphs.view_sparse.{name}", value)
    for name, value in [
        ("_TASK_BYTES", 2000),
        ("_CACHE_BYTES", 1000),
        ("_THREADS_PAY_FROM", 0),
        ("_FLOAT32_SUM", 4),
    ]:
        monkeypatch.setattr(f"eigengraphs.graphs.view_dense.{name}", value)


@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [3, 9])
def test_blocks_and_threads_change_nothing(
    monkeypatch, in_small_blocks, storage, n, weighted, threads
):
    A = random_symmetric(31, n, seed=6, density=0.5)
    A = A if weighted else np.array(A != 0, dtype=np.float64)
    stack = stored(GraphStack(A), storage)
    weights = np.arange(1.0, 32)
    rng = np.random.default_rng(0)
    V, H, W = (rng.standard_normal(shape) for shape in [(n, 2), (n, 11), (31, 11)])
    treated = StackView(stack, "filled", mean_graph(stack, weights))

    def results():
        P = np.empty((31, 11, n))
        treated.products(H, lambda lo, hi, block: None, P)
        return {
            "products": P,
            "project": treated.project(V, H),
            "project alone": treated.project(V[:, :0], H),
            "weighted_multiply": treated.weighted_multiply(W, H),
            "sketch": np.array(treated.sketch(H, weights)),
            "quadratic_forms": treated.quadratic_forms(H),
            "row sums": treated._raw.row_sums(),
        }

    monkeypatch.setenv("EIGENGRAPHS_THREADS", "1")
    alone = results()
    monkeypatch.setenv("EIGENGRAPHS_THREADS", threads)
    for name, found in results().items():
        assert np.array_equal(found, alone[name]), name
    B = A + 0.0
    B[:, range(n), range(n)] = 0
    B[:, range(n), range(n)] = B.sum(axis=2) / (n - 1)
    B -= np.tensordot(weights / weights.sum(), B, axes=1)
    expected = {
        "products": H.T @ B,
        "project": np.einsum("sj,ist,tk->ijk", np.column_stack([V, H]), B, H),
        "project alone": np.einsum("sj,ist,tk->ijk", H, B, H),
        "weighted_multiply": np.einsum("ik,ist,tk->sk", W, B, H),
        "sketch": np.array(
            [
                np.einsum("i,ist,itu,uk->sk", weights, B, B, H),
                np.einsum("i,ist,tk->sk", weights, B, H),
            ]
        ),
        "quadratic_forms": np.einsum("sk,ist,tk->ik", H, B, H),
        "row sums": A.sum(axis=2),
    }
    for name, values in expected.items():
        assert np.allclose(alone[name], values, atol=1e-9), name


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


def test_blocks_of_vertices_and_threads_do_not_change_the_mean(monkeypatch):
    stack = GraphStack(random_symmetric(20, 10, seed=3))
    weights = np.arange(20.0)
    before = mean_graph(stack, weights)
    assert np.allclose(before, np.average(stack.dense, axis=0, weights=weights))
    monkeypatch.setattr("eigengraphs.graphs.dense_sums._CACHE_BYTES", 3 * 10 * 8)
    monkeypatch.setattr("eigengraphs.graphs.dense_sums._THREADS_PAY_FROM", 0)
    assert np.array_equal(before, mean_graph(stack, weights))
