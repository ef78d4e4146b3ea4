"""The steps of the loading rules' kernels: where they begin, what they refuse, what they keep."""

import numpy as np
import pytest

from eigengraphs.solvers.kernels import (
    _append,
    _begin,
    _enter,
    _least_squares,
    _objective,
    _rounding,
    _slope,
    _solve,
    penalised_rows,
    pursue_rows,
    support_rows,
)

EPS = 2.0**-52


def gram(d, seed=0, q=12):
    E = np.random.default_rng(seed).standard_normal((q, d))
    E /= np.linalg.norm(E, axis=0)
    return E.T @ E, E


def room(d):
    return np.empty(d, np.int64), np.empty((d, d)), np.zeros(d), np.ones(d)


def test_values_and_slopes_are_those_of_the_quadratic_function():
    C, _ = gram(4)
    psi, beta = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.5, 0.0, -1.0, 0.0])
    assert _objective(C, psi, beta) == pytest.approx(beta @ C @ beta - 2 * psi @ beta)
    order = np.array([2, 0, 0, 0])
    for k in range(4):
        assert _slope(C, psi, order, 2, beta, k) == pytest.approx(psi[k] - C[k] @ beta)
    expected = 1e-12 * 3.0 + 8 * EPS * 1.5
    assert _rounding(psi, beta) == pytest.approx(expected, rel=1e-12, abs=0)
    large = 1e6 * beta
    assert _rounding(psi, large) == pytest.approx(3e-12 + 8 * EPS * 1.5e6, rel=1e-12, abs=0)


def test_columns_are_appended_to_a_cholesky_factor_and_dependent_ones_are_told():
    C, E = gram(4)
    order, L, _, _ = room(4)
    for p, j in enumerate((2, 0, 3)):
        assert _append(C, order, p, L, j)
    assert list(order[:3]) == [2, 0, 3]
    expected = np.linalg.cholesky(C[np.ix_([2, 0, 3], [2, 0, 3])])
    assert np.allclose(np.tril(L[:3, :3]), expected)
    z = np.array([1.0, 2.0, 3.0, 7.0])
    _solve(L, 3, z)
    assert np.allclose(z[:3], np.linalg.solve(expected @ expected.T, [1.0, 2.0, 3.0]))
    assert z[3] == 7.0
    twice = np.ones((2, 2))
    assert _append(twice, order, 0, L, 0)
    assert not _append(twice, order, 1, L, 1)
    assert 0 < L[1, 1] <= 1e-100
    assert E.shape == (12, 4)


def begun(C, psi, warm, penalty=0.0, *, signed=True):
    d = len(psi)
    order, L, beta, sigma = room(d)
    p = _begin(
        C, np.asarray(psi, float), penalty, signed, np.asarray(warm, float), order, L, beta, sigma
    )
    return sorted(order[:p].tolist()), beta, sigma


def test_a_search_begins_at_the_warm_signs_that_hold():
    C = np.eye(4)
    support, beta, _ = begun(C, [1.0, -2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0])
    assert support == []
    assert not beta.any()
    support, beta, sigma = begun(C, [1.0, -2.0, 3.0, -4.0], [1.0, -1.0, -1.0, 0.0], 0.5)
    assert support == [0, 1]  # the third has the other sign, and the last was not there
    assert np.allclose(beta, [0.5, -1.5, 0, 0])
    assert list(sigma[:3]) == [1.0, -1.0, -1.0]
    support, beta, _ = begun(C, [1.0, -2.0, 3.0, 4.0], [1.0, -1.0, 0.0, 1.0], signed=False)
    assert support == [0, 3]
    assert np.allclose(beta, [1.0, 0, 0, 4.0])
    # Who leaves may change the others: they are solved for again.
    C, _ = gram(3, seed=4)
    psi = C @ [2.0, -1.0, 1.0]
    support, beta, _ = begun(C, psi, [1.0, 1.0, 1.0])
    kept = np.ix_(support, support)
    assert np.allclose(beta[support], np.linalg.solve(C[kept], psi[support]))
    assert 1 not in support
    dependent = np.array([[1.0, 1.0], [1.0, 1.0]])
    support, beta, _ = begun(dependent, [2.0, 2.0], [1.0, 1.0])
    assert support == [0]
    assert np.allclose(beta, [2.0, 0.0])


def test_who_enters_may_drive_another_out():
    # Alone, the first explains much; beside the second, it would be negative.
    C = np.array([[1.0, 0.8], [0.8, 1.0]])
    psi = np.array([0.7, 1.0])
    order, L, beta, sigma = room(2)
    p, entered = _enter(C, psi, 0.0, 0, order, 0, L, beta, sigma)
    assert (p, entered) == (1, True)
    assert np.allclose(beta, [0.7, 0.0])
    p, entered = _enter(C, psi, 0.0, 1, order, p, L, beta, sigma)
    assert (p, entered) == (1, True)
    assert np.allclose(beta, [0.0, 1.0])
    assert order[0] == 1


