"""The front door: every public name is there, and coming in is cheap."""

import dataclasses
import importlib
import os
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


_FIT = """
import sys, numpy as np, eigengraphs as eg
eg.JointEmbedding(1, random_state=0).fit(np.ones((3, 150, 150), dtype=np.float32))
"""


def test_the_first_fit_says_that_it_compiles_and_the_next_finds_the_kernels(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def said():
        done = subprocess.run(
            [sys.executable, "-c", _FIT], capture_output=True, text=True, check=True, env=env
        )
        return done.stderr.count("eigengraphs: compiling kernels for this kind of graphs, once")

    assert said() == 1
    assert any(tmp_path.rglob("*.nbi"))  # kept on disk
    assert said() == 0


def test_importing_every_module_compiles_nothing():
    code = (
        "import eigengraphs, eigengraphs.embedding, eigengraphs.solvers.ascent as k\n"
        "import eigengraphs.operators.csr as f, eigengraphs.operators.dense as g\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "kernels = [v for m in (k, f, g) for v in vars(m).values() if isinstance(v, Dispatcher)]\n"
        "print(len(kernels) >= 8, sum(len(v.signatures) for v in kernels))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0"]
    assert done.stderr == ""


def public_records():
    modules = [
        "", ".alignment", ".baselines", ".datasets", ".dimension", ".inference", ".io", ".models",
        ".models.simulation", ".report", ".store",
    ]  # fmt: skip
    found = {}
    for name in modules:
        module = importlib.import_module(f"eigengraphs{name}")
        for item in module.__all__:
            value = getattr(module, item)
            if isinstance(value, type) and dataclasses.is_dataclass(value):
                found[item] = value
    return list(found.values())


@pytest.mark.parametrize("record", public_records(), ids=lambda cls: cls.__name__)
def test_results_do_not_print_whole_arrays(record):
    """One rule: a record that may hold much is shown by ``tables.short_repr`` or in its own way."""
    kinds = [str(field.type) for field in dataclasses.fields(record) if field.repr]
    much = ("Array", "Floats", "Ints", "tuple", "Mapping", "Sequence", "dict[")
    if sum(any(word in kind for word in much) for kind in kinds) > 1:
        assert not hasattr(record.__repr__, "__wrapped__"), "its repr is the one of dataclasses"
