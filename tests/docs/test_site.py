"""The tools that check the site, the starts and the wheel: what is wrong is found."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tools.release.__main__ import wheel_faults
from tools.site.links import dead_links
from tools.starts.__main__ import follow
from tools.starts.page import Step, missing_lines, steps_of

ROOT = Path(__file__).parents[2]


def test_dead_links_are_found_and_others_are_not(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#here">b</a><a href="#top">up</a>'
        '<a href="https://elsewhere.example/x">out</a><img src="no.png">'
        '<a href="b.html#gone">b</a><a href="c.html">c</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here">B</p>')
    assert dead_links(tmp_path) == [
        "a.html: no.png is not there",
        "a.html: b.html#gone has no such place",
        "a.html: c.html is not there",
    ]


def test_steps_of_a_page_are_run_and_held_against_what_it_shows(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A\n```sh\nexport X=3\n```\n```sh\necho $X graphs in 2.5 s\n```\n\n"
        "```text\n3 graphs in ... s\n```\n```python\nx = 1\n```\n```python\nprint(x)\n```\n"
        "```text\n1\n```\n"
    )
    steps = steps_of(page)
    assert [step.language for step in steps] == ["sh", "sh", "python", "python"]
    assert steps[1].shown == ("3 graphs in ... s",)
    assert follow(steps, tmp_path) == ""
    wrong = [*steps[:-1], Step("python", "print(x)", ("2",))]
    assert "step 4 does not print '2'" in follow(wrong, tmp_path)
    assert follow([Step("sh", "false"), Step("sh", "echo on")], tmp_path).startswith("exit code 1")


def test_lines_are_looked_for_in_their_order():
    assert missing_lines(("a", "b"), "a\nx\nb\n") == []
    assert missing_lines(("b", "a"), "a\nb\n") == ["a"]
    assert missing_lines(("a ... c",), "a b d\n") == ["a ... c"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("eigengraphs/tests/test_x.py", "left over"),
        ("eigengraphs/kernels.nbi", "no source and no data"),
        ("tests/x.py", "no package of ours"),
        ("eigengraphs/fine.py", None),
    ],
)
def test_what_does_not_belong_into_a_wheel_is_named(name, said, tmp_path):
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("eigengraphs-1.dist-info/licenses/LICENSE", "")
        archive.writestr(name, "")
    faults = wheel_faults(wheel)
    assert (said is None and faults == []) or said in faults[0]


def test_the_picture_of_the_architecture_is_of_this_source():
    done = subprocess.run(
        [sys.executable, "-m", "tools.architecture", "--check"], cwd=ROOT, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["connectomes", "arrays", "many-graphs"])
def test_a_start_installs_and_shows_what_comes_of_it(name):
    steps = steps_of(ROOT / "docs" / "starts" / f"{name}.md")
    assert "pip install" in steps[0].text
    assert sum(bool(step.shown) for step in steps) >= 3
