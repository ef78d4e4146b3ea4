"""One component under a rule: values, slopes, steps and climbs against the written-out function."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg
from written_out import slope

from eigengraphs.solvers.ascent import Ascent
from eigengraphs.solvers.packing import Packing

S = 5


def soft(t):
    return np.sign(t) * np.maximum(np.abs(t) - 0.4, 0.0)


def positive(t):
    return np.maximum(t, 0.0)


def free(t):
    return t


SHRINKS = [free, positive, soft]


class Problem:
    """An ascent, and the same function by written-out matrices."""

    def __init__(self, shrink=free, seed=0, m=6, cost=0.3, C=None):
        rng = np.random.default_rng(seed)
        self.shrink = shrink
        self.C = random_symmetric(m, S, seed) if C is None else C
        self.w = rng.uniform(0.5, 2, len(self.C))
        self.costs = np.where(np.arange(len(self.C)) % 2 == 0, cost, 0.0)
        packing = Packing(self.C.shape[1])
        self.calls = []
        self.ascent = Ascent(
            packing.pack(self.C), self.w, packing, self.told(shrink, "shrink"),
            self.told(free, "eager"), self.costs,
        )  # fmt: skip

    def told(self, function, name):
        def called(t):
            self.calls.append(name)
            return function(t)

        return called

    def f(self, y):
        y = y / linalg.norm(y)
        t = self.shrink(np.einsum("s,ist,t->i", y, self.C, y))
        return float(self.w @ np.maximum(t**2 - self.costs, 0.0))

    def hessian(self, y):
        return np.array(
            [slope(lambda x, e=e: slope(self.f, x, 1e-4) @ e, y, 1e-4) for e in np.eye(len(y))]
        )

    def trials(self, y, r, *, small=False):
        _, theta, _, matrix, t = self.ascent._state(y)
        return self.ascent._trials(y, theta, r, matrix, t, small)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def somewhere(seed=1, b=5):
    return unit(np.random.default_rng(seed).standard_normal((b, S)))


@pytest.mark.parametrize("shrink", SHRINKS)
def test_values_and_gradients_are_those_of_the_function(shrink):
    problem = Problem(shrink)
    Y = somewhere()
    assert np.allclose(problem.ascent.gains(Y), [problem.f(y) for y in Y])
    for y in Y:
        f, theta, r, matrix, t = problem.ascent._state(y)
        forms = np.einsum("s,ist,t->i", y, problem.C, y)
        expected = np.where(shrink(forms) ** 2 > problem.costs, shrink(forms), 0.0)
        assert np.allclose(t, expected)
        assert np.allclose(matrix, np.tensordot(problem.w * expected, problem.C, axes=1))
        assert theta == pytest.approx(problem.w @ (expected * forms))
        assert f == pytest.approx(problem.f(y))
        assert np.allclose(4 * r, slope(problem.f, y), atol=1e-6 * max(f, 1))
        same, value, size = problem.ascent.measure(y)
        assert np.array_equal(same, y)
        assert (value, size) == (f, linalg.norm(r) / theta)


def expected_step(problem, y, r):
    """Newton's step by second differences; on the tangent space, and theta along y."""
    theta = problem.ascent._state(y)[1]
    P = np.eye(S) - np.outer(y, y)
    K = P @ problem.hessian(y) @ P / 4 - theta * np.outer(y, y)
    values, vectors = linalg.eigh(K)
    if values[-1] < 0:
        return linalg.solve(-K, r), True
    return vectors @ ((vectors.T @ r) / np.maximum(np.abs(values), 1e-3 * theta)), False


@pytest.mark.parametrize("shrink", SHRINKS)
def test_steps_are_newtons_of_four_lengths(shrink):
    kinds = set()
    for seed in range(4):
        problem = Problem(shrink, seed)
        top = problem.ascent.maximise(somewhere()[0], 1e-9)[0]
        for y in (unit(top + 0.01), somewhere(seed)[0]):
            if problem.f(y) == 0:
                continue
            r = somewhere(7)[0]  # with a part along y, which must not disturb the others
            step, concave = expected_step(problem, y, r)
            kinds.add(concave)
            found = problem.trials(y, r)
            assert len(found) == 4
            # Second differences at steps of 1e-4 are good for about six digits.
            close = {"atol": 2e-4, "rtol": 0}
            assert np.allclose(found[0], unit(y + step), **close)
            assert np.allclose(found[1], unit(y + 0.3 * step), **close)
            assert np.allclose(found[3], unit(y + 0.01 * step), **close)
            matrix = problem.ascent._state(y)[3]
            assert np.allclose(matrix @ found[2], linalg.eigvalsh(matrix)[-1] * found[2])
            assert found[2] @ y >= 0
    assert kinds == {True, False}


