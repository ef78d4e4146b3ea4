"""The front door: every public name is there, and coming in is cheap."""

import subprocess
import sys

import pytest

import eigengraphs


@pytest.mark.parametrize("name", eigengraphs.__all__)
def test_every_public_name_can_be_had_and_is_documented(name):
    assert name in dir(eigengraphs)
    assert getattr(eigengraphs, name).__doc__


def test_what_does_not_exist_says_so():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = eigengraphs.nothing


def test_importing_loads_no_heavy_package():
    code = (
        "import sys, eigengraphs; "
        "print([m for m in ('sklearn', 'numba', 'scipy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
