"""The greedy problem on small cores: against brute force, with and without warm starts."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg
from written_out import objective, residuals

from eigengraphs.solvers import core
from eigengraphs.solvers.core import (
    CoreProblem,
    Search,
    compress,
    contenders,
    root_of_moment,
    solve_core,
)
from eigengraphs.solvers.packing import Packing


def problem_of(C, *, weights=None, frozen=None, hollow=False, floor=0.0):
    """The cores of graphs on s vertices with the unit vectors as a basis."""
    m, s, _ = C.shape
    weights = np.ones(m) if weights is None else weights
    frozen = np.zeros((s, 0)) if frozen is None else frozen
    R, mean, _ = compress(Packing(s).pack(residuals(C, frozen, hollow=hollow)), weights)
    return CoreProblem(R, mean, np.eye(s), frozen, hollow, floor)


def everywhere(s, d, *, n_random=20, seed=0, warm=None):
    random = np.random.default_rng(seed).standard_normal((d, n_random, s))
    random /= np.linalg.norm(random, axis=2, keepdims=True)
    return Search(np.zeros((s, 0)) if warm is None else warm, False, True, 1, random)


def in_order(warm):
    s = len(warm)
    return Search(warm, True, False, 0, np.zeros((0, 0, s)))


@pytest.mark.parametrize("m", [4, 10, 25, 70], ids=["as it is", "as it is", "QR", "moment"])
def test_compressed_cores_keep_their_second_moment_and_mean(m):
    rng = np.random.default_rng(0)
    packed, weights = rng.standard_normal((m, 15)), rng.random(m)
    packed[:, 14] = packed[:, 0]  # not of full rank
    R, mean, by_squares = compress(packed, weights)
    assert len(R) <= min(m, 15)
    assert by_squares == (m == 70)
    assert np.allclose(R.T @ R, packed.T @ (weights[:, None] * packed))
    assert np.allclose(mean * np.sqrt(weights.sum()), weights @ packed)


def test_the_root_of_a_moment_has_as_many_rows_as_its_rank():
    B = np.random.default_rng(0).standard_normal((4, 9))
    R = root_of_moment(B.T @ B)
    assert R.shape == (4, 9)
    assert np.allclose(R.T @ R, B.T @ B)
    assert root_of_moment(np.zeros((3, 3))).shape == (0, 3)
    for seed in range(20):  # one rounding short of a rank more, or less
        B = np.random.default_rng(seed).standard_normal((8, 9))
        assert root_of_moment(B.T @ B).shape == (8, 9)


@pytest.mark.parametrize("least", [1.0, 1e-8, 1e-12, 1e-15, 1e-20, 0.0])
@pytest.mark.parametrize("copied", [True, False])
def test_roots_of_moments_however_small_their_least_part(monkeypatch, least, copied):
    if not copied:
        monkeypatch.setattr(core, "_SMALL_MOMENT", 0)
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    M = (Q * np.append(np.ones(5), least)) @ Q.T
    upper = np.asfortranarray(np.triu(M) + np.tril(np.full((6, 6), np.nan), -1))
    given = upper.copy("K")
    R = root_of_moment(upper)
    assert np.allclose(R.T @ R, M, rtol=0, atol=1e-14)
    assert np.array_equal(upper, given, equal_nan=True)
    assert len(R) == 6 if least >= 1e-12 else len(R) == 5 or least > 0
    assert R.flags.c_contiguous
    again = root_of_moment(upper, overwrite=True)
    assert np.array_equal(R, again)


def best_of_circle(R, weights, found, n=20_001):
    """The maximum of f that lowers the objective most; overlaps count down to 0.3."""
    angles = np.linspace(0, np.pi, n)[:-1]
    Y = np.stack([np.cos(angles), np.sin(angles)])
    f = weights @ np.einsum("sa,ist,ta->ia", Y, R, Y) ** 2
    outer = np.einsum("sa,ta->ast", Y, Y)
    left = np.sum(residuals(outer, found) ** 2, axis=(1, 2))
    maxima = (f >= np.roll(f, 1)) & (f >= np.roll(f, -1))
    falls = np.where(maxima, f / np.maximum(left, 0.3), -1)
    return f[np.argmax(falls)]


@pytest.mark.parametrize("seed", range(8))
def test_greedy_in_two_dimensions_is_what_brute_force_finds(seed):
    C, weights = random_symmetric(5, 2, seed=seed), np.random.default_rng(seed).random(5) + 0.1
    fit = solve_core(problem_of(C, weights=weights), 2, everywhere(2, 2), 1e-10)
    for k in range(2):
        R = residuals(C, fit.Y[:, :k])
        best = best_of_circle(R, weights, fit.Y[:, :k])
        assert fit.gains[k] == pytest.approx(best, rel=1e-6)  # the points are 1.6e-4 apart
        assert fit.gains[k] == pytest.approx(objective(R, weights, fit.Y[:, k]), rel=1e-9)


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("n_frozen", [0, 2])
def test_every_component_is_stationary_on_what_the_earlier_ones_left(hollow, n_frozen):
    rng = np.random.default_rng(1)
    C = random_symmetric(6, 8, seed=3, hollow=hollow)
    frozen = rng.standard_normal((8, n_frozen))
    frozen /= np.linalg.norm(frozen, axis=0)
    fit = solve_core(problem_of(C, frozen=frozen, hollow=hollow), 4, everywhere(8, 4), 1e-11)
    assert (fit.stationarity <= 1e-11).all()
    found = frozen
    for y, gain in zip(fit.Y.T, fit.gains, strict=True):
        R = residuals(C, found, hollow=hollow)
        f = objective(R, np.ones(6), y, hollow=hollow)
        assert gain == pytest.approx(f, rel=1e-9)
        for e in np.eye(8):
            near = y + 1e-3 * e
            assert objective(R, np.ones(6), near, hollow=hollow) <= f * (1 + 1e-9)
        found = np.column_stack([found, y])


def test_the_problem_is_left_as_it_was():
    problem = problem_of(random_symmetric(6, 5, seed=0))
    R, mean = problem.R.copy(), problem.mean.copy()
    solve_core(problem, 3, everywhere(5, 3), 1e-8)
    assert np.array_equal(problem.R, R)
    assert np.array_equal(problem.mean, mean)


def planted(strengths, m=10, s=8):
    """Cores with orthonormal components, each a maximum of its own."""
    rng = np.random.default_rng(2)
    Y = np.linalg.qr(rng.standard_normal((s, len(strengths))))[0]
    # Loadings of different components are orthogonal over the graphs: no maximum is shared.
    Lam = np.linalg.qr(rng.standard_normal((m, len(strengths))))[0] * strengths
    return np.einsum("sk,ik,tk->ist", Y, Lam, Y), Y


def test_components_in_order_stay_with_their_starts():
    C, Y = planted([3.0, 2.0, 1.0])
    order = [2, 0, 1]
    near = Y[:, order] + 0.05 * np.random.default_rng(0).standard_normal((8, 3))
    fit = solve_core(problem_of(C), 3, in_order(near / np.linalg.norm(near, axis=0)), 1e-10)
    assert np.abs(np.abs(fit.Y.T @ Y[:, order]) - np.eye(3)).max() < 1e-8
    assert np.allclose(fit.gains, np.array([1.0, 3.0, 2.0]) ** 2)
    assert np.isnan(fit.agreement).all()  # one start each


def test_settled_components_keep_their_places_and_the_others_compete():
    C, Y = planted([4.0, 3.0, 2.0, 1.0])
    search = Search(Y[:, [2, 3, 1, 0]], False, False, 0, np.zeros((0, 0, 8)), n_settled=1)
    fit = solve_core(problem_of(C), 4, search, 1e-10)
    assert np.abs(np.abs(fit.Y.T @ Y[:, [2, 0, 1, 3]]) - np.eye(4)).max() < 1e-8


def test_components_that_stayed_are_not_searched_again():
    C, Y = planted([3.0, 2.0, 1.0])
    # The warm vectors know nothing of the best component: a random start alone can find it.
    # Not exactly there: on a saddle, rounding would decide where the next search goes.
    random = Y[:, 0] + 0.1 * np.random.default_rng(4).standard_normal((3, 10, 8))
    random /= np.linalg.norm(random, axis=-1, keepdims=True)
    for n_stayed, first in ((0, 0), (1, 1)):
        search = Search(Y[:, [1, 2]], False, False, 0, random, n_stayed=n_stayed)
        fit = solve_core(problem_of(C), 2, search, 1e-10)
        assert abs(fit.Y[:, 0] @ Y[:, first]) > 1 - 1e-8
        assert np.isnan(fit.agreement[0]) == (n_stayed == 1)
        assert abs(fit.Y[:, 1] @ Y[:, 1 - first]) > 1 - 1e-8


def test_warm_starts_without_an_order_go_to_the_best_place():
    C, Y = planted([3.0, 2.0, 1.0])
    search = Search(Y[:, [2, 0, 1]], False, False, 0, np.zeros((0, 0, 8)))
    fit = solve_core(problem_of(C), 3, search, 1e-10)
    assert np.abs(np.abs(fit.Y.T @ Y) - np.eye(3)).max() < 1e-8
    assert (np.diff(fit.gains) < 0).all()


def test_the_first_contends_with_whoever_seems_better():
    assert contenders(np.array([0, 2, 1]), 1).tolist() == [0]
    assert contenders(np.array([2, 0, 1]), 1).tolist() == [2, 0]
    assert contenders(np.array([2, 1, 0]), 2).tolist() == [2, 1]  # a search has starts enough


def test_a_place_goes_to_whoever_is_better_after_climbing():
    C, Y = planted([3.0, 2.8, 1.0])
    # Off its maximum, the best seems to gain less than the second, which is at its own.
    off = Y[:, 0] + 0.4 * Y[:, 2]
    warm = np.column_stack([off / np.linalg.norm(off), Y[:, 1], Y[:, 2]])
    f = (np.einsum("sk,ist,tk->ik", warm, C, warm) ** 2).sum(axis=0)
    assert f[0] < f[1]
    search = Search(warm, False, False, 0, np.zeros((0, 0, 8)))
    fit = solve_core(problem_of(C), 3, search, 1e-10)
    assert np.abs(np.abs(fit.Y.T @ Y) - np.eye(3)).max() < 1e-8
    assert np.isnan(fit.agreement).all()


def test_the_share_of_agreeing_starts():
    C, _ = planted([3.0])
    fit = solve_core(problem_of(C), 1, everywhere(8, 1), 1e-8)
    assert fit.agreement[0] == 1.0  # a rank of one has one maximum
    noise = random_symmetric(8, 30, seed=1)  # as many vertices as have many maxima
    fit = solve_core(problem_of(noise), 1, everywhere(30, 1, n_random=50), 1e-8)
    assert 0.0 < fit.agreement[0] < 1.0


def test_more_starts_find_no_less():
    for seed in range(10):
        problem = problem_of(random_symmetric(6, 9, seed=seed))
        few = solve_core(problem, 1, everywhere(9, 1, n_random=1), 1e-8)
        many = solve_core(problem, 1, everywhere(9, 1, n_random=40), 1e-8)
        assert many.gains[0] >= few.gains[0] * (1 - 1e-9)


def test_when_nothing_is_left_the_rest_is_zero():
    C, Y = planted([3.0, 2.0])
    floor = 1e-20 * np.sum(C**2)
    fit = solve_core(problem_of(C, floor=floor), 4, everywhere(8, 4), 1e-10)
    assert (fit.gains[2:] == 0).all()
    assert (fit.stationarity[2:] == 0).all()
    assert (fit.Y[:, 2:] == 0).all()
    assert linalg.norm(fit.Y[:, :2].T @ Y) == pytest.approx(np.sqrt(2))


def test_cores_that_cancel_in_their_mean_are_started_from_their_squares():
    rng = np.random.default_rng(0)
    h = np.linalg.qr(rng.standard_normal((6, 1)))[0]
    C = np.einsum("s,i,t->ist", h[:, 0], np.array([1.0, -1.0]), h[:, 0])
    search = Search(np.zeros((6, 0)), False, True, 0, np.zeros((0, 0, 6)))
    fit = solve_core(problem_of(C), 1, search, 1e-10)
    assert abs(fit.Y[:, 0] @ h[:, 0]) == pytest.approx(1)
