"""Hidden entries in a store: they come back as they were, and operators see them."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError, StoreError
from operator_checks import hidden_graphs


@pytest.fixture(params=["dense", "sparse"])
def storage(request, monkeypatch):
    monkeypatch.setattr("eigengraphs.stack.blocked._MOST", 2000)  # bytes of a block
    return request.param


@pytest.mark.parametrize("directed", [False, True])
def test_masks_come_back(tmp_path, storage, directed):
    stack, *_ = hidden_graphs(11, 9, np.float64, directed, storage)
    path = tmp_path / "graphs.egs"
    eg.store.write_store(path, [stack[:4], stack[4:7]], shard_bytes=800)
    eg.store.append(path, [stack[7:]])
    stored = eg.open_store(path)
    assert len(stored.spans) > 1
    assert stored.has_missing
    assert stored.hides_pairs
    assert stored.n_hidden == stack.n_hidden
    assert stored.load().mask == stack.mask
    for part in (stored[2:9], pickle.loads(pickle.dumps(stored))[2:9], stored.signed_log1p()[2:9]):
        assert part.load().mask == stack[2:9].mask
    with pytest.raises(InputError, match="entries are hidden"):
        stored.require_complete("fill them")
    assert eg.store.damages(path) == []


def test_a_store_with_nothing_hidden_is_of_the_first_version(tmp_path):
    said = []
    stack, *_ = hidden_graphs(3, 5, np.float64, False, "dense")
    for k, graphs in enumerate((eg.GraphStack(np.ones((3, 5, 5))), stack)):
        path = eg.store.write_store(tmp_path / f"{k}.egs", [graphs])
        said.append(json.loads((path / "store.json").read_text()))
    assert [each["version"] for each in said] == [1, 2]
    assert "mask" not in said[0]["shards"][0]


def test_a_damaged_table_of_hidden_entries_is_named(tmp_path, storage):
    stack, *_ = hidden_graphs(5, 6, np.float64, False, storage)
    path = eg.store.write_store(tmp_path / "graphs.egs", [stack])
    file = path / "masks" / "part-000000.parquet"
    file.write_bytes(file.read_bytes()[:-10])
    (error,) = eg.store.damages(path)
    assert "part-000000.parquet" in str(error)
    with pytest.raises(StoreError, match="masks"):
        eg.open_store(path).load()
