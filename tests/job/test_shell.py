"""What a shell sees: completion, help whose examples run, the first word, Ctrl-C, colours."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from eigengraphs.cli import completions

CODE = "from eigengraphs.cli import main; main()"
COMMANDS = ["check", "fit", "transform", "convert", "info", "simulate", "demo", "reproduce"]


def start(*words, folder, code=CODE, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "200"} | environment,
        # Tests in the background of a shell ignore Ctrl-C, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("eigengraphs si", ["simulate"]),
        ("eigengraphs fit --loadings ", completions.LOADINGS),
        ("eigengraphs fit --diagonal un", ["unobserved"]),
        ("eigengraphs fit --transform signed", ["signed_log1p", "signed_rank"]),
        ("eigengraphs check --format mat", ["matrix", "matlab"]),
        ("eigengraphs reproduce figure", [f"figure{k}" for k in range(1, 9)]),
        ("eigengraphs simulate section", ["section5.1", "section5.2"]),
    ],
)
def test_bash_completes_words(line, expected, tmp_path):
    # As the script of --show-completion calls it.
    place = len(line.split()) - (not line.endswith(" "))
    done = start(folder=tmp_path, _EIGENGRAPHS_COMPLETE="complete_bash", COMP_WORDS=line,
                 COMP_CWORD=str(place))  # fmt: skip
    assert done.communicate()[0].split() == list(expected)


def test_completion_is_quick_because_nothing_heavy_is_imported(tmp_path):
    code = (
        "import atexit, sys\n"
        "heavy = ('numpy', 'scipy', 'sklearn', 'numba')\n"
        "atexit.register(lambda: print('heavy:', [m for m in heavy if m in sys.modules]))\n" + CODE
    )
    done = start(folder=tmp_path, code=code, _EIGENGRAPHS_COMPLETE="complete_bash",
                 COMP_WORDS="eigengraphs fit --loadings s", COMP_CWORD="3")  # fmt: skip
    assert done.communicate()[0].split("\n")[:3] == ["shared", "sparse", "heavy: []"]


def test_the_script_of_the_completion_is_for_this_command(tmp_path):
    # Bash is told by the shell that runs it, which a test has none of.
    code = (
        "import shellingham; shellingham.detect_shell = lambda *_: ('bash', '/bin/bash')\n" + CODE
    )
    out = start("--show-completion", folder=tmp_path, code=code).communicate()[0]
    assert "_EIGENGRAPHS_COMPLETE=complete_bash" in out
    assert out.strip().endswith("eigengraphs")


def test_words_that_complete_are_those_that_the_library_takes():
    from typing import get_args

    from eigengraphs.fitting.settings import CHOICES
    from eigengraphs.io.formats import Format
    from eigengraphs.io.one_stack import VerticesRule
    from eigengraphs.io.write_files import WriteFormat
    from eigengraphs.stack.preprocess import STEPS
    from experiments import CATALOGUE

    assert set(completions.LOADINGS) == set(CHOICES["loadings"])
    assert set(completions.DIAGONALS) == set(CHOICES["diagonal"])
    assert set(completions.TRANSFORMS) == set(STEPS)
    assert set(completions.FORMATS) == set(get_args(Format))
    assert set(completions.OUTPUT_FORMATS) == set(get_args(WriteFormat))
    assert set(completions.ALIGN) == set(get_args(VerticesRule))
    assert (*CATALOGUE, "all", "list") == completions.EXPERIMENTS


WATCH = """
import os, sys
from eigengraphs.cli import progress
def watched(show):
    def first(*args):
        show(*args)
        print([m for m in ("numba", "scipy", "sklearn", "numpy") if m in sys.modules], flush=True)
        os._exit(0)
    return first
