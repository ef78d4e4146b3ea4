"""What happens where a bound is just met."""

import numpy as np
import pytest

from eigengraphs.solvers import directions, rules
from eigengraphs.solvers.directions import turned_basis, widened
from eigengraphs.solvers.rules import NonnegativeLoadings, PenalisedLoadings


@pytest.mark.parametrize("rule", [NonnegativeLoadings(), PenalisedLoadings(0.5)])
def test_graphs_of_zero_are_not_solved_again(rule, monkeypatch):
    def again(*_):
        raise AssertionError("solved again")

    monkeypatch.setattr(rules, "_held_back", again)
    assert not rule.solve(np.eye(3), np.zeros((2, 3))).any()


def test_bases_of_just_so_many_vertices_are_not_changed_in_their_place(monkeypatch):
    monkeypatch.setattr(directions, "TALL", 20)
    V = np.random.default_rng(0).standard_normal((20, 4))
    before = V.copy()
    turned = turned_basis(V, np.eye(4)[:, [2, 0]])
    assert np.array_equal(turned, before[:, [2, 0]])
    assert np.array_equal(V, before)
    wider = widened(widened(np.zeros((20, 0)), V), V)
    assert wider.shape == (20, 8)
    assert wider.flags.c_contiguous
