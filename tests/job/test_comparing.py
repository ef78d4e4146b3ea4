"""``compare`` and ``changes`` as their users type them."""

import json
import re

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


def test_the_opening_follows_what_is_asked_later(study, run):
    given = ("--participants", "participants.tsv", "--label", "group")
    code, _, err = run("fit", "connectomes", "out", "-d", 2, *given)
    assert code == 0, err

    def shown():
        page = (study / "out" / "report.html").read_text(encoding="utf-8")
        opening = " ".join(FinishedFit(study / "out").summary.words)
        told = json.loads((study / "out" / "report.json").read_text(encoding="utf-8"))
        assert told["words"] == list(FinishedFit(study / "out").summary.words)
        return page, opening

    page, opening = shown()
    assert "described, not tested" in opening
    assert "no order in time" in page
    assert run("compare", "out", "--group", "age")[0] == 0  # another column is another question
    assert "described, not tested" in shown()[1]
    assert run("compare", "out", "--group", "group", "--covariates", "age")[0] == 0
    page, opening = shown()
    assert "not tested" not in opening
    assert "differ between groups of group" in opening
    assert run("changes", "out", "--order", "age")[0] == 0
    page, opening = shown()
    assert "no order in time" not in page
    assert FinishedFit(study / "out").summary.timeline.by == "age"
    assert "Changes and anomalies, in the order of age" in opening


def test_explained_and_residual_are_of_one_whole_everywhere(study, run):
    given = ("--center", "--participants", "participants.tsv", "--json")
    code, said, err = run("fit", "connectomes", "out", "-d", 2, *given)
    assert code == 0, err
    told, out = json.loads(said.splitlines()[-1]), study / "out"
    assert told["explained_of"] == "the sum of squares around the mean graph"
    components = pd.read_csv(out / "components.tsv", sep="\t")
    assert components["explained"].sum() == pytest.approx(told["explained"], rel=1e-8)
    residual = pd.read_csv(out / "loadings.tsv", sep="\t")["residual"].to_numpy()
    summary = FinishedFit(out).summary
    assert 1 - summary.explained_by_graph == pytest.approx(residual, rel=1e-6)
    page = (out / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'report-data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["residual"] == pytest.approx(residual, rel=1e-5)
    worst = summary.worst[0].graph
    assert summary.residual_with_mean[worst] < residual[worst]  # of the whole graph: less
    assert "around the mean graph, " in page
    assert "missed by the fit" not in page
    for words in (" ".join(summary.words), summary.methods, run("info", "out")[1]):
        assert f"{told['explained']:.1%} of the sum of squares around the mean graph" in words
