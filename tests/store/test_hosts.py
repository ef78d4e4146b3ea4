"""Several hosts, as network namespaces of one machine: a fit goes on when one is cut off."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from eigengraphs import JointEmbedding

pytest.importorskip("distributed")

from blocked_graphs import distance, planted
from cluster_graphs import Announced
from cluster_processes import meanwhile, processes

from eigengraphs.store import DaskStack, connect

HERE, HOSTS = "10.213.77.1", ("10.213.77.2", "10.213.77.3")


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)


@pytest.fixture
def hosts():
    """Names of two namespaces and of the cables to them, plugged into one switch."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the command ip")
    own = f"eg{os.getpid() % 100_000}"
    switch = f"{own}s"
    with ExitStack() as undo:
        try:
            ip("link", "add", switch, "type", "bridge")
            undo.callback(ip, "link", "del", switch)
            ip("addr", "add", f"{HERE}/24", "dev", switch)
            ip("link", "set", switch, "up")
            names = []
            for k, address in enumerate(HOSTS):
                host, cable, plug = f"{own}h{k}", f"{own}c{k}", f"{own}p{k}"
                ip("netns", "add", host)
                undo.callback(ip, "netns", "del", host)
                ip("link", "add", cable, "type", "veth", "peer", "name", plug)
                ip("link", "set", plug, "netns", host)
                ip("link", "set", cable, "master", switch)
                ip("link", "set", cable, "up")
                inside = ("netns", "exec", host, "ip")
                ip(*inside, "addr", "add", f"{address}/24", "dev", plug)
                ip(*inside, "link", "set", plug, "up")
                ip(*inside, "link", "set", "lo", "up")
                names.append((host, cable))
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        yield names


@pytest.mark.slow
def test_a_host_that_is_cut_off_in_the_middle_of_a_fit_changes_nothing(hosts, tmp_path):
    graphs = planted(40, 110, 3, loops=True)
    np.save(tmp_path / "graphs.npy", graphs.dense)
    one = JointEmbedding(3, random_state=0).fit(graphs)

    with processes(tmp_path) as cluster:
        cluster.scheduler("--host", HERE, "--port", "0")
        for (host, _), address in zip(hosts, HOSTS, strict=True):
            for _ in range(2):
                cluster.worker("--host", address, prefix=("ip", "netns", "exec", host))
        with connect(Path(cluster.file), timeout=60) as client:
            client.wait_for_workers(4, timeout=60)
            stack = DaskStack(Announced(tmp_path / "graphs.npy", 2), client, keep=True)
            with meanwhile(
                lambda: len(stack.rounds) >= 3, lambda: ip("link", "set", hosts[1][1], "down")
            ):
                other = JointEmbedding(3, random_state=0).fit(stack)
    lost = [worker for each in stack.rounds for worker in each.lost]
    assert sorted(worker.split(":")[1] for worker in lost) == [f"//{HOSTS[1]}"] * 2
    assert distance(one, other) < 1e-8
