"""Figures of three panels: an embedding, and a contest of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.embedding import JointEmbedding
from eigengraphs.inference.prediction.label_prediction import CHANCE
from eigengraphs.inference.prediction.method_contest import Contest
from eigengraphs.plot.embedding_plots import HUES, MARKERS
from eigengraphs.system.extras import need
from eigengraphs.system.labels import component_name


def _three_panels(title: str, height: float, **layout: Any) -> tuple[Any, Any]:
    drawing = need("matplotlib.figure", "report", "drawing a picture")
    figure = drawing.Figure(figsize=(13, height), layout="constrained")
    figure.suptitle(title, fontsize=12)
    return figure, figure.subplots(1, 3, **layout)


def embedding_figure(
    embedding: JointEmbedding, groups: Sequence[str], vertex_groups: Sequence[str], title: str
) -> Any:
    """Draw the graphs by their loadings and the vertices by their positions.

    Parameters
    ----------
    embedding
        A fit with at least two components.
    groups : (m,)
        Group of each graph, for its color.
    vertex_groups : (n,)
        Group of each vertex; vertices are drawn group by group.
    title
        Heading of the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (plane, strips, vertices) = _three_panels(title, 4.4, width_ratios=[1, 1.15, 1.15])
    L, share, d = embedding.loadings_, embedding.explained_ratio_, embedding.n_components_
    standard = (L - L.mean(axis=0)) / np.where(L.std(axis=0) > 0, L.std(axis=0), 1.0)
    names, members = np.unique(np.asarray(groups), return_inverse=True)
    width = 0.7 / len(names)
    for g, name in enumerate(names):
        mine, color = members == g, HUES[g % 7]
        plane.scatter(*L[mine, :2].T, color=color, label=name, s=42, edgecolor="white", lw=0.6)
        x = np.arange(1, d + 1) + (g - (len(names) - 1) / 2) * width
        strips.plot(x, standard[mine].T, ".", color=color, ms=5, alpha=0.75)
        means = standard[mine].mean(axis=0)
        strips.hlines(means, x - width / 2, x + width / 2, color=color, lw=2)
    plane.set(
        title="Graphs: the first two loadings",
        xlabel=f"{component_name(0)} (explains {share[0]:.1%})",
        ylabel=f"{component_name(1)} (explains {share[1]:.1%})",
    )
    plane.legend(frameon=False, fontsize=9)
    strips.axhline(0, color="0.8", lw=0.8, zorder=0)
    strips.set(
        title="Graphs: all loadings by group, bars are means",
        xlabel="component",
        ylabel="loading, standardized",
        xticks=range(1, d + 1),
    )
    for axes in (plane, strips):
        axes.spines[["top", "right"]].set_visible(False)
    figure.colorbar(
        _vertices(vertices, embedding, np.asarray(vertex_groups)), ax=vertices, shrink=0.85
    )
    return figure


def _vertices(axes: Any, embedding: JointEmbedding, groups: NDArray[Any]) -> Any:
    """Draw positions as an image with vertices sorted by group, and return the image."""
    H = embedding.latent_positions_
    order = np.argsort(groups, kind="stable")
    names, first, count = np.unique(groups[order], return_index=True, return_counts=True)
    limit = float(np.quantile(np.abs(H), 0.99)) or 1.0
    colors = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    image = axes.imshow(H[order], aspect="auto", interpolation="nearest", **colors)
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
    return image


def contest_figure(contest: Contest, title: str) -> Any:
    """Draw a contest: reconstruction by parameters, scores with intervals, and time.

    Parameters
    ----------
    contest
        What :func:`~eigengraphs.inference.contest` found.
    title
        Heading of the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (explained, scores, seconds) = _three_panels(title, 4.2)
    names, found = [row.method for row in contest.rows], contest.evaluation
    for k, row in enumerate(contest.rows):
        look = {"color": HUES[k % 7], "marker": MARKERS[k % 7], "s": 60}
        if row.explained is not None and row.n_parameters:
            explained.scatter(row.n_parameters, row.explained, label=row.method, **look)
    explained.set(xscale="log", xlabel="parameters", ylabel="share of held-out graphs explained")
    if explained.has_data():
        explained.legend(frameon=False, fontsize=9)
    rules = list(dict.fromkeys(score.rule for score in found.scores if score.rule))
    for r, rule in enumerate(rules):
        mine = [found.score(name, rule) for name in names]
        places = np.arange(len(names)) + 0.24 * (r - (len(rules) - 1) / 2)
        values = np.array([score.score for score in mine])
        ends = np.abs(np.array([[s.low, s.high] for s in mine]).T - values)
        scores.errorbar(values, places, xerr=ends, fmt=MARKERS[r], color=HUES[r], label=rule)
    scores.axvline(found.score(CHANCE).score, color="#444444", lw=1, ls="--", label=CHANCE)
    scores.legend(frameon=False, fontsize=9)
    times = [row.seconds_fit + row.seconds_new for row in contest.rows]
    seconds.barh(range(len(names)), times, color=[HUES[k % 7] for k in range(len(names))])
    for axes, label in ((scores, f"{found.measure} (held out)"), (seconds, "seconds per fold")):
        axes.set(xlabel=label, yticks=range(len(names)), yticklabels=names)
        axes.invert_yaxis()
    return figure
