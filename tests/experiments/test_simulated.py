"""Experiments on drawn graphs: what steps measure is what they say, and verdicts follow from it."""

import numpy as np
import pytest
from experiments.refined import cases, compare
from experiments.section_5_2_classification import LATER, METHODS

import eigengraphs as eg
from experiments import figure1_nesting as nesting
from experiments import section_5_2_classification as classification

# ------------------------------------------------------------------------------- Figure 1


def test_a_wrong_conversion_would_be_seen(monkeypatch):
    monkeypatch.setattr(
        eg.models.StochasticBlockModel, "to_ier", lambda m: eg.models.ErdosRenyi(m.n_vertices, 0.5)
    )
    monkeypatch.setattr(nesting, "ARROWS", (nesting.Arrow("SBM", "", "to_ier", lambda *_: False),))
    found = nesting.arrow(np.random.default_rng(0), which=0, draws=3)
    assert min(found["probability"]) > 0.01
    assert min(found["likelihood"]) > 0.01
    assert found["kept"] == 0


# ------------------------------------------------------------------------------- section 5.2


def test_a_graph_is_no_neighbor_of_itself():
    D = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 4.0, 0.0]])
    assert classification.accuracy(D, np.array([1, 1, 2])) == pytest.approx(2 / 3)
    assert (np.diagonal(D) == 0).all()  # the caller's matrix is left as it was


@pytest.mark.parametrize("diagonal", ["observed", "filled"])
def test_joint_embedding_classifies_best_with_enough_graphs(diagonal):
    rng = np.random.default_rng(5)
    found = classification.classify(rng, repetition=0, diagonal=diagonal, sizes=[20, 100])
    assert set(found) == set(METHODS) | set(LATER)
    assert found["JE"][1] >= 0.97
    assert found["JE"][1] >= max(found[name][1] for name in METHODS)
    assert found["LE"][1] < 0.85


# ------------------------------------------------------------------------------- the others


def test_overlapping_components_need_refining_and_orthogonal_ones_do_not():
    by_name = {case.name: case for case in cases(quick=True, seed=3)}
    apart = compare(by_name["planted, cosines 0"])
    overlapping = compare(by_name["planted, cosines 0.3"])
    assert apart["gain"] < 0.01 < 0.05 < overlapping["gain"]
    assert overlapping["positions"][1] < 0.1 < 0.3 < overlapping["positions"][0]
