"""The rounds of the subspace solver: starts, passes, watchers, limits and interruptions."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, noiseless_directed
from solvers.solving import (
    FREE,
    GENERAL,
    LARGE,
    RULES,
    Counted,
    Interrupting,
    apart,
    drawn,
    gains,
    operator_of,
    planted,
    reasons,
    sides_of,
    solve,
    written_out,
)

from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.solution import Progress

M = 6
BLOCK = GENERAL.block
SIZES = [(14, DEFAULTS), (LARGE, GENERAL)]

every_size = pytest.mark.parametrize(("n", "options"), SIZES, ids=["whole", "basis"])
every_geometry = pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "pair"])


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


@every_size
@every_geometry
def test_given_components_of_any_length_are_the_same_start(n, options, directed):
    A = drawn(3, n, 1, directed=directed)
    given = np.random.default_rng(0).standard_normal((1 + directed, n, 2))
    one, other = (
        solve(A, 2, directed=directed, init=init, tol=1e-2, options=options)
        for init in (given, given * [4.0, 0.5])
    )
    assert np.array_equal(one.H, other.H)


def test_more_given_starts_than_a_block_takes_are_all_used(noise):
    found = search(noise, 6, tol=1e-4)
    again = search(noise, 6, tol=1e-4, init=np.array(sides_of(found)))
    assert apart(again, found).max() < 1e-2
    assert again.n_passes < found.n_passes


@every_size
@every_geometry
@pytest.mark.parametrize("init", ["auto", "svd", "random"])
def test_every_named_start_finds_a_dominant_component(n, options, directed, init):
    A, sides = planted(M, n, 1, directed=directed)
    fit = solve(A, 1, directed=directed, init=init, options=options)
    assert apart(fit, sides).max() < 0.2
    assert reasons(fit) == ["stationary"]


@every_size
@every_geometry
def test_a_seed_decides_everything(n, options, directed):
    A = drawn(M, n, 1, directed=directed)
    settings = {"directed": directed, "tol": 1e-3, "options": options}
    one, same = solve(A, 2, **settings), solve(A, 2, **settings)
    for mine, other in zip(sides_of(one), sides_of(same), strict=True):
        assert np.array_equal(mine, other)
    others = [
        solve(A, 2, init="random", seed=np.random.SeedSequence(s), **settings).H for s in range(4)
    ]
    if options is GENERAL:  # on few vertices many starts agree
        assert max(column_errors(others[0], H).max() for H in others[1:]) > 1e-2


# ---------------------------------------------------------------- passes


@every_size
@every_geometry
@pytest.mark.parametrize("keep", ["products", "cores", "moments"])
@pytest.mark.parametrize("init", ["auto", "given"])
def test_passes_are_counted_as_they_are_taken(n, options, directed, keep, init):
    graphs = Counted(operator_of(drawn(M, n, 1, directed=directed), directed=directed))
    settings = {"keep": keep, "tol": 1e-1, "options": options}
    if init == "given":
        settings["init"] = np.eye(n)[:, :5] + 0.1
        if directed:
            settings["init"] = np.stack([settings["init"], settings["init"][::-1]])
    for d, resume in ((2, None), (6, None), (6, solve(graphs, 3, **settings))):
        graphs.n_reads = 0
        fit = solve(graphs, d, resume=resume, **settings)
        assert fit.n_passes == graphs.n_reads


@every_geometry
@pytest.mark.parametrize("rule", ["nonnegative", "sparse"])
def test_so_are_they_under_a_rule_and_over_nothing(directed, rule):
    for A in (
        drawn(M, LARGE, 1, directed=directed),
        np.zeros((3, LARGE, LARGE)),
        np.zeros((3, 2, 2)),
    ):
        graphs = Counted(operator_of(A, directed=directed))
        fit = search(graphs, 6, rule=RULES[rule], tol=1e-1)
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


def test_more_rounds_bring_smaller_gradients(noise):
    worst = [
        max(stage.stationarity for stage in search(noise, 2, max_iter=j).stages)
        for j in (3, 15, 40)
    ]
    assert worst[0] > 3 * worst[1] > 9 * worst[2]


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


@every_geometry
def test_on_few_vertices_the_watcher_is_told_once(directed):
    seen = []
    solve(drawn(4, 14, 0, directed=directed), 3, directed=directed, watch=seen.append)
    assert [(event.n_iter, event.n_converged) for event in seen] == [(1, 3)]


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


def test_before_the_first_round_there_is_nothing_to_return(noise):
    with pytest.raises(KeyboardInterrupt):
        search(Interrupting(1, noise, "sketch"), 3)


@every_geometry
def test_an_interruption_on_few_vertices_after_the_only_round(directed):
    fit = solve(drawn(4, 14, 0, directed=directed), 2, directed=directed, watch=Interrupting(1))
    assert fit.interrupted
    assert reasons(fit) == ["stationary"] * 2


def test_an_interrupted_second_block_keeps_the_first_and_can_be_resumed(noise):
    fit = search(Interrupting(2, noise, "sketch"), 6, tol=1e-3)
    assert fit.interrupted
    assert fit.H.shape == (LARGE, BLOCK)
    assert len(fit.stages) == fit.Psi.shape[1] == BLOCK
    assert set(reasons(fit)) == {"stationary"}
    resumed, whole = (search(noise, 6, tol=1e-3, resume=start) for start in (fit, None))
    assert np.array_equal(resumed.H[:, :BLOCK], fit.H)
    assert apart(resumed, whole).max() < 1e-6


def test_what_was_interrupted_is_searched_again(noise):
    rounds = []
    whole = search(noise, 6, tol=1e-3, watch=rounds.append)
    first = next(j for j in range(1, len(rounds)) if rounds[j].n_iter == 1)
    fit = search(noise, 6, tol=1e-3, watch=Interrupting(first + 2))
    assert fit.interrupted
    assert np.array_equal(fit.H[:, :BLOCK], whole.H[:, :BLOCK])
    assert reasons(fit)[BLOCK:] == ["interrupted"] * 2
    resumed = search(noise, 6, tol=1e-3, resume=fit)
    assert apart(resumed, whole).max() < 1e-6
    assert np.allclose(gains(resumed), gains(whole))
