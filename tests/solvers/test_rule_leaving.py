"""Who leaves when another enters: by how far each can go, from wherever it is."""

import numpy as np

from eigengraphs.solvers.kernels import _enter


def test_a_loading_of_one_goes_as_far_as_any_other():
    C, psi = np.array([[1.0, 0.8], [0.8, 1.0]]), np.array([1.0, 1.5])
    order, L, beta, sigma = np.empty(2, np.int64), np.empty((2, 2)), np.zeros(2), np.ones(2)
    p, entered = _enter(C, psi, 0.0, 0, order, 0, L, beta, sigma)
    assert (p, entered) == (1, True)
    assert np.allclose(beta, [1.0, 0.0])
    p, entered = _enter(C, psi, 0.0, 1, order, p, L, beta, sigma)
    assert (p, entered) == (1, True)
    assert np.allclose(beta, [0.0, 1.5])
