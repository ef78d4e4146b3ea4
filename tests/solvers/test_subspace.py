"""The subspace solver: stationary, nested, the same by every road, counted and interrupted."""

import numpy as np
import pytest
from known_graphs import noiseless, noiseless_directed, stored
from solvers.solving import (
    FREE,
    GENERAL,
    LARGE,
    RULES,
    Interrupting,
    apart,
    drawn,
    gains,
    is_maximum,
    operator_of,
    planted,
    reasons,
    sides_of,
    solve,
    units,
    written_out,
)
from written_out import Counted

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.solution import Progress, first_components

M = 8
WEIGHTS = np.linspace(0.5, 2, M)
BLOCK = GENERAL.block
SIZES = [(14, DEFAULTS), (LARGE, GENERAL)]  # on all vertices at once, and in a growing basis

every_size = pytest.mark.parametrize(("n", "options"), SIZES, ids=["whole", "basis"])
every_geometry = pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "pair"])
every_metric = pytest.mark.parametrize("hollow", [False, True], ids=["all", "off"])
some_combinations = pytest.mark.parametrize(
    ("rule", "hollow"), [("free", False), ("free", True), ("nonnegative", True), ("sparse", False)]
)
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


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


# ---------------------------------------------------------------- known answers


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
    known = noiseless_directed if directed else noiseless
    A = known(n, 20, 1, 2).stack.dense + 1e-6 * drawn(20, n, 2, directed=directed)
    fit = solve(GraphStack(A.astype(np.float32)), 3, directed=directed, hollow=True, tol=1e-5,
                options=GENERAL)  # fmt: skip
    assert all(stage.converged for stage in fit.stages)
    assert fit.stages[0].stop_reason == "stationary"
    assert fit.stages[0].n_iter < 60


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


# ---------------------------------------------------------------- rounds


@pytest.fixture(params=[False, True], ids=["symmetric", "pair"])
def noise(request):
    """Graphs with many maxima, as an operator."""
    graphs = operator_of(drawn(M, LARGE, 5, directed=request.param), directed=request.param)
    graphs.A = drawn(M, LARGE, 5, directed=request.param)
    return graphs


def search(graphs, d, **settings):
    return solve(graphs, d, **{"options": GENERAL, **settings})


def is_as_reported(graphs, fit):
    """Check that a fit is one complete round: units, forms and gradients belong together."""
    sides = sides_of(fit)
    for side in sides:
        assert np.allclose(np.linalg.norm(side, axis=0), 1)
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", sides[0], graphs.A, sides[-1]))
    for stage, (f, x) in zip(
        fit.stages, written_out(graphs.A, sides, np.ones(M), FREE), strict=True
    ):
        assert stage.gain == pytest.approx(f(x), rel=1e-9)
        assert stage.stationarity == pytest.approx(f.stationarity(x), abs=1e-5)


# ---------------------------------------------------------------- starts


@every_size
@every_geometry
@pytest.mark.parametrize("rule", ["free", "sparse"])
def test_given_starts_lead_to_their_own_maxima_in_their_order(n, options, directed, rule):
    A, sides = planted(12, n, 3, directed=directed, noise=0.0)
    rng = np.random.default_rng(0)
    order = [2, 0, 1]
    truth = tuple(side[:, order] for side in sides)
    near = np.array([side + 0.01 * rng.standard_normal((n, 3)) for side in truth])
    init = near if directed else near[0]
    settings = {"directed": directed, "options": options, "rule": RULES[rule]}
    assert apart(solve(A, 3, **settings), sides).max() < 1e-7
    assert apart(solve(A, 3, init=7 * init, **settings), truth).max() < 1e-7
    fewer = solve(A, 3, init=init[..., :1], **settings)
    assert set(reasons(fewer)) == {"stationary"}
    assert apart(fewer, truth)[0] < 1e-7
    assert apart(fewer, truth).max() < 1e-6


def test_more_given_starts_than_a_block_takes_are_all_used(noise):
    found = search(noise, 6, tol=1e-4)
    again = search(noise, 6, tol=1e-4, init=np.array(sides_of(found)))
    assert apart(again, found).max() < 1e-2
    assert again.n_passes < found.n_passes


# ---------------------------------------------------------------- passes


