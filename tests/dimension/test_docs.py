"""The page about choosing the number of components shows what its example prints."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "choosing-d.md"
NUMBER = re.compile(r"\d+\.?\d*(?:e-\d+)?")


def block(language):
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(found) == 1
    return found[0]


def test_the_example_prints_what_the_page_says(capsys):
    exec(compile(block("python"), PAGE.name, "exec"), {})
    printed, shown = capsys.readouterr().out, block("text")
    # The p-value of a component of noise is any number: another machine finds another direction.
    printed, shown = (re.sub(r"p = [\d.]+", "p = #", text) for text in (printed, shown))
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    ours, theirs = ([float(x) for x in NUMBER.findall(text)] for text in (printed, shown))
    assert ours == pytest.approx(theirs, abs=0.02)
