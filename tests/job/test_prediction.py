"""Labels are predicted from graphs that took no part in anything."""

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.job.prediction import _splits, predict_label


def fitted(stack, **settings):
    return eg.JointEmbedding(2, random_state=0, **settings).fit(stack)


def test_groups_are_found_and_noise_is_not(stack):
    je = fitted(stack)
    found = predict_label(je, stack, ["a", "b"] * 12, "group")
    scores = {way.name: way.mean for way in found.methods}
    assert scores["joint embedding"] == 1.0
    assert scores["chance"] == pytest.approx(0.5, abs=0.1)
    noise = np.random.default_rng(0).permutation(["a", "b"] * 12)
    found = predict_label(je, stack, noise.tolist(), "coin")
    assert found.methods[0].mean < 0.85


def test_labels_that_shape_components_do_not_help_to_predict_a_coin(stack):
    coin = np.random.default_rng(1).permutation(["a", "b"] * 12).tolist()
    je = eg.JointEmbedding(2, loadings="class", random_state=0).fit(stack, coin)
    assert predict_label(je, stack, coin, "coin").methods[0].mean < 0.85


def test_graphs_of_one_person_stay_together(stack):
    # Each person has two graphs, and the label is noise that belongs to the person.
    people = [f"p{i // 2}" for i in range(24)]
    seen = []
    je = fitted(stack)
    found = predict_label(
        je, stack, ["a", "a", "b", "b"] * 6, "x", people, lambda *n: seen.append(n)
    )
    assert "Graphs of one participant stay together" in found.protocol
    assert seen[-1][0] == seen[-1][1] == len(found.methods[0].scores)


@pytest.mark.parametrize("is_quantity", [False, True])
def test_no_person_is_on_both_sides_of_a_fold(is_quantity):
    people = np.array([f"p{i // 2}" for i in range(40)])
    y = np.arange(40.0) if is_quantity else np.repeat(["a", "b"] * 10, 2)
    for train, test in _splits(y, people, is_quantity):
        assert not set(people[train]) & set(people[test])


def test_where_the_label_is_the_person_sessions_are_split():
    people = np.array([f"p{i // 4}" for i in range(24)])
    for train, test in _splits(people, people, False):
        assert set(people[test]) <= set(people[train])


def test_quantities_are_regressed(stack):
    je = fitted(stack)
    found = predict_label(je, stack, je.loadings_[:, 1].tolist(), "strength")
    assert found.kind == "quantity"
    assert found.methods[0].mean > 0.8 > 0.1 > found.methods[-1].mean


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["a"] * 24, "same value"),
        (["a"] * 23 + ["b"], "but one graph"),
        (["a"] * 2 + [None] * 22, "same"),
    ],
)
def test_what_cannot_be_predicted_is_said(stack, values, why):
    assert why in predict_label(fitted(stack), stack, values, "x")