@every_size
@every_geometry
@pytest.mark.parametrize(
    ("keep", "rule"),
    [("products", "free"), ("cores", "free"), ("moments", "free"), ("products", "nonnegative"),
     ("cores", "sparse")],
)  # fmt: skip
@pytest.mark.parametrize("init", ["auto", "given", "nothing there"])
def test_passes_are_counted_as_they_are_taken(n, options, directed, keep, rule, init):
    A = drawn(M, n, 1, directed=directed) * (init != "nothing there")
    graphs = Counted(operator_of(A, directed=directed))
    settings = {"keep": keep, "rule": RULES[rule], "tol": 1e-1, "options": options}
    if init == "given":
        H = np.eye(n)[:, :5] + 0.1
        settings["init"] = np.stack([H, H[::-1]]) if directed else H
    for d, resume in ((2, None), (6, None), (6, solve(graphs, 3, **settings))):
        graphs.n_reads = 0
        fit = solve(graphs, d, resume=resume, **settings)
        assert fit.n_passes == graphs.n_reads


@every_geometry
def test_a_digit_costs_about_a_pass(directed):
    known = noiseless_directed(105, 20, 4, 0) if directed else noiseless(105, 20, 4, 0)
    A = (40 if directed else 8) * known.stack.dense + 0.3 * drawn(20, 105, 1, directed=directed)
    assert solve(A, 4, directed=directed, tol=1e-8).n_passes <= 16


# ---------------------------------------------------------------- limits and watchers


def test_max_iter_bounds_the_rounds_and_says_so(noise):
    seen = []
    fit = search(noise, 3, max_iter=2, watch=seen.append)
    assert reasons(fit) == ["max_iter"] * 3
    assert [stage.n_iter for stage in fit.stages] == [2] * 3
    assert not any(stage.converged for stage in fit.stages)
    assert len(seen) == 2
    is_as_reported(noise, fit)
    assert search(noise, 3, max_iter=1).stages[0].n_iter == 1


def test_rounds_are_told_to_the_watcher(noise):
    seen = []
    fit = search(noise, 6, tol=1e-3, watch=seen.append)
    assert all(isinstance(event, Progress) for event in seen)
    assert all(event.component is None for event in seen)
    second = next(j for j in range(1, len(seen)) if seen[j].n_iter == 1)
    assert [event.n_iter for event in seen[:second]] == list(range(1, fit.stages[0].n_iter + 1))
    assert all(0 <= event.n_converged <= BLOCK for event in seen[:second])
    assert all(event.n_converged >= BLOCK for event in seen[second:])
    assert seen[-1].stationarity <= 1e-3
    assert seen[-1].n_converged == 6
    passes = [event.n_passes for event in seen]
    assert passes == sorted(passes)
    assert passes[-1] == fit.n_passes


# ---------------------------------------------------------------- interruptions


@pytest.mark.parametrize("at", [1, 3, 6])
def test_an_interrupted_search_returns_what_it_has(noise, at):
    fit = search(noise, 3, watch=Interrupting(at))
    assert fit.interrupted
    is_as_reported(noise, fit)
    for stage in fit.stages:
        assert stage.stop_reason == ("stationary" if stage.stationarity <= 1e-8 else "interrupted")
        assert stage.n_iter == at
    assert "interrupted" in reasons(fit)
    assert not search(noise, 3, tol=1e-1).interrupted


@pytest.mark.parametrize("at", [2, 5])
@pytest.mark.parametrize(
    ("name", "keep"),
    [("products", "products"), ("project", "cores"), ("combine", "cores"), ("total", "moments")],
)
def test_an_interruption_in_any_pass_leaves_the_last_complete_round(noise, name, keep, at):
    stopped = Interrupting(at + 1, noise, name)
    fit = search(stopped, 3, keep=keep)
    assert fit.interrupted
    is_as_reported(noise, fit)


def test_an_interrupted_second_block_keeps_the_first_and_can_be_resumed(noise):
    fit = search(Interrupting(2, noise, "sketch"), 6, tol=1e-3)
    assert fit.interrupted
    assert fit.H.shape == (LARGE, BLOCK)
    assert len(fit.stages) == fit.Psi.shape[1] == BLOCK
    assert set(reasons(fit)) == {"stationary"}
    resumed, whole = (search(noise, 6, tol=1e-3, resume=start) for start in (fit, None))
    assert np.array_equal(resumed.H[:, :BLOCK], fit.H)
    assert apart(resumed, whole).max() < 1e-6
