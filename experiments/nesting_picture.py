"""The picture of Figure 1: models as regions, and a point for what was drawn in each."""

from __future__ import annotations

from typing import Any

from experiments import drawing
from experiments.run import Run

__all__ = ["picture"]

_BLUE, _ORANGE, _GREEN = drawing.COLOURS[:3]
_PURPLE, _GREY = "#882255", "#555555"
#: Left, bottom, width, height, colour, label and place of it; larger regions first.
_Box = tuple[float, float, float, float, str, str, tuple[float, float], str]
_ONE: tuple[_Box, ...] = (
    (0.0, 0.0, 10.0, 6.6, _GREY,
     "IER  =  MREG, $d = n$  =  SBM, $n$ blocks", (0.3, 6.2), "-"),
    (0.55, 0.5, 8.0, 5.3, _BLUE, "MREG, $d < n/2$", (0.85, 5.4), "-"),
    (1.0, 0.95, 4.6, 4.0, _ORANGE, "SBM, $K \\leq d$", (1.3, 4.55), "-"),
    (3.3, 1.35, 4.8, 3.0, _GREEN, "RDPG in $\\mathbb{R}^d$", (5.85, 3.95), "-"),
    (3.75, 1.75, 1.35, 1.25, _PURPLE, "ER", (3.95, 2.65), "-"),
)  # fmt: skip
_MANY: tuple[_Box, ...] = (
    (0.0, 0.0, 10.0, 6.6, _GREY, "MREG, $d = K(K+1)/2$", (0.3, 6.2), "-"),
    (0.45, 0.45, 6.65, 5.4, _BLUE, "MREG, $d = K$", (0.75, 5.45), "-"),
    (3.05, 0.95, 6.55, 4.1, _ORANGE,
     "SBM, blocks\nin common,\nany $B_i$", (7.35, 4.15), "--"),
    (3.12, 1.2, 2.75, 3.0, _ORANGE, "SBM, i.i.d.", (3.4, 3.82), "-"),
    (0.8, 1.5, 3.9, 1.95, _GREEN, "RDPG, i.i.d.", (1.05, 3.05), "-"),
    (3.4, 1.75, 1.05, 1.25, _PURPLE, "ER", (3.55, 2.65), "-"),
)  # fmt: skip
_POINTS_ONE = {1: (4.42, 2.15), 2: (4.5, 3.65), 3: (2.2, 2.6), 4: (6.6, 2.6), 5: (7.3, 5.05),
               6: (9.25, 3.2)}  # fmt: skip
_POINTS_MANY = {7: (3.92, 2.15), 8: (2.0, 4.4), 9: (6.45, 2.6), 10: (8.3, 2.6)}
_WORDS = {
    1: "ER: one block, one dimension",
    2: "SBM with psd $B$: an RDPG, no ER",
    3: "SBM with indefinite $B$: no RDPG, whatever diagonal",
    4: "RDPG: no two vertices alike, so no smaller SBM",
    5: "MREG with a negative loading: neither of the two",
    6: "IER: no MREG with $d < n/2$; SBM and MREG with $n$",
    7: "i.i.d. ER, SBM, RDPG: MREG with equal loadings",
    8: "MREG with loadings that differ: no i.i.d. model",
    9: "$p_i$ within, $q_i$ between equal blocks: $d = K$ is enough",
    10: "any $B_i$: $d = K(K+1)/2$ is exact, one less is not",
}


def picture(run: Run, numbers: dict[int, tuple[int, int]]) -> str:
    """Draw both panels; below, how many of how many random models lie where their point is."""
    figure, axes = drawing.figure(7.4, 4.7, 2, 2, height_ratios=[3.1, 1.0])
    for column, (boxes, points, title) in enumerate(
        ((_ONE, _POINTS_ONE, "one graph"), (_MANY, _POINTS_MANY, "many graphs"))
    ):
        _regions(axes[0, column], boxes, title)
        for number, place in points.items():
            _point(axes[0, column], number, place, numbers[number])
        _legend(axes[1, column], list(points), numbers)
    return drawing.save(run, figure)


def _regions(axes: Any, boxes: tuple[_Box, ...], title: str) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import FancyBboxPatch

    for x, y, width, height, colour, label, place, line in boxes:
        r = min(0.45, width / 5, height / 5)
        axes.add_patch(
            FancyBboxPatch(
                (x + r, y + r), width - 2 * r, height - 2 * r, boxstyle=f"round,pad={r}",
                facecolor=to_rgba(colour, 0.09), edgecolor=colour, linewidth=1.2, linestyle=line,
            )
        )  # fmt: skip
        axes.text(*place, label, color=colour, va="center", fontsize=8)
    axes.set(xlim=(-0.1, 10.1), ylim=(-0.1, 6.7))
    axes.axis("off")
    axes.set_title(title)


def _point(axes: Any, number: int, place: tuple[float, float], count: tuple[int, int]) -> None:
    """Draw a number in a disc: dark if any model was found there, else an empty one."""
    found = count[0] > 0
    axes.plot(*place, "o", markersize=11, markeredgecolor="#222222",
              markerfacecolor="#222222" if found else "white")  # fmt: skip
    axes.text(*place, str(number), ha="center", va="center_baseline", fontsize=7,
              color="white" if found else "#222222")  # fmt: skip


def _legend(axes: Any, points: list[int], numbers: dict[int, tuple[int, int]]) -> None:
    axes.set(xlim=(0, 10), ylim=(6.0, -0.2))
    axes.axis("off")
    for row, number in enumerate(points):
        held, of = numbers[number]
        axes.text(
            0.35, row + 0.4, str(number), ha="right", va="center", fontsize=7.5, weight="bold"
        )
        axes.text(0.55, row + 0.4, _WORDS[number], va="center", fontsize=7.2)
        axes.text(10.0, row + 0.4, f"{held} of {of}", ha="right", va="center", fontsize=7.2)
