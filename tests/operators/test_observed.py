"""Graphs with hidden entries against plain numpy: the graphs and the masks written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from operator_checks import check, close, graphs
from scipy import sparse

from eigengraphs import GraphStack
from eigengraphs.operators.means import mean_graph
from eigengraphs.operators.observed import ObservedGraphs

KINDS = list(
    product(
        ["dense", "sparse"],
        [np.float32, np.float64],
        [False, True],
        ["observed", "filled", "hollow"],
        [False, True],
    )
)


def hidden_graphs(m, n, dtype, directed, storage):
    """Return a stack with absent vertices and hidden pairs; the graphs with zeros; the mask."""
    rng = np.random.default_rng(3)
    A = graphs(m, n, dtype, directed, seed=4)
    gone = rng.random((m, n, n)) < 0.1
    if not directed:
        gone |= gone.transpose(0, 2, 1)
    absent = rng.random((m, n)) < 0.1
    absent[m // 2 :] = absent[0]
    gone |= absent[:, :, None] | absent[:, None, :]
    gone[0, n - 1, : n - 1] = gone[0, : n - 1, n - 1] = True  # nothing off the diagonal is left
    A[gone] = np.nan
    if storage == "sparse":
        stack = GraphStack([sparse.csr_array(a) for a in A], missing="unobserved")
    else:
        stack = GraphStack(A, missing="unobserved")
    seen = ~gone
    if not directed:
        assert stack.mask.toarray().sum() == seen.sum()
    return stack, np.where(gone, 0, A).astype(float), seen.astype(float)


def written_out(A, seen, rule, mean, scale):
    """Return Ã_i and M̃_i, (m, n, n)."""
    X, S = A - (0 if mean is None else seen * mean), seen.copy()
    n = X.shape[1]
    eye = np.eye(n, dtype=bool)
    if rule != "observed":
        X[:, eye], S[:, eye] = 0, 0
    if rule == "filled":
        others = S.sum(axis=1) + S.sum(axis=2)
        sums = X.sum(axis=1) + X.sum(axis=2)
        X[:, eye] = np.divide(sums, others, out=np.zeros_like(sums), where=others > 0)
        S[:, eye] = others > 0
    return scale * X, S


@pytest.mark.parametrize(("storage", "dtype", "directed", "rule", "centered"), KINDS)
def test_products_are_those_of_what_is_observed(storage, dtype, directed, rule, centered):
    rng = np.random.default_rng(0)
    for m, n in ((9, 23), (30, 5)):
        stack, A, seen = hidden_graphs(m, n, dtype, directed, storage)
        w = rng.random(m)
        counts = np.einsum("i,ist->st", w, seen)
        total = np.einsum("i,ist->st", w, A)
        mean = np.divide(total, counts, out=np.zeros_like(total), where=counts > 0)
        found = mean_graph(stack, w)
        close(found if isinstance(found, np.ndarray) else found.toarray(), mean, dtype)
        given = found if centered else None
        operator = ObservedGraphs(stack, rule, given, 0.5, directed=directed)
        X, S = written_out(A, seen, rule, mean if centered else None, 0.5)
        for one, Y, T in (
            (operator, X, S),
            (operator.part(m // 3, m), X[m // 3 :], S[m // 3 :]),
            (ObservedGraphs(stack, rule, given, 0.5, directed=directed, like=operator), X, S),
        ):
            check_mask(one, Y, T, rng)
            check(WithPlainMean(one, Y), Y, rng, 3)


def check_mask(operator, X, S, rng):
    """Hold what is asked of the mask to S (m, n, n), and means of residuals to both."""
    m, n, _ = X.shape
    columns = [rng.normal(size=(n, 3 + k)) for k in range(1 + operator.directed)]
    Ss = (S, S.transpose(0, 2, 1))
    for Q, B, T in zip(operator.mask_products(*columns), columns, Ss, strict=False):
        close(Q, np.einsum("sb,ist->ibt", B, T), np.float64)
    x, z, *_ = H, G, *_ = rng.normal(size=(2, n, 4))
    close(operator.mask_forms(x, z), np.einsum("sk,ist,tk->ik", x, S, z), np.float64)
    sides = (H, G)[: 1 + operator.directed]
    G = sides[-1]
    wanted = np.einsum("sj,tj,ist,sk,tk->ijk", H, G, S, H, G)
    close(operator.grams(*sides), wanted, np.float64)
    close(operator.observed(), S.mean(axis=(1, 2)), np.float64)
    w, Lam = rng.random(m) + 0.1, rng.normal(size=(m, 4))
    left = X - S * np.einsum("ik,sk,tk->ist", Lam, H, G)
    counts = np.einsum("i,ist->st", w, S)
    total = np.einsum("i,ist->st", w, left)
    mean = np.divide(total, counts, out=np.zeros_like(total), where=counts > 1e-9)
    close(operator.mean_residual(w, sides, Lam), mean, operator.dtype)


class WithPlainMean:
    """An operator whose mean is the plain one: that of observed entries is checked on its own."""

    def __init__(self, operator, X):
        self._operator, self._X = operator, X

    def __getattr__(self, name):
        return getattr(self._operator, name)

    def mean(self, weights):
        return np.einsum("i,ist->st", weights, self._X) / weights.sum()


def test_the_mean_residual_of_many_vertices_is_an_operator(monkeypatch):
    monkeypatch.setattr("eigengraphs.operators.observed._WRITTEN_OUT", 5)
    rng = np.random.default_rng(0)
    for directed in (False, True):
        stack, A, seen = hidden_graphs(6, 12, np.float64, directed, "sparse")
        operator = ObservedGraphs(stack, "filled", None, 0.5, directed=directed)
        X, S = written_out(A, seen, "filled", None, 0.5)
        H, G = rng.normal(size=(2, 12, 2))
        sides = (H, G)[: 1 + directed]
        w, Lam = rng.random(6), rng.normal(size=(6, 2))
        left = X - S * np.einsum("ik,sk,tk->ist", Lam, H, sides[-1])
        total = np.einsum("i,ist->st", w, left)
        found = operator.mean_residual(w, sides, Lam)
        np.testing.assert_allclose(found @ np.eye(12), total, atol=1e-12)
        np.testing.assert_allclose(found.rmatmat(np.eye(12)), total.T, atol=1e-12)
