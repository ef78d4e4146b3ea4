"""What components take off the graphs, as the core and the passes see it, by least squares."""

import numpy as np
import pytest
from known_graphs import random_symmetric, stored
from written_out import outer_products, residuals

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.deflated import DeflatedGraphs
from eigengraphs.solvers.deflation import Deflation, packed_components
from eigengraphs.solvers.packing import Packing

N, S = 11, 5


def unit_columns(n, d, rng):
    H = rng.standard_normal((n, d))
    return H / np.linalg.norm(H, axis=0)


def frozen_components(where, V, rng):
    if where == "none":
        return np.zeros((N, 0))
    if where == "inside":
        return V @ unit_columns(S, 2, rng)
    return unit_columns(N, 2, rng)


@pytest.fixture(params=[False, True], ids=["observed", "hollow"])
def hollow(request):
    return request.param


@pytest.fixture(params=["none", "inside", "outside"])
def frozen_where(request):
    return request.param


def make(where, hollow, seed=0):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((N, S)))[0]
    frozen = frozen_components(where, V, rng)
    Y = unit_columns(S, 3, rng)
    return V, frozen, Y, Deflation(Packing(S), V, frozen, hollow)


def test_packed_components_are_the_components_in_the_basis(hollow):
    V, _, Y, _ = make("none", hollow)
    H = V @ Y
    E = np.einsum("sa,kst,tb->kab", V, outer_products(H, hollow=hollow), V)
    assert np.allclose(packed_components(Packing(S), V, H, Y, hollow), Packing(S).pack(E))


def test_each_component_leaves_its_part_that_is_orthogonal_to_the_earlier_ones(
    frozen_where, hollow
):
    V, frozen, Y, deflation = make(frozen_where, hollow)
    H = np.column_stack([frozen, V @ Y])
    for k in range(3):
        before = H[:, : frozen.shape[1] + k]
        e = outer_products(V @ Y[:, [k]], hollow=hollow)
        q = residuals(e, before, hollow=hollow)[0]
        square = deflation.remaining(Y[:, [k]].T, np.array([np.sum(e**2)]))[0]
        assert square == pytest.approx(np.sum(q**2), rel=1e-10)
        packed, square = deflation.add(Y[:, k])
        assert square == pytest.approx(np.sum(q**2), rel=1e-10)
        assert np.allclose(packed, Packing(S).pack(V.T @ q @ V), atol=1e-12)


def test_a_component_that_is_there_already_leaves_next_to_nothing(frozen_where, hollow):
    _, _, Y, deflation = make(frozen_where, hollow)
    deflation.add(Y[:, 0])
    q, square = deflation.add(Y[:, 0])
    assert 0 < square <= 1e-13
    assert np.abs(q).max() < 1e-7
    assert np.isfinite(deflation.remaining(Y.T, np.ones(3))).all()


def test_dependent_frozen_components_count_once(hollow):
    V, frozen, Y, _ = make("outside", hollow)
    twice = Deflation(Packing(S), V, np.column_stack([frozen, frozen[:, :1]]), hollow)
    once = Deflation(Packing(S), V, frozen, hollow)
    for found, expected in zip(twice.add(Y[:, 0]), once.add(Y[:, 0]), strict=True):
        assert np.allclose(found, expected, atol=1e-12)


def test_projections_split_inner_products_by_stage(frozen_where, hollow):
    V, frozen, Y, deflation = make(frozen_where, hollow)
    for y in Y.T:
        deflation.add(y)
    new = V @ Y
    A = random_symmetric(4, N, seed=1, hollow=hollow)
    R = residuals(A, frozen, hollow=hollow)
    T, squares, combination = deflation.projections(np.einsum("sk,ist,tk->ik", new, R, new), Y)
    both = np.column_stack([frozen, new])
    for k in range(3):
        before = both[:, : frozen.shape[1] + k]
        left = residuals(A, before, hollow=hollow)
        forms = np.einsum("s,ist,t->i", new[:, k], left, new[:, k])
        assert np.allclose(T[:, k], forms, atol=1e-11)
        q = residuals(outer_products(new[:, [k]], hollow=hollow), before, hollow=hollow)[0]
        assert squares[k] == pytest.approx(np.sum(q**2), rel=1e-10)
        combined = np.tensordot(combination[k], outer_products(both, hollow=hollow), axes=1)
        assert np.allclose(combined, q, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_deflated_graphs_are_those_of_the_residuals(storage, hollow, dtype):
    rng = np.random.default_rng(0)
    A = random_symmetric(6, N, seed=1, density=0.6, hollow=hollow)
    H, Lam = unit_columns(N, 3, rng), rng.standard_normal((6, 3))
    stack = stored(GraphStack(A), storage).astype(dtype)
    graphs = DeflatedGraphs(StackView(stack), H, Lam, hollow)
    R = A - np.tensordot(Lam, outer_products(H, hollow=hollow), axes=1)
    V, B, W = unit_columns(N, 2, rng), unit_columns(N, 4, rng), rng.standard_normal((6, 4))
    close = {"rtol": 0, "atol": 1e-12 if dtype == np.float64 else 2e-5}
    assert (graphs.n_graphs, graphs.n_vertices, graphs.dtype) == (6, N, dtype)

    expected = np.einsum("sb,ist->ibt", B, R)
    seen, out = np.full((6, 4, N), np.nan), np.empty((6, 4, N), dtype=dtype)

    def consume(lo, hi, P):
        seen[lo:hi] = P

    graphs.products(B, consume)
    assert np.allclose(seen, expected, **close)
    graphs.products(B, consume, out=out)
    assert np.allclose(out, expected, **close)
    cross = np.einsum("sa,ist,tb->iab", np.column_stack([V, B]), R, B)
    assert np.allclose(graphs.project(V, B), cross, **close)
    sums = np.einsum("ik,ist,tk->sk", W, R, B)
    assert np.allclose(graphs.weighted_multiply(W, B), sums, rtol=0, atol=10 * close["atol"])


def test_the_sketch_of_deflated_graphs_is_that_of_the_residuals_with_the_model_diagonal(hollow):
    rng = np.random.default_rng(0)
    A = random_symmetric(6, N, seed=1, hollow=hollow)
    H, Lam, weights = unit_columns(N, 3, rng), rng.standard_normal((6, 3)), rng.random(6)
    graphs = DeflatedGraphs(StackView(GraphStack(A)), H, Lam, hollow)
    # A first basis may be rough: the diagonal of the components is left in where it does not count.
    R = A - np.tensordot(Lam, outer_products(H), axes=1)
    V = rng.standard_normal((N, 3))
    squares, sums = graphs.sketch(V, weights)
    assert np.allclose(squares, np.einsum("i,ist,itu->su", weights, R, R) @ V, atol=1e-11)
    assert np.allclose(sums, np.tensordot(weights, R, axes=1) @ V, atol=1e-12)
