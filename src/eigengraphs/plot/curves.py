"""The objective by number of components, and loadings over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError
from eigengraphs.plot.axes import HUES, MARKERS, axes_for, check_component

__all__ = ["objective", "timeline"]


def objective(embedding: Any, *, ax: Any = None) -> Any:
    """Draw the sum of squared residuals with 0, 1, ..., d components.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(2, center=True, random_state=0).fit(mice.graphs.log1p())
    >>> eg.plot.objective(je, ax=Figure().subplots()).get_xlabel()
    'number of components'
    """
    check_is_fitted(embedding)
    axes = axes_for(ax)
    path = embedding.objective_path_
    axes.plot(range(len(path)), path, "o-", color=HUES[0])
    axes.set(xlabel="number of components", ylabel="objective (squared residuals)")
    axes.set_xticks(range(0, len(path), max(1, len(path) // 12)))
    axes.set_ylim(bottom=0)
    return axes


def timeline(
    embedding: Any,
    components: Sequence[int] | None = None,
    *,
    times: ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """Draw loadings in the order of the graphs, a line for each component.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    components
        Which components, from 0; all by default.
    times : (m,), optional
        Numbers or dates to draw them at; by default 1, 2, ....
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(2, center=True, random_state=0).fit(mice.graphs.log1p())
    >>> ax = eg.plot.timeline(je, [1], ax=Figure().subplots())
    >>> ax.get_lines()[0].get_label()
    'component 2'
    """
    check_is_fitted(embedding)
    L = embedding.loadings_
    ks = range(L.shape[1]) if components is None else components
    chosen = [check_component(embedding, k) for k in ks]
    x = np.arange(1, len(L) + 1) if times is None else np.asarray(times)
    if x.shape != (len(L),):
        raise InputError(f"times must have shape ({len(L)},), one a graph, got {x.shape}")
    axes = axes_for(ax)
    for place, k in enumerate(chosen):
        axes.plot(
            x, L[:, k], color=HUES[place % 7], marker=MARKERS[place % 7], markersize=4,
            linewidth=1.2, label=f"component {k + 1}",
        )  # fmt: skip
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axes.set(xlabel="graph, in input order" if times is None else "time", ylabel="loading")
    axes.legend(frameon=False)
    return axes
