"""Procrustes distances of all pairs at once, against one pair after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes

from eigengraphs.baselines import separate_embeddings
from eigengraphs.baselines.separate_embeddings import procrustes_distances


def one_by_one(X, Y):
    def distance(a, b):
        Q, _ = orthogonal_procrustes(a, b)
        return np.linalg.norm(a @ Q - b)

    return np.array([[distance(a, b) for b in Y] for a in X])


def positions(m, n, d, seed):
    return np.random.default_rng(seed).standard_normal((m, n, d))


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_all_pairs_are_those_of_orthogonal_procrustes(d, monkeypatch):
    monkeypatch.setattr(separate_embeddings, "_BLOCK_ENTRIES", 2 * d * d * 5)  # blocks of two rows
    X, Y = positions(7, 9, d, 0), positions(5, 9, d, 1)
    assert procrustes_distances(X, Y) == pytest.approx(one_by_one(X, Y))
    within = one_by_one(X, X)
    np.fill_diagonal(within, 0.0)
    assert procrustes_distances(X) == pytest.approx(within)


@given(
    seed=st.integers(0, 2**31),
    d=st.integers(1, 4),
    factor=st.floats(1e-3, 1e3),
)
def test_rotations_do_not_matter_and_scale_does(seed, d, factor):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3, 6, d))
    Q = np.linalg.qr(rng.standard_normal((3, d, d)))[0]
    D = procrustes_distances(X)
    assert procrustes_distances(X @ Q) == pytest.approx(D, abs=1e-6)
    assert procrustes_distances(X, X @ Q).diagonal() == pytest.approx(0.0, abs=1e-6)
    assert procrustes_distances(factor * X) == pytest.approx(factor * D)


@given(seed=st.integers(0, 2**31), d=st.integers(1, 3))
def test_it_is_a_metric(seed, d):
    D = procrustes_distances(positions(5, 4, d, seed))
    assert np.array_equal(D, D.T)
    assert np.array_equal(D.diagonal(), np.zeros(5))
    assert (D[:, :, None] <= D[:, None, :] + D.T[None, :, :] + 1e-7).all()


def test_equal_positions_have_no_imaginary_distance():
    X = np.repeat(positions(1, 20, 3, 0), 4, axis=0)
    assert procrustes_distances(X, X) == pytest.approx(0.0, abs=1e-6)
