"""The subspace solver: its parts against brute force, itself against Algorithm 1."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric, section_5_1
from scipy import linalg

from eigengraphs import GraphStack
from eigengraphs.graphs.treatment import Treatment
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.core import solve_core
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.products import CachedProducts, StreamedProducts
from eigengraphs.solvers.subspace import _orthonormal, subspace


def solve(view, d, **settings):
    defaults = {
        "weights": np.ones(view.n_graphs),
        "init": "auto",
        "n_init": 1,
        "tol": 1e-8,
        "max_iter": 100,
        "seed": np.random.SeedSequence(0),
        "cache": True,
    }
    return subspace(view, d, **{**defaults, **settings})


def planted(m=30, n=80, d=4, seed=0):
    """Graphs with d components of clearly different strength, and noise."""
    known = noiseless(n, m, d, seed)
    Lam = known.Lam * np.array([16.0, 8.0, 4.0, 2.0])[:d] * 4
    A = np.einsum("sk,ik,tk->ist", known.H, Lam, known.H)
    return GraphStack(A + 0.3 * random_symmetric(m, n, seed + 1)), known.H


def test_packing_keeps_inner_products():
    rng = np.random.default_rng(0)
    C, D = random_symmetric(2, 6, seed=0)
    packing = Packing(6)
    assert packing.pack(C) @ packing.pack(D) == pytest.approx(np.sum(C * D))
    assert np.allclose(packing.unpack(packing.pack(C)), C)
    y = rng.standard_normal((3, 6))
    assert np.allclose(packing.outer(y), packing.pack(np.einsum("bs,bt->bst", y, y)))


def test_the_core_finds_the_best_direction_of_two_dimensions():
    # In the plane the sphere is a circle, which can be searched completely.
    angles = np.linspace(0, np.pi, 20_001)
    Y = np.stack([np.cos(angles), np.sin(angles)])
    for seed in range(10):
        C = random_symmetric(5, 2, seed=seed)
        weights = np.random.default_rng(seed).random(5)
        best = (weights @ np.einsum("sa,ist,ta->ia", Y, C, Y) ** 2).max()
        fit = solve_core(
            C, weights, 1, warm=np.zeros((2, 0)), n_fixed=0, explore=True,
            random=np.eye(2)[None], tol=1e-10, floor=0.0,
        )  # fmt: skip
        assert fit.gains[0] == pytest.approx(best, rel=1e-6)
        assert fit.gains[0] >= best * (1 - 1e-12)
        assert fit.stationarity[0] <= 1e-10


@pytest.mark.parametrize("kind", [CachedProducts, StreamedProducts])
@pytest.mark.parametrize("rule", ["observed", "filled"])
def test_products_of_a_growing_and_turning_basis(kind, rule):
    rng = np.random.default_rng(0)
    A = random_symmetric(4, 12, seed=1)
    view = StackView(GraphStack(A), rule)
    B = np.stack([view.multiply(e) for e in np.eye(12)], axis=2)  # the treated graphs
    basis = np.linalg.qr(rng.standard_normal((12, 7)))[0]
    products = kind(view)
    products.append(basis[:, :3])
    cross = products.append(basis[:, 3:])
    assert np.allclose(cross, np.einsum("sa,ist,tb->iab", basis, B, basis[:, 3:]))
    W, Y = rng.standard_normal((4, 2)), rng.standard_normal((7, 2))
    assert np.allclose(products.combine(W, Y), np.einsum("ik,ist,tk->sk", W, B, basis @ Y))
    T = np.linalg.qr(rng.standard_normal((7, 4)))[0]
    products.rotate(T)
    expected = np.einsum("ik,ist,tk->sk", W, B, basis @ T @ Y[:4])
    assert np.allclose(products.combine(W, Y[:4]), expected)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("rule", ["observed", "filled"])
def test_square_multiply_is_the_sum_of_squares(rule, center, storage, monkeypatch):
    monkeypatch.setattr("eigengraphs.graphs.view._THREADS_PAY_FROM", 0)  # with threads too
    rng = np.random.default_rng(0)
    weights = rng.random(5)
    stack = GraphStack(random_symmetric(5, 9, seed=1, density=0.5), storage=storage)
    view = Treatment.learn(stack, rule, center, weights).search_view(stack)
    B = np.stack([view.multiply(e) for e in np.eye(9)], axis=2)
    V = rng.standard_normal((9, 3))
    assert np.allclose(
        view.square_multiply(V, weights), np.einsum("i,ist,itu->su", weights, B, B) @ V
    )
    P = np.concatenate([P for _, _, P in view.products(V)])
    assert np.allclose(P, B @ V)


def test_it_agrees_with_algorithm_1_where_the_optimum_is_unique():
    stack, H = planted()
    view = StackView(stack)
    fit = solve(view, 4)
    other = algorithm1(
        view, 4, weights=np.ones(30), init="auto", n_init=1, tol=1e-8, max_iter=1000,
        seed=np.random.SeedSequence(0),
    )  # fmt: skip
    assert column_errors(fit.H, other.H).max() < 1e-6
    assert np.abs(fit.Lam - other.Lam).max() < 1e-5
    assert column_errors(fit.H, H).max() < 0.2
    for stage, same in zip(fit.stages, other.stages, strict=True):
        assert stage.gain == pytest.approx(same.gain, rel=1e-9)
    assert fit.n_passes < other.n_passes / 4


def test_cached_and_streamed_products_give_the_same_fit():
    stack, _ = planted()
    cached, streamed = solve(StackView(stack), 3), solve(StackView(stack), 3, cache=False)
    assert np.allclose(cached.H, streamed.H, atol=1e-9)
    assert streamed.n_passes > cached.n_passes


def test_stationarity_is_what_an_independent_computation_finds():
    stack, _ = planted()
    fit = solve(StackView(stack), 3, tol=1e-6)
    A, H = stack.dense, fit.H
    for k in range(3):
        Hk = H[:, :k]
        Lam = np.zeros((len(A), 0))
        if k:
            Psi = np.einsum("sk,ist,tk->ki", Hk, A, Hk)
            Lam = linalg.solve((Hk.T @ Hk) ** 2, Psi).T
        R = A - np.einsum("sk,ik,tk->ist", Hk, Lam, Hk)
        lam = np.einsum("s,ist,t->i", H[:, k], R, H[:, k])
        r = np.tensordot(lam, R, axes=1) @ H[:, k] - (lam @ lam) * H[:, k]
        assert linalg.norm(r) / (lam @ lam) <= 1e-6
        assert linalg.norm(r) / (lam @ lam) == pytest.approx(fit.stages[k].stationarity, rel=0.1)


class Counted:
    """A view that counts its passes."""

    def __init__(self, view):
        self._view = view
        self.calls = 0

    def __getattr__(self, name):
        if name in ("products", "square_multiply", "squared_norms"):
            self.calls += 1
        return getattr(self._view, name)


@pytest.mark.parametrize("cache", [True, False])
def test_passes_are_counted_as_they_are_taken(cache):
    view = Counted(StackView(planted()[0]))
    fit = solve(view, 3, cache=cache)
    assert fit.n_passes == view.calls
    small = Counted(StackView(section_5_1(50, 0, loops=True).stack))
    assert solve(small, 3, cache=cache).n_passes == small.calls <= 3


def test_dependent_columns_do_not_cost_the_others_their_span():
    a, b = np.eye(5)[0] + 0.1, np.arange(5.0)
    B = _orthonormal(np.column_stack([a, a, b, a + b]), np.zeros((5, 0)))
    assert B.shape == (5, 2)
    assert np.allclose(B.T @ B, np.eye(2))
    assert np.allclose(B @ (B.T @ b), b)


def test_dependent_components_keep_the_fit_going():
    # Six components on three vertices are dependent vectors, and all of them stay in the basis.
    rng = np.random.default_rng(0)
    A = 0.02 * random_symmetric(30, 60, seed=1)
    A[:, :3, :3] = random_symmetric(30, 3, seed=2) * 5
    for k, s in enumerate((10, 20, 30)):
        h = np.zeros(60)
        h[s : s + 8] = rng.standard_normal(8)
        A += 0.1 * (3 - k) * rng.uniform(1, 2, 30)[:, None, None] * np.outer(h, h)
    fit = solve(StackView(GraphStack(A)), 8, tol=1e-6, max_iter=60)
    assert all(stage.stop_reason == "stationary" for stage in fit.stages)


@pytest.mark.parametrize("n", [10, 40])
def test_zero_graphs_leave_nothing(n):
    fit = solve(StackView(GraphStack(np.zeros((3, n, n)))), 2)
    assert [stage.stop_reason for stage in fit.stages] == ["exhausted", "exhausted"]
    assert (fit.Lam == 0).all()
    assert np.allclose(np.linalg.norm(fit.H, axis=0), 1)


def test_it_finds_more_than_one_start_of_algorithm_1_among_many_optima():
    better = 0
    for seed in range(6):
        view = StackView(GraphStack(random_symmetric(12, 60, seed=seed)))
        one = algorithm1(
            view, 1, weights=np.ones(12), init="random", n_init=1, tol=1e-6, max_iter=2000,
            seed=np.random.SeedSequence(seed),
        )  # fmt: skip
        found = solve(view, 1, tol=1e-6, seed=np.random.SeedSequence(seed))
        better += found.stages[0].gain >= one.stages[0].gain * (1 - 1e-9)
    assert better >= 5
