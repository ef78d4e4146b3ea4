"""Benchmarks take minutes and are not run here, but what they print is."""

from benchmarks.__main__ import BENCHMARKS
from benchmarks.against_first import COLUMNS
from benchmarks.report import Report, installed, render


def test_a_report_is_written_as_a_table():
    row = tuple(f"cell {i}" for i, _ in enumerate(COLUMNS))
    report = Report("dense", "what is measured", COLUMNS, [row], "2 of 2 bars", installed("numpy"))
    text = render(report, quick=True)
    assert all(cell in text for cell in (*COLUMNS, *row, "2 of 2 bars"))
    assert "dense" in BENCHMARKS
