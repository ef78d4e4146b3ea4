"""Cores less loadings of components: as factors, exactly and in float32, and written out."""

import numpy as np

from eigengraphs.solvers.left_cores import LeftCores

M, P = 4, 6


def given():
    rng = np.random.default_rng(0)
    return rng.standard_normal((M, P)), rng.standard_normal((M, 2)), rng.standard_normal((2, P))


def test_cores_as_they_are_have_nothing_taken_off():
    R, _, _ = given()
    cores = LeftCores.of(np.asfortranarray(R))
    assert np.array_equal(cores.written_out(), R)
    assert np.allclose(cores.squares, (R**2).sum(axis=1))
    for factors, kind in ((cores.exact, np.float64), (cores.rough, np.float32)):
        assert [factor.shape for factor in factors] == [(M, P), (M, 0), (0, P)]
        assert all(factor.dtype == kind and factor.flags.c_contiguous for factor in factors)


def test_what_is_taken_off_takes_the_place_of_what_was():
    R, Lam, Q = given()
    whole = LeftCores.of(R)
    left = whole.less(Lam[:, :1], Q[:1]).less(Lam, np.asfortranarray(Q))
    assert np.allclose(left.written_out(), R - Lam @ Q)
    assert left.exact[0] is whole.exact[0]  # nothing large is copied
    assert left.rough[0] is whole.rough[0]
    assert np.array_equal(left.squares, whole.squares)
    for exact, rough in zip(left.exact, left.rough, strict=True):
        assert np.array_equal(rough, exact.astype(np.float32))
        assert rough.flags.c_contiguous
