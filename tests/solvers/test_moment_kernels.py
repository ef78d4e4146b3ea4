"""Kernels for packed matrices and roots of second moments against NumPy."""

import numpy as np
import pytest
from scipy import linalg

from eigengraphs.solvers.moment_kernels import put_back, squares_in_moment, unpack_all
from eigengraphs.solvers.packing import Packing


@pytest.mark.parametrize("rank", [0, 1, 3, 6])
def test_columns_of_a_triangle_go_back_to_their_places(rank):
    rng = np.random.default_rng(rank)
    factor = np.asfortranarray(rng.standard_normal((6, 6)))
    pivots = (rng.permutation(6) + 1).astype(np.int32)
    R = np.zeros((rank, 6))
    put_back(factor, pivots, R)
    expected = np.zeros((rank, 6))
    expected[:, pivots - 1] = np.triu(factor)[:rank]
    assert np.array_equal(R, expected)


def test_a_root_with_pivots_is_a_root():
    X = np.random.default_rng(0).standard_normal((9, 5))
    factor, pivots, rank, _ = linalg.lapack.dpstrf(X.T @ X, lower=0)
    R = np.zeros((rank, 5))
    put_back(factor, pivots, R)
    assert np.allclose(R.T @ R, X.T @ X)


@pytest.mark.parametrize("s", [1, 2, 7])
def test_packed_rows_come_back(s):
    C = np.random.default_rng(s).standard_normal((4, s, s))
    C += C.transpose(0, 2, 1)
    packing, out = Packing(s), np.full((4, s, s), np.nan)
    unpack_all(packing.pack(C), out)
    assert np.allclose(out, C, rtol=1e-15)
    assert np.array_equal(packing.unpack(packing.pack(C)), out)
    assert np.array_equal(packing.unpack(packing.pack(C)[::2]), out[::2])
    assert np.array_equal(packing.unpack(packing.pack(C[0])), out[0])


def test_sums_over_triangles_become_those_of_packed_ones():
    C = np.random.default_rng(0).standard_normal((8, 3, 3))
    C += C.transpose(0, 2, 1)
    s, t = np.tril_indices(3)
    c, packing = C[:, s, t], Packing(3)
    M, mean = c.T @ c, c.sum(axis=0)
    packing.scale_moment(M, mean)
    Z = packing.pack(C)
    assert np.allclose(M, Z.T @ Z)
    assert np.allclose(mean, Z.sum(axis=0))


@pytest.mark.parametrize("s", [1, 2, 7])
def test_the_sum_of_squares_is_in_the_second_moment(s):
    C = np.random.default_rng(s).standard_normal((5, s, s))
    C += C.transpose(0, 2, 1)
    rows, columns = np.tril_indices(s)
    c = C[:, rows, columns]
    M = np.triu(c.T @ c) + np.tril(np.full((len(rows),) * 2, np.nan), -1)  # upper triangle alone
    found = np.full((s, s), np.nan)
    squares_in_moment(np.asfortranarray(M), found)
    assert np.allclose(found, (C @ C).sum(axis=0))
