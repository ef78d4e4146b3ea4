"""Names that would steer the terminal of whoever reads them."""

import os
import sys

import pytest

from eigengraphs.cli.terminal import visible

NAMES = ["a\x1b[2Jb", "c\x1b]0;title\x07d", "e\u202egpj", "f\x9b31mg"]


@pytest.mark.skipif(os.name == "nt", reason="names that Windows does not have")
def test_no_name_of_a_file_steers_the_terminal(tmp_path, run):
    folder = tmp_path / "in"
    folder.mkdir()
    for i, name in enumerate(NAMES):
        (folder / f"{name}.csv").write_text(f"0,{i + 1},1\n{i + 1},0,1\n1,1,0\n")
    done = [run("check", folder, "--format", "matrix")]
    (folder / f"{NAMES[0]}.csv").write_text("0,1\n0,x\n")
    done.append(run("check", folder, "--format", "matrix"))  # an error names the file
    assert [end.code for end in done] == [0, 3]
    for _, out, err in done:
        text = out + err
        assert "a\\x1b[2Jb" in text
        assert not set(text) & set("\x1b\x07\x9b\u202e")


def test_what_is_said_of_names_is_what_they_hold():
    assert visible("plain ä 中 \t\n") == "plain ä 中 \t\n"
    assert visible("\x1b[1m\r\u2066\udcff") == "\\x1b[1m\\r\\u2066\\udcff"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_no_text_are_refused_before_the_fit(tmp_path, run):
    folder, odd = tmp_path / "in", os.fsdecode(b"h\xff")
    folder.mkdir()
    for name in ("a", "b", odd):
        (folder / f"{name}.csv").write_text("0,1,1\n1,0,1\n1,1,0\n")
    done = [run("fit", folder, tmp_path / "out"), run("convert", folder, tmp_path / "out.egs")]
    (folder / f"{odd}.csv").unlink()
    done.append(run("fit", folder, tmp_path / "out", "--title", odd))
    for code, _, err in done:
        assert code == 3
        assert "UTF-8" in err
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
