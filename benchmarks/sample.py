"""Benchmark ``sample``: one large sparse Erdos-Renyi graph, time and memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from typing import Any

from benchmarks.measure import Run, interleave, median_seconds, ratio, timed
from benchmarks.memory import peak_growth
from benchmarks.report import Report, installed
from benchmarks.samplers import (
    count_edges,
    eigengraphs_sample,
    networkx_as_csr,
    networkx_graph,
    scipy_random,
)

__all__ = ["run"]

OURS = "eigengraphs ErdosRenyi.sample"
METHODS: dict[str, Callable[[int, float, int], Any]] = {
    OURS: eigengraphs_sample,
    "networkx fast_gnp_random_graph": networkx_graph,
    "networkx, then as CSR": networkx_as_csr,
    "scipy.sparse.random, mirrored": scipy_random,
}
MEAN_DEGREE = 20
DEVIATIONS = 5  # an edge count this many standard deviations from its mean is wrong


def run(quick: bool) -> Report:
    """Draw a graph of the same size by every method."""
    n, repetitions = (5_000, 1) if quick else (100_000, 3)
    p = MEAN_DEGREE / (n - 1)
    # Sparse also when small: a stack of few entries would be stored as an array.
    warm_up = (3_000, p, 0)
    runs = interleave({name: _method(name, n, p) for name in METHODS}, repetitions)
    memory = {name: peak_growth(METHODS[name], warm_up, n, p, 0) for name in METHODS}

    pairs = n * (n - 1) / 2
    mean, deviation = pairs * p, math.sqrt(pairs * p * (1 - p))
    off = {name: max(abs(r.answer - mean) / deviation for r in mine) for name, mine in runs.items()}
    good = {name: value <= DEVIATIONS for name, value in off.items()}
    rows: list[tuple[str, ...]] = []
    for name, mine in runs.items():
        counts = good[OURS] and good[name]
        compared = (str(ratio(mine, runs[OURS])), f"{memory[name] / memory[OURS]:.2g}")
        rows.append(
            (
                name,
                f"{median_seconds(mine):.2g}",
                *(("-", "-") if not counts else ("", "") if name == OURS else compared),
                f"{memory[name] / 1e6:.0f}",
                f"{off[name]:.1f}",
                "counts" if good[name] else "does not count",
            )
        )
    meaning = _meaning(
        {
            name: (ratio(runs[name], runs[OURS]).median, memory[name] / memory[OURS])
            for name in METHODS
            if name != OURS and good[OURS] and good[name]
        }
    )
    return Report(
        name="sample",
        title=f"one Erdos-Renyi graph, {n:,} vertices, mean degree {MEAN_DEGREE}",
        columns=(
            "method",
            "seconds",
            "time over ours",
            "memory over ours",
            "peak MB",
            "edges off (sd)",
            "answer",
        ),
        rows=rows,
        meaning=meaning,
        versions=installed("numpy", "scipy", "networkx"),
        notes=[
            f"Time over ours, round by round (median, lowest and highest of {repetitions}): above "
            "1, ours is faster. Memory is the growth of the resident set at its peak, in a fresh "
            "process.",
            f"An answer counts if it is a simple graph and its number of edges is within "
            f"{DEVIATIONS} standard deviations of the mean, in every repetition.",
            "Ours returns a checked stack in CSR, networkx a graph of dictionaries. "
            "scipy.sparse.random fixes the number of entries, so its edge count varies too little: "
            "it is the bar for speed, and not quite the model.",
        ],
        failures=[] if good[OURS] else [f"{OURS}: edge count {off[OURS]:.1f} sd off its mean"],
    )


def _method(name: str, n: int, p: float) -> Callable[[], Run[float]]:
    """Return the method with a new seed each time, answering with its number of edges."""
    seeds = count()

    def method() -> Run[float]:
        seed = next(seeds)
        run = timed(lambda: METHODS[name](n, p, seed))
        try:
            edges = float(count_edges(run.answer))
        except ValueError:
            edges = math.inf
        return Run(run.seconds, edges)

    return method


def _meaning(compared: dict[str, tuple[float, float]]) -> str:
    if not compared:
        return "Nothing can be said: no answer counts."
    parts = [
        f"{name} takes {time:.2g} times our time and {space:.2g} times our memory"
        for name, (time, space) in compared.items()
    ]
    return f"{'; '.join(parts)}."
