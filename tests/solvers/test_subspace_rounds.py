"""The rounds of the subspace solver: starts, passes, watchers, limits and interruptions."""

import numpy as np
import pytest
from known_graphs import column_errors, noiseless, random_symmetric
from written_out import Counted, stationarity

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.block import BLOCK
from eigengraphs.solvers.protocol import Progress
from eigengraphs.solvers.subspace import subspace

LARGE = 105  # vertices, beyond the shortcut
SMALL = 15


def solve(view, d, **settings):
    defaults = {
        "init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 200, "cache": True,
        "weights": np.ones(view.n_graphs), "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    return subspace(view, d, **{**defaults, **settings})


@pytest.fixture(scope="module")
def noise():
    """Graphs on many vertices with many optima."""
    return random_symmetric(8, LARGE, seed=5)


def view_of(A):
    return StackView(GraphStack(A))


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_given_starts_lead_to_their_own_maxima_in_their_order(n):
    known = noiseless(n, 12, 3, seed=1)
    rng = np.random.default_rng(0)
    # Loadings that are orthogonal over the graphs make each component a maximum of its own.
    Lam = np.linalg.qr(rng.standard_normal((12, 3)))[0] * [3.0, 2.0, 1.0]
    view = view_of(np.einsum("sk,ik,tk->ist", known.H, Lam, known.H))
    order = [2, 0, 1]
    near = known.H[:, order] + 0.02 * rng.standard_normal((n, 3))
    free = solve(view, 3)
    assert column_errors(free.H, known.H).max() < 1e-7
    if n == LARGE:  # on few vertices further random starts are tried beside a given one
        given = solve(view, 3, init=7 * near)
        assert column_errors(given.H, known.H[:, order]).max() < 1e-7
    fewer = solve(view, 3, init=near[:, :1])
    assert fewer.H.shape == (n, 3)
    assert all(stage.stop_reason == "stationary" for stage in fewer.stages)


def test_more_given_starts_than_a_block_takes_are_all_used(noise):
    view = view_of(noise)
    found = solve(view, 18, tol=1e-6)
    again = solve(view, 18, tol=1e-6, init=found.H)
    assert column_errors(again.H, found.H).max() < 1e-3
    assert again.n_passes < found.n_passes


@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("init", ["auto", "svd", "random"])
def test_every_named_start_finds_a_dominant_component(n, init):
    known = noiseless(n, 6, 1, seed=2)
    A = known.stack.dense + 0.01 * random_symmetric(6, n, seed=3)
    fit = solve(view_of(A), 1, init=init)
    assert column_errors(fit.H, known.H).max() < 0.1
    assert fit.stages[0].stop_reason == "stationary"


@pytest.mark.parametrize("n", [SMALL, LARGE])
def test_a_seed_decides_everything(n):
    view = view_of(random_symmetric(6, n, seed=1))
    one, same = solve(view, 3), solve(view, 3)
    assert np.array_equal(one.H, same.H)
    others = [
        solve(view, 3, tol=1e-4, init="random", seed=np.random.SeedSequence(s)).H for s in range(4)
    ]
    assert max(column_errors(others[0], H).max() for H in others[1:]) > 1e-3


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("settings", [{}, {"init": "svd"}, {"init": np.eye(LARGE)[:, :20] + 0.1}])
def test_passes_are_counted_as_they_are_taken(n, cache, settings):
    view = Counted(view_of(random_symmetric(6, n, seed=1)))
    if isinstance(settings.get("init"), np.ndarray):
        settings = {"init": settings["init"][:n]}
    for d, resume in ((2, None), (18, None), (18, solve(view, 3, tol=1e-2))):
        view.calls.clear()
        fit = solve(view, d, cache=cache, resume=resume, tol=1e-2, **settings)
        assert fit.n_passes == view.total


def test_passes_over_nothing_are_counted_too():
    view = Counted(view_of(np.zeros((3, LARGE, LARGE))))
    assert solve(view, 20).n_passes == view.total


def test_a_digit_costs_about_a_pass():
    A = noiseless(LARGE, 20, 4, seed=0).stack.dense * 8 + 0.3 * random_symmetric(20, LARGE, seed=1)
    assert solve(view_of(A), 4, tol=1e-8).n_passes <= 16


def test_max_iter_bounds_the_rounds_and_says_so(noise):
    seen = []
    fit = solve(view_of(noise), 3, max_iter=2, watch=seen.append)
    assert [stage.stop_reason for stage in fit.stages] == ["max_iter"] * 3
    assert [stage.n_iter for stage in fit.stages] == [2] * 3
    assert not any(stage.converged for stage in fit.stages)
    assert len(seen) == 2
    reported = [stage.stationarity for stage in fit.stages]
    assert np.allclose(reported, stationarity(noise, fit.H, np.ones(8)), atol=1e-10)
    assert solve(view_of(noise), 3, max_iter=1).stages[0].n_iter == 1


def test_more_rounds_bring_smaller_gradients(noise):
    worst = [
        max(stage.stationarity for stage in solve(view_of(noise), 2, max_iter=j).stages)
        for j in (3, 12, 30)
    ]
    assert worst[0] > 3 * worst[1] > 30 * worst[2]


def test_rounds_are_told_to_the_watcher(noise):
    seen = []
    fit = solve(view_of(noise), 3, watch=seen.append)
    assert all(isinstance(event, Progress) for event in seen)
    assert [event.n_iter for event in seen] == list(range(1, fit.stages[0].n_iter + 1))
    assert all(event.component is None for event in seen)
    assert all(0 <= event.n_converged <= 3 for event in seen)
    assert all(event.stationarity > 0.9e-8 for event in seen[:-1])  # what counts as finished
    assert seen[-1].stationarity <= 1e-8
    assert seen[-1].n_converged == 3
    passes = [event.n_passes for event in seen]
    assert passes == sorted(passes)
    assert passes[-1] <= fit.n_passes


def test_later_blocks_count_the_components_before_them(noise):
    seen = []
    solve(view_of(noise), 18, tol=1e-4, watch=seen.append)
    restarts = [j for j in range(1, len(seen)) if seen[j].n_iter == 1]
    assert len(restarts) == 1
    assert all(event.n_converged >= BLOCK for event in seen[restarts[0] :])


def test_the_shortcut_tells_the_watcher_once():
    seen = []
    solve(view_of(random_symmetric(4, SMALL, seed=0)), 3, watch=seen.append)
    assert [(event.n_iter, event.n_converged) for event in seen] == [(1, 3)]


class Interrupting:
    """Raise KeyboardInterrupt at the j-th call."""

    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, *_):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", [1, 3, 6])
