"""What the subspace solver finds: stationary, nested, and the same by every road."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric, stored
from written_out import hollow_stationarity, objective, residuals, stationarity

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.components import first_components
from eigengraphs.solvers.loadings import active_gram, solve_loadings
from eigengraphs.solvers.subspace import subspace
from eigengraphs.solvers.whole import whole_pays

LARGE = 105  # vertices, beyond the shortcut
COMMON = {"init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 200}


def solve(view, d, **settings):
    defaults = {
        **COMMON, "weights": np.ones(view.n_graphs), "seed": np.random.SeedSequence(0),
        "cache": True,
    }  # fmt: skip
    return subspace(view, d, **{**defaults, **settings})


def observed(A):
    return StackView(A if isinstance(A, GraphStack) else GraphStack(A))


def hollowed(A):
    return StackView(GraphStack(A), "hollow")


def planted(m=30, n=LARGE, d=4, seed=0, *, hollow=False):
    """Graphs with d components of clearly different strength, and noise."""
    known = noiseless(n, m, d, seed)
    Lam = known.Lam * (4 * 0.5 ** np.arange(d)) * 16
    A = np.einsum("sk,ik,tk->ist", known.H, Lam, known.H)
    A += 0.3 * random_symmetric(m, n, seed + 1)
    return A * (1 - np.eye(n)) if hollow else A, known.H


@pytest.fixture
def general_path(monkeypatch):
    monkeypatch.setattr("eigengraphs.solvers.subspace.whole_pays", lambda m, n: False)


def test_the_shortcut_is_for_few_vertices():
    assert whole_pays(1, 1)
    assert whole_pays(10**6, 32)
    assert whole_pays(20, 60)
    assert not whole_pays(3000, 40)
    assert whole_pays(10**6, 70)  # many graphs, whose second moment is small beside them
    assert not whole_pays(10**6, 80)
    assert not whole_pays(1, LARGE)


@pytest.mark.parametrize("n", [18, LARGE])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_reported_gradients_are_those_of_written_out_residuals(n, tol):
    A, weights = random_symmetric(8, n, seed=1), np.random.default_rng(0).uniform(0.5, 2, 8)
    fit = solve(observed(A), 18, weights=weights, tol=tol)  # two blocks
    reported = np.array([stage.stationarity for stage in fit.stages])
    assert np.abs(reported - stationarity(A, fit.H, weights)).max() < 1e-10
    assert (reported <= tol).all()
    for k in (0, 5, 17):
        R = residuals(A, fit.H[:, :k])
        f = objective(R, weights, fit.H[:, k])
        assert fit.stages[k].gain == pytest.approx(f, rel=1e-9)
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", fit.H, A, fit.H))


@pytest.mark.parametrize("n", [18, LARGE])
def test_so_are_they_with_the_diagonal_unobserved(n):
    A, weights = random_symmetric(8, n, seed=1, hollow=True), np.linspace(0.5, 2, 8)
    fit = solve(hollowed(A), 3, weights=weights, tol=1e-3, hollow=True)
    reported = np.array([stage.stationarity for stage in fit.stages])
    # Central differences of 1e-5 are good for about seven digits.
    assert np.abs(reported - hollow_stationarity(A, fit.H, weights)).max() < 1e-6
    assert (reported <= 1e-3).all()


@pytest.mark.parametrize(("seed", "hollow"), [(1, False), (2, True), (5, False)])
def test_the_first_components_do_not_depend_on_how_many_follow(seed, hollow):
    # Noise has many optima: whatever changed the search would end in another one.
    A = random_symmetric(10, LARGE, seed=seed, hollow=hollow)
    view = StackView(GraphStack(A), "hollow" if hollow else "observed")
    fits = [solve(view, d, hollow=hollow, tol=1e-6) for d in (3, 10, 20)]
    longest = fits[-1]
    for fit in fits[:-1]:
        d = fit.H.shape[1]
        assert column_errors(fit.H, longest.H[:, :d]).max() < 1e-10
        gains = [stage.gain for stage in fit.stages]
        assert np.allclose(gains, [stage.gain for stage in longest.stages[:d]], rtol=1e-10)
        agreement = [stage.agreement for stage in fit.stages]
        assert agreement == [stage.agreement for stage in longest.stages[:d]]


@pytest.mark.parametrize("n", [18, LARGE])
@pytest.mark.parametrize("hollow", [False, True])
def test_a_resumed_fit_keeps_its_components_and_goes_on_as_one_that_was_never_stopped(n, hollow):
    A = random_symmetric(10, n, seed=2, hollow=hollow)
    view = StackView(GraphStack(A), "hollow" if hollow else "observed")
    settings = {"hollow": hollow, "tol": 1e-6}
    # A relative gradient of tol leaves an error of tol over the relative gap of the curvature, some
    # hundredths in noise; last bits may differ from one compilation of the kernels to another.
    close = 1e-4
    whole, short = solve(view, 18, **settings), solve(view, 3, **settings)
    resumed = solve(view, 18, resume=short, **settings)
    assert np.array_equal(resumed.H[:, :3], short.H)
    assert resumed.stages[:3] == short.stages
    assert column_errors(resumed.H, whole.H).max() < close
    cut = solve(view, 16, resume=first_components(whole, 5), **settings)
    assert column_errors(cut.H, whole.H[:, :16]).max() < close
    step = short
    for d in (4, 12, 17, 18):  # within the first block, at its end and beyond
        before, step = step, solve(view, d, resume=step, **settings)
        assert np.array_equal(step.H[:, : before.H.shape[1]], before.H)
    assert column_errors(step.H, whole.H).max() < close


def test_a_fit_that_is_long_enough_is_returned_as_it_is():
    view = observed(random_symmetric(4, LARGE, seed=0))
    fit = solve(view, 2)
    again = solve(view, 2, resume=fit)
    assert np.array_equal(again.H, fit.H)
    assert again.stages == fit.stages
    assert again.n_passes == 1


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("d", [2, 18])
def test_the_shortcut_on_few_vertices_finds_what_the_general_path_does(hollow, d, general_path):
    A, _ = planted(m=20, n=40, d=2, hollow=hollow)
    view = StackView(GraphStack(A), "hollow" if hollow else "observed")
    general = solve(view, d, hollow=hollow)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eigengraphs.solvers.subspace.whole_pays", whole_pays)
        whole = solve(view, d, hollow=hollow)
    assert whole.n_passes == 2
    assert general.n_passes > 3
    assert column_errors(general.H[:, :2], whole.H[:, :2]).max() < 1e-6
    # The rest is noise, of which each may find another of many optima, equally good but for 5 %.
    gains = [sum(stage.gain for stage in fit.stages[2:]) for fit in (general, whole)]
    assert gains[0] == pytest.approx(gains[1], rel=0.05)


@pytest.mark.parametrize("hollow", [False, True])
def test_cached_and_streamed_products_give_the_same_fit(hollow, storage):
    # Components that stand out, so that the first four are the same whatever rounding does.
    A = random_symmetric(8, LARGE, seed=3, hollow=True)
    A += LARGE * np.asarray(noiseless(LARGE, 8, 4, seed=3).stack)
    A[:, range(LARGE), range(LARGE)] = 0.0
    stack = stored(GraphStack(A), storage)
    view = StackView(stack, "hollow" if hollow else "filled")
    cached, streamed = (
        solve(view, 18, hollow=hollow, cache=cache, tol=1e-6) for cache in (True, False)
    )
    # Rounding decides between near equals among the later optima of noise.
    assert column_errors(cached.H[:, :4], streamed.H[:, :4]).max() < 1e-4
    gains = [sum(stage.gain for stage in fit.stages) for fit in (cached, streamed)]
    assert gains[0] == pytest.approx(gains[1], rel=0.01)
    for fit in (cached, streamed):
        assert all(stage.stationarity <= 1e-6 for stage in fit.stages)
    assert streamed.n_passes > cached.n_passes


def test_many_graphs_are_summed_up_alike(general_path):
    # 40 000 graphs on 5 vertices: the shortcut's blocks, and the moment of the general path.
    # With components that stand out: among the optima of noise alone, rounding would choose.
    A = random_symmetric(40_000, 5, seed=0) + 4 * np.asarray(noiseless(5, 40_000, 4, seed=0).stack)
    general = solve(observed(A), 4, tol=1e-7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eigengraphs.solvers.subspace.whole_pays", whole_pays)
        whole = solve(observed(A), 4, tol=1e-7)
    path = [sum(stage.gain for stage in fit.stages) for fit in (general, whole)]
    assert path[0] == pytest.approx(path[1], rel=1e-2)
    for fit in (general, whole):
        assert (stationarity(A, fit.H, np.ones(len(A))) < 1e-6).all()


@pytest.mark.parametrize("n", [40, LARGE])
def test_it_agrees_with_algorithm_1_where_the_optimum_is_unique(n):
    A, H = planted(m=20, n=n)
    view = observed(A)
    fit = solve(view, 4)
    other = algorithm1(view, 4, weights=np.ones(20), seed=np.random.SeedSequence(0), **COMMON)
    assert column_errors(fit.H, other.H).max() < 1e-6
    assert column_errors(fit.H, H).max() < 0.2
    for stage, same in zip(fit.stages, other.stages, strict=True):
        assert stage.gain == pytest.approx(same.gain, rel=1e-9)
    assert fit.n_passes < other.n_passes / 2


@pytest.mark.parametrize("n", [30, LARGE])
def test_among_many_optima_it_finds_as_good_ones_as_algorithm_1(n):
    share = []
    for seed in range(4):
        view = observed(random_symmetric(10, n, seed=seed))
        one = algorithm1(
            view,
            3,
            weights=np.ones(10),
            seed=np.random.SeedSequence(seed),
            **{**COMMON, "tol": 1e-4},
        )
        found = solve(view, 3, tol=1e-4, seed=np.random.SeedSequence(seed))
        share.append(sum(s.gain for s in found.stages) / sum(s.gain for s in one.stages))
    assert np.mean(share) > 0.995


@pytest.mark.parametrize("n", [20, LARGE])
def test_a_weight_of_two_counts_as_the_graph_twice(n):
    A, weights = planted(m=6, n=n, d=3)[0], np.array([1, 2, 1, 3, 1, 0])
    weighted = solve(observed(A), 3, weights=weights.astype(float))
    repeated = solve(observed(np.repeat(A, weights, axis=0)), 3)
    assert column_errors(weighted.H, repeated.H).max() < 1e-6
    for one, other in zip(weighted.stages, repeated.stages, strict=True):
        assert one.gain == pytest.approx(other.gain, rel=1e-9)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("n", [40, LARGE])
def test_float32_graphs_converge_to_their_tolerance(n, cache):
    A, _ = planted(m=10, n=n, d=3)
    single = solve(observed(GraphStack(A).astype(np.float32)), 3, tol=1e-5, cache=cache)
    assert all(stage.converged for stage in single.stages)
    assert column_errors(single.H, solve(observed(A), 3).H).max() < 1e-4
    assert (stationarity(A, single.H, np.ones(10)) < 1e-4).all()


@pytest.mark.parametrize("n", [20, LARGE])
def test_zero_graphs_leave_nothing(n):
    fit = solve(observed(np.zeros((3, n, n))), 2)
    assert [stage.stop_reason for stage in fit.stages] == ["exhausted", "exhausted"]
    assert not fit.active.any()
    Lam = solve_loadings(active_gram(fit.H, fit.active), fit.Psi)
    assert (Lam == 0).all()
    assert np.allclose(np.linalg.norm(fit.H, axis=0), 1)


@pytest.mark.parametrize("n", [25, LARGE])
def test_an_exhausted_rank_stays_exhausted(n):
    view = observed(noiseless(n, 9, 3, seed=1).stack)
    for d in (5, 18, 21):
        fit = solve(view, d)
        assert list(fit.active) == [True] * 3 + [False] * (d - 3)
    assert list(solve(view, 5, resume=solve(view, 4)).active) == [True] * 3 + [False] * 2


def test_dependent_components_keep_the_fit_going(general_path):
    # Six components on three vertices are dependent vectors, and all of them stay in the basis.
    rng = np.random.default_rng(0)
    A = 0.02 * random_symmetric(30, 60, seed=1)
    A[:, :3, :3] = random_symmetric(30, 3, seed=2) * 5
    for k, s in enumerate((10, 20, 30)):
        h = np.zeros(60)
        h[s : s + 8] = rng.standard_normal(8)
        A += 0.1 * (3 - k) * rng.uniform(1, 2, 30)[:, None, None] * np.outer(h, h)
    fit = solve(observed(A), 8, tol=1e-6, max_iter=60)
    assert all(stage.stop_reason == "stationary" for stage in fit.stages)
    assert (stationarity(A, fit.H, np.ones(30)) <= 1.1e-6).all()


def small_integers():
    """22 graphs of 4 vertices with weights from -3 to 3."""
    U = np.triu(np.random.default_rng(375).integers(-3, 4, (22, 4, 4)), 1)
    return (U + U.transpose(0, 2, 1)).astype(float)


def single_edges():
    """22 graphs of 9 vertices with a single edge each, of weight 1 or 2."""
    rng, U = np.random.default_rng(248), np.zeros((22, 9, 9))
    for graph in U:
        s, t = sorted(rng.choice(9, 2, replace=False))
        graph[s, t] = rng.integers(1, 3)
    return U + U.transpose(0, 2, 1)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="known: converged_ is True in a lesser maximum, for 15 of 40 seeds at 89.4 % of the "
    "best (small integers) and for 23 of 40 at 64.6 % (single edges); the search must find it",
)
@pytest.mark.parametrize("graphs", [small_integers, single_edges])
def test_tiny_problems_end_in_the_best_maximum_whatever_the_seed(graphs):
    A = graphs()
    n = A.shape[1]
    filled = A + np.eye(n) * (A.sum(axis=2) / (n - 1))[:, :, None]
    reached = []
    for seed in range(40):
        je = JointEmbedding(1, diagonal="filled", random_state=seed).fit(A)
        assert je.converged_
        h = je.latent_positions_[:, 0]
        reached.append(((filled @ h @ h) ** 2).sum())
    assert min(reached) > 0.999 * max(reached)
