"""Every product of a treated stack of directed graphs against the matrices written out."""

import numpy as np
import pytest
from known_graphs import random_directed, random_symmetric, stored
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.graphs.directed_sparse import transposes
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.graphs.kernels import flat_transpose
from eigengraphs.graphs.treatment import Treatment
from eigengraphs.graphs.view import StackView, mean_graph

M, N = 6, 9


def written_out(A, rule, weights=None, scale=1.0):
    """The treated graphs as an array, by the definition."""
    n = A.shape[1]
    off = A * (1 - np.eye(n))
    fill = (off.sum(axis=2) + off.sum(axis=1)) / (2 * (n - 1))
    B = {"observed": A, "hollow": off, "filled": off + fill[:, :, None] * np.eye(n)}[rule]
    if weights is not None:
        B = B - np.tensordot(weights / weights.sum(), B, axes=1)
    return scale * B


def results(view, rng, weights):
    """All that the view can be asked, by name, with what the written-out graphs B make of it."""
    m, n = view.n_graphs, view.n_vertices
    U, V, H, G = (rng.standard_normal((n, k)) for k in (3, 5, 11, 11))
    L, W = rng.standard_normal((n, 4)), rng.standard_normal((m, 11))
    P_left, P_right = np.full((m, 4, n), np.nan), np.full((m, 11, n), np.nan)

    def keep(place):
        def consume(lo, hi, P):
            assert P.dtype == view.dtype
            place[lo:hi] = P

        return consume

    view.products(L, G, keep(P_left), keep(P_right))
    onto_left, onto_right = view.project(U, V, L, G)
    no_U, no_V = view.project(U[:, :0], V[:, :0], L, G)
    one_sided = view.project(U, V, L, G[:, :0])
    of_G, of_H = view.weighted_multiply(W, H, G)
    (left, sums_left), (right, sums_right) = view.sketch(L, weights)
    UL = np.column_stack([U, L])
    return {
        "products, left": (P_left, lambda B: L.T @ B),
        "products, right": (P_right, lambda B: G.T @ B.transpose(0, 2, 1)),
        "project, left": (onto_left, lambda B: UL.T @ B @ G),
        "project, right": (onto_right, lambda B: (L.T @ B @ V).transpose(0, 2, 1)),
        "project alone": (no_U, lambda B: L.T @ B @ G),
        "project on nothing": (no_V, lambda B: np.zeros((m, 0, 4))),
        "project nothing": (one_sided[0], lambda B: np.zeros((m, 7, 0))),
        "project one side": (one_sided[1], lambda B: (L.T @ B @ V).transpose(0, 2, 1)),
        "weighted, right": (of_G, lambda B: np.einsum("ik,ist,tk->sk", W, B, G)),
        "weighted, left": (of_H, lambda B: np.einsum("ik,ist,sk->tk", W, B, H)),
        "sketch, left": (left, lambda B: np.einsum("i,ist,iut,uk->sk", weights, B, B, L)),
        "sketch, right": (right, lambda B: np.einsum("i,its,itu,uk->sk", weights, B, B, L)),
        "sums, left": (sums_left, lambda B: np.einsum("i,ist,tk->sk", weights, B, L)),
        "sums, right": (sums_right, lambda B: np.einsum("i,ist,sk->tk", weights, B, L)),
        "forms": (view.bilinear_forms(H, G), lambda B: np.einsum("sk,ist,tk->ik", H, B, G)),
        "norms": (view.squared_norms(), lambda B: (B**2).sum(axis=(1, 2))),
    }


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("rule", ["observed", "filled", "hollow"])
@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_everything_equals_written_out_graphs(storage, hollow, rule, center, dtype):
    rng = np.random.default_rng(0)
    A = random_directed(M, N, seed=2, density=0.4, hollow=hollow)
    A[3] = 0  # an empty graph
    weights = rng.random(M)
    stack = stored(GraphStack(A), storage).astype(dtype)
    view = DirectedView(stack, rule, mean_graph(stack, weights) if center else None, scale=3.0)
    B = written_out(A, rule, weights if center else None, 3.0)
    tolerance = (1e-11 if dtype == np.float64 else 1e-4) * max(1.0, np.abs(B).max() ** 2)
    for name, (found, expected) in results(view, rng, weights).items():
        assert np.allclose(found, expected(B), atol=tolerance), name
        assert found.dtype == np.float64, name
    H, G = rng.standard_normal((N, 2)), rng.standard_normal((N, 2))
    plain = written_out(A, "observed", weights if center else None, 3.0)
    change = np.einsum("sk,ist,tk->ik", H, B - plain, G)
    assert np.allclose(view.diagonal_forms(H, G), change, atol=tolerance)


