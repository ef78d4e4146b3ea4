"""Products of sparse graphs with columns on both sides against their NumPy twin."""

import numpy as np
import pytest
from known_graphs import random_symmetric
from scipy import sparse

from eigengraphs.graphs.columns import Columns
from eigengraphs.graphs.cross_kernels import CROSS_COLUMNS, CROSS_ROWS, flat_cross
from eigengraphs.graphs.flat_kernels import WIDTH_BYTES, flat_multiply
from eigengraphs.graphs.view_sparse import SparseProducts

M, N = 3, 2 * CROSS_ROWS + 7  # the last tile is short
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-13}
kinds = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def drawn(dtype, *, weighted):
    A = random_symmetric(M, N, seed=2, density=0.1)
    A = A if weighted else np.array(A != 0, dtype=float)
    flat = sparse.csr_array(A.reshape(-1, N)).astype(dtype)
    return A, flat


def numpy_cross(arrays, i0, s0, D, B, C, Z, out):
    """The twin: products of whole graphs, then their inner products with the columns."""
    q, n, w = B.shape
    P = np.zeros((M * n, q, w), B.dtype)
    flat_multiply(*arrays, arrays[2][:0], 0, D, B, C, P)
    P = P.reshape(M, n, q, w)[i0 : i0 + len(out), s0 : s0 + len(Z)]
    return out + np.einsum("rz,grqw->gzqw", Z, P, dtype=np.float64)


@kinds
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize(
    ("i0", "g", "s0", "rows"), [(0, M, 0, N), (1, 2, 0, N), (2, 1, 5, 140), (0, 1, 3, 0)]
)
def test_cross(dtype, weighted, q, i0, g, s0, rows):
    _, flat = drawn(dtype, weighted=weighted)
    arrays = (flat.data if weighted else flat.data[:0], flat.indices, flat.indptr)
    rng = np.random.default_rng(1)
    w = WIDTH_BYTES // np.dtype(dtype).itemsize
    B, C = rng.standard_normal((2, q, N, w)).astype(dtype)
    D = rng.standard_normal(M * N)
    Z = rng.standard_normal((rows, 3 * CROSS_COLUMNS)).astype(dtype)
    out = rng.standard_normal((g, Z.shape[1], q, w))
    expected = numpy_cross(arrays, i0, s0, D, B, C, Z, out)
    flat_cross(*arrays, flat.indptr[:0], i0, s0, D, B, C, Z, out)
    assert np.allclose(out, expected, rtol=0, atol=200 * TOLERANCE[dtype])


@kinds
@pytest.mark.parametrize("order", ["C", "F"])
def test_several_parts_of_columns_go_below_each_other(dtype, order):
    A, flat = drawn(dtype, weighted=True)
    rng = np.random.default_rng(3)
    V, B = rng.standard_normal((N, 7)), rng.standard_normal((N, 4)).astype(dtype)
    found = SparseProducts(flat, ones=False).cross(
        (np.asarray(V, order=order), B), Columns(B, None, None)
    )
    expected = np.column_stack([V, B]).T @ (A @ B)
    assert found.shape == (M, 11, 4)
    assert np.allclose(found, expected, rtol=0, atol=100 * TOLERANCE[dtype])
