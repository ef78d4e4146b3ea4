"""The picture of the theorems: independence, convergence, and the bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import drawing
from experiments.run import Run, Task

__all__ = ["picture"]


def picture(
    run: Run,
    m: list[int],
    by_design: dict[str, list[Any]],
    designs: list[Any],
    tasks: list[Task],
    fits: list[Any],
) -> str:
    """Draw one panel a theorem: 3.1, 4.1 and 4.2."""
    figure, axes = drawing.figure(7.4, 2.9, 1, 3)
    _independence(axes[0], tasks, fits)
    _convergence(axes[1], m, by_design)
    _bounds(axes[2], designs)
    return drawing.save(run, figure)


def _independence(axes: Any, tasks: list[Task], fits: list[Any]) -> None:
    for number, (diagonal, marker) in enumerate((("observed", "o"), ("filled", "x"))):
        chosen = [f for t, f in zip(tasks, fits, strict=True) if t["diagonal"] == diagonal]
        x = [value for fit in chosen for value in fit["distance"]]
        y = [value for fit in chosen for value in fit["loading"]]
        axes.plot(x, y, marker, color=drawing.COLOURS[number], alpha=0.4, markersize=2.5,
                  label=diagonal)  # fmt: skip
    axes.plot([0, 1], [0, 1], color=drawing.GREY, linewidth=0.8)
    drawing.tidy(axes, r"distance of $h_k h_k^T$ from the span", "largest loading / residual",
                 "Theorem 3.1", legend=True)  # fmt: skip


def _convergence(axes: Any, m: list[int], by_design: dict[str, list[Any]]) -> None:
    top, low = 0.0, np.inf
    for number, (design, found) in enumerate(by_design.items()):
        colour = drawing.COLOURS[number]
        for treatment, line, marker in (("observed", "-", "o"), ("hollow", ":", "x")):
            x = np.array([one[treatment]["limit"] for one in found])
            label = design if treatment == "observed" else ""
            drawing.band(axes, m, x.mean(axis=0), x.std(axis=0, ddof=1) / np.sqrt(len(x)),
                         label, colour, line, marker)  # fmt: skip
            first = float(x.mean(axis=0)[0])
            top, low = max(top, first), min(low, first)
    guide = 1.8 * top * np.sqrt(m[0] / np.array(m))
    axes.plot(m, guide, color=drawing.GREY, linewidth=0.8)
    axes.text(m[-2], guide[-2] * 1.2, r"$m^{-1/2}$", color=drawing.GREY)
    axes.set_ylim(bottom=0.12 * guide[-1] * low / top)  # room for the legend
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    drawing.tidy(axes, "number of graphs m", r"$\|\hat h^m - h'\|$", "Theorem 4.1 (dotted: hollow)")
    axes.legend(loc="lower left")


def _bounds(axes: Any, designs: list[Any]) -> None:
    for number, (kind, bound, marker, label) in enumerate(
        (
            ("loops", "printed", "o", "with loops"),
            ("hollow", "printed", "x", "hollow"),
            ("loops", "sharper", "+", "with loops, sharper bound"),
        )
    ):
        chosen = [one[kind] for one in designs if one[kind][bound] is not None]
        axes.plot([one[bound] for one in chosen], [one["distance"] for one in chosen], marker,
                  color=drawing.COLOURS[number], markersize=3, alpha=0.7, label=label)  # fmt: skip
    ends = np.array([min(one["loops"]["distance"] for one in designs), np.sqrt(2)])
    axes.plot(ends, ends, color=drawing.GREY, linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    drawing.tidy(axes, "bound", r"$\|h' - h_1\|$", "Theorem 4.2")
    axes.set_ylim(bottom=ends[0] / 300)  # room for the legend
    axes.legend(loc="lower right")
