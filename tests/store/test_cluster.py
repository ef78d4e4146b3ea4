"""Graphs on a real Dask cluster: the answer of memory, whoever is lost, and little that travels."""

from __future__ import annotations

import logging
import multiprocessing
import re
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import blocked_graphs
import numpy as np
import pytest
from blocked_graphs import distance

from eigengraphs import GraphStack, JointEmbedding
from eigengraphs.errors import ClusterError, InputError, ReadError

distributed = pytest.importorskip("distributed")

from cluster_graphs import Announced, Broken, InFile, SlowSum, divide, where  # noqa: E402
from cluster_processes import began, kill_one, meanwhile, processes  # noqa: E402

from eigengraphs.store import DaskStack, connect  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with connect(4, memory_limit="1GB", timeout=120) as client:
        client.wait_for_workers(4, timeout=120)
        yield client


def planted(*sizes, loops=True, dtype=np.float64, **options):
    return blocked_graphs.planted(*sizes, loops=loops, **options).dense.astype(dtype)


def in_file(folder, A, step, kind=InFile, **options):
    path = folder / "graphs.npy"
    np.save(path, A)
    return kind(path, step, **options)


# ---------------------------------------------------------------------- the same answer

CASES = {
    "free": {},
    "free unobserved": {"diagonal": "unobserved"},
    "free filled, centered": {"diagonal": "filled", "center": True},
    "class": {"loadings": "class"},
    "class unobserved": {"loadings": "class", "diagonal": "unobserved"},
    "shared": {"loadings": "shared"},
    "directed": {"directed": True},
    "directed unobserved": {"directed": True, "diagonal": "unobserved"},
}


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_the_answer_is_that_of_the_graphs_in_memory(client, tmp_path, settings):
    m, n = 50, 110  # beyond the shortcut on few vertices
    keep = "unobserved" not in settings.values()  # each way with each kind of fit
    observed = settings.get("diagonal") is None
    A = planted(m, n, 3, directed=settings.get("directed", False), loops=observed)
    y = np.arange(m) % 3 if settings.get("loadings") == "class" else None
    stack = DaskStack(in_file(tmp_path, A, 4, sparse=not observed), client, keep=keep)
    assert stack.n_kept == (13 if keep else 0)
    in_memory = GraphStack(A) if observed else GraphStack(A).to_sparse()
    one = JointEmbedding(3, random_state=0, **settings).fit(in_memory, y)
    other = JointEmbedding(3, random_state=0, **settings).fit(stack, y)
    assert distance(one, other) < 1e-8
    assert other.n_passes_ == stack.n_passes == len(stack.rounds)
    assert np.allclose(one.objective_path_, other.objective_path_, rtol=1e-9)


def test_results_come_in_order_and_work_is_shared_out(client, tmp_path):
    source = in_file(tmp_path, planted(50, 8, 2), 3)
    stack = DaskStack(source, client)
    found = list(stack.each(where))
    assert [(lo, hi) for lo, hi, _ in found] == list(source.spans)
    assert len({process for *_, process in found}) > 1
    # Where blocks are kept, they stay: the second pass builds on what the first left there.
    assert [process for *_, process in stack.each(where)] == [process for *_, process in found]
    assert stack.n_passes == 2


def test_a_worker_that_joins_gets_work(tmp_path, monkeypatch):
    monkeypatch.setattr("eigengraphs.store.dask_stack._PER_THREAD", 12)
    source = in_file(tmp_path, planted(36, 8, 2), 3)
    with processes(tmp_path) as cluster:
        cluster.scheduler("--host", "127.0.0.1", "--port", "0")
        cluster.worker()
        with connect(cluster.file, timeout=60) as client:
            stack = DaskStack(source, client, keep=True)
            assert len({process for *_, process in stack.each(where)}) == 1
            cluster.worker()
            client.wait_for_workers(2, timeout=60)
            slow = SlowSum(tmp_path, 0.2)
            for _ in range(10):
                list(stack.each(slow))
                if len(began(tmp_path)) == 2:  # it takes from the other
                    return
            pytest.fail("the second worker had nothing to do")


