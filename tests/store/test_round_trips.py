"""What goes into a store comes out of it, to the last bit, here and in another process."""

import json
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import eigengraphs as eg
from eigengraphs.errors import AlignmentError, InputError, StoreError
from eigengraphs.stack import blocked as lazy
from eigengraphs.store import StoreWriter, append, open_store, write_store


def graphs(m, n, seed=0, *, directed=False, dtype=np.float64, density=0.4):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n, n)) * (rng.random((m, n, n)) < density)
    if not directed:
        A = np.triu(A) + np.triu(A, 1).transpose(0, 2, 1)
    return A.astype(dtype)


def equal(stack, A):
    found = np.stack([g.toarray() if sparse.issparse(g) else g for g in stack])
    return found.dtype == A.dtype and np.array_equal(found, A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 5), (7, 1), (23, 6)])
def test_arrays_come_back(tmp_path, storage, m, n, directed, dtype):
    A = graphs(m, n, directed=directed, dtype=dtype)
    A[m // 2] = 0  # a graph without an edge
    A[:, n - 1] = A[:, :, n - 1] = 0  # a vertex without an edge
    stack = eg.GraphStack(A)
    stack = stack.to_sparse() if storage == "sparse" else stack
    write_store(tmp_path / "g.egs", [stack[:3], *([stack[3:]] if m > 3 else [])], shard_bytes=999)
    found = open_store(tmp_path / "g.egs")
    assert equal(found, A)
    assert found.graph_names == stack.graph_names
    assert not found.has_vertex_names
    assert found.is_directed == stack.is_directed
    kept = found.load()
    if storage == "sparse":
        assert np.array_equal(kept.flat.indices, stack.flat.indices)
        assert np.array_equal(kept.flat.indptr, stack.flat.indptr)
        assert kept.flat.indices.dtype == stack.flat.indices.dtype


def test_names_in_any_script(tmp_path, storage):
    names, vertices = ["sub-ä", "субъект/2", "東京", "a b\tc", "🧠"], ["ñ", "", "'", "0"]
    stack = eg.GraphStack(graphs(5, 4), graph_names=names, vertex_names=vertices, storage=storage)
    write_store(tmp_path / "gräphs.egs", [stack])
    found = open_store(tmp_path / "gräphs.egs")
    assert found.graph_names == tuple(names)
    assert found.vertex_names == tuple(vertices)
    assert np.array_equal(found.to_dense()["東京"], stack.to_dense()["東京"])


@pytest.mark.parametrize("sizes", [[1] * 20, [20], [7, 1, 12], [3, 3, 14]])
def test_blocks_of_any_size_make_the_same_store(tmp_path, storage, sizes):
    A = graphs(20, 5)
    whole = eg.GraphStack(A, storage=storage)
    cuts = np.cumsum([0, *sizes])
    blocks = [whole[a:b] for a, b in pairwise(cuts)]
    write_store(tmp_path / "a.egs", blocks, shard_bytes=4 * 5 * 5 * 8)
    write_store(tmp_path / "b.egs", [whole], shard_bytes=4 * 5 * 5 * 8)
    a, b = (json.loads((tmp_path / f"{x}.egs" / "store.json").read_bytes()) for x in "ab")
    assert len(a["shards"]) > 3
    assert a["shards"] == b["shards"]  # with their hashes


def test_graphs_are_added(tmp_path, storage):
    A = graphs(30, 5)
    whole = eg.GraphStack(A, vertex_names=list("abcde"), storage=storage)
    named = whole.with_names(graph_names=[f"g{i}" for i in range(30)])
    path = tmp_path / "g.egs"
    write_store(path, [named[:6]], shard_bytes=4 * 5 * 5 * 8)
    before = open_store(path)
    append(path, [named[6:7].in_order_of("edcba"), named[7:21]])
    append(path, [named[21:]])
    found = open_store(path)
    assert equal(found, A)
    assert found.graph_names == named.graph_names
    assert found.vertex_names == tuple("abcde")
    assert equal(before, A[:6])  # opened before, and not disturbed
    assert len(json.loads((path / "store.json").read_bytes())["batches"]) == 3


def test_what_does_not_fit_is_refused_and_nothing_is_changed(tmp_path, storage):
    path = tmp_path / "g.egs"
    A = graphs(9, 4, dtype=np.float32)
    stack = eg.GraphStack(A, vertex_names=list("abcd"), graph_names=list("123456789"))
    stack = stack.to_sparse() if storage == "sparse" else stack
    write_store(path, [stack[:5]], shard_bytes=256)
    before = (path / "store.json").read_bytes()
    more = stack[5:]
    for wrong, error, text in (
        (more.with_names(graph_names=["6", "2", "3", "9"]), InputError, "2 graphs are .*'2', '3'"),
        (more.with_names(vertex_names=list("abcx")), AlignmentError, "only in one.*'d', 'x'"),
        (more.select_vertices([0, 1]), AlignmentError, "has 2 vertices, and the store has 4"),
        (eg.GraphStack(A[5:]), AlignmentError, "graphs have no vertex names"),
        (more.astype("float64"), InputError, "keeps float32 and .* is float64"),
        (eg.GraphStack(graphs(1, 4, directed=True, dtype=np.float32), vertex_names=list("abcd")),
         InputError, "is not symmetric.*symmetrize"),
        (A, InputError, "blocks that are GraphStacks, got ndarray"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            append(path, [more[:1].with_names(graph_names=["new"]), wrong])
        assert (path / "store.json").read_bytes() == before
        assert equal(open_store(path), A[:5])
    append(path, [more])
    assert equal(open_store(path), A)
    append(path, [eg.GraphStack(np.triu(A[:1]), vertex_names=list("abcd"), graph_names=["up"])],
           directed=True)  # fmt: skip
    assert open_store(path).is_directed
    with pytest.raises(StoreError, match=r"there is a store at .* already"):
        write_store(path, [stack])


def test_columns_of_graphs(tmp_path):
    stack = eg.GraphStack(graphs(6, 3))
    columns = {"age": np.arange(6.0), "group": list("xyxyxy")}
    write_store(tmp_path / "g.egs", [(stack, columns)], shard_bytes=200)
    append(tmp_path / "g.egs", [(stack[:1], {"age": [99.0]})])
    found = open_store(tmp_path / "g.egs").columns
    assert found["age"].tolist() == [0, 1, 2, 3, 4, 5, 99]
    assert found["group"].tolist() == [*"xyxyxy", None]
    with pytest.raises(InputError, match="give all graphs the same"):
        append(tmp_path / "g.egs", [(stack[:1], {"height": [1.0]})])


ELSEWHERE = """
import pickle, sys
import numpy as np
stack, lazy = pickle.loads(sys.stdin.buffer.read())
blocks = [stack.read_block(k) for k in range(len(stack.spans))]
later = [lazy.read_block(k) for k in range(len(lazy.spans))]
print(sum(b.facts.norm.sum() for b in blocks), sum(b.facts.norm.sum() for b in later))
print(blocks[-1].graph_names[-1], lazy.n_graphs, "eigengraphs.embedding" in sys.modules)
"""


def test_a_pickle_is_light_and_is_opened_in_another_process(tmp_path, storage, monkeypatch):
    monkeypatch.setattr(lazy, "_MOST", 4000)
    A = graphs(400, 5)
    plain = eg.GraphStack(A, graph_names=[f"g{i:03d}" for i in range(400)], storage=storage)
    write_store(tmp_path / "g.egs", [plain], shard_bytes=2000)
    stack = open_store(tmp_path / "g.egs")
    assert len(stack.spans) > 10
    part = stack[100:300].signed_log1p()
    _ = stack.facts, stack.graph_names, part.facts, stack.load()
    data = pickle.dumps((stack, part))
    assert len(data) < 1000
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], input=data, capture_output=True)
    first, second = done.stdout.decode().splitlines()
    expected = plain.facts.norm.sum(), plain[100:300].signed_log1p().facts.norm.sum()
    assert np.allclose([float(x) for x in first.split()], expected, rtol=1e-12)
    assert second == "g399 200 False"


def test_a_budget_is_kept(tmp_path, storage):
    A = graphs(300, 40, density=1.0)
    write_store(tmp_path / "g.egs", [eg.GraphStack(A, storage=storage)])
    stack = open_store(tmp_path / "g.egs", memory="1M")
    assert stack.nbytes > 3e6
    assert len(stack.spans) > 30  # parts of a shard: a 32nd of the budget each
    assert max(block.graphs.nbytes for block in stack.blocks()) <= 2**16 + 13000
    for ask in (stack.load, lambda: np.asarray(stack.to_dense()), lambda: stack[::-1]):
        with pytest.raises(InputError, match="GB is allowed"):
            ask()
    assert equal(stack[3:6], A[3:6])
    assert equal(stack[[5, 3]], A[[5, 3]])
    big = open_store(tmp_path / "g.egs", memory="1G")
    assert equal(big[::-1], A[::-1])


@pytest.mark.parametrize("memory", [0, -1, "many", "1X", 1.5, "", True])
def test_bad_budgets(tmp_path, memory):
    write_store(tmp_path / "g.egs", [eg.GraphStack(graphs(1, 2))])
    with pytest.raises(InputError, match="memory must be a number of bytes or a text"):
        open_store(tmp_path / "g.egs", memory=memory)


def test_an_address_that_fsspec_opens(storage):
    A = graphs(12, 5)
    address = f"memory://stores/{storage}.egs"
    write_store(address, [eg.GraphStack(A, storage=storage)], shard_bytes=500)
    append(address, [eg.GraphStack(A[:2], storage=storage)])
    found = open_store(address)
    assert equal(found, np.r_[A, A[:2]])
    assert np.array_equal(np.stack(list(pickle.loads(pickle.dumps(found)).to_dense()[3:5])), A[3:5])
    assert eg.read(address).n_graphs == 14


def test_a_local_address(tmp_path):
    A = graphs(2, 3)
    write_store(f"file://{tmp_path}/g.egs", [eg.GraphStack(A)])
    assert equal(open_store(tmp_path / "g.egs"), A)
    assert equal(open_store(f"file://{tmp_path}/g.egs"), A)


def test_a_store_must_hold_a_graph(tmp_path):
    with pytest.raises(InputError, match="must hold at least one graph"):
        write_store(tmp_path / "g.egs", [])
    with (
        pytest.raises(InputError, match="must hold at least one graph"),
        StoreWriter(tmp_path / "g.egs"),
    ):
        pass
