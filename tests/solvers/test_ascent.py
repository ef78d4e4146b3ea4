"""One component under a rule: values, slopes, steps and climbs against the written-out function."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import linalg
from written_out import slope

from eigengraphs.solvers.ascent import Ascent, Shrink
from eigengraphs.solvers.ascent_kernels import newton_ruled
from eigengraphs.solvers.left_cores import LeftCores
from eigengraphs.solvers.packing import Packing

S = 5

free, positive, soft = Shrink(nonnegative=False), Shrink(nonnegative=True), Shrink(False, 0.4)
SHRINKS = [free, positive, soft, Shrink(True, 0.2)]


class Problem:
    """An ascent, and the same function by written-out matrices."""

    def __init__(self, shrink=free, seed=0, m=6, cost=0.3, C=None):
        rng = np.random.default_rng(seed)
        self.shrink = shrink
        self.C = random_symmetric(m, S, seed) if C is None else C
        self.w = rng.uniform(0.5, 2, len(self.C))
        self.costs = np.where(np.arange(len(self.C)) % 2 == 0, cost, 0.0)
        # As given, the cores hold a component more, which is taken off.
        h = rng.standard_normal(self.C.shape[1])
        Lam = rng.standard_normal((len(self.C), 1))
        packing = Packing(len(h))
        held = packing.pack(self.C + Lam[:, :, None] * np.outer(h, h))
        cores = LeftCores.of(held).less(Lam, packing.outer(h[None]))
        self.ascent = Ascent(cores, self.w, shrink, self.costs)

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
        return list(self.ascent._trials(y, theta, r, matrix, t, small))


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def somewhere(seed=1, b=5):
    return unit(np.random.default_rng(seed).standard_normal((b, S)))


@pytest.mark.parametrize("shrink", SHRINKS)
def test_values_and_gradients_are_those_of_the_function(shrink):
    problem = Problem(shrink)
    Y = somewhere()
    forms = np.einsum("bs,ist,bt->bi", Y, problem.C, Y)
    assert np.allclose(problem.ascent.gains(forms), [problem.f(y) for y in Y])
    for y in Y:
        f, theta, r, matrix, t = problem.ascent._state(y)
        forms = np.einsum("s,ist,t->i", y, problem.C, y)
        expected = np.where(shrink(forms) ** 2 > problem.costs, shrink(forms), 0.0)
        assert np.allclose(t, expected)
        assert np.allclose(matrix, np.tensordot(problem.w * expected, problem.C, axes=1))
        assert theta == pytest.approx(problem.w @ (expected * forms))
        assert f == pytest.approx(problem.f(y))
        assert np.allclose(4 * r, slope(problem.f, y), atol=1e-6 * max(f, 1))


def expected_step(problem, y, r):
    """Newton's step by second differences; on the tangent space, and 4 theta along y."""
    theta = problem.ascent._state(y)[1]
    P = np.eye(S) - np.outer(y, y)
    K = P @ problem.hessian(y) @ P / 4 - 4 * theta * np.outer(y, y)
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
    assert problem.ascent.gains(np.einsum("s,ist,t->i", start, problem.C, start)[None]) == 0.0


def test_a_cost_that_is_just_met_buys_nothing():
    C = np.diag([1.0, 0, 0, 0, 0])[None]
    problem = Problem(C=C, cost=1.0)
    assert problem.ascent.gains(np.ones((1, 1))) == 0.0
    assert not problem.ascent._state(np.eye(S)[0])[4].any()


@pytest.mark.parametrize(("n_eager", "n_steps"), [(0, 0), (1, 0), (0, 1), (2, 2)])
@pytest.mark.parametrize("shrink", SHRINKS)
def test_a_climb_is_first_without_thresholds_and_costs_and_then_with_them(shrink, n_eager, n_steps):
    problem = Problem(shrink)
    Y = somewhere()
    given, expected = Y.copy(), Y.copy()
    for step in range(n_eager + n_steps):
        T = np.einsum("bs,ist,bt->bi", expected, problem.C, expected)
        if step < n_eager:
            T = Shrink(shrink.nonnegative)(T)
        else:
            T = np.where(shrink(T) ** 2 > problem.costs, shrink(T), 0.0)
        tops = np.einsum("bi,ist->bst", T * problem.w, problem.C)
        expected = np.array([raised(top, y) for top, y in zip(tops, expected, strict=True)])
    climbed, gains = problem.ascent.climb(Y, n_eager, n_steps)
    assert np.array_equal(Y, given)
    assert np.allclose(climbed, expected, atol=1e-3)  # in float32, and not to the end
    assert np.allclose(gains, [problem.f(y) for y in climbed], atol=1e-5)


