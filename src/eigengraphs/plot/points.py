"""Graphs by their loadings, vertices by their positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError
from eigengraphs.plot.axes import axes_for, check_component, scatter_by

__all__ = ["loadings", "positions"]


def loadings(
    embedding: Any,
    components: tuple[int, int] | None = None,
    *,
    colour: ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """Draw each graph by its loadings of two components.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    components
        Two components, from 0. By default the first two; if there is one alone, it is drawn
        against the order of the graphs.
    colour : (m,), optional
        A number or a category of each graph.
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
    >>> ax = eg.plot.loadings(je, colour=mice.genotypes, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['DBA2', 'B6', 'BTBR', 'CAST']
    """
    check_is_fitted(embedding)
    pair = _pair(embedding, components)
    words = [
        f"loading of component {k + 1} (explains {embedding.explained_ratio_[k]:.1%})" for k in pair
    ]
    return _draw(embedding.loadings_, pair, words, "graph", colour, ax)


def positions(
    embedding: Any,
    components: tuple[int, int] | None = None,
    *,
    colour: ArrayLike | None = None,
    side: str = "left",
    ax: Any = None,
) -> Any:
    """Draw each vertex by its positions in two components.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    components
        Two components, from 0. By default the first two; if there is one alone, it is drawn
        against the order of the vertices.
    colour : (n,), optional
        A number or a category of each vertex.
    side : {"left", "right"}
        Of directed graphs: where edges start, or where they end.
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
    >>> ax = eg.plot.positions(je, colour=mice.regions.hemispheres, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'position in component 1'
    """
    check_is_fitted(embedding)
    if side not in ("left", "right"):
        raise InputError(f"side must be 'left' or 'right', got {side!r}")
    H = embedding.latent_positions_
    if side == "right":
        H = getattr(embedding, "latent_positions_right_", None)
        if H is None:
            raise InputError("undirected graphs have one side alone; leave side='left'")
    pair = _pair(embedding, components)
    words = [f"position in component {k + 1}" for k in pair]
    return _draw(H, pair, words, "vertex", colour, ax)


def _pair(embedding: Any, components: Any) -> tuple[int, ...]:
    """Return two components, or the only one."""
    if components is None:
        return tuple(range(min(embedding.n_components_, 2)))
    pair = tuple(components)
    if len(pair) != 2:
        raise InputError(f"components must be two places, got {components!r}")
    return tuple(check_component(embedding, k) for k in pair)


def _draw(
    values: NDArray[Any],
    pair: tuple[int, ...],
    words: list[str],
    of: str,
    colour: ArrayLike | None,
    ax: Any,
) -> Any:
    axes = axes_for(ax)
    if len(pair) == 1:
        x: NDArray[Any] = np.arange(1, len(values) + 1)
        words = [f"{of}, in input order", *words]
    else:
        x = values[:, pair[0]]
    scatter_by(axes, x, values[:, pair[-1]], colour, of)
    axes.set(xlabel=words[0], ylabel=words[1])
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    return axes
