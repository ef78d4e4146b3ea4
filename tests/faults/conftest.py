"""A process that has imported everything, for commands that are to be stopped."""

import pytest

import eigengraphs as eg
from faults.commands import FIT, Warm, graphs


@pytest.fixture(scope="session")
def warm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warm")
    eg.store.write_store(folder / "g.egs", [graphs(12)], shard_bytes=4 * 160**2 * 8)
    process = Warm(folder, "fit", "g.egs", "out", *FIT)
    yield process
    process.close()
