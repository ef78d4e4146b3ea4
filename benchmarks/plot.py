"""The picture of growing times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

__all__ = ["Line", "draw"]


@dataclass(frozen=True)
class Line:
    """Times over sizes, and their slope on logarithmic axes."""

    name: str
    axis: str
    sizes: list[int]
    seconds: list[float]
    slope: float


def draw(lines: list[Line], path: Path) -> None:
    """Draw the lines, one panel for each kind of size, and save the picture as PNG."""
    axes = list(dict.fromkeys(line.axis for line in lines))
    figure, panels = plt.subplots(1, len(axes), figsize=(7, 3), squeeze=False, sharey=True)
    for axis, panel in zip(axes, panels[0], strict=True):
        for line in (line for line in lines if line.axis == axis):
            label = f"{line.name}\nslope {line.slope:.2f}"
            panel.loglog(line.sizes, line.seconds, "o-", label=label, markersize=4)
            # A slope of 1 through the last point, to compare with.
            linear = [line.seconds[-1] * size / line.sizes[-1] for size in line.sizes]
            panel.loglog(line.sizes, linear, ":", color="grey", linewidth=1)
        panel.set_xlabel(axis)
        panel.legend(fontsize=6, frameon=False)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("seconds")
    figure.tight_layout()
    # A few colours are enough, and make a file of a few kB.
    figure.savefig(path, dpi=90, pil_kwargs={"optimize": True})
    plt.close(figure)
