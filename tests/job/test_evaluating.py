"""``eigengraphs evaluate``: asked of a folder of results, answered in its report."""

import json
import shutil

import pandas as pd
import pytest

from eigengraphs.errors import InputError
from eigengraphs.job.evaluating import people_for
from eigengraphs.job.finished import FinishedFit


def test_groups_are_evaluated_and_reported(people, run):
    code, said, errors = run("evaluate", "out", "--target", "group", "--cv", 3, "--groups",
                             "participant_id", "--methods", "PCA,ASE")  # fmt: skip
    assert code == 0, errors
    assert "Joint embedding, 1-NN: accuracy 1.000" in said
    assert "Graphs of one participant stay together" in said
    table = pd.read_csv(people / "out" / "evaluate-group.tsv", sep="\t")
    assert list(table["method"].unique()) == ["joint embedding", "PCA", "ASE", "chance"]
    assert (table["low"] <= table["accuracy"]).all()
    *_, finding = FinishedFit(people / "out").summary.findings
    assert finding.title == "Prediction of group"
    assert "of 12 groups" in " ".join(finding.notes)
    assert "Prediction of group" in (people / "out" / "report.html").read_text(encoding="utf-8")


def test_people_are_told_apart_with_folds_by_session(people, run):
    shutil.move(people / "scans", people / "moved")
    code, _, said = run("evaluate", "out", "--target", "participant_id", "--folds", "ses")
    assert code == 3
    assert "--graphs" in said
    code, said, errors = run(
        "evaluate", "out", "--target", "participant_id", "--folds", "ses", "--graphs", "moved",
        "--methods", "none", "--learn-from-one", "--json",
    )  # fmt: skip
    assert code == 0, errors
    done = json.loads(said.splitlines()[-1])
    assert done["event"] == "done"
    assert done["groups"] == 12
    assert "2 folds by a column, learning from one fold" in done["protocol"]
    assert [row["method"] for row in done["pipelines"]] == ["joint embedding"] * 2 + ["chance"]


def test_what_cannot_be_evaluated_is_said(people, run):
    code, _, said = run("evaluate", "out", "--target", "groop")
    assert code == 3
    assert "is it 'group'" in said
    code, _, said = run("evaluate", "out", "--target", "group", "--folds", "ses", "--groups", "sub")
    assert code == 3
    assert "in several folds" in said


def test_folds_do_not_tear_people_apart_in_silence(people, run):
    code, _, said = run("evaluate", "out", "--target", "group", "--folds", "ses")
    assert code == 3
    assert "recognise people" in said
    code, said, errors = run("evaluate", "out", "--target", "group", "--folds", "ses", "--groups",
                             "none", "--methods", "none", "--json")  # fmt: skip
    assert code == 0, errors
    assert json.loads(said.splitlines()[-1])["groups"] == 24
    code, said, errors = run("evaluate", "out", "--target", "group", "--folds", "sub", "--methods",
                             "none", "--json")  # fmt: skip
    assert code == 0, errors
    assert json.loads(said.splitlines()[-1])["groups"] == 12
    titles = [found.title for found in FinishedFit(people / "out").summary.findings]
    assert titles[-2:] == ["Prediction of group, folds by ses", "Prediction of group, folds by sub"]
    code, _, said = run("contest", "scans", "--participants", "participants.tsv", "--label",
                        "group", "--folds", "ses")  # fmt: skip
    assert code == 3
    assert "recognise people" in said


def test_the_target_is_no_covariate(people, run):
    code, _, said = run("evaluate", "out", "--target", "age", "--covariates", "age")
    assert code == 3
    assert "'age' is named twice" in said


def test_whose_graphs_stay_together():
    people = ["p", "p", "q", "q"]
    assert people_for(people, ["a", "a", "b", "b"], None) == people
    # What varies within people may be learnt from their other graphs; what they are may not.
    assert people_for(people, ["a", "b", "a", "b"], [1, 2, 1, 2]) is None
    assert people_for(people, ["a", "a", "b", "a"], [1, 1, 2, 2]) == people
    for y in (["a", "a", "a", "a"], ["a", "b", "a", "a"], [30.0, 30.5, 41.0, 41.5]):
        with pytest.raises(InputError, match="recognise people"):
            people_for(people, y, [1, 2, 1, 2])
    assert people_for(people, people, [1, 2, 1, 2]) == people
    assert people_for(["p", "q"], ["a", "b"], None) is None
    assert people_for(None, ["a", "b"], None) is None


def test_a_contest_leaves_a_table_and_a_picture(study, run):
    code, said, errors = run("contest", "connectomes", "--participants", "participants.tsv",
                             "--label", "group", "-d", 2, "--cv", 3,
                             "--output", "held")  # fmt: skip
    assert code == 0, errors
    assert "wrote" in said
    table = pd.read_csv(study / "held" / "contest.tsv", sep="\t")
    assert list(table["method"]) == [
        "joint embedding", "Multiple ASE", "Omnibus", "Unfolded ASE", "PCA", "ASE", "chance",
    ]  # fmt: skip
    assert table["explained"][0] > 0.9
    assert table["accuracy_1-NN"][0] == 1.0
    assert (study / "held" / "contest.png").read_bytes()[:4] == b"\x89PNG"
    code, _, errors = run("contest", "connectomes", "--participants", "participants.tsv",
                          "--label", "groop")  # fmt: skip
    assert code == 3
    assert "is it 'group'" in errors
