"""FIFOs and devices in the place of files: refused at once, where an open or a read never ends."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.errors import InputError
from eigengraphs.models.recipes import load_recipe
from eigengraphs.report import read_summary

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")


@pytest.fixture(autouse=True)
def _alarm():
    """End a test that hangs in an open."""

    def ring(*_):
        pytest.fail("the open waits for ever")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 20, 1)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def put(kind, path):
    path.unlink(missing_ok=True)
    if kind == "FIFO":
        os.mkfifo(path)
    else:  # not /dev/zero, which would fill the memory of a reader without the check
        path.symlink_to("/dev/null")


READERS = {
    "model.eg": eg.load,
    "report.json": read_summary,
    "recipe.json": load_recipe,
    "participants.tsv": eg.io.read_participants,
    "vertices.tsv": eg.io.read_vertices,
    "provenance.json": lambda path: FinishedFit(path.parent).provenance,
}


@pytest.mark.parametrize("kind", ["FIFO", "device"])
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_regular_file_is_refused(name, kind, tmp_path):
    put(kind, tmp_path / name)
    with pytest.raises(InputError, match=f"{name}.*it is not a regular file"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("kind", ["FIFO", "device"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("part", ["store.json", "graphs", "table", "vertices.parquet"])
def test_a_store_is_made_of_regular_files(part, storage, kind, tmp_path):
    stack = eg.GraphStack(np.ones((3, 4, 4)), vertex_names=list("abcd"))
    store = Path(eg.store.write_store(tmp_path / "g.egs", [stack], storage=storage))
    shards = {"dense": "dense.zarr/c/*/*/*", "sparse": "edges/*.parquet"}
    pattern = {"graphs": shards[storage], "table": "graphs/*.parquet"}.get(part, part)
    put(kind, next(path for path in store.glob(pattern) if path.is_file()))
    # The length of a chunk is looked at before it is opened.
    with pytest.raises(InputError, match=r"it is not a regular file|is cut off"):
        eg.open_store(store).load()
