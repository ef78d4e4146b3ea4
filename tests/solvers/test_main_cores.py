"""What starts are tried on: few combinations of the cores, and climbs on them, against NumPy."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs.solvers.core_kernels import weigh_overlaps
from eigengraphs.solvers.main_cores import MainCores, main_combinations
from eigengraphs.solvers.main_kernels import climb_main, newton_main, solve_positive
from eigengraphs.solvers.packing import Packing

S = 7
P = Packing(S).size
LEAST = 0.3


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def rows(b, seed=0):
    return unit(np.random.default_rng(seed).standard_normal((b, S)))


def packed_cores(m=9, seed=0):
    return Packing(S).pack(random_symmetric(m, S, seed)).astype(np.float32)


def orthonormal_rows(k, seed=1):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((P, k)))[0].T


def falls_of(W, Q, Y):
    """F = sum_i <z, c_i>^2 over the squared norm of what is new of z = y y^T, written out."""
    Z = Packing(S).outer(Y)
    new = 1.0 - ((Z @ Q.T) ** 2).sum(axis=1)
    return ((Z @ W.T) ** 2).sum(axis=1) / np.maximum(new, LEAST), new


@pytest.mark.parametrize(("r", "b"), [(9, 9), (48, 48), (49, 32)])
def test_few_cores_are_as_they_are_and_many_are_combined(r, b):
    R = np.random.default_rng(0).standard_normal((r, P))
    main = MainCores(np.ascontiguousarray(R.T, dtype=np.float32), 0, combine=True)
    assert main.cores.shape == (b, P)
    if r <= 48:
        assert np.allclose(main.cores, R, atol=1e-6)
    whole = MainCores(np.ascontiguousarray(R.T, dtype=np.float32), 0, combine=False)
    assert np.allclose(whole.cores, R, atol=1e-6)


def test_combinations_are_orthonormal_and_keep_what_graphs_have_in_common():
    rng = np.random.default_rng(0)
    common = rng.standard_normal((200, 10)) @ rng.standard_normal((10, 400))
    R = common + 0.05 * rng.standard_normal((200, 400))
    U = main_combinations(np.ascontiguousarray(R.T, dtype=np.float32))
    assert U.shape == (200, 32)
    assert np.allclose(U.T @ U, np.eye(32), atol=1e-5)
    lost = common - U @ (U.T @ common)
    assert np.linalg.norm(lost) < 1e-2 * np.linalg.norm(common)
    again = main_combinations(np.ascontiguousarray(R.T, dtype=np.float32))
    assert np.array_equal(U, again)


@pytest.mark.parametrize("r", [9, 80])
def test_what_is_taken_off_is_taken_off_the_combinations(r):
    rng = np.random.default_rng(0)
    R, t, q = rng.standard_normal((r, P)), rng.standard_normal(r), rng.standard_normal(P)
    RT = np.ascontiguousarray(R.T, dtype=np.float32)
    main = MainCores(RT, 2, combine=True)
    U = np.eye(r) if r == 9 else main_combinations(RT)
    main.remember(orthonormal_rows(1)[0], 1.0)
    main.take_off(t, q, float(q @ q))
    left = U.T @ (R - np.outer(t, q))
    assert np.allclose(main.cores, left, atol=1e-4)
    Z = Packing(S).outer(rows(3)).astype(np.float32)
    T, falls = main.look(Z, np.ones(3), LEAST)
    Q = np.stack([orthonormal_rows(1)[0], q / np.linalg.norm(q)])
    expected, new = falls_of(left, Q, rows(3))
    assert np.allclose(falls, expected, rtol=1e-4)
    share = np.where(new > LEAST, expected, 0.0)
    assert np.allclose(T, np.hstack([Z @ left.T, share[:, None] * (Z @ Q.T)]), atol=1e-3)


def test_less_than_a_share_is_not_counted_as_new():
    T = np.array([[2.0, 0.6], [2.0, 0.9]], dtype=np.float32)  # of norm 1: 0.64 and 0.19 are new
    falls = np.empty(2)
    weigh_overlaps(T, 1, np.ones(2), LEAST, falls)
    assert np.allclose(falls, [4 / 0.64, 4 / 0.3])
    assert np.allclose(T, [[2.0, 0.6 * 4 / 0.64], [2.0, 0.0]])


@pytest.mark.parametrize("seed", range(5))
def test_by_falls_it_is_the_fall_that_never_sinks_and_otherwise_f(seed):
    W, Q = packed_cores(seed=seed), 0.7 * unit(orthonormal_rows(3, seed))
    M = np.vstack([W, Q]).astype(np.float32)
    start = rows(12, seed)
    by_falls = np.arange(12) >= 6
    Y, found = start.copy(), np.empty(12)
    F, new = falls_of(W, Q, Y)
    f = F * np.maximum(new, LEAST)
    for _ in range(5):
        climb_main(M, len(W), Y, 1, 8, by_falls, LEAST, found)
        assert np.allclose(np.linalg.norm(Y, axis=1), 1)
        F_next, new = falls_of(W, Q, Y)
        f_next = F_next * np.maximum(new, LEAST)
        assert (new > LEAST).all()
        assert np.allclose(found, F_next, rtol=1e-4)
        assert (F_next >= F * (1 - 1e-5))[by_falls].all()
        assert (f_next >= f * (1 - 1e-5))[~by_falls].all()
        F, f = F_next, f_next
    assert (falls_of(W, Q, start)[0] < F)[by_falls].all()
    # Both ways lead elsewhere, or there would be no need for two.
    one, other = start[:6].copy(), start[:6].copy()
    climb_main(M, len(W), one, 6, 8, np.zeros(6, dtype=bool), LEAST, np.empty(6))
    climb_main(M, len(W), other, 6, 8, np.ones(6, dtype=bool), LEAST, np.empty(6))
    assert np.abs((one * other).sum(axis=1)).min() < 0.999


def test_climbs_are_the_same_on_many_cores():
    W, Q = packed_cores(), orthonormal_rows(3)
    nothing = np.zeros((200, P))  # adds to no sum
    by_falls = np.arange(12) >= 6
    ends = []
    for cores in (W, np.vstack([nothing, W])):
        M, Y, falls = np.vstack([cores, 0.7 * Q]).astype(np.float32), rows(12), np.empty(12)
        climb_main(M, len(cores), Y, 4, 8, by_falls, LEAST, falls)
        ends.append((Y, falls))
    assert np.allclose(ends[0][0], ends[1][0], atol=1e-4)
    assert np.allclose(ends[0][1], ends[1][1], rtol=1e-4)


def state(W, y):
    T = W @ Packing(S).outer(y[None])[0]
    gradient = Packing(S).unpack((T @ W)[None].astype(float))[0] @ y
    f = float(T @ T)
    return f, np.linalg.norm(gradient - f * y) / f


@pytest.mark.parametrize("seed", range(8))
def test_newtons_method_ends_at_a_maximum_above_its_start(seed):
    W = packed_cores(seed=seed)
    for start in rows(4, seed):
        y = start.copy()
        told = newton_main(W, np.ascontiguousarray(W.T), y, 1e-3, 40, 8)
        f, size = state(W, y)
        assert told
        assert size <= 2e-3  # of float32
        assert f >= state(W, start)[0] * (1 - 1e-5)
        for e in np.eye(S):
            assert state(W, unit(y + 0.03 * e))[0] <= f * (1 + 1e-3)


def test_it_does_not_call_a_maximum_what_it_did_not_come_to():
    W = Packing(3).pack(np.diag([3.0, 2.0, 1.0])[None]).astype(np.float32)
    WT = np.ascontiguousarray(W.T)
    saddle = np.eye(3)[1]
    assert not newton_main(W, WT, saddle, 1e-3, 40, 8)  # stationary from the beginning
    assert np.array_equal(saddle, np.eye(3)[1])
    climbed = unit(np.array([0.2, 1.0, 0.1]))
    assert not newton_main(W, WT, climbed, 1e-3, 40, 8)  # one step that climbs led to the top
    near = unit(np.array([1.0, 0.2, 0.1]))
    assert not newton_main(W, WT, near.copy(), 1e-9, 1, 8)  # no time
    assert newton_main(W, WT, near, 1e-3, 40, 8)
    for y in (climbed, near):
        assert abs(y[0]) == pytest.approx(1, abs=1e-5)


def test_systems_are_solved_where_there_is_a_factor():
    rng = np.random.default_rng(0)
    for s in (1, 2, 5, 9):
        B = rng.standard_normal((s, s))
        K, x = B @ B.T + np.eye(s), rng.standard_normal(s)
        found = x.copy()
        assert solve_positive(K.copy(), found)
        assert np.allclose(K @ found, x)
        K[s - 1, s - 1] = -1.0
        assert not solve_positive(K.copy(), x.copy())
