"""How long the steps of Algorithm 1 are at first, after an escape, and from then on."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers import algorithm1 as solver
from eigengraphs.solvers.algorithm1 import algorithm1


@pytest.fixture
def steps(monkeypatch):
    """Each step that is tried, with theta and whether it is the first after an escape."""
    seen, escaped = [], [False]
    backtrack, escape = solver._backtrack, solver._escape

    def seen_backtrack(step, r, hRr, rRr, lam, theta, weights):
        seen.append((step * theta, escaped[0]))
        escaped[0] = False
        return backtrack(step, r, hRr, rRr, lam, theta, weights)

    def seen_escape(*args):
        escaped[0] = True
        return escape(*args)

    monkeypatch.setattr(solver, "_backtrack", seen_backtrack)
    monkeypatch.setattr(solver, "_escape", seen_escape)
    return seen


def solve(A, init, tol=1e-9):
    return algorithm1(
        StackView(GraphStack(A)), 1, weights=np.ones(len(A)), init=init, n_init=1, tol=tol,
        max_iter=500, seed=np.random.SeedSequence(0),
    )  # fmt: skip


def test_the_first_step_is_a_power_iteration_and_later_ones_adapt(steps):
    solve(random_symmetric(3, 12, 0), "random")
    assert steps[0] == (pytest.approx(1.0), False)
    later = [length for length, _ in steps[1:]]
    assert not np.allclose(later, 1.0)
    assert min(later) >= 1e-2 * (1 - 1e-12)
    assert max(later) <= 1e4 * (1 + 1e-12)


def test_so_is_the_first_after_an_escape(steps):
    # The first vertex stands alone in every graph: it is stationary, and the others gain more.
    A = np.zeros((3, 9, 9))
    A[:, 1:, 1:] = random_symmetric(3, 8, 0)
    A[:, 0, 0] = [0.2, 0.3, -0.1]
    fit = solve(A, np.eye(9)[:, [0]])
    stage = fit.stages[0]
    assert stage.stop_reason == "stationary"
    assert stage.gain > 10 * (A[:, 0, 0] ** 2).sum()
    after = [length for length, escaped in steps if escaped]
    assert after == [pytest.approx(1.0)]
    assert stage.n_iter == len(steps) + 1


def test_a_gradient_of_just_the_tolerance_is_enough(steps):
    fit = solve(np.diag([2.0, 1.0, 0.5])[None], np.eye(3)[:, [0]], tol=0.0)
    assert fit.stages[0].stop_reason == "stationary"
    assert fit.stages[0].stationarity == 0.0
    assert steps == []


def test_where_there_is_no_way_the_step_is_left_as_it_is():
    nothing = np.zeros(2)
    step = solver._backtrack(0.7, np.zeros(4), nothing, nothing, np.ones(2), 2.0, np.ones(2))
    assert step == 0.7
