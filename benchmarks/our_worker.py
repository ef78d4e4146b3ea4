"""Runs our methods on files of graphs; see :mod:`benchmarks.processes`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD

from benchmarks.counting import counted_reads
from benchmarks.files import load_graphs
from benchmarks.ours import SOLVER
from benchmarks.processes import serve
from eigengraphs import GraphStack, JointEmbedding


@dataclass(frozen=True, eq=False)
class _Graphs:
    held: Any  # an array (m, n, n), or a list of csr_arrays: what a user holds
    stack: GraphStack


def load(path: str) -> _Graphs:
    """Read a file and fit two of its graphs, so that no time or memory of compilation counts."""
    held = load_graphs(Path(path))
    JointEmbedding(2, solver=SOLVER, diagonal="observed", tol=0.1).fit(held[:2])
    return _Graphs(held, GraphStack(held, copy=False))


def fit(
    graphs: _Graphs,
    d: int,
    tol: float,
    output: str,
    stacked: bool,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Write the latent positions of a joint embedding to a file."""
    model = JointEmbedding(d, diagonal="observed", tol=tol, **settings)
    source = graphs.stack if stacked else graphs.held
    with counted_reads() as reads:
        start = time.perf_counter()
        model.fit(source)
        seconds = time.perf_counter() - start
    np.save(output, model.latent_positions_)
    return {
        "seconds": seconds,
        "n_passes": int(model.n_passes_),
        "reads": dict(reads),
        "converged": bool(model.converged_),
    }


def gemv(graphs: _Graphs, repetitions: int) -> dict[str, Any]:
    """Multiply all graphs with a vector, by BLAS on all its threads; the best of several."""
    rows = graphs.held.reshape(-1, graphs.held.shape[-1])
    v = np.ones(rows.shape[1], dtype=rows.dtype)
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        rows @ v
        times.append(time.perf_counter() - start)
    return {"seconds": min(times)}


def truncated_svd(graphs: _Graphs, d: int) -> dict[str, Any]:
    """Run scikit-learn's randomised SVD on the graphs as vectors (m, n^2)."""
    X = graphs.held.reshape(len(graphs.held), -1)
    model = TruncatedSVD(d, random_state=0)
    start = time.perf_counter()
    scores = model.fit_transform(X)
    seconds = time.perf_counter() - start
    total = sum(float(np.sum(np.square(x, dtype=np.float64))) for x in X)
    return {"seconds": seconds, "explained": float(np.sum(np.square(scores))) / total}


if __name__ == "__main__":
    serve({}, load, {"fit": fit, "gemv": gemv, "truncated_svd": truncated_svd})