def test_at_a_maximum_there_is_nowhere_to_go_and_at_a_saddle_three_ways():
    problem = Problem(C=np.diag([3.0, 2.0, 1.0, 0.5, 0.1])[None], cost=0.0)
    e = np.eye(S)
    assert problem.trials(e[0], 0 * e[0], small=True) == []
    ways = problem.trials(e[1], 0 * e[0], small=True)
    assert len(ways) == 3
    up = ways[0] @ e[0] / abs(ways[0] @ e[0]) * e[0]
    for way, length in zip(ways, (0.3, -0.3, 0.03), strict=True):
        assert np.allclose(way, unit(e[1] + length * up))


@pytest.mark.parametrize(("excess", "n_ways"), [(1e-6, 0), (1e-4, 3)])
def test_what_hardly_bends_up_is_a_maximum(excess, n_ways):
    # At e_1, the curvature towards e_2 is lam_1 lam_2 - lam_1^2.
    problem = Problem(C=np.diag([1.0, 1.0 + excess, 0, 0, 0])[None], cost=0.0)
    assert len(problem.trials(np.eye(S)[0], np.zeros(S), small=True)) == n_ways


@pytest.mark.parametrize("shrink", SHRINKS)
def test_maximise_ends_at_a_maximum_above_its_start(shrink):
    for seed in range(4):
        problem = Problem(shrink, seed)
        for start in somewhere(seed):
            y, f, size = problem.ascent.maximise(start, 1e-9)
            assert f >= problem.f(start)
            assert f == pytest.approx(problem.f(y))
            if f > 0:
                assert size <= 1e-9
                assert linalg.eigvalsh(problem.hessian(y))[-1] <= 1e-4 * f


def test_maximise_leaves_a_saddle_unless_a_rough_answer_is_enough():
    problem = Problem(C=np.diag([3.0, 2.0, 1.0, 0.5, 0.1])[None], cost=0.0)
    saddle = np.eye(S)[1]
    y, f, size = problem.ascent.maximise(saddle, 1e-9)
    assert abs(y[0]) == pytest.approx(1)
    assert f == pytest.approx(9 * problem.w[0])
    assert size <= 1e-9
    assert abs(problem.ascent.maximise(saddle, 0.9e-2)[0][0]) > 0.5
    assert np.array_equal(problem.ascent.maximise(saddle, 1.1e-2)[0], saddle)


def test_where_no_graph_takes_part_nothing_moves():
    problem = Problem(cost=100.0, m=1)
    start = somewhere()[0]
    y, f, size = problem.ascent.maximise(start, 1e-9)
    assert np.array_equal(y, start)
    assert (f, size) == (0.0, 0.0)
    assert problem.ascent.measure(start)[1:] == (0.0, 0.0)


def test_a_cost_that_is_just_met_buys_nothing():
    C = np.diag([1.0, 0, 0, 0, 0])[None]
    problem = Problem(C=C, cost=1.0)
    assert problem.ascent.measure(np.eye(S)[0])[1] == 0.0
    assert not problem.ascent._state(np.eye(S)[0])[4].any()


@pytest.mark.parametrize(("n_steps", "n_eager"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)])
def test_the_first_half_of_a_climb_ignores_the_rule(n_steps, n_eager):
    problem = Problem(soft)
    Y = somewhere()
    given = Y.copy()
    climbed = problem.ascent.climb(Y, n_steps)
    assert problem.calls == ["eager"] * n_eager + ["shrink"] * (n_steps - n_eager)
    assert np.array_equal(Y, given)
    assert np.allclose(linalg.norm(climbed, axis=1), 1)
    assert np.array_equal(climbed, given) == (n_steps == 0)


@pytest.mark.parametrize("shrink", SHRINKS)
def test_the_second_half_never_falls(shrink):
    packing, free_of_cost = Packing(S), np.zeros(6)
    C, w = random_symmetric(6, S, 0), np.linspace(0.5, 2, 6)
    ascent = Ascent(packing.pack(C), w, packing, shrink, shrink, free_of_cost)
    Y = somewhere(b=20)
    for _ in range(4):
        before, Y = ascent.gains(Y), ascent.climb(Y, 2)
        assert (ascent.gains(Y) >= before * (1 - 1e-12)).all()


def test_a_climb_is_towards_the_top_of_what_takes_part():
    # Graph 0 is large but too dear; graph 1 decides, and its top is e_1.
    C = np.stack([np.diag([0, 9.0, 0, 0, 0]), np.diag([1.0, 0, 0, 0, 0])])
    packing = Packing(S)
    start = unit(np.array([[1.0, 0.5, 0.1, 0.1, 0.1]]))
    for costs, towards in (([1e3, 0.0], 0), ([0.0, 0.0], 1)):
        ascent = Ascent(packing.pack(C), np.ones(2), packing, free, np.zeros_like, np.array(costs))
        end = start
        for _ in range(8):
            end = ascent.climb(end, 2)
        assert abs(end[0, towards]) > 0.99
