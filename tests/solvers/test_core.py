"""The greedy problem in a basis, for every geometry, metric and rule, against dense matrices."""

from dataclasses import replace

import numpy as np
import pytest
from solvers.solving import FREE, RULES, Written, drawn, is_maximum, metric_of, units, written_out
from written_out import slope

from eigengraphs.operators.degrees import Members
from eigengraphs.solvers.ascent import Climb, Entries
from eigengraphs.solvers.core import (
    Ascent,
    CoreProblem,
    InBasis,
    Rows,
    Search,
    rows_of,
    solve_core,
)
from eigengraphs.solvers.geometry import geometry_of, unit_points
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.rules import NonnegativeLoadings, PenalizedLoadings, SparseLoadings

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
@pytest.mark.parametrize("costs", [None, COSTS], ids=["free of cost", "costs"])
def test_maximize_ends_at_a_maximum_above_its_start(directed, hollow, rule, costs):
    A = drawn(M, N, 1, directed=directed, hollow=hollow)
    ascent = ascent_of(A, WEIGHTS, rule, costs, hollow=hollow, directed=directed)
    f = Written(A, WEIGHTS, rule, costs, 1 + directed, hollow)
    for start in points(directed, 5, seed=2):
        x = ascent.maximize(start, 1e-9).x
        state = ascent.state(x)
        assert state.f >= f(start)
        assert state.f == pytest.approx(f(x), rel=1e-12)
        assert state.size <= 1e-9
        if state.f > 0:  # else all graphs are below their costs, and no way is up
            assert f.stationarity(x) < 1e-6
            assert is_maximum(f, x, step=1e-4)  # a little farther another graph may take part


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
@every_rule
def test_a_climb_never_lowers_f(directed, rule):
    A = drawn(M, N, 3, directed=directed)
    ascent = ascent_of(A, WEIGHTS, rule, COSTS, directed=directed)
    X = points(directed, 20, seed=3)
    f = ascent.decreases(X)
    for _ in range(6):
        climbed, higher = ascent.climb(X, 1)
        assert np.array_equal(higher, ascent.decreases(climbed))
        assert (higher >= f * (1 - 1e-12)).all()
        X, f = climbed, higher


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


@every_geometry
@pytest.mark.parametrize(("excess", "leads_up"), [(1e-7, False), (1e-3, True)])
def test_what_hardly_bends_upwards_is_a_maximum(directed, excess, leads_up):
    A = np.diag([1.0, 1.0 + excess, 0, 0, 0, 0])[None]
    ascent = ascent_of(A, np.ones(1), FREE, directed=directed)
    start = np.concatenate([np.eye(N)[0]] * (2 if directed else 1))
    x = ascent.maximize(start, 1e-9).x
    assert (abs(x[1]) > 0.99) == leads_up


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


def as_sides(X):
    return tuple(side.T for side in X.reshape(len(X), -1, N).transpose(1, 0, 2))


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


@every_geometry
@every_rule
def test_fixed_components_are_measured_and_not_moved(directed, rule):
    A = drawn(M, N, 7, directed=directed)
    warm = points(directed, 3, seed=4)
    problem = problem_of(A, WEIGHTS, rule, directed=directed)
    search = Search(warm, in_order=True, n_fixed=2)
    fit = solve_core(problem, 3, search, np.full(3, 1e-9))
    assert np.array_equal(fit.X[:2], warm[:2])
    assert not np.allclose(fit.X[2], warm[2])
    stages = list(written_out(A, as_sides(fit.X), WEIGHTS, rule))
    assert np.allclose(fit.gains, [f(x) for f, x in stages])
    assert fit.stationarity[0] == pytest.approx(stages[0][0].stationarity(warm[0]), rel=1e-5)
    assert fit.stationarity[2] <= 1e-9


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


# ---------------------------------------------------------------- every graph its own metric


