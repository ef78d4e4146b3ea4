"""What all plots share: axes, colours, and which component is meant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError, MissingExtraError, SelectionError

__all__ = ["axes_for", "check_component", "scatter_by"]

# Distinguishable for colour-blind readers as well (Okabe and Ito), and a marker beside each.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8a6100", "#56B4E9", "#444444")
MARKERS = ("o", "^", "s", "D", "v", "P", "*")


def axes_for(ax: Any) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "report", "drawing a picture") from None
    return plt.subplots()[1]


def check_component(embedding: Any, component: int) -> int:
    """Return a component's place, or say which there are."""
    check_is_fitted(embedding)
    d = embedding.n_components_
    if isinstance(component, bool) or not isinstance(component, int | np.integer):
        raise InputError(f"a component is given by its place, from 0; got {component!r}")
    if not 0 <= component < d:
        raise SelectionError(
            f"there is no component {component}: there are {d}, counted from 0 to {d - 1}"
        )
    return int(component)


def scatter_by(
    ax: Any, x: NDArray[Any], y: NDArray[Any], colour: ArrayLike | None, of: str
) -> None:
    """Draw points, coloured by a value of each: numbers by a ramp, else a marker a category."""
    if colour is None:
        ax.scatter(x, y, color=HUES[0], s=36, edgecolor="white", linewidth=0.6)
        return
    values = np.asarray(colour)
    if values.shape != (len(x),):
        raise InputError(
            f"colour must have one value for each {of}, shape ({len(x)},), got {values.shape}"
        )
    if values.dtype.kind in "iuf":
        drawn = ax.scatter(x, y, c=values, cmap="viridis", s=36, edgecolor="#444444", linewidth=0.4)
        ax.figure.colorbar(drawn, ax=ax)
        return
    names = list(dict.fromkeys(values.tolist()))  # in the order of the input
    for c, name in enumerate(names):
        mine = np.array([value == name for value in values.tolist()])
        ax.scatter(
            x[mine], y[mine], color=HUES[c % 7], marker=MARKERS[(c + c // 7) % 7], s=36,
            edgecolor="white", linewidth=0.6, label=str(name),
        )  # fmt: skip
    ax.legend(frameon=False)