def test_an_interrupted_search_returns_what_it_has(noise, at):
    fit = solve(view_of(noise), 3, watch=Interrupting(at))
    assert fit.interrupted
    assert fit.H.shape == (LARGE, 3)
    assert np.allclose(np.linalg.norm(fit.H, axis=0), 1)
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", fit.H, noise, fit.H))
    for stage in fit.stages:
        assert stage.stop_reason == ("stationary" if stage.stationarity <= 1e-8 else "interrupted")
        assert stage.n_iter == at
    assert "interrupted" in {stage.stop_reason for stage in fit.stages}
    assert not solve(view_of(noise), 3).interrupted


def test_an_interrupted_second_block_keeps_the_first(noise):
    rounds = []
    whole = solve(view_of(noise), 18, tol=1e-4, watch=rounds.append)
    first = next(j for j in range(1, len(rounds)) if rounds[j].n_iter == 1)
    fit = solve(view_of(noise), 18, tol=1e-4, watch=Interrupting(first + 2))
    assert fit.interrupted
    assert fit.H.shape == (LARGE, 18)
    assert np.array_equal(fit.H[:, :BLOCK], whole.H[:, :BLOCK])
    assert [stage.stop_reason for stage in fit.stages[:BLOCK]] == ["stationary"] * BLOCK
    assert fit.stages[17].stop_reason == "interrupted"


class InterruptedView:
    """A view whose j-th sketch, the beginning of a block, is interrupted."""

    def __init__(self, view, at):
        self._view, self._interrupt = view, Interrupting(at)

    def sketch(self, V, weights):
        self._interrupt()
        return self._view.sketch(V, weights)

    def __getattr__(self, name):
        return getattr(self._view, name)


def test_before_the_first_round_there_is_nothing_to_return(noise):
    with pytest.raises(KeyboardInterrupt):
        solve(InterruptedView(view_of(noise), 1), 3)
    with pytest.raises(KeyboardInterrupt):
        solve(view_of(random_symmetric(4, SMALL, seed=0)), 2, watch=Interrupting(1))


