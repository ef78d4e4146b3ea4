"""The greedy problem in a basis, for every geometry, metric and rule, against dense matrices."""

from dataclasses import replace

import numpy as np
import pytest
from solvers.solving import FREE, RULES, Written, drawn, metric_of, units
from written_out import slope

from eigengraphs.solvers.ascent import Climb
from eigengraphs.solvers.core import (
    Ascent,
    CoreProblem,
    Rows,
    Search,
    rows_of,
    solve_core,
)
from eigengraphs.solvers.geometry import geometry_of, unit_points
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import PenalizedLoadings, SparseLoadings

M, N = 9, 6
WEIGHTS = np.linspace(0.5, 2, M)
COSTS = np.linspace(0, 0.5, M)

every_geometry = pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "pair"])
every_metric = pytest.mark.parametrize("hollow", [False, True], ids=["all", "off"])
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


def whole(directed, n=N):
    """Return the geometry of all vertices, and the bases."""
    return geometry_of((n,) * (1 + directed)), (np.eye(n),) * (1 + directed)


def ascent_of(A, weights, rule, costs=None, *, hollow=False, directed=False, options=DEFAULTS):
    geometry, bases = whole(directed)
    metric = metric_of(hollow).in_basis(geometry, bases)
    R, none = geometry.pack(A), np.zeros((0, geometry.n_entries))
    problem = CoreProblem(
        geometry, metric, rule, Rows(R, np.zeros((len(R), 0)), weights), np.zeros((0, 0)), none,
        0.0, 0.0, 0.0, options,
    )  # fmt: skip
    return Ascent(problem, R, np.zeros((len(R), 0)), none, weights, costs, none)


def points(directed, b, seed=0):
    geometry, _ = whole(directed)
    X = np.random.default_rng(seed).standard_normal((b, geometry.size))
    return unit_points(X, geometry.widths)


def at_a_vertex(directed):
    """Return a point at which the diagonal is most of a component."""
    h = units(np.append(3.0, np.linspace(-0.5, 1, N - 1)))
    return np.concatenate([h] * (1 + directed))


# ---------------------------------------------------------------- one component


@every_geometry
@every_metric
@every_rule
@pytest.mark.parametrize("costs", [None, COSTS], ids=["free of cost", "costs"])
def test_values_and_gradients_are_those_of_the_written_out_function(directed, hollow, rule, costs):
    A = drawn(M, N, 0, directed=directed, hollow=hollow)
    ascent = ascent_of(A, WEIGHTS, rule, costs, hollow=hollow, directed=directed)
    f = Written(A, WEIGHTS, rule, costs, 1 + directed, hollow)
    X = np.vstack([points(directed, 3), at_a_vertex(directed)])
    assert np.allclose(ascent.decreases(X), [f(x) for x in X], rtol=1e-12)
    for x in X:
        state = ascent.state(x)
        assert state.f == pytest.approx(f(x), rel=1e-12)
        assert state.theta == pytest.approx(f.theta(x), rel=1e-12)
        assert np.allclose(state.r, slope(f, x) / (2 * f.c), atol=1e-7 * (1 + f(x)))
        if state.theta > 0:
            assert state.size == pytest.approx(np.linalg.norm(state.r) / state.theta)


@every_geometry
@every_metric
@every_rule
def test_at_a_maximum_newton_converges_quadratically(directed, hollow, rule):
    A = drawn(M, N, 1, directed=directed, hollow=hollow)
    settings = {"hollow": hollow, "directed": directed}
    ascent = ascent_of(A, WEIGHTS, rule, **settings)
    top = ascent.maximize(points(directed, 1)[0], 1e-12).x
    beside = 1e-3 * np.random.default_rng(0).standard_normal(len(top))
    geometry, _ = whole(directed)
    start = unit_points((top + beside)[None], geometry.widths)[0]
    # Three steps square 1e-3 three times: with a wrong Hessian they would not. Where the norm
    # begins to bend, the Hessian changes within 5e-3, so that one step more is taken.
    few = replace(DEFAULTS, newton=3 + hollow)
    there = ascent_of(A, WEIGHTS, rule, options=few, **settings).maximize(start, 1e-13).x
    near = ascent.state(there)
    assert near.size < 1e-10
    assert near.f == pytest.approx(ascent.state(top).f, rel=1e-12)


