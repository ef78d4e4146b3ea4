"""Files that pages name are there: a page that is wrong about the tree misleads newcomers."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs" / "develop").rglob("*.md")]
NAMED = re.compile(r"`((?:[\w-]+/)*[\w-]+\.py)(?:::\w+)?`")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name
)
def test_python_files_that_a_page_names_exist(page):
    text = page.read_text()
    named = {name for name in NAMED.findall(text) if "NAME" not in name}
    folders = ("src", "tests", "benchmarks", "experiments", "tools", "docs")
    there = [path.as_posix() for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert not {name for name in named if not any(path.endswith(f"/{name}") for path in there)}
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert [
        name for name in re.findall(r"::(test_\w+)`", text) if f"def {name}(" not in tests
    ] == []
