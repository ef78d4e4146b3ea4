"""The core problem, part by part: who goes on, what a component takes off, where searches start."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg
from written_out import outer_products, residuals

from eigengraphs.solvers import core
from eigengraphs.solvers.core import (
    CoreProblem,
    Search,
    _best_start,
    _deflated_squares,
    _elsewhere,
    _explore,
    _falls,
    _spectral,
    _sum_of_squares,
    compress,
    solve_core,
)
from eigengraphs.solvers.deflation import Deflation
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.quotient import Quotient

S = 5


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def rows(b=6, s=S, seed=0):
    return unit(np.random.default_rng(seed).standard_normal((b, s)))


def problem_of(C, **settings):
    s = C.shape[1]
    R, mean, _ = compress(Packing(s).pack(C), np.ones(len(C)))
    defaults = {"frozen": np.zeros((s, 0)), "hollow": False, "floor": 0.0}
    return CoreProblem(R, mean, np.eye(s), **{**defaults, **settings})


def from_pool(warm, s=S, **settings):
    return Search(warm, False, False, 0, np.zeros((0, 0, s)), **settings)


# -------------------------------------------------------------------------------- who goes on


class Told:
    """A quotient whose starts climb to themselves, with told falls."""

    def __init__(self, starts, falls):
        self.starts, self.told = starts, np.asarray(falls, dtype=float)

    def explore(self, Y, n_steps, by_falls):
        self.n_steps, self.by_falls = n_steps, by_falls
        return Y.copy(), self.told[np.argmax(np.abs(Y @ self.starts.T), axis=1)]

    def cosines(self, Y, y):
        return np.abs(Y @ y)


@pytest.mark.parametrize(
    ("falls", "finalists"),
    [
        ([4.6, 5.0, 4.4, 2.0, 1.0], [1, 0]),  # nine tenths of the best go on
        ([4.9, 5.0, 4.8, 4.7, 4.6], [1, 0, 2]),  # three at most
        ([1.0, 5.0, 4.6, 4.5, 1.0], [1, 2, 3, 0]),  # and the first start always
        ([5.0, 1.0, 1.0, 1.0, 1.0], [0]),
    ],
)
def test_the_best_few_that_differ_go_on_and_the_first(falls, finalists):
    starts = np.eye(S)
    quotient = Told(starts, falls)
    found, agreement = _explore(quotient, starts, S)
    assert np.array_equal(found, starts[finalists])
    assert agreement == 0.2
    assert quotient.n_steps == 4
    assert not quotient.by_falls.any()


def test_those_that_were_no_components_before_climb_by_falls_too():
    starts = np.eye(S)
    quotient = Told(starts, [1.0, 2.0, 3.0, 4.0, 5.0])
    found, agreement = _explore(quotient, starts, 3)
    assert quotient.by_falls.tolist() == [False] * 5 + [True] * 2
    assert np.array_equal(found, starts[[4, 0]])
    assert agreement == 0.2  # of the starts, by where they climb to by f


def test_starts_at_one_maximum_are_one_and_agree():
    near, far = (unit(np.array([1.0, x, 0, 0, 0])) for x in (0.1, 0.2))
    starts = np.array([near, [1.0, 0, 0, 0, 0], -near, far, [0, 0, 1.0, 0, 0]])
    found, agreement = _explore(Told(starts, [4.8, 5.0, 4.9, 4.7, 4.6]), starts, 5)
    assert np.array_equal(found, starts[[1, 3, 4]])
    assert agreement == pytest.approx(0.6)


class Approached(Told):
    """A quotient whose starts look otherwise at their maxima, which are the reversed starts."""

    has_two_ways = True

    def approach(self, Y):
        return Y[:, ::-1].copy(), np.arange(len(Y)) == 0

    def maximise(self, y, tol):
        return y[::-1].copy(), 1.0, tol

    def norms(self, Y):
        return np.ones(len(Y))

    def numerators(self, Y):
        return self.told[np.argmax(np.abs(Y @ self.starts.T), axis=1)]


def known(n):
    deflation = Deflation(Packing(S), np.eye(S), np.zeros((S, 0)), False)
    for k in range(n):
        deflation.add(np.eye(S)[k])
    return deflation


@pytest.mark.parametrize("to_the_top", [False, True])
def test_finalists_are_compared_at_their_maxima(to_the_top):
    # On their way the second leads, at their maxima (the last becomes the first) the first does.
    starts = np.eye(S)
    quotient = Approached(starts, [4.6, 5.0, 1.0, 1.0, 4.9])
    start, is_maximum, agreed = _best_start(quotient, known(0), starts[:2], 0, 1e-3, to_the_top)
    assert np.array_equal(start, starts[4])
    assert agreed == 0.5
    assert not is_maximum  # the first of the finalists is, which was the second start
    assert not quotient.by_falls.any()  # there is nothing to overlap with


@pytest.mark.parametrize(
    ("n_known", "two_ways", "n_left", "n_by_falls"),
    [(0, True, 1, 0), (1, True, 1, 3), (1, True, 4, 0), (1, False, 1, 0)],
)
def test_new_starts_climb_both_ways_where_there_are_two(n_known, two_ways, n_left, n_by_falls):
    starts = np.eye(S)
    quotient = Approached(starts, [5.0, 4.0, 3.0, 2.0, 1.0])
    quotient.has_two_ways = two_ways
    _best_start(quotient, known(n_known), starts[:4], n_left, 1e-3, False)
    assert quotient.by_falls.sum() == n_by_falls


def test_one_start_is_the_best():
    start, is_maximum, agreed = _best_start(None, None, np.eye(S)[2:3], 0, 1e-3, False)
    assert np.array_equal(start, np.eye(S)[2])
    assert not is_maximum
    assert np.isnan(agreed)


# ---------------------------------------------------------------------- what is taken off


@pytest.mark.parametrize("hollow", [False, True])
def test_the_objective_falls_by_more_where_components_overlap_but_not_without_bound(hollow):
    A = random_symmetric(4, S, 0, hollow=hollow)
    frozen = rows(2, seed=3).T
    packing, V = Packing(S), np.eye(S)
    R = residuals(A, frozen, hollow=hollow)
    quotient = Quotient(packing.pack(R), packing, V if hollow else None)
    deflation = Deflation(packing, V, frozen, hollow)
    Y = np.vstack([rows(8, seed=4), unit(frozen[:, 0] + 0.1 * rows(1, seed=5)[0])])
    found = _falls(quotient, deflation, Y)
    few = 0
    for y, fall in zip(Y, found, strict=True):
        e = outer_products(y[:, None], hollow=hollow)
        whole = float((e**2).sum()) if not hollow else float(quotient.norms(y[None])[0])
        e2 = float((residuals(e, frozen, hollow=hollow) ** 2).sum())
        e2 += whole - float((e**2).sum())  # what the bend adds
        few += e2 < 0.3 * whole
        expected = (np.einsum("s,ist,t->i", y, R, y) ** 2).sum() / max(e2, 0.3 * whole)
        assert fall == pytest.approx(expected, rel=1e-4)  # rough cores are float32
    assert few > 0
    T = (packing.outer(Y) @ packing.pack(R).T).astype(np.float32)
    assert np.allclose(_falls(quotient, deflation, Y, T=T), found, rtol=1e-4)


def test_sums_of_squares_follow_the_cores():
    C, Q, t = random_symmetric(6, S, 0), random_symmetric(1, S, 1)[0], np.linspace(-1, 1, 6)
    packing = Packing(S)
    squares = _sum_of_squares(packing.pack(C), packing)
    assert np.allclose(squares, (C @ C).sum(axis=0))
    after = C - t[:, None, None] * Q
    found = _deflated_squares(squares, np.tensordot(t, C, axes=1), Q, t @ t)
    assert np.allclose(found, (after @ after).sum(axis=0))


@pytest.mark.parametrize("hollow", [False, True])
def test_what_a_component_takes_off_is_taken_off_everything(hollow):
    """Each component is found as if the graphs had come without those before it."""
    A = random_symmetric(7, S, 2, hollow=hollow)
    asked = Search(np.zeros((S, 0)), False, True, 2, rows(12).reshape(3, 4, S), to_the_top=True)
    fit = solve_core(problem_of(A, hollow=hollow), 3, asked, 1e-10)
    for k in (1, 2):
        frozen = fit.Y[:, :k]
        left = residuals(A, frozen, hollow=hollow)
        later = Search(np.zeros((S, 0)), False, True, 2, asked.random[k:], to_the_top=True)
        again = solve_core(problem_of(left, frozen=frozen, hollow=hollow), 3 - k, later, 1e-10)
        assert np.allclose(again.gains, fit.gains[k:])
        assert np.allclose(np.abs((again.Y * fit.Y[:, k:]).sum(axis=0)), 1)
        assert np.array_equal(again.agreement, fit.agreement[k:])


# ------------------------------------------------------------------------------- where it starts


@pytest.mark.parametrize(
    ("by_mean", "n_squares", "n"), [(True, 3, 4), (True, 0, 1), (False, 2, 2), (True, 9, 6)]
)
def test_spectral_starts_are_of_the_mean_and_the_squares(by_mean, n_squares, n):
    C = random_symmetric(6, S, 0)
    C[:, 0, 0] -= 9.0
    packing = Packing(S)
    R, mean, _ = compress(packing.pack(C), np.ones(6))
    squares = _sum_of_squares(R, packing)
    asked = Search(np.zeros((S, 0)), False, by_mean, n_squares, np.zeros((0, 0, S)))
    found = _spectral(asked, mean, squares, packing)
    assert len(found) == n
    if by_mean:
        values, vectors = linalg.eigh(C.mean(axis=0))
        assert abs(found[0] @ vectors[:, np.argmax(np.abs(values))]) == pytest.approx(1)
        assert values[np.argmax(np.abs(values))] < 0
    top = linalg.eigh(squares)[1][:, S - min(n_squares, S) :]
    others = np.array(found[by_mean:]).reshape(-1, S)
    assert np.allclose(np.abs(others @ top), np.eye(len(others)), atol=1e-8)


@pytest.mark.parametrize(("share", "n_mean"), [(1e-7, 0), (1e-5, 1)])
def test_a_mean_of_a_millionth_is_rounding(share, n_mean):
    B = random_symmetric(1, S, 0)[0]
    packing = Packing(S)
    R, mean, _ = compress(packing.pack(np.stack([B, -B * (1 - 2 * share)])), np.ones(2))
    asked = Search(np.zeros((S, 0)), False, True, 0, np.zeros((0, 0, S)))
    found = _spectral(asked, mean, _sum_of_squares(R, packing), packing)
    values, vectors = linalg.eigh(B)
    assert len(found) == 1
    # Tops of the mean and of the squares are the same here; who was asked shows in the sign.
    assert abs(found[0] @ vectors[:, np.argmax(np.abs(values))]) == pytest.approx(1)
    both = Search(np.zeros((S, 0)), False, True, 1, np.zeros((0, 0, S)))
    assert len(_spectral(both, mean, _sum_of_squares(R, packing), packing)) == 1 + n_mean


def test_elsewhere_is_the_best_of_four_directions():
    packing = Packing(S)
    C = random_symmetric(4, S, 0)
    quotient = Quotient(packing.pack(C), packing)
    drawn = unit(np.random.default_rng(S).standard_normal((4, S)))
    climbed = quotient.climb(drawn, 4)
    gains = [(np.einsum("s,ist,t->i", y, C, y) ** 2).sum() for y in climbed]
    assert np.allclose(_elsewhere(quotient, S), climbed[np.argmax(gains)])


# ------------------------------------------------------------------------------ places and pools


def planted(strengths, s=8, m=10):
    rng = np.random.default_rng(2)
    Y = np.linalg.qr(rng.standard_normal((s, len(strengths))))[0]
    Lam = np.linalg.qr(rng.standard_normal((m, len(strengths))))[0] * strengths
    return np.einsum("sk,ik,tk->ist", Y, Lam, Y), Y


def test_fixed_components_are_measured_and_not_moved():
    C, Y = planted([3.0, 2.0, 1.0])
    near = unit((Y + 0.01).T).T
    fit = solve_core(problem_of(C), 3, from_pool(near, 8, n_fixed=2), 1e-10)
    assert np.array_equal(fit.Y[:, :2], near[:, :2])
    assert np.isnan(fit.stationarity[:2]).all()
    Z = np.einsum("sk,tk->kst", near[:, :2], near[:, :2])
    f = (np.einsum("ist,st->i", C, Z[0]) ** 2).sum()
    assert fit.gains[0] == pytest.approx(f, rel=1e-12)
    assert not np.array_equal(fit.Y[:, 2], near[:, 2])
    assert fit.stationarity[2] <= 1e-10


def test_the_best_of_the_pool_is_taken_and_leaves_it():
    C, Y = planted([3.0, 2.9, 1.0])
    # Without a pool of several, the best alone is tried.
    fit = solve_core(problem_of(C), 3, from_pool(Y[:, [2, 1, 0]], 8), 1e-10)
    assert np.allclose(fit.gains, [9.0, 2.9**2, 1.0])
    assert np.isnan(fit.agreement).all()
    several = solve_core(problem_of(C), 3, from_pool(Y[:, [2, 1, 0]], 8, n_pool=2), 1e-10)
    assert np.allclose(several.gains, fit.gains)
    assert np.allclose(several.agreement[:2], 0.5)
    assert np.isnan(several.agreement[2])  # one is left


def test_a_component_that_moved_far_takes_the_nearest_of_the_pool_along():
    C, Y = planted([3.0, 2.0])
    # Both of the pool lead to the first; whoever is nearer goes, and the other serves once more.
    pool = unit(np.stack([Y[:, 0] + 0.5 * Y[:, 1], Y[:, 0] - 0.6 * Y[:, 1]])).T
    fit = solve_core(problem_of(C), 2, from_pool(pool, 8), 1e-10)
    assert np.allclose(fit.gains, [9.0, 4.0])


def test_graphs_of_zero_have_no_components_even_without_a_floor():
    fit = solve_core(problem_of(np.zeros((3, S, S))), 2, from_pool(np.eye(S)[:, :2]), 1e-10)
    assert not fit.Y.any()
    assert not fit.gains.any()


def test_unless_it_is_said_nothing_is_rounding():
    problem = problem_of(random_symmetric(3, S, 0))
    assert (problem.left, problem.nothing) == (np.inf, 0.0)
    search = from_pool(np.zeros((S, 0)))
    assert (search.n_fixed, search.n_settled, search.n_stayed, search.n_pool) == (0, 0, 0, 1)
    assert not search.to_the_top


@pytest.mark.parametrize(("left", "found"), [(14.0, 3), (13.0, 2), (9.5, 2), (9.0, 1)])
def test_components_end_where_nothing_is_left(left, found):
    C, Y = planted([3.0, 2.0, 1.0])
    problem = problem_of(C, left=left, nothing=1e-9)
    fit = solve_core(problem, 3, from_pool(Y, 8), 1e-10)
    assert np.count_nonzero(fit.gains) == found
    assert np.count_nonzero(np.linalg.norm(fit.Y, axis=0)) == found


def test_a_start_without_a_way_up_is_left_for_another(monkeypatch):
    B = np.zeros((1, 8, 8))
    B[0, :4, 4:] = np.random.default_rng(0).random((4, 4))
    B[0] += B[0].T
    side = np.append(np.full(4, 0.5), np.zeros(4))[:, None]
    problem = problem_of(B, floor=1e-12, left=1.0, nothing=0.0)
    fit = solve_core(problem, 1, from_pool(side, 8), 1e-10)
    assert fit.gains[0] == pytest.approx(linalg.norm(B[0], 2) ** 2)
    asked = []
    real = core._elsewhere
    monkeypatch.setattr(core, "_elsewhere", lambda *x: asked.append(1) or real(*x))
    solve_core(problem, 1, from_pool(np.eye(8)[:, :0], 8), 1e-10)
    assert len(asked) == 1  # no start at all
    solve_core(problem_of(B, floor=1e9), 1, from_pool(side, 8), 1e-10)
    assert len(asked) == 2
    nothing = problem_of(B, floor=1e9, left=0.0, nothing=0.0)
    solve_core(nothing, 1, from_pool(side, 8), 1e-10)
    assert len(asked) == 2


def test_random_starts_serve_those_for_whom_they_were_drawn():
    C, Y = planted([3.0, 2.0, 1.0])
    asked = Search(Y[:, [2]], False, False, 0, Y[:, [0, 1]].T.reshape(2, 1, 8))
    fit = solve_core(problem_of(C), 3, asked, 1e-10)
    assert np.allclose(fit.gains, [9.0, 4.0, 1.0])
    assert fit.agreement[0] == 0.5  # of the one that is warm, and the one that is drawn
    assert np.isnan(fit.agreement[1:]).all()


@pytest.mark.parametrize(
    ("m", "n_rows", "by_squares"),
    [(14, 14, False), (16, 15, False), (60, 15, False), (61, 15, True)],
)
def test_cores_are_compressed_as_soon_as_it_pays(m, n_rows, by_squares):
    packed, weights = np.random.default_rng(0).standard_normal((m, 15)), np.linspace(1, 2, m)
    R, mean, squares = compress(packed, weights)
    assert R.shape == (n_rows, 15)
    assert squares == by_squares
    assert np.allclose(R.T @ R, packed.T @ (weights[:, None] * packed))
    assert np.allclose(mean, weights @ packed / np.sqrt(weights.sum()))


def test_graphs_of_no_weight_are_not_there():
    packed, weights = np.random.default_rng(0).standard_normal((20, 15)), np.linspace(1, 2, 20)
    weights[[3, 7, 8, 9, 10, 19]] = 0.0
    counted = weights > 0
    for found, expected in zip(
        compress(packed, weights), compress(packed[counted], weights[counted]), strict=True
    ):
        assert np.array_equal(found, expected)
