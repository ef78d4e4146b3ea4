"""Experiment ``misaligned``: what a few misaligned vertices do to positions and loadings.

The paper (section 3.1) says that misalignments hurt the latent positions of the vertices concerned,
and that a small number of them hardly changes the loadings. Here a growing share of the vertices
is shuffled in half of the graphs of a block-model family, before and after :func:`eg.align` puts
them back.

Errors of positions are root mean square distances of rows of H over that of rows from their mean.
Errors of loadings are root mean squares over the root mean square of the loadings, and over their
spread between graphs. All are relative to the fit to the graphs as they were.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg
from experiments import drawing
from experiments.frame import Finding, Outcome, Run, Table, grid, judged, new
from experiments.repetitions import Array, Rng, gathered, measured

D = 3
DIAGONALS = ("auto", "observed")
#: Errors, in the order of the table's columns.
ERRORS = ("touched", "untouched", "loadings_touched", "over_spread", "loadings_untouched",
          "put_back", "touched_aligned", "loadings_aligned")  # fmt: skip


def _family(m: int, n: int, rng: Rng) -> Array:
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


def step(
    rng: Rng, *, share: float, m: int, n: int, repetition: int, diagonal: str
) -> dict[str, float]:
    """Shuffle a share of the vertices in half of the graphs, and compare three fits."""
    rng = np.random.default_rng(repetition)  # shares are compared on the same graphs
    A = _family(m, n, rng)
    moved = rng.permutation(n)[: round(share * n)]
    orders = np.tile(np.arange(n), (m, 1))
    shuffled = np.arange(m) % 2 == 1
    for i in np.flatnonzero(shuffled):
        orders[i, moved] = rng.permutation(moved)
    stack = eg.GraphStack(A)
    graphs = [A[i][np.ix_(order, order)] for i, order in enumerate(orders)]
    mixed = eg.GraphStack(graphs)
    truth = eg.JointEmbedding(D, diagonal=diagonal, random_state=0).fit(stack)
    before = _errors(truth, mixed, moved, shuffled)
    found = eg.align(mixed, reference="mean", init="order", random_state=repetition)
    after = _errors(truth, found.stack, moved, shuffled)
    wrong = np.take_along_axis(orders, found.permutations, axis=1) != np.arange(n)
    was_wrong = orders != np.arange(n)
    return before | {
        "put_back": float(1.0 - wrong[was_wrong].mean()) if was_wrong.any() else 1.0,
        "touched_aligned": after["touched"],
        "loadings_aligned": after["loadings_touched"],
    }


def _errors(
    truth: eg.JointEmbedding, graphs: eg.GraphStack, moved: Any, shuffled: NDArray[np.bool_]
) -> dict[str, float]:
    fit = eg.JointEmbedding(D, diagonal=truth.diagonal, random_state=0).fit(graphs)
    match = eg.match_components(truth, fit)
    H = truth.latent_positions_
    gap = match.apply(fit.latent_positions_) - H
    touched = np.isin(np.arange(len(gap)), moved)
    off = fit.loadings_[:, match.order] - truth.loadings_
    size, varies = _root_mean_square(truth.loadings_), truth.loadings_.std(axis=0)
    spread = _root_mean_square(H - H.mean(axis=0))
    return {
        "touched": _root_mean_square(gap[touched]) / spread,
        "untouched": _root_mean_square(gap[~touched]) / spread,
        "loadings_touched": _root_mean_square(off[shuffled]) / size,
        "over_spread": _root_mean_square(off[shuffled] / varies),
        "loadings_untouched": _root_mean_square(off[~shuffled]) / size,
    }


def _root_mean_square(x: Array) -> float:
    return float(np.sqrt((x**2).mean())) if x.size else 0.0


def misaligned(run: Run) -> Outcome:
    """Measure growing shares; draw them."""
    m, n, repetitions = (20, 120, 5) if run.full else (10, 60, 2)
    shares = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5) if run.full else (0.0, 0.1, 0.3)
    seeds = [1000 * run.seed + r for r in range(repetitions)]
    tasks = grid({"m": m, "n": n}, diagonal=DIAGONALS, share=shares, repetition=seeds)
    steps = run.each(step, tasks)
    #: Errors over repetitions, by diagonal and share, and by name.
    found = {(diagonal, share): gathered([steps[diagonal, share, seed] for seed in seeds])
             for diagonal in DIAGONALS for share in shares}  # fmt: skip
    rows = [
        (diagonal, f"{share:.0%}", *(
            f"{values[name].mean():.0%}" if name == "put_back" else measured(values[name])
            for name in ERRORS))
        for (diagonal, share), values in found.items()
    ]  # fmt: skip
    figure, panels = drawing.figure(7.2, 3.0, 1, 2)
    for panel, kind, who, what in zip(
        panels, ("", "loadings_"), ("vertices", "graphs"), ("positions", "loadings"), strict=True
    ):
        for name, label, color, line in (
            (f"{kind}touched", f"shuffled {who}", 1, "-"),
            (f"{kind}untouched", f"other {who}", 0, "-"),
            (f"{kind or 'touched_'}aligned", "shuffled, after align", 1, ":"),
        ):
            panel.plot([100 * share for share in shares],
                       [found["auto", share][name].mean() for share in shares], line, marker="o",
                       color=drawing.COLORS[color], label=label)  # fmt: skip
        panel.set_ylim(bottom=0)
        over = "size of loadings" if kind else "spread of positions"
        drawing.tidy(panel, "vertices shuffled in half of the graphs (%)", f"error over the {over}",
                     "loadings" if kind else f"latent {what}", legend=True)  # fmt: skip
    return Outcome(
        [one for diagonal in DIAGONALS for one in _findings(diagonal, found[diagonal, 0.1])],
        [Table(rows)],
        figure,
    )


def _findings(diagonal: str, tenth: dict[str, Array]) -> list[Finding]:
    where = f"{diagonal}: 10% of the vertices shuffled in half of the graphs"
    return [
        judged(
            "misaligned.positions",
            f"{where}: their positions are off by {measured(tenth['touched'], 2)} of the spread of "
            f"positions, those of the others by {measured(tenth['untouched'], 2)}",
            tenth["touched"].mean() > 2 * tenth["untouched"].mean(),
        ),
        judged(
            "misaligned.loadings",
            f"{where}: the loadings of the shuffled graphs are off by "
            f"{measured(tenth['loadings_touched'])} of their size, and by "
            f"{measured(tenth['over_spread'], 2)} of their spread between graphs",
            tenth["over_spread"].mean() < 0.25,
        ),
        new(
            "misaligned.matching",
            f"{where}: `eg.align` restores {tenth['put_back'].mean():.0%} of the vertices",
        ),
    ]
