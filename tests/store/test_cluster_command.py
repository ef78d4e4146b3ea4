"""``fit --cluster``: the scheduler killed in the middle, and the fit resumed without it."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from cluster_processes import processes

import eigengraphs as eg
from eigengraphs.models.simulation import read_design, simulate_blocks
from faults.commands import passes

pytest.importorskip("distributed", reason="needs the extra dask")

MAIN = ["-c", "from eigengraphs.cli import main; main()"]
FIT = ("fit", "g.egs", "results", "-d", "3", "--memory", "64M")


@pytest.mark.slow
def test_a_fit_without_its_scheduler_ends_and_is_resumed(tmp_path):
    design = read_design("weighted", vertices=60)
    blocks = (simulate_blocks(design, lo, lo + 200, 0) for lo in range(0, 800, 200))
    eg.store.write_store(tmp_path / "g.egs", blocks, shard_bytes=2_000_000)
    plain = [sys.executable, *MAIN, *FIT[:2], "plain", *FIT[3:]]
    subprocess.run(plain, cwd=tmp_path, check=True, capture_output=True)
    unfinished = tmp_path / "results.unfinished"
    with processes(tmp_path) as cluster:
        scheduler = cluster.scheduler("--port", "0", "--host", "127.0.0.1")
        for _ in range(2):
            cluster.worker()
        fit = subprocess.Popen([sys.executable, *MAIN, *FIT, "--cluster", str(cluster.file)],
                               cwd=tmp_path, stderr=subprocess.PIPE, text=True)  # fmt: skip
        until = time.monotonic() + 120
        while time.monotonic() < until and fit.poll() is None and passes(unfinished) < 3:
            time.sleep(0.02)
        scheduler.kill()
        _, said = fit.communicate(timeout=120)
    assert fit.returncode == 5, said
    assert "the same command, eigengraphs fit, continues" in said
    assert not (tmp_path / "results").exists()
    again = subprocess.run([sys.executable, *MAIN, *FIT], cwd=tmp_path, check=False,
                           capture_output=True, text=True)  # fmt: skip
    assert again.returncode == 0, again.stderr
    one, other = (eg.load(tmp_path / name / "model.eg") for name in ("plain", "results"))
    assert abs(one.loadings_ - other.loadings_).max() <= 1e-8 * abs(one.loadings_).max()
