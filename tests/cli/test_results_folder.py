"""A folder of results: opened again, added to, replaced, and read by pandas and R."""

import csv
import fcntl
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigengraphs as eg
from eigengraphs.cli.commands.fit import journal_of, open_journal
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.errors import InputError
from eigengraphs.report.page import write_report
from eigengraphs.report.records import Finding
from eigengraphs.system.tables import write_table


def answer(words, key="compare group"):
    return Finding(key, "Groups", (words,), ("component", "p"), (("je1", 0.5),))


@pytest.fixture
def finished(out):
    return FinishedFit(out)


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


def test_graphs_that_changed_places_are_refused(finished, study):
    one, other = (study / "connectomes" / f"sub-0{i}_connectome.csv" for i in (1, 2))
    one.rename(study / "aside")
    other.rename(one)
    (study / "aside").rename(other)
    with pytest.raises(InputError, match="checksums"):
        finished.inputs()


def test_tables_are_found_beside_graphs_that_moved(finished, study):
    table = Path(finished.provenance["reading"]["how"]["participants"])
    shutil.move(study / "connectomes", study / "moved")
    shutil.move(table, study / "moved" / table.name)
    again = finished.inputs(study / "moved")
    assert list(again.column("group")) == list(finished.values("group", "--group"))
    (study / "moved" / table.name).unlink()
    with pytest.raises(InputError, match="put it back, or beside"):
        finished.inputs(study / "moved")


def test_how_earlier_versions_recorded_the_reading_is_understood(finished):
    path = finished.folder / "provenance.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    how = record["reading"]["how"]
    assert how.pop("allow_missing") is False
    record["reading"]["how"] = how | {"directed": "auto", "missing": "error"}
    path.write_text(json.dumps(record), encoding="utf-8")
    assert finished.inputs().graphs.n_graphs == 24


def test_an_answer_is_in_the_report_and_replaced_by_the_next(finished, study, done):
    finished.add(answer("first <b>answer</b>"), "compare-group.tsv")
    files = finished.add(answer("second <b>answer</b>"), "compare-group.tsv")
    assert [path.name for path in files] == [
        "compare-group.tsv", "methods.md", "report.html", "report.json"]  # fmt: skip
    page = (study / "out" / "report.html").read_text(encoding="utf-8")
    assert "second &lt;b&gt;answer" in page
    assert "first &lt;b" not in page
    # Another fit into the folder removes what was asked of this one.
    (study / "out" / "changes.tsv").write_text("", encoding="utf-8")
    said = done("fit", "connectomes", "out", "-d", 1)
    assert "removed answers of the earlier fit: changes.tsv, compare-group.tsv\n" in said
    assert "removed" not in done("fit", "connectomes", "out", "-d", 1)
    assert not (study / "out" / "compare-group.tsv").exists()
    assert [one.key for one in FinishedFit(study / "out").summary.findings] == ["read"]


def test_a_model_of_another_fit_is_refused(finished, study, done, refused):
    done("fit", "connectomes", "other", "-d", 1)
    shutil.copy(study / "other" / "model.eg", study / "out" / "model.eg")
    assert "another fit" in refused("cluster", "out")


def test_answers_of_two_commands_at_a_time_are_both_kept(finished):
    one, other = finished, FinishedFit(finished.folder)
    assert one.summary.findings == other.summary.findings
    one.add(answer("first", "one"), "compare-one.tsv")
    other.add(answer("second", "other"), "compare-other.tsv")
    keys = [found.key for found in FinishedFit(finished.folder).summary.findings]
    assert keys[-2:] == ["one", "other"]


def test_an_answer_about_a_fit_that_was_replaced_is_not_put_into_the_new_one(finished):
    old = finished.summary
    write_report(replace(old, loadings=old.loadings + 1.0), finished.folder)
    with pytest.raises(InputError, match="replaced by another fit"):
        finished.add(answer("first"), "compare-group.tsv")
    assert not (finished.folder / "compare-group.tsv").exists()


# -------------------------------------------------------------- the journal of a fit of a store


@pytest.fixture
def journal(tmp_path):
    """Return a function that opens the journal of the same fit."""
    graphs = eg.models.ErdosRenyi(6, 0.5).sample(4, random_state=0)
    store = eg.store.write_store(tmp_path / "graphs.egs", [graphs])
    return lambda: open_journal(store, tmp_path / "results", lambda *_: None)


def test_a_fit_does_not_take_the_journal_of_one_that_is_running(journal, tmp_path):
    with journal() as one:
        assert list(one.each(("sum",), lambda: iter([3.0]))) == [3.0]
        with (
            pytest.raises(InputError, match=r"another fit into '.*results' is running: wait"),
            journal(),
        ):
            pass
        assert one.n_kept == 1
    assert not journal_of(tmp_path / "results").exists()


def test_where_there_are_no_locks_a_fit_works_without(journal, tmp_path, monkeypatch):
    def none(*_):
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", none)
    with journal() as one:
        assert journal_of(tmp_path / "results").is_dir()
        assert one.n_kept == 0