def raised(matrix, y):
    """Eight steps, each to the best vector in the plane of y and the gradient."""
    for _ in range(8):
        g = matrix @ y - (y @ matrix @ y) * y
        if linalg.norm(g) <= 1e-4 * abs(y @ matrix @ y):
            break
        plane = np.column_stack([y, unit(g)])
        best = plane @ linalg.eigh(plane.T @ matrix @ plane)[1][:, -1]
        y = best if best @ y >= 0 else -best
    return y


@pytest.mark.parametrize("shrink", SHRINKS)
def test_steps_with_thresholds_and_costs_never_fall(shrink):
    problem = Problem(shrink)
    Y = somewhere(b=20)
    for _ in range(4):
        before = np.array([problem.f(y) for y in Y])
        Y, gains = problem.ascent.climb(Y, 0, 2)
        assert (gains >= before * (1 - 1e-5)).all()


def test_a_climb_is_towards_the_top_of_what_takes_part():
    # Graph 0 is large but too dear; graph 1 decides, and its top is e_1.
    C = np.stack([np.diag([0, 9.0, 0, 0, 0]), np.diag([1.0, 0, 0, 0, 0])])
    cores = LeftCores.of(Packing(S).pack(C))
    start = unit(np.array([[1.0, 0.5, 0.1, 0.1, 0.1]]))
    for costs, towards in (([1e3, 0.0], 0), ([0.0, 0.0], 1)):
        ascent = Ascent(cores, np.ones(2), free, np.array(costs))
        end, _ = ascent.climb(start, 0, 8)
        assert abs(end[0, towards]) > 0.99


# ------------------------------------------------------------------------------- float32, and not


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 2e-4])
@pytest.mark.parametrize("shrink", SHRINKS)
def test_rough_answers_are_maxima_to_their_tolerance(shrink, tol):
    for seed in range(4):
        problem = Problem(shrink, seed)
        for start in somewhere(seed):
            y, f, size = problem.ascent.maximise(start, tol)
            if f == 0:
                continue
            assert f == pytest.approx(problem.f(y), rel=1e-5)
            _, theta, r, _, _ = problem.ascent._state(y)
            assert linalg.norm(r) / theta == pytest.approx(size, abs=1e-5)
            assert size <= tol
            assert linalg.eigvalsh(problem.hessian(y))[-1] <= 10 * tol * theta


def left_of_much(size, seed=0):
    """Cores of this size beside a component that is taken off, and is large."""
    C = size * random_symmetric(6, S, seed)
    h, Lam, packing = unit(np.ones(S)), np.full((6, 1), 1e3), Packing(S)
    held = packing.pack(C + Lam[:, :, None] * np.outer(h, h))
    cores = LeftCores.of(held).less(Lam, packing.outer(h[None]))
    return C, Ascent(cores, np.ones(6), free, np.zeros(6))


def test_what_is_below_the_rounding_of_float32_is_found_exactly():
    C, ascent = left_of_much(1e-4)
    rounding = np.finfo(np.float32).eps * 1e3
    assert np.abs(C).max() < 10 * rounding
    plain = Ascent(LeftCores.of(Packing(S).pack(C)), np.ones(6), free, np.zeros(6))
    Y = somewhere()
    climbed, gains = ascent.climb(Y, 2, 2)
    assert np.allclose(climbed, plain.climb(Y, 2, 2)[0], atol=1e-3)
    assert np.allclose(gains, plain.climb(Y, 2, 2)[1], rtol=1e-4)
    for start in climbed:
        y, f, size = ascent.maximise(start, 1e-2)
        assert size <= 1e-2
        assert f == pytest.approx((np.einsum("s,ist,t->i", y, C, y) ** 2).sum())


def test_from_far_away_an_exact_answer_is_where_the_rough_one_leads():
    problem = Problem(positive)
    steps = []
    exact = problem.ascent._newton
    problem.ascent._newton = lambda y, tol, state: (steps.append(y), exact(y, tol, state))[1]
    for start in somewhere():
        y, _, size = problem.ascent.maximise(start, 1e-10)
        assert size <= 1e-10
        assert linalg.norm(problem.ascent._state(steps[-1])[2]) < 2e-3 * problem.f(y)
    near = unit(y + 1e-4)
    problem.ascent.maximise(near, 1e-10)
    assert np.array_equal(steps[-1], near)


@pytest.mark.parametrize(("curved", "is_maximum"), [(1e-5, True), (-1e-5, False)])
def test_where_f_is_flat_it_is_the_curvature_allowed_that_decides(curved, is_maximum):
    cores = LeftCores.of(Packing(S).pack(np.eye(S)[None] * np.ones((3, 1, 1))))  # f is 3 anywhere
    y = np.random.default_rng(0).standard_normal(S)
    y /= linalg.norm(y)
    found = newton_ruled(
        *cores.rough, np.ones(3), np.zeros(3), False, 0.0, y, 1e-3, 40, 8, curved
    )  # fmt: skip
    assert found[0] == pytest.approx(3)
    assert found[2] == is_maximum
