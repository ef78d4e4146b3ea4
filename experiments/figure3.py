"""Figure 3: loadings with the estimated first component, against the oracle that knows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import drawing, section51
from experiments.designs import DIAGONALS
from experiments.outcome import Finding, Outcome, Table, measured
from experiments.run import Run

__all__ = ["run"]


def run(run: Run) -> Outcome:
    """Draw graphs of section 5.1, and estimate the first loading in two ways."""
    sizes, repetitions = ((16, 64, 256, 1024, 4096), 20) if run.full else ((16, 64, 256), 3)
    run.expect(len(DIAGONALS) * len(sizes) * repetitions)
    found: dict[tuple[str, int], list[Any]] = {
        (diagonal, m): run.repeat(
            section51.oracle,
            ({"repetition": r, "diagonal": diagonal, "m": m} for r in range(repetitions)),
        )
        for diagonal in DIAGONALS
        for m in sizes
    }
    rows, findings = [], []
    for (diagonal, m), results in found.items():
        gap = np.concatenate([one["difference"] for one in results])
        rows.append((
            diagonal, m, float(gap.mean()), float(gap.std()), float(np.abs(gap).max()),
            measured([one["error"] for one in results]),
            measured([one["error of the oracle"] for one in results]),
        ))  # fmt: skip
    for diagonal in DIAGONALS:
        results = found[diagonal, sizes[-1]]
        typical = [float(np.sqrt(np.square(one["difference"]).mean())) for one in results]
        noise = float(np.mean([one["error of the oracle"] for one in results]))
        small = np.mean(typical) < 0.1 * noise
        findings.append(
            Finding(
                "the differences between the two estimates of the first loading are small",
                f"{diagonal}: at m = {sizes[-1]}, root mean square {measured(typical, 4)}, beside "
                f"an error of {noise:.3f} of the oracle itself",
                "reproduced" if small else "differs",
                "the estimated and the true first component nearly coincide"
                if small
                else "more than a tenth of the noise that no method can avoid",
            )
        )
    return Outcome(
        "Loadings against the oracle (section 5.1)",
        "; ".join(f"*{name}*: {words}" for name, words in DIAGONALS.items()) + ".",
        tuple(findings),
        (Table(("diagonal", "graphs", "mean difference", "standard deviation", "largest",
                "error", "error of the oracle"), tuple(rows)),),
        (_picture(run, found, sizes),),
    )  # fmt: skip


def _picture(run: Run, found: dict[tuple[str, int], list[Any]], sizes: tuple[int, ...]) -> str:
    figure, axes = drawing.figure(7.2, 2.8, 1, 2, sharey=True)
    for panel, diagonal in zip(axes, DIAGONALS, strict=True):
        gaps = [np.concatenate([one["difference"] for one in found[diagonal, m]]) for m in sizes]
        parts = panel.violinplot(gaps, showextrema=False, widths=0.8)
        for body in parts["bodies"]:
            body.set(facecolor=drawing.COLOURS[0], alpha=0.35)
        panel.boxplot(gaps, widths=0.12, showfliers=False,
                      medianprops={"color": drawing.COLOURS[1]})  # fmt: skip
        panel.set_xticks(range(1, len(sizes) + 1), [str(m) for m in sizes])
        loops = "with self-loops" if diagonal == "observed" else "without self-loops"
        first = panel is axes[0]
        drawing.tidy(panel, "number of graphs m", "estimated minus oracle" if first else "", loops)
    return drawing.save(run, figure)
