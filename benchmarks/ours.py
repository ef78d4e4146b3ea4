"""Our solvers: which one the benchmarks measure, and the process that runs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Run
from benchmarks.processes import Process, blas_threads

__all__ = ["BASELINE", "MAX_ITER", "SOLVER", "Ours", "cores", "run_ours"]

SOLVER = "subspace"
BASELINE = "algorithm1"  # the paper's own, which the other is compared with
MAX_ITER = 5000


def cores() -> int:
    """Return the number of cores that everyone may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Ours(Process):
    """A process with eigengraphs; BLAS may use all cores, and the library limits itself."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        variables = blas_threads(cores()) | dict(environment or {})
        super().__init__(sys.executable, "benchmarks.our_worker", variables)


def run_ours(
    process: Ours,
    d: int,
    tol: float,
    output: Path,
    *,
    stacked: bool = False,
    **settings: Any,
) -> Run[dict[str, Any]]:
    """Fit the loaded graphs; the answer holds H (n, d), passes, peak and convergence.

    Parameters
    ----------
    process
        Where the graphs are loaded.
    d, tol
        Number of components, and tolerance.
    output
        File for the components.
    stacked
        Fit a GraphStack that was made beforehand, instead of what a user holds.
    **settings
        Of the estimator; the solver is :data:`SOLVER` unless given.
    """
    settings = {"solver": SOLVER, "random_state": 0, "max_iter": MAX_ITER, **settings}
    options = {"output": str(output), "stacked": stacked}
    answer = process.run("fit", d=d, tol=tol, settings=settings, **options)
    return Run(answer["seconds"], answer | {"H": np.load(output)})
