"""Kernels on lower triangles against NumPy."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import sparse

from eigengraphs.graphs.entry_kernels import dense_entries, dense_forms, flat_entries

SIZES = [1, 2, 5, 20, 33]


def flat_of(A):
    return sparse.csr_array(A.reshape(-1, A.shape[2]))


def triangles(A):
    s, t = np.tril_indices(A.shape[1])
    return A[:, s, t].astype(np.float64)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_diagonal", [False, True])
def test_entries_are_those_of_treated_graphs(n, dtype, with_diagonal):
    A = random_symmetric(7, n, seed=n, density=0.4).astype(dtype)
    rng = np.random.default_rng(n)
    D = rng.random((7 if with_diagonal else 0, n))
    mu = rng.random(n * (n + 1) // 2)
    treated = A.astype(np.float64)
    if with_diagonal:
        treated[:, range(n), range(n)] += D
    expected = 0.25 * (triangles(treated) - mu)
    dense, flat = np.full((2, *expected.shape), np.nan)
    dense_entries(A, D, mu, 0.25, dense)
    F = flat_of(A)
    flat_entries(F.data, F.indices, F.indptr, 0, D, mu, 0.25, flat)
    assert np.allclose(dense, expected, rtol=1e-14)
    assert np.allclose(flat, expected, rtol=1e-14)
    flat_entries(F.data, F.indices, F.indptr, 2, D[2:4], mu, 0.25, flat[:2])
    assert np.allclose(flat[:2], expected[2:4], rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("q", [1, 3, 400])
def test_forms_are_inner_products_in_float64(q, dtype):
    rng = np.random.default_rng(q)
    A, X = rng.standard_normal((9, q)).astype(dtype), rng.standard_normal((4, q))
    out = np.full((9, 4), np.nan)
    dense_forms(A, X, out)
    assert np.allclose(out, A.astype(np.float64) @ X.T, rtol=1e-12, atol=1e-12)
