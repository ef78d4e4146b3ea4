"""Labels are predicted from graphs that took no part in anything: fit, evaluate, contest."""

import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.cli.held_out import participants_for, predict_label
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.errors import InputError


@pytest.fixture(scope="session")
def je(stack):
    return eg.JointEmbedding(2, random_state=0).fit(stack)


@pytest.fixture
def predict(stack, je):
    def call(values, participants=None, embedding=je, listen=lambda *_: None):
        data = SimpleNamespace(graphs=stack, column=lambda _: values, participants=participants)
        return predict_label(embedding, data, "x", listen)

    return call


def test_groups_are_found_and_noise_is_not(stack, predict):
    found = predict(["a", "b"] * 12)
    assert [way.name for way in found.methods] == ["joint embedding", "PCA"]
    assert found.methods[0].score == 1.0
    assert found.chance == pytest.approx(0.5, abs=0.1)
    assert (found.kind, found.classes, found.n_graphs) == ("classes", ("a", "b"), 24)
    measures = dict(found.methods[0].measures)
    assert measures.pop("brier_score") < 0.1
    assert measures == dict.fromkeys(
        ("balanced_accuracy", "roc_auc", "sensitivity", "specificity"), 1.0)  # fmt: skip
    coin = np.random.default_rng(0).permutation(["a", "b"] * 12).tolist()
    assert predict(coin).methods[0].score < 0.85
    # Not even if the labels have shaped the components.
    shaped = eg.JointEmbedding(2, loadings="class", random_state=0).fit(stack, coin)
    assert predict(coin, embedding=shaped).methods[0].score < 0.85


def test_a_fold_of_one_participant_has_a_score(predict):
    # Four participants: each fold is one of them, whose graphs share the value.
    people = [f"p{i // 6}" for i in range(24)]
    found = predict([20.0 + 7.5 * (i // 6) for i in range(24)], people)
    assert found.kind == "quantity"
    assert np.isfinite(found.methods[0].folds).all()
    assert found.chance < 0


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([str(30 + i) for i in range(24)], "quantity"),
        ([0, 1] * 12, "classes"),
        ([1, 2, 3, 4] * 6, "classes"),
        (["0.5", "n/a"] * 3 + [None] * 6 + ["1.5", "3"] * 6, "quantity"),
        (["1", "2", "3a"] * 8, "classes"),
    ],
)
def test_numbers_are_quantities_and_codes_are_classes(predict, values, kind):
    assert predict(values).kind == kind


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
def test_what_cannot_be_predicted_is_said(predict, values, why):
    assert re.search(why, predict(values))


def test_a_fit_without_a_table_keeps_scans_of_one_participant_together(scans, done, told):
    last = told("fit", "scans", "bare", "-d", 1, "--label", "ses")
    assert last["graphs"] == 24
    found = FinishedFit(scans / "bare")
    assert last["prediction"]["methods"] == found.summary.to_json()["prediction"]["methods"]
    assert ">balanced accuracy</th>" in (scans / "bare" / "report.html").read_text("utf-8")
    assert found.participants == "sub"
    assert len(set(found.inputs().participants)) == 12
    assert "Graphs of one participant stay together" in found.summary.prediction.protocol


# ------------------------------------------------------------------------ evaluate and contest


def test_groups_are_evaluated_and_reported(scans, done, table):
    said = done("evaluate", "out", "--target", "group", "--cv", 3, "--groups", "participant_id",
                "--methods", "PCA,ASE")  # fmt: skip
    assert "Joint embedding, 1-NN: accuracy 1.000" in said
    assert "Graphs of one participant stay together" in said
    found = table(scans / "out" / "evaluate-group.tsv")
    assert list(found["method"].unique()) == ["joint embedding", "PCA", "ASE", "chance"]
    assert (found["low"] <= found["accuracy"]).all()
    findings = {one.title: one for one in FinishedFit(scans / "out").summary.findings}
    assert "of 12 groups" in " ".join(findings["Prediction of group"].notes)
    assert "Prediction of group: calibration" in findings
    assert "Prediction of group" in (scans / "out" / "report.html").read_text(encoding="utf-8")


def test_one_number_has_one_name_in_terminal_tables_json_and_report(scans, told, table, done):
    words = ("evaluate", "out", "--target", "group", "--methods", "none", "--by", "ses", "--cv", 99,
             "--beyond", "age", "--permutations", 3, "--positive", "control")  # fmt: skip
    found, said = told(*words), done(*words)
    stem = "evaluate-group-beyond-age"
    joint = found["pipelines"][1]
    row = table(scans / "out" / f"{stem}.tsv").iloc[1]
    numbers = ("accuracy", "balanced_accuracy", "roc_auc", "sensitivity", "brier_score",
               "p_permutation")  # fmt: skip
    assert row[[*numbers]].tolist() == pytest.approx([joint[name] for name in numbers], abs=1e-9)
    parts = table(scans / "out" / f"{stem}.parts.tsv")
    assert list(parts.columns[:3]) == ["pipeline", "ses", "graphs"]
    assert [each["graphs"] for each in found["parts"]] == parts["graphs"].tolist() == [12] * 10
    findings = {one.key: one for one in FinishedFit(scans / "out").summary.findings}
    assert findings["evaluate group beyond age"].cells[1]["roc_auc"] == joint["roc_auc"]
    assert findings["parts of evaluate group beyond age"].header[:2] == ("ses", "pipeline")
    assert f"sensitivity {joint['sensitivity']:.3f}" in said
    assert "control is positive" in said
    assert "6 folds instead of 99" in " ".join(found["notes"])
    assert found["confusion"][0]["predicted control"] == 12


def test_participants_are_told_apart_with_folds_by_session(scans, refused, told):
    shutil.move(scans / "scans", scans / "moved")
    words = ("evaluate", "out", "--target", "participant_id", "--folds", "ses")
    assert "--graphs" in refused(*words)
    last = told(*words, "--graphs", "moved", "--methods", "none", "--learn-from-one")
    assert last["groups"] == 12
    assert "2 folds by a column, learning from one fold" in last["protocol"]
    assert [row["method"] for row in last["pipelines"]] == ["joint embedding"] * 2 + ["chance"]


def test_the_number_of_components_is_chosen_in_inner_folds(scans, told, refused):
    words = ("--target", "group", "--methods", "none", "--cv", 2, "-d")
    assert "chosen in inner folds" in told("evaluate", "out", *words, "cv")["protocol"]
    assert "'cv' is for evaluate and contest" in refused("fit", "scans", "other", "-d", "cv")


def test_a_contest_of_scans_recognizes_participants(scans, told):
    found = told("contest", "scans", "--participants", "participants.tsv", "--label", "group",
                 "--methods", "PCA", "-d", 2, "--cv", 2, "--output", "held")  # fmt: skip
    joint = found["methods"][0]
    assert 0 <= joint["identified_low"] <= joint["identified"] <= joint["identified_high"] <= 1
    assert 0.5 < joint["discriminability"] <= 1
    assert "12 people with 2 graphs each" in found["notes"][-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "groop"), "did you mean 'group'"),
        (("--target", "group", "--folds", "ses", "--groups", "sub"), "in several folds"),
        (("--target", "group", "--folds", "ses"), "recognizing participants"),
        (("--target", "age", "--covariates", "age"), "'age' is named twice"),
    ],
)
def test_what_cannot_be_evaluated_is_said(scans, refused, words, said):
    assert said in refused("evaluate", "out", *words)


