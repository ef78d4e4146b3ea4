"""One component of the core problem: values, slopes and maxima against the written-out function."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg
from written_out import norm_without_diagonal, objective, slope

from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.quotient import CONCENTRATED, Quotient, norm_gradient, squared_norm


class Problem:
    """A quotient, and the same function by written-out matrices."""

    def __init__(self, m, n, s, seed, *, hollow):
        rng = np.random.default_rng(seed)
        self.hollow = hollow
        self.weights = rng.uniform(0.5, 2, m)
        self.V = np.linalg.qr(rng.standard_normal((n, s)))[0]
        self.A = random_symmetric(m, n, seed, hollow=hollow)
        self.make()

    def make(self):
        C = np.einsum("sa,ist,tb->iab", self.V, self.A, self.V)
        self.packing = Packing(self.V.shape[1])
        R = self.packing.pack(C) * np.sqrt(self.weights)[:, None]
        self.quotient = Quotient(R, self.packing, self.V if self.hollow else None)

    def f(self, y):
        return objective(self.A, self.weights, self.V @ y, hollow=self.hollow)

    def hessian(self, y):
        return np.array(
            [slope(lambda x, e=e: slope(self.f, x, 1e-4) @ e, y, 1e-4) for e in np.eye(len(y))]
        )


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def concentrated_problem(n=6):
    """Stars with the diagonal unobserved on all vertices: the maximum lies in the bent part."""
    problem = Problem(2, n, n, 0, hollow=True)
    A = 0.01 * random_symmetric(2, n, seed=1, hollow=True)
    A[:, 0, 1:] += [[1.0], [2.0]]
    A[:, 1:, 0] = A[:, 0, 1:]
    problem.A, problem.V = A, np.eye(n)
    problem.make()
    y = unit(np.array([4.0, 1, 1, 1, 1, 1]))
    return problem, y


@pytest.mark.parametrize("hollow", [False, True])
def test_values(hollow):
    problem = Problem(5, 12, 4, 0, hollow=hollow)
    Y = unit(np.random.default_rng(1).standard_normal((8, 4)))
    values = problem.quotient.numerators(Y) / problem.quotient.norms(Y)
    assert np.allclose(values, [problem.f(y) for y in Y], rtol=1e-5)  # rough cores are float32


def test_the_norm_is_bent_beyond_one_half_and_smooth_there():
    rng = np.random.default_rng(0)
    H = unit(rng.standard_normal((40, 5)) ** np.array([1, 3, 5, 7, 9])[:, None].repeat(8, 0)).T
    u = (H**4).sum(axis=0)
    assert (u > CONCENTRATED).any()
    assert (u < CONCENTRATED).any()
    assert np.allclose(squared_norm(u), [norm_without_diagonal(h) for h in H.T])
    for h, gradient in zip(H.T, norm_gradient(H).T, strict=True):
        # q is homogeneous of degree 4 off the sphere, so that its slope along h is 4 q.
        expected = slope(lambda x: norm_without_diagonal(unit(x)) * linalg.norm(x) ** 4, h) / 4
        assert np.allclose(gradient, expected, atol=1e-6)


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_slopes(hollow, seed):
    problem = Problem(5, 12, 4, seed, hollow=hollow)
    for y in unit(np.random.default_rng(seed).standard_normal((4, 4))):
        f, r, _, _ = problem.quotient._state(y)
        assert f == pytest.approx(problem.f(y), rel=1e-12)
        assert np.allclose(4 * r, slope(problem.f, y), atol=1e-6 * f)


def test_gradients_are_slopes_in_the_bent_part():
    problem, y = concentrated_problem()
    assert (y**4).sum() > CONCENTRATED + 0.05
    f, r, _, _ = problem.quotient._state(y)
    assert np.allclose(4 * r, slope(problem.f, y), atol=1e-5 * f)


@pytest.mark.parametrize("case", ["observed", "unobserved", "bent"])
def test_steps_near_a_maximum_are_newtons(case):
    if case == "bent":
        problem, start = concentrated_problem()
    else:
        problem = Problem(5, 12, 4, 0, hollow=case == "unobserved")
        start = unit(np.random.default_rng(1).standard_normal(4))
    y, f, size = problem.quotient.maximise(start, 1e-12)
    assert size < 1e-10
    assert ((problem.V @ y) ** 4).sum() > CONCENTRATED or case != "bent"
    S = problem.quotient._state(y)[2]
    H = problem.hessian(y) / 4
    for e in np.eye(len(y)):
        r = e - (e @ y) * y
        step, _ = problem.quotient._step(y, f, r, S, is_stationary=False)
        assert abs(step @ y) < 1e-8 * linalg.norm(step)
        # Second differences at steps of 1e-4 are good for about six digits.
        assert np.allclose(-H @ step, r, atol=1e-4 * (1 + np.abs(H).max() * linalg.norm(step)))


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_climbing_never_lowers_f(hollow, seed):
    problem = Problem(4, 15, 6, seed, hollow=hollow)
    Y = unit(np.random.default_rng(seed).standard_normal((10, 6)))
    first = before = np.array([problem.f(y) for y in Y])

    def unbent(Y):
        return np.logical_or(not hollow, ((Y @ problem.V.T) ** 4).sum(axis=1) <= CONCENTRATED)

    straight = unbent(Y)
    for _ in range(6):
        Y = problem.quotient.climb(Y, 1)
        assert np.allclose(np.linalg.norm(Y, axis=1), 1)
        # Where q is bent, a step may lead down; whoever takes one looks.
        straight &= unbent(Y)
        after = np.array([problem.f(y) for y in Y])
        assert (after >= before * (1 - 1e-12))[straight].all()
        before = after
    assert (before > first)[straight].all()
    assert straight.sum() >= 5
    finished = [problem.quotient.maximise(y, 1e-8)[1] for y in Y]
    assert (finished >= before * (1 - 1e-12)).all()


@pytest.mark.parametrize("hollow", [False, True])
def test_climbing_leaves_its_input_alone_and_float32_is_as_good(hollow):
    problem = Problem(4, 15, 6, 0, hollow=hollow)
    Y = unit(np.random.default_rng(0).standard_normal((10, 6)))
    given = Y.copy()
    single, falls = problem.quotient.explore(Y, 3, np.zeros(10, dtype=bool))
    double = problem.quotient.climb(Y, 3)
    assert np.array_equal(Y, given)
    assert single.dtype == np.float64
    assert (
        np.abs(single - double).max() < 1e-3
    )  # rounding of 1e-7, times what three steps make of it
    # Nothing is taken off: the objective falls by f.
    assert np.allclose(falls, [problem.f(y) for y in single], rtol=1e-5)


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_maximise_ends_at_a_maximum_above_its_start(hollow, seed):
    problem = Problem(3, 12, 5, seed, hollow=hollow)
    for start in unit(np.random.default_rng(seed).standard_normal((4, 5))):
        y, f, size = problem.quotient.maximise(start, 1e-10)
        assert linalg.norm(y) == pytest.approx(1)
        assert size <= 1e-10
        assert f == pytest.approx(problem.f(y), rel=1e-12)
        assert f >= problem.f(start) * (1 - 1e-12)
        assert linalg.norm(slope(problem.f, y)) <= 1e-6 * f
        assert linalg.eigvalsh(problem.hessian(y))[-1] <= 1e-4 * f


def test_maximise_stays_below_a_vertex_with_its_star():
    problem, start = concentrated_problem()
    y, f, size = problem.quotient.maximise(start, 1e-10)
    assert CONCENTRATED < (y**4).sum() <= CONCENTRATED + 0.02
    assert size <= 1e-10
    assert f >= problem.f(start)


def test_a_saddle_point_is_left_for_a_maximum():
    # C_1 = diag(1, -1), C_2 = 0.1 (off the diagonal): e_1 + e_2 is stationary, the worst of all.
    packing = Packing(2)
    R = packing.pack(np.array([[[1.0, 0], [0, -1]], [[0, 0.1], [0.1, 0]]]))
    quotient = Quotient(R, packing, None)
    saddle = np.array([1.0, 1.0]) / np.sqrt(2)
    f, r, _, _ = quotient._state(saddle)
    assert linalg.norm(r) < 1e-15
    y, found, size = quotient.maximise(saddle, 1e-10)
    assert found == pytest.approx(1.0)
    assert f == pytest.approx(0.01)
    assert size <= 1e-10
    assert np.abs(y).max() == pytest.approx(1)


@pytest.mark.parametrize("seed", range(10))
def test_in_a_plane_the_best_of_all_directions_is_found(seed):
    problem = Problem(4, 8, 2, seed, hollow=seed % 2 == 1)
    angles = np.linspace(0, np.pi, 20_001)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    best = max(problem.f(y) for y in circle)
    found = max(problem.quotient.maximise(y, 1e-10)[1] for y in circle[::2500])
    assert found >= best * (1 - 1e-12)
    assert found == pytest.approx(best, rel=1e-6)  # the circle's points are 1.6e-4 apart


def test_graphs_that_are_nothing_give_nothing():
    quotient = Quotient(np.zeros((3, 6)), Packing(3), None)
    y, f, size = quotient.maximise(np.array([0.0, 0.6, 0.8]), 1e-8)
    assert (f, size) == (0.0, 0.0)
    assert np.array_equal(y, [0.0, 0.6, 0.8])


def test_the_bend_of_the_norm_is_no_place_to_get_stuck():
    # Few heavy edges: maxima lie just beyond the bend, and Newton's step from below leaps over.
    bent = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        problem = Problem(5, 6, 6, seed, hollow=True)
        A = np.triu(rng.standard_cauchy((5, 6, 6)), 1)
        problem.A, problem.V = A + A.transpose(0, 2, 1), np.eye(6)
        problem.make()
        for start in unit(rng.standard_normal((20, 6))):
            y, _, size = problem.quotient.maximise(start, 1e-8)
            assert size <= 1e-8
            bent += (y**4).sum() > CONCENTRATED
    assert bent > 0  # by those of some draws, most often of each


def test_a_start_where_f_is_next_to_nothing_is_left_in_time():
    # f grows by a factor with each of Newton's steps: from 1e-30, sixty of them are not enough.
    A = np.zeros((1, 6, 6))
    A[0, 0, 1:] = A[0, 1:, 0] = 1.0
    packing = Packing(6)
    quotient = Quotient(packing.pack(A), packing, None)
    y, f, size = quotient.maximise(unit(np.array([1.0, 1e-16, 0, 0, 0, 0])), 1e-10)
    assert f == pytest.approx(5)  # the squared eigenvalue of the star
    assert size <= 1e-10
    assert abs(y[0]) == pytest.approx(np.sqrt(0.5))
