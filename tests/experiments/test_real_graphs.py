"""Experiments on real graphs: folds, scores, verdicts, and what must come out of a quick run."""

import numpy as np
import pytest
from experiments.section_5_3_brains import FOLDS, parameters, ratios
from experiments.table_c_types import errors
from experiments.table_d_flights import block_model
from sklearn.neighbors import KNeighborsClassifier

from experiments import section_5_3_brains as brains

SESSIONS = np.tile(np.arange(1, 11), 30)


# ------------------------------------------------------------------------------- Figure 6


def test_folds_cover_all_sessions_and_never_mix_training_and_test():
    tested, trained = [], []
    for fold in range(FOLDS):
        train, test = brains.split(SESSIONS, 8, fold)
        assert (len(train), len(test)) == (240, 60)
        assert not np.intersect1d(train, test).size
        tested.append(test)
        train, test = brains.split(SESSIONS, 1, fold)
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(300))
        (session,) = np.unique(SESSIONS[train])
        trained.append(session)
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.arange(300))
    assert len(set(trained)) == FOLDS


def test_parameters_are_those_of_the_paper_at_the_first_dimension_that_reaches_the_target():
    assert parameters("JE", 3, scans=1) == 3 * (70 + 30)
    assert parameters("PCA", 3, scans=8, symmetric=False) == 3 * (70**2 + 240)
    assert parameters("PCA", 3, scans=8) == 3 * (70 * 71 / 2 + 240)
    joint = np.array([[0.1, 0.5, 0.4], [0.1, 0.2, 0.3]])
    first, never = ratios({"JE": joint, "PCA": np.full((2, 1), 0.6)}, 1, 0.5)
    assert first == (70 * 71 / 2 + 30) / (2 * (70 + 30))
    assert np.isnan(never)


# ------------------------------------------------------------------------- tables C and D


def test_errors_of_nearest_neighbors_are_those_of_the_classifier():
    rng = np.random.default_rng(0)
    types, folds = rng.integers(3, size=150), rng.integers(5, size=(2, 150))
    X = rng.standard_normal((150, 3)) + types[:, None]
    rule = KNeighborsClassifier(5)
    for fold, found in zip(folds, errors(X, types, folds), strict=True):
        wrong = [
            rule.fit(X[fold != k], types[fold != k]).predict(X[fold == k]) != types[fold == k]
            for k in range(5)
        ]
        assert found == pytest.approx(np.concatenate(wrong).mean())


def test_a_block_model_is_its_own_fit():
    labels = np.array([0, 0, 1, 1, 1, 2])  # the last is alone and isolated
    degrees = np.array([0.5, 1.0, 2.0, 1.0, 3.0, 0.0])
    P = np.outer(degrees, degrees) * np.array([[2, 1, 1], [1, 5, 1], [1, 1, 1]])[labels][:, labels]
    assert block_model(P, labels) == pytest.approx(P)
