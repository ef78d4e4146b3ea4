"""Benchmark ``threads``: the sparse fit on one thread and on two."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.bars import Bar
from benchmarks.files import open_graphs
from benchmarks.measure import interleave, median_seconds, ratio
from benchmarks.ours import SOLVER, Ours, run_ours
from benchmarks.quality import assess
from benchmarks.report import Report, installed
from benchmarks.sparse import TOL, D, write_case

__all__ = ["run"]

ONE, TWO = "1 thread", "2 threads"
SPEED_UP = 1.3


def run(quick: bool) -> Report:
    """Fit the same graphs in two processes that differ by EIGENGRAPHS_THREADS alone."""
    rounds = 2 if quick else 5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case = write_case(folder, quick)
        output = folder / "positions.npy"
        with Ours({"EIGENGRAPHS_THREADS": "1"}) as one, Ours({"EIGENGRAPHS_THREADS": "2"}) as two:
            one.load(case.source)
            two.load(case.source)
            runs = interleave(
                {
                    ONE: lambda: run_ours(one, D, TOL, output, stacked=True),
                    TWO: lambda: run_ours(two, D, TOL, output, stacked=True),
                },
                rounds,
                warm_up=False,
            )
        graphs = open_graphs(case.source)
        judged = {name: assess(graphs, mine[-1].answer["H"]) for name, mine in runs.items()}
    rows, failures = [], []
    for name, mine in runs.items():
        good = judged[name].worst <= TOL and all(run.answer["converged"] for run in mine)
        if not good:
            failures.append(f"{name}: worst gradient {judged[name].worst:.2e}")
        rows.append(
            (
                name,
                f"{median_seconds(mine):.3g}",
                "" if name == ONE else str(ratio(runs[ONE], mine)),
                str(mine[-1].answer["n_passes"]),
                f"{judged[name].explained:.7f}",
                "counts" if good else "does not count",
            )
        )
    speed_up = ratio(runs[ONE], runs[TWO]).median
    return Report(
        name="threads",
        title=f"the sparse fit, {case.label}, by eigengraphs {SOLVER}",
        columns=("threads", "seconds", "speed-up", "n_passes_", "explained", "answer"),
        rows=rows,
        meaning="",
        versions=installed("numpy", "scipy", "numba"),
        notes=[
            "Two processes with the same GraphStack differ by EIGENGRAPHS_THREADS alone and take "
            f"turns; median, lowest and highest of {rounds} rounds. The library keeps BLAS to one "
            "thread in both.",
        ],
        failures=failures,
        bars=[Bar("sparse fit: 1 thread over 2", speed_up, SPEED_UP, True, not failures)],
    )
