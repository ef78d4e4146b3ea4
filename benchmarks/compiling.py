"""Benchmark ``compile``: how long the first fit compiles, and how many kernels there are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.report import Report, installed

__all__ = ["run"]

_FITS = """
import importlib, json, pkgutil, time, warnings
import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher
from scipy import sparse
import eigengraphs as eg

class Clock(event.Listener):
    under_way, seconds, begun = 0, 0.0, 0.0
    def on_start(self, _):
        self.begun = self.begun if self.under_way else time.perf_counter()
        self.under_way += 1
    def on_end(self, _):
        self.under_way -= 1
        self.seconds += 0 if self.under_way else time.perf_counter() - self.begun

clock = Clock()
event.register("numba:compile", clock)
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
A = rng.random((6, 40, 40))
A = A + A.transpose(0, 2, 1)
kinds = {
    "dense": lambda: eg.JointEmbedding(2, random_state=0).fit(A),
    "directed, nonnegative": lambda: eg.JointEmbedding(
        2, directed=True, loadings="nonnegative", random_state=0).fit(rng.random((6, 40, 40))),
    "sparse": lambda: eg.JointEmbedding(2, random_state=0).fit(
        [sparse.csr_array(np.where(a > 1.5, a, 0)) for a in A]),
}
found = {}
for name, fit in kinds.items():
    before, start = clock.seconds, time.perf_counter()
    fit()
    found[name] = clock.seconds - before, time.perf_counter() - start
parts = ("eigengraphs.solvers", "eigengraphs.operators", "eigengraphs.stack")
modules = [m.name for m in pkgutil.walk_packages(eg.__path__, "eigengraphs.")
           if m.name.startswith(parts)]
kernels = {id(v): v for name in modules for v in vars(importlib.import_module(name)).values()
           if isinstance(v, Dispatcher)}
print(json.dumps({"fits": found, "kernels": len(kernels)}))
"""


def run(quick: bool) -> Report:
    """Fit three kinds of graphs in a process whose cache of kernels is empty, and once more."""
    del quick
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        first, again = (
            json.loads(
                subprocess.run(
                    [sys.executable, "-c", _FITS], env=environment, capture_output=True, check=True
                ).stdout
            )
            for _ in range(2)
        )
    rows = [
        (name, f"{compiling:.1f}", f"{whole:.1f}", f"{again['fits'][name][1]:.2f}")
        for name, (compiling, whole) in first["fits"].items()
    ]
    total = sum(compiling for compiling, _ in first["fits"].values())
    return Report(
        name="compile",
        title="the first fits after installation, one after the other",
        columns=("graphs", "compiling, s", "the fit, s", "the same from the cache, s"),
        rows=rows,
        meaning=f"Compiling takes {total:.0f} s in all, once; {first['kernels']} compiled "
        "functions in solvers, operators and stack, most of them parts of others.",
        versions=installed("numpy", "scipy", "numba"),
        notes=[],
        failures=[],
    )
