"""What the subspace solver finds: stationary, nested, and the same by every road."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, noiseless_directed, random_symmetric, stored
from solvers.solving import (
    FREE,
    GENERAL,
    LARGE,
    RULES,
    apart,
    drawn,
    gains,
    is_maximum,
    metric_of,
    operator_of,
    planted,
    reasons,
    sides_of,
    solve,
    units,
    written_out,
)
from written_out import objective_path

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.operators.means import mean_graph
from eigengraphs.operators.treated import TreatedGraphs
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.basis import whole_pays
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import solve_loadings
from eigengraphs.solvers.solution import first_components

M = 8
WEIGHTS = np.linspace(0.5, 2, M)
SIZES = [(14, DEFAULTS), (LARGE, GENERAL)]  # on all vertices at once, and in a growing basis

every_size = pytest.mark.parametrize(("n", "options"), SIZES, ids=["whole", "basis"])
every_geometry = pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "pair"])
every_metric = pytest.mark.parametrize("hollow", [False, True], ids=["all", "off"])
some_combinations = pytest.mark.parametrize(
    ("rule", "hollow"),
    [("free", False), ("free", True), ("nonnegative", True), ("sparse", False)],
)
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


def test_all_vertices_at_once_are_for_few():
    for directed in (False, True):
        assert whole_pays(1, 1, directed, DEFAULTS)
        assert whole_pays(10**6, 32, directed, DEFAULTS)
        assert not whole_pays(3000, 40, directed, DEFAULTS)
        assert whole_pays(20, 60, directed, DEFAULTS)
        assert not whole_pays(1, 101, directed, DEFAULTS)


# ---------------------------------------------------------------- certificates


@every_size
@every_geometry
@every_metric
@every_rule
def test_reported_gains_and_gradients_are_those_of_the_written_out_objective(
    n, options, directed, hollow, rule
):
    A = drawn(M, n, 1, directed=directed, hollow=hollow)
    settings = {"directed": directed, "hollow": hollow, "rule": rule, "options": options}
    rough = solve(A, 6, tol=1e-1, weights=WEIGHTS, **settings)  # two blocks
    stages = list(written_out(A, sides_of(rough), WEIGHTS, rule, hollow=hollow))
    for stage, (f, x) in list(zip(rough.stages, stages, strict=True))[::2]:
        assert stage.gain == pytest.approx(f(x), rel=1e-8)
        assert stage.stationarity == pytest.approx(f.stationarity(x), abs=2e-5)
    assert np.allclose(
        rough.Psi, np.einsum("sk,ist,tk->ik", sides_of(rough)[0], A, sides_of(rough)[-1])
    )
    for side in sides_of(rough):
        assert np.allclose(np.linalg.norm(side, axis=0), 1)


@every_size
@every_geometry
@every_metric
@every_rule
def test_components_are_maxima_to_the_tolerance(n, options, directed, hollow, rule):
    A, _ = planted(M, n, 3, directed=directed, hollow=hollow)
    settings = {"directed": directed, "hollow": hollow, "rule": rule, "options": options}
    fit = solve(A, 3, tol=1e-6, weights=WEIGHTS, **settings)
    assert set(reasons(fit)) == {"stationary"}
    for stage, (f, x) in zip(
        fit.stages, written_out(A, sides_of(fit), WEIGHTS, rule, hollow=hollow), strict=True
    ):
        assert stage.stationarity <= 1e-6
        assert f.stationarity(x, 1e-6) < 1e-5
        assert is_maximum(f, x, step=1e-4)


@every_size
@every_geometry
@every_metric
def test_every_component_lowers_the_objective(n, options, directed, hollow):
    A = drawn(M, n, 3, directed=directed, hollow=hollow)
    fit = solve(A, 6, directed=directed, hollow=hollow, tol=1e-3, options=options)
    Gamma = metric_of(hollow).gram(sides_of(fit))
    path = objective_path(Gamma, fit.Psi, (A**2).sum(axis=(1, 2)), np.ones(M))
    assert (np.diff(path) < 0).all()


# ---------------------------------------------------------------- known answers


@every_size
@every_geometry
@pytest.mark.parametrize("d", [1, 3, 5])
def test_noiseless_graphs_are_recovered(n, options, directed, d):
    known = noiseless_directed(n, 12, d, 1) if directed else noiseless(n, 12, d, 1)
    A = known.stack.dense
    if not directed:  # of loadings that are alike, sums of components explain more than one
        A, (H,) = planted(12, n, d, directed=False, noise=0.0)
    truth = (known.H, known.G) if directed else (H,)
    fit = solve(A, d, directed=directed, options=options)
    assert apart(fit, truth).max() < 1e-6
    Lam = solve_loadings(metric_of(False).gram(sides_of(fit)), fit.Psi)
    rebuilt = np.einsum("sk,ik,tk->ist", sides_of(fit)[0], Lam, sides_of(fit)[-1])
    assert np.allclose(rebuilt, A, atol=1e-6 * np.abs(A).max())


@every_size
@every_geometry
def test_of_one_graph_the_components_are_its_singular_vectors(n, options, directed):
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    right = right if directed else left
    A = (left * 0.8 ** np.arange(n)) @ right.T
    fit = solve(A[None], 6, directed=directed, tol=1e-11, options=options)
    assert np.allclose(np.abs(fit.Psi[0]), 0.8 ** np.arange(6), rtol=1e-10)
    truth = (left[:, :6], right[:, :6]) if directed else (left[:, :6],)
    assert apart(fit, truth).max() < 1e-8


@every_size
def test_on_positive_symmetric_graphs_pairs_explain_as_much_as_the_symmetric_geometry(n, options):
    rng = np.random.default_rng(3)
    H = np.linalg.qr(rng.standard_normal((n, 4)))[0]
    A = np.einsum("sk,ik,tk->ist", H, rng.uniform(1, 3, (15, 4)) * [4, 3, 2, 1], H)
    noise = 0.03 * random_symmetric(15, n, seed=1)
    A += noise @ noise.transpose(0, 2, 1)
    pairs, plain = (solve(A, 4, directed=two, options=options) for two in (True, False))
    norms = (A**2).sum(axis=(1, 2))
    paths = [
        objective_path(metric_of(False).gram(sides_of(fit)), fit.Psi, norms, np.ones(15))
        for fit in (pairs, plain)
    ]
    # What is left is a difference of numbers of the size of the first.
    assert (paths[0] <= paths[1] * (1 + 1e-9) + 1e-13 * norms.sum()).all()
    assert column_errors(pairs.H, pairs.G).max() < 1e-6


@pytest.mark.parametrize("n", [30, 105])
def test_it_agrees_with_algorithm_1_where_the_maximum_is_unique(n):
    A, (H,) = planted(20, n, 4, directed=False, noise=0.1)
    fit = solve(A, 4)
    common = {"init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 200}
    other = algorithm1(
        TreatedGraphs(GraphStack(A)), 4, weights=np.ones(20), seed=np.random.SeedSequence(0),
        **common,
    )  # fmt: skip
    assert apart(fit, other).max() < 1e-6
    assert column_errors(fit.H, H).max() < 0.2
    assert np.allclose(gains(fit), gains(other), rtol=1e-9)
    assert fit.n_passes < other.n_passes


@pytest.mark.parametrize("n", [30, 105])
def test_among_many_maxima_it_finds_as_good_ones_as_algorithm_1(n):
    share = []
    for seed in range(3):
        A = random_symmetric(10, n, seed=seed)
        common = {"tol": 1e-3, "seed": np.random.SeedSequence(seed)}
        one = algorithm1(
            TreatedGraphs(GraphStack(A)), 3, weights=np.ones(10), init="auto", n_init=1,
            max_iter=200, **common,
        )  # fmt: skip
        share.append(gains(solve(A, 3, **common)).sum() / gains(one).sum())
    assert np.mean(share) > 0.995


# ---------------------------------------------------------------- nested, and resumed


@every_geometry
@some_combinations
def test_the_first_components_do_not_depend_on_how_many_follow(directed, hollow, rule):
    # Noise has many maxima: whatever changed the search would end in another one.
    A = drawn(M, LARGE, 2, directed=directed, hollow=hollow)
    fits = [
        solve(A, d, directed=directed, hollow=hollow, rule=RULES[rule], tol=1e-3, options=GENERAL)
        for d in (3, 4, 6)
    ]
    longest = fits[-1]
    for fit in fits[:-1]:
        d = fit.H.shape[1]
        assert apart(fit, first_components(longest, d)).max() < 1e-10
        assert np.allclose(gains(fit), gains(longest)[:d], rtol=1e-10)
        agreement = [stage.agreement for stage in fit.stages]
        assert np.array_equal(
            agreement, [stage.agreement for stage in longest.stages[:d]], equal_nan=True
        )


@every_size
@every_geometry
@some_combinations
def test_a_resumed_fit_keeps_its_components_and_goes_on_as_one_that_was_never_stopped(
    n, options, directed, hollow, rule
):
    # Of noise alone, rounding would choose among the maxima of the second block.
    A, _ = planted(M, n, 6, directed=directed, hollow=hollow, seed=2)
    settings = {"directed": directed, "hollow": hollow, "tol": 1e-4, "options": options,
                "rule": RULES[rule]}  # fmt: skip
    whole, short = solve(A, 6, **settings), solve(A, 2, **settings)
    resumed = solve(A, 6, resume=short, **settings)
    for mine, before in zip(sides_of(resumed), sides_of(short), strict=True):
        assert np.array_equal(mine[:, :2], before)
    assert resumed.stages[:2] == short.stages
    # A relative gradient of tol leaves an error of tol over the relative gap of the curvature.
    assert apart(resumed, whole).max() < 1e-2
    cut = solve(A, 5, resume=first_components(whole, 3), **settings)
    assert apart(cut, first_components(whole, 5)).max() < 1e-2
    if rule != "free":
        return
    step = short
    for d in (3, 4, 6):  # within the first block, at its end and beyond
        before, step = step, solve(A, d, resume=step, **settings)
        assert np.array_equal(step.H[:, : before.H.shape[1]], before.H)
    assert apart(step, whole).max() < 1e-2


@every_geometry
def test_a_fit_that_is_long_enough_is_returned_as_it_is(directed):
    A = drawn(4, LARGE, 0, directed=directed)
    fit = solve(A, 2, directed=directed, tol=1e-3, options=GENERAL)
    again = solve(A, 2, directed=directed, resume=fit)
    assert np.array_equal(again.H, fit.H)
    assert again.stages == fit.stages
    assert again.n_passes == 1


@every_geometry
def test_components_that_another_search_found_are_kept_and_gone_on_behind(directed):
    A = drawn(M, LARGE, 4, directed=directed)
    settings = {"directed": directed, "tol": 1e-4, "options": GENERAL}
    other = solve(A, 3, init="random", seed=np.random.SeedSequence(7), **settings)
    resumed = solve(A, 5, resume=other, **settings)
    assert np.array_equal(resumed.H[:, :3], other.H)
    assert set(reasons(resumed)) == {"stationary"}
    for f, x in written_out(A, sides_of(resumed), np.ones(M), FREE):
        assert f.stationarity(x) < 2e-4


# ---------------------------------------------------------------- the same by every road


@every_geometry
@every_metric
@every_rule
def test_all_vertices_at_once_and_a_growing_basis_find_the_same(directed, hollow, rule):
    A, _ = planted(20, LARGE, 2, directed=directed, hollow=hollow)
    settings = {"directed": directed, "hollow": hollow, "rule": rule}
    whole, general = (solve(A, 2, options=options, **settings) for options in (DEFAULTS, GENERAL))
    assert whole.n_passes == 2
    assert general.n_passes > 3
    assert apart(general, whole).max() < 1e-5
    assert np.allclose(gains(general), gains(whole), rtol=1e-9)


@every_geometry
def test_many_graphs_are_summed_up(directed):
    A = drawn(20_000, 5, 0, directed=directed)
    A += 5 * planted(20_000, 5, 3, directed=directed, noise=0.0)[0] / np.sqrt(20_000)
    fit = solve(A, 3, directed=directed, tol=1e-7)
    assert set(reasons(fit)) == {"stationary"}
    for stage, (f, x) in zip(
        fit.stages, written_out(A, sides_of(fit), np.ones(len(A)), FREE), strict=True
    ):
        assert stage.gain == pytest.approx(f(x), rel=1e-9)
        assert f.stationarity(x) < 1e-6


@every_geometry
def test_a_basis_that_grew_to_all_vertices_is_solved_to_the_tolerance(directed):
    fit = solve(drawn(700, 40, 0, directed=directed), 2, directed=directed, tol=1e-6)
    assert set(reasons(fit)) == {"stationary"}


@every_geometry
@every_metric
def test_storage_and_what_is_kept_of_the_graphs_change_nothing(directed, hollow):
    A, _ = planted(M, LARGE, 3, directed=directed, hollow=True)
    fits = [
        solve(
            operator_of(stored(GraphStack(A), storage), directed=directed,
                        diagonal="hollow" if hollow else "filled"),
            3, hollow=hollow, keep=keep, options=GENERAL,
        )
        for storage in ("dense", "sparse")
        for keep in ("products", "cores", "moments")
    ]  # fmt: skip
    for fit in fits[1:]:
        assert apart(fit, fits[0]).max() < 1e-6
        assert np.allclose(gains(fit), gains(fits[0]), rtol=1e-9)
        assert (np.array([stage.stationarity for stage in fit.stages]) <= 1e-8).all()
    assert fits[1].n_passes > fits[0].n_passes


@every_size
@every_geometry
@pytest.mark.parametrize("keep", ["products", "cores"])
def test_float32_graphs_converge_to_their_tolerance(n, options, directed, keep, storage):
    A, _ = planted(10, n, 3, directed=directed)
    single = stored(GraphStack(A).astype(np.float32), storage)
    settings = {"directed": directed, "options": options}
    fit = solve(single, 3, tol=1e-5, keep=keep, **settings)
    assert all(stage.converged for stage in fit.stages)
    assert apart(fit, solve(A, 3, **settings)).max() < 1e-4
    for f, x in written_out(A, sides_of(fit), np.ones(10), FREE):
        assert f.stationarity(x) < 1e-4


@every_geometry
def test_components_at_their_precision_do_not_hold_up_the_others(directed):
    # What rounding leaves of weak components in float32 must not set how exactly the strong one
    # is solved for.
    n = 80
    A = (
        noiseless_directed(n, 20, 1, 2).stack.dense
        if directed
        else noiseless(n, 20, 1, 2).stack.dense
    )
    A = A + 1e-6 * drawn(20, n, 2, directed=directed)
    fit = solve(GraphStack(A.astype(np.float32)), 3, directed=directed, hollow=True, tol=1e-5,
                options=GENERAL)  # fmt: skip
    assert all(stage.converged for stage in fit.stages)
    assert fit.stages[0].stop_reason == "stationary"
    assert fit.stages[0].n_iter < 60


@every_size
@every_metric
def test_transposed_graphs_have_the_sides_exchanged(n, options, hollow):
    A, _ = planted(10, n, 3, directed=True, hollow=hollow)
    fit, turned = (
        solve(B, 3, directed=True, hollow=hollow, options=options)
        for B in (A, A.transpose(0, 2, 1))
    )
    assert apart(turned, (fit.G, fit.H)).max() < 1e-6


@every_size
@every_geometry
@every_metric
def test_the_order_of_vertices_and_the_scale_do_not_matter(n, options, directed, hollow):
    A, _ = planted(10, n, 3, directed=directed, hollow=hollow)
    order = np.random.default_rng(0).permutation(n)
    settings = {"directed": directed, "hollow": hollow, "options": options}
    fit = solve(A, 3, **settings)
    permuted = solve(1000 * A[:, order][:, :, order], 3, **settings)
    assert apart(permuted, tuple(side[order] for side in sides_of(fit))).max() < 1e-6
    assert np.allclose(gains(permuted), 1e6 * gains(fit), rtol=1e-8)


@every_size
@every_geometry
@every_rule
def test_a_weight_of_two_counts_as_the_graph_twice(n, options, directed, rule):
    A, weights = planted(6, n, 3, directed=directed)[0], np.array([1, 2, 1, 3, 1, 0])
    settings = {"directed": directed, "rule": rule, "options": options}
    weighted = solve(A, 3, weights=weights.astype(float), **settings)
    repeated = solve(np.repeat(A, weights, axis=0), 3, **settings)
    assert apart(weighted, repeated).max() < 1e-6
    assert np.allclose(gains(weighted), gains(repeated), rtol=1e-9)


# ---------------------------------------------------------------- hard ones


@every_geometry
def test_dependent_components_keep_the_fit_going(directed):
    # Components on three vertices are dependent vectors, and all of them stay in the basis.
    A = 0.02 * drawn(30, LARGE, 1, directed=directed)
    A[:, :3, :3] = 5 * drawn(30, 3, 2, directed=directed)
    n_inside = 9 if directed else 6
    fit = solve(A, n_inside + 2, directed=directed, tol=1e-6, max_iter=80, options=GENERAL)
    assert set(reasons(fit)) == {"stationary"}
    for f, x in written_out(A, sides_of(fit), np.ones(30), FREE):
        assert f.stationarity(x) < 5e-6
    inside = np.prod([(side[:3, :n_inside] ** 2).sum(axis=0) for side in sides_of(fit)], axis=0)
    assert (inside > 0.99).all()


@every_size
def test_equal_singular_values_are_no_trouble(n, options):
    cycle = np.roll(np.eye(n), 1, axis=1)
    fit = solve(np.array([cycle, cycle @ cycle]), 3, directed=True, tol=1e-6, options=options)
    assert set(reasons(fit)) == {"stationary"}
    fit = solve(cycle[None], 3, directed=True, options=options)
    assert np.allclose(gains(fit), 1)


@every_geometry
def test_what_one_graph_alone_has_is_not_overlooked(directed):
    A = 0.1 * drawn(300, LARGE, 4, directed=directed)
    h, g = units(np.random.default_rng(0).standard_normal((LARGE, 2))).T
    g = g if directed else h
    A[217] += 40 * np.outer(h, g)
    fit = solve(A, 1, directed=directed, tol=1e-3, options=GENERAL)
    assert apart(fit, (h[:, None], g[:, None])[: 1 + directed]).max() < 0.1


@every_size
@every_geometry
def test_equal_graphs_that_are_centered_leave_nothing(n, options, directed, storage):
    A = np.repeat(drawn(1, n, 3, directed=directed), 5, axis=0)
    stack = stored(GraphStack(A), storage)
    graphs = operator_of(
        stack, directed=directed, diagonal="filled", mean=mean_graph(stack, np.ones(5))
    )
    assert not solve(graphs, 2, options=options).active.any()


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
