"""Commands that are killed at any write, rename or sync, or fail there, can be run again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.crashes import AVAILABLE
from faults.operations import OPERATIONS

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="system calls are followed on Linux, x86-64")
CONVERT = ("convert to a file", "convert to a folder", "convert to a store", "convert --append")
OTHERS = ("fit over others", "fit of a store", "transform", "report", "compare")
SOME = ("convert to a .npy", "save", "journal", "simulate")


def crash(*words):
    """Stop commands in a process that has no threads of other tests, as forks have none."""
    done = subprocess.run(
        [sys.executable, "-m", "faults.crashes", *words], cwd=Path(__file__).parents[1],
        capture_output=True, text=True, check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "EIGENGRAPHS_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("names", [CONVERT, OTHERS], ids=["convert", "others"])
def test_killed_at_every_third_point(names):
    crash("--stride", "3", *names)


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_a_call_fails(error):
    crash("--fail", error, "--stride", "7", *CONVERT, *OTHERS, *SOME)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_killed_at_any_point(name):
    crash(name)


@pytest.mark.slow
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_call_fails(name, error):
    crash("--fail", error, name)
