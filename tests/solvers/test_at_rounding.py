"""Newton's method where f no longer tells: which trials are taken, which steps are offered."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from written_out import slope

from eigengraphs.solvers.ascent import Ascent, Shrink
from eigengraphs.solvers.left_cores import LeftCores
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.quotient import Quotient, _along, norm_curvature, squared_norm
from eigengraphs.solvers.remainder import Remainder

EPS = float(np.finfo(float).eps)
S = 3
START, TRIAL = np.eye(S)[0], np.eye(S)[1]
SIZE = 1e-3  # of the gradient at the start


class ToldQuotient(Quotient):
    """Offers one trial, whose value and gradient are told; concave, and the step is short."""

    def __init__(self, f, size):
        packing = Packing(S)
        super().__init__(packing.pack(random_symmetric(2, S, 0)), packing)
        self.f, self.size, self.n_steps, self.length = f, size, 0, 1.0

    def _state(self, y, rough=False):
        at_start = np.array_equal(y, START)
        size = SIZE if at_start else self.size
        return (1.0 if at_start else self.f), size * np.eye(S)[2], np.eye(S), np.ones(2)

    def _step(self, y, f, r, S, is_stationary, bent=False, climb=False):
        self.n_steps += 1
        self.asked = is_stationary
        return self.length * np.eye(3)[1], True

    def _trials(self, y, f, r, S, step):
        yield TRIAL


class ToldAscent(Ascent):
    """The same under a rule."""

    def __init__(self, f, size):
        self.f, self.size = f, size

    def _state(self, y):
        at_start = np.array_equal(y, START)
        f, size = (1.0, SIZE) if at_start else (self.f, self.size)
        return f, 1.0, size * np.eye(S)[2], np.eye(S), np.ones(1)

    def _trials(self, y, theta, r, matrix, t, small):
        return [TRIAL]


@pytest.mark.parametrize("kind", [ToldQuotient, ToldAscent])
@pytest.mark.parametrize(
    ("f", "size", "taken"),
    [
        (1 + 8 * EPS, 0.9, True),  # f rises
        (1 + 8 * EPS, 2.0, True),
        (1 + 4 * EPS, 0.6, False),  # not by more than rounding, and the gradient stays
        (1.0, 0.51, False),
        (1.0, 0.49, True),  # the gradient is halved
        (1 - 90 * EPS, 0.49, True),
        (1 - 110 * EPS, 0.49, False),  # at the cost of f
        (0.5, 0.0, False),
    ],
)
def test_at_the_rounding_of_f_the_gradient_decides(kind, f, size, taken):
    y, value, gradient = kind(f, size * SIZE).maximise(START, 1e-30)
    assert np.array_equal(y, TRIAL if taken else START)
    assert value == (f if taken else 1.0)
    assert gradient == pytest.approx((size / f if taken else 1.0) * SIZE)


@pytest.mark.parametrize(
    ("tol", "length", "n_steps"), [(1e-5, 1e-3, 1), (1e-5, 0.1, 2), (0.02, 1, 0), (0.009, 1, 2)]
)
def test_where_it_was_concave_a_short_step_before_it_is_a_maximum(tol, length, n_steps):
    quotient = ToldQuotient(2.0, 1e-9)
    quotient.length = length
    quotient.maximise(START, tol)
    # One for the step; another to look whether it is a maximum, if that is not known.
    assert quotient.n_steps == n_steps


def test_steps_are_tried_in_six_lengths():
    y, step = np.array([1.0, 0.0]), np.array([0.0, 2.0])
    slopes = [trial[1] / trial[0] / 2 for trial in _along(y, step)]
    assert np.allclose(slopes, [1.0, 0.5, 0.1, 0.01, 1e-3, 1e-4])
    assert np.allclose([np.linalg.norm(trial) for trial in _along(y, step)], 1)


def quotient_of(A, *, hollow=False):
    packing = Packing(A.shape[1])
    return Quotient(packing.pack(A), packing, np.eye(A.shape[1]) if hollow else None)


@pytest.mark.parametrize("hollow", [False, True])
def test_after_the_step_and_the_bent_step_comes_a_climb(hollow):
    A = random_symmetric(3, 5, 0, hollow=hollow)
    quotient = quotient_of(A, hollow=hollow)
    y = np.array([1.0, 2, 3, 4, 5]) / np.sqrt(55)
    f, r, matrix, _ = quotient._state(y)
    step, _ = quotient._step(y, f, r, matrix, is_stationary=False)
    trials = list(quotient._trials(y, f, r, matrix, step))
    assert len(trials) == (13 if hollow else 7)
    assert np.allclose(trials[:6], list(_along(y, step)))
    assert np.allclose(trials[-1], quotient.climb(y[None], 1)[0])
    if hollow:
        bent, _ = quotient._step(y, f, r, matrix, is_stationary=False, bent=True)
        assert np.allclose(trials[6:12], list(_along(y, bent)))
        assert not np.allclose(bent, step)


def test_at_a_maximum_no_step_is_offered_and_at_a_saddle_the_way_up():
    quotient = quotient_of(np.diag([3.0, 2.0, 1.0])[None])
    e = np.eye(3)
    for k in (0, 1):
        f, r, matrix, _ = quotient._state(e[k])
        step, concave = quotient._step(e[k], f, r, matrix, is_stationary=True)
        assert concave == (k == 0)
        if k == 0:
            assert step is None
        else:
            assert np.allclose(np.abs(step), [0.3, 0, 0])


@pytest.mark.parametrize(("excess", "leads_up"), [(1e-6, False), (1e-4, True)])
def test_what_hardly_bends_up_is_a_maximum(excess, leads_up):
    quotient = quotient_of(np.diag([1.0, 1.0 + excess, 0.0])[None])
    f, r, matrix, _ = quotient._state(np.eye(3)[0])
    step, concave = quotient._step(np.eye(3)[0], f, r, matrix, is_stationary=True)
    assert (step is not None) == leads_up
    assert not concave


def test_flat_directions_get_long_steps_but_not_endless_ones():
    # Towards e_2 the curvature is 4 - 4 = 0: it counts as a thousandth of f.
    quotient = quotient_of(np.diag([2.0, 2.0 + 1e-9, -1.0])[None])
    y, r = np.eye(3)[0], np.eye(3)[1]
    f, _, matrix, _ = quotient._state(y)
    step, _ = quotient._step(y, f, r, matrix, is_stationary=False)
    assert np.allclose(step, r / (1e-3 * f))
    step, _ = quotient._step(y, f, np.eye(3)[2], matrix, is_stationary=False)
    assert np.allclose(step, np.eye(3)[2] / 6)  # -2 - 4


@pytest.mark.parametrize("hollow", [False, True])
def test_far_from_any_maximum_it_climbs_first(hollow):
    """On the main cores; where the diagonal is unobserved, on all, and from farther away."""
    A = random_symmetric(3, 6, 1, hollow=hollow)
    y = np.array([0.9, 0.1, 0.2, 0.2, 0.1, 0.1]) if hollow else np.eye(6)[0]
    y /= np.linalg.norm(y)
    A[:, 0, 0] = 0.0 if hollow else 1e-3
    quotient = quotient_of(A, hollow=hollow)
    f, r, _, _ = quotient._state(y)
    assert np.linalg.norm(r) > (0.03 if not hollow else 1.0) * f > 0
    asked = []
    name = "climb" if hollow else "_on_main"
    real = getattr(quotient, name)
    setattr(quotient, name, lambda *args: asked.append(args[1]) or real(*args))
    top, _, size = quotient.maximise(y, 1e-9)
    assert size <= 1e-9
    assert asked[0] == (4 if hollow else 1e-3)
    asked.clear()
    quotient.maximise(top, 1e-9)
    assert asked == []


def test_float32_does_where_tolerances_are_rough_but_forms_are_exact():
    A = random_symmetric(8, 6, 1)
    y = np.random.default_rng(0).standard_normal(6)
    y /= np.linalg.norm(y)
    for tol, rough in ((1e-3, True), (1e-4, True), (1e-5, False)):
        quotient = quotient_of(A)
        asked = []
        real = quotient._state
        quotient._state = lambda x, r=False, real=real, asked=asked: asked.append(r) or real(x, r)
        found, f, size = quotient.maximise(y, tol, exact=False)
        assert all(r == rough for r in asked)
        assert size <= tol
        forms = np.einsum("s,ist,t->i", found, A, found)
        assert np.allclose(quotient.forms, forms, rtol=1e-13, atol=1e-13)
        assert f == pytest.approx(forms @ forms, rel=1e-13)
        asked.clear()
        quotient.maximise(y, tol)
        assert not any(asked)


def test_what_is_next_to_nothing_is_not_left_to_float32():
    # Beside a component of 1 that was taken off, 1e-9 is left, and rounding of 1e-8 in float32.
    packing = Packing(4)
    H = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 2)))[0]
    Z = packing.outer(H.T)
    cores = Remainder(np.stack([Z[0], 1e-9 * Z[1]]))
    cores.take_off(np.array([1.0, 0.0]), Z[0], 1.0)
    quotient = Quotient(cores, packing, None, 1)
    start = H[:, 1] + 0.1 * H[:, 0]
    y, f, size = quotient.maximise(start / np.linalg.norm(start), 1e-3, exact=False)
    assert f == pytest.approx(1e-18, rel=1e-5)
    assert abs(y @ H[:, 1]) == pytest.approx(1, abs=1e-5)
    assert size <= 1e-3


def test_the_bend_adds_its_own_curvature():
    spread, single = np.full(4, 0.5), np.array([0.9, np.sqrt(0.19), 0, 0])
    vectors = norm_curvature(np.column_stack([spread, single]))
    assert not vectors[:, 0].any()
    assert np.allclose(vectors[:, 1], np.sqrt(200) * 4 * single**3)
    assert squared_norm(0.5) == 0.5
    assert squared_norm(0.6) == pytest.approx(0.4 + 100 * 0.01)


def test_bending_bends_along_the_slope_of_what_is_concentrated():
    A = random_symmetric(2, 6, 0, hollow=True)
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 4)))[0]
    packing = Packing(4)
    quotient = Quotient(packing.pack(V.T @ A @ V), packing, V)
    y = np.array([0.5, 0.5, -0.5, 0.5])
    assert ((V @ y) ** 4).sum() < 0.5
    g = slope(lambda x: ((V @ x) ** 4).sum() - (x @ x) ** 2 / 2, y)
    bend = quotient._norm_curvature(y, True) - quotient._norm_curvature(y, False)
    assert np.allclose(bend, 50 * np.outer(g, g), atol=1e-6)
    assert np.allclose(
        quotient._norm_curvature(y), np.eye(4) - 3 * V.T @ np.diag((V @ y) ** 2) @ V
    )  # fmt: skip


def test_where_no_graph_takes_part_a_rule_moves_nothing():
    packing = Packing(5)
    R = packing.pack(np.diag([0, 0, 0, 0, 9.0])[None])
    ascent = Ascent(LeftCores.of(R), np.ones(1), Shrink(nonnegative=False), np.zeros(1))
    y, f, size = ascent.maximise(np.eye(5)[0], 1e-9)
    assert np.array_equal(y, np.eye(5)[0])
    assert (f, size) == (0.0, 0.0)
