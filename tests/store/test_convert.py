"""Files into a store, few graphs at a time: as ``read`` has them, and again after a stop."""

import json
import os
import signal
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pytest
from tests.store.test_faults import flip

import eigengraphs as eg
from eigengraphs.errors import AlignmentError, InputError, ReadError, StoreError
from eigengraphs.io import convert_to_store, formats, reading
from eigengraphs.store import damages
from eigengraphs.store.store_json import Batch

rng = np.random.default_rng(5)


def matrices(folder, m=12, n=6, *, named=False, half=(), start=0):
    folder.mkdir(exist_ok=True)
    for i in range(start, start + m):
        A = rng.poisson(2, (n, n)).astype(float)
        A = np.triu(A) + np.triu(A, 1).T
        if i in half:
            A = np.triu(A)
        order = rng.permutation(n) if named else np.arange(n)
        rows = [",".join(f"{x:g}" for x in row) for row in A[np.ix_(order, order)]]
        if named:
            head = [f"v{s}" for s in order]
            rows = ["," + ",".join(head), *(f"{h},{r}" for h, r in zip(head, rows, strict=True))]
        (folder / f"sub-{i:02d}_ses-{i % 2 + 1}_connectome.csv").write_text("\n".join(rows) + "\n")
    return folder


def edge_lists(folder, m=10, *, directed=False, n=15, start=0):
    folder.mkdir(exist_ok=True)
    for i in range(start, start + m):
        s, t = rng.integers(n, size=(2, 20))
        if not directed:
            s, t = np.minimum(s, t), np.maximum(s, t)
        pairs = sorted({(int(a), int(b)) for a, b in zip(s, t, strict=True)})
        lines = [f"n{a} n{b} {rng.integers(1, 9)}" for a, b in pairs]
        if directed:
            lines.append(f"n{pairs[0][1]} n{pairs[0][0]} 50")
        (folder / f"g{i}.edgelist").write_text("\n".join(lines) + "\n")
    return folder


def graphml(folder):
    folder.mkdir()
    for i in range(4):
        graph = nx.gnp_random_graph(7, 0.5, seed=i)
        nx.set_edge_attributes(
            graph, {e: float(k + 1) for k, e in enumerate(graph.edges)}, "weight"
        )
        nx.write_graphml(graph, folder / f"g{i}.graphml")
    return folder


def manifest(folder):
    matrices(folder, 5)
    names = [path.name for path in sorted(folder.glob("*.csv"))]
    rows = [f"{name}\tp{i}\t{30 + i}" for i, name in enumerate(names[::-1])]
    (folder / "manifest.tsv").write_text("path\tid\tage\n" + "\n".join(rows) + "\n")
    return folder / "manifest.tsv"


def bundle(ending, storage="dense", directed=False):
    def make(folder):
        folder.mkdir()
        A = rng.random((9, 6, 6)) * (rng.random((9, 6, 6)) < 0.5)
        if not directed:
            A = A + A.transpose(0, 2, 1)
        names = {} if ending == "npy" else {"vertex_names": list("abcdef")}
        stack = eg.GraphStack(A.astype(np.float32), storage=storage, **names)
        if ending != "npy":
            stack = stack.with_names(graph_names=[f"x{i}" for i in range(9)])
        return eg.io.write(stack, folder / f"all.{ending}")

    return make


SOURCES = {
    "matrices": matrices,
    "triangles": lambda folder: matrices(folder, half=(3, 4)),
    "named matrices": lambda folder: matrices(folder, named=True),
    "edge lists": edge_lists,
    "directed edge lists": lambda folder: edge_lists(folder, directed=True),
    "graphml": graphml,
    "manifest": manifest,
    "pattern": lambda folder: f"{matrices(folder)}/*ses-1*.csv",
    "npy": bundle("npy"),
    "npz": bundle("npz"),
    "sparse npz": bundle("npz", "sparse"),
    "directed npz": bundle("npz", "sparse", directed=True),
    "parquet": bundle("parquet"),
    "directed parquet": bundle("parquet", directed=True),
    "mat": bundle("mat"),
}


