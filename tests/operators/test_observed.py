"""Graphs with hidden entries against plain numpy: the graphs and the masks written out."""

from __future__ import annotations

import numpy as np
import pytest

from eigengraphs.operators.means import mean_graph
from eigengraphs.operators.observed import ObservedGraphs
from operator_checks import KINDS, check, check_mask, close, hidden_graphs, written_out


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


class WithPlainMean:
    """An operator whose mean is the plain one: that of observed entries is checked on its own."""

    def __init__(self, operator, X):
        self._operator, self._X = operator, X

    def __getattr__(self, name):
        return getattr(self._operator, name)

    def mean(self, weights):
        return np.einsum("i,ist->st", weights, self._X) / weights.sum()


def test_the_mean_residual_of_many_vertices_is_an_operator(monkeypatch):
    monkeypatch.setattr("eigengraphs.operators.observed.WRITTEN_OUT", 5)
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