@every_geometry
def test_eager_steps_find_a_way_up_where_no_graph_takes_part(directed):
    A = np.zeros((M, N, N))
    A[:, 0, 1] = A[:, 1, 0] = 3.0
    rule = PenalizedLoadings(2.0)
    ascent = ascent_of(A, WEIGHTS, rule, directed=directed)
    start = units(np.array([0.3, 0.3, 1, 1, 1, 1.0]))
    start = np.concatenate([start] * (1 + directed))[None]
    assert ascent.decreases(start)[0] == 0
    assert np.array_equal(ascent.climb(start, 4)[0], start)
    assert ascent.climb(start, 4, Climb.EAGER)[1][0] > 0
    x = ascent.maximize(start[0], 1e-9).x  # nothing moves
    state = ascent.state(x)
    assert np.array_equal(x, start[0])
    assert (state.f, state.size) == (0.0, 0.0)


@every_geometry
@every_metric
def test_a_saddle_point_is_left_for_a_maximum(directed, hollow):
    H = np.kron(np.eye(2), np.ones((3, 1))) / np.sqrt(3)  # two cliques, one of them stronger
    A = np.einsum("sk,k,tk->st", H, [3.0, 1.0], H)[None]
    A = A * (1 - np.eye(N)) if hollow else A
    ascent = ascent_of(A, np.ones(1), FREE, hollow=hollow, directed=directed)
    lesser, greater = (np.concatenate([h] * (1 + directed)) for h in (H[:, 1], H[:, 0]))
    rough = ascent.maximize(lesser, 0.02).x
    assert np.allclose(rough, lesser)  # as good as was asked for
    x = ascent.maximize(lesser, 1e-9).x
    assert ascent.state(x).f == pytest.approx(ascent.decreases(greater[None])[0])
    assert np.allclose(np.abs(x), np.abs(greater), atol=1e-6)


def test_a_maximum_where_the_norm_begins_to_bend_is_reached():
    A = drawn(M, N, 9, directed=False, hollow=True)
    problem = problem_of(A, np.ones(M), FREE, hollow=True)
    fit = solve_core(problem, 3, wide_search(), np.full(3, 1e-9))
    assert (fit.stationarity < 1e-6).all()


# ---------------------------------------------------------------- all components


def problem_of(A, weights, rule, *, hollow=False, directed=False):
    """Return the problem on all vertices."""
    geometry, bases = whole(directed, A.shape[1])
    packed, none = geometry.pack(A), np.zeros((0, geometry.n_entries))
    rows = rows_of(packed, np.zeros((len(A), 0)), weights, linear=rule.linear)
    total = float(weights @ (A**2).sum(axis=(1, 2)))
    return CoreProblem(
        geometry, metric_of(hollow).in_basis(geometry, bases), rule, rows, np.zeros((0, 0)), none,
        total, 1e-20 * total, 1e-12 * total,
    )  # fmt: skip


def wide_search():
    random = np.array([points(False, 6, seed=k) for k in range(3)])
    return Search(np.zeros((0, N)), in_order=False, by_mean=True, random=random)


@pytest.mark.parametrize("seed", range(4))
@every_rule
def test_of_two_vertices_no_direction_is_better(seed, rule):
    A = drawn(M, 2, seed, directed=False)
    f = Written(A, WEIGHTS, rule, None, 1, False)
    search = Search(np.zeros((0, 2)), in_order=False, by_mean=True)
    fit = solve_core(problem_of(A, WEIGHTS, rule), 1, search, np.full(1, 1e-9))
    best = max(f(np.array([np.cos(a), np.sin(a)])) for a in np.linspace(0, np.pi, 721))
    assert fit.gains[0] >= best
    assert fit.gains[0] == pytest.approx(f(fit.X[0]), rel=1e-9)


def test_graphs_with_all_their_nonzeros_give_one_up_for_a_better_one():
    # Each graph is a multiple of its own component: with one nonzero, later ones are still found.
    H = np.linalg.qr(np.random.default_rng(0).standard_normal((N, 3)))[0]
    A = np.einsum("sk,ik,tk->ist", H, np.kron(np.diag([3.0, 2.0, 1.0]), np.ones((3, 1))), H)
    A += 0.01 * drawn(M, N, 1, directed=False)
    problem = problem_of(A, np.ones(M), SparseLoadings(1))
    fit = solve_core(problem, 3, wide_search(), np.full(3, 1e-9))
    assert (fit.gains > 0).all()
    assert np.allclose(np.abs((fit.X * H.T).sum(axis=1)), 1, atol=1e-3)
    Lam = SparseLoadings(1).solve(fit.Gamma, fit.Psi)
    assert np.array_equal(Lam.argmax(axis=1), np.repeat([0, 1, 2], 3))
