"""Intervals of scores hold what they promise."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from eigengraphs.inference.prediction.folds import make_folds
from eigengraphs.inference.prediction.label_prediction import (
    accuracy_interval,
    compare_crossed,
    compare_folds,
    explained_interval,
    holm,
)
from eigengraphs.inference.prediction.prediction_pipelines import METHODS, make_rule


@pytest.mark.parametrize(("k", "m"), [(0, 10), (7, 10), (10, 10), (263, 300)])
def test_without_groups_the_interval_is_wilsons(k, m):
    right = (np.arange(m) < k).astype(float)
    exact = stats.binomtest(k, m).proportion_ci(method="wilson")
    assert accuracy_interval(right, np.arange(m), overlap=1) == pytest.approx(tuple(exact))


def test_graphs_that_are_right_together_count_once():
    right = (np.arange(20) < 14).astype(float)
    alone = accuracy_interval(right, np.arange(20), overlap=1)
    copies = accuracy_interval(np.repeat(right, 5), np.repeat(np.arange(20), 5), overlap=1)
    # The same but for the quantile of t instead of the normal law.
    assert copies == pytest.approx(alone, abs=0.03)
    assert copies[0] < alone[0]
    assert copies[1] > alone[1]
    assert accuracy_interval(np.ones(100), np.repeat(np.arange(20), 5))[0] < 0.85


def test_accuracy_intervals_of_dependent_graphs_cover():
    # 25 people of 6 scans; whether one is right depends on the person, by a beta law of mean 0.7.
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(25), 6)
    covered = naive = 0
    for _ in range(500):
        right = (rng.random(150) < rng.beta(1.4, 0.6, 25)[units]).astype(float)
        low, high = accuracy_interval(right, units, overlap=1)
        covered += low <= 0.7 <= high
        low, high = accuracy_interval(right, np.arange(150), overlap=1)
        naive += low <= 0.7 <= high
    assert covered / 500 > 0.93
    assert naive / 500 < 0.85  # what ignoring people would give


@pytest.mark.parametrize("rule", ["1-NN", "linear"])
def test_chance_is_within_the_interval_of_cross_validated_noise(rule):
    rng = np.random.default_rng(1)
    covered = binomial = 0
    for seed in range(80):
        Z, y = rng.normal(size=(40, 2)), rng.permutation(np.repeat(["a", "b"], 20))
        right = np.empty(40)
        for train, test in make_folds(y, cv=4, seed=seed).splits:
            model = make_rule(rule, METHODS["PCA"], is_quantity=False)
            right[test] = model.fit(Z[train], y[train]).predict(Z[test]) == y[test]
        low, high = accuracy_interval(right, np.arange(40))
        covered += low <= 0.5 <= high
        low, high = accuracy_interval(right, np.arange(40), overlap=1)
        binomial += low <= 0.5 <= high
    assert covered / 80 > 0.9  # 0.95 less two standard errors
    assert binomial < covered  # what graphs that were never learned from would give


def test_explained_variance_is_drawn_by_groups():
    rng = np.random.default_rng(0)
    y, squares = rng.normal(size=30), rng.gamma(1.0, 0.3, 30)
    low, high = explained_interval(y, squares, np.arange(30), seed=1)
    twice = explained_interval(
        np.repeat(y, 3), np.repeat(squares, 3), np.repeat(np.arange(30), 3), seed=1
    )
    assert twice == pytest.approx((low, high), rel=1e-9)
    assert low < 1 - squares.mean() / y.var() < high


def test_differences_are_nadeau_and_bengios():
    a, b = np.array([0.9, 0.8, 1.0, 0.7]), np.array([0.6, 0.7, 0.9, 0.7])
    found = compare_folds(a - b, 0.125, 1 / 3, 40)
    s = (a - b).std(ddof=1)
    half = stats.t.ppf(0.975, 3) * s * np.sqrt(1 / 4 + 1 / 3)
    assert found[:3] == pytest.approx((0.125, 0.125 - half, 0.125 + half))
    assert found.p == pytest.approx(2 * stats.t.sf(0.125 / (s * np.sqrt(1 / 4 + 1 / 3)), 3))
    same = compare_folds(a - a, 0.0, 1 / 3, 40)
    assert same.low < 0 < same.high
    assert same.p == 1.0


def test_holm():
    assert holm(np.array([0.01, 0.04, 0.03, 0.9])) == pytest.approx([0.04, 0.09, 0.09, 0.9])


@pytest.mark.parametrize("is_quantity", [False, True])
def test_a_linear_rule_in_the_span_of_training_graphs_is_that_of_all_columns(is_quantity):
    rng = np.random.default_rng(0)
    Z, new = rng.normal(size=(20, 60)) * 3 + 1, rng.normal(size=(15, 60)) * 3 + 1
    y = Z[:, 0] + Z[:, 1] if is_quantity else np.where(Z[:, 0] > 1, "a", "b")
    rule = make_rule("linear", METHODS["PCA"], is_quantity).fit(Z, y)
    X = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    full = clone(rule[-1].model_).fit(X, y)
    expected = full.predict((new - Z.mean(axis=0)) / Z.std(axis=0))
    if is_quantity:
        assert np.allclose(rule.predict(new), expected, rtol=1e-6)
    else:
        assert (rule.predict(new) == expected).all()


def test_differences_of_crossed_samples_cover():
    # Ten training sets and 30 people, both drawn anew; the true difference is 0.1.
    rng = np.random.default_rng(0)
    covered = by_folds = 0
    for _ in range(400):
        d = 0.1 + rng.normal(0, 0.05, 10)[:, None] + rng.normal(0, 0.2, 30)
        d += rng.normal(0, 0.3, (10, 30))
        low, high = compare_crossed(d.mean(axis=1), d.mean(axis=0), d.mean())[1:3]
        covered += low <= 0.1 <= high
        half = stats.t.ppf(0.975, 9) * d.mean(axis=1).std(ddof=1) / np.sqrt(10)
        by_folds += abs(d.mean() - 0.1) <= half
    assert covered / 400 > 0.93
    assert by_folds / 400 < 0.85  # what ignoring that all folds hold out the same people would give
    assert compare_crossed(np.zeros(10), np.zeros(30), 0.0).low < 0


def test_a_pair_in_a_group_makes_no_interval_narrower():
    right = np.ones(32)
    alone = accuracy_interval(right, np.arange(32))[0]
    with_a_pair = accuracy_interval(right, np.maximum(np.arange(32) - 1, 0))[0]
    assert with_a_pair <= alone
