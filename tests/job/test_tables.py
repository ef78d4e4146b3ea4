"""Tables of results under the rules of pandas.read_csv and of R's read.delim."""

import csv

import numpy as np
import pandas as pd
import pytest

import eigengraphs as eg
from eigengraphs.system.tables import write_table

NAMES = ["0001", "0002", 'a "quoted" b', '"all"', "tab\there", "two\nlines", "it's", "# hash",
         "'single'", " ahead", "é ü", "a,b;c"]  # fmt: skip
VERTICES = ["01", "02", 'v"q', "t\tt", "n\nn", "o'k", "#v", "v 7"]


def read_delim(path):
    """Read as R does by ``read.delim(path)``: sep tab, quote '"' doubled inside, no comments."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t", quotechar='"', doublequote=True)
    assert {len(row) for row in rows} == {len(header)}  # else R takes a column for row names
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


@pytest.fixture
def results(run, tmp_path):
    rng = np.random.default_rng(0)
    A = np.triu(rng.poisson(3.0, (12, 8, 8)).astype(float), 1)
    stack = eg.GraphStack(A + A.transpose(0, 2, 1), graph_names=NAMES, vertex_names=VERTICES)
    eg.io.write(stack, tmp_path / "graphs.npz")
    code, _, err = run("fit", "graphs.npz", "results", "-d", "2")
    assert code == 0, err
    return tmp_path / "results"


def test_one_call_of_pandas_reads_each_table(results):
    kinds = {
        "loadings": {"id": "O", "je1": "f", "je2": "f", "residual": "f"},
        "positions": {"vertex": "O", "je1": "f", "je2": "f"},
        "components": {"component": "O", "objective": "f", "explained": "f", "stationarity": "f",
                       "start_agreement": "f", "stop_reason": "O", "converged": "b",
                       "degenerate": "b", "passes": "i"},
    }  # fmt: skip
    for name, expected in kinds.items():
        table = pd.read_csv(results / f"{name}.tsv", sep="\t")
        assert list(table) == list(expected)
        kind = {column: "O" if pd.api.types.is_string_dtype(table[column])
                else table[column].dtype.kind for column in table}  # fmt: skip
        assert kind == expected
        assert table.index.equals(pd.RangeIndex(len(table)))
        assert not table.isna().any().any()
    quality = pd.read_csv(results / "qc.tsv", sep="\t")
    assert [quality[x].dtype.kind for x in ("density", "total_weight", "isolated")] == [*"ffi"]
    assert pd.read_csv(results / "loadings.tsv", sep="\t")["id"].tolist() == NAMES


def test_rs_rules_give_the_names_back(results):
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
    table = pd.read_csv(path, sep="\t")
    assert table["truth"].tolist() == [True, False]
    assert table["gap"].isna().tolist() == [True, False]
    assert table["text"].isna().tolist() == [True, False]
    assert np.isinf(table["end"]).all()


def test_ids_of_digits_keep_their_zeros_where_they_are_asked_as_text(run, tmp_path):
    stack = eg.GraphStack(np.ones((3, 4, 4)) - np.eye(4), graph_names=["0001", "0002", "0010"])
    eg.io.write(stack, tmp_path / "graphs.npz")
    people = 'participant_id\tid\tid_\tnote\tage\n0001\tx\ty\t"a ""b"""\t30\n'
    people += "0002\tx\ty\tn/a\tn/a\n0010\tx\ty\tc\t40\n"
    (tmp_path / "people.tsv").write_text(people, encoding="utf-8")
    code, _, err = run("fit", "graphs.npz", "results", "-d", "1", "--participants", "people.tsv")
    assert code == 0, err
    path = tmp_path / "results" / "loadings.tsv"
    table = pd.read_csv(path, sep="\t", dtype={"id": str, "participant_id": str})
    assert table["id"].tolist() == table["participant_id"].tolist() == ["0001", "0002", "0010"]
    # Columns of the table that are called as ours are get a name of their own.
    assert list(table)[:6] == ["id", "participant_id", "id__", "id_", "note", "age"]
    assert read_delim(path)["note"] == ['a "b"', "NA", "c"]
    assert read_delim(path)["age"] == ["30", "NA", "40"]
