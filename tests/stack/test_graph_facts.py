"""What the scans find of graphs, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_graphs import random_symmetric
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.stack import graph_facts
from eigengraphs.stack.graph_facts import find_facts


def numpy_facts(A):
    diagonals = np.einsum("iss->is", A).astype(float)
    off = A.astype(float) * (1 - np.eye(A.shape[1]))
    return {
        "norm": np.sqrt((A.astype(float) ** 2).sum(axis=(1, 2))),
        "off_norm": np.sqrt((off**2).sum(axis=(1, 2))),
        "n_nonzero": (A != 0).sum(axis=(1, 2)),
        "n_loops": (diagonals != 0).sum(axis=1),
        "diagonal_low": diagonals.min(axis=1),
        "diagonal_high": diagonals.max(axis=1),
        "is_binary": np.isin(A, [0, 1]).all(axis=(1, 2)),
        "is_symmetric": np.equal(A, A.transpose(0, 2, 1)).all(axis=(1, 2)),
        "first_bad": np.full(len(A), -1),
    }


def both(A):
    """Return what is found of dense graphs, and of the same as one flat matrix."""
    flat = sparse.csr_array(A.reshape(-1, A.shape[2]))
    return find_facts(A), find_facts(flat)


def draw(m, n, seed, symmetric):
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 3, size=(m, n, n)) * (rng.random((m, n, n)) < 0.5)
    if symmetric:
        A = A + A.transpose(0, 2, 1)
    A = A * rng.choice([1.0, 0.3, -1e5], size=(m, 1, 1))
    A[0] = A[0] > 0  # one that may be binary
    A[1:2] = 0
    A[2:3, range(n), range(n)] = 1e6  # beside which the rest is small
    A[3:4] = np.eye(n)
    return A.astype(np.float64 if seed % 2 else np.float32)


@given(
    m=st.integers(1, 7),
    n=st.sampled_from([1, 2, 7, 33, 64, 65, 70]),  # around the size of a tile
    seed=st.integers(0, 1000),
    symmetric=st.booleans(),
)
def test_facts_are_those_of_numpy(m, n, seed, symmetric):
    A = draw(m, n, seed, symmetric)
    for found in both(A):
        for name, values in numpy_facts(A).items():
            assert np.allclose(getattr(found, name), values, rtol=1e-12), name


def test_threads_change_nothing(monkeypatch):
    A = draw(23, 20, 3, symmetric=False)
    alone = both(A)
    monkeypatch.setattr(graph_facts, "THREADS_PAY_FROM", 1)
    for one, many in zip(alone, both(A), strict=True):
        assert np.array_equal(one.norm, many.norm)
        assert np.array_equal(one.n_nonzero, many.n_nonzero)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (3, 1), (1, 3), (69, 2)])
def test_the_first_entry_that_is_not_finite_is_found(bad, place):
    A = np.ones((3, 70, 70))
    A[1][place] = A[1, 69, 69] = bad
    for found in both(A):
        assert found.first_bad.tolist() == [-1, place[0] * 70 + place[1], -1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_single_entry_without_its_mirror_image_is_seen(dtype):
    A = np.tile(np.ones((9, 9), dtype=dtype), (81, 1, 1))
    for place, graph in enumerate(A):
        graph[place // 9, place % 9] = [0, 2, -1, 1 + 1e-3][place % 4]
    for found in both(A):
        assert np.array_equal(found.is_symmetric.reshape(9, 9), np.eye(9, dtype=bool))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_is_no_direction_and_one_count_among_millions_is(dtype):
    A = np.full((3, 50, 50), 2.0**23, dtype=dtype)
    A[1, 3, 40] += 1
    A[2, 3, 40] = np.nextafter(A[2, 3, 40], dtype(np.inf)) if dtype == np.float64 else A[2, 3, 40]
    for found in both(A):
        assert found.is_symmetric.tolist() == [True, dtype == np.float32, True]


def test_an_entry_that_is_rounding_needs_no_mirror_image():
    A = np.ones((1, 6, 6))
    A[0, 1, 4], A[0, 4, 1] = 1e-17, 0
    for found in both(A):
        assert found.is_symmetric.all()


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("power", [515, 700, -515, -700])
def test_the_unit_of_weights_changes_no_digit_of_norms(power, storage):
    for seed in range(5):
        A = random_symmetric(4, 9, seed=seed, density=0.6)
        one = GraphStack(A, storage=storage).facts
        other = GraphStack(np.ldexp(A, power), storage=storage).facts
        assert np.array_equal(other.norm, np.ldexp(one.norm, power))
        assert np.array_equal(other.off_norm, np.ldexp(one.off_norm, power))
