"""Benchmark ``restarts``: what many starts cost, and what they find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.bars import Bar
from benchmarks.families import block_family, planted
from benchmarks.measure import Run, interleave, median_seconds, ratio, timed
from benchmarks.ours import BASELINE, MAX_ITER, SOLVER
from benchmarks.quality import assess
from benchmarks.report import Report, installed
from eigengraphs import JointEmbedding

__all__ = ["run"]

STARTS = 20
COST = 2.5
TOL = 1e-5
PLANTED = 25
AS_GOOD = 1e-6  # the same optimum, found by two solvers, differs by rounding


def run(quick: bool) -> Report:
    """Measure the time of 20 starts, and compare what they find with 20 runs of algorithm1."""
    rows: list[tuple[str, ...]] = []
    failures: list[str] = []
    cost = _cost(quick, rows, failures)
    found = _found(quick, rows, failures)
    return Report(
        name="restarts",
        title=f"{STARTS} starts of eigengraphs {SOLVER}",
        columns=(
            "graphs, d",
            "method",
            "seconds",
            "time over n_init=1",
            "sum of squares",
            "worst gradient",
        ),
        rows=rows,
        meaning="",
        versions=installed("numpy", "scipy"),
        notes=[
            f"Cost: n_init={STARTS} against n_init=1 on the dense block family, round by round "
            "(median, lowest and highest of 5).",
            f"Search: {PLANTED} planted components of similar strength and nearly at right angles, "
            "each an optimum of its own. The explained sum of squares, recomputed in float64, is "
            f"put over that of the best of {STARTS} runs of algorithm1 with a random start of each "
            f"component; as good means up to {AS_GOOD:g}.",
        ],
        failures=failures,
        bars=[
            Bar(f"restarts: n_init={STARTS} over n_init=1", cost, COST, False, not failures),
            Bar(
                f"restarts: sum of squares over the best of {STARTS} random algorithm1",
                found,
                1 - AS_GOOD,
                True,
                not failures,
            ),
        ],
    )


def _fitter(A: Any, d: int, **settings: Any) -> Callable[[], Run[JointEmbedding]]:
    settings = {"solver": SOLVER, "random_state": 0, **settings}

    def method() -> Run[JointEmbedding]:
        model = JointEmbedding(d, diagonal="observed", tol=TOL, max_iter=MAX_ITER, **settings)
        return timed(lambda: model.fit(A))

    return method


def _cost(quick: bool, rows: list[tuple[str, ...]], failures: list[str]) -> float:
    m, n, d = (20, 80, 4) if quick else (100, 500, 10)
    A = np.stack(list(block_family(m, n, seed=0)))
    one, many = "n_init=1", f"n_init={STARTS}"
    methods = {one: _fitter(A, d), many: _fitter(A, d, n_init=STARTS)}
    runs = interleave(methods, 2 if quick else 5)
    judged = {name: assess(A, mine[-1].answer.latent_positions_) for name, mine in runs.items()}
    for name, mine in runs.items():
        explained = judged[name].path[0] - judged[name].path[-1]
        base = judged[one].path[0] - judged[one].path[-1]
        label = f"block family, {m} x {n}, d={d}"
        rows.append(
            (
                label,
                name,
                f"{median_seconds(mine):.3g}",
                "" if name == one else str(ratio(mine, runs[one])),
                f"{explained / base:.6f}",
                f"{judged[name].worst:.1e}",
            )
        )
        if judged[name].worst > TOL:
            failures.append(f"{label}, {name}: worst gradient {judged[name].worst:.2e}")
    return ratio(runs[many], runs[one]).median


def _found(quick: bool, rows: list[tuple[str, ...]], failures: list[str]) -> float:
    m, n, d = (20, 60, 3) if quick else (60, 150, 5)
    A = planted(m, n, np.linspace(9, 11, PLANTED), noise=0.5, overlap=0.3, seed=0)
    label = f"planted, {m} x {n}, d={d}"
    many = _fitter(A, d, n_init=STARTS)()
    seeds = range(STARTS)
    rivals = [_fitter(A, d, solver=BASELINE, init="random", random_state=s)() for s in seeds]
    own = assess(A, many.answer.latent_positions_)
    others = [assess(A, run.answer.latent_positions_) for run in rivals]
    explained = sorted(each.path[0] - each.path[-1] for each in others)
    best = explained[-1]
    ours = own.path[0] - own.path[-1]
    seconds = sum(run.seconds for run in rivals)
    rows.append(
        (
            label,
            f"n_init={STARTS}",
            f"{many.seconds:.3g}",
            "",
            f"{ours / best:.6f}",
            f"{own.worst:.1e}",
        )
    )
    for name, value in (("best", best), ("median", explained[len(explained) // 2])):
        text = f"{name} of {STARTS} random-start algorithm1 (all of them: the seconds)"
        rows.append((label, text, f"{seconds:.3g}", "", f"{value / best:.6f}", ""))
    if own.worst > TOL:
        failures.append(f"{label}: worst gradient {own.worst:.2e}")
    return ours / best
