"""The Python of the pages of ideas runs and prints what they show; names and messages are real."""

import importlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
IDEAS = DOCS / "ideas"
PAGES = sorted(page for page in IDEAS.glob("*.md"))
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def python_and_output(page):
    """Return the Python of a page, and what it says is printed: the text right behind a block."""
    found = list(_BLOCK.finditer(page.read_text(encoding="utf-8")))
    code = [block[2] for block in found if block[1] == "python"]
    output = [
        after[2]
        for before, after in pairwise(found)
        if (before[1], after[1]) == ("python", "text")
        and not after.string[before.end() : after.start()].strip()
    ]
    return "\n".join(code), "".join(output)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_of_a_page_prints_what_it_shows(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = python_and_output(page)
    exec(compile(code, page.name, "exec"), {})
    assert capsys.readouterr().out == output


def test_every_page_is_in_the_contents():
    listed = re.search(r"toctree\}(.*?)```", (IDEAS / "index.md").read_text(encoding="utf-8"), re.S)
    names = {line for line in listed[1].split() if not line.startswith(":")} - {"1"}
    assert names == {page.stem for page in PAGES} - {"index"}


def test_every_picture_has_a_script_and_is_small():
    shown = set()
    for page in PAGES:
        shown |= set(re.findall(r"\]\(\.\./images/([\w-]+)\.(\w+)\)", page.read_text("utf-8")))
    made = {script.stem.replace("_", "-") for script in (IDEAS / "pictures").glob("*.py")}
    for name, ending in shown:
        picture = DOCS / "images" / f"{name}.{ending}"
        assert picture.exists()
        if name in made:
            assert picture.stat().st_size < 100_000
    assert made - {name for name, _ in shown} == {"look"}


def exists(dotted):
    """Tell whether a dotted name is a module, or something in one."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for name in parts[cut:]:
            if not hasattr(thing, name):
                return False
            thing = getattr(thing, name)
        return True
    return False


@pytest.mark.parametrize("page", ["model-and-algorithm", "notation", "passes", "for-r-users"])
def test_names_of_the_code_exist(page):
    text = (IDEAS / f"{page}.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\b(?:eigengraphs|experiments)(?:\.\w+)+", text))
    assert not {name for name in names if not exists(name)}
    assert exists("eigengraphs.solvers.rules.solve_loadings")
    assert not exists("eigengraphs.solvers.rules.no_such_name")
