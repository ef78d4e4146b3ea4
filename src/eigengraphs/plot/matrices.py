"""Matrices as heat maps, in input order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigengraphs.errors import InputError
from eigengraphs.plot.axes import axes_for, check_component

__all__ = ["components", "heatmap"]

_NAMED = 60  # vertices; more names than that are one smear


def heatmap(
    matrix: ArrayLike | sparse.sparray,
    *,
    names: Sequence[str] | None = None,
    limit: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw a matrix: blue below zero, white at zero, red above, rows from the top.

    Parameters
    ----------
    matrix : (n, n)
        An array or sparse array: a graph, a reconstruction, a residual. nan is grey.
    names : (n,), optional
        Names of the vertices, written on the axes if there are at most 60.
    limit : float, optional
        Value of the darkest red. By default what all but one in 200 magnitudes stay below, so that
        one large entry does not bleach all others.
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
    >>> ax = eg.plot.heatmap(mice.graphs.log1p()["sub-54776"], ax=Figure().subplots())
    >>> ax.get_images()[0].get_array().shape
    (332, 332)
    """
    given: Any = matrix
    A = np.asarray(given.toarray() if hasattr(given, "toarray") else given, dtype=np.float64)
    if A.ndim != 2:
        raise InputError(f"a heat map is drawn of a matrix, got an array of shape {A.shape}")
    if names is not None and len(names) != len(A):
        raise InputError(f"names must have length {len(A)}, one a vertex, got {len(names)}")
    axes = axes_for(ax)
    if limit is None:
        sizes = np.abs(A[np.isfinite(A)])
        limit = float(np.quantile(sizes, 0.995)) if sizes.size else 1.0
        limit = limit or (float(sizes.max()) if sizes.size else 1.0) or 1.0
    axes.set_facecolor("0.85")
    image = axes.imshow(A, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
    axes.figure.colorbar(image, ax=axes, extend="both")
    if names is not None and len(names) <= _NAMED:
        axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
        axes.set_yticks(range(len(names)), names, fontsize=6)
    return axes


def components(
    embedding: Any, component: int = 0, *, limit: float | None = None, ax: Any = None
) -> Any:
    """Draw a component as the matrix h h^T (of directed graphs h g^T), vertices in input order.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    component
        Which, from 0.
    limit
        As of :func:`heatmap`.
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
    >>> eg.plot.components(je, 1, ax=Figure().subplots()).get_title()
    'component 2 (explains 5.2%)'
    """
    k = check_component(embedding, component)
    h = embedding.latent_positions_[:, k]
    g = getattr(embedding, "latent_positions_right_", embedding.latent_positions_)[:, k]
    names = embedding.vertex_names_
    axes = heatmap(np.outer(h, g), names=names, limit=limit, ax=ax)
    share = embedding.explained_ratio_[k]
    axes.set_title(f"component {k + 1} (explains {share:.1%})")
    return axes
