"""The kernels of the directed solver's core: against NumPy."""

import numpy as np
import pytest

from eigengraphs.solvers.directed.kernels import (
    keep_tangents,
    minus_hessian,
    multiply_pairs,
    raise_pairs,
    weigh_cores,
)
from eigengraphs.solvers.directed.pairs import unit_pairs

S, T = 5, 4


def drawn_pairs(d):
    """Unit pairs, one a row, (d, S + T)."""
    return unit_pairs(np.random.default_rng(0).standard_normal((d, S + T)), S)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cores_are_weighed_as_numpy_does_it(dtype):
    rng = np.random.default_rng(0)
    for r in (3, 4, 6, 8):  # whole fours of cores, and some beside
        R, z, off = rng.standard_normal((r, 20)), rng.standard_normal(20), rng.standard_normal(r)
        forms, total = np.empty(r), np.empty(20, dtype=dtype)
        square = weigh_cores(R.astype(dtype), z.astype(dtype), off, forms, total)
        tolerance = 1e-4 if dtype == np.float32 else 1e-12
        expected = R @ z - off
        assert np.allclose(forms, expected, atol=tolerance)
        assert np.allclose(total, expected @ R, atol=10 * tolerance)
        assert square == pytest.approx(expected @ expected, rel=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cores_times_both_halves_are_what_numpy_says(dtype):
    rng = np.random.default_rng(0)
    C, y, z = rng.standard_normal((6, S, T)), rng.standard_normal(S), rng.standard_normal(T)
    B = np.full((6, S + T), np.nan, dtype=dtype)
    multiply_pairs(C.reshape(6, -1).astype(dtype), y.astype(dtype), z.astype(dtype), B)
    expected = np.hstack([C @ z, np.einsum("s,ist->it", y, C)])
    assert np.allclose(B, expected, atol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("with_norm", [False, True])
def test_the_hessian_is_put_together_on_the_tangent_spaces(with_norm):
    rng = np.random.default_rng(0)
    B, total = rng.standard_normal((6, S + T)), rng.standard_normal((S, T))
    N2 = rng.standard_normal((S + T, S + T))
    N2 = N2 + N2.T if with_norm else np.zeros((0, 0))
    x, K = drawn_pairs(1)[0], np.empty((S + T, S + T))
    minus_hessian(B.T @ B, total, x, 3.0, N2, K)
    cross = np.block([[np.zeros((S, S)), total], [total.T, np.zeros((T, T))]])
    expected = 3.0 * (N2 if with_norm else np.eye(S + T)) - B.T @ B - cross
    keep_tangents(expected, x, S, 12.0)
    assert np.allclose(K, expected)


def test_tangents_are_kept_and_the_point_is_set_apart():
    rng = np.random.default_rng(0)
    K = rng.standard_normal((S + T, S + T))
    K, x = K + K.T, drawn_pairs(1)[0]
    E = np.zeros((S + T, 2))
    E[:S, 0], E[S:, 1] = x[:S], x[S:]
    P = np.eye(S + T) - E @ E.T
    expected = P @ K @ P + 7.0 * E @ E.T
    keep_tangents(K, x, S, 7.0)
    assert np.allclose(K, expected)


def test_pairs_are_raised_to_the_top_singular_pair_and_never_lowered():
    rng = np.random.default_rng(0)
    Z, X = rng.standard_normal((7, S * T)), drawn_pairs(7)
    Z[3] = 0
    matrices = Z.reshape(7, S, T)
    value = np.einsum("bs,bst,bt->b", X[:, :S], matrices, X[:, S:])
    for n_steps in (0, 1, 3, 200):
        raise_pairs(Z, X, S, n_steps)
        before, value = value, np.einsum("bs,bst,bt->b", X[:, :S], matrices, X[:, S:])
        assert (value >= before - 1e-12).all()
        assert np.allclose(np.linalg.norm(X[:, :S], axis=1), 1)
        assert np.allclose(np.linalg.norm(X[:, S:], axis=1), 1)
    # The kernel stops where the gradient is a ten-thousandth of the squared singular value.
    assert np.allclose(value, [np.linalg.norm(C, 2) for C in matrices], rtol=1e-6)
