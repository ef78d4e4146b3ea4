"""Names that spreadsheets would run as formulas: guarded in every cell, and read back."""

import csv
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigengraphs as eg
from eigengraphs.system.tables import cell, guarded, unguarded, write_table

FORMULAS = [
    "=1+1", "=cmd|' /C calc'!A0", "@SUM(1)", "+cmd", "-cmd", "-1+2", "＝1+1", "'=1", "''@x",
    '=HYPERLINK("http://localhost")', "= 1",
]  # fmt: skip
PLAIN = ["'quoted'", "'", "''", "it's", "a=b", "-5", "+1e3", "-inf", "a", "007"]
RUN = tuple("=+-@\t\r\n＝＋－＠")


def is_number(text):
    try:
        return bool(float(text)) or True
    except ValueError:
        return False


@given(st.text(alphabet="'=+-@\t\r\n aä1.e_＝", max_size=8))
def test_every_text_comes_back_and_none_is_a_formula(text):
    out = guarded(text)
    assert unguarded(out) == text
    assert not out.strip(" ").startswith(RUN) or is_number(out)


def test_other_texts_and_all_numbers_stay_as_they_are():
    assert [guarded(text) for text in PLAIN] == PLAIN
    assert [unguarded(text) for text in PLAIN] == PLAIN
    assert [cell(x) for x in (-5, -0.5, -np.inf, np.int64(-3))] == ["-5", "-0.5", "-Inf", "-3"]


@pytest.mark.parametrize("form", ["csv", "tsv", "edgelist"])
def test_no_written_cell_is_a_formula(form, tmp_path):
    names = FORMULAS + PLAIN  # which come back: see test_round_trips.py
    stack = eg.GraphStack(np.ones((2, len(names), len(names))), vertex_names=names,
                          graph_names=["=1+1", "'@x"])  # fmt: skip
    for path in eg.io.write(stack, tmp_path / "out", format=form).iterdir():
        cells = re.split(r"[\t\n]|(?<!\\),", re.sub("^#.*", "", path.read_text(), flags=re.M))
        assert not [x for x in cells if x.strip(' "').startswith(RUN) and not is_number(x)]


def test_results_are_guarded_and_participants_read_back(tmp_path):
    path = tmp_path / "participants.tsv"
    rows = [[f"sub{i}", text, -float(i)] for i, text in enumerate(FORMULAS)]
    write_table(path, ["participant_id", "=header", "age"], rows)
    with path.open(newline="", encoding="utf-8") as file:
        cells = [x for row in csv.reader(file, delimiter="\t") for x in row]
    assert not [x for x in cells if x.startswith(RUN) and not is_number(x)]
    table = eg.io.read_participants(path)
    assert table.columns["=header"].tolist() == FORMULAS
    assert table.columns["age"].tolist() == [-float(i) for i in range(len(FORMULAS))]
