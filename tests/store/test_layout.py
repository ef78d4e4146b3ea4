"""Others can read a store: the page's own code does it, with pandas, pyarrow and zarr alone."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigengraphs as eg

PAGE = Path(__file__).parent.parent.parent / "docs" / "guide" / "store.md"
WRITE, READ = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def here(tmp_path):
    old = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(old)


def test_the_page_writes_and_opens(here, capsys):
    known = {}
    exec(compile(WRITE, "store.md", "exec"), known)
    assert capsys.readouterr().out == "0 4 (4, 5, 5)\n"
    expected = known["graphs"][1:5].symmetrize().log1p()
    assert np.array_equal(known["some"].load().dense, expected.dense)


@pytest.mark.parametrize("directed", [False, True])
def test_the_page_reads(here, storage, directed):
    assert "eigengraphs" not in READ
    rng = np.random.default_rng(0)
    A = rng.random((30, 5, 5)) * (rng.random((30, 5, 5)) < 0.6)
    if not directed:
        A = A + A.transpose(0, 2, 1)
    stack = eg.GraphStack(A, graph_names=[f"g{i}" for i in range(30)], vertex_names=list("abcde"),
                          storage=storage)  # fmt: skip
    eg.store.write_store("graphs.egs", [stack], shard_bytes=1000)
    known = {}
    exec(compile(READ, "store.md", "exec"), known)
    assert tuple(known["names"]) == stack.graph_names
    assert tuple(known["vertices"]) == stack.vertex_names
    if storage == "dense":
        assert np.array_equal(known["array"][:], A)
        return
    found = np.zeros_like(A)
    edges = known["edges"]
    assert not edges.duplicated(["graph", "source", "target"]).any()
    found[edges["graph"], edges["source"], edges["target"]] = edges["weight"]
    assert np.array_equal(found, A)
    parts = [pd.read_parquet(path) for path in sorted(Path("graphs.egs/edges").glob("*.parquet"))]
    assert len(parts) > 1
    whole = pd.concat(parts)
    order = np.lexsort((whole["target"], whole["source"], whole["graph"]))
    assert np.array_equal(order, np.arange(len(whole)))
    assert str(whole["source"].dtype) == "int32"
    assert directed or (whole["source"] <= whole["target"]).all()


def test_every_key_is_on_the_page(here):
    eg.store.write_store("graphs.egs", [eg.GraphStack(np.ones((2, 3, 3)))])
    said = json.loads(Path("graphs.egs/store.json").read_text())
    page = PAGE.read_text(encoding="utf-8")
    for key in [*said, *said["shards"][0], *said["batches"][0]]:
        assert f"`{key}`" in page, key
