"""Stage by stage, components become an orthonormal basis."""

import numpy as np
import pytest
from written_out import outer_products

from eigengraphs.dimension.halves_rules import staged_basis
from eigengraphs.solvers.rules import component_gram, solve_loadings


@pytest.mark.parametrize("hollow", [False, True])
def test_the_basis_is_gram_and_schmidts(hollow):
    rng = np.random.default_rng(0)
    H = rng.standard_normal((8, 5))
    H /= np.linalg.norm(H, axis=0)
    E = outer_products(H, hollow=hollow).reshape(5, -1)
    W = staged_basis(component_gram(H, hollow=hollow))
    Q = W.T @ E
    assert np.allclose(Q @ Q.T, np.eye(5), atol=1e-10)
    assert np.allclose(W, np.triu(W))
    A = rng.standard_normal((3, 64))
    for k in range(1, 6):  # least-squares loadings of the first k, from one set of coordinates
        by_stage = (A @ E.T @ W)[:, :k] @ W[:k, :k].T
        at_once = solve_loadings(component_gram(H[:, :k], hollow=hollow), (A @ E.T)[:, :k])
        assert np.allclose(by_stage, at_once, atol=1e-9)


def test_what_adds_nothing_has_no_place():
    # On two vertices three components span all symmetric matrices; a fourth adds nothing.
    angles = np.array([0.1, 0.9, 2.0, 2.9])
    H = np.stack([np.cos(angles), np.sin(angles)])
    W = staged_basis(component_gram(H))
    assert W[:, :3].any(axis=0).all()
    assert not W[:, 3].any()
    assert not staged_basis(np.zeros((2, 2))).any()
