"""Every operator against plain numpy: the same products of the treated graphs, written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.operators.treated import TreatedGraphs

KINDS = list(
    product(
        ["dense", "sparse"],
        [np.float32, np.float64],
        [False, True],
        ["observed", "filled", "hollow"],
        [False, True],
    )
)


def graphs(m, n, dtype, directed, seed=0, density=0.4, weighted=True):
    """Draw graphs (m, n, n) with loops, symmetric unless directed."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, n)) if weighted else np.ones((m, n, n))
    A *= rng.random((m, n, n)) < density
    if not directed:
        A = np.triu(A) + np.triu(A, 1).transpose(0, 2, 1)
    return A.astype(dtype)


def stacked(A, storage):
    """Return a stack of the graphs in one storage."""
    if storage == "dense":
        return GraphStack(A)
    return GraphStack([sparse.csr_array(a) for a in A])


def treated(A, rule, mean, scale):
    """Return scale (A_i + Diag(D_i) - (M + Diag(D_M))), written out."""

    def on_diagonal(X):
        X = X.astype(np.float64)
        n = len(X)
        if rule == "observed":
            return X
        off = X - np.diag(np.diag(X))
        fill = (off.sum(axis=0) + off.sum(axis=1)) / 2 / max(n - 1, 1)
        return off + (np.diag(fill) if rule == "filled" else 0)

    found = np.stack([on_diagonal(a) for a in A])
    return scale * (found if mean is None else found - on_diagonal(mean))


def close(found, wanted, dtype):
    """Compare by the largest number that is wanted."""
    assert found.shape == wanted.shape
    if wanted.size:
        error = np.abs(found - wanted).max()
        assert error <= (3e-6 if dtype == np.float32 else 1e-13) * max(1, np.abs(wanted).max())


def check(operator, X, rng, b=5):
    """Hold every product of an operator to the treated graphs X (m, n, n)."""
    m, n, _ = X.shape
    dtype, two = operator.dtype, operator.directed
    assert (operator.n_graphs, operator.n_vertices) == (m, n)
    columns = [rng.normal(size=(n, b + k)) for k in range(1 + two)]
    bases = [rng.normal(size=(n, 3 + k)) for k in range(1 + two)]
    sides = [rng.normal(size=(n, 4)) for _ in range(1 + two)]
    Xs = (X, X.transpose(0, 2, 1))[: 1 + two]  # B^T X_i on the left, and with X_i^T on the right

    for P, B, T in zip(operator.products(*columns), columns, Xs, strict=True):
        assert P.dtype == dtype
        close(P, np.einsum("sb,ist->ibt", B, T), dtype)
    rooms = tuple(np.full((m, B.shape[1] + 1, n), np.nan, dtype) for B in columns)
    places = tuple(room[:, 1:] for room in rooms)  # not in one piece
    for P, B, T in zip(operator.products(*columns, out=places), places, Xs, strict=True):
        assert np.shares_memory(P, B)
    for P, B, T in zip(places, columns, Xs, strict=True):
        close(P, np.einsum("sb,ist->ibt", B, T), dtype)

    for V in (bases, [base[:, :0] for base in bases]):
        found = operator.project(tuple(V), tuple(columns))
        Z = np.column_stack([V[0], columns[0]])
        wanted = [np.einsum("sz,ist,tb->izb", Z, X, columns[-1])]
        if two:
            wanted.append(np.einsum("tz,ist,sb->izb", V[1], X, columns[0]))
        for cores, expected in zip(found, wanted, strict=True):
            assert cores.dtype == np.float64
            close(cores, expected, dtype)

    W = rng.normal(size=(m, 4))
    H, G = sides[0], sides[-1]
    wanted = [np.einsum("ik,ist,tk->sk", W, X, G)]
    if two:
        wanted.append(np.einsum("ik,ist,sk->tk", W, X, H))
    for total, expected in zip(operator.combine(W, *sides), wanted, strict=True):
        close(total, expected, dtype)
    close(operator.forms(*sides), np.einsum("sk,ist,tk->ik", H, X, G), dtype)

    w = rng.random(m)
    w[: m // 2] = 0
    for (squares, sums), T in zip(operator.sketch(columns[0], w), Xs, strict=True):
        close(squares, np.einsum("i,ist,iut,ub->sb", w, T, T, columns[0]), dtype)
        close(sums, np.einsum("i,ist,tb->sb", w, T, columns[0]), dtype)
    mean = operator.mean(w)
    mean = mean if isinstance(mean, np.ndarray) else mean.toarray()
    close(mean, np.einsum("i,ist->st", w, X) / w.sum(), dtype)
    close(operator.squared_norms(), (X**2).sum(axis=(1, 2)), dtype)
    close(operator.total(moment, w), np.einsum("i,ist->st", w, X), dtype)


def moment(operator, weights):
    """Return the weighted sum of some graphs: a task of :meth:`Operator.total`."""
    (P, *_) = operator.products(*[np.eye(operator.n_vertices)] * (1 + operator.directed))
    assert operator.n_graphs == len(weights) == len(P)
    return np.einsum("i,ist->st", weights, P.astype(np.float64))


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
def test_degrees_are_sums_of_absolute_weights(storage, directed):
    A = graphs(4, 21, np.float64, directed)
    found = TreatedGraphs(stacked(A, storage), "hollow", scale=2.0, directed=directed).degrees()
    wanted = [2 * np.abs(A).sum(axis=2), 2 * np.abs(A).sum(axis=1)][: 1 + directed]
    for degrees, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(degrees, expected)


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
