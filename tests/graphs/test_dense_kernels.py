"""The kernel of a few rows against NumPy."""

import numpy as np
import pytest

from eigengraphs.graphs.dense_kernels import (
    TILE_BYTES,
    as_padded_rows,
    multiply_graphs,
    multiply_transposes,
)
from eigengraphs.graphs.view_dense import _FEW_COLUMNS, DenseProducts


def by_transposes(A, B):
    out = np.full((len(A), B.shape[1], A.shape[1]), np.nan, dtype=A.dtype)
    multiply_transposes(A, as_padded_rows(np.ascontiguousarray(B.T)), out)
    return out


def by_kernel(A, B):
    out = np.full((len(A), B.shape[1], A.shape[1]), np.nan, dtype=A.dtype)
    tail = np.full((B.shape[1], TILE_BYTES // A.itemsize), np.nan, dtype=A.dtype)
    multiply_graphs(A, B, out, tail)
    return out


# Fewer rows than a chunk and more, tiles that fit and that overlap, one to three groups of columns.
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [16, 17, 31, 32, 50, 131])
@pytest.mark.parametrize("b", [1, 2, 3, 4, 5, 6, 7, 11, 12, 13])
def test_products_are_those_of_numpy(b, n, dtype):
    rng = np.random.default_rng(1000 * n + b)
    A = rng.standard_normal((3, n, n)).astype(dtype)  # not symmetric: B^T A is not (A B)^T
    B = rng.standard_normal((n, b)).astype(dtype)
    exact, sizes = np.matmul(B.T.astype(float), A.astype(float)), np.matmul(abs(B.T), abs(A))
    # A term goes through the sum of its chunk of 16 rows, then through that of the chunks.
    roundings = 16 + n / 16 + 2
    assert (np.abs(by_kernel(A, B) - exact) <= roundings * np.finfo(dtype).eps * sizes).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [8, 9, 16, 23, 50, 131])
@pytest.mark.parametrize("b", [1, 3, 4, 5, 8, 12])
def test_products_with_transposes_are_those_of_numpy(b, n, dtype):
    rng = np.random.default_rng(1000 * n + b)
    A = rng.standard_normal((3, n, n)).astype(dtype)
    B = rng.standard_normal((n, b)).astype(dtype)
    AT = A.transpose(0, 2, 1)
    exact, sizes = np.matmul(B.T.astype(float), AT.astype(float)), np.matmul(abs(B.T), abs(AT))
    assert (np.abs(by_transposes(A, B) - exact) <= (n / 4 + 4) * np.finfo(dtype).eps * sizes).all()


@pytest.mark.parametrize("n", [5, 40, 400])
def test_each_graph_meets_rows_of_its_own(n):
    rng = np.random.default_rng(n)
    A, P = rng.standard_normal((4, n, n)), rng.standard_normal((2, 3, n))
    assert np.allclose(DenseProducts(A).times_each(P, 1, 3), P @ A[1:3])
    assert np.allclose(DenseProducts(A).times_each(P[:1], 2, 3), P[0] @ A[2])


def test_rounding_does_not_pile_up_along_the_rows():
    # In one running sum, small terms would be lost beside what came before.
    n = 4096
    A = np.full((1, n, n), 0.1, dtype=np.float32)
    B = np.ones((n, 1), dtype=np.float32)
    relative = np.abs(by_kernel(A, B) / (n * np.float64(np.float32(0.1))) - 1).max()
    running = np.float32(0)
    for _ in range(n):
        running += np.float32(0.1)
    assert relative < 0.1 * abs(running / (n * 0.1) - 1)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("b", [0, 2, _FEW_COLUMNS, _FEW_COLUMNS + 1])
@pytest.mark.parametrize("turned", [False, True])
def test_stacks_choose_a_way_to_multiply_and_find_the_same(n, b, turned):
    rng = np.random.default_rng(n + b)
    A = rng.standard_normal((4, n, n))
    A = A.transpose(0, 2, 1) if turned else A
    BT = rng.standard_normal((b, n))
    assert np.allclose(DenseProducts(A).times(BT, 1, 3), BT @ A[1:3], atol=1e-12)


@pytest.mark.parametrize("turned", [False, True])
def test_products_go_into_rows_of_a_larger_room(turned):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4, 40, 40))
    A = A.transpose(0, 2, 1) if turned else A
    BT, room = rng.standard_normal((3, 40)), np.full((3, 8, 40), 7.0)
    found = DenseProducts(A).times(BT, 1, 4, room[:, 2:5])
    assert np.shares_memory(found, room)
    assert np.allclose(room[:, 2:5], BT @ A[1:])
    assert (room[:, :2] == 7).all()
    assert (room[:, 5:] == 7).all()
