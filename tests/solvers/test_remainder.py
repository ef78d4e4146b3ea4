"""Cores less what components took off: factors, and what is written out, say the same."""

import numpy as np
import pytest

from eigengraphs.solvers.core_kernels import raise_quotients, stay_on_tangent
from eigengraphs.solvers.growing import GrowingRows
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.remainder import Remainder

S, R = 6, 9
SHAPE = (R, Packing(S).size)


def taken_off(k, shape=SHAPE, asked=()):
    """Return a remainder after k components, what it stands for, (r, p), and its cores.

    After those that are ``asked``, it has to write itself out.
    """
    rng = np.random.default_rng(0)
    cores = rng.standard_normal(shape)
    remainder, written_out = Remainder(cores), cores.copy()
    for j in range(k):
        t, q = (rng.standard_normal(size) for size in shape)
        remainder.take_off(t, q)
        written_out -= np.outer(t, q)
        if j in asked:
            assert np.allclose(remainder.rough, written_out, atol=1e-5)
            assert np.allclose(remainder.rough_T, written_out.T, atol=1e-5)
    return remainder, written_out, cores


@pytest.mark.parametrize("k", [0, 1, 3, 12])
def test_factors_are_what_is_written_out(k):
    remainder, C, cores = taken_off(k)
    before = cores.copy()
    rng = np.random.default_rng(1)
    Z, T = rng.standard_normal((3, C.shape[1])), rng.standard_normal((3, R))
    assert np.allclose(remainder.forms(Z), Z @ C.T, rtol=0, atol=1e-11)
    assert np.allclose(remainder.sums(T), T @ C, rtol=0, atol=1e-11)
    y = rng.standard_normal(S)
    z, found = Packing(S).outer(y[None])[0], np.full((S, S), np.nan)
    total, forms = remainder.state(y, found)
    assert total == pytest.approx(float((C @ z) @ (C @ z)), rel=1e-12)
    assert np.allclose(forms, C @ z, rtol=0, atol=1e-11)
    assert np.allclose(found, Packing(S).unpack((C @ z) @ C), rtol=0, atol=1e-10)
    assert np.array_equal(cores, before)


@pytest.mark.parametrize("b", range(1, 10))
def test_rough_products_are_the_same_for_any_number_of_columns(b):
    remainder, C, _ = taken_off(2)
    rng = np.random.default_rng(b)
    Z = rng.standard_normal((b, C.shape[1])).astype(np.float32)
    T = rng.standard_normal((b, R)).astype(np.float32)
    assert np.allclose(remainder.rough_forms(Z), Z @ C.T, rtol=0, atol=1e-4)
    assert np.allclose(remainder.rough_sums(T), T @ C, rtol=0, atol=1e-4)
    assert remainder.rough_forms(Z).dtype == remainder.rough_sums(T).dtype == np.float32


@pytest.mark.parametrize("asked", [(), (0,), (1, 2), (4,), range(5)])
@pytest.mark.parametrize(("r", "p"), [(9, 21), (1, 21), (9, 1), (1, 1)])
def test_both_orders_of_the_rough_cores_stay_the_same(r, p, asked):
    # Of one row, one order is the other: nothing may be taken off it twice.
    remainder, C, _ = taken_off(5, shape=(r, p), asked=asked)
    assert np.allclose(remainder.rough, C, atol=1e-5)
    assert np.allclose(remainder.rough_T, C.T, atol=1e-5)


def test_rows_are_kept_as_more_come():
    rows = GrowingRows(np.ones((1, 2)))
    views = []
    for k in range(40):
        rows.append(np.full(2, float(k)))
        views.append(rows.rows)
    assert np.array_equal(rows.rows[:, 0], [1.0, *range(40)])
    assert all(np.array_equal(view, rows.rows[: k + 2]) for k, view in enumerate(views))


def test_on_the_tangent_space_nothing_changes_and_y_is_apart():
    rng = np.random.default_rng(0)
    for s in (1, 2, 3, 4, 5, 9):
        K = rng.standard_normal((s, s))
        K = K + K.T
        y = rng.standard_normal(s)
        y /= np.linalg.norm(y)
        P = np.eye(s) - np.outer(y, y)
        found = K.copy()
        stay_on_tangent(found, y, 2.5)
        assert np.allclose(found, P @ K @ P + 10.0 * np.outer(y, y), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1.0, 1e12, 1e30])
def test_in_float32_quotients_rise_at_any_scale(scale):
    rng = np.random.default_rng(0)
    C = rng.standard_normal((4, 11, 11))
    C = C + C.transpose(0, 2, 1)
    Y = rng.standard_normal((4, 11))
    Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    exact, rough = Y.copy(), Y.copy()
    raise_quotients(Packing(11).pack(C), exact, 200)
    raise_quotients((scale * Packing(11).pack(C)).astype(np.float32), rough, 200)
    assert np.allclose(np.linalg.norm(rough, axis=1), 1, atol=1e-12)
    assert np.allclose(np.abs((exact * rough).sum(axis=1)), 1, atol=1e-5)
