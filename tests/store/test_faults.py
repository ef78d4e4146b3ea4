"""Damaged, unfinished and foreign stores are refused, with the file, the graphs and a way out."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import eigengraphs as eg
from eigengraphs.errors import StoreError
from eigengraphs.store import damages, open_store, write_store

NAMES = [f"sub-{i:02d}" for i in range(30)]


@pytest.fixture
def store(tmp_path, storage):
    rng = np.random.default_rng(0)
    A = rng.random((30, 6, 6)) * (rng.random((30, 6, 6)) < 0.5)
    stack = eg.GraphStack(A + A.transpose(0, 2, 1), graph_names=NAMES, storage=storage)
    write_store(tmp_path / "g.egs", [stack], shard_bytes=10 * 6 * 6 * 8)
    return tmp_path / "g.egs"


def shard(store, k):
    said = json.loads((store / "store.json").read_bytes())["shards"][k]
    first = sum(s["graphs"] for s in json.loads((store / "store.json").read_bytes())["shards"][:k])
    return said, first, first + said["graphs"] - 1


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


DAMAGE = {
    "flipped": (lambda path, said: flip(path, said["offset"] + said["bytes"] // 2), "SHA-256"),
    "cut off": (lambda path, said: os.truncate(path, said["offset"] + said["bytes"] - 1),
                "is cut off"),
    "emptied": (lambda path, said: path.write_bytes(b""), "is cut off"),
    "removed": (lambda path, said: path.unlink(), "is missing"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_shard_is_named_with_its_graphs(store, damage):
    change, what = DAMAGE[damage]
    said, first, last = shard(store, 1)
    change(store / said["file"], said)
    stack = open_store(store)
    text = (
        rf"{said['file']} .*{what}.*"
        rf"\(index {first} to {last}\), 'sub-{first:02d}' to 'sub-{last}'"
    )
    for ask in (stack.load, lambda: stack[first], lambda: stack[first : last + 1].load(),
                lambda: list(stack.blocks())):  # fmt: skip
        with pytest.raises(StoreError, match=text):
            ask()
    assert stack[0].shape == (6, 6)  # the others can be read
    assert stack[last + 1 :].load().n_graphs == 29 - last
    found = damages(store)
    assert len(found) == 1
    assert "from a backup" in str(found[0])


def test_a_damaged_table_is_named(store):
    said, first, last = shard(store, 1)
    flip(store / said["table"], 100)
    stack = open_store(store)
    with pytest.raises(StoreError, match=rf"{said['table']} .*SHA-256.*index {first} to {last}"):
        _ = stack.facts
    flip(store / said["table"], 100)
    assert open_store(store).facts.norm.shape == (30,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "does not describe a store"),
        (b"[]", "does not describe a store"),
        (b"{}", "does not describe a store"),
        (b'{"format": "eigengraphs store", "version": 99}', "version 99.*update"),
    ],
)
def test_what_is_no_description_is_refused(store, text, said):
    (store / "store.json").write_bytes(text)
    with pytest.raises(StoreError, match=said):
        open_store(store)


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(StoreError, match=r"there is no store of graphs at .*eigengraphs convert"):
        open_store(tmp_path)
    (tmp_path / "graphs.npz").write_bytes(b"PK")
    for name in ("nothing.egs", "graphs.npz"):
        with pytest.raises(StoreError, match="there is no store of graphs at"):
            open_store(tmp_path / name)


def test_a_store_that_changes_under_a_pickle_is_refused(store):
    import pickle

    data = pickle.dumps(open_store(store))
    eg.store.append(store, [eg.GraphStack(np.ones((1, 6, 6)), graph_names=["new"])])
    with pytest.raises(StoreError, match="changed after it was opened: open it again"):
        pickle.loads(data)


# ---------------------------------------------------------------------- writing that is stopped

WRITE = """
import time, numpy as np, eigengraphs as eg
import eigengraphs.store.writer as writing
writing.COMMIT_SECONDS = 0
def blocks():
    rng = np.random.default_rng(1)
    for i in range(40):
        A = rng.random((5, 40, 40))
        yield eg.GraphStack(A + A.transpose(0, 2, 1))
        time.sleep({pause})
eg.store.write_store({path!r}, blocks(), shard_bytes=300_000, resume=True)
"""


def write(path, pause):
    code = WRITE.format(path=str(path), pause=pause)
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)


def test_a_writer_that_is_killed_leaves_what_can_be_finished(tmp_path):
    path = tmp_path / "g.egs"
    process, said = write(path, 0.02), path / "store.json"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if said.is_file() and b'"file"' in said.read_bytes():
            break
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    held = json.loads(said.read_bytes())["n_graphs"]
    assert 0 < held < 200
    with pytest.raises(StoreError, match=f"not finished: it holds {held} graphs"):
        open_store(path)
    assert eg.store.is_store(path)
    process = write(path, 0)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    rng = np.random.default_rng(1)
    A = np.concatenate([rng.random((5, 40, 40)) for _ in range(40)])
    assert np.array_equal(np.asarray(open_store(path)), A + A.transpose(0, 2, 1))
    assert damages(path) == []
    assert [item for item in path.rglob("*") if item.name.startswith(".")] == []


# ---------------------------------------------------------------------- stores sealed again


def reseal(store, change):
    """Change the weights of the second shard and recompute what is checked."""
    said = json.loads((store / "store.json").read_bytes())
    part = said["shards"][1]
    path = store / part["file"]
    if said["kind"] == "dense":
        data = bytearray(path.read_bytes())
        lo, hi = part["offset"], part["offset"] + part["bytes"]
        data[lo:hi] = change(np.frombuffer(data[lo:hi], np.float64).copy()).tobytes()
        path.write_bytes(data)
        data = data[lo:hi]
    else:
        table = pq.read_table(path)
        weights = change(table["weight"].to_numpy().copy())
        kept = table.slice(0, len(weights)).set_column(3, "weight", pa.array(weights))
        pq.write_table(kept, path, use_dictionary=["graph"], compression="none")
        data = path.read_bytes()
        part["bytes"] = max(len(data), part["nonzeros"])
    part["sha256"] = hashlib.sha256(data).hexdigest()
    (store / "store.json").write_text(json.dumps(said, indent=1) + "\n")


def _nan(weights):
    weights[3] = np.nan
    return weights


def _zero(weights):
    weights[np.flatnonzero(weights)[-1]] = 0.0
    return weights


@pytest.mark.parametrize(("change", "says"), [(_nan, "not finite"), (_zero, "its table says")])
def test_a_store_sealed_again_with_other_weights_is_refused(store, change, says):
    first, last = shard(store, 1)[1:]
    reseal(store, lambda weights: weights)
    assert open_store(store).load().n_graphs == 30
    reseal(store, change)
    stack = open_store(store)
    for ask in (stack.load, lambda: stack[first : last + 1].load(), lambda: list(stack.blocks()),
                lambda: eg.JointEmbedding(1).fit(stack)):  # fmt: skip
        with pytest.raises(StoreError, match=rf"{says}.*\(index {first} to {last}\)"):
            ask()
    assert stack[0].shape == (6, 6)
