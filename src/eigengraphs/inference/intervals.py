"""Standard errors and intervals of loadings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from eigengraphs.embedding import FitView, JointEmbedding
from eigengraphs.errors import InputError, WeakPositionsWarning
from eigengraphs.inference.cross_fitting import (
    N_SPLITS,
    cosines_squared,
    cross_fits,
    halvings,
    numbered,
)
from eigengraphs.inference.loading_variance import LoadingVariance, bernoulli_variances
from eigengraphs.inference.variables import units
from eigengraphs.stack import GraphStack
from eigengraphs.system.randomness import RandomState
from eigengraphs.system.tables import short_repr

__all__ = ["LoadingIntervals", "loading_intervals"]

Array = NDArray[np.float64]
WEAK = 0.8  # squared cosine of positions with the true ones, below which positions are weak
_MOST_VERTICES = 5_000  # a few (n, n) arrays for each graph
_LAWS = ("auto", "bernoulli", "any")


@dataclass(frozen=True, eq=False)
class LoadingIntervals:
    """Loadings with their uncertainty; see :func:`loading_intervals`.

    Attributes
    ----------
    loadings : (m, d)
        The estimate that the intervals are of. With ``cross_fitted``, loadings on positions found
        without the graph: another estimate than ``embedding.loadings_``, which may be outside.
    standard_errors : (m, d)
        Of the loadings.
    covariances : (m, d, d)
        Of the loadings of each graph.
    level : float
        Confidence of the intervals.
    law : str
        "bernoulli" or "any".
    cross_fitted : bool
        Whether loadings are on positions found without the graph.
    alignment : (d,) or None
        Estimated squared cosine of positions with the true ones, by the agreement of
        halves; None without cross-fitting.
    graph_names : tuple of str
        Names of the graphs.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(20, 0.5).sample(8, random_state=0)
    >>> je = eg.JointEmbedding(1, random_state=0).fit(graphs)
    >>> found = eg.inference.loading_intervals(je, graphs, cross_fit=False)
    >>> found.covariances.shape, bool((found.low < found.loadings).all())
    ((8, 1, 1), True)
    """

    loadings: Array
    standard_errors: Array
    covariances: Array
    level: float
    law: str
    cross_fitted: bool
    alignment: Array | None
    graph_names: tuple[str, ...]

    __repr__ = short_repr

    @property
    def low(self) -> Array:
        """Lower ends, (m, d)."""
        return self.loadings - self._reach

    @property
    def high(self) -> Array:
        """Upper ends, (m, d)."""
        return self.loadings + self._reach

    @property
    def weak(self) -> NDArray[np.bool_]:
        """Components with weak positions, c^2 < 0.8, (d,)."""
        if self.alignment is None:
            return np.zeros(self.loadings.shape[1], dtype=bool)
        return np.asarray(self.alignment < WEAK)

    @property
    def _reach(self) -> Array:
        return np.asarray(stats.norm.ppf(0.5 + self.level / 2) * self.standard_errors)


def loading_intervals(
    embedding: JointEmbedding,
    graphs: Any,
    *,
    law: Literal["auto", "bernoulli", "any"] = "auto",
    cross_fit: bool = True,
    groups: ArrayLike | None = None,
    n_folds: int = 10,
    n_splits: int = N_SPLITS,
    level: float = 0.95,
    random_state: RandomState = 0,
) -> LoadingIntervals:
    """Return loadings with standard errors, one graph at a time.

    Entries of a graph are taken to be independent around their means (pairs, in an undirected
    graph). What the interval covers is the graph's loading in the model, not that of another
    graph of the same person.

    Parameters
    ----------
    embedding
        A fit with free loadings, to complete graphs.
    graphs
        The graphs of the fit.
    law
        "bernoulli": 0/1 graphs, whose variances follow from their means. "any": variances by
        squared residuals around their mean over the graphs, whatever the law of the weights.
        "auto": by the graphs.
    cross_fit
        Take the loadings of each graph on positions that were found without it, divided by how
        much these are off (c^2). Costs ``n_folds + 2 n_splits`` fits. Without, positions are taken
        for the true ones: intervals are too narrow where they are weak.
    groups : (m,), optional
        Graphs that belong together, as scans of one person: left out together.
    n_folds, n_splits
        Folds of the cross-fitting, and random halvings for c^2.
    level
        Of the intervals.
    random_state
        Of the halvings.

    Returns
    -------
    LoadingIntervals

    Warns
    -----
    WeakPositionsWarning
        If positions of a component are weak (c^2 < 0.8): loadings may be precise, but of a
        pattern that is known only roughly.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> H = eg.models.paper.SECTION_5_2
    >>> model = eg.models.MultipleRandomEigenGraphs(H, [[25.0, 5.0]] * 40)
    >>> graphs = model.sample(random_state=0)
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> found = eg.inference.loading_intervals(je, graphs, n_splits=2, n_folds=4)
    >>> found.loadings.shape, bool((found.low < found.high).all())
    ((40, 2), True)
    """
    fit = FitView.of(embedding)
    stack = fit.stack(graphs)
    _check(fit, stack, law, level)
    if law == "auto":
        law = "bernoulli" if not fit.aligned(stack).is_weighted else "any"
    if not cross_fit:
        Lam = np.asarray(embedding.transform(stack), dtype=np.float64)
        found = _covariances(fit, stack, Lam, law, np.arange(stack.n_graphs))
        S, unit = (np.stack(each) for each in zip(*found, strict=True))
        return _result(Lam, S, unit, level, law, stack, None)
    together = numbered(groups, stack.n_graphs)
    many = int(together.max()) + 1
    if many < 4:
        raise InputError(
            f"cross-fitting needs at least 4 graphs (or groups of them), got {many}; pass "
            "cross_fit=False"
        )
    n_folds = min(n_folds, many)
    d = embedding.n_components_
    Lam, S = np.empty((stack.n_graphs, d)), np.empty((stack.n_graphs, d, d))
    unit = np.empty(stack.n_graphs)
    for fold in cross_fits(embedding, stack, together, n_folds):
        view, out = FitView.of(fold.embedding), fold.left_out
        every = np.asarray(fold.embedding.transform(stack), dtype=np.float64)
        # Of differences from the mean of all graphs, as in the fit, not of this fold's.
        shown = every if view.treatment.mean is None else every - every.mean(axis=0)
        Lam[out] = shown[np.ix_(out, fold.order)]
        pairs = zip(out, _covariances(view, stack, every, law, out), strict=True)
        for i, (cov, unit[i]) in pairs:
            S[i] = cov[np.ix_(fold.order, fold.order)]
    halves = halvings(embedding, stack, together, n_splits, random_state)
    agreement = np.mean([half.agreement for half in halves], axis=0)
    c2 = cosines_squared(agreement, 1.0 - 1.0 / n_folds, sides=2 if fit.directed else 1)
    weak = [str(k + 1) for k in np.flatnonzero(c2 < WEAK)]
    if weak:
        warnings.warn(
            f"positions of component {', '.join(weak)} are weak: their squared cosine with the "
            "true ones, by the agreement of halves, is c^2 = "
            f"{', '.join(f'{c2[int(k) - 1]:.2f}' for k in weak)}, below {WEAK}. Loadings and "
            "intervals are of the pattern as it was found, which is known only roughly. Use more "
            "graphs, or fewer components",
            WeakPositionsWarning,
            stacklevel=2,
        )
    return _result(Lam / c2, S / np.outer(c2, c2), unit, level, law, stack, c2)


def _result(
    Lam: Array, S: Array, unit: Array, level: float, law: str, stack: GraphStack, c2: Array | None
) -> LoadingIntervals:
    """Put it together; ``S`` is in units (m,) of each graph."""
    se = np.sqrt(np.maximum(np.einsum("ikk->ik", S), 0.0)) * unit[:, None]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        S = S * unit[:, None, None] * unit[:, None, None]
    return LoadingIntervals(Lam, se, S, level, law, c2 is not None, c2, stack.graph_names)


def _covariances(
    fit: FitView, stack: GraphStack, Lam: Array, law: str, which: NDArray[np.intp]
) -> Iterator[tuple[Array, float]]:
    """Yield the covariance of the loadings of some graphs, (d, d), and the unit of these loadings.

    Squares of residuals in other units might overflow or vanish. Residuals are taken around their
    mean over all graphs of the stack: what all graphs share and no component fits is no noise.
    """
    embedding, treatment = fit.embedding, fit.treatment
    H = np.asarray(embedding.latent_positions_, dtype=np.float64)
    right = getattr(embedding, "latent_positions_right_", None)
    G = None if right is None else np.asarray(right, dtype=np.float64)
    positions = LoadingVariance(H, G, fit.gram, treatment.hollow)
    mean: Any = treatment.mean
    base = None if mean is None else _dense(mean)
    n, d = H.shape
    pairs = n * (n - 1) if treatment.hollow else n * n + (n if G is None else 0)
    entries = pairs if G is not None else pairs // 2
    if law == "bernoulli":
        for lam in Lam[which]:
            yield positions.covariance(bernoulli_variances(positions, lam, base)), 1.0
        return
    aligned, m = fit.aligned(stack), len(Lam)
    # Residuals are small by the d loadings that were fitted to them, and by their mean.
    freedom = entries / max(entries - d, 1)
    if m > 1:
        freedom *= m / (m - 1)
        base = sum(_dense(graph) / m for graph in aligned) - positions.means(Lam.mean(axis=0))
    for i in which:
        R = _dense(aligned[int(i)]) - positions.means(Lam[i], base)
        unit = float(units(R.reshape(-1, 1))[0])
        R /= unit
        yield positions.covariance(R * R) * freedom, unit


def _dense(A: Any) -> Array:
    return np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64)


def _check(fit: FitView, stack: GraphStack, law: str, level: float) -> None:
    if law not in _LAWS:
        raise InputError(f"law must be one of {', '.join(map(repr, _LAWS))}, got {law!r}")
    if not 0.0 < level < 1.0:
        raise InputError(f"level must be between 0 and 1, as 0.95, got {level!r}")
    if fit.settings["loadings"] not in ("free", "shared"):
        raise InputError(
            f"intervals are of free loadings, and this fit has {fit.settings['loadings']!r} ones; "
            "fit with loadings='free'"
        )
    if stack.has_missing:
        raise InputError(
            "intervals are of graphs without missing entries; use inference.bootstrap, which "
            "takes these too"
        )
    if stack.n_vertices > _MOST_VERTICES:
        raise InputError(
            f"intervals need arrays of {stack.n_vertices} x {stack.n_vertices}, for at most "
            f"{_MOST_VERTICES} vertices; use inference.bootstrap, or select vertices"
        )
    if law == "bernoulli" and fit.aligned(stack).is_weighted:
        raise InputError("law='bernoulli' is for 0/1 graphs, and these are weighted; use 'any'")
