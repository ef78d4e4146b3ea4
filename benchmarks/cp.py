"""Benchmark ``cp``: graphs as a tensor, against libraries for its CP decomposition."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bars import Bar
from benchmarks.families import planted
from benchmarks.measure import Run, interleave, median_seconds, ratio
from benchmarks.ours import SOLVER, Ours, cores, run_ours
from benchmarks.peers import Peer, start_peer
from benchmarks.quality import assess
from benchmarks.report import Report, installed, listed

__all__ = ["run"]

OURS = f"eigengraphs {SOLVER}"
RANK, TOL = 5, 1e-6
SAME = 1e-5  # errors that differ by less than this share of themselves are the same
STUCK = 1e-2  # an error above the lowest by more than this share of it is another optimum


@dataclass(frozen=True)
class _Peer:
    """One way to call a peer; options of a start are those that a seed changes."""

    method: str
    usual: dict[str, Any]
    random: Callable[[int], dict[str, Any]]


# More iterations than the default, so that it is convergence that stops them. Starts and
# tolerances are the libraries' own.
PEERS = {
    "tensorly parafac": _Peer(
        "parafac",
        {"n_iter_max": 2000, "init": "svd"},
        lambda seed: {"n_iter_max": 2000, "init": "random", "random_state": seed},
    ),
    "pyttb cp_als": _Peer(
        "cp_als",
        {"maxiters": 2000, "init": "random", "seed": 0},
        lambda seed: {"maxiters": 2000, "init": "random", "seed": seed},
    ),
}


def run(quick: bool) -> Report:
    """Compare time and error, and see how often random starts go wrong."""
    m, n, rounds, starts = (20, 50, 2, 3) if quick else (100, 200, 5, 10)
    A = planted(m, n, np.linspace(14, 6, RANK), noise=0.05, overlap=0.0, seed=0)
    notes = [
        f"Everyone gets the same array (float64), in memory, and {cores()} cores. Time over ours, "
        f"round by round (median, lowest and highest of {rounds}), from each library's default "
        "start (tensorly: singular vectors; pyttb: random).",
        "Error is ||A - fit|| / ||A||, recomputed from the factors in float64. A peer's time "
        f"counts against ours if our error is at most its own, to {SAME:g} of it.",
        f"Stuck: runs among {starts} random starts that end more than {STUCK:.0%} above the lowest "
        "error here.",
        "The decomposition of the peers has two factors of vertices, which nothing keeps equal: "
        "the largest difference of two entries is in the table, columns at length 1 and signs "
        "matched. Ours has one.",
    ]
    versions = installed("numpy", "scipy")
    runs: dict[str, list[Run[_Model]]]
    with tempfile.TemporaryDirectory() as name, Ours() as ours:
        folder = Path(name)
        source, output = folder / "graphs.npy", folder / "answer.npy"
        np.save(source, A)
        ours.load(source)
        peer = start_peer(cores(), notes)
        try:

            def own() -> Run[_Model]:
                found = run_ours(ours, RANK, TOL, output)
                judged = assess(A, found.answer["H"])
                error = float(np.sqrt(judged.path[-1] / judged.path[0]))
                good = found.answer["converged"] and judged.worst <= TOL
                return Run(found.seconds, _Model(error, 0.0, good))

            methods: dict[str, Callable[[], Run[_Model]]] = {OURS: own}
            others: dict[str, list[Run[_Model]]] = {}
            if peer is not None:
                peer.load(source)
                for label, each in PEERS.items():
                    methods[label] = _caller(peer, each.method, each.usual, A, folder)
                    others[label] = [
                        _caller(peer, each.method, each.random(seed), A, folder)()
                        for seed in range(starts)
                    ]
                versions += f"; peers' own: {listed(peer.versions)}"
            runs = interleave(methods, rounds)
        finally:
            if peer is not None:
                peer.close()
    return _report(runs, others, f"{m} x {n} x {n}, rank {RANK}", versions, notes)


@dataclass(frozen=True)
class _Model:
    error: float
    asymmetry: float
    good: bool = True


def _caller(
    peer: Peer, method: str, options: dict[str, Any], A: NDArray[np.float64], folder: Path
) -> Callable[[], Run[_Model]]:
    output = folder / "factors.npz"

    def call() -> Run[_Model]:
        answer = peer.run(method, rank=RANK, output=str(output), **options)
        with np.load(output) as file:
            error, asymmetry = _judge(A, file["graphs"], file["rows"], file["columns"])
        return Run(answer["seconds"], _Model(error, asymmetry))

    return call


def _judge(A: Any, graphs: Any, rows: Any, columns: Any) -> tuple[float, float]:
    """Return the relative error of the factors, and how far the two of vertices are apart."""
    total = float(np.sum(np.square(A)))
    products = (A.reshape(-1, A.shape[2]) @ columns).reshape(*A.shape[:2], -1)
    inner = np.einsum("ik,sk,isk->", graphs, rows, products)
    squared = np.sum((graphs.T @ graphs) * (rows.T @ rows) * (columns.T @ columns))
    a, b = rows / np.linalg.norm(rows, axis=0), columns / np.linalg.norm(columns, axis=0)
    b = b * np.sign(np.einsum("sk,sk->k", a, b))
    error = np.sqrt(max(total - 2 * inner + squared, 0.0) / total)
    return float(error), float(np.abs(a - b).max())


def _report(
    runs: dict[str, list[Run[_Model]]],
    others: dict[str, list[Run[_Model]]],
    size: str,
    versions: str,
    notes: list[str],
) -> Report:
    errors = {name: max(run.answer.error for run in mine) for name, mine in runs.items()}
    lowest = min(run.answer.error for mine in (*runs.values(), *others.values()) for run in mine)
    good = all(run.answer.good for run in runs[OURS])
    rows, bars = [], []
    for name, mine in runs.items():
        stuck = ""
        if name in others:
            count = sum(r.answer.error > lowest * (1 + STUCK) for r in others[name])
            stuck = f"{count} of {len(others[name])}"
        as_good = good and errors[OURS] <= errors[name] * (1 + SAME)
        compared = str(ratio(mine, runs[OURS])) if as_good else "-"
        rows.append(
            (
                name,
                f"{median_seconds(mine):.3g}",
                "" if name == OURS else compared,
                f"{errors[name]:.6f}",
                stuck,
                f"{max(run.answer.asymmetry for run in mine):.1e}",
            )
        )
    for name in PEERS:
        measured = ratio(runs[name], runs[OURS]).median if name in runs else None
        as_good = good and name in runs and errors[OURS] <= errors[name] * (1 + SAME)
        bars.append(Bar(f"CP: time of {name} over ours", measured, 1, True, as_good))
    failures = []
    if not good or errors[OURS] > lowest * (1 + STUCK):
        failures.append(f"{OURS}: converged: {good}, error {errors[OURS]:.6f}, lowest {lowest:.6f}")
    return Report(
        name="cp",
        title=f"CP decomposition of planted graphs, {size}",
        columns=("method", "seconds", "time over ours", "error", "stuck", "vertex factors apart"),
        rows=rows,
        meaning="",
        versions=versions,
        notes=notes,
        failures=failures,
        bars=bars,
    )