def test_folds_do_not_tear_participants_apart_unless_asked(scans, refused, told):
    words = ("evaluate", "out", "--target", "group", "--methods", "none", "--folds")
    assert told(*words, "ses", "--groups", "none")["groups"] == 24
    assert told(*words, "sub")["groups"] == 12
    titles = [found.title for found in FinishedFit(scans / "out").summary.findings]
    assert {"Prediction of group, folds by ses", "Prediction of group, folds by sub"} < {*titles}
    said = refused("contest", "scans", "--participants", "participants.tsv", "--label", "group",
                   "--folds", "ses")  # fmt: skip
    assert "recognizing participants" in said


def test_whose_graphs_stay_together():
    people = ["p", "p", "q", "q"]
    assert participants_for(people, ["a", "a", "b", "b"], None) == people
    # What varies within participants may be learned from their other graphs; what they are may not.
    assert participants_for(people, ["a", "b", "a", "b"], [1, 2, 1, 2]) is None
    assert participants_for(people, ["a", "a", "b", "a"], [1, 1, 2, 2]) == people
    for y in (["a", "a", "a", "a"], ["a", "b", "a", "a"], [30.0, 30.5, 41.0, 41.5]):
        with pytest.raises(InputError, match="recognizing participants"):
            participants_for(people, y, [1, 2, 1, 2])
    assert participants_for(people, people, [1, 2, 1, 2]) == people
    assert participants_for(["p", "q"], ["a", "b"], None) is None
    assert participants_for(None, ["a", "b"], None) is None


def test_a_contest_leaves_a_table_and_a_picture(study, done, refused, table):
    words = ("contest", "connectomes", "--participants", "participants.tsv", "-d", 2, "--cv", 3,
             "--output", "held")  # fmt: skip
    assert "wrote" in done(*words, "--label", "group")
    found = table(study / "held" / "contest.tsv")
    assert list(found["method"]) == [
        "joint embedding", "Multiple ASE", "Omnibus", "Unfolded ASE", "PCA", "ASE", "chance",
    ]  # fmt: skip
    assert found["explained"][0] > 0.9
    assert found["accuracy_1-NN"][0] == 1.0
    assert (study / "held" / "contest.png").read_bytes()[:4] == b"\x89PNG"
    assert "did you mean 'group'" in refused(*words, "--label", "groop")
