"""The parts of Algorithm 1, one by one: starts, steps, escapes, stops, and ways up from saddles."""

from types import SimpleNamespace

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers import algorithm1 as solver
from eigengraphs.solvers.algorithm1 import _backtrack, _escape, _gradient, _next_step, algorithm1
from eigengraphs.solvers.components import column_signs, with_signs, with_signs_pair
from eigengraphs.solvers.curvature import ascent_direction
from eigengraphs.solvers.residuals import Residuals
from eigengraphs.solvers.start import leading_eigenvector, random_unit, starts
from eigengraphs.solvers.subspace import subspace

M, N = 5, 12
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.5, 0.7])


def unit(x):
    return x / linalg.norm(x)


def problem(seed=0):
    A = random_symmetric(M, N, seed)
    return A, unit(np.random.default_rng(seed + 100).standard_normal(N))


def forms(A, h):
    return np.einsum("s,ist,t->i", h, A, h)


def gain(A, h):
    return float(WEIGHTS @ forms(A, unit(h)) ** 2)


def residuals_of(A, weights=WEIGHTS):
    nothing = np.zeros((A.shape[1], 0)), np.zeros((len(A), 0))
    return Residuals(StackView(GraphStack(A)), *nothing, weights)


# ------------------------------------------------------------------------------ one iteration


def test_gradient_and_loadings_are_as_the_paper_has_them():
    A, h = problem()
    lam, theta, r, size = _gradient(A @ h, h, WEIGHTS)
    assert np.allclose(lam, forms(A, h))
    assert theta == pytest.approx(WEIGHTS @ lam**2)
    S = np.tensordot(WEIGHTS * lam, A, axes=1)
    assert np.allclose(r, S @ h - theta * h)
    assert size == pytest.approx(linalg.norm(r) / theta)
    assert _gradient(0 * A @ h, h, WEIGHTS)[3] == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_a_step_is_halved_until_the_objective_falls_by_its_share(seed):
    A, h = problem(seed)
    if seed > 2:  # nearer to a maximum
        for _ in range(4):
            h = unit(np.tensordot(WEIGHTS * forms(A, h), A, axes=1) @ h)
    lam, theta, r, _ = _gradient(A @ h, h, WEIGHTS)
    r2, before = r @ r, gain(A, h)
    lengths = set()
    for first in np.geomspace(1e-2, 1e4, 60) / theta:
        step = first
        while gain(A, h + step * r) - before < 4e-4 * step * r2:
            step /= 2
        found = _backtrack(first, r, A @ h @ r, A @ r @ r, lam, theta, WEIGHTS)
        assert found == pytest.approx(step, rel=1e-12)
        lengths.add(round(np.log2(first / found)))
    assert 0 in lengths
    assert len(lengths) > 3


def test_a_step_is_not_halved_for_ever():
    r, nothing = np.ones(3), np.zeros(1)
    found = _backtrack(1.0, r, nothing, nothing, np.ones(1), 1e9, np.ones(1))
    assert 0 < found <= 0.5**20
    nan = np.full(1, np.nan)
    assert _backtrack(1.0, r, nan, nan, np.ones(1), 1.0, np.ones(1)) == 0.5**60


def test_the_next_step_is_barzilai_and_borweins_within_bounds():
    x, g = np.array([2.0, 0.0]), np.array([-1.0, 5.0])
    assert _next_step(x, g, 1.0) == pytest.approx(2.0)  # x . x / |x . g|
    assert _next_step(x, -g, 1.0) == pytest.approx(2.0)
    assert _next_step(x, 0 * g, 4.0) == pytest.approx(0.25)
    assert _next_step(1e-9 * x, g, 4.0) == pytest.approx(1e-2 / 4)
    assert _next_step(x, 1e-9 * g, 4.0) == pytest.approx(1e4 / 4)


