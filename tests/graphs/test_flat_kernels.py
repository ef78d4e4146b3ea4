"""The kernels for products of sparse graphs against their NumPy twins."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import sparse

from eigengraphs.graphs.flat_kernels import (
    WIDTH_BYTES,
    add_weighted,
    column_dots,
    flat_multiply,
    flat_row_sums,
    flat_upper,
)

M, N = 4, 11
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-13}

kinds = pytest.mark.parametrize(
    ("dtype", "index"), [(np.float32, np.int32), (np.float64, np.int64), (np.float32, np.int64)]
)


def drawn(dtype, index, weighted):
    """Graphs (m, n, n), one of them and a row in each empty, and the arrays of the flat matrix."""
    A = random_symmetric(M, N, seed=1, density=0.4)
    A[1] = 0
    A[:, 4], A[:, :, 4] = 0, 0
    A = A if weighted else np.array(A != 0, dtype=float)
    flat = sparse.csr_array(A.reshape(-1, N)).astype(dtype)
    data = flat.data if weighted else flat.data[:0]
    return A, (data, flat.indices.astype(index), flat.indptr.astype(index))


def numpy_multiply(A, D, B, C, half):
    """The twin: treated graphs written out, times each slab, (m n, q, w)."""
    share = 0.5 if half else 1.0
    treated = (np.triu(A, 1) if half else A * (1 - np.eye(N))).astype(float)
    treated[:, range(N), range(N)] = share * (np.einsum("iss->is", A) + D)
    return (np.einsum("ist,jtk->isjk", treated, B) - share * C.transpose(1, 0, 2)).reshape(
        M * N, *np.array(B.shape)[[0, 2]]
    )


def numpy_upper(A, indptr):
    below = np.tril(A != 0).sum(axis=2).ravel()
    return indptr[:-1] + below


@kinds
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("treated", [False, True])
@pytest.mark.parametrize("q", [1, 3])
def test_multiply(dtype, index, weighted, half, treated, q):
    A, (data, indices, indptr) = drawn(dtype, index, weighted)
    rng = np.random.default_rng(0)
    w = WIDTH_BYTES // np.dtype(dtype).itemsize
    B = rng.standard_normal((q, N, w)).astype(dtype)
    C = rng.standard_normal((q, N, w)).astype(dtype) if treated else B[:0]
    D = rng.standard_normal(M * N) if treated else np.zeros(0)
    expected = numpy_multiply(
        A, D.reshape(M, N) if treated else 0, B, C if treated else np.zeros((1, N, 1)), half
    )
    upper = numpy_upper(A, indptr).astype(index) if half else indptr[:0]
    for first, last in [(0, M * N), (3, 5), (9, 30), (N, 2 * N), (7, 7)]:
        out = np.full((last - first, q, w), np.nan, dtype)
        flat_multiply(data, indices, indptr, upper, first, D, B, C, out)
        assert np.allclose(out, expected[first:last], atol=10 * TOLERANCE[dtype])


def test_multiply_needs_no_alignment():
    A, arrays = drawn(np.float32, np.int32, weighted=True)
    B = np.random.default_rng(0).standard_normal((1, N, 16)).astype(np.float32)
    for shift in range(4):
        apart = np.zeros(B.size + shift, np.float32)[shift:].reshape(B.shape)
        apart[...] = B
        out = np.zeros(M * N * 16 + shift, np.float32)[shift:].reshape(M * N, 1, 16)
        flat_multiply(*arrays, arrays[2][:0], 0, np.zeros(0), apart, apart[:0], out)
        assert np.allclose(out.reshape(M, N, 16), A @ B[0], atol=1e-5)


@kinds
def test_upper_and_row_sums(dtype, index):
    A, (data, indices, indptr) = drawn(dtype, index, weighted=True)
    for first, last in [(0, M * N), (9, 30)]:
        upper, sums = np.empty(last - first, index), np.empty(last - first)
        flat_upper(indices, indptr, N, first, upper)
        flat_row_sums(data, indptr, first, sums)
        assert np.array_equal(upper, numpy_upper(A, indptr)[first:last])
        assert np.allclose(sums, A.sum(axis=2).ravel()[first:last], atol=TOLERANCE[dtype] * 10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 3, 4, 9])
@pytest.mark.parametrize("d", [1, 5, 16])
def test_sums_of_tiles(dtype, n, d):
    rng = np.random.default_rng(0)
    P, H = rng.standard_normal((3, n, 16)).astype(dtype), rng.standard_normal((n, d)).astype(dtype)
    weights = rng.standard_normal(d)
    dots, total = np.ones((3, d)), np.ones((n, d))
    column_dots(P, H, dots)
    add_weighted(P[0], weights, total)
    wide = P.astype(float)[:, :, :d]
    assert np.allclose(dots, 1 + np.einsum("isk,sk->ik", wide, H.astype(float)), rtol=1e-12)
    assert np.allclose(total, 1 + weights * wide[0], rtol=1e-12)
