"""Signs of components, and components that are given."""

import numpy as np
import pytest
from known_graphs import random_symmetric

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.components import column_signs, with_signs, with_signs_pair
from eigengraphs.solvers.subspace import subspace


def test_the_first_of_the_largest_entries_is_positive():
    X = np.array([[1.0, -1.0, 0.5, -2.0], [-1.0 - 1e-7, 0.3, -0.9, 1.0], [0.2, 1.0, 0.1, -2.0]])
    assert np.array_equal(column_signs(X), [1.0, -1.0, -1.0, -1.0])
    assert np.array_equal(with_signs(X), X * [1.0, -1.0, -1.0, -1.0])
    H, G = with_signs_pair(X, 2 * X)
    assert np.array_equal(G, 2 * H)
    assert np.array_equal(column_signs(np.array([[1.0], [-1.0 - 1e-5]])), [-1.0])


@pytest.mark.parametrize("n", [12, 105])
def test_given_components_of_any_length_are_the_same_start(n):
    A = random_symmetric(3, n, 1)
    given = np.random.default_rng(0).standard_normal((n, 2))
    common = {
        "weights": np.ones(3), "n_init": 1, "tol": 1e-3, "max_iter": 50, "cache": True,
        "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    one, other = (
        subspace(StackView(GraphStack(A)), 2, init=init, **common)
        for init in (given, given * [4.0, 0.5])
    )
    assert np.array_equal(one.H, other.H)
