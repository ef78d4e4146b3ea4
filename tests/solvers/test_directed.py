"""What the directed solver finds: stationary, nested, and the same by every road."""

import numpy as np
import pytest
from known_graphs import (
    column_errors,
    noiseless_directed,
    random_directed,
    random_symmetric,
    stored,
)

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.components import first_components, with_signs, with_signs_pair
from eigengraphs.solvers.directed import directed
from eigengraphs.solvers.directed.whole import whole_pairs_pay
from eigengraphs.solvers.loadings import (
    active_gram,
    component_gram,
    objective_path,
    solve_loadings,
)
from eigengraphs.solvers.subspace import subspace
from written_out import (
    hollow_pair_stationarity,
    objective,
    pair_stationarity,
    residuals,
)

SMALL, LARGE = 14, 75  # vertices, below and beyond the shortcut


def solve(view, d, *, solver=directed, **settings):
    defaults = {
        "init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 200, "cache": True,
        "weights": np.ones(view.n_graphs), "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    return solver(view, d, **{**defaults, **settings})


def observed(A):
    return DirectedView(A if isinstance(A, GraphStack) else GraphStack(A))


def pairs(fit):
    """h_k above g_k, (2 n, d)."""
    return np.vstack([fit.H, fit.G])


def apart(fit, H, G):
    """How far the pairs are from others, up to their common sign."""
    return column_errors(pairs(fit), np.vstack([H, G])).max()


def sides_apart(fit, H, G):
    """The same, with a sign for each side."""
    return max(column_errors(fit.H, H).max(), column_errors(fit.G, G).max())


def planted(m=30, n=LARGE, d=4, seed=0, *, hollow=False):
    """Graphs with d components of clearly different strength, and noise."""
    known = noiseless_directed(n, m, d, seed)
    Lam = known.Lam * 2.0 ** -np.arange(d) * 16 * np.sqrt(m)
    A = np.einsum("sk,ik,tk->ist", known.H, Lam, known.G)
    A += 0.3 * random_directed(m, n, seed + 1)
    return A * (1 - np.eye(n)) if hollow else A, known


@pytest.fixture
def general_path(monkeypatch):
    monkeypatch.setattr("eigengraphs.solvers.directed.solver.whole_pairs_pay", lambda m, n: False)


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
    assert sides_apart(fit, known.H, known.G) < 1e-6
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
    assert apart(fit, U[:, :6], Vt[:6].T) < 1e-8
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


# ------------------------------------------------------------------ nested


@pytest.mark.parametrize(("seed", "hollow"), [(1, False), (2, True)])
def test_the_first_components_do_not_depend_on_how_many_follow(seed, hollow):
    # Noise has many optima: whatever changed the search would end in another one.
    A = random_directed(10, LARGE, seed=seed, hollow=hollow)
    view = DirectedView(GraphStack(A), "hollow" if hollow else "observed")
    fits = [solve(view, d, hollow=hollow, tol=1e-5) for d in (3, 10, 15)]
    longest = fits[-1]
    for fit in fits[:-1]:
        d = fit.H.shape[1]
        assert apart(fit, longest.H[:, :d], longest.G[:, :d]) < 1e-10
        gains = [stage.gain for stage in fit.stages]
        assert np.allclose(gains, [stage.gain for stage in longest.stages[:d]], rtol=1e-10)
        agreement = [stage.agreement for stage in fit.stages]
        assert agreement == [stage.agreement for stage in longest.stages[:d]]


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_a_resumed_fit_keeps_its_components_and_goes_on_as_one_that_was_never_stopped(n):
    view = observed(random_directed(10, n, seed=2))
    whole, short = solve(view, 15, tol=1e-5), solve(view, 3, tol=1e-5)
    resumed = solve(view, 15, resume=short, tol=1e-5)
    assert np.array_equal(pairs(resumed)[:, :3], pairs(short))
    assert resumed.stages[:3] == short.stages
    assert apart(resumed, whole.H, whole.G) < 1e-3  # the second block, to its tolerance
    cut = solve(view, 14, resume=first_components(whole, 5), tol=1e-5)
    assert apart(cut, whole.H[:, :14], whole.G[:, :14]) < 1e-3
    again = solve(view, 15, resume=whole)
    assert np.array_equal(pairs(again), pairs(whole))
    assert again.n_passes == 1


def test_an_undirected_fit_is_not_resumed():
    stack = GraphStack(random_symmetric(3, SMALL, seed=0))
    fit = solve(StackView(stack), 2, solver=subspace)
    with pytest.raises(InputError, match="undirected"):
        solve(observed(stack), 3, resume=fit)


# ------------------------------------------------------------------ the same by every road


@pytest.mark.parametrize("hollow", [False, True])
def test_the_shortcut_on_few_vertices_finds_what_the_general_path_does(hollow, general_path):
    A, _ = planted(m=20, n=40, d=2, hollow=hollow)
    view = DirectedView(GraphStack(A), "hollow" if hollow else "observed")
    general = solve(view, 2, hollow=hollow)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eigengraphs.solvers.directed.solver.whole_pairs_pay", whole_pairs_pay)
        whole = solve(view, 2, hollow=hollow)
    assert whole.n_passes == 2
    assert general.n_passes > 3
    assert apart(general, whole.H, whole.G) < 1e-6


def test_many_graphs_are_summed_up_alike(general_path):
    # 20 000 graphs on 4 vertices: the shortcut's blocks, and the moment of the general path.
    A = random_directed(20_000, 4, seed=0)
    general = solve(observed(A), 3, tol=1e-7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eigengraphs.solvers.directed.solver.whole_pairs_pay", whole_pairs_pay)
        whole = solve(observed(A), 3, tol=1e-7)
    for fit in (general, whole):
        assert (pair_stationarity(A, fit.H, fit.G, np.ones(len(A))) < 1e-6).all()
    gains = [sum(stage.gain for stage in fit.stages) for fit in (general, whole)]
    # Noise: they may find other optima, of which the gains differ a little.
    assert gains[0] == pytest.approx(gains[1], rel=1e-2)


@pytest.mark.parametrize("rule", ["filled", "hollow"])
def test_dense_and_sparse_cached_and_streamed_give_the_same_fit(rule):
    stack = GraphStack(planted(m=8, d=3, hollow=True)[0])
    fits = [
        solve(DirectedView(stored(stack, storage), rule), 3, cache=cache)
        for storage in ("dense", "sparse")
        for cache in (True, False)
    ]
    for fit in fits[1:]:
        assert apart(fit, fits[0].H, fits[0].G) < 1e-6
        assert all(stage.stationarity <= 1e-8 for stage in fit.stages)
    assert fits[1].n_passes > fits[0].n_passes


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_float32_graphs_converge_to_their_tolerance(n, cache, storage):
    A, _ = planted(m=10, n=n, d=3)
    single = stored(GraphStack(A).astype(np.float32), storage)
    fit = solve(observed(single), 3, tol=1e-5, cache=cache)
    assert all(stage.converged for stage in fit.stages)
    exact = solve(observed(A), 3)
    assert apart(fit, exact.H, exact.G) < 1e-4
    assert (pair_stationarity(A, fit.H, fit.G, np.ones(10)) < 1e-4).all()


@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("hollow", [False, True])
def test_transposed_graphs_have_the_sides_exchanged(n, hollow):
    A, _ = planted(m=10, n=n, d=3, hollow=hollow)
    rule = "hollow" if hollow else "observed"
    fit = solve(DirectedView(GraphStack(A), rule), 3, hollow=hollow)
    turned = solve(DirectedView(GraphStack(A.transpose(0, 2, 1)), rule), 3, hollow=hollow)
    assert apart(turned, fit.G, fit.H) < 1e-6


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_the_order_of_vertices_and_the_scale_do_not_matter(n):
    A, _ = planted(m=10, n=n, d=3)
    order = np.random.default_rng(0).permutation(n)
    fit = solve(observed(A), 3)
    permuted = solve(observed(1000 * A[:, order][:, :, order]), 3)
    assert apart(permuted, fit.H[order], fit.G[order]) < 1e-6
    assert np.allclose(permuted.Psi, 1000 * fit.Psi, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_a_weight_of_two_counts_as_the_graph_twice(n):
    A, weights = planted(m=6, n=n, d=3)[0], np.array([1, 2, 1, 3, 1, 0])
    weighted = solve(observed(A), 3, weights=weights.astype(float))
    repeated = solve(observed(np.repeat(A, weights, axis=0)), 3)
    assert apart(weighted, repeated.H, repeated.G) < 1e-6


def test_threads_change_nothing(monkeypatch, storage):
    monkeypatch.setattr("eigengraphs.graphs.view_sparse._THREADS_PAY_FROM", 0)
    monkeypatch.setattr("eigengraphs.graphs.view_sparse._TASK_ENTRIES", 10_000)
    monkeypatch.setattr("eigengraphs.graphs.view_dense._THREADS_PAY_FROM", 0)
    view = observed(stored(GraphStack(random_directed(12, LARGE, seed=4, density=0.3)), storage))
    fits = []
    for threads in ("1", "3"):
        monkeypatch.setenv("EIGENGRAPHS_THREADS", threads)
        fits.append(solve(view, 3, tol=1e-3, cache=storage == "dense"))
    assert np.array_equal(fits[0].H, fits[1].H)
    assert np.array_equal(fits[0].G, fits[1].G)


# ------------------------------------------------------------------ next to nothing


@pytest.mark.parametrize("n", [1, SMALL, LARGE])
def test_zero_graphs_leave_nothing(n, storage):
    fit = solve(observed(stored(GraphStack(np.zeros((3, n, n))), storage)), 1)
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


def test_signs_turn_together():
    rng = np.random.default_rng(0)
    H, G = rng.standard_normal((2, 9, 4))
    signed_H, signed_G = with_signs_pair(H, G)
    assert np.array_equal(signed_H, with_signs(H))
    assert np.allclose(np.einsum("sk,tk->kst", H, G), np.einsum("sk,tk->kst", signed_H, signed_G))
    assert (signed_H[np.abs(H).argmax(axis=0), range(4)] > 0).all()
