"""The shortcut on few vertices: what it asks of the core, what it reports, and what it reads."""

from types import SimpleNamespace

import numpy as np
import pytest
from known_graphs import random_symmetric
from written_out import Counted

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers import whole
from eigengraphs.solvers.block import Job
from eigengraphs.solvers.directions import random_starts
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.whole import _packed_graphs, find_whole, search_whole

N = 4
P = N * (N + 1) // 2
SEED = np.random.SeedSequence(5)


def job(**settings):
    defaults = {
        "weights": np.array([1.0, 2.0]), "sizes": np.ones(2), "hollow": False, "by_mean": True,
        "n_squares": 3, "n_random": 5, "n_beside_given": 2, "tol": 1e-3, "max_iter": 9,
        "floor": 1e-9, "nothing": 1e-7, "noise": 0.0, "keep": "products", "wide": True,
        "watch": None,
    }  # fmt: skip
    return Job(**{**defaults, **settings})


@pytest.fixture
def core(monkeypatch):
    """What the core is asked, and what it is told to find."""
    seen = SimpleNamespace(gains=np.ones(3), stationarity=np.zeros(3))

    def solve_core(problem, d, search, tol):
        seen.problem, seen.d, seen.search, seen.tol = problem, d, search, tol
        return SimpleNamespace(
            Y=np.eye(N)[:, :d], gains=seen.gains, stationarity=seen.stationarity,
            agreement=np.full(d, 0.5),
        )  # fmt: skip

    monkeypatch.setattr(whole, "solve_core", solve_core)
    return seen


def searched(n_given=0, n_before=2, rounding=0.0, **settings):
    return search_whole(
        np.ones((2, P)), np.zeros(P), rounding, 3, job(**settings), np.zeros((N, 1)), 7.0,
        np.eye(N)[:, :n_given], SEED, n_before, 10,
    )  # fmt: skip


def test_all_starts_are_tried_and_every_component_has_its_own(core):
    block = searched()
    assert (core.search.by_mean, core.search.n_squares) == (True, 3)
    assert core.search.in_order
    assert core.search.to_the_top
    assert core.search.warm.shape == (N, 0)
    # Whether components come at once or after others, their draws are the same.
    drawn = random_starts(np.random.default_rng(SEED), 5, 5, N)
    assert np.array_equal(core.search.random, drawn[2:])
    assert core.tol == 0.1 * 1e-3
    assert core.d == 3
    assert np.array_equal(core.problem.V, np.eye(N))
    assert (core.problem.floor, core.problem.left, core.problem.nothing) == (1e-9, 7.0, 1e-7)
    assert (block.size, block.n_iter, block.n_passes, block.interrupted) == (3, 1, 1, False)
    assert block.Psi is None
    assert np.array_equal(block.agreement, np.full(3, 0.5))


def test_beside_given_components_only_random_starts_are_tried(core):
    searched(n_given=4)
    assert (core.search.by_mean, core.search.n_squares) == (False, 0)
    assert np.array_equal(core.search.warm, np.eye(N)[:, :3])
    assert core.search.random.shape == (3, 2, N)


def test_the_floor_is_what_rounding_makes_it(core):
    searched(rounding=1e-3)
    assert core.problem.floor == 1e-3
    searched(rounding=1e-12)
    assert core.problem.floor == 1e-9


def test_reasons_tell_what_was_reached(core):
    core.gains = np.array([4.0, 4.0, 0.0])
    core.stationarity = np.array([1e-3, 1.1e-3, 0.0])
    assert searched().reasons == ("stationary", "stalled", "exhausted")
    # 10 sqrt(noise / gain) is 1.2e-3.
    noise = 4 * 1.2e-4**2
    assert searched(noise=noise).reasons == ("stationary", "precision", "exhausted")
    assert searched(rounding=noise).reasons == ("stationary", "precision", "exhausted")
    assert searched(noise=0.8 * noise).reasons == ("stationary", "stalled", "exhausted")
    core.stationarity = np.array([0.9e-6, 1.1e-6, 0.0])
    flat = searched(tol=1e-9, hollow=True)
    assert flat.reasons == ("precision", "stalled", "exhausted")
    assert searched(tol=1e-9).reasons == ("stalled", "stalled", "exhausted")


def test_the_watcher_is_told_once(core):
    seen = []
    core.stationarity = np.array([1e-3, 1.1e-3, 0.0])
    searched(watch=seen.append)
    (event,) = seen
    assert (event.n_iter, event.component, event.stationarity) == (1, None, 1.1e-3)
    assert (event.n_converged, event.n_passes) == (4, 11)


@pytest.mark.parametrize("m", [4 * P, 4 * P + 1])
def test_many_graphs_are_summed_up_and_few_are_kept(m):
    A, weights = random_symmetric(m, N, 0), np.linspace(0.5, 2, m)
    view = Counted(StackView(GraphStack(A)))
    packed, R, mean, rounding, squares = _packed_graphs(view, weights)
    C = Packing(N).pack(A)
    assert np.allclose(R.T @ R, C.T @ (weights[:, None] * C))
    assert np.allclose(mean * np.sqrt(weights.sum()), weights @ C)
    assert view.total == 1
    if m == 4 * P:
        assert np.allclose(packed, C)
        assert rounding == 0.0
    else:
        assert packed is None
        assert 0 < rounding < 1e-8 * (C**2).sum()
        squares = _packed_graphs(StackView(GraphStack(A)), weights).squares
    assert squares is None or np.allclose(squares, np.einsum("i,ist,itu->su", weights, A, A))
    assert (squares is None) == (m == 4 * P)


@pytest.mark.parametrize("m", [2, 4 * P + 1])
def test_forms_are_known_of_few_graphs(m):
    A = random_symmetric(m, N, 0)
    settings = {"weights": np.ones(m), "sizes": (A**2).sum(axis=(1, 2)), "nothing": 0.0}
    block = find_whole(
        StackView(GraphStack(A)), 2, job(**settings), np.zeros((N, 0)), np.inf,
        np.zeros((N, 0)), SEED, 0, 1,
    )  # fmt: skip
    if m > 2:
        assert block.Psi is None
    else:
        assert np.allclose(block.Psi, np.einsum("sk,ist,tk->ik", block.H, A, block.H))
    assert (block.stationarity <= 1e-4).all()
