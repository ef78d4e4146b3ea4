"""The compiled scans against their NumPy twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from eigengraphs.graphs import facts as facts_module
from eigengraphs.graphs.facts import scan
from eigengraphs.graphs.kernels import flat_diagonals, flat_distances


def numpy_facts(A):
    m = len(A)
    diagonals = np.einsum("iss->is", A)
    return {
        "norm": np.sqrt((A.astype(float) ** 2).sum(axis=(1, 2))),
        "off_norm": np.sqrt((A.astype(float) ** 2).sum(axis=(1, 2)) - (diagonals**2.0).sum(axis=1)),
        "n_nonzero": (A != 0).sum(axis=(1, 2)),
        "n_loops": (diagonals != 0).sum(axis=1),
        "diagonal_low": diagonals.min(axis=1),
        "diagonal_high": diagonals.max(axis=1),
        "is_binary": np.isin(A, [0, 1]).all(axis=(1, 2)),
        "is_symmetric": np.equal(A, A.transpose(0, 2, 1)).all(axis=(1, 2)),
        "first_bad": np.full(m, -1),
    }


def draw(m, n, seed, symmetric):
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 3, size=(m, n, n)) * (rng.random((m, n, n)) < 0.5)
    if symmetric:
        A = A + A.transpose(0, 2, 1)
    A[0] = A[0] > 0  # one that may be binary
    return A.astype(np.float64 if seed % 2 else np.float32)


@given(
    m=st.integers(1, 5),
    n=st.sampled_from([1, 2, 7, 64, 65]),  # around the size of a tile
    seed=st.integers(0, 1000),
    symmetric=st.booleans(),
)
def test_scans_agree_with_numpy(m, n, seed, symmetric):
    A = draw(m, n, seed, symmetric)
    expected = numpy_facts(A)
    flat = sparse.csr_array(A.reshape(-1, n))
    for found in (scan(A, n), scan(flat, n)):
        for name, values in expected.items():
            assert np.allclose(getattr(found, name), values), name


def test_threads_change_nothing(monkeypatch):
    A = draw(23, 20, 3, symmetric=False)
    flat = sparse.csr_array(A.reshape(-1, 20))
    alone = [scan(A, 20), scan(flat, 20)]
    monkeypatch.setattr(facts_module, "_THREADS_PAY_FROM", 1)
    for one, many in zip(alone, [scan(A, 20), scan(flat, 20)], strict=True):
        assert np.array_equal(one.norm, many.norm)
        assert np.array_equal(one.n_nonzero, many.n_nonzero)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (3, 1), (1, 3), (69, 2)])
def test_the_first_entry_that_is_not_finite_is_found(bad, place):
    A = np.ones((2, 70, 70))
    A[1][place] = bad
    expected = [-1, place[0] * 70 + place[1]]
    assert scan(A, 70).first_bad.tolist() == expected
    assert scan(sparse.csr_array(A.reshape(-1, 70)), 70).first_bad.tolist() == expected


@given(seed=st.integers(0, 1000))
def test_sparse_diagonals_and_distances(seed):
    A = draw(4, 9, seed, symmetric=True).astype(np.float64)
    M = draw(1, 9, seed + 1, symmetric=True)[0].astype(np.float64)
    flat, matrix = sparse.csr_array(A.reshape(-1, 9)), sparse.csr_array(M)
    diagonals, squares = np.empty((4, 9)), np.empty(4)
    flat_diagonals(flat.data, flat.indices, flat.indptr, diagonals)
    rows = (flat.data, flat.indices, flat.indptr)
    flat_distances(*rows, matrix.data, matrix.indices, matrix.indptr, 3.0, squares)
    assert np.array_equal(diagonals, np.einsum("iss->is", A))
    off = (A - M) * (1 - np.eye(9))
    assert np.allclose(squares, 9 * (off**2).sum(axis=(1, 2)))
