"""What a shell sees: completion, help whose examples run, the first line, Ctrl-C, colors."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version
from typing import get_args

import numpy as np
import pytest

from eigengraphs.cli import command_options
from eigengraphs.cli.terminal import for_shell, showing

CODE = "from eigengraphs.cli import main; main()"
QUICK = ["check", "fit", "transform", "convert", "info", "simulate"]
LATER = ["report", "contest", "links", "compare", "power", "evaluate", "read", "uncertainty",
         "cluster", "changes", "plan", "demo", "trajectories", "effects"]  # fmt: skip


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
        ("eigengraphs fit --loadings ", command_options.LOADINGS),
        ("eigengraphs fit --diagonal un", ["unobserved"]),
        ("eigengraphs contest --transform signed", ["signed_log1p", "signed_rank"]),
        ("eigengraphs check --format mat", ["matrix", "matlab"]),
        ("eigengraphs simulate section", ["section5.1", "section5.2"]),
    ],
)
def test_bash_completes_words_and_waits_for_nothing_heavy(line, expected, tmp_path):
    code = (
        "import atexit, sys\n"
        "heavy = ('numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'rich.table')\n"
        "atexit.register(lambda: print('heavy:', [m for m in heavy if m in sys.modules]))\n" + CODE
    )
    # As the script of --show-completion calls it.
    place = len(line.split()) - (not line.endswith(" "))
    done = start(folder=tmp_path, code=code, _EIGENGRAPHS_COMPLETE="complete_bash", COMP_WORDS=line,
                 COMP_CWORD=str(place))  # fmt: skip
    assert done.communicate()[0].split() == [*expected, "heavy:", "[]"]


def test_words_that_complete_are_those_that_the_library_takes():
    from eigengraphs.fitting.settings import CHOICES
    from eigengraphs.io.formats import Format
    from eigengraphs.io.one_stack import VerticesRule
    from eigengraphs.io.write_files import WriteFormat
    from eigengraphs.stack.preprocess import STEPS

    assert set(command_options.LOADINGS) == set(CHOICES["loadings"])
    assert set(command_options.DIAGONALS) == set(CHOICES["diagonal"])
    assert set(command_options.TRANSFORMS) == set(STEPS)
    assert set(command_options.FORMATS) == set(get_args(Format))
    assert set(command_options.OUTPUT_FORMATS) == set(get_args(WriteFormat))
    assert set(command_options.ALIGN) == set(get_args(VerticesRule))


WATCH = """
import os, sys
from eigengraphs.cli import terminal
def watched(show):
    def first(*args):
        show(*args)
        print([m for m in ("numba", "scipy", "sklearn", "numpy") if m in sys.modules], flush=True)
        os._exit(0)
    return first
terminal._print_json = watched(terminal._print_json)
terminal._Lines.__call__ = watched(terminal._Lines.__call__)
"""


@pytest.mark.parametrize(
    "words",
    [("check", "connectomes", "--json"), ("fit", "connectomes", "results"),
     ("simulate", "section5.1", "out")],
)  # fmt: skip
def test_the_first_line_comes_before_heavy_imports(words, tmp_path):
    out, err = start(*words, folder=tmp_path, code=WATCH + CODE).communicate()
    first, *more = (out if "--json" in words else err + out).splitlines()
    assert "reading connectomes" in first or "reading section5.1" in first
    assert more == ["[]"]


def test_a_fit_needs_no_extra_but_that_of_the_command_line(study):
    others = ("dask", "distributed", "h5py", "matplotlib", "networkx", "pandas", "pyarrow")
    code = f"import sys; sys.modules.update(dict.fromkeys({others}))\n{CODE}"  # None: not there
    done = start("fit", "connectomes", "results", "-d", "1", folder=study, code=code)
    assert "wrote 9 files" in done.communicate()[0]


def example(text):
    """Return the words of the example in a help text; a narrow terminal breaks the line."""
    found = re.search(r"Example: (.*?)\n\s*\n", text, re.DOTALL)
    assert found, text
    program, *words = shlex.split(" ".join(found[1].split()))
    assert program == "eigengraphs"
    return words


@pytest.mark.parametrize("name", [*QUICK, pytest.param("demo", marks=pytest.mark.slow)])
def test_the_example_of_a_help_runs(name, study, done, monkeypatch):
    shutil.copytree(study / "connectomes", study / "new-connectomes")
    if name in ("transform", "info"):
        done("fit", "connectomes", "results", "-d", "2")
    monkeypatch.setenv("COLUMNS", "80")
    words = example(done(name, "--help"))
    assert words[0] == name
    done(*words)


def test_every_command_has_an_example(done):
    listed = re.findall(r"^│ (\w+) ", done("--help").split("From files")[1], re.MULTILINE)
    assert sorted(listed) == sorted([*QUICK, *LATER])
    for name in LATER:
        said = done(name, "--help")
        assert example(said)[0] == name
        assert "--json" in said


def test_version_and_usage(run, done):
    assert done("--version").strip() == f"eigengraphs {version('eigengraphs')}"
    assert run("nothing")[0] == 2
    assert run("demo", "--components", "1")[0] == 2


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


def test_without_a_terminal_there_is_no_escape_at_all(study, run, monkeypatch):
    monkeypatch.delenv("NO_COLOR")
    for words in (("check", "connectomes"), ("fit", "--help"), ("fit", "connectomes")):
        _, out, err = run(*words)
        assert "\x1b" not in out + err


def test_a_count_that_begins_in_a_file_of_lines_also_ends_there(capsys):
    with showing(False, ("read", "x")) as listen:
        for k in range(1, 7):
            listen("halves", f"{k} of 6", k, 6)
    expected = ["read: x", "halves: 1 of 6", "halves: 6 of 6"]
    assert capsys.readouterr().err.splitlines() == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("choose one with key='SC', or key='all'", "choose one with --key SC, or --key all"),
        ("pass delimiter='|', or save", "pass --delimiter '|', or save"),
        ("or pass another delimiter=", "or pass another --delimiter"),
        ("pass missing='unobserved' and", "pass --allow-missing and"),
        ("vertices='union' for all", "--align union for all"),
        ("give them with labels=, or", "give them with --vertices, or"),
        ("(directed=True keeps it)", "(--directed keeps it)"),
        ("n_components=1000 is more", "--components 1000 is more"),
    ],
)
def test_arguments_become_options(said, expected):
    assert for_shell(said) == expected