def test_who_would_enter_with_the_other_sign_does_not():
    order, L, beta, sigma = room(1)
    p, entered = _enter(np.eye(1), np.array([-1.0]), 0.0, 0, order, 0, L, beta, sigma)
    assert (p, entered) == (0, False)
    assert beta[0] == 0.0


def test_a_dependent_component_does_not_enter_beside_its_like():
    C, psi = np.ones((2, 2)), np.array([1.0, 1.0])
    out = np.zeros((1, 2))
    penalised_rows(C[None], psi[None], 0.0, True, np.zeros((1, 2)), out)
    assert np.allclose(out, [[1.0, 0.0]])  # of equals the first enters
    out = np.zeros((1, 2))
    pursue_rows(C[None], psi[None], 2, True, np.zeros((1, 2)), out)
    assert np.allclose(out, [[1.0, 0.0]])


def test_least_squares_on_a_support_leave_dependent_components_out():
    C = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    psi = np.array([2.0, 2.0, 5.0])
    order, L, beta, _ = room(3)
    _least_squares(C, psi, np.array([True, True, False]), order, L, beta)
    assert np.allclose(beta, [2.0, 0.0, 0.0])
    for signed in (True, False):
        out = np.full((2, 3), np.nan)
        support = np.array([[True, False, True], [False, False, True]])
        support_rows(C[None], np.array([psi, -psi]), support, signed, out)
        assert np.allclose(out[0], [2.0, 0.0, 5.0])
        assert np.allclose(out[1], [0.0, 0.0, -5.0 if signed else 0.0])


def greedy_trap():
    """A graph whose best pair is the last two, though the first alone is best."""
    E = np.array([[1.0, 0, 0], [0.0, 1, 0], [0.8, 0.6, 0.0]]).T
    E = np.column_stack([E[:, 2], E[:, 0], E[:, 1]])
    E[:, 0] = np.array([0.7, 0.7, np.sqrt(0.02)])
    return E.T @ E, np.array([1.0, 0.95, 0.0]) @ E


@pytest.mark.parametrize("signed", [True, False])
def test_a_previous_support_is_kept_where_it_leaves_less(signed):
    C, psi = greedy_trap()
    best = np.array([[0.0, 1.0, 0.95]])
    for most, previous, expected in (
        (2, best, True), (2, 0 * best, False), (1, best, False), (3, np.ones((1, 3)), None),
    ):  # fmt: skip
        out = np.zeros((1, 3))
        pursue_rows(C[None], psi[None], most, signed, previous, out)
        assert np.count_nonzero(out) <= most
        if expected is not None:
            assert np.allclose(out, best) == expected
            assert (out[0, 0] == 0) == expected


@pytest.mark.parametrize("signed", [True, False])
def test_an_equal_support_does_not_take_the_place_of_the_pursuits_own(signed):
    C = np.ones((2, 2))
    out = np.zeros((1, 2))
    pursue_rows(C[None], np.array([[1.5, 1.5]]), 1, signed, np.array([[0.0, 1.0]]), out)
    assert np.allclose(out, [[1.5, 0.0]])


def brute_force(C, psi, penalty, signed):
    """Return the least value over all supports and signs."""
    d, best = len(psi), 0.0
    for code in np.ndindex(*(3,) * d):
        sigma = np.array(code) - 1.0
        if not signed and (sigma < 0).any():
            continue
        on = np.flatnonzero(sigma)
        if len(on) == 0:
            continue
        beta = np.zeros(d)
        beta[on] = np.linalg.solve(C[np.ix_(on, on)], psi[on] - penalty * sigma[on])
        if (beta[on] * sigma[on] > 0).all():
            value = beta @ C @ beta - 2 * psi @ beta + 2 * penalty * np.abs(beta).sum()
            best = min(best, value)
    return best


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_wherever_it_begins_the_least_of_all_supports_is_found(signed, penalty):
    rng = np.random.default_rng(0)
    for seed in range(6):
        C, E = gram(4, seed, q=5)
        Psi = rng.standard_normal((8, 5)) @ E
        warm = rng.standard_normal((8, 4)) * (rng.random((8, 4)) < 0.6)
        out = np.empty((8, 4))
        penalised_rows(C[None], Psi, penalty, signed, warm, out)
        for psi, beta in zip(Psi, out, strict=True):
            value = beta @ C @ beta - 2 * psi @ beta + 2 * penalty * np.abs(beta).sum()
            assert value == pytest.approx(brute_force(C, psi, penalty, signed), abs=1e-9)
            assert signed or (beta >= 0).all()
