"""A folder of results can be asked later: it knows its graphs, and takes up what was found."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from eigengraphs.errors import InputError
from eigengraphs.job.finished import FinishedFit
from eigengraphs.report.page import write_report
from eigengraphs.report.records import Finding


def told(words):
    return Finding("compare group", "Groups", (words,), ("component", "p"), (("je1", 0.5),))


@pytest.fixture
def finished(study, run):
    code, _, said = run("fit", "connectomes", "out", "-d", 2, "--participants", "participants.tsv")
    assert code == 0, said
    return FinishedFit(study / "out")


def test_graphs_are_read_again_from_anywhere(finished, study, monkeypatch):
    (study / "elsewhere").mkdir()
    monkeypatch.chdir(study / "elsewhere")
    inputs = finished.inputs()
    Lam = finished.embedding.transform(inputs.graphs)
    assert np.allclose(Lam, finished.summary.loadings, atol=1e-8)
    assert list(inputs.column("group")) == list(finished.values("group", "--group"))


def test_other_graphs_are_refused(finished, study):
    shutil.move(study / "connectomes", study / "moved")
    with pytest.raises(InputError, match="--graphs"):
        finished.inputs()
    assert finished.inputs(study / "moved").graphs.n_graphs == 24
    np.savetxt(study / "moved" / "sub-01_connectome.csv", np.eye(20), delimiter=",")
    with pytest.raises(InputError, match="checksums"):
        finished.inputs(study / "moved")


def test_an_answer_is_in_the_report_and_replaced_by_the_next(finished, study, run):
    finished.add(told("first <b>answer</b>"), "compare-group.tsv")
    files = finished.add(told("second <b>answer</b>"), "compare-group.tsv")
    assert [path.name for path in files] == ["compare-group.tsv", "report.html", "report.json"]
    page = (study / "out" / "report.html").read_text(encoding="utf-8")
    assert "second &lt;b&gt;answer" in page
    assert "first &lt;b" not in page
    # Another fit into the folder voids what was asked of this one.
    (study / "out" / "changes.tsv").write_text("", encoding="utf-8")
    code, out, said = run("fit", "connectomes", "out", "-d", 1)
    assert code == 0, said
    assert "removed answers of the earlier fit: changes.tsv, compare-group.tsv\n" in out
    assert "removed" not in run("fit", "connectomes", "out", "-d", 1)[1]
    assert not (study / "out" / "compare-group.tsv").exists()
    assert [one.key for one in FinishedFit(study / "out").summary.findings] == ["read"]


def test_columns_that_are_not_there(finished):
    with pytest.raises(InputError, match="is it 'group'"):
        finished.values("groop", "--group")


def test_a_model_of_another_fit_is_refused(finished, study, run):
    code, _, said = run("fit", "connectomes", "other", "-d", 1)
    assert code == 0, said
    shutil.copy(study / "other" / "model.eg", study / "out" / "model.eg")
    code, _, said = run("cluster", "out")
    assert code == 3
    assert "another fit" in said


def test_people_are_known_without_a_table(people, run):
    code, _, said = run("fit", "scans", "bare", "-d", 1, "--no-halves")
    assert code == 0, said
    found = FinishedFit(people / "bare")
    assert found.people == "sub"
    assert len(set(found.inputs().participants)) == 12


def test_a_fit_without_a_table_keeps_scans_of_one_person_together(people, run, monkeypatch):
    from eigengraphs.job import analysis

    seen, real = {}, analysis.predict_label

    def predict(*given):
        seen["people"] = given[4]
        return real(*given)

    monkeypatch.setattr(analysis, "predict_label", predict)
    code, _, said = run("fit", "scans", "bare", "-d", 1, "--label", "ses")
    assert code == 0, said
    assert len(seen["people"]) == 24
    assert len(set(seen["people"])) == 12


def test_answers_of_two_commands_at_a_time_are_both_kept(finished):
    one, other = finished, FinishedFit(finished.folder)
    assert one.summary.findings == other.summary.findings
    one.add(replace(told("first"), key="one"), "compare-one.tsv")
    other.add(replace(told("second"), key="other"), "compare-other.tsv")
    keys = [found.key for found in FinishedFit(finished.folder).summary.findings]
    assert keys[-2:] == ["one", "other"]


def test_an_answer_about_a_fit_that_was_replaced_is_not_put_into_the_new_one(finished):
    old = finished.summary
    write_report(replace(old, loadings=old.loadings + 1.0), finished.folder)
    with pytest.raises(InputError, match="replaced by another fit"):
        finished.add(told("first"), "compare-group.tsv")
    assert not (finished.folder / "compare-group.tsv").exists()
