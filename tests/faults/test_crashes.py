"""Commands that are killed at any write, rename or sync of theirs can be run again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.crashes import AVAILABLE, COMMANDS

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="system calls are followed on Linux, x86-64")
CONVERT = ("convert to a file", "convert to a folder", "convert to a store", "convert --append")
OTHERS = ("fit over others", "fit of a store", "transform", "report", "compare")


def crash(*words):
    """Kill commands in a process that has no threads of other tests, as forks have none."""
    done = subprocess.run(
        [sys.executable, "-m", "faults.crashes", *words], cwd=Path(__file__).parents[1],
        capture_output=True, text=True, check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "EIGENGRAPHS_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("names", [CONVERT, OTHERS], ids=["convert", "others"])
def test_killed_at_any_point(names):
    crash(*names)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in CONVERT + OTHERS])
def test_other_commands_killed_at_any_point(name):
    crash(name)
