"""Kernels on lower triangles against NumPy."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import sparse

from eigengraphs.graphs.entry_kernels import (
    WORD,
    count_common,
    dense_bits,
    dense_entries,
    dense_forms,
    flat_bits,
    flat_entries,
)

SIZES = [1, 2, 5, 20, 33]


def flat_of(A):
    return sparse.csr_array(A.reshape(-1, A.shape[2]))


def triangles(A):
    s, t = np.tril_indices(A.shape[1])
    return A[:, s, t].astype(np.float64)


def unpacked_bits(words, m):
    bits = (words[:, :, None] >> np.arange(WORD, dtype=np.uint64)) & np.uint64(1)
    return bits.reshape(len(words), -1)[:, :m].T


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


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", [1, WORD - 1, WORD, WORD + 1, 3 * WORD])
def test_a_bit_says_whether_an_entry_is_there(n, m):
    A = (random_symmetric(m, n, seed=n + m, density=0.5) != 0).astype(float)
    dense = np.full((n * (n + 1) // 2, -(-m // WORD)), 2**64 - 1, dtype=np.uint64)
    flat = dense.copy()
    dense_bits(A, dense)
    F = flat_of(A)
    flat_bits(F.indices, F.indptr, 0, m, flat)
    assert np.array_equal(unpacked_bits(dense, m), triangles(A))
    assert np.array_equal(unpacked_bits(dense, -(-m // WORD) * WORD)[m:].sum(), 0)
    assert np.array_equal(flat, dense)


def test_bits_of_graphs_further_on():
    A = (random_symmetric(3 * WORD, 4, seed=0, density=0.5) != 0).astype(float)
    F, out = flat_of(A), np.zeros((10, 1), dtype=np.uint64)
    flat_bits(F.indices, F.indptr, WORD, WORD, out)
    assert np.array_equal(unpacked_bits(out, WORD), triangles(A[WORD : 2 * WORD]))


def test_common_bits_are_counted():
    words = np.random.default_rng(0).integers(2**64, size=(13, 5), dtype=np.uint64)
    words[3], words[4] = 0, 2**64 - 1
    C = unpacked_bits(words, 5 * WORD).astype(np.int64)
    counts = np.full((13, 13), -1.0)
    count_common(words, 2, 11, counts)
    lower = np.tril(np.ones((13, 13), dtype=bool))
    lower[:2] = lower[11:] = False
    assert np.array_equal(counts[lower], (C.T @ C)[lower])
    assert (counts[~lower] == -1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("q", [1, 3, 400])
def test_forms_are_inner_products_in_float64(q, dtype):
    rng = np.random.default_rng(q)
    A, X = rng.standard_normal((9, q)).astype(dtype), rng.standard_normal((4, q))
    out = np.full((9, 4), np.nan)
    dense_forms(A, X, out)
    assert np.allclose(out, A.astype(np.float64) @ X.T, rtol=1e-12, atol=1e-12)
