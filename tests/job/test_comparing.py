"""``compare`` and ``changes`` as their users type them."""

import json

import pandas as pd
import pytest

from eigengraphs.job.finished import FinishedFit


@pytest.fixture
def finished(study, run):
    code, _, said = run("fit", "connectomes", "out", "-d", 2, "--participants", "participants.tsv")
    assert code == 0, said
    return study / "out"


def test_compare_says_writes_and_reports(finished, run):
    code, said, err = run("compare", "out", "--group", "group", "--covariates", "age")
    assert code == 0, err
    assert "differ between groups of group (12 control, 12 patient)" in said
    assert "The loading on je2 is largest in graphs of patient (mean 1" in said
    assert "Methods: Loadings were compared" in said
    table = pd.read_csv(finished / "compare-group-age.tsv", sep="\t")
    assert list(table["component"]) == ["je1", "je2", "all"]
    assert table["p (FDR)"][1] < 0.05 < table["p (FDR)"][0]
    assert table["low"][1] > 0
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert "Loadings by group, adjusted for age" in page
    code, said, _ = run("compare", "out", "--group", "age", "--json")
    assert code == 0
    told = json.loads(said.splitlines()[-1])
    assert (told["event"], told["kind"], told["effect"]) == ("done", "quantity",
                                                             "partial correlation")  # fmt: skip
    asked = [found.key for found in FinishedFit(finished).summary.findings]
    assert [key for key in asked if key.startswith("compare")] == ["compare group age",
                                                                   "compare age"]  # fmt: skip


def test_scans_of_subjects_are_kept_together(finished, run):
    # Two neighbours, one of each group, as if they were one person before and after.
    report = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    report["columns"].append({"name": "person", "kind": "category", "categories":
                              [f"p{i}" for i in range(12)],
                              "values": [i // 2 for i in range(24)]})  # fmt: skip
    (finished / "report.json").write_text(json.dumps(report), encoding="utf-8")
    code, said, err = run("compare", "out", "--group", "group", "--subject", "person", "--json")
    assert code == 0, err
    told = json.loads(said.splitlines()[-1])
    assert (told["design"], told["units"], told["permutations"]) == ("within", 12, 4096)


def test_what_compare_refuses(finished, run):
    code, _, err = run("compare", "out", "--group", "groop")
    assert code == 3
    assert "is it 'group'" in err
    code, _, err = run("compare", "out", "--group", "group", "--covariates", "age,group")
    assert code == 3
    assert "'group' is named twice" in err
    assert not list(finished.glob("compare*"))


def test_changes_in_the_order_of_a_column(finished, run):
    code, said, err = run("changes", "out", "--order", "age")
    assert code == 0, err
    assert "No change of level is shown" in said
    # In this order all controls come first: the level changes where patients begin.
    report = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    report["columns"].append({"name": "visit", "kind": "number", "categories": [],
                              "values": [i // 2 + 12 * (i % 2) for i in range(24)]})  # fmt: skip
    (finished / "report.json").write_text(json.dumps(report), encoding="utf-8")
    code, said, err = run("changes", "out", "--order", "visit")
    assert code == 0, err
    assert "1 change, first seen in sub-02 (visit 12)." in said
    code, said, err = run("changes", "out", "--order", "visit", "--json")
    assert code == 0, err
    told = json.loads(said.splitlines()[-1])
    assert [change["when"] for change in told["changes"]] == ["12"]
    assert told["changes"][0]["graph"] == "sub-02"
    table = pd.read_csv(finished / "changes.tsv", sep="\t")
    assert list(table["segment"]) == [1.0] * 12 + [2.0] * 12
    assert "Changes and anomalies, in the order of visit" in (finished / "report.html").read_text(
        encoding="utf-8"
    )


def test_scans_of_participants_are_kept_together_unasked(people, run):
    code, said, err = run("compare", "out", "--group", "group", "--json")
    assert code == 0, err
    told = json.loads(said.splitlines()[-1])
    assert (told["design"], told["graphs"], told["units"]) == ("between", 24, 12)
    assert "several graphs of one participant_id are taken together" in told["notes"]
    code, said, err = run("compare", "out", "--group", "ses", "--json")
    assert code == 0, err
    assert json.loads(said.splitlines()[-1])["design"] == "within"
    # Every graph of its own, if that is asked; the other answer stays.
    code, said, err = run("compare", "out", "--group", "group", "--subject", "none", "--json")
    assert code == 0, err
    assert json.loads(said.splitlines()[-1])["units"] == 24
    out = people / "out"
    first, second = (out / f"compare-group{end}.tsv" for end in ("", "-of-none"))
    assert first.read_text(encoding="utf-8") != second.read_text(encoding="utf-8")
    # Where people are what is compared, they are the groups.
    code, said, err = run("compare", "out", "--group", "sub", "--json")
    assert code == 0, err
    assert json.loads(said.splitlines()[-1])["design"] == "single"