# ---------------------------------------------------------------------- losses


@pytest.mark.parametrize("keep", [True, False], ids=["kept", "read anew"])
def test_a_worker_killed_in_the_middle_of_a_round_changes_nothing(client, tmp_path, caplog, keep):
    client.wait_for_workers(4, timeout=120)
    stack = DaskStack(in_file(tmp_path, planted(48, 20, 2), 2), client, keep=keep)
    before = stack.total(SlowSum(tmp_path / ".", 0.0))
    for path in tmp_path.glob("*.began"):
        path.unlink()
    with (
        caplog.at_level(logging.WARNING, "eigengraphs.store"),
        meanwhile(lambda: began(tmp_path), lambda: kill_one(tmp_path)),
    ):
        after = stack.total(SlowSum(tmp_path, 0.1))
    assert np.array_equal(before, after)
    first, second = stack.rounds
    assert (len(first.lost), len(second.lost)) == (0, 1)
    (said,) = [each.message for each in caplog.records if each.name == "eigengraphs.store"]
    assert f"lost in round 2 (SlowSum): worker {second.lost[0]}; its blocks" in said


def test_a_fit_goes_on_without_a_killed_worker(client, tmp_path):
    client.wait_for_workers(4, timeout=120)
    A = planted(60, 110, 3)
    source = in_file(tmp_path, A, 2, Announced)
    calm = JointEmbedding(3, random_state=0).fit(DaskStack(source, client, keep=False))
    client.wait_for_workers(4, timeout=120)
    stack = DaskStack(source, client, keep=False)
    for path in tmp_path.glob("*.began"):
        path.unlink()
    with meanwhile(lambda: len(stack.rounds) >= 2 and began(tmp_path), lambda: kill_one(tmp_path)):
        other = JointEmbedding(3, random_state=0).fit(stack)
    assert sum(len(each.lost) for each in stack.rounds) == 1
    assert np.array_equal(calm.loadings_, other.loadings_)  # to the last bit


def test_a_cluster_that_is_gone_says_so_in_time(tmp_path):
    source = in_file(tmp_path, planted(12, 8, 2), 2)
    task, whole = SlowSum(tmp_path, 0.3), source.load().dense.sum(axis=0)
    import dask

    with processes(tmp_path) as cluster, dask.config.set({"distributed.comm.timeouts.connect": 3}):
        scheduler = cluster.scheduler("--host", "127.0.0.1", "--port", "0")
        worker = cluster.worker()
        with connect(cluster.file, timeout=60) as client:
            stack = DaskStack(source, client, patience=2)
            with (
                meanwhile(lambda: began(tmp_path), worker.kill),
                pytest.raises(ClusterError, match=r"no worker is left .* within 2 s.*same command"),
            ):
                stack.total(task)
            # Another worker comes: the same stack goes on, with all blocks read again.
            worker = cluster.worker()
            client.wait_for_workers(1, timeout=60)
            assert np.allclose(stack.total(SlowSum(tmp_path, 0.0)), whole)
            for path in tmp_path.glob("*.began"):
                path.unlink()
            with (
                meanwhile(lambda: began(tmp_path), scheduler.kill),
                pytest.raises(ClusterError, match=r"scheduler .* is gone .*the same command"),
            ):
                stack.total(task)
            with pytest.raises(ClusterError, match="scheduler"):
                stack.total(task)


def test_a_client_that_was_closed_is_named(tmp_path):
    with connect(1, timeout=60) as client:
        stack = DaskStack(in_file(tmp_path, planted(6, 8, 2), 2), client, keep=True)
        stack.total(SlowSum(tmp_path, 0.0))
    with pytest.raises(ClusterError, match="connect again"):
        stack.total(SlowSum(tmp_path, 0.0))


