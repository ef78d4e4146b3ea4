"""Signs of components."""

import numpy as np

from eigengraphs.solvers.solution import column_signs, with_signs, with_signs_pair


def test_the_first_of_the_largest_entries_is_positive():
    X = np.array([[1.0, -1.0, 0.5, -2.0], [-1.0 - 1e-7, 0.3, -0.9, 1.0], [0.2, 1.0, 0.1, -2.0]])
    assert np.array_equal(column_signs(X), [1.0, -1.0, -1.0, -1.0])
    assert np.array_equal(with_signs(X), X * [1.0, -1.0, -1.0, -1.0])
    H, G = with_signs_pair(X, 2 * X)
    assert np.array_equal(G, 2 * H)
    assert np.array_equal(column_signs(np.array([[1.0], [-1.0 - 1e-5]])), [-1.0])


def test_signs_of_a_pair_turn_together():
    H, G = np.random.default_rng(0).standard_normal((2, 9, 4))
    signed_H, signed_G = with_signs_pair(H, G)
    assert np.array_equal(signed_H, with_signs(H))
    assert np.allclose(np.einsum("sk,tk->kst", H, G), np.einsum("sk,tk->kst", signed_H, signed_G))
    assert (signed_H[np.abs(H).argmax(axis=0), range(4)] > 0).all()
