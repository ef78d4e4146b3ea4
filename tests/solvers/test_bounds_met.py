"""What happens where a bound is just met."""

import numpy as np
import pytest

from eigengraphs.solvers import rules
from eigengraphs.solvers.rules import NonnegativeLoadings, PenalisedLoadings


@pytest.mark.parametrize("rule", [NonnegativeLoadings(), PenalisedLoadings(0.5)])
def test_graphs_of_zero_are_not_solved_again(rule, monkeypatch):
    def again(*_):
        raise AssertionError("solved again")

    monkeypatch.setattr(rules, "_held_back", again)
    assert not rule.solve(np.eye(3), np.zeros((2, 3))).any()
