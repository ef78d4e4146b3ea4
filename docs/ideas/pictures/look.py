"""One look for the pictures of these pages: readable at the width of a phone, the same each time.

A picture is 5 inches wide, so that on a screen of 360 pixels a point of its type is a pixel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt

IMAGES = Path(__file__).parents[2] / "images"
#: Distinguishable for colour-blind readers (Okabe and Ito); a marker or a line style beside each.
BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#B0568C", "#666666"
HUES = (BLUE, ORANGE, GREEN, PINK)
MARKERS = ("o", "^", "s", "D")
SIGNED = "PuOr_r"  # negative purple, positive orange: told apart in every kind of colour blindness
WIDTH = 5.0

mpl.rcParams.update(
    {
        "font.size": 10,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "legend.fontsize": 9.5,
        "svg.hashsalt": "eigengraphs",
        "svg.fonttype": "path",
        "figure.constrained_layout.use": True,
    }
)


def figure(height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """Return a figure and its axes."""
    return plt.subplots(rows, columns, figsize=(WIDTH, height), **options)


def matrix(ax: Any, values: Any, limit: float, title: str, *, cmap: str = SIGNED) -> Any:
    """Draw a matrix without ticks, on a scale with zero in the middle."""
    low = -limit if cmap == SIGNED else 0
    image = ax.imshow(values, cmap=cmap, vmin=low, vmax=limit, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set(visible=True, color="#bbbbbb", linewidth=0.6)
    ax.set_title(title)
    return image


def save(drawn: Any, name: str) -> None:
    """Write docs/images/NAME: svg without a date, png with 256 colors."""
    path = IMAGES / name
    if path.suffix == ".svg":
        drawn.savefig(path, metadata={"Date": None, "Creator": None}, transparent=False)
        text = path.read_text(encoding="utf-8")
        path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", "utf-8")
    else:
        from PIL import Image

        drawn.savefig(path, dpi=160, metadata={"Software": None})
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
    print(f"{name}: {path.stat().st_size / 1000:.0f} kB")