def test_before_the_first_round_of_a_later_block_the_earlier_ones_are_there(noise):
    fit = solve(InterruptedView(view_of(noise), 2), 20, tol=1e-3)
    assert fit.interrupted
    assert fit.H.shape == (LARGE, BLOCK)
    assert len(fit.stages) == fit.Psi.shape[1] == BLOCK
    assert all(stage.stop_reason == "stationary" for stage in fit.stages)


def test_an_interrupted_fit_can_be_resumed(noise):
    view = view_of(noise)
    fit = solve(InterruptedView(view, 2), 18, tol=1e-4)
    resumed = solve(view, 18, tol=1e-4, resume=fit)
    assert column_errors(resumed.H, solve(view, 18, tol=1e-4).H).max() < 1e-2
    assert np.array_equal(resumed.H[:, :BLOCK], fit.H)


def test_components_at_their_precision_do_not_hold_up_the_others():
    # What rounding leaves of weak components in float32 must not set how exactly the strong one
    # is solved for.
    A = noiseless(LARGE, 20, 1, seed=2).stack.dense + 1e-6 * random_symmetric(20, LARGE, seed=2)
    view = StackView(GraphStack(A.astype(np.float32)), "hollow")
    fit = solve(view, 3, tol=1e-5, hollow=True)
    assert all(stage.converged for stage in fit.stages)
    assert fit.stages[0].stop_reason == "stationary"
    assert fit.stages[0].n_iter < 60


class InterruptedAt:
    """A view that is interrupted in the j-th call of one of its methods."""

    def __init__(self, view, name, at):
        self._view, self._name, self._interrupt = view, name, Interrupting(at)

    def __getattr__(self, name):
        method = getattr(self._view, name)
        if name != self._name:
            return method

        def interrupted(*args, **kwargs):
            self._interrupt()
            return method(*args, **kwargs)

        return interrupted


@pytest.mark.parametrize("at", [2, 3, 8, 12])
@pytest.mark.parametrize(
    ("name", "cache"), [("products", True), ("project", False), ("weighted_multiply", False)]
)
def test_an_interruption_in_any_pass_leaves_the_last_complete_round(noise, name, cache, at):
    fit = solve(InterruptedAt(view_of(noise), name, at), 3, cache=cache)
    assert fit.interrupted
    assert np.allclose(np.linalg.norm(fit.H, axis=0), 1)
    assert np.allclose(fit.Psi, np.einsum("sk,ist,tk->ik", fit.H, noise, fit.H))
    reported = [stage.stationarity for stage in fit.stages]
    assert np.allclose(reported, stationarity(noise, fit.H, np.ones(8)), atol=1e-9)


def test_what_one_graph_alone_has_is_not_overlooked():
    A = 0.1 * random_symmetric(300, LARGE, seed=4)
    h = np.random.default_rng(0).standard_normal(LARGE)
    h /= np.linalg.norm(h)
    A[217] += 40 * np.outer(h, h)
    fit = solve(view_of(A), 1, weights=np.ones(300))
    assert abs(fit.H[:, 0] @ h) > 0.99


# ------------------------------------------------------------------ noise waits


class Widths:
    """A view that notes how many columns each pass multiplies."""

    def __init__(self, view):
        self._view, self.widths = view, []

    def __getattr__(self, name):
        return getattr(self._view, name)

    def products(self, B, consume, out=None):
        self.widths.append(B.shape[1])
        self._view.products(B, consume, out=out)


def test_noise_waits_until_the_components_before_it_are_finished():
    known = noiseless(LARGE, 12, 2, seed=1)
    A = known.stack.dense + 0.01 * random_symmetric(12, LARGE, seed=2)
    few, more = Widths(view_of(A)), Widths(view_of(A))
    two, four = solve(few, 2), solve(more, 4)
    # The first basis, a round of all, and from then on those that are ahead alone.
    assert few.widths[1] == BLOCK
    assert max(few.widths[2:]) <= 2
    # Those that waited go on, the first two stay as they are, and nothing hangs on what is wanted.
    assert more.widths[: len(few.widths)] == few.widths
    assert max(more.widths[len(few.widths) :]) > 2
    assert column_errors(two.H, four.H[:, :2]).max() < 1e-10
    assert all(stage.stop_reason == "stationary" for stage in four.stages)
    assert stationarity(A, four.H, np.ones(12)).max() <= 1e-8
