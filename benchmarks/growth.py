"""Benchmark ``growth``: how the time of a fit grows with the graphs and with their edges."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import plot
from benchmarks.bars import Bar
from benchmarks.families import block_family, sparse_block_family
from benchmarks.measure import median_seconds, timed
from benchmarks.ours import MAX_ITER, SOLVER
from benchmarks.quality import assess
from benchmarks.report import Report, installed
from eigengraphs import JointEmbedding

__all__ = ["run"]

D, TOL = 5, 1e-5
SLOPE = 1.15
PICTURE = "growth.png"


@dataclass(frozen=True)
class _Sweep:
    """One quantity over two decades."""

    name: str
    axis: str
    make: Callable[[int], Any]  # value -> an array (m, n, n), or a flat csr_array
    n: Callable[[int], int]  # value -> number of vertices
    values: tuple[int, ...]


def _dense(m: int) -> Any:
    return np.stack(list(block_family(m, 120, seed=0)))


def _sweeps(quick: bool) -> Iterator[_Sweep]:
    graphs = 4
    n, degree = (500, 20) if quick else (8_000, 20)
    yield _Sweep(
        "dense, n = 120, m grows",
        "graphs",
        _dense,
        lambda _: 120,
        (10, 30) if quick else (10, 32, 100, 316, 1000),
    )
    yield _Sweep(
        f"sparse, {graphs} x {n:,}, degree grows",
        "edges",
        lambda value: sparse_block_family(graphs, n, value, seed=0).flat,
        lambda _: n,
        (10, 30) if quick else (8, 32, 100, 316, 1000),
    )
    yield _Sweep(
        f"sparse, {graphs} graphs of degree {degree}, n grows",
        "edges",
        lambda value: sparse_block_family(graphs, value, degree, seed=0).flat,
        lambda value: value,
        (500, 1_500) if quick else (2_000, 6_300, 20_000, 63_000, 200_000),
    )


def run(quick: bool) -> Report:
    """Fit graphs of growing size, and find the slopes on logarithmic axes."""
    rounds = 1 if quick else 5
    rows: list[tuple[str, ...]] = []
    failures: list[str] = []
    bars, lines = [], []
    for sweep in _sweeps(quick):
        sizes, times = [], []
        for value in sweep.values:
            graphs = sweep.make(value)
            size = value if isinstance(graphs, np.ndarray) else graphs.nnz // 2
            model, seconds = _fit(graphs, sweep.n(value), rounds)
            judged = assess(graphs, model.latent_positions_)
            good = model.converged_ and judged.worst <= TOL
            if not good:
                failures.append(
                    f"{sweep.name}, {size:,} {sweep.axis}: converged: {model.converged_}, worst "
                    f"gradient {judged.worst:.2e}"
                )
            sizes.append(size)
            times.append(seconds)
            rows.append(
                (
                    sweep.name,
                    f"{size:,} {sweep.axis}",
                    f"{seconds:.3g}",
                    f"{1e9 * seconds / size:.3g}",
                    str(model.n_passes_),
                    "counts" if good else "does not count",
                )
            )
        slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        counts = not any(text.startswith(sweep.name) for text in failures)
        bars.append(Bar(f"growth: {sweep.name}: slope", slope, SLOPE, False, counts))
        lines.append(plot.Line(sweep.name, sweep.axis, sizes, times, slope))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) if quick else Path(__file__).parent
        plot.draw(lines, target / PICTURE)
    return Report(
        name="growth",
        title=f"time of a fit by eigengraphs {SOLVER}, d={D}",
        columns=("sweep", "size", "seconds", "ns per unit", "n_passes_", "answer"),
        rows=rows,
        meaning="",
        versions=installed("numpy", "scipy"),
        notes=[
            f"Medians of {rounds} fits after one that does not count, from arrays or lists of "
            f"csr_array (float32) to a relative gradient of {TOL:g}. Slopes are of least squares "
            "on logarithmic axes: 1 is linear. A size counts if the gradients recomputed from the "
            "graphs are within the tolerance.",
        ],
        failures=failures,
        bars=bars,
        picture=None if quick else PICTURE,
    )


def _fit(graphs: Any, n: int, rounds: int) -> tuple[JointEmbedding, float]:
    held = graphs
    if not isinstance(graphs, np.ndarray):
        held = [graphs[lo : lo + n] for lo in range(0, graphs.shape[0], n)]
    model = JointEmbedding(
        D, solver=SOLVER, diagonal="observed", tol=TOL, max_iter=MAX_ITER, random_state=0
    )
    model.fit(held)
    return model, median_seconds([timed(lambda: model.fit(held)) for _ in range(rounds)])