@pytest.mark.parametrize("seed", range(4))
def test_an_escape_goes_to_the_best_point_of_the_circle(seed):
    A, h = problem(seed)
    p = np.random.default_rng(seed).standard_normal(N)
    p = unit(p - (p @ h) * h)
    found, Y = _escape(h, A @ h, forms(A, h), p, A @ p, WEIGHTS)
    assert linalg.norm(found) == pytest.approx(1)
    assert np.allclose(Y, A @ found)
    angles = np.deg2rad(np.arange(-90, 91))  # the points are a degree apart
    best = max(gain(A, np.cos(t) * h + np.sin(t) * p) for t in angles)
    assert gain(A, found) == pytest.approx(best, rel=1e-12)


# ------------------------------------------------------------------------------------- starts


def started(kind, A, n_init=1, left=None, weights=WEIGHTS):
    left = float(weights @ (A**2).sum(axis=(1, 2))) if left is None else left
    rng = np.random.default_rng(0)
    return list(starts(kind, residuals_of(A, weights), weights, left, n_init, rng))


def top_of(matrix):
    values, vectors = linalg.eigh(matrix)
    return vectors[:, np.argmax(np.abs(values))]


@pytest.mark.parametrize("n_init", [1, 2, 4])
def test_there_are_as_many_starts_as_wished_and_further_ones_are_random(n_init):
    A, h = problem()
    for kind, name in (("svd", "svd"), ("random", "random"), (7 * h, "given")):
        found = started(kind, A, n_init)
        assert [one for one, _ in found] == [name] + ["random"] * (n_init - 1)
        vectors = np.array([x for _, x in found])
        assert np.allclose(linalg.norm(vectors, axis=1), 1)
        assert np.abs(vectors @ vectors.T - np.eye(n_init)).max() < 0.999
    assert np.allclose(started(7 * h, A)[0][1], h)


@pytest.mark.parametrize("n", [6, N])
def test_the_svd_start_is_the_top_of_the_weighted_mean(n):
    A = random_symmetric(M, n, 3)
    mean = np.tensordot(WEIGHTS, A, axes=1)
    assert abs(started("svd", A)[0][1] @ top_of(mean)) == pytest.approx(1)


def test_the_better_of_mean_and_squares_is_taken_and_the_mean_if_they_are_equal():
    e, weights = np.eye(N), np.ones(M)
    shared, apart = np.outer(e[0], e[0]), np.outer(e[1], e[1])
    alone = np.array([2.0, -1.0, 3.0, -4.0, 0.0])[:, None, None]  # nothing of it is in the mean
    for strength, name, place in ((9.0, "squares", 1), (0.1, "svd", 0)):
        found, h = started("auto", shared + strength * alone * apart, weights=weights)[0]
        assert found == name
        assert abs(h[place]) == pytest.approx(1)
    found, h = started("svd", shared + 9.0 * alone * apart, weights=weights)[0]
    assert found == "svd"
    assert abs(h[0]) == pytest.approx(1)


def test_a_mean_that_is_rounding_is_not_asked():
    B = random_symmetric(1, N, 0)[0]
    for kind in ("svd", "auto"):
        opposite = np.stack([B, -B * (1 - 1e-6)])
        name, h = started(kind, opposite, weights=np.ones(2))[0]
        assert name == "squares"
        assert linalg.norm(h) == pytest.approx(1)
        assert h @ B @ B @ h > 0.5 * linalg.norm(B, 2) ** 2
    # A mean of a thousandth still speaks.
    assert started("svd", np.stack([B, -B * (1 - 1e-2)]), weights=np.ones(2))[0][0] == "svd"


def test_random_directions_are_units_and_hang_on_the_seed():
    one, same = (random_unit(9, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(one, same)
    assert linalg.norm(one) == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 2, 8, 9, 20])
