"""Packed symmetric matrices, and the kernels on them, against the matrices themselves."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs.solvers.core_kernels import (
    packed_curvature,
    packed_state,
    raise_quotients,
    top_of_plane,
)
from eigengraphs.solvers.packing import Packing

ORDERS = [1, 2, 5, 9]


@pytest.mark.parametrize("s", ORDERS)
def test_packing_keeps_inner_products_and_comes_back(s):
    C = random_symmetric(4, s, seed=s)
    packing = Packing(s)
    Z = packing.pack(C)
    assert (packing.order, packing.size) == (s, s * (s + 1) // 2)
    assert Z.shape == (4, packing.size)
    assert np.allclose(Z @ Z.T, np.einsum("ist,jst->ij", C, C))
    assert np.allclose(packing.unpack(Z), C)
    assert np.allclose(packing.unpack(Z[0]), C[0])  # one alone, too


@pytest.mark.parametrize("s", ORDERS)
def test_packed_outer_products_give_quadratic_forms(s):
    C = random_symmetric(3, s, seed=1)
    Y = np.random.default_rng(0).standard_normal((6, s))
    packing = Packing(s)
    assert np.allclose(packing.outer(Y), packing.pack(np.einsum("bs,bt->bst", Y, Y)))
    forms = np.einsum("bs,ist,bt->bi", Y, C, Y)
    assert np.allclose(packing.outer(Y) @ packing.pack(C).T, forms)


@pytest.mark.parametrize("s", ORDERS)
def test_packed_matrices_multiply_vectors(s):
    C = random_symmetric(4, s, seed=5)
    Y = np.random.default_rng(2).standard_normal((4, s))
    packing = Packing(s)
    assert np.allclose(packing.multiply(packing.pack(C), Y), np.einsum("ist,it->is", C, Y))


@pytest.mark.parametrize(("s", "b"), [(1, 1), (5, 2), (6, 6), (9, 1)])
def test_the_last_rows_complete_a_packed_corner(s, b):
    C = random_symmetric(3, s, seed=2)
    corner = Packing(s - b).pack(C[:, : s - b, : s - b])
    last = Packing(s).pack_last_rows(C[:, :, s - b :])
    assert np.allclose(np.hstack([corner, last]), Packing(s).pack(C))


def test_the_last_rows_are_made_symmetric_and_the_input_is_left_alone():
    rng = np.random.default_rng(0)
    C = rng.standard_normal((2, 5, 3))  # the square part C[:, 2:] is not symmetric
    before = C.copy()
    last = Packing(5).pack_last_rows(C)
    full = np.zeros((2, 5, 5))
    full[:, :, 2:] = C
    full[:, 2:, :2] = C[:, :2].transpose(0, 2, 1)
    full[:, 2:, 2:] = (C[:, 2:] + C[:, 2:].transpose(0, 2, 1)) / 2
    assert np.allclose(last, Packing(5).pack(full)[:, Packing(2).size :])
    assert np.array_equal(C, before)


@pytest.mark.parametrize("s", ORDERS)
def test_the_state_and_the_curvature_are_sums_over_the_graphs(s):
    C = random_symmetric(7, s, seed=3)
    y = np.random.default_rng(1).standard_normal(s)
    R = np.ascontiguousarray(Packing(s).pack(C))  # the one layout that kernels are compiled for
    forms = np.einsum("s,ist,t->i", y, C, y)
    S = np.full((s, s), np.nan)  # what was there before must not matter
    none = (np.zeros((0, 7)), np.zeros((0, R.shape[1])))
    found = np.full(7, np.nan)
    assert packed_state(R, *none, y, S, found) == pytest.approx(forms @ forms, rel=1e-12)
    assert np.allclose(found, forms, rtol=1e-12)
    assert np.allclose(S, np.einsum("i,ist->st", forms, C), rtol=0, atol=1e-12)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-4)):
        out = np.full((s, s), np.nan, dtype=dtype)
        packed_curvature(np.ascontiguousarray(R.T, dtype=dtype), *none, y.astype(dtype), out)
        assert np.allclose(out, (C @ y).T @ (C @ y), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("s", ORDERS)
def test_quotients_never_fall_and_rise_to_the_top_eigenvalue(s):
    rng = np.random.default_rng(s)
    C = random_symmetric(5, s, seed=4)
    Y = rng.standard_normal((5, s))
    Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    Z = Packing(s).pack(C)
    quotient = np.einsum("bs,bst,bt->b", Y, C, Y)
    for _ in range(4):
        raise_quotients(Z, Y, 1)
        assert np.allclose(np.linalg.norm(Y, axis=1), 1)
        higher = np.einsum("bs,bst,bt->b", Y, C, Y)
        assert (higher >= quotient - 1e-12).all()
        quotient = higher
    raise_quotients(Z, Y, 2000)
    top = np.linalg.eigvalsh(C)[:, -1]
    # It stops at a gradient of 1e-4 of the quotient, which the quotient misses by its square.
    quotient = np.einsum("bs,bst,bt->b", Y, C, Y)
    assert np.abs(quotient - top).max() < 1e-6 * np.abs(C).max() * s


def test_a_vector_that_is_an_eigenvector_stays():
    C = np.diag([3.0, 2.0, 1.0])[None]
    Y = np.array([[1.0, 0.0, 0.0]])
    raise_quotients(Packing(3).pack(C), Y, 8)
    assert np.array_equal(Y, [[1.0, 0.0, 0.0]])
    zero = np.array([[0.6, 0.8, 0.0]])
    raise_quotients(np.zeros((1, 6)), zero, 8)
    assert np.allclose(zero, [[0.6, 0.8, 0.0]])


@pytest.mark.parametrize("number", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-30, 1e-9, 1e-3, 1.0, 50.0])
@pytest.mark.parametrize(("rho", "corner"), [(1, -1), (-1, 1), (2, 2), (0, 0), (3, 2.9), (0, 1)])
def test_the_top_of_a_plane_to_all_digits(number, size, rho, corner):
    rho, size, corner = number(rho), number(size), number(corner)
    cosine, sine = top_of_plane(rho, size, corner)
    long = np.longdouble  # or the cosine near a right angle has no digits to compare with
    angle = np.arctan2(2 * long(size), long(rho) - long(corner)) / 2
    assert np.allclose([cosine, sine], [np.cos(angle), np.sin(angle)], rtol=1e-14, atol=1e-18)
