"""Confidence is low where matches are wrong or could not be right."""

import numpy as np
import pytest
from known_graphs import correlated_blocks, partly_shuffled
from sklearn.metrics import roc_auc_score

import eigengraphs as eg
from eigengraphs.errors import InputError


def test_wrong_matches_have_less_than_right_ones():
    right, confidence = [], []
    for seed in range(6):
        A, B = correlated_blocks(150, 0.27, seed)
        order, _ = partly_shuffled(150, 0.3, seed)
        found = eg.align([A, B[np.ix_(order, order)]], init="order", random_state=seed)
        right.append(order[found.permutations[1]] == np.arange(150))
        confidence.append(found.confidence[1])
    right, confidence = np.concatenate(right), np.concatenate(confidence)
    assert 0.3 < right.mean() < 0.95  # neither all nor none, or there is nothing to tell apart
    assert roc_auc_score(right, confidence) > 0.8
    assert right[confidence > 0.5].mean() > 0.97
    assert right[confidence < 0.2].mean() < 0.75


@pytest.mark.parametrize("n", [20, 40, 80])
@pytest.mark.parametrize("seed", [2, 5, 7])
def test_unrelated_graphs_give_little(n, seed):
    A, _ = correlated_blocks(n, 0.0, seed)
    B, _ = correlated_blocks(n, 0.0, seed + 100)
    order = np.random.default_rng(seed).permutation(n)
    found = eg.align([A, B[np.ix_(order, order)]], random_state=seed)
    assert found.confidence[1].mean() < 0.5


def test_the_same_graph_gives_all_but_twins():
    A, _ = correlated_blocks(60, 0.0, 2)
    A[7], A[:, 7] = A[21], A[:, 21]  # 7 and 21 have the same edges now
    A[7, 7] = A[7, 21] = A[21, 7] = 0
    found = eg.align([A, A], random_state=0)
    assert found.score[1] == pytest.approx(1)
    assert found.uncertain(0.51)[1].nonzero()[0].tolist() == [7, 21]
    others = np.setdiff1d(np.arange(60), [7, 21])
    assert found.confidence[1][others].min() > 0.99


def test_uncertain_is_a_threshold_and_the_reference_is_sure():
    A, B = correlated_blocks(60, 0.4, 0)
    found = eg.align([A, B], random_state=0)
    assert np.array_equal(found.uncertain(0.7), found.confidence < 0.7)
    assert not found.uncertain(1.0)[0].any()
    assert found.score[0] == found.score_before[0] == 1
    for wrong in (-0.1, 1.5, "high", True, np.nan):
        with pytest.raises(InputError, match="threshold must be a number from 0 to 1"):
            found.uncertain(wrong)