def test_where_nobody_answers_connecting_ends():
    with (
        pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"),
        connect("tcp://127.0.0.1:9", timeout=0.5),
    ):
        pass
    with pytest.raises(InputError, match="neither the address"), connect("nowhere"):
        pass
    with pytest.raises(InputError, match="1 process or more"), connect(0):
        pass


# ---------------------------------------------------------------------- bytes


def test_bytes_of_a_round_do_not_grow_with_the_number_of_graphs(client, tmp_path):
    found = []
    for m in (4200, 12_000):  # many either way: their second moment is all
        A = planted(m, 40, 3, dtype=np.float32)
        stack = DaskStack(in_file(tmp_path, A, m // 12), client)
        JointEmbedding(3, random_state=0).fit(stack)
        # Norms and loadings are asked for once each, and are what is wanted of every graph.
        repeated = [each for each in stack.rounds if each.task not in ("Norms", "Forms")]
        triangle = 820 * 821 // 2  # of the second moment of packed cores
        assert max(each.bytes_received for each in repeated) == 8 * (triangle + 820)
        found.append(max(repeated, key=lambda each: each.bytes_received))
    few, many = found
    assert few.bytes_received == many.bytes_received
    assert few.bytes_sent == pytest.approx(many.bytes_sent, rel=0.01)  # places take some digits


def test_what_is_shared_is_sent_once(client, tmp_path):
    @dataclass(frozen=True)
    class Much:
        numbers: np.ndarray

    stack = DaskStack(in_file(tmp_path, planted(12, 8, 2), 2), client)
    much = Much(np.zeros(100_000))
    for _ in range(2):
        stack.total(lambda block, shared: block.lo + shared.numbers.sum(), much)
    first, second = (each.bytes_sent for each in stack.rounds)
    assert first - second > 800_000


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize("keep", [True, False], ids=["kept", "read anew"])
def test_errors_come_back_with_the_name_of_their_block(client, tmp_path, keep):
    A = planted(40, 8, 2)
    stack = DaskStack(in_file(tmp_path, A, 7, Broken), client, keep=keep)
    with pytest.raises(ReadError, match=r"^block 2 \(graphs 14 to 20\): graphs.npy is cut short$"):
        JointEmbedding(2).fit(stack)
    stack = DaskStack(in_file(tmp_path, A, 7), client, keep=keep)
    with pytest.raises(ZeroDivisionError, match=r"^block 3 \(graphs 21 to 27\): "):
        stack.total(divide)
    assert list(stack.each(where))  # nothing is left of it


def test_what_cannot_travel_is_refused(client, tmp_path):
    stack = DaskStack(in_file(tmp_path, planted(6, 8, 2), 3), client)
    lock = threading.Lock()
    with pytest.raises(ClusterError, match="cannot be pickled"):
        stack.total(lambda block, shared: lock)
    with pytest.raises(InputError, match="block by block, got GraphStack"):
        DaskStack(GraphStack(planted(6, 8, 2)), client)
    with pytest.raises(InputError, match=r"must be a distributed\.Client"):
        DaskStack(stack, "tcp://127.0.0.1:8786")


# ---------------------------------------------------------------------- the page


def test_the_python_of_the_page_runs(tmp_path, capsys):
    page = Path(__file__).parents[2] / "docs" / "guide" / "cluster.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(compile(code, page.name, "exec"), names)
    folder = Path(tempfile.gettempdir())
    before = set(folder.glob("eigengraphs-*"))
    running = {each.pid for each in multiprocessing.active_children()}
    A = planted(12, 30, 2)
    fit = names["embed"](in_file(tmp_path, A, 3))
    assert capsys.readouterr().out == "(12, 2) True True\n"
    assert distance(JointEmbedding(2, random_state=0).fit(GraphStack(A)), fit) < 1e-8
    assert set(folder.glob("eigengraphs-*")) <= before  # nothing is left
    assert {each.pid for each in multiprocessing.active_children()} <= running
