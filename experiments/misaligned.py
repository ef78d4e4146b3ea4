"""Experiment ``misaligned``: what a few misaligned vertices do to positions and loadings.

The paper (section 3.1) says that misalignments hurt the latent positions of the vertices concerned,
and that a small number of them hardly changes the loadings. Here a growing share of the vertices
is shuffled in half of the graphs of a block-model family, before and after :func:`eg.align` puts
them back.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg
from experiments import drawing
from experiments.outcome import Finding, Outcome, Table, measured
from experiments.run import Run

__all__ = ["COLUMNS", "Row", "measure", "run", "step"]

Array = NDArray[np.float64]
D = 3
DIAGONALS = ("auto", "observed")
COLUMNS = (
    "shuffled", "positions of shuffled vertices", "of the others", "loadings of shuffled graphs",
    "over their spread", "of the others", "aligned: vertices put back",
    "positions of shuffled vertices", "loadings",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """Errors at one share of shuffled vertices, each a mean over repetitions.

    Positions: root mean square distance of rows of H over that of rows from their mean. Loadings:
    root mean square error over the root mean square of the loadings, and over their spread between
    graphs. All beside the fit to the graphs as they were.
    """

    share: float
    touched: float
    untouched: float
    loadings_touched: float
    over_spread: float
    loadings_untouched: float
    put_back: float
    touched_aligned: float
    loadings_aligned: float


def _family(m: int, n: int, rng: np.random.Generator) -> Array:
    """Draw graphs with three blocks, whose probabilities vary from graph to graph, (m, n, n).

    Each keeps three quarters of the pairs of one common graph: graphs that have nothing but block
    probabilities in common cannot be matched by anyone.
    """
    labels = np.arange(n) * 3 // n
    base = np.array([[0.6, 0.2, 0.1], [0.2, 0.5, 0.25], [0.1, 0.25, 0.4]])
    common = rng.random((n, n)) < base[np.ix_(labels, labels)]
    graphs = np.empty((m, n, n))
    for A in graphs:
        change = rng.uniform(-0.4, 0.4, (3, 3))
        P = np.clip((base + (change + change.T) / 2)[np.ix_(labels, labels)], 0.0, 1.0)
        own = rng.random((n, n)) < P
        upper = np.triu(np.where(rng.random((n, n)) < 0.75, common, own), 1)
        A[...] = upper | upper.T
    return graphs


def measure(share: float, m: int, n: int, seed: int, diagonal: str = "auto") -> Row:
    """Shuffle a share of the vertices in half of the graphs, and compare three fits."""
    rng = np.random.default_rng(seed)
    A = _family(m, n, rng)
    moved = rng.permutation(n)[: round(share * n)]
    orders = np.tile(np.arange(n), (m, 1))
    shuffled = np.arange(m) % 2 == 1
    for i in np.flatnonzero(shuffled):
        orders[i, moved] = rng.permutation(moved)
    stack = eg.GraphStack(A)
    mixed = stack.reorder(orders)
    truth = eg.JointEmbedding(D, diagonal=diagonal, random_state=0).fit(stack)
    before = _errors(truth, mixed, moved, shuffled)
    found = eg.align(mixed, reference="mean", init="order", random_state=seed)
    after = _errors(truth, found.stack, moved, shuffled)
    wrong = np.take_along_axis(orders, found.permutations, axis=1) != np.arange(n)
    was_wrong = orders != np.arange(n)
    put_back = 1.0 - wrong[was_wrong.nonzero()].mean() if was_wrong.any() else 1.0
    return Row(share, *before, put_back, after[0], after[2])


def _errors(
    truth: eg.JointEmbedding,
    graphs: eg.GraphStack,
    moved: NDArray[np.intp],
    shuffled: NDArray[np.bool_],
) -> tuple[float, float, float, float, float]:
    fit = eg.JointEmbedding(D, diagonal=truth.diagonal, random_state=0).fit(graphs)
    match = eg.match_components(truth, fit)
    gap = match.apply(fit.latent_positions_) - truth.latent_positions_
    spread = np.sqrt(((truth.latent_positions_ - truth.latent_positions_.mean(axis=0)) ** 2).mean())
    touched = np.zeros(len(gap), dtype=bool)
    touched[moved] = True

    def error(which: NDArray[np.bool_]) -> float:
        return float(np.sqrt((gap[which] ** 2).mean()) / spread) if which.any() else 0.0

    off = fit.loadings_[:, match.order] - truth.loadings_
    size, varies = np.sqrt((truth.loadings_**2).mean()), truth.loadings_.std(axis=0)
    return (
        error(touched),
        error(~touched),
        float(np.sqrt((off[shuffled] ** 2).mean()) / size),
        float(np.sqrt(((off[shuffled] / varies) ** 2).mean())),
        float(np.sqrt((off[~shuffled] ** 2).mean()) / size),
    )


def step(
    rng: np.random.Generator, *, share: float, m: int, n: int, repetition: int, diagonal: str
) -> Any:
    """Measure one share once; the same graphs for every share."""
    del rng  # shares are compared on the same graphs, so the repetition is the seed
    return asdict(measure(share, m, n, repetition, diagonal))


def run(run: Run) -> Outcome:
    """Measure growing shares; draw them."""
    m, n, repetitions = (20, 120, 5) if run.full else (10, 60, 2)
    shares = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5) if run.full else (0.0, 0.1, 0.3)
    seeds = [1000 * run.seed + r for r in range(repetitions)]
    tasks = [{"share": share, "m": m, "n": n, "repetition": seed, "diagonal": diagonal}
             for diagonal in DIAGONALS for share in shares for seed in seeds]  # fmt: skip
    steps = run.repeat(step, tasks)
    found: dict[tuple[str, float], dict[str, Array]] = {}
    for task, one in zip(tasks, steps, strict=True):
        kept = found.setdefault((str(task["diagonal"]), one["share"]), {})
        for name, value in one.items():
            kept[name] = np.append(kept.get(name, np.empty(0)), value)
    rows = {share: _mean_row(found["auto", share]) for share in shares}
    findings = tuple(
        finding for diagonal in DIAGONALS for finding in _findings(diagonal, found[diagonal, 0.1])
    )
    return Outcome(
        "A few misaligned vertices (section 3.1)",
        "graphs without self-loops, *auto* (filled; in the picture) and *observed*.",
        findings,
        (
            Table(
                ("diagonal", *COLUMNS),
                tuple((diagonal, *_cells(values)) for (diagonal, _), values in found.items()),
            ),
        ),
        (_picture(run, list(rows.values())),),
    )


def _findings(diagonal: str, tenth: dict[str, Array]) -> tuple[Finding, ...]:
    where = f"{diagonal}: 10% of the vertices shuffled in half of the graphs"
    hurt = tenth["touched"].mean() > 2 * tenth["untouched"].mean()
    small = tenth["over_spread"].mean() < 0.25
    return (
        Finding(
            "misaligned vertices have an adverse effect on their own latent positions",
            f"{where}: their positions are off by {measured(tenth['touched'], 2)} of the spread of "
            f"positions, those of the others by {measured(tenth['untouched'], 2)}",
            "reproduced" if hurt else "differs",
            "a position is a mean over the vertices that were in its place"
            if hurt
            else "the others suffer as much",
        ),
        Finding(
            "a small number of misaligned vertices should not have a big impact on the loadings",
            f"{where}: the loadings of the shuffled graphs are off by "
            f"{measured(tenth['loadings_touched'])} of their size, and by "
            f"{measured(tenth['over_spread'], 2)} of their spread between graphs",
            "reproduced" if small else "differs",
            "small beside the differences between graphs"
            if small
            else "small beside the loadings; but what a classifier sees is how loadings differ "
            "from graph to graph, and beside that it is large",
        ),
        Finding(
            "(graph matching is not in the paper)",
            f"{where}: `eg.align` puts {tenth['put_back'].mean():.0%} of the vertices back",
            "new",
            "three quarters of the pairs are common to all graphs here; with nothing but "
            "block probabilities in common nobody could match them",
        ),
    )


def _mean_row(values: dict[str, Array]) -> Row:
    return Row(*(float(values[name].mean()) for name in Row.__dataclass_fields__))


def _cells(values: dict[str, Array]) -> tuple[str, ...]:
    numbers = ("touched", "untouched", "loadings_touched", "over_spread", "loadings_untouched")
    return (
        f"{values['share'].mean():.0%}", *(measured(values[name]) for name in numbers),
        f"{values['put_back'].mean():.0%}", measured(values["touched_aligned"]),
        measured(values["loadings_aligned"]),
    )  # fmt: skip


def _picture(run: Run, rows: list[Row]) -> str:
    figure, (left, right) = drawing.figure(7.2, 3.0, 1, 2)
    shares = [100 * row.share for row in rows]
    curves = {
        left: [("touched", "shuffled vertices", 1, "-"), ("untouched", "other vertices", 0, "-"),
               ("touched_aligned", "shuffled, after align", 1, ":")],
        right: [("loadings_touched", "shuffled graphs", 1, "-"),
                ("loadings_untouched", "other graphs", 0, "-"),
                ("loadings_aligned", "shuffled, after align", 1, ":")],
    }  # fmt: skip
    for axes, lines in curves.items():
        for name, label, colour, style in lines:
            axes.plot(shares, [getattr(row, name) for row in rows], style, marker="o",
                      color=drawing.COLOURS[colour], label=label)  # fmt: skip
        axes.set_ylim(bottom=0)
    shuffled = "vertices shuffled in half of the graphs (%)"
    drawing.tidy(left, shuffled, "error over the spread of positions", "latent positions", True)
    drawing.tidy(right, shuffled, "error over the size of loadings", "loadings", True)
    return drawing.save(run, figure)