def by_degrees(directed, seed, rule=FREE):
    """Return a problem with q_i = (y^T W_i y)(z^T E_i z), its matrices, W_i and E_i."""
    rng = np.random.default_rng(seed)
    geometry, _ = whole(directed)
    W = [np.eye(N) + 0.05 * (F @ F.transpose(0, 2, 1)) for F in rng.standard_normal((2, M, N, N))]
    W = W if directed else [W[0], W[0]]
    A = drawn(M, N, seed, directed=directed)
    packed = [geometry_of((N,)).pack(part) for part in W]
    metric = InBasis(geometry, Entries.BY_DEGREES, *packed, Members.alone(M))
    rows = Rows(geometry.pack(A), np.zeros((M, 0)), WEIGHTS)
    problem = CoreProblem(
        geometry, metric, rule, rows, np.zeros((M, 0, 0)), np.zeros((0, M, geometry.size)),
        float(WEIGHTS @ (A**2).sum(axis=(1, 2))), 0.0, 0.0,
    )  # fmt: skip
    return problem, A, W


def decrease_by_degrees(A, W, X):
    """Return by how much components X (k, size) lower each graph's part of the objective, (m,)."""
    H, G = X[:, :N], X[:, -N:]
    Gamma = np.einsum("js,ist,kt->ijk", H, W[0], H) * np.einsum("js,ist,kt->ijk", G, W[1], G)
    Psi = np.einsum("ks,ist,kt->ik", H, A, G)
    return np.einsum("ik,ik->i", np.linalg.solve(Gamma, Psi[:, :, None])[:, :, 0], Psi)


@every_geometry
def test_a_metric_may_differ_by_graph(directed):
    problem, A, W = by_degrees(directed, 5)
    none = np.zeros((0, problem.geometry.n_entries))
    ascent = Ascent(problem, problem.rows.R, np.zeros((M, 0)), none, WEIGHTS, None, none)

    def f(x):
        return WEIGHTS @ decrease_by_degrees(A, W, x[None])

    c = problem.geometry.c
    for x in points(directed, 3):
        state = ascent.state(x)
        assert state.f == pytest.approx(f(x), rel=1e-12)
        assert np.allclose(state.r, slope(f, x) / (2 * c), atol=1e-6 * state.f)
        top = ascent.maximize(x, 1e-11).x
        assert ascent.state(top).size <= 1e-11
        near = unit_points(top + 1e-3 * points(directed, 6, 1), problem.geometry.widths)
        assert max(map(f, near)) <= f(top)
        few = Ascent(replace(problem, options=replace(DEFAULTS, newton=3)), problem.rows.R,
                     np.zeros((M, 0)), none, WEIGHTS, None, none)  # fmt: skip
        assert few.maximize(near[0], 1e-13).size < 1e-9  # by a Hessian that is right


@every_geometry
@pytest.mark.parametrize("rule", [FREE, NonnegativeLoadings()], ids=["free", "nonnegative"])
def test_components_under_a_metric_that_differs_by_graph(directed, rule):
    problem, A, W = by_degrees(directed, 6, rule)
    starts = unit_points(
        np.random.default_rng(0).standard_normal((3, 30, problem.geometry.size)),
        problem.geometry.widths,
    )
    search = Search(starts[0][:0], in_order=False, by_mean=True, random=starts)
    fit = solve_core(problem, 3, search, np.full(3, 1e-9))
    Lam = rule.solve(fit.Gamma, fit.Psi)
    H, G = fit.X[:, :N], fit.X[:, -N:]
    assert np.allclose(fit.Psi, np.einsum("ks,ist,kt->ik", H, A, G))
    left = -WEIGHTS @ rule.changes(fit.Gamma, fit.Psi, Lam)
    if rule is FREE:
        assert left == pytest.approx(WEIGHTS @ decrease_by_degrees(A, W, fit.X), rel=1e-9)
    assert left >= fit.gains.sum() * (1 - 1e-12)  # all loadings are solved again
    assert (fit.stationarity <= 1e-9).all()
    best = max(WEIGHTS @ rule.alone(tau_by_degrees(A, W, x))[1] for x in starts[0])
    assert fit.gains[0] >= best


def tau_by_degrees(A, W, x):
    """Return tau_i of one point, (m,)."""
    h, g = x[:N], x[-N:]
    q = np.einsum("s,ist,t->i", h, W[0], h) * np.einsum("s,ist,t->i", g, W[1], g)
    return np.einsum("s,ist,t->i", h, A, g) / np.sqrt(q)
