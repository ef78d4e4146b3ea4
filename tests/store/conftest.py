"""The command line in this process, for tests of stores."""

import sys
from types import SimpleNamespace

import pytest


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command in ``tmp_path``: code, output and messages."""
    from eigengraphs.cli import main

    monkeypatch.chdir(tmp_path)

    def run_command(*words):
        monkeypatch.setattr(sys, "argv", ["eigengraphs", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        code = left.value.code or 0
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return run_command
