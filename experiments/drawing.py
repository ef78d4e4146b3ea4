"""One look for all pictures of the experiments."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import gaussian_kde

from eigengraphs.system.whole_files import whole_file
from experiments.repetitions import error_of

#: Distinguishable for color-blind readers (Okabe and Ito), darkest contrasts first.
COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933",
    "#882255", "#888888",
)  # fmt: skip
GRAY = "#888888"
#: Titles of panels by what the diagonal is.
LOOPS = {"observed": "with self-loops", "filled": "without self-loops"}


@contextmanager
def style() -> Iterator[None]:
    """Set the look of everything that is drawn inside; leave matplotlib as it was."""
    # The font's own dates are odd, which the writer of PDF says aloud for every picture.
    logger = logging.getLogger("fontTools")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with matplotlib.style.context(Path(__file__).with_name("pictures.mplstyle")):
            yield
    finally:
        logger.setLevel(level)


def figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Any, Any]:
    """Return a figure of a size in inches, and its axes (one, or an array of them)."""
    drawn = Figure(figsize=(width, height), layout="constrained")
    return drawn, drawn.subplots(rows, columns, **options)


def band(
    axes: Any, x: Any, values: Any, label: str, color: str, style: str = "-", marker: str = "o",
    times: float = 1.0,
) -> None:  # fmt: skip
    """Draw means over the first axis of ``values``, with bars of so many standard errors."""
    axes.errorbar(x, np.mean(values, axis=0), yerr=times * error_of(values), label=label,
                  color=color, linestyle=style, marker=marker, capsize=1.5,
                  elinewidth=0.8)  # fmt: skip


def density(axes: Any, values: Any, color: str, grid: Any) -> None:
    """Draw a smooth density, filled down to zero."""
    y = gaussian_kde(values)(grid)
    axes.plot(grid, y, color=color, linewidth=1.0)
    axes.fill_between(grid, y, color=color, alpha=0.2, linewidth=0)


def pairs(
    axes: Any, H: Any, groups: Any, limits: Any, size: float, alpha: float, points: int
) -> None:
    """Draw every two dimensions of H (n, d), and on the diagonal densities at so many points.

    ``groups`` are names, masks (n,) and colors, ``limits`` (d, 2) of the axes.
    """
    for j, low_high in enumerate(limits):
        for k, across in enumerate(limits):
            for name, mine, color in groups:
                if j == k:
                    density(axes[k, k], H[mine, k], color, np.linspace(*across, points))
                else:
                    axes[j, k].scatter(H[mine, k], H[mine, j], s=size, lw=0, color=color,
                                       alpha=alpha, label=name)  # fmt: skip
                    axes[j, k].set_ylim(low_high)
            axes[j, k].set_xlim(across)


def tidy(
    axes: Any, x: str = "", y: str = "", title: str = "", legend: bool = False, scales: str = ""
) -> None:
    """Set labels in one call; a light grid behind the data.

    Logarithmic are the axes that ``scales`` names: "x", "y", "xy", or "2y" with powers of 2 for x.
    """
    axes.set(xlabel=x, ylabel=y, title=title)
    for scale in scales:
        if scale == "y":
            axes.set_yscale("log")
        else:
            axes.set_xscale("log", base=2 if scale == "2" else 10)
    axes.grid(color="#eeeeee", linewidth=0.6)
    axes.set_axisbelow(True)
    if legend:
        axes.legend()


def legend_below(figure: Any, axes: Any, columns: int) -> None:
    """Put the legend of one panel below all of them."""
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


def save(drawn: Any, folder: Path, name: str) -> str:
    """Write the picture as PNG to look at and as PDF to print; return the name of the first."""
    with whole_file(folder / f"{name}.png") as path:
        drawn.savefig(path, dpi=200)
    with whole_file(folder / f"{name}.pdf") as path:
        drawn.savefig(path, metadata={"CreationDate": None})
    return f"{name}.png"
