"""report.json is enough for the page; what is not report.json is refused by name."""

import json
from dataclasses import replace

import numpy as np
import pytest
from report_cases import CASES, small

from eigengraphs.errors import InputError
from eigengraphs.report import read_summary, write_page, write_report
from eigengraphs.report.page import render
from eigengraphs.report.records import Finding, MethodScore, Prediction

# Four times the same code on more graphs would prove nothing more.
FEW = [name for name in CASES if not name.startswith("2000")]


@pytest.mark.parametrize("name", FEW)
def test_the_page_comes_back_byte_for_byte(name, tmp_path):
    summary = CASES[name]()
    page, data = write_report(summary, tmp_path)
    again = read_summary(tmp_path)
    assert again.to_json() == summary.to_json()
    other = write_page(again, tmp_path / "again.html")
    assert other.read_bytes() == page.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert json.loads(data.read_text(encoding="utf-8")) == summary.to_json()


def test_what_is_no_number_comes_back(tmp_path):
    method = MethodScore("a", 0.5, folds=(0.25, 0.75))
    guess = Prediction("age", (method,), -0.1, kind="quantity", n_graphs=11, chance_folds=(-0.2, 0))
    summary = small(prediction=guess, ordered="age", columns={"age": range(12)}, label="age")[2]
    share = summary.residual_with_mean.copy()
    share[2] = np.nan
    summary = replace(summary, residual_with_mean=share, gamma_condition=np.inf)
    write_report(summary, tmp_path)
    again = read_summary(tmp_path / "report.json")
    assert np.isnan(again.residual_with_mean[2])
    assert again.prediction == summary.prediction
    assert again.timeline == summary.timeline
    assert again.columns == summary.columns
    assert render(again) == render(summary)
    header = ("component", "effect", "low")
    found = Finding("k", "t", (), header, (("je1", np.inf, np.nan), ("all", 1.0, None)))
    assert found.rows == (("je1", None, None), ("all", 1.0, None))


@pytest.fixture(scope="module")
def told():
    return json.dumps(small()[2].to_json())


def change(data, path, value):
    *way, last = path
    for step in way:
        data = data[step]
    if value is ...:
        del data[last]
    else:
        data[last] = value


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["format"], 1, "has format 1, and this version of eigengraphs reads format"),
        (["format"], ..., "not the data of a report"),
        (["title"], 3, "title must be a text, got 3"),
        (["problems"], "one", "problems must be a list"),
        (["loadings"], ..., "loadings is missing"),
        (["colour"], "red", "colour is unknown"),
        (["loadings", 3, 0], "1.5", "loadings must be an array of numbers"),
        (["loadings"], [[1.0]], r"loadings must have shape \(12, 3\), got \(1, 1\)"),
        (["components", 1, "explained"], "much", r"components\[1\].explained must be a number"),
        (["components", 1, "high", 0], 14, "places from 0 to 13, got 14"),
        (["problems", 0, "level"], "<b>", r"problems\[0\].level must be one of"),
        (["columns", 0, "values"], [0], "column 'group' must have 12 values"),
        (["columns", 0, "values", 0], 9, "column 'group' must hold places from 0 to 2"),
        (["worst", 0, "graph"], 12, "worst must hold places"),
        (["worst", 0, "observed", "rows"], 2, "a heat map must hold 2 by 14"),
        (["prediction", "methods", 0, "score"], True, "score must be a number, got true"),
        (["timeline", "order"], [0], "each of the 12 graphs once"),
        (["dimension_rules"], [["elbow"]], r"dimension_rules\[0\] must have 2 items"),
    ],
)
def test_a_file_that_was_changed_is_refused_at_its_place(told, tmp_path, path, value, said):
    data = json.loads(told)
    change(data, path, value)
    file = tmp_path / "report.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=said) as refused:
        read_summary(file)
    assert "report.json" in str(refused.value)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1, 2]", b"graph\tje1\n", b"\xff\xfe", b"[" * 100_000, b"null"]
)
def test_other_files_are_refused_by_name(content, tmp_path):
    file = tmp_path / "report.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"report\.json"):
        read_summary(tmp_path)
    file.unlink()
    with pytest.raises(
        InputError, match=r"no '.*report\.json'; name a folder that eigengraphs fit"
    ):
        read_summary(tmp_path)


def test_a_page_that_cannot_be_written_leaves_what_was_there(tmp_path):
    summary = small()[2]
    with pytest.raises(InputError, match="is a folder"):
        write_page(summary, tmp_path)
    with pytest.raises(InputError, match="cannot write"):
        write_page(summary, tmp_path / "nowhere" / "page.html")
    page = tmp_path / "page.html"
    page.write_text("old", encoding="utf-8")
    with pytest.raises(InputError, match="pass fewer columns"):
        write_page(replace(summary, methods="long " * 3_000_000), page)
    assert page.read_text(encoding="utf-8") == "old"