@pytest.mark.parametrize("rule", ["observed", "filled", "hollow"])
@pytest.mark.parametrize("center", [False, True])
def test_symmetric_graphs_look_as_they_do_without_direction(storage, rule, center):
    stack = stored(GraphStack(random_symmetric(M, N, seed=1, density=0.5)), storage)
    mean = mean_graph(stack, np.ones(M)) if center else None
    directed, plain = DirectedView(stack, rule, mean), StackView(stack, rule, mean)
    H = np.random.default_rng(0).standard_normal((N, 3))
    assert np.allclose(directed.bilinear_forms(H, H), plain.quadratic_forms(H))
    assert np.allclose(directed.squared_norms(), plain.squared_norms())
    assert np.array_equal(directed.rounding(), plain.rounding())


def test_a_view_like_another_finds_what_both_need_once(storage, monkeypatch):
    stack = stored(GraphStack(random_directed(M, N, seed=1)), storage)
    mean = mean_graph(stack, np.ones(M))
    filled = DirectedView(stack, "filled", mean)
    filled.squared_norms()
    monkeypatch.setattr(
        "eigengraphs.graphs.directed_view.DirectedSparse", None
    )  # no second transposes
    monkeypatch.setattr("eigengraphs.graphs.treated.on_blocks", None)  # no second distances
    hollow = DirectedView(stack, "hollow", mean, like=filled)
    B = written_out(np.asarray(stack.to_dense().dense), "hollow", np.ones(M))
    assert np.allclose(hollow.squared_norms(), (B**2).sum(axis=(1, 2)))


def test_products_go_where_they_are_wanted(storage):
    A = random_directed(M, N, seed=5, density=0.4)
    view = DirectedView(stored(GraphStack(A), storage))
    L, R = np.random.default_rng(0).standard_normal((2, N, 3))
    out_left, out_right = np.empty((2, M, 3, N))
    shared = []

    def consume(place):
        return lambda lo, hi, P: shared.append(np.shares_memory(P, place[lo:hi]))

    view.products(L, R, consume(out_left), consume(out_right), out_left, out_right)
    assert shared
    assert all(shared)
    assert np.allclose(out_left, L.T @ A)
    assert np.allclose(out_right, R.T @ A.transpose(0, 2, 1))


