"""Products of arrays with many rows, in blocks on threads, against the same in one piece."""

import numpy as np
import pytest

from eigengraphs.solvers import basis
from eigengraphs.solvers.basis import dots, orthonormal, quick_orthonormal, subtract, times

N = 103


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch):
    monkeypatch.setattr(basis, "MANY", 10)


def drawn(*columns):
    rng = np.random.default_rng(0)
    return [rng.standard_normal((N, b)) for b in columns]


def test_products_in_blocks():
    X, Y, V = drawn(4, 4, 6)
    T = np.random.default_rng(1).standard_normal((6, 4))
    assert np.allclose(times(V, T), V @ T)
    assert np.allclose(dots(X, Y), (X * Y).sum(axis=0))
    expected = X - V @ T
    subtract(X, V, T)
    assert np.allclose(X, expected)


@pytest.mark.parametrize("s", [0, 1, 7])
def test_the_quick_basis_is_that_of_gram_and_schmidt(monkeypatch, s):
    V, X = drawn(s, 5)
    V = np.linalg.qr(V)[0] if s else V
    X = (X + V @ np.ones((s, 5))) * [1, 1e9, 1e-9, 3, 5]
    found = quick_orthonormal(X, V)
    assert np.allclose(found.T @ found, np.eye(5), atol=1e-14)
    assert np.abs(V.T @ found).max(initial=0) < 1e-14
    monkeypatch.setattr(basis, "MANY", N)
    assert np.allclose(found, orthonormal(X, V), atol=1e-7)


@pytest.mark.parametrize("what", ["zero", "twice", "inside", "nearly", "nan", "none"])
def test_dependent_columns_are_left_to_the_careful_way(what):
    V, X = drawn(3, 4)
    V = np.linalg.qr(V)[0]
    if what == "zero":
        X[:, 2] = 0
    elif what == "twice":
        X[:, 2] = 2 * X[:, 0]
    elif what == "inside":
        X[:, 2] = V[:, 1]
    elif what == "nearly":
        X[:, 2] = X[:, 0] + 1e-6 * X[:, 2]
    elif what == "nan":
        X[0, 0] = np.nan
    else:
        X = X[:, :0]
    assert quick_orthonormal(X, V) is None
    if what != "nan":
        rank = 4 if what == "nearly" else X.shape[1] - (what != "none")
        assert orthonormal(X, V).shape == (N, rank)


def test_threads_change_nothing(monkeypatch):
    V, X = drawn(6, 4)
    V = np.linalg.qr(V)[0]
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("EIGENGRAPHS_THREADS", threads)
        found.append((dots(X, X), quick_orthonormal(X, V)))
    for one in found[1:]:
        assert all(np.array_equal(x, y) for x, y in zip(one, found[0], strict=True))
