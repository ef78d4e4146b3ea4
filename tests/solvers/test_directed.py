"""What the directed solver finds: stationary, nested, and the same by every road."""

import numpy as np
import pytest
from known_graphs import (
    column_errors,
    noiseless_directed,
    pair_errors,
    random_directed,
    random_symmetric,
    stored,
)
from written_out import (
    hollow_pair_stationarity,
    objective,
    pair_stationarity,
    residuals,
)

from eigengraphs import GraphStack
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.graphs.view import StackView, mean_graph
from eigengraphs.solvers.components import with_signs, with_signs_pair
from eigengraphs.solvers.directed import directed
from eigengraphs.solvers.directed.whole import whole_pairs_pay
from eigengraphs.solvers.loadings import (
    active_gram,
    component_gram,
    objective_path,
    solve_loadings,
)
from eigengraphs.solvers.subspace import subspace

SMALL, LARGE = 14, 75  # vertices, below and beyond the shortcut


def solve(view, d, *, solver=directed, **settings):
    defaults = {
        "init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 200, "cache": True,
        "weights": np.ones(view.n_graphs), "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    return solver(view, d, **{**defaults, **settings})


def observed(A):
    return DirectedView(A if isinstance(A, GraphStack) else GraphStack(A))


def test_the_shortcut_is_for_few_vertices():
    assert whole_pairs_pay(1, 1)
    assert whole_pairs_pay(10**6, SMALL)
    assert whole_pairs_pay(20, 60)
    assert not whole_pairs_pay(10**6, 60)
    assert not whole_pairs_pay(1, LARGE)


# ------------------------------------------------------------------ known answers


@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("d", [3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_noiseless_graphs_are_recovered(n, d, seed):
    known = noiseless_directed(n, 12, d, seed)
    fit = solve(observed(known.stack), d)
    assert max(column_errors(fit.H, known.H).max(), column_errors(fit.G, known.G).max()) < 1e-6
    signs = np.sign((fit.H * known.H).sum(axis=0) * (fit.G * known.G).sum(axis=0))
    Lam = solve_loadings(component_gram(fit.H, fit.G), fit.Psi)
    assert np.allclose(Lam, signs * known.Lam, atol=1e-6)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_of_one_graph_the_components_are_its_singular_vectors(n):
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    values = 0.8 ** np.arange(n)
    A = (left * values) @ right.T
    fit = solve(observed(A[None]), 6, tol=1e-11)
    U, sigma, Vt = np.linalg.svd(A)
    assert np.allclose(fit.Psi[0], sigma[:6], rtol=1e-12)
    assert pair_errors(fit, U[:, :6], Vt[:6].T).max() < 1e-8
    rebuilt = (fit.H * fit.Psi[0]) @ fit.G.T
    assert np.abs(rebuilt - (U[:, :6] * sigma[:6]) @ Vt[:6]).max() < 1e-8


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_on_positive_symmetric_graphs_it_explains_as_much_as_the_undirected_solver(n):
    rng = np.random.default_rng(3)
    H = np.linalg.qr(rng.standard_normal((n, 4)))[0]
    A = np.einsum("sk,ik,tk->ist", H, rng.uniform(1, 3, (15, 4)) * [4, 3, 2, 1], H)
    noise = 0.03 * random_symmetric(15, n, seed=1)
    A += noise @ noise.transpose(0, 2, 1)
    stack, weights = GraphStack(A), np.ones(15)
    with_direction, without = solve(observed(stack), 4), solve(StackView(stack), 4, solver=subspace)
    norms = StackView(stack).squared_norms()
    paths = [
        objective_path(component_gram(fit.H, fit.G), fit.Psi, norms, weights)
        for fit in (with_direction, without)
    ]
    assert (paths[0] <= paths[1] * (1 + 1e-9)).all()
    assert np.abs(with_direction.H - with_direction.G).max() < 1e-6


# ------------------------------------------------------------------ certificates


@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_reported_gradients_are_those_of_written_out_residuals(n, tol):
    A, weights = random_directed(8, n, seed=1), np.random.default_rng(0).uniform(0.5, 2, 8)
    fit = solve(observed(A), 15, weights=weights, tol=tol)  # two blocks
    reported = np.array([stage.stationarity for stage in fit.stages])
    assert np.abs(reported - pair_stationarity(A, fit.H, fit.G, weights)).max() < 1e-10
    assert (reported <= tol).all()
    for k in (0, 5, 14):
        R = residuals(A, fit.H[:, :k], fit.G[:, :k])
        f = objective(R, weights, fit.H[:, k], fit.G[:, k])
        assert fit.stages[k].gain == pytest.approx(f, rel=1e-9)
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", fit.H, A, fit.G))
    for X in (fit.H, fit.G):
        assert np.allclose(np.linalg.norm(X, axis=0), 1)
    squares = (A**2).sum(axis=(1, 2))
    path = objective_path(component_gram(fit.H, fit.G), fit.Psi, squares, weights)
    assert (np.diff(path) < 0).all()
    R = residuals(A, fit.H, fit.G)
    assert path[-1] == pytest.approx(weights @ (R**2).sum(axis=(1, 2)))


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_so_are_they_with_the_diagonal_unobserved(n):
    A, weights = random_directed(8, n, seed=1, hollow=True), np.linspace(0.5, 2, 8)
    fit = solve(DirectedView(GraphStack(A), "hollow"), 3, weights=weights, tol=1e-3, hollow=True)
    reported = np.array([stage.stationarity for stage in fit.stages])
    # Central differences of 1e-5 are good for about seven digits.
    expected = hollow_pair_stationarity(A, fit.H, fit.G, weights)
    assert np.abs(reported - expected).max() < 1e-6
    assert (reported <= 1e-3).all()
    gamma = component_gram(fit.H, fit.G, hollow=True)
    path = objective_path(gamma, fit.Psi, (A**2).sum(axis=(1, 2)), weights)
    R = residuals(A, fit.H, fit.G, hollow=True)
    assert path[-1] == pytest.approx(weights @ (R**2).sum(axis=(1, 2)))


# ------------------------------------------------------------------ next to nothing


@pytest.mark.parametrize(("m", "n"), [(3, 1), (3, SMALL), (3, LARGE), (20, 1), (60, 3)])
def test_zero_graphs_leave_nothing(m, n, storage):
    fit = solve(observed(stored(GraphStack(np.zeros((m, n, n))), storage)), 1)
    assert [stage.stop_reason for stage in fit.stages] == ["exhausted"]
    Lam = solve_loadings(active_gram(fit.H, fit.active, G=fit.G), fit.Psi)
    assert (Lam == 0).all()
    for X in (fit.H, fit.G):
        assert np.allclose(np.linalg.norm(X, axis=0), 1)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_an_exhausted_rank_stays_exhausted(n):
    view = observed(noiseless_directed(n, 9, 3, seed=1).stack)
    for d in (5, 18):
        fit = solve(view, d)
        assert list(fit.active) == [True] * 3 + [False] * (d - 3)
        assert np.isfinite(fit.H).all()
        assert np.isfinite(fit.G).all()
    assert list(solve(view, 5, resume=solve(view, 4)).active) == [True] * 3 + [False] * 2


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("n", [2, SMALL, LARGE])
def test_a_single_edge_is_found_and_nothing_else(n, hollow, storage):
    A = np.zeros((4, n, n))
    A[:, 0, 1] = [1.0, 2.0, 0.0, -1.0]
    view = DirectedView(stored(GraphStack(A), storage), "hollow" if hollow else "observed")
    fit = solve(view, 3, hollow=hollow)
    assert list(fit.active) == [True, False, False]
    assert np.abs(fit.H[:, 0]).argmax() == 0
    assert np.abs(fit.G[:, 0]).argmax() == 1
    assert np.allclose(fit.Psi[:, 0], [1, 2, 0, -1], atol=1e-7)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_stars_have_one_component_and_a_side_of_one_dimension(n):
    # One vertex sends, or one receives: the basis of that side cannot grow.
    rng = np.random.default_rng(0)
    A = np.zeros((6, n, n))
    A[:, 0, 1:] = rng.standard_normal((6, n - 1))
    for graphs, side in ((A, "H"), (A.transpose(0, 2, 1), "G")):
        fit = solve(observed(graphs), 6)
        top = np.linalg.svd(A[:, 0])[1]
        assert np.allclose([stage.gain for stage in fit.stages], top**2, rtol=1e-9)
        assert np.allclose(np.abs(getattr(fit, side)[0]), 1)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_loops_that_nobody_observes_do_not_attract_components(n):
    # Without the bend, a component could shrink onto one loop, where q vanishes.
    A = 0.1 * random_directed(6, n, seed=0, hollow=True)
    A[:, 0, 1:] += 3.0
    A[:, 1:, 0] += 2.0
    fit = solve(DirectedView(GraphStack(A), "hollow"), 3, hollow=True, tol=1e-5)
    assert np.isfinite(fit.H).all()
    assert np.isfinite(fit.G).all()
    u = (fit.H**2 * fit.G**2).sum(axis=0)
    assert (u < 0.52).all()
    assert all(stage.converged for stage in fit.stages)


def test_dependent_components_keep_the_fit_going():
    # Nine components on three vertices are dependent vectors, and all of them stay in the bases.
    A = 0.02 * random_directed(30, LARGE, seed=1)
    A[:, :3, :3] = 5 * random_directed(30, 3, seed=2)
    fit = solve(observed(A), 11, tol=1e-6, max_iter=80)
    assert all(stage.stop_reason == "stationary" for stage in fit.stages)
    assert (pair_stationarity(A, fit.H, fit.G, np.ones(30)) <= 1.1e-6).all()
    inside = (fit.H[:3, :9] ** 2).sum(axis=0) * (fit.G[:3, :9] ** 2).sum(axis=0)
    assert (inside > 0.99).all()


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_equal_singular_values_are_no_trouble(n):
    cycle = np.roll(np.eye(n), 1, axis=1)
    fit = solve(observed(np.array([cycle, cycle @ cycle])), 3, tol=1e-6)
    assert all(stage.stop_reason == "stationary" for stage in fit.stages)
    fit = solve(observed(cycle[None]), 3)
    assert np.allclose([stage.gain for stage in fit.stages], 1)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_equal_graphs_that_are_centred_leave_nothing(n, storage):
    stack = stored(GraphStack(np.repeat(random_directed(1, n, seed=3), 5, axis=0)), storage)
    fit = solve(DirectedView(stack, "filled", mean_graph(stack, np.ones(5))), 2)
    assert not fit.active.any()


def test_components_at_their_precision_do_not_hold_up_the_others():
    A = noiseless_directed(LARGE, 20, 1, seed=2).stack.dense
    A = A + 1e-6 * random_directed(20, LARGE, seed=2)
    view = DirectedView(GraphStack(A.astype(np.float32)), "hollow")
    fit = solve(view, 3, tol=1e-5, hollow=True)
    assert all(stage.converged for stage in fit.stages)
    assert fit.stages[0].stop_reason == "stationary"
    assert fit.stages[0].n_iter < 60


def test_signs_turn_together():
    rng = np.random.default_rng(0)
    H, G = rng.standard_normal((2, 9, 4))
    signed_H, signed_G = with_signs_pair(H, G)
    assert np.array_equal(signed_H, with_signs(H))
    assert np.allclose(np.einsum("sk,tk->kst", H, G), np.einsum("sk,tk->kst", signed_H, signed_G))
    assert (signed_H[np.abs(H).argmax(axis=0), range(4)] > 0).all()