@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [3, 9])
def test_blocks_and_threads_change_nothing(monkeypatch, storage, n, weighted, threads):
    for name, value in [("_TILE", 4), ("_TASK_ENTRIES", 50), ("_THREADS_PAY_FROM", 0)]:
        monkeypatch.setattr(f"eigengraphs.graphs.view_sparse.{name}", value)
    for name, value in [
        ("_TASK_BYTES", 2000), ("_CACHE_BYTES", 1000), ("_THREADS_PAY_FROM", 0),
        ("_FLOAT32_SUM", 4),
    ]:  # fmt: skip
        monkeypatch.setattr(f"eigengraphs.graphs.view_dense.{name}", value)
    monkeypatch.setattr("eigengraphs.graphs.directed_sparse._BLOCK_ENTRIES", 20)
    A = random_directed(31, n, seed=6, density=0.5)
    A = A if weighted else np.array(A != 0, dtype=np.float64)
    stack, weights = stored(GraphStack(A), storage), np.arange(1.0, 32)

    def found():
        view = DirectedView(stack, "filled", mean_graph(stack, weights))
        return results(view, np.random.default_rng(0), weights)

    monkeypatch.setenv("EIGENGRAPHS_THREADS", "1")
    alone = found()
    monkeypatch.setenv("EIGENGRAPHS_THREADS", threads)
    B = written_out(A, "filled", weights)
    for name, (values, expected) in found().items():
        assert np.array_equal(values, alone[name][0]), name
        assert np.allclose(values, expected(B), atol=1e-9), name


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_transposes_equal_those_of_numpy(index, weighted):
    A = random_directed(5, 7, seed=3, density=0.3)
    A[2] = 0
    A = A if weighted else np.array(A != 0, dtype=float)
    flat = sparse.csr_array(A.reshape(-1, 7)).astype(np.float32)
    flat.indices, flat.indptr = flat.indices.astype(index), flat.indptr.astype(index)
    found = transposes(flat, ones=not weighted)
    twin = sparse.csr_array(A.transpose(0, 2, 1).reshape(-1, 7)).astype(np.float32)
    assert np.array_equal(found.indptr, twin.indptr)
    assert np.array_equal(found.indices, twin.indices)
    assert np.array_equal(found.data, twin.data)
    assert found.has_canonical_format
    part = [np.full_like(x, -1) for x in (flat.data, flat.indices, flat.indptr)]
    values = flat.data if weighted else flat.data[:0]
    flat_transpose(values, flat.indices, flat.indptr, 7, 1, 3, part[0][: len(values)], *part[1:])
    inside = slice(flat.indptr[7], flat.indptr[21])
    assert np.array_equal(part[1][inside], twin.indices[inside])
    assert (part[1][flat.indptr[21] :] == -1).all()


def test_one_vertex_is_no_trouble(storage):
    stack = stored(GraphStack(np.array([[[2.0]], [[0.0]]])), storage)
    for rule, values in (("observed", [2, 0]), ("filled", [0, 0]), ("hollow", [0, 0])):
        view = DirectedView(stack, rule)
        assert np.allclose(view.bilinear_forms(np.ones((1, 1)), np.ones((1, 1)))[:, 0], values)


@pytest.mark.parametrize("diagonal", ["filled", "observed", "unobserved"])
@pytest.mark.parametrize("center", [False, True])
def test_a_treatment_gives_directed_views(storage, diagonal, center):
    A = random_directed(M, N, seed=4, hollow=diagonal != "observed")
    stack, weights = stored(GraphStack(A), storage), np.arange(1.0, M + 1)
    treatment = Treatment.learn(stack, diagonal, center, weights)
    search = treatment.search_view(stack, "directed")
    loss = treatment.loss_view(stack, "directed", search)
    rules = {
        "filled": ("filled", "hollow"),
        "observed": ("observed", "observed"),
        "unobserved": ("hollow", "hollow"),
    }
    H, G = np.random.default_rng(0).standard_normal((2, N, 2))
    for view, rule in zip((search, loss), rules[diagonal], strict=True):
        assert isinstance(view, DirectedView)
        B = written_out(A, rule, weights if center else None, treatment.scale)
        expected = np.einsum("sk,ist,tk->ik", H, B, G)
        assert np.allclose(view.bilinear_forms(H, G), expected)
        assert np.allclose(view.squared_norms(), (B**2).sum(axis=(1, 2)))
    change = loss.diagonal_forms(H, G) - search.diagonal_forms(H, G)
    assert np.allclose(search.bilinear_forms(H, G) + change, loss.bilinear_forms(H, G))
    assert isinstance(treatment.loss_view(stack, "directed"), DirectedView)
    assert isinstance(treatment.search_view(stack), StackView)
