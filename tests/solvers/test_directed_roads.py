"""The directed solver finds the same by every road: nested, resumed, transposed, sparse."""

import numpy as np
import pytest
from known_graphs import (
    pair_errors,
    planted_directed,
    random_directed,
    random_symmetric,
    stored,
)
from written_out import pair_stationarity

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.components import first_components
from eigengraphs.solvers.directed import directed
from eigengraphs.solvers.directed.whole import whole_pairs_pay
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


@pytest.fixture
def general_path(monkeypatch):
    monkeypatch.setattr("eigengraphs.solvers.directed.solver.whole_pairs_pay", lambda m, n: False)


# ------------------------------------------------------------------ nested


@pytest.mark.parametrize(("seed", "hollow"), [(1, False), (2, True)])
def test_the_first_components_do_not_depend_on_how_many_follow(seed, hollow):
    # Noise has many optima: whatever changed the search would end in another one.
    A = random_directed(6, LARGE, seed=seed, hollow=hollow)
    view = DirectedView(GraphStack(A), "hollow" if hollow else "observed")
    fits = [solve(view, d, hollow=hollow, tol=1e-4) for d in (3, 10, 14)]
    longest = fits[-1]
    for fit in fits[:-1]:
        d = fit.H.shape[1]
        assert pair_errors(fit, longest.H[:, :d], longest.G[:, :d]).max() < 1e-10
        gains = [stage.gain for stage in fit.stages]
        assert np.allclose(gains, [stage.gain for stage in longest.stages[:d]], rtol=1e-10)
        agreement = [stage.agreement for stage in fit.stages]
        assert agreement == [stage.agreement for stage in longest.stages[:d]]


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_a_resumed_fit_keeps_its_components_and_goes_on_as_one_that_was_never_stopped(n):
    view = observed(random_directed(6, n, seed=2))
    whole, short = solve(view, 15, tol=1e-5), solve(view, 3, tol=1e-5)
    resumed = solve(view, 15, resume=short, tol=1e-5)
    assert np.array_equal(resumed.H[:, :3], short.H)
    assert np.array_equal(resumed.G[:, :3], short.G)
    assert resumed.stages[:3] == short.stages
    assert pair_errors(resumed, whole.H, whole.G).max() < 1e-3  # the second block, to its tolerance
    cut = solve(view, 14, resume=first_components(whole, 5), tol=1e-5)
    assert pair_errors(cut, whole.H[:, :14], whole.G[:, :14]).max() < 1e-3
    again = solve(view, 15, resume=whole)
    assert np.array_equal(again.H, whole.H)
    assert np.array_equal(again.G, whole.G)
    assert again.n_passes == 1


def test_an_undirected_fit_is_not_resumed():
    stack = GraphStack(random_symmetric(3, SMALL, seed=0))
    fit = solve(StackView(stack), 2, solver=subspace)
    with pytest.raises(InputError, match="undirected"):
        solve(observed(stack), 3, resume=fit)


# ------------------------------------------------------------------ the same by every road


@pytest.mark.parametrize("hollow", [False, True])
def test_the_shortcut_on_few_vertices_finds_what_the_general_path_does(hollow, general_path):
    A = planted_directed(20, 40, 2, hollow=hollow)
    view = DirectedView(GraphStack(A), "hollow" if hollow else "observed")
    general = solve(view, 2, hollow=hollow)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eigengraphs.solvers.directed.solver.whole_pairs_pay", whole_pairs_pay)
        whole = solve(view, 2, hollow=hollow)
    assert whole.n_passes == 2
    assert general.n_passes > 3
    assert pair_errors(general, whole.H, whole.G).max() < 1e-6


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
    stack = GraphStack(planted_directed(8, LARGE, 3, hollow=True))
    fits = [
        solve(DirectedView(stored(stack, storage), rule), 3, cache=cache)
        for storage in ("dense", "sparse")
        for cache in (True, False)
    ]
    for fit in fits[1:]:
        assert pair_errors(fit, fits[0].H, fits[0].G).max() < 1e-6
        assert all(stage.stationarity <= 1e-8 for stage in fit.stages)
    assert fits[1].n_passes > fits[0].n_passes


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_float32_graphs_converge_to_their_tolerance(n, cache, storage):
    A = planted_directed(10, n, 3)
    single = stored(GraphStack(A).astype(np.float32), storage)
    fit = solve(observed(single), 3, tol=1e-5, cache=cache)
    assert all(stage.converged for stage in fit.stages)
    exact = solve(observed(A), 3)
    assert pair_errors(fit, exact.H, exact.G).max() < 1e-4
    assert (pair_stationarity(A, fit.H, fit.G, np.ones(10)) < 1e-4).all()


@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("hollow", [False, True])
def test_transposed_graphs_have_the_sides_exchanged(n, hollow):
    A = planted_directed(10, n, 3, hollow=hollow)
    rule = "hollow" if hollow else "observed"
    fit = solve(DirectedView(GraphStack(A), rule), 3, hollow=hollow)
    turned = solve(DirectedView(GraphStack(A.transpose(0, 2, 1)), rule), 3, hollow=hollow)
    assert pair_errors(turned, fit.G, fit.H).max() < 1e-6


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_the_order_of_vertices_and_the_scale_do_not_matter(n):
    A = planted_directed(10, n, 3)
    order = np.random.default_rng(0).permutation(n)
    fit = solve(observed(A), 3)
    permuted = solve(observed(1000 * A[:, order][:, :, order]), 3)
    assert pair_errors(permuted, fit.H[order], fit.G[order]).max() < 1e-6
    assert np.allclose(permuted.Psi, 1000 * fit.Psi, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_a_weight_of_two_counts_as_the_graph_twice(n):
    A, weights = planted_directed(6, n, 3), np.array([1, 2, 1, 3, 1, 0])
    weighted = solve(observed(A), 3, weights=weights.astype(float))
    repeated = solve(observed(np.repeat(A, weights, axis=0)), 3)
    assert pair_errors(weighted, repeated.H, repeated.G).max() < 1e-6


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