progress._print_json = watched(progress._print_json)
progress._Lines.__call__ = watched(progress._Lines.__call__)
"""


@pytest.mark.parametrize(
    "words",
    [("check", "connectomes"), ("check", "connectomes", "--json"),
     ("fit", "connectomes", "results"), ("fit", "connectomes", "results", "--json"),
     ("transform", "model.eg", "connectomes", "new.tsv"), ("convert", "connectomes", "all.npz"),
     ("simulate", "section5.1", "out")],
)  # fmt: skip
def test_the_first_word_comes_before_heavy_imports(words, tmp_path):
    out, err = start(*words, folder=tmp_path, code=WATCH + CODE).communicate()
    first, *more = (out if "--json" in words else err + out).splitlines()
    assert "reading connectomes" in first or "reading section5.1" in first
    assert more == ["[]"]


def example(text):
    """Return the words of the example in a help text; a narrow terminal breaks the line."""
    found = re.search(r"Example: (.*?)\n\s*\n", text, re.DOTALL)
    assert found, text
    program, *words = shlex.split(" ".join(found[1].split()))
    assert program == "eigengraphs"
    return words


@pytest.fixture
def prepared(study, run):
    """Return a study with all that the examples speak of."""
    shutil.copytree(study / "connectomes", study / "new-connectomes")
    assert run("fit", "connectomes", "ready", "-d", "2")[0] == 0
    return study


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in ("demo", "reproduce") else [])
     for name in COMMANDS],
)  # fmt: skip
def test_the_example_of_every_help_runs(name, prepared, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, text, _ = run(name, "--help")
    assert code == 0
    words = example(text)
    assert words[0] == name
    if name in ("transform", "info"):
        (prepared / "ready").rename(prepared / "results")
    code, _, err = run(*words)
    assert code == 0, err


def test_every_command_has_its_help_tested(run):
    _, text, _ = run("--help")
    listed = re.findall(r"^│ (\w+) ", text.split("From files to results")[1], re.MULTILINE)
    assert set(COMMANDS) <= set(listed)
    for name in set(listed) - set(COMMANDS):
        assert example(run(name, "--help")[1])


@pytest.mark.parametrize("stage", ["read", "fit"])
def test_ctrl_c_is_exit_code_130_and_leaves_nothing(stage, tmp_path):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 300, 300))
    np.save(tmp_path / "graphs.npy", A + A.transpose(0, 2, 1))
    done = start("fit", "graphs.npy", "results", "-d", "6", "--json", folder=tmp_path)
    for line in done.stdout:
        if json.loads(line)["event"] == stage:
            done.send_signal(signal.SIGINT)
            break
    _, err = done.communicate()
    assert done.returncode == 130
    assert err.splitlines()[-1].startswith("eigengraphs: interrupted")
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["graphs.npy"]


def test_a_failing_write_leaves_no_folder(study, run, monkeypatch):
    from eigengraphs.errors import InputError
    from eigengraphs.job import results

    def fail(*_):
        raise InputError("the disk is full")

    monkeypatch.setattr(results, "write_report", fail)
    before = sorted(path.name for path in study.iterdir())
    assert run("fit", "connectomes", "results", "-d", "2")[0] == 3
    assert sorted(path.name for path in study.iterdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(("environment", "coloured"), [({"NO_COLOR": "1"}, False), ({}, True)])
def test_colours_are_for_terminals_that_want_them(study, environment, coloured):
    import pty

    leader, follower = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CI")}
    env |= {"TERM": "xterm-256color", "COLUMNS": "100"} | environment
    done = subprocess.Popen([sys.executable, "-c", CODE, "fit", "--help"], stdout=follower,
                            stderr=follower, cwd=study, env=env)  # fmt: skip
    os.close(follower)
    said = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        said += part
    os.close(leader)
    assert done.wait() == 0
    # 30 to 37 and 38;5 are colours; 1 and 2 are bold and dim.
    assert bool(re.search(rb"\x1b\[(\d;)*3\d", said)) == coloured


def test_elsewhere_there_is_no_escape_at_all(study, run, monkeypatch):
    monkeypatch.delenv("NO_COLOR")
    for words in (("check", "connectomes"), ("fit", "--help"), ("fit", "connectomes")):
        _, out, err = run(*words)
        assert "\x1b" not in out + err


def test_names_that_look_like_markup_are_shown_as_they_are(run, tmp_path):
    import eigengraphs as eg

    graphs = np.ones((2, 4, 4)) - np.eye(4)
    eg.io.write(eg.GraphStack(graphs, graph_names=["g[bold]1", ":smile:"]), tmp_path / "a.npz")
    _, out, _ = run("check", "a.npz")
    assert "g[bold]1" in out
    assert ":smile:" in out


def test_check_counts_the_label_or_says_what_is_there(study, run):
    words = ("check", "connectomes", "--participants", "participants.tsv", "--label")
    code, out, _ = run(*words, "group")
    assert code == 0
    assert "group: control 12, patient 12" in out
    code, _, err = run(*words, "colour")
    assert code == 3
    assert "there is no column 'colour' to use as a label; columns are: sub, participant_id" in err
    code, _, err = run("check", "connectomes", "--label", "group")
    assert code == 3
    assert "there is no column 'group' to use as a label; columns are: sub. No table" in err
    table = study / "participants.tsv"
    table.write_text(table.read_text().replace("\t33\n", "\tn/a\n"), encoding="utf-8")
    _, out, _ = run(*words, "age", "--json")
    counts = json.loads(out.splitlines()[-1])["label"]
    assert counts["missing"] == 1
    assert counts["30"] == 1  # a whole number, though another is missing


def test_a_count_that_begins_in_a_file_of_lines_also_ends_there(capsys):
    from eigengraphs.cli.progress import showing
    from eigengraphs.job.events import Event

    with showing(False) as listen:
        for k in range(1, 7):
            listen(Event("halves", f"{k} of 6", k, 6))
    assert capsys.readouterr().err.splitlines() == ["halves: 1 of 6", "halves: 6 of 6"]