@pytest.fixture(params=["as they are", "as if large"])
def size(request, monkeypatch):
    if request.param == "as if large":
        monkeypatch.setattr(formats, "_LARGE", 1)
        monkeypatch.setattr(reading, "_BLOCK", 1000)


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.ReadNotice")
@pytest.mark.parametrize("name", SOURCES)
def test_the_store_is_what_read_gives(tmp_path, name, size):
    source = SOURCES[name](tmp_path / "in")
    files = eg.io.read_files(source)
    done = convert_to_store(source, tmp_path / "out.egs")
    stack = eg.read(tmp_path / "out.egs")
    assert repr(stack) == repr(files.stack)
    assert stack.graph_names == files.stack.graph_names
    assert stack.vertex_names == files.stack.vertex_names
    assert stack.has_vertex_names == files.stack.has_vertex_names
    ours, theirs = stack.to_dense().load().dense, files.stack.to_dense().dense
    assert ours.dtype == theirs.dtype
    assert np.array_equal(ours, theirs)
    assert eg.io.read_files(tmp_path / "out.egs").columns == files.columns
    assert (done.n_graphs, done.n_new, done.n_there) == (len(stack), len(stack), 0)
    said = {notice.kind for notice in files.notices if notice.loud}
    assert {notice.kind for notice in done.notices if notice.loud} == said


def test_rules_for_vertices_and_direction(tmp_path):
    source = matrices(tmp_path / "in", 3, named=True)
    first = sorted(source.glob("*.csv"))[0]
    first.write_text(first.read_text().replace("v2", "extra"))
    with pytest.raises(ReadError, match="names differ"):
        convert_to_store(source, tmp_path / "a.egs")
    assert not (tmp_path / "a.egs").exists()
    with pytest.raises(AlignmentError, match=r"matrix that lacks 1 of .* missing=.unobserved"):
        convert_to_store(source, tmp_path / "union.egs", vertices="union")
    assert not (tmp_path / "union.egs").exists()
    convert_to_store(source, tmp_path / "intersection.egs", vertices="intersection")
    expected = eg.read(source, vertices="intersection", on_notice=lambda said: None)
    stack = open_dense(tmp_path / "intersection.egs")
    assert stack.vertex_names == expected.vertex_names
    assert np.array_equal(stack.dense, expected.dense)
    edges = edge_lists(tmp_path / "edges")
    convert_to_store(edges, tmp_path / "d.egs", directed=True, storage="sparse")
    stack = eg.open_store(tmp_path / "d.egs")
    assert stack.is_directed
    assert stack.is_sparse


