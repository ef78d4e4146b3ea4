"""The README's Python runs, and its commands exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "guide"
README = ROOT / "README.md"


def blocks(language, page=README):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_of_the_readme_runs(capsys):
    code = "\n".join(blocks("python"))  # later ones go on from the first
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "(32, 8) (332, 8)" in printed
    assert "True" in printed


def test_the_python_of_the_page_of_variations_runs(capsys):
    code = "\n".join(blocks("python", GUIDE / "variations.md"))
    exec(compile(code, "variations.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "(32, 4)" in printed
    assert "less is left" in printed


def test_the_python_of_the_page_of_baselines_prints_what_the_page_shows(capsys):
    page = GUIDE / "baselines.md"
    exec(compile("\n".join(blocks("python", page)), "baselines.md", "exec"), {})
    *printed, last = capsys.readouterr().out.splitlines()
    shown = blocks("text", page)[0].splitlines()
    assert last == "(20,)"
    for ours, theirs in zip(printed, shown, strict=True):
        assert ours.split()[:-1] == theirs.split()[:-1]
        # Of 100 graphs, a few may have two neighbors that are equally near but for rounding.
        assert float(ours.split()[-1]) == pytest.approx(float(theirs.split()[-1]), abs=0.03)


@pytest.mark.parametrize("target", ["demo", "test"])
def test_its_make_targets_exist(target):
    assert f"make {target}" in "".join(blocks("sh"))
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_its_links_lead_somewhere():
    for page in [README, *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_page_of_data_sets_prints_what_it_says(capsys, data_folder, monkeypatch):
    monkeypatch.setenv("EIGENGRAPHS_DATA", str(data_folder))
    page = GUIDE / "datasets.md"
    exec(compile("\n".join(blocks("python", page)), "datasets.md", "exec"), {})
    assert capsys.readouterr().out == "".join(blocks("text", page))


def test_the_page_of_links_prints_what_it_says(capsys):
    page = GUIDE / "links.md"
    exec(compile("\n".join(blocks("python", page)), "links.md", "exec"), {})
    printed, (shown,) = capsys.readouterr().out.splitlines(), blocks("text", page)
    for ours, theirs in zip(printed, shown.splitlines(), strict=True):
        assert ours.split("  ")[0] == theirs.split("  ")[0]


def test_the_python_of_the_page_of_reproducing_runs(capsys):
    exec(
        compile("\n".join(blocks("python", GUIDE / "reproducing.md")), "page", "exec"),
        {},
    )
    assert capsys.readouterr().out == "# Results of t\n"


def test_the_python_of_the_page_of_reading_runs(capsys):
    page = GUIDE / "reading.md"
    exec(compile("\n".join(blocks("python", page)), "reading.md", "exec"), {})
    first, *others = capsys.readouterr().out.splitlines()
    assert [first] == blocks("text", page)[0].splitlines()
    assert others[1:4] == ["['54776', '54777', '54779']", "True", "True"]
    assert others[4] == "['manifest.tsv', 'sub-54776.edgelist']"


def test_the_python_of_the_page_of_the_report_runs(capsys):
    exec(
        compile("\n".join(blocks("python", GUIDE / "report.md")), "page", "exec"),
        {},
    )
    assert capsys.readouterr().out.splitlines() == [
        "report.html report.json True",
        "True",
        "loading of component 1 (explains 11.1%)",
    ]


def test_the_page_on_large_graphs_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(
        compile("\n".join(blocks("python", GUIDE / "large.md")), "page", "exec"),
        {},
    )
    assert (tmp_path / "weighted.egs" / "store.json").exists()
