"""Fits files of graphs with whichever eigengraphs is installed; see :mod:`benchmarks.processes`."""

from __future__ import annotations

import ctypes
import gc
import time
from pathlib import Path
from typing import Any

import eigengraphs
from benchmarks.files import load_graphs
from benchmarks.processes import serve


def fit(graphs: Any, d: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Fit what a user holds; the time includes building the stack."""
    model = eigengraphs.JointEmbedding(d, **settings)
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(graphs)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {
        "seconds": seconds,
        "cpu": cpu,  # of all threads: steadier than the clock on a busy machine
        "initial": float(model.objective_path_[0]),
        "objective": float(model.objective_path_[-1]),
        "passes": int(model.n_passes_),
    }


def settle(graphs: Any) -> dict[str, Any]:
    """Give freed memory back to the system, so that the next peak counts all of its own."""
    del graphs
    gc.collect()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):  # glibc alone has it
        libc.malloc_trim(0)
    return {}


if __name__ == "__main__":
    serve(
        {"eigengraphs": str(eigengraphs.__file__)},
        lambda path: load_graphs(Path(path)),
        {"fit": fit, "settle": settle},
    )