def test_the_leading_eigenvector_is_that_of_the_largest_in_magnitude(n):
    rng = np.random.default_rng(n)
    V = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.append(-3.0, np.linspace(2, 1, n - 1))
    B = (V * values) @ V.T
    operator = LinearOperator((n, n), matvec=lambda v: B @ v, dtype=np.float64)
    value, h = leading_eigenvector(operator, random_unit(n, rng))
    assert value == pytest.approx(-3)
    assert abs(h @ V[:, 0]) == pytest.approx(1)
    nothing = LinearOperator((n, n), matvec=lambda v: 0 * v, dtype=np.float64)
    v0 = random_unit(n, rng)
    value, h = leading_eigenvector(nothing, v0)
    assert value == 0.0
    assert linalg.norm(h) == pytest.approx(1)


# -------------------------------------------------------------------------------------- stops


def solve(A, d=1, **settings):
    defaults = {
        "weights": np.ones(len(A)), "init": "random", "n_init": 1, "tol": 1e-8, "max_iter": 3000,
        "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    return algorithm1(StackView(GraphStack(A)), d, **{**defaults, **settings})


def test_the_best_of_several_searches_is_kept_with_its_name(monkeypatch):
    A = random_symmetric(4, 14, 2)
    vectors = [random_unit(14, np.random.default_rng(seed)) for seed in range(12)]
    gains = [solve(A, init=h[:, None]).stages[0].gain for h in vectors]
    low, high = vectors[int(np.argmin(gains))], vectors[int(np.argmax(gains))]
    assert max(gains) > 1.1 * min(gains)
    for order in ([low, high, low], [high, low], [low, low, high]):
        named = [("high" if h is high else "low", h) for h in order]
        monkeypatch.setattr(solver, "starts", lambda *_, named=named: iter(named))
        stage = solve(A).stages[0]
        assert stage.start == "high"
        assert stage.gain == pytest.approx(max(gains))


def test_a_start_from_which_no_way_is_up_is_left_for_a_random_one():
    B = np.zeros((1, 8, 8))
    B[0, :4, 4:] = np.random.default_rng(0).random((4, 4))
    B[0] += B[0].T
    side = np.append(np.ones(4), np.zeros(4))[:, None]
    fit = solve(B, init=side)
    assert fit.stages[0].start == "random"
    assert fit.stages[0].stop_reason == "stationary"
    assert fit.stages[0].gain == pytest.approx(linalg.norm(B[0], 2) ** 2)


def test_nothing_left_is_exhausted_from_the_component_on_at_which_it_is():
    h = np.ones(6) / np.sqrt(6)
    fit = solve(np.outer(h, h)[None] * 3.0, d=3)
    assert [stage.stop_reason for stage in fit.stages] == ["stationary", "exhausted", "exhausted"]
    assert fit.stages[0].gain == pytest.approx(9)
    assert [stage.gain for stage in fit.stages[1:]] == [0.0, 0.0]
    assert [stage.stationarity for stage in fit.stages[1:]] == [0.0, 0.0]
    assert [stage.n_iter for stage in fit.stages[1:]] == [0, 0]
    assert [stage.start for stage in fit.stages[1:]] == ["none", "none"]
    assert np.allclose(linalg.norm(fit.H, axis=0), 1)
    assert np.array_equal(fit.active, [True, False, False])


def test_beyond_rounding_a_search_ends_after_sixty_iterations_without_progress():
    fit = solve(random_symmetric(4, 10, 0), tol=1e-30)
    stage = fit.stages[0]
    assert stage.stop_reason == "precision"
    assert stage.stationarity < 1e-12
    assert 60 < stage.n_iter < 400


def test_iterations_are_no_more_than_allowed():
    for most in (1, 7):
        stage = solve(random_symmetric(4, 10, 0), max_iter=most).stages[0]
        assert (stage.stop_reason, stage.n_iter) == ("max_iter", most)


def test_products_are_fresh_every_thirty_iterations_and_at_the_end(monkeypatch):
    A = random_symmetric(4, 30, 1)
    passes = []
    for refresh in (30, 10_000):
        monkeypatch.setattr(solver, "_REFRESH", refresh)
        fit = solve(A, tol=1e-30, max_iter=100)
        assert fit.stages[0].n_iter == 100
        passes.append(fit.n_passes)
    assert passes[0] - passes[1] == 3  # after 30, 60 and 90
    # Norms, the first product, one an iteration, the fresh one at the end, and the forms.
    assert passes[1] == 1 + 1 + 100 + 1 + 1


def test_a_saddle_is_left_five_times_at_most(monkeypatch):
    asked = []

    def always(residuals, h, Y, lam, theta, weights, rng):
        asked.append(h)
        p = rng.standard_normal(len(h))
        return unit(p - (p @ h) * h)

    monkeypatch.setattr(solver, "ascent_direction", always)
    h = np.ones((6, 1)) / np.sqrt(6)
    fit = solve(3.0 * (h @ h.T)[None], init=h, tol=1e-6)
    assert len(asked) == 5
    assert fit.stages[0].stop_reason == "stationary"
    assert fit.stages[0].n_iter >= 5


# ------------------------------------------------------------------------------ ways from saddles


@pytest.mark.parametrize(("n", "n_products"), [(1, 0), (2, 1), (4, 3), (11, 10), (30, 10)])
def test_the_way_up_takes_ten_passes_or_as_many_as_there_are_directions(n, n_products):
    B = random_symmetric(3, n, 0)
    values, vectors = linalg.eigh(B[0])
    h, calls = vectors[:, np.argsort(-np.abs(values))[n // 2]], []
    A = B[:1]

    def multiply(q):
        calls.append(q)
        return A @ q

    lam = forms(A, h)
    ascent_direction(
        SimpleNamespace(multiply=multiply), h, A @ h, lam, float(lam @ lam), np.ones(1),
        np.random.default_rng(0),
    )  # fmt: skip
    assert len(calls) == n_products
    Q = np.array(calls).reshape(n_products, n)
    assert np.allclose(Q @ Q.T, np.eye(n_products), atol=1e-12)
    assert np.abs(Q @ h).max(initial=0) < 1e-12


@pytest.mark.parametrize(("excess", "leads_up"), [(1e-6, False), (1e-4, True)])
def test_what_hardly_bends_up_is_a_maximum(excess, leads_up):
    A = np.diag([1.0, 1.0 + excess, 0.2])[None]
    h = np.eye(3)[0]
    way = ascent_direction(
        SimpleNamespace(multiply=lambda q: A @ q), h, A @ h, np.ones(1), 1.0, np.ones(1),
        np.random.default_rng(0),
    )  # fmt: skip
    assert (way is not None) == leads_up


# -------------------------------------------------------------------------------------- signs


def test_the_first_of_the_largest_entries_is_positive():
    X = np.array([[1.0, -1.0, 0.5, -2.0], [-1.0 - 1e-7, 0.3, -0.9, 1.0], [0.2, 1.0, 0.1, -2.0]])
    assert np.array_equal(column_signs(X), [1.0, -1.0, -1.0, -1.0])
    assert np.array_equal(with_signs(X), X * [1.0, -1.0, -1.0, -1.0])
    H, G = with_signs_pair(X, 2 * X)
    assert np.array_equal(G, 2 * H)
    assert np.array_equal(column_signs(np.array([[1.0], [-1.0 - 1e-5]])), [-1.0])


# ------------------------------------------------------------------------------ given components


@pytest.mark.parametrize("n", [N, 105])
def test_given_components_of_any_length_are_the_same_start(n):
    A = random_symmetric(3, n, 1)
    given = np.random.default_rng(0).standard_normal((n, 2))
    common = {
        "weights": np.ones(3), "n_init": 1, "tol": 1e-3, "max_iter": 50, "cache": True,
        "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    one, other = (
        subspace(StackView(GraphStack(A)), 2, init=init, **common)
        for init in (given, given * [4.0, 0.5])
    )
    assert np.array_equal(one.H, other.H)
