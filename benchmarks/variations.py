"""Benchmark ``variations``: what the variations cost beside the free, undirected fit.

All fit one array of dense graphs with the same tolerance, in one process, taking turns. The
answer's quality: every component is certified, and the objective, written out graph by graph with
the loadings that the fit reports, is the one that it reports.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bars import Bar
from benchmarks.families import block_family
from benchmarks.measure import Run, interleave, median_seconds, ratio
from benchmarks.ours import MAX_ITER
from benchmarks.report import Report, installed
from eigengraphs import GraphStack, JointEmbedding

__all__ = ["run"]

D, TOL = 10, 1e-5
FREE = "free"
VARIATIONS: dict[str, tuple[dict[str, Any], float]] = {  # settings, and the bar
    "shared": ({"loadings": "shared"}, 4.0),
    "class": ({"loadings": "class"}, 4.0),
    "directed": ({"directed": True}, 4.0),
    "nonnegative": ({"loadings": "nonnegative"}, 4.0),
    "sparse (2 nonzeros)": ({"loadings": "sparse", "max_nonzeros": 2}, 4.0),
    "sparse (L1, 0.01)": ({"loadings": "sparse", "l1_penalty": 0.01}, 4.0),
    "nonnegative, 2 nonzeros": ({"loadings": "nonnegative", "max_nonzeros": 2}, 4.0),
}


def run(quick: bool) -> Report:
    """Fit one dense family by every variation."""
    m, n, rounds = (60, 200, 2) if quick else (300, 1105, 3)
    A = np.empty((m, n, n), dtype=np.float32)
    for i, graph in enumerate(block_family(m, n, seed=0)):
        A[i] = graph
    stack = GraphStack(A, copy=False)
    rng = np.random.default_rng(0)
    directed = A.copy()  # the same graphs with a tenth of the entries of one triangle flipped
    rows, columns = np.triu_indices(n, 1)
    for graph in directed:
        flip = rng.choice(len(rows), len(rows) // 10, replace=False)
        graph[rows[flip], columns[flip]] = 1 - graph[rows[flip], columns[flip]]
    stacks = {True: GraphStack(directed, copy=False), False: stack}
    y = np.arange(m) % 4

    def fit(settings: dict[str, Any]) -> Run[JointEmbedding]:
        je = JointEmbedding(
            D, diagonal="observed", tol=TOL, random_state=0, max_iter=MAX_ITER, **settings
        )
        graphs = stacks[bool(settings.get("directed", False))]
        start = time.perf_counter()
        je.fit(graphs, y)
        return Run(time.perf_counter() - start, je)

    settings = {FREE: ({}, 1.0)} | VARIATIONS
    runs = interleave({name: lambda s=s: fit(s) for name, (s, _) in settings.items()}, rounds)
    table, failures, bars = [], [], []
    for name, mine in runs.items():
        je = mine[-1].answer
        graphs = stacks[bool(je.directed)].dense
        off = abs(_objective(graphs, je, y) / je.objective_path_[-1] - 1.0)
        good = je.converged_ and off < 1e-4
        if not good:
            failures.append(f"{name}: converged {je.converged_}, objective off by {off:.1e}")
        cost = ratio(mine, runs[FREE])
        if name != FREE:
            bars.append(Bar(f"{name} over free", cost.median, VARIATIONS[name][1], False, good))
        table.append(
            (
                name,
                f"{median_seconds(mine):.3g}",
                "" if name == FREE else str(cost),
                str(je.n_passes_),
                f"{je.explained_ratio_.sum():.6f}",
                f"{je.stationarity_.max():.1e}",
                "counts" if good else "does not count",
            )
        )
    return Report(
        name="variations",
        title=f"variations on {m} dense graphs x {n} vertices, d = {D}, tol {TOL:.0e}",
        columns=(
            "variation",
            "seconds",
            "time over free",
            "n_passes_",
            "explained",
            "largest gradient",
            "answer",
        ),
        rows=table,
        meaning="",
        versions=installed("numpy", "scipy", "numba"),
        notes=[
            "One process, one GraphStack; the directed graphs are the same with a tenth of the "
            f"pairs changed in one direction. Median, lowest and highest of {rounds} rounds.",
            "With shared and class loadings, n_passes_ counts reads of all graphs; their mean "
            "graphs are read further times.",
        ],
        failures=failures,
        bars=bars,
    )


def _objective(A: NDArray[np.float32], je: JointEmbedding, y: NDArray[np.int64]) -> float:
    """Return sum_i ||A_i - model_i||^2 with every matrix written out, one graph at a time."""
    H = np.asarray(je.latent_positions_, dtype=np.float64)
    G = np.asarray(je.latent_positions_right_, dtype=np.float64) if je.directed else H
    Lam = np.asarray(je.loadings_, dtype=np.float64)
    if je.loadings == "class":
        Lam = je.class_loadings_[y].astype(np.float64)
    elif je.loadings == "shared":
        Lam = np.tile(je.shared_loadings_.astype(np.float64), (len(A), 1))
    return sum(
        float(((graph - (H * lam) @ G.T) ** 2).sum()) for graph, lam in zip(A, Lam, strict=True)
    )
