"""The rounds of the directed solver: starts, passes, watchers, limits and interruptions."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless_directed, pair_errors, random_directed
from written_out import Counted, pair_stationarity

from eigengraphs import GraphStack
from eigengraphs.errors import InputError
from eigengraphs.graphs.directed_view import DirectedView
from eigengraphs.solvers.block import BLOCK
from eigengraphs.solvers.directed import directed
from eigengraphs.solvers.protocol import Progress

SMALL, LARGE = 12, 75  # vertices, below and beyond the shortcut


def solve(view, d, **settings):
    defaults = {
        "init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 200, "cache": True,
        "weights": np.ones(view.n_graphs), "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    return directed(view, d, **{**defaults, **settings})


def view_of(A):
    return DirectedView(GraphStack(A))


@pytest.fixture(scope="module")
def noise():
    """Graphs on many vertices with many optima."""
    return random_directed(6, LARGE, seed=5)


# ------------------------------------------------------------------ starts


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_given_starts_lead_to_their_own_maxima_in_their_order(n):
    known = noiseless_directed(n, 12, 3, seed=1)
    rng = np.random.default_rng(0)
    # Loadings that are orthogonal over the graphs make each component a maximum of its own.
    Lam = np.linalg.qr(rng.standard_normal((12, 3)))[0] * [3.0, 2.0, 1.0]
    view = view_of(np.einsum("sk,ik,tk->ist", known.H, Lam, known.G))
    order = [2, 0, 1]
    near = np.stack([known.H[:, order], known.G[:, order]]) + 0.02 * rng.standard_normal((2, n, 3))
    free = solve(view, 3)
    assert column_errors(free.H, known.H).max() < 1e-7
    given = solve(view, 3, init=7 * near)
    assert column_errors(given.H, known.H[:, order]).max() < 1e-7
    assert column_errors(given.G, known.G[:, order]).max() < 1e-7
    fewer = solve(view, 3, init=near[:, :, :1])
    assert fewer.H.shape == (n, 3)
    assert column_errors(fewer.H, known.H[:, order]).max() < 1e-7
    for wrong in (near[0], near[:, :-1], near[:1]):
        with pytest.raises(InputError, match="H and then G"):
            solve(view, 3, init=wrong)


def test_more_given_starts_than_a_block_takes_are_all_used(noise):
    view = view_of(noise)
    found = solve(view, 15, tol=1e-4)
    again = solve(view, 15, tol=1e-4, init=np.stack([found.H, found.G]))
    assert pair_errors(again, found.H, found.G).max() < 1e-2
    assert again.n_passes < found.n_passes


@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("init", ["auto", "svd", "random"])
def test_every_named_start_finds_a_dominant_component(n, init):
    known = noiseless_directed(n, 6, 1, seed=2)
    A = known.stack.dense + 0.01 * random_directed(6, n, seed=3)
    fit = solve(view_of(A), 1, init=init)
    assert column_errors(fit.H, known.H).max() < 0.1
    assert column_errors(fit.G, known.G).max() < 0.1
    assert fit.stages[0].stop_reason == "stationary"


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_a_seed_decides_everything(n):
    view = view_of(random_directed(6, n, seed=1))
    one, same = solve(view, 2, tol=1e-3), solve(view, 2, tol=1e-3)
    assert np.array_equal(one.H, same.H)
    assert np.array_equal(one.G, same.G)
    others = [
        solve(view, 2, tol=1e-3, init="random", seed=np.random.SeedSequence(s)).H for s in range(4)
    ]
    assert max(column_errors(others[0], H).max() for H in others[1:]) > 1e-2


def test_what_one_graph_alone_has_is_not_overlooked():
    A = 0.1 * random_directed(300, LARGE, seed=4)
    h, g = np.random.default_rng(0).standard_normal((2, LARGE))
    h, g = h / np.linalg.norm(h), g / np.linalg.norm(g)
    A[217] += 40 * np.outer(h, g)
    fit = solve(view_of(A), 1, tol=1e-3)
    assert abs(fit.H[:, 0] @ h) > 0.99
    assert abs(fit.G[:, 0] @ g) > 0.99


# ------------------------------------------------------------------ passes


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("init", ["auto", "given"])
def test_passes_are_counted_as_they_are_taken(n, cache, init):
    view = Counted(view_of(random_directed(6, n, seed=1)))
    if init == "given":
        init = np.stack([np.eye(n)[:, :10] + 0.1, np.eye(n)[:, ::-1][:, :10] + 0.1])
    for d, resume in ((2, None), (14, None), (14, solve(view, 3, tol=1e-1))):
        view.calls.clear()
        fit = solve(view, d, cache=cache, resume=resume, tol=1e-1, init=init)
        assert fit.n_passes == view.total


def test_passes_over_many_graphs_and_over_nothing_are_counted_too():
    for A in (np.zeros((3, LARGE, LARGE)), random_directed(400, 3, seed=0)):
        view = Counted(view_of(A))
        assert solve(view, 2).n_passes == view.total


def test_a_digit_costs_about_a_pass():
    A = noiseless_directed(LARGE, 20, 4, seed=0).stack.dense * 40
    A = A + 0.3 * random_directed(20, LARGE, seed=1)
    assert solve(view_of(A), 4, tol=1e-8).n_passes <= 16


# ------------------------------------------------------------------ limits and watchers


def test_max_iter_bounds_the_rounds_and_says_so(noise):
    seen = []
    fit = solve(view_of(noise), 3, max_iter=2, watch=seen.append)
    assert [stage.stop_reason for stage in fit.stages] == ["max_iter"] * 3
    assert [stage.n_iter for stage in fit.stages] == [2] * 3
    assert not any(stage.converged for stage in fit.stages)
    assert len(seen) == 2
    reported = [stage.stationarity for stage in fit.stages]
    assert np.allclose(reported, pair_stationarity(noise, fit.H, fit.G, np.ones(6)), atol=1e-10)


def test_rounds_are_told_to_the_watcher(noise):
    seen = []
    fit = solve(view_of(noise), 14, tol=1e-3, watch=seen.append)
    assert all(isinstance(event, Progress) for event in seen)
    second = next(j for j in range(1, len(seen)) if seen[j].n_iter == 1)
    assert [event.n_iter for event in seen[:second]] == list(range(1, fit.stages[0].n_iter + 1))
    assert all(event.n_converged >= BLOCK for event in seen[second:])
    assert seen[-1].stationarity <= 1e-3
    assert seen[-1].n_converged == 14
    passes = [event.n_passes for event in seen]
    assert passes == sorted(passes)
    assert passes[-1] == fit.n_passes


def test_the_shortcut_tells_the_watcher_once():
    seen = []
    solve(view_of(random_directed(4, SMALL, seed=0)), 3, watch=seen.append)
    assert [(event.n_iter, event.n_converged) for event in seen] == [(1, 3)]


# ------------------------------------------------------------------ interruptions


class InterruptedAt:
    """A view, or a watcher, that is interrupted in the j-th call of one of its methods."""

    def __init__(self, view, name, at):
        self._view, self._name, self._at, self._calls = view, name, at, 0

    def __call__(self, *_):
        self._calls += 1
        if self._calls == self._at:
            raise KeyboardInterrupt

    def __getattr__(self, name):
        method = getattr(self._view, name)
        if name != self._name:
            return method

        def interrupted(*args, **kwargs):
            self()
            return method(*args, **kwargs)

        return interrupted


@pytest.mark.parametrize("at", [1, 4])
def test_an_interrupted_search_returns_what_it_has(noise, at):
    fit = solve(view_of(noise), 3, watch=InterruptedAt(None, "", at))
    assert fit.interrupted
    for X in (fit.H, fit.G):
        assert X.shape == (LARGE, 3)
        assert np.allclose(np.linalg.norm(X, axis=0), 1)
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", fit.H, noise, fit.G))
    assert [stage.n_iter for stage in fit.stages] == [at] * 3
    assert "interrupted" in {stage.stop_reason for stage in fit.stages}


@pytest.mark.parametrize("at", [2, 5])
@pytest.mark.parametrize(
    ("name", "cache"), [("products", True), ("project", False), ("weighted_multiply", False)]
)
def test_an_interruption_in_any_pass_leaves_the_last_complete_round(noise, name, cache, at):
    fit = solve(InterruptedAt(view_of(noise), name, at), 3, cache=cache)
    assert fit.interrupted
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", fit.H, noise, fit.G))
    reported = [stage.stationarity for stage in fit.stages]
    assert np.allclose(reported, pair_stationarity(noise, fit.H, fit.G, np.ones(6)), atol=1e-9)


def test_before_the_first_round_there_is_nothing_to_return(noise):
    with pytest.raises(KeyboardInterrupt):
        solve(InterruptedAt(view_of(noise), "sketch", 1), 3)


def test_an_interrupted_second_block_keeps_the_first_and_can_be_resumed(noise):
    view = view_of(noise)
    fit = solve(InterruptedAt(view, "sketch", 2), 14, tol=1e-3)
    assert fit.interrupted
    assert fit.H.shape == fit.G.shape == (LARGE, BLOCK)
    assert all(stage.stop_reason == "stationary" for stage in fit.stages)
    resumed = solve(view, 14, tol=1e-3, resume=fit)
    assert np.array_equal(resumed.H[:, :BLOCK], fit.H)
    assert np.array_equal(resumed.G[:, :BLOCK], fit.G)
    whole = solve(view, 14, tol=1e-3)
    assert pair_errors(resumed, whole.H, whole.G).max() < 1e-6
