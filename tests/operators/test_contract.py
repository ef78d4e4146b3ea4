"""Every operator against plain numpy: the same products of the treated graphs, written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigengraphs.operators.treated import TreatedGraphs
from operator_checks import KINDS, check, close, graphs, stacked, treated


@pytest.mark.parametrize(("storage", "dtype", "directed", "rule", "centered"), KINDS)
def test_products_are_those_of_the_treated_graphs(storage, dtype, directed, rule, centered):
    for m, n, b in ((7, 41, 5), (40, 6, 3), (1, 2, 1), (3, 1, 2)):
        A = graphs(m, n, dtype, directed)
        mean = A.astype(np.float64).mean(axis=0) if centered else None
        stack = stacked(A, storage)
        given = sparse.csr_array(mean) if centered and storage == "sparse" else mean
        operator = TreatedGraphs(stack, rule, given, 0.5, directed=directed)
        X = treated(A, rule, mean, 0.5)
        check(operator, X, np.random.default_rng(1), b)
        H, G = np.random.default_rng(2).normal(size=(2, n, 3))
        sides = (H, G) if directed else (H,)
        plain = treated(A, "observed", mean, 0.5)
        added = np.einsum("sk,iss,sk->ik", H, X - plain, sides[-1])
        close(operator.diagonal_forms(*sides), added, dtype)
        close(operator.written_out(), X, dtype)
        part = operator.part(m // 2, m)
        check(part, X[m // 2 :], np.random.default_rng(3), b)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("b", [1, 4, 7, 12, 13, 17, 25])
def test_any_number_of_columns(storage, directed, b):
    A = graphs(4, 37, np.float32, directed, density=0.2)
    check(
        TreatedGraphs(stacked(A, storage), directed=directed),
        A.astype(float),
        np.random.default_rng(b),
        b,
    )


@pytest.mark.parametrize("directed", [False, True])
def test_unweighted_sparse_graphs(directed):
    A = graphs(5, 30, np.float32, directed, density=0.2, weighted=False)
    stack = stacked(A, "sparse")
    assert not stack.is_weighted
    check(
        TreatedGraphs(stack, "filled", directed=directed),
        treated(A, "filled", None, 1),
        np.random.default_rng(0),
    )


def test_many_small_graphs():
    A = graphs(3000, 12, np.float32, False)
    check(
        TreatedGraphs(stacked(A, "dense"), "filled"),
        treated(A, "filled", None, 1),
        np.random.default_rng(0),
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_degrees_and_scaled_squares_are_sums_of_weights(storage, directed):
    A = graphs(4, 21, np.float64, directed)
    operator = TreatedGraphs(stacked(A, storage), "hollow", scale=2.0, directed=directed)
    wanted = [2 * np.abs(A).sum(axis=2), 2 * np.abs(A).sum(axis=1)][: 1 + directed]
    for degrees, expected in zip(operator.degrees(), wanted, strict=True):
        np.testing.assert_allclose(degrees, expected)
    scales = np.random.default_rng(0).normal(size=(4, 21 * (1 + directed)))
    squares = np.einsum("is,ist,it->i", scales[:, :21], (2 * A) ** 2, scales[:, -21:])
    np.testing.assert_allclose(operator.scaled_squares(scales), squares)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_bits_do_not_depend_on_threads(storage, directed, monkeypatch):
    A = graphs(80, 200, np.float32, directed, density=0.3)
    operator = TreatedGraphs(
        stacked(A, storage), "filled", A.mean(axis=0, dtype=float), directed=directed
    )
    B = np.random.default_rng(0).normal(size=(200, 7))
    sides, found = (B,) * (1 + directed), []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("EIGENGRAPHS_THREADS", threads)
        parts = [
            *operator.products(*sides),
            *operator.project(sides, sides),
            *operator.combine(np.ones((80, 7)), *sides),
            operator.forms(*sides),
            *operator.sketch(B, np.ones(80))[0],
        ]
        found.append(b"".join(part.tobytes() for part in parts))
    assert len(set(found)) == 1