def test_missing_entries_go_into_a_store(tmp_path, run, size):
    source = matrices(tmp_path / "in", 5, named=True)
    first, *_, last = sorted(source.glob("*.csv"))
    first.write_text(first.read_text().replace("v2", "extra"))  # lacks a vertex that others have
    rows = [line.split(",") for line in last.read_text().splitlines()]
    rows[1][2] = rows[2][1] = "nan"
    last.write_text("\n".join(map(",".join, rows)) + "\n")
    expected = eg.read(source, vertices="union", missing="unobserved", on_notice=lambda _: None)
    done = run("convert", source, tmp_path / "a.egs", "--align", "union", "--allow-missing")
    assert done.code == 0, done.err
    stack = open_dense(tmp_path / "a.egs")
    assert stack.vertex_names == expected.vertex_names
    assert stack.mask == expected.mask
    assert np.array_equal(stack.dense, expected.dense)
    with pytest.raises(ReadError, match="Weights must be numbers: pass missing='unobserved'"):
        convert_to_store(source, tmp_path / "b.egs", vertices="intersection")
    # Half a matrix has nothing but nan on its other side.
    (tmp_path / "half.csv").write_text("0\n1,0\n2,3,0\n")
    convert_to_store(tmp_path / "half.csv", tmp_path / "half.egs")
    stack = open_dense(tmp_path / "half.egs")
    assert np.array_equal(stack.dense[0], [[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    (tmp_path / "twice.tsv").write_text("path\tid\nhalf.csv\ta\nhalf.csv\tb\n")
    convert_to_store(tmp_path / "twice.tsv", tmp_path / "twice.egs")
    assert open_dense(tmp_path / "twice.egs").graph_names == ("a", "b")


def test_labels_name_the_vertices(tmp_path):
    source = matrices(tmp_path / "in", 3)
    convert_to_store(source, tmp_path / "a.egs", labels=list("uvwxyz"))
    assert eg.read(tmp_path / "a.egs").vertex_names == tuple("uvwxyz")
    convert_to_store(source, tmp_path / "b.egs")
    later = eg.read(tmp_path / "b.egs", labels=list("uvwxyz"))
    assert later.vertex_names == tuple("uvwxyz")


@pytest.mark.filterwarnings("ignore::eigengraphs.errors.ReadNotice")
def test_graphs_are_added(tmp_path):
    convert_to_store(matrices(tmp_path / "a", 7), tmp_path / "g.egs")
    convert_to_store(matrices(tmp_path / "b", 5, start=7), tmp_path / "g.egs", append=True)
    parts = [eg.read(tmp_path / x) for x in "ab"]
    expected = np.concatenate([part.dense for part in parts])
    assert np.array_equal(open_dense(tmp_path / "g.egs").dense, expected)
    with pytest.raises(InputError, match=r"7 graphs are in .* already, by name: sub-00"):
        convert_to_store(tmp_path / "a", tmp_path / "g.egs", append=True)
    with pytest.raises(StoreError, match="finished store of 12 graphs; add to it with --append"):
        convert_to_store(tmp_path / "b", tmp_path / "g.egs")
    with pytest.raises(StoreError, match=r"no store at .* to add to"):
        convert_to_store(tmp_path / "b", tmp_path / "other.egs", append=True)
    # The last conversion once more, as after a kill behind its last write, adds nothing.
    again = convert_to_store(tmp_path / "b", tmp_path / "g.egs", append=True)
    assert (again.n_graphs, again.n_new, again.n_there) == (12, 0, 5)
    os.utime(next((tmp_path / "b").glob("*sub-07*")), ns=(1, 1))  # another file, for all we know
    with pytest.raises(InputError, match="5 graphs are in"):
        convert_to_store(tmp_path / "b", tmp_path / "g.egs", append=True)
    assert eg.open_store(tmp_path / "g.egs").n_graphs == 12


def test_edge_lists_that_are_added_take_the_vertices_of_the_store(tmp_path):
    convert_to_store(edge_lists(tmp_path / "a", 10), tmp_path / "g.egs")
    before = eg.open_store(tmp_path / "g.egs").vertex_names
    convert_to_store(edge_lists(tmp_path / "b", 1, start=10), tmp_path / "g.egs", append=True)
    stack = eg.open_store(tmp_path / "g.egs")
    assert stack.vertex_names == before
    assert stack.n_graphs == 11
    convert_to_store(edge_lists(tmp_path / "c", 3, directed=True, start=20), tmp_path / "h.egs")
    with pytest.raises(InputError, match="undirected, and some of these are directed"):
        convert_to_store(tmp_path / "c", tmp_path / "g.egs", append=True)


def test_a_store_is_written_again_in_python_and_into_files(tmp_path):
    convert_to_store(matrices(tmp_path / "in", 7), tmp_path / "a.egs")
    with pytest.raises(InputError, match=r"store already; write_store\(NEW, \[open_store\("):
        convert_to_store(tmp_path / "a.egs", tmp_path / "b.egs", storage="sparse")
    a = eg.open_store(tmp_path / "a.egs")
    eg.store.write_store(tmp_path / "b.egs", [(a, a.columns)], storage="sparse")
    b = eg.open_store(tmp_path / "b.egs")
    assert b.is_sparse
    assert list(a.columns["sub"]) == list(b.columns["sub"]) != []
    assert np.array_equal(open_dense(tmp_path / "b.egs").dense, a.load().dense)
    eg.io.write(a, tmp_path / "all.npz")
    assert np.array_equal(eg.read(tmp_path / "all.npz").dense, a.load().dense)


def open_dense(path):
    return eg.open_store(path).to_dense().load()


# ---------------------------------------------------------------------- the command

SLOW = [sys.executable, "-c", """
import sys, time
import eigengraphs.store.writer as writing, eigengraphs.io.reading as reading
writing.COMMIT_SECONDS, writing.SHARD_BYTES, reading._BLOCK = 0, 4 * 288, 1
writing.StoreWriter.__init__.__kwdefaults__["shard_bytes"] = 4 * 288
add = writing.StoreWriter.add
def slowly(*args):
    add(*args)
    time.sleep(0.05)
writing.StoreWriter.add = slowly
from eigengraphs.cli import main
main()
"""]  # fmt: skip


def stopped(source, path, *more):
    """Begin a conversion, and stop it as Ctrl-C does when some of it is done."""
    process = subprocess.Popen([*SLOW, "convert", str(source), str(path), *more])
    deadline = time.monotonic() + 60
    said = path / "store.json"
    while time.monotonic() < deadline and process.poll() is None:
        found = json.loads(said.read_bytes()) if said.is_file() else {"finished": True}
        if not found["finished"] and found["batches"][-1]["first"] < found["n_graphs"]:
            break
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    return json.loads(said.read_bytes())["n_graphs"]


def test_the_command_goes_on_where_it_was_stopped(tmp_path, run):
    source, path = matrices(tmp_path / "in", 40), tmp_path / "g.egs"
    held = stopped(source, path)
    assert 0 < held < 40
    done = run("check", path)
    assert done.code == 3
    assert f"not finished: it holds {held} of 40 graphs" in done.err
    command = f"eigengraphs convert {source} {path}"
    assert f"finish it with: {command}" in done.err

    before = (path / "store.json").read_bytes()
    with pytest.raises(StoreError, match="directed was 'auto' and is True now; continue with: eig"):
        convert_to_store(source, path, directed=True)
    file = sorted(source.glob("*.csv"))[-1]
    text, when = file.read_text(), file.stat()
    file.write_text(text + "\n")
    with pytest.raises(StoreError, match=rf"gone, changed or .* \({file.name}\)"):
        convert_to_store(source, path)
    file.unlink()
    with pytest.raises(StoreError, match=rf"files are new, gone, .* \({file.name}\)"):
        convert_to_store(source, path)
    file.write_text(text)
    os.utime(file, ns=(when.st_atime_ns, when.st_mtime_ns))
    (source / "sub-99_connectome.csv").write_text(text)
    with pytest.raises(StoreError, match=r"files are new, .* \(sub-99_connectome.csv\)"):
        convert_to_store(source, path)
    (source / "sub-99_connectome.csv").unlink()
    assert (path / "store.json").read_bytes() == before

    done = run("convert", source, path, "--json")
    assert done.code == 0, done.err
    last = json.loads(done.out.splitlines()[-1])
    assert (last["graphs"], last["new"], last["resumed_at"]) == (40, 40 - held, held)
    assert np.array_equal(open_dense(path).dense, eg.read(source).dense)
    assert damages(path) == []

    more = matrices(tmp_path / "more", 40, start=40)
    both = stopped(more, path, "--append")
    assert 40 < both < 80
    with pytest.raises(StoreError, match=f"not finished: it holds {both} of 80 graphs"):
        eg.open_store(path)
    done = run("convert", more, path, "--append")
    assert done.code == 0, done.err
    assert f"80 graphs ({80 - both} new) on 6 vertices" in done.out
    expected = np.concatenate([eg.read(source).dense, eg.read(more).dense])
    assert np.array_equal(open_dense(path).dense, expected)


def test_commands_take_a_store(tmp_path, run):
    source, path = matrices(tmp_path / "in", 20), tmp_path / "g.egs"
    assert run("convert", source, path).code == 0
    done = run("check", path, "--json")
    said = json.loads(done.out.splitlines()[-1])
    assert (said["graphs"], said["vertices"], said["columns"]) == (20, 6, ["sub", "ses"])
    assert run("convert", path, tmp_path / "all.npz").code == 0
    assert np.array_equal(eg.read(tmp_path / "all.npz").dense, eg.read(source).dense)
    chunk = path / "dense.zarr" / "c" / "0" / "0" / "0"
    flip(chunk, 5)
    done = run("check", path)
    assert done.code == 3
    assert "damaged" in done.err
    assert str(chunk) in done.err


@pytest.mark.parametrize("seconds", [0.0, np.inf])
def test_refused_graphs_leave_the_store_as_it_was(tmp_path, monkeypatch, seconds):
    path = tmp_path / "g.egs"
    convert_to_store(matrices(tmp_path / "a", 5), path)
    before = (path / "store.json").read_bytes()
    array = (path / "dense.zarr" / "zarr.json").read_bytes()
    with pytest.raises(InputError, match="has 7 vertices, and the store has 6"):
        convert_to_store(matrices(tmp_path / "b", 3, 7, start=5), path, append=True)
    assert (path / "store.json").read_bytes() == before

    monkeypatch.setattr("eigengraphs.store.writer.COMMIT_SECONDS", seconds)
    good = eg.GraphStack(np.ones((9, 6, 6)), graph_names=[f"h{i}" for i in range(9)])
    bad = eg.GraphStack(np.ones((1, 7, 7)), graph_names=["i"])
    batch = Batch("files", 0, total=10, command="again")
    writer = eg.store.StoreWriter(path, mode="append", batch=batch)

    def both():
        with writer:
            writer.add(good)
            writer._flush()
            assert ((path / "store.json").read_bytes() == before) == (seconds > 0)
            writer.add(bad)

    with pytest.raises(InputError, match="has 7 vertices"):
        both()
    assert (path / "store.json").read_bytes() == before
    assert (path / "dense.zarr" / "zarr.json").read_bytes() == array
    assert damages(path) == []
    convert_to_store(matrices(tmp_path / "c", 2, start=5), path, append=True)
    assert eg.open_store(path).n_graphs == 7
    assert damages(path) == []


def test_vertices_without_names_are_checked_too(tmp_path):
    path = tmp_path / "g.egs"
    convert_to_store(matrices(tmp_path / "a", 2), path)
    (path / "vertices.parquet").unlink()
    (error,) = damages(path)
    assert "vertices.parquet is missing" in str(error)
