"""A picture of a choice of the number of components, with matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from eigengraphs.errors import MissingExtraError

if TYPE_CHECKING:
    from eigengraphs.dimension.result import DimensionChoice

__all__ = ["choice_figure"]

# Distinguishable for colour-blind readers as well (Okabe and Ito).
_CURVE, _CHOSEN, _LEVEL = "#0072B2", "#D55E00", "0.45"
_SMALLEST = 1e-16  # p-value that is drawn


def choice_figure(choice: DimensionChoice) -> Any:
    """Draw a panel for each rule: its curve, what it is compared with, and its choice.

    Returns
    -------
    matplotlib.figure.Figure
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MissingExtraError("matplotlib", "report", "drawing a picture") from None
    draw: dict[str, Callable[[Any, DimensionChoice], None]] = {
        "elbow": _elbow,
        "loadings": _loadings,
        "pairs": _pairs,
        "halves": _halves,
    }
    rules = [rule for rule in draw if rule in choice.choices or rule in choice.left_out]
    columns = min(len(rules), 2)
    rows = -(-len(rules) // columns)
    figure = Figure(figsize=(3.7 * columns, 2.7 * rows), layout="constrained")
    for axes, rule in zip(figure.subplots(rows, columns, squeeze=False).flat, rules, strict=False):
        if rule not in choice.choices:
            _left_out(axes, rule, choice.left_out[rule])
            continue
        draw[rule](axes, choice)
        _mark(axes, choice.choices[rule])
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
        axes.tick_params(which="both", labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    many = "component" if choice.n_components == 1 else "components"
    figure.suptitle(f"Recommended: {choice.n_components} {many}", fontsize=11)
    return figure


def _elbow(axes: Any, choice: DimensionChoice) -> None:
    share = np.maximum(choice.curves["elbow"], 1e-12)
    axes.semilogy(range(1, len(share) + 1), share, "o-", color=_CURVE, ms=4, lw=1.2)
    _words(axes, "Elbow", "component", "share it explains")


def _loadings(axes: Any, choice: DimensionChoice) -> None:
    p = np.maximum(choice.curves["loadings"], _SMALLEST)
    axes.axhline(choice.alpha, color=_LEVEL, lw=1, ls="--", label=f"{choice.alpha:g}")
    axes.semilogy(range(1, len(p) + 1), p, "o-", color=_CURVE, ms=4, lw=1.2)
    axes.set_ylim(_SMALLEST / 5, 5)
    axes.legend(frameon=False, fontsize=8, loc="best")
    _words(axes, "Loadings of held-out graphs", "component", "p-value of noise")


def _pairs(axes: Any, choice: DimensionChoice) -> None:
    curve, margin = choice.curves["pairs"], choice.levels["pairs"]
    beyond = curve - curve.min()  # the first component would hide all differences between others
    shown = np.concatenate([beyond[beyond > 0], margin[margin > 1e-8], [1.0]])
    lowest = max(float(shown.min()) / 3, 1e-7)
    x = range(len(curve))
    axes.semilogy(
        x, np.maximum(margin, lowest), color=_LEVEL, lw=1, ls="--", label="as good as the best"
    )
    axes.semilogy(x, np.maximum(beyond, lowest), "o-", color=_CURVE, ms=4, lw=1.2)
    axes.legend(frameon=False, fontsize=8, loc="best")
    _words(axes, "Hidden vertex pairs", "number of components", "error beyond the best")


def _halves(axes: Any, choice: DimensionChoice) -> None:
    alike, level = choice.curves["halves"], choice.levels["halves"]
    x = range(1, len(alike) + 1)
    axes.plot(x, level, color=_LEVEL, lw=1, ls="--", label="needed")
    axes.plot(x, alike, "o-", color=_CURVE, ms=4, lw=1.2)
    axes.set_ylim(-0.03, 1.05)
    axes.legend(frameon=False, fontsize=8, loc="best")
    _words(axes, "Halves of the graphs", "number of components", "smallest similarity")


def _mark(axes: Any, chosen: int) -> None:
    axes.axvline(chosen, color=_CHOSEN, lw=6, alpha=0.25, zorder=0)
    left, right = axes.get_xlim()
    axes.set_xlim(min(left, chosen - 0.5), right)
    axes.set_title(f"{axes.get_title(loc='left')}: {chosen}", fontsize=9.5, loc="left")


def _left_out(axes: Any, rule: str, why: str) -> None:
    axes.set_axis_off()
    axes.set_title(f"{rule.capitalize()}: left out", fontsize=9.5, loc="left")
    axes.text(0, 0.9, why, fontsize=8.5, color=_LEVEL, va="top", wrap=True)


def _words(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set_xlabel(x, fontsize=8.5)
    axes.set_ylabel(y, fontsize=8.5)
