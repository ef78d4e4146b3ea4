"""The picture of Figure 6: accuracy by dimensions, by parameters, and parameters by dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import drawing
from experiments.figure6_curves import Results, Setting, parameters

__all__ = ["SPARSE", "draw"]

SPARSE = 0.001  # share of the fibres in the third row; chosen after a look at other shares
LINES = (
    ("JE", "auto", "JE (auto)", drawing.COLOURS[0], "-"),
    ("JE", "observed", "JE (observed)", drawing.COLOURS[5], "--"),
    ("PCA", "auto", "PCA", drawing.COLOURS[1], "-"),
)
ROWS = (
    (Setting(1), "one scan per subject"),
    (Setting(8), "eight scans per subject"),
    (Setting(1, kept=SPARSE), f"one scan, one fibre in {1 / SPARSE:.0f}"),
)


def draw(results: Results) -> Any:
    """Return the figure, one row of three panels a scenario."""
    figure, axes = drawing.figure(7.2, 6.8, 3, 3)
    largest = results[Setting(1)].by_method["JE"].shape[1]
    ticks = [d for d in (1, 3, 10, 30, 100) if d <= largest]
    for row, (shown, title) in zip(axes, ROWS, strict=True):
        _row(row, results, shown)
        row[1].set_xscale("log")
        row[2].set_yscale("log")
        for panel in (row[0], row[2]):
            panel.set_xscale("log")
            panel.set_xticks(ticks, [str(d) for d in ticks])
            panel.minorticks_off()
        drawing.tidy(row[0], "dimensions d", "accuracy", title)
        drawing.tidy(row[1], "parameters", "accuracy")
        drawing.tidy(row[2], "dimensions d", "parameters")
    handles, labels = axes[0, 2].get_legend_handles_labels()
    extra, names = axes[0, 0].get_legend_handles_labels()
    figure.legend([*handles, extra[-1]], [*labels, names[-1]], loc="outside lower center", ncols=5)
    return figure


def _row(row: Any, results: Results, shown: Setting) -> None:
    for method, diagonal, label, colour, style in LINES:
        setting = shown._replace(diagonal=diagonal)
        if setting not in results:
            continue
        values = results[setting].by_method[method]
        d = np.arange(1, values.shape[1] + 1)
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        counts = parameters(method, d, setting.scans)
        for panel, x in ((row[0], d), (row[1], counts)):
            panel.plot(x, mean, style, color=colour, label=label)
            panel.fill_between(x, mean - error, mean + error, color=colour, alpha=0.2, lw=0)
        row[2].plot(d, counts, style, color=colour, label=label)
    d = np.arange(1, results[shown].by_method["PCA"].shape[1] + 1)
    squares = parameters("PCA", d, shown.scans, symmetric=False)
    row[2].plot(d, squares, ":", color=drawing.COLOURS[1], label="PCA, counting $n^2$")
    for panel in row[:2]:
        panel.axhline(results[shown].reference.mean(), color=drawing.GREY, linewidth=0.8,
                      linestyle="-.", label="1-NN on graphs")  # fmt: skip
        panel.set_ylim(0, 1.03)