# ------------------------------------------------ tables, for pandas.read_csv and R's read.delim

NAMES = ["0001", "0002", 'a "quoted" b', '"all"', "tab\there", "two\nlines", "it's", "# hash",
         "'single'", " ahead", "é ü", "a,b;c"]  # fmt: skip
VERTICES = ["01", "02", 'v"q', "t\tt", "n\nn", "o'k", "#v", "v 7"]


def read_delim(path):
    """Read as R does by ``read.delim(path)``: sep tab, quote '"' doubled inside, no comments."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t", quotechar='"', doublequote=True)
    assert {len(row) for row in rows} == {len(header)}  # else R takes a column for row names
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def test_pandas_and_r_read_each_table(done, tmp_path):
    rng = np.random.default_rng(0)
    A = np.triu(rng.poisson(3.0, (12, 8, 8)).astype(float), 1)
    stack = eg.GraphStack(A + A.transpose(0, 2, 1), graph_names=NAMES, vertex_names=VERTICES)
    eg.io.write(stack, tmp_path / "graphs.npz")
    done("fit", "graphs.npz", "results", "-d", "2")
    results = tmp_path / "results"
    kinds = {
        "loadings": {"id": "O", "je1": "f", "je2": "f", "residual": "f"},
        "positions": {"vertex": "O", "je1": "f", "je2": "f"},
        "components": {"component": "O", "objective": "f", "explained": "f", "stationarity": "f",
                       "start_agreement": "f", "stop_reason": "O", "converged": "b",
                       "degenerate": "b", "passes": "i"},
    }  # fmt: skip
    for name, expected in kinds.items():
        found = pd.read_csv(results / f"{name}.tsv", sep="\t")
        kind = {column: "O" if pd.api.types.is_string_dtype(found[column])
                else found[column].dtype.kind for column in found}  # fmt: skip
        assert list(kind.items()) == list(expected.items())
        assert found.index.equals(pd.RangeIndex(len(found)))
        assert not found.isna().any().any()
    quality = pd.read_csv(results / "qc.tsv", sep="\t")
    assert [quality[x].dtype.kind for x in ("density", "total_weight", "isolated")] == [*"ffi"]
    assert pd.read_csv(results / "loadings.tsv", sep="\t")["id"].tolist() == NAMES
    assert read_delim(results / "loadings.tsv")["id"] == NAMES
    assert read_delim(results / "positions.tsv")["vertex"] == VERTICES
    assert read_delim(results / "qc.tsv")["id"] == NAMES
    assert read_delim(results / "components.tsv")["degenerate"] == ["FALSE", "FALSE"]


def test_values_have_one_spelling_for_both(tmp_path):
    path = tmp_path / "table.tsv"
    rows = [
        ["a", 1.0, True, None, 3, float("nan"), float("inf")],
        ["b", 1e-300, np.bool_(False), "x", np.int64(4), np.float64(2), -float("inf")],
    ]
    write_table(path, ["id", "real", "truth", "text", "whole", "gap", "end"], rows)
    assert path.read_bytes().split(b"\n")[1:3] == [
        b"a\t1.0\tTRUE\tNA\t3\tNA\tInf", b"b\t1e-300\tFALSE\tx\t4\t2.0\t-Inf",
    ]  # fmt: skip
    found = pd.read_csv(path, sep="\t")
    assert found["truth"].tolist() == [True, False]
    assert found["gap"].isna().tolist() == [True, False]
    assert found["text"].isna().tolist() == [True, False]
    assert np.isinf(found["end"]).all()


def test_ids_of_digits_keep_their_zeros_where_they_are_read_as_text(done, tmp_path):
    stack = eg.GraphStack(np.ones((3, 4, 4)) - np.eye(4), graph_names=["0001", "0002", "0010"])
    eg.io.write(stack, tmp_path / "graphs.npz")
    people = 'participant_id\tid\tid_\tnote\tage\tdose\n0001\tx\ty\t"a ""b"""\t30\t1.5\n'
    people += "0002\tx\ty\tn/a\tn/a\tn/a\n0010\tx\ty\tc\t40\t2\n"
    (tmp_path / "people.tsv").write_text(people, encoding="utf-8")
    done("fit", "graphs.npz", "results", "-d", "1", "--participants", "people.tsv")
    path = tmp_path / "results" / "loadings.tsv"
    found = pd.read_csv(path, sep="\t", dtype={"id": str, "participant_id": str})
    assert found["id"].tolist() == found["participant_id"].tolist() == ["0001", "0002", "0010"]
    # Columns of the table with one of our names get another.
    assert list(found)[:6] == ["id", "participant_id", "id__", "id_", "note", "age"]
    assert read_delim(path)["note"] == ['a "b"', "NA", "c"]
    assert read_delim(path)["age"] == ["30", "NA", "40"]  # whole numbers stay whole
    assert read_delim(path)["dose"] == ["1.5", "NA", "2.0"]
