"""Loadings and what they leave, against least squares on whole matrices."""

import numpy as np
import pytest

from eigengraphs.solvers.rules import (
    active_gram,
    component_gram,
    condition,
    rounding_share,
    solve_loadings,
)

M, N, D = 5, 7, 3


def drawn(seed=0):
    rng = np.random.default_rng(seed)
    H, G = rng.standard_normal((2, N, D))
    return H, G, rng.standard_normal((M, N, N)), rng.uniform(0.5, 2.0, M)


def components(H, G, hollow):
    """Return h_k g_k^T as rows of numbers, (d, n * n)."""
    E = np.einsum("sk,tk->kst", H, H if G is None else G)
    if hollow:
        E[:, range(N), range(N)] = 0.0
    return E.reshape(-1, N * N)


@pytest.mark.parametrize("hollow", [False, True])
@pytest.mark.parametrize("two_sided", [False, True])
def test_gamma_is_the_inner_products_of_the_components(hollow, two_sided):
    H, G, _, _ = drawn()
    G = G if two_sided else None
    E = components(H, G, hollow)
    assert np.allclose(component_gram(H, G, hollow=hollow), E @ E.T, rtol=1e-12)
    active = np.array([True, False, True])
    expected = (E * active[:, None]) @ (E * active[:, None]).T
    assert np.allclose(active_gram(H, active, hollow=hollow, G=G), expected, rtol=1e-12)


def test_the_condition_is_that_of_the_eigenvalues():
    assert condition(np.diag([2.0, 8.0])) == pytest.approx(4.0)
    assert condition(np.zeros((0, 0))) == 1.0
    assert condition(np.diag([0.0, 1.0])) == np.inf
    assert condition(np.array([[3.0]])) == 1.0


def test_loadings_are_least_squares():
    H, _, A, _ = drawn()
    E = components(H, None, False)
    flat = A.reshape(M, -1)
    expected = np.linalg.lstsq(E.T, flat.T, rcond=None)[0].T
    assert np.allclose(solve_loadings(E @ E.T, flat @ E.T), expected, rtol=1e-10)


def test_dependent_components_share_and_nothing_gets_nothing():
    H, _, A, _ = drawn()
    H = np.column_stack([H[:, 0], H[:, 0], np.zeros(N)])
    E = components(H, None, False)
    flat = A.reshape(M, -1)
    Lam = solve_loadings(E @ E.T, flat @ E.T)
    assert np.allclose(Lam[:, 0], Lam[:, 1], rtol=1e-10)
    assert np.allclose(Lam[:, 0] + Lam[:, 1], flat @ E[0] / (E[0] @ E[0]), rtol=1e-10)
    assert not Lam[:, 2].any()
    assert not solve_loadings(np.zeros((2, 2)), np.ones((M, 2))).any()
    assert solve_loadings(np.zeros((0, 0)), np.zeros((M, 0))).shape == (M, 0)


def test_small_eigenvalues_count_until_they_are_rounding():
    eps = np.finfo(np.float64).eps
    Psi = np.ones((1, 2))
    for share, kept in ((100 * eps, True), (5 * eps, False)):  # the limit is at 20
        Lam = solve_loadings(np.diag([1.0, share]), Psi)
        assert (Lam[0, 1] != 0) == kept
    # The limit goes with the number of components.
    wide = np.diag([1.0, 25 * eps, 1.0, 1.0])
    assert solve_loadings(wide, np.ones((1, 4)))[0, 1] == 0
    assert solve_loadings(np.diag([1e-200, 2e-200]), Psi)[0] == pytest.approx([1e200, 5e199])


def test_rounding_grows_with_the_number_of_vertices():
    eps = np.finfo(np.float64).eps
    assert rounding_share(1) == 100 * eps
    assert rounding_share(30) == 3000 * eps
