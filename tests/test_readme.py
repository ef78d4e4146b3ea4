"""The Python of the README and of the guide runs and prints what they show; commands exist."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
NUMBER = re.compile(r"\d+\.?\d*(?:e-\d+)?")
#: What the Python of a page prints; what its blocks of text show is looked for as well.
PAGES = {
    "README": ["(32, 8) (332, 8)", "True"],
    "docs/guide/baselines": ["(20,)"],
    "docs/guide/choosing-d": [],
    "docs/guide/datasets": [],
    "docs/guide/large": [],
    "docs/guide/links": [],
    "docs/guide/reading": ["['54776', '54777', '54779']\nTrue\nTrue\n['manifest.tsv', 'sub-54776"],
    "docs/guide/report": ["report.html report.json True", "loading of component 1 (explains 11"],
    "docs/guide/reproducing": ["# Results of t\n"],
    "docs/guide/structure": ["Component 1 is common to all graphs."],
    "docs/guide/variations": ["(32, 4)", "less is left"],
}


def blocks(language, page):
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    return "".join(re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL))


def alike(ours, theirs, near):
    """Tell whether lines are the same but for a little in their numbers; p-values are any."""
    ours, theirs = (re.sub(r"p = [\d.]+", "p = ", line) for line in (ours, theirs))
    a, b = ([float(x) for x in NUMBER.findall(line)] for line in (ours, theirs))
    return NUMBER.sub("#", ours) == NUMBER.sub("#", theirs) and np.allclose(a, b, rtol=0, atol=near)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs_and_prints_what_it_shows(page, capsys, tmp_path, request):
    if page.endswith("datasets"):
        request.getfixturevalue("data_folder")
    request.getfixturevalue("monkeypatch").chdir(tmp_path)
    exec(compile(blocks("python", page), page, "exec"), {})  # later blocks go on from the first
    printed = capsys.readouterr().out
    assert all(text in printed for text in PAGES[page])
    # Of 100 graphs, a few may have two neighbors that are equally near but for rounding; ranks of
    # links are of differences as small.
    near, lines = 99 if page.endswith("links") else 0.03, iter(printed.splitlines())
    for shown in blocks("text", page).splitlines():
        assert any(alike(line, shown, near) for line in lines), shown


@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_targets_of_the_readme_exist(target):
    assert f"make {target}" in blocks("sh", "README")
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_links_of_all_pages_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
