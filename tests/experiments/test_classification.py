"""Section 5.2: what figures 4 and 5 are made of."""

import numpy as np
import pytest
from experiments.designs import draw_5_2
from experiments.section52 import LATER, METHODS, accuracy, classify


def test_a_graph_is_no_neighbour_of_itself():
    D = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 4.0, 0.0]])
    assert accuracy(D, np.array([1, 1, 2])) == pytest.approx(2 / 3)
    assert (np.diagonal(D) == 0).all()  # the caller's matrix is left as it was


@pytest.mark.parametrize("diagonal", ["observed", "filled"])
def test_joint_embedding_classifies_best_with_enough_graphs(diagonal):
    found = classify(np.random.default_rng(5), repetition=0, diagonal=diagonal, sizes=[20, 100])
    assert set(found) == set(METHODS) | set(LATER)
    assert found["JE"][1] >= 0.97
    assert found["JE"][1] >= max(found[name][1] for name in METHODS)
    assert found["LE"][1] < 0.85


def test_the_design_is_the_papers():
    graphs, classes = draw_5_2(400, np.random.default_rng(0), loops=False)
    A = graphs.dense
    for y, inside in ((1, 0.3), (2, 0.25)):
        mean = A[classes == y].mean(axis=0)
        assert mean[:50, :50].sum() / (50 * 49) == pytest.approx(inside, abs=0.005)
        assert mean[:50, 50:].mean() == pytest.approx(0.2, abs=0.005)
