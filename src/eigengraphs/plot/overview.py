"""The picture of a whole embedding: graphs, groups, vertices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import MissingExtraError
from eigengraphs.plot.axes import HUES

__all__ = ["embedding_figure"]


def embedding_figure(
    embedding: JointEmbedding,
    groups: Sequence[str],
    vertex_groups: Sequence[str],
    title: str,
) -> Any:
    """Draw the graphs by their loadings and the vertices by their positions.

    Parameters
    ----------
    embedding
        A fit with at least two components.
    groups : (m,)
        Group of each graph, for its colour.
    vertex_groups : (n,)
        Group of each vertex; vertices are drawn group by group.
    title
        Heading of the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "report", "drawing a picture") from None
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    figure.suptitle(title, fontsize=12)
    plane, strips, vertices = figure.subplots(1, 3, width_ratios=[1, 1.15, 1.15])
    names, members = np.unique(np.asarray(groups), return_inverse=True)
    _plane(plane, embedding, names, members)
    _strips(strips, embedding, names, members)
    _vertices(figure, vertices, embedding, np.asarray(vertex_groups))
    return figure


def _plane(axes: Any, embedding: JointEmbedding, names: Any, members: NDArray[np.intp]) -> None:
    L, share = embedding.loadings_, embedding.explained_ratio_
    for g, name in enumerate(names):
        mine = members == g
        axes.scatter(*L[mine, :2].T, color=_colour(g), label=name, s=42, edgecolor="white", lw=0.6)
    axes.set(
        title="Graphs: the first two loadings",
        xlabel=f"component 1 (explains {share[0]:.1%})",
        ylabel=f"component 2 (explains {share[1]:.1%})",
    )
    axes.legend(frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _strips(axes: Any, embedding: JointEmbedding, names: Any, members: NDArray[np.intp]) -> None:
    L = embedding.loadings_
    d = L.shape[1]
    standard = (L - L.mean(axis=0)) / np.where(L.std(axis=0) > 0, L.std(axis=0), 1.0)
    width = 0.7 / len(names)
    for g, _ in enumerate(names):
        mine = members == g
        x = np.arange(1, d + 1) + (g - (len(names) - 1) / 2) * width
        axes.plot(x, standard[mine].T, ".", color=_colour(g), ms=5, alpha=0.75)
        axes.hlines(
            standard[mine].mean(axis=0), x - width / 2, x + width / 2, color=_colour(g), lw=2
        )
    axes.axhline(0, color="0.8", lw=0.8, zorder=0)
    axes.set(
        title="Graphs: all loadings by group, bars are means",
        xlabel="component",
        ylabel="loading, standardised",
        xticks=range(1, d + 1),
    )
    axes.spines[["top", "right"]].set_visible(False)


def _vertices(figure: Any, axes: Any, embedding: JointEmbedding, groups: NDArray[Any]) -> None:
    H = embedding.latent_positions_
    order = np.argsort(groups, kind="stable")
    names, first, count = np.unique(groups[order], return_index=True, return_counts=True)
    limit = float(np.quantile(np.abs(H), 0.99)) or 1.0
    image = axes.imshow(
        H[order], aspect="auto", cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest"
    )
    for start in first[1:]:
        axes.axhline(start - 0.5, color="black", lw=0.5)
    axes.set(
        title="Vertices: their latent positions",
        xlabel="component",
        xticks=range(H.shape[1]),
        xticklabels=range(1, H.shape[1] + 1),
        yticks=first + (count - 1) / 2,
        yticklabels=[str(name).replace("_", " ") for name in names],
    )
    figure.colorbar(image, ax=axes, shrink=0.85)


def _colour(g: int) -> str:
    return HUES[g % len(HUES)]
