"""Labels are predicted from graphs that took no part in anything."""

import re

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.job.prediction import _splits, predict_label


def fitted(stack, **settings):
    return eg.JointEmbedding(2, random_state=0, **settings).fit(stack)


def test_groups_are_found_and_noise_is_not(stack):
    je = fitted(stack)
    found = predict_label(je, stack, ["a", "b"] * 12, "group")
    assert [way.name for way in found.methods] == ["joint embedding", "PCA"]
    assert found.methods[0].score == 1.0
    assert found.chance == pytest.approx(0.5, abs=0.1)
    assert (found.kind, found.classes, found.n_graphs) == ("classes", ("a", "b"), 24)
    noise = np.random.default_rng(0).permutation(["a", "b"] * 12)
    found = predict_label(je, stack, noise.tolist(), "coin")
    assert found.methods[0].score < 0.85


def test_labels_that_shape_components_do_not_help_to_predict_a_coin(stack):
    coin = np.random.default_rng(1).permutation(["a", "b"] * 12).tolist()
    je = eg.JointEmbedding(2, loadings="class", random_state=0).fit(stack, coin)
    assert predict_label(je, stack, coin, "coin").methods[0].score < 0.85


def test_graphs_of_one_person_stay_together(stack):
    # Each person has two graphs, and the label is noise that belongs to the person.
    people = [f"p{i // 2}" for i in range(24)]
    seen = []
    je = fitted(stack)
    found = predict_label(
        je, stack, ["a", "a", "b", "b"] * 6, "x", people, lambda *n: seen.append(n)
    )
    assert "Graphs of one participant stay together" in found.protocol
    assert seen[-1][0] == seen[-1][1] == len(found.methods[0].folds)


@pytest.mark.parametrize("is_quantity", [False, True])
def test_no_person_is_on_both_sides_of_a_fold(is_quantity):
    people = np.array([f"p{i // 2}" for i in range(40)])
    y = np.arange(40.0) if is_quantity else np.repeat(["a", "b"] * 10, 2)
    for train, test in _splits(y, people, is_quantity):
        assert not set(people[train]) & set(people[test])


def test_where_the_label_is_the_person_sessions_are_split(stack):
    people = np.array([f"p{i // 4}" for i in range(24)])
    found = predict_label(fitted(stack), stack, people.tolist(), "person", people.tolist())
    assert "stay together" not in found.protocol
    assert "Each class is one participant, whose graphs are shared out" in found.protocol
    for train, test in _splits(people, people, False):
        assert set(people[test]) <= set(people[train])


def test_quantities_are_regressed(stack):
    je = fitted(stack)
    found = predict_label(je, stack, je.loadings_[:, 1].tolist(), "strength")
    assert found.kind == "quantity"
    assert found.classes == ()
    assert found.methods[0].score > 0.8 > 0.1 > found.chance
    assert "accuracy" not in found.protocol


def test_scores_of_a_quantity_are_those_of_all_graphs_that_were_held_out(stack):
    # Folds of 4 and 5 graphs; the naive computation keeps every guess.
    je, strength = fitted(stack), np.random.default_rng(2).normal(50, 9, 24)
    values = [None, *strength[1:].tolist()]
    found = predict_label(je, stack, values, "x")
    y = strength[1:]
    guesses = np.empty(23)
    names = np.array(stack.graph_names)[1:]
    for train, test in _splits(y, names, True):
        guesses[test] = y[train].mean()
    expected = 1 - ((y - guesses) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert found.chance == pytest.approx(expected, rel=1e-9)
    assert found.n_graphs == 23
    assert len(found.methods[0].folds) == len(found.chance_folds) == 5


def test_a_fold_of_one_person_has_a_score(stack):
    # Four people: each fold is one person, whose graphs share the value.
    people = [f"p{i // 6}" for i in range(24)]
    ages = [20.0 + 7.5 * (i // 6) for i in range(24)]
    found = predict_label(fitted(stack), stack, ages, "age", people)
    assert found.kind == "quantity"
    assert np.isfinite(found.methods[0].folds).all()
    assert found.chance < 0


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (list(range(24)), "quantity"),
        ([str(30 + i) for i in range(24)], "quantity"),
        ([0, 1] * 12, "classes"),
        ([1, 2, 3, 4] * 6, "classes"),
        (["0.5", "n/a"] * 3 + [None] * 6 + ["1.5", "3"] * 6, "quantity"),
        (["1", "2", "3a"] * 8, "classes"),
    ],
)
def test_numbers_are_quantities_and_codes_are_classes(stack, values, kind):
    assert predict_label(fitted(stack), stack, values, "x").kind == kind


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["a"] * 24, "same value"),
        (["a"] * 23 + ["b"], "only one graph"),
        (["a"] * 2 + [None] * 22, "same"),
        ([37.5] * 24, "same value, '37.5'"),
        ([None, float("nan"), "n/a", ""] * 6, "no graph has a value"),
        ([f"sub-{i}" for i in range(24)], "a value of its own"),
        ([*map(str, range(20, 42)), "old", "unknown"], r"2 are not \('old', 'unknown'\)"),
    ],
)
def test_what_cannot_be_predicted_is_said(stack, values, why):
    assert re.search(why, predict_label(fitted(stack), stack, values, "x"))
