"""Plots of an embedding with matplotlib (extra ``report``); each draws on ``ax`` and returns it.

Nothing is sorted: graphs and vertices stay in the order of the input. Components are counted from
0 in arguments, as columns are, and from 1 in what is drawn, as in a report.

>>> from matplotlib.figure import Figure
>>> import eigengraphs as eg
>>> mice = eg.datasets.load_mice()
>>> je = eg.JointEmbedding(3, center=True, random_state=0).fit(mice.graphs.log1p())
>>> ax = eg.plot.loadings(je, (0, 2), color=mice.genotypes, ax=Figure().subplots())
>>> ax.get_ylabel()
'loading of component 3 (explains 3.3%)'
>>> ax.figure.savefig("mice.png")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import InputError, SelectionError
from eigengraphs.system.extras import need
from eigengraphs.system.labels import component_name

__all__ = [
    "components", "edge_effects", "heatmap", "loadings", "objective", "positions", "timeline",
    "trajectories",
]  # fmt: skip

# Distinguishable for color-blind readers as well (Okabe and Ito), and a marker for each.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8a6100", "#56B4E9", "#444444")
MARKERS = ("o", "^", "s", "D", "v", "P", "*")
_NAMED = 60  # vertices; more names than that are illegible


def loadings(
    embedding: Any,
    components: tuple[int, int] | None = None,
    *,
    color: ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """Draw each graph by its loadings of two components.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    components
        Two components, from 0. By default the first two; if there is only one, it is drawn
        against the order of the graphs.
    color : (m,), optional
        A number or a category for each graph.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(2, center=True, random_state=0).fit(mice.graphs.log1p())
    >>> ax = eg.plot.loadings(je, color=mice.genotypes, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['DBA2', 'B6', 'BTBR', 'CAST']
    """
    pair = _pair(embedding, components)
    names = [f"loading of {_explaining(embedding, k)}" for k in pair]
    return _points(embedding.loadings_, pair, names, "graph", color, ax)


def positions(
    embedding: Any,
    components: tuple[int, int] | None = None,
    *,
    color: ArrayLike | None = None,
    side: str = "left",
    ax: Any = None,
) -> Any:
    """Draw each vertex by its positions in two components.

    Parameters
    ----------
    embedding
        A fitted :class:`~eigengraphs.JointEmbedding`.
    components
        Two components, from 0. By default the first two; if there is only one, it is drawn
        against the order of the vertices.
    color : (n,), optional
        A number or a category for each vertex.
    side : {"left", "right"}
        For directed graphs: where edges start, or where they end.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(2, center=True, random_state=0).fit(mice.graphs.log1p())
    >>> ax = eg.plot.positions(je, color=mice.regions.hemispheres, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'position in component 1'
    """
    pair = _pair(embedding, components)
    if side not in ("left", "right"):
        raise InputError(f"side must be 'left' or 'right', got {side!r}")
    H = embedding.latent_positions_
    if side == "right":
        H = getattr(embedding, "latent_positions_right_", None)
        if H is None:
            raise InputError("undirected graphs have only one side; leave side='left'")
    names = [f"position in {component_name(k)}" for k in pair]
    return _points(H, pair, names, "vertex", color, ax)


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
        An array or sparse array: a graph, a reconstruction, a residual. nan is gray.
    names : (n,), optional
        Names of the vertices, written on the axes if there are at most 60.
    limit : float, optional
        Value of the darkest red. By default the 99.5 % quantile of the magnitudes, so that one
        large entry does not make all others pale.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The axes.

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
        raise InputError(f"names must have length {len(A)}, one per vertex, got {len(names)}")
    axes = _axes(ax)
    if limit is None:
        sizes = np.abs(A[np.isfinite(A)]) if np.isfinite(A).any() else np.ones(1)
        limit = float(np.quantile(sizes, 0.995)) or float(sizes.max()) or 1.0
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
    """Draw a component as the matrix h h^T (directed: h g^T), vertices in input order.

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
        The axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(2, center=True, random_state=0).fit(mice.graphs.log1p())
    >>> eg.plot.components(je, 1, ax=Figure().subplots()).get_title()
    'component 2 (explains 5.2%)'
    """
    k = _checked(embedding, component)
    H = embedding.latent_positions_
    G = getattr(embedding, "latent_positions_right_", H)
    names = embedding.vertex_names_
    axes = heatmap(np.outer(H[:, k], G[:, k]), names=names, limit=limit, ax=ax)
    axes.set_title(_explaining(embedding, k))
    return axes


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
        The axes.

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
    axes = _axes(ax)
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
    """Draw loadings in the order of the graphs, one line per component.

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
        The axes.

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
    chosen = range(L.shape[1]) if components is None else components
    chosen = [_checked(embedding, k) for k in chosen]
    x = np.arange(1, len(L) + 1) if times is None else np.asarray(times)
    if x.shape != (len(L),):
        raise InputError(f"times must have shape ({len(L)},), one per graph, got {x.shape}")
    axes = _axes(ax)
    for place, k in enumerate(chosen):
        axes.plot(
            x, L[:, k], color=HUES[place % 7], marker=MARKERS[place % 7], markersize=4,
            linewidth=1.2, label=component_name(k),
        )  # fmt: skip
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axes.set(xlabel="graph, in input order" if times is None else "time", ylabel="loading")
    axes.legend(frameon=False)
    return axes


def trajectories(found: Any, component: int = 0, *, ax: Any = None) -> Any:
    """Draw loadings of each person over time as thin lines, and mean lines of groups with bands.

    Parameters
    ----------
    found
        What :func:`eigengraphs.inference.trajectories` returns.
    component
        Which of its components, from 0.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> import eigengraphs as eg
    >>> person, year = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
    >>> Lam = np.random.default_rng(0).normal(size=(48, 2)) + 0.5 * year[:, None]
    >>> found = eg.inference.trajectories(Lam, year, person, name="year")
    >>> ax = eg.plot.trajectories(found, 1, ax=Figure().subplots())
    >>> ax.get_xlabel(), len(ax.get_lines())
    ('year', 13)
    """
    if not 0 <= component < len(found.components):
        raise SelectionError(
            f"there is no component {component}: there are {len(found.components)}, counted from 0"
        )
    axes = _axes(ax)
    for person in np.unique(found.person):
        mine = np.flatnonzero(found.person == person)
        mine = mine[np.argsort(found.times[mine], kind="stable")]
        hue = HUES[found.membership[mine[0]] % 7]
        axes.plot(found.times[mine], found.loadings[mine, component], color=hue, lw=0.6, alpha=0.45)
    for g, line in enumerate(zip(*found.line(component), strict=True)):
        times, means, low, high = line
        axes.fill_between(times, low, high, color=HUES[g % 7], alpha=0.2, linewidth=0)
        axes.plot(times, means, color=HUES[g % 7], linewidth=2.2,
                  label=found.levels[g] if found.levels else None)  # fmt: skip
    if found.levels:
        axes.legend(frameon=False, title=found.group, loc="upper left", bbox_to_anchor=(1, 1))
    axes.set(xlabel=found.time, ylabel=f"loading of {found.components[component]}")
    return axes


def edge_effects(
    found: Any, of: str = "pattern", *, named: bool = False, limit: Any = None, ax: Any = None
) -> Any:
    """Draw the effect on each edge as a matrix, regions by their network, or the largest first.

    Parameters
    ----------
    found
        What :func:`eigengraphs.inference.edge_effects` returns.
    of : {"pattern", "weights"}
        Effect on the weights that the components reconstruct, or on the weights themselves.
    named : bool
        Leave out edges that are not named.
    limit : float, optional
        As of :func:`heatmap`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(2, preprocess="log1p", center=True, random_state=0).fit(mice.graphs)
    >>> found = eg.inference.edge_effects(
    ...     je, mice.sexes, networks=mice.regions.blocks, name="sex", random_state=0)
    >>> print(eg.plot.edge_effects(found, ax=Figure().subplots()).get_title())
    effect of sex on the pattern
    (male minus female)
    """
    A, regions = found.matrix(of), found.pattern["edges"]
    if named:
        keep = np.zeros(A.shape, dtype=bool)
        keep[regions.first, regions.second] = found.named()
        A = np.where(keep if found.directed else keep | keep.T, A, 0.0)
    codes, names = found.network_of, found.network_names
    if names:
        order = np.argsort(np.where(codes < 0, len(names), codes), kind="stable")
    else:
        effect = found.matrix()
        order = np.argsort(-np.abs(effect).sum(axis=0) - np.abs(effect).sum(axis=1), kind="stable")
    vertices = [found.vertex_names[s] for s in order]
    axes = heatmap(A[np.ix_(order, order)], names=None if names else vertices, limit=limit, ax=ax)
    sizes = np.array([(codes == k).sum() for k in range(len(names))])
    ends = np.cumsum(sizes)
    for end in ends:
        axes.axhline(end - 0.5, color="0.6", linewidth=0.6)
        axes.axvline(end - 0.5, color="0.6", linewidth=0.6)
    if names:
        axes.set_xticks(ends - sizes / 2 - 0.5, names, rotation=90, fontsize=7)
        axes.set_yticks(ends - sizes / 2 - 0.5, names, fontsize=7)
    axes.set(xlabel="vertices by network" if names else "vertices, the largest effects first")
    if named and not A.any():
        axes.text(0.5, 0.5, "no edge is named", transform=axes.transAxes, ha="center")
    image, one = axes.get_images()[0], len(regions.estimates.names) == 1
    if not one:  # shares are not negative
        image.set(cmap="Reds", clim=(0, image.get_clim()[1]))
    image.colorbar.set_label("effect on the weights" if one else found.effect_name)
    title = fill(f"effect of {found.group} on the {of}{' of named edges' * named}", 52)
    axes.set_title(title + f"\n({found.compared})" * (one and bool(found.compared)), fontsize=10)
    return axes


# ------------------------------------------------------------------ what plots share


def _axes(ax: Any) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    return need("matplotlib.pyplot", "report", "drawing a picture").subplots()[1]


def _checked(embedding: Any, component: int) -> int:
    """Return a component's place, or say which there are."""
    check_is_fitted(embedding)
    d = embedding.n_components_
    if isinstance(component, bool) or not isinstance(component, int | np.integer):
        raise InputError(f"a component is given by its index, from 0; got {component!r}")
    if not 0 <= component < d:
        raise SelectionError(
            f"there is no component {component}: there are {d}, counted from 0 to {d - 1}"
        )
    return int(component)


def _pair(embedding: Any, components: Any) -> list[int]:
    """Return two components, or the only one."""
    check_is_fitted(embedding)
    if components is None:
        return list(range(min(embedding.n_components_, 2)))
    if len(tuple(components)) != 2:
        raise InputError(f"components must be two indices, got {components!r}")
    return [_checked(embedding, k) for k in components]


def _explaining(embedding: Any, k: int) -> str:
    return f"{component_name(k)} (explains {embedding.explained_ratio_[k]:.1%})"


def _points(
    values: NDArray[Any], pair: list[int], names: list[str], of: str, color: Any, ax: Any
) -> Any:
    """Draw one point per row, colored by a number (a ramp) or a category (a marker each)."""
    if color is not None and np.shape(color) != (len(values),):
        raise InputError(
            f"color must have one value for each {of}, shape ({len(values)},), got "
            f"{np.shape(color)}"
        )
    axes = _axes(ax)
    x, y = values[:, pair[0]], values[:, pair[-1]]
    if len(pair) == 1:
        x, names = np.arange(1, len(values) + 1), [f"{of}, in input order", *names]
    if color is None:
        axes.scatter(x, y, color=HUES[0], s=36, edgecolor="white", linewidth=0.6)
    elif np.asarray(color).dtype.kind in "iuf":
        drawn = axes.scatter(x, y, c=color, cmap="viridis", s=36, edgecolor="#444444", lw=0.4)
        axes.figure.colorbar(drawn, ax=axes)
    else:
        categories = np.asarray(color).tolist()
        for c, name in enumerate(dict.fromkeys(categories)):  # in the order of the input
            mine = np.array([value == name for value in categories])
            axes.scatter(
                x[mine], y[mine], color=HUES[c % 7], marker=MARKERS[(c + c // 7) % 7], s=36,
                edgecolor="white", linewidth=0.6, label=str(name),
            )  # fmt: skip
        axes.legend(frameon=False)
    axes.set(xlabel=names[0], ylabel=names[1])
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    return axes
