"""Fits of a store on disk: the answer of memory, from Python and from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from blocked_graphs import distance, planted

import eigengraphs as eg
from eigengraphs import JointEmbedding
from eigengraphs.cli.input_files import gather
from eigengraphs.models.simulation import read_design, simulate_blocks


def test_transforms_wait_for_their_blocks_in_a_fit(tmp_path):
    design = read_design("weighted", vertices=30)
    stack = simulate_blocks(design, 0, 80, 0)
    eg.store.write_store(tmp_path / "g.egs", [stack], shard_bytes=100_000)
    store = eg.open_store(tmp_path / "g.egs", memory="1M")
    settings = {"preprocess": ["log1p", "unit_norm"], "center": True, "random_state": 0}
    one, other = (JointEmbedding(3, **settings).fit(x) for x in (stack, store))
    assert distance(one, other) < 1e-8
    assert "_loaded" not in vars(store)
    assert np.allclose(one.transform(stack[:9]), other.transform(store[:9]), atol=1e-8)


# ------------------------------------------------------------------ the command


@pytest.fixture
def study(tmp_path):
    design = read_design("weighted", vertices=50)
    blocks = (simulate_blocks(design, lo, lo + 200, 0) for lo in range(0, 600, 200))
    eg.store.write_store(tmp_path / "g.egs", blocks, shard_bytes=2_000_000)
    return tmp_path


def test_a_label_that_is_absent_is_said_before_anything_is_written(study, run):
    done = run("fit", "g.egs", "new", "--label", "absent")
    assert done.code == 3
    assert "no column 'absent'" in done.err
    assert sorted(path.name for path in study.iterdir()) == ["g.egs"]


def test_a_forecast_is_near_the_passes_and_in_words(study, run):
    store = eg.open_store(study / "g.egs", memory="64M")
    words = ("plan", "g.egs", "-d", "3", "--memory", "64M")
    found = json.loads(run(*words, "--json").out)
    assert found["route"] == "cores"
    je = JointEmbedding(3, random_state=0).fit(store)
    assert found["passes"][0] <= je.n_passes_ <= found["passes"][1]
    assert found["bytes_a_pass"] == store.nbytes
    assert 0 < found["seconds"][0] <= found["seconds"][1]
    done = run(*words)
    assert done.code == 0, done.err
    assert "every graph in a basis is kept" in done.out
    assert "passes:" in done.out


def test_a_zero_in_a_column_of_a_store_is_a_value(tmp_path):
    stack = planted(4, 6, 2)
    columns = {"dose": np.array([0.0, 1.0, 2.0, 0.0]), "arm": ["a", "b", "a", "b"]}
    eg.store.write_store(tmp_path / "g.egs", [(stack, columns)])
    found = gather(tmp_path / "g.egs").columns
    assert list(found["dose"]) == [0.0, 1.0, 2.0, 0.0]
    assert list(found["arm"]) == ["a", "b", "a", "b"]
