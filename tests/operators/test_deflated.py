"""Graphs less components against plain numpy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from eigengraphs.operators.deflated import Deflated
from eigengraphs.operators.treated import TreatedGraphs
from operator_checks import check, close, graphs, stacked, treated

KINDS = list(product(["dense", "sparse"], [np.float32, np.float64], [False, True], [False, True]))


@pytest.mark.parametrize(("storage", "dtype", "directed", "hollow"), KINDS)
def test_products_are_those_of_what_is_left(storage, dtype, directed, hollow):
    rng = np.random.default_rng(0)
    for m, n in ((6, 31), (40, 7)):
        A = graphs(m, n, dtype, directed)
        rule = "hollow" if hollow else "observed"
        X = treated(A, rule, None, 1.0)
        H, G = rng.normal(size=(2, n, 3)) / np.sqrt(n)
        sides = (H, G)[: 1 + directed]
        Lam = rng.normal(size=(m, 3))
        e = np.einsum("sk,tk->kst", H, sides[-1])
        if hollow:
            e[:, np.eye(n, dtype=bool)] = 0
        left = X - np.tensordot(Lam, e, axes=1)
        operator = TreatedGraphs(stacked(A, storage), rule, directed=directed)
        deflated = Deflated(operator, sides, Lam, hollow)
        check(Forgiving(deflated, left) if hollow else deflated, left, rng, 4)
        on = deflated.mean(np.ones(m)) @ np.eye(n)
        close(on, left.mean(axis=0), dtype)


class Forgiving:
    """A deflated operator whose sketch is not compared: it leaves out diagonals."""

    def __init__(self, operator, X):
        self._operator, self._X = operator, X

    def __getattr__(self, name):
        return getattr(self._operator, name)

    def sketch(self, Omega, weights):
        Xs = (self._X, self._X.transpose(0, 2, 1))[: 1 + self.directed]
        return tuple(
            (
                np.einsum("i,ist,iut,ub->sb", weights, T, T, Omega),
                np.einsum("i,ist,tb->sb", weights, T, Omega),
            )
            for T in Xs
        )
