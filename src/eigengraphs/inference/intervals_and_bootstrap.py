"""How precise loadings and positions are: standard errors, intervals and the bootstrap.

Loadings of a graph that was used to find the positions are too large, because positions are biased
towards its noise. Positions from the other graphs are not, but they deviate from the true ones in
all other directions, so that loadings are too small, by c^2 with c the cosine of the two. Positions
from two halves of the graphs err independently: their cosine is about c_half^2, and tan^2 = (1 -
c^2) / c^2 falls as one over the number of graphs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from eigengraphs.alignment.component_pairs import match_components
from eigengraphs.dimension.choose_components import fit_quietly
from eigengraphs.embedding import FitView, JointEmbedding
from eigengraphs.errors import InputError, WeakPositionsWarning
from eigengraphs.inference.studies.designs import (
    Array,
    Indices,
    check_choice,
    check_share,
    numbered,
)
from eigengraphs.stack import GraphStack
from eigengraphs.system.randomness import RandomState, generator
from eigengraphs.system.tables import short_repr

# Components of a half beyond the place of the one that is looked for. With 9 more, c^2 of section
# 5.1 is too large by 0.17, with none too small by 0.18 (and the mice, centered, lose 3 of 5).
_SPARE = 4
N_SPLITS = 6  # halvings
_WEAK = 0.8  # squared cosine of positions with the true ones, below which positions are weak
MOST_VERTICES = 5_000  # a few (n, n) arrays for each graph


# Fits to some of the graphs


def sides_of(fit: Any) -> list[Array]:
    """Return the positions of a fit, (n, d), and for directed graphs those of both sides."""
    names = ("latent_positions_", "latent_positions_right_")
    return [np.asarray(getattr(fit, x), dtype=np.float64) for x in names if hasattr(fit, x)]


@dataclass(frozen=True, eq=False)
class Halving:
    """Fits to two random halves of the graphs, and their components that go with the fit to all.

    Attributes
    ----------
    positions : pair of (n, d)
        Of both fits.
    prices : pair of (d,)
        Factors of p-values for the choice among the components of a half.
    agreement : (d,)
        |cosine| of the two; for directed graphs, the geometric mean of both sides.
    """

    graphs: tuple[GraphStack, GraphStack]
    fits: tuple[Any, Any]
    positions: tuple[Array, Array]
    prices: tuple[Array, Array]
    agreement: Array


def halvings(
    embedding: JointEmbedding,
    graphs: GraphStack,
    groups: Indices,
    n_splits: int,
    random_state: RandomState,
) -> Iterator[Halving]:
    """Fit random halves; ``groups`` (m,) are kept together, numbered from 0.

    Halves are fitted with spare components: what is component 2 of all graphs may be component 4
    of a half. So whether component k is found again does not depend on how many come after it.
    The same halves for the same random state, whatever is done with them: replicability in one
    table is the agreement behind the intervals of another.
    """
    rng, many, d = generator(random_state), int(groups.max()) + 1, embedding.n_components_
    # Refined components change with their number; there, spare ones would change all others.
    K = d if hasattr(embedding, "refinement_") else max(d, min(d + _SPARE, graphs.n_vertices))
    for first in [np.isin(groups, rng.permutation(many)[: many // 2]) for _ in range(n_splits)]:
        stacks = graphs[np.flatnonzero(first)], graphs[np.flatnonzero(~first)]
        a, b = (fit_quietly(embedding, half, n_components=K) for half in stacks)
        (left, price_left), (right, price_right) = (_partners(embedding, half) for half in (a, b))
        pairs = [(x[:, left], y[:, right]) for x, y in zip(sides_of(a), sides_of(b), strict=True)]
        cosines = [np.abs((x * y).sum(axis=0)) for x, y in pairs]
        agreement = np.prod(cosines, axis=0) ** (1.0 / len(pairs))
        yield Halving(stacks, (a, b), pairs[0], (price_left, price_right), agreement)


def _partners(embedding: Any, half: Any) -> tuple[Indices, Array]:
    """Return the component of a half that is most like each of a fit, in turn, and its price.

    The r-th of those that are left has the price r (r + 1): the inverses add up to 1 over all r,
    so that p-values times their prices keep their level whichever is chosen (Bonferroni).
    """
    sides = zip(sides_of(embedding), sides_of(half), strict=True)
    likeness = np.prod([np.abs(x.T @ y) for x, y in sides], axis=0)
    left, order, prices = list(range(likeness.shape[1])), [], []
    for k, row in enumerate(likeness):
        r = int(np.argmax(row[[j for j in left if j <= k + _SPARE]]))
        order.append(left.pop(r))
        prices.append((r + 1.0) * (r + 2.0))
    return np.array(order, dtype=np.intp), np.array(prices)


def cosines_squared(agreement: Array, share: float, *, sides: int = 1) -> Array:
    """Return c^2 of positions from a share of all graphs, by the agreement of halves, (d,).

    For directed graphs, the product of the cosines of both sides.
    """
    half = np.clip(agreement, 1e-3, 1.0)
    return np.asarray((1.0 / (1.0 + (1.0 / half - 1.0) * 0.5 / share)) ** sides)


# Standard errors and intervals of loadings


@dataclass(frozen=True, eq=False)
class LoadingIntervals:
    """Loadings with their uncertainty; see :func:`loading_intervals`.

    Attributes
    ----------
    loadings : (m, d)
        The estimates at the center of the intervals. With ``cross_fitted``, loadings on positions
        found without the graph: a different estimate than ``embedding.loadings_``, which may be
        outside.
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
        return np.asarray(self.alignment < _WEAK)

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

    Entries of a graph are assumed to be independent around their means (pairs, in an undirected
    graph). The interval is for the graph's loading in the model, not for that of another
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
        Compute the loadings of each graph on positions that were found without it, divided by c^2.
        Costs ``n_folds + 2 n_splits`` fits. Without cross-fitting, positions are assumed to be the
        true ones, and intervals are too narrow where positions are weak.
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
    m, d = stack.n_graphs, embedding.n_components_
    _check(fit, stack, law, level)
    if law == "auto":
        law = "any" if fit.aligned(stack).is_weighted else "bernoulli"
    # Squares of residuals in other units might overflow or vanish.
    unit = 1.0 / fit.treatment.scale if law == "any" else 1.0
    fold, c2 = np.zeros(m, dtype=np.intp), None
    if cross_fit:
        together = numbered(groups, m)
        many = int(together.max()) + 1
        if many < 4:
            raise InputError(
                f"cross-fitting needs at least 4 graphs (or groups of them), got {many}; pass "
                "cross_fit=False"
            )
        n_folds = min(n_folds, many)
        fold = together % n_folds
        halves = halvings(embedding, stack, together, n_splits, random_state)
        agreement = np.mean([half.agreement for half in halves], axis=0)
        c2 = cosines_squared(agreement, 1.0 - 1.0 / n_folds, sides=2 if fit.directed else 1)
        weak = np.flatnonzero(c2 < _WEAK)
        if len(weak):
            warnings.warn(
                f"positions of component {', '.join(str(k + 1) for k in weak)} are weak: their "
                "squared cosine with the true ones, by the agreement of halves, is c^2 = "
                f"{', '.join(f'{c:.2f}' for c in c2[weak])}, below {_WEAK}. Loadings and intervals "
                "are of the pattern as it was found, which is known only roughly. Use more graphs, "
                "or fewer components",
                WeakPositionsWarning,
                stacklevel=2,
            )
    Lam, S = np.empty((m, d)), np.empty((m, d, d))
    for f in range(int(fold.max()) + 1):
        out, again, order = np.flatnonzero(fold == f), embedding, np.arange(d)
        if cross_fit:
            again = fit_quietly(embedding, stack[np.flatnonzero(fold != f)], n_components=d)
            order = match_components(embedding, again).order
        view = FitView.of(again)
        every = np.asarray(again.transform(stack), dtype=np.float64)
        # Of differences from the mean of all graphs, as in the fit, not of this fold's.
        centered = cross_fit and view.treatment.mean is not None
        Lam[out] = (every - every.mean(axis=0) if centered else every)[np.ix_(out, order)]
        covariances = _covariances(view, stack, every, law, unit, out)
        S[out] = np.array(list(covariances))[:, order[:, None], order]
    if c2 is not None:
        Lam, S = Lam / c2, S / np.outer(c2, c2)
    se = np.sqrt(np.maximum(np.einsum("ikk->ik", S), 0.0)) * unit
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        S = S * unit * unit
    return LoadingIntervals(Lam, se, S, level, law, cross_fit, c2, stack.graph_names)


def _check(fit: FitView, stack: GraphStack, law: str, level: float) -> None:
    check_choice("law", law, ("auto", "bernoulli", "any"))
    check_share("level", level)
    if fit.settings["loadings"] not in ("free", "shared"):
        raise InputError(
            "intervals are available for free loadings only, and this fit has "
            f"{fit.settings['loadings']!r} ones; fit with loadings='free'"
        )
    if fit.settings["degree_corrected"]:
        raise InputError(
            "intervals are not available for a degree-corrected fit, whose residuals have no "
            "common variance; use inference.bootstrap"
        )
    if stack.has_missing:
        raise InputError(
            "intervals are available only for graphs without missing entries; use "
            "inference.bootstrap, which accepts them"
        )
    if stack.n_vertices > MOST_VERTICES:
        raise InputError(
            f"intervals need arrays of {stack.n_vertices} x {stack.n_vertices}, for at most "
            f"{MOST_VERTICES} vertices; use inference.bootstrap, or select vertices"
        )
    if law == "bernoulli" and fit.aligned(stack).is_weighted:
        raise InputError("law='bernoulli' is for 0/1 graphs, and these are weighted; use 'any'")


def _covariances(
    fit: FitView, stack: GraphStack, Lam: Array, law: str, unit: float, which: Indices
) -> Iterator[Array]:
    """Yield the covariance of the loadings of some graphs in some unit, (d, d).

    Residuals are taken around their mean over all graphs of the stack: what all graphs share and no
    component fits is no noise.
    """
    treatment, hollow = fit.treatment, fit.treatment.hollow
    positions = LoadingVariance(sides_of(fit.embedding), fit.gram, hollow)
    base = None if treatment.mean is None else _dense(treatment.mean)
    if law == "bernoulli":
        for lam in Lam[which]:
            yield positions.covariance(positions.bernoulli_variances(lam, base))
        return
    n, (m, d), aligned = stack.n_vertices, Lam.shape, fit.aligned(stack)
    entries = n * (n - hollow) if fit.directed else n * (n + 1 - 2 * hollow) // 2
    # Residuals are small by the d loadings that were fitted to them, and by their mean.
    freedom = entries / max(entries - d, 1)
    if m > 1:
        freedom *= m / (m - 1)
        base = sum(_dense(graph) / m for graph in aligned) - positions.means(Lam.mean(axis=0))
    for i in which:
        R = (_dense(aligned[int(i)]) - positions.means(Lam[i], base)) / unit
        yield positions.covariance(R * R) * freedom


def _dense(A: Any) -> Array:
    return np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64)


class LoadingVariance:
    """Covariances of loadings, given positions and the variances of the edges.

    Loadings are Lam_i = Gamma^-1 psi_i with psi_ik = h_k^T A_i g_k over the entries that the loss
    counts; entries of A_i are independent, those of an undirected graph come in pairs. With V the
    variances of the entries and u = h_j * h_k (directed: v = g_j * g_k)

        Cov(psi_j, psi_k) = 2 u^T V u - sum_s u_s^2 V_ss    undirected; V has no diagonal if hollow
                          = u^T V v                          directed.

    Parameters
    ----------
    sides : list of (n, d)
        Positions: H, and G for directed graphs.
    Gamma : (d, d)
        Inner products of the components over the entries that the loss counts.
    hollow : bool
        Whether the diagonal is left out.
    """

    def __init__(self, sides: list[Array], Gamma: Array, hollow: bool) -> None:
        self._H, self._G, self._undirected = sides[0], sides[-1], len(sides) == 1
        self._hollow, self._inverse = hollow, np.linalg.pinv(Gamma)
        self._pairs = j, k = np.triu_indices(len(Gamma))
        self._left, self._right = (x[:, j] * x[:, k] for x in (self._H, self._G))

    def covariance(self, V: Array) -> Array:
        """Return Gamma^-1 C Gamma^-1, (d, d), for variances of the entries (n, n)."""
        if self._hollow:
            V = V - np.diag(V.diagonal())
        forms = np.einsum("sp,sp->p", self._left, V @ self._right)
        if self._undirected:
            forms = 2.0 * forms - V.diagonal() @ self._left**2
        C, (j, k) = np.zeros_like(self._inverse), self._pairs
        C[j, k] = C[k, j] = forms
        return np.asarray(self._inverse @ C @ self._inverse.T)

    def means(self, lam: Array, base: Array | None = None) -> Array:
        """Return base + sum_k lam_k h_k g_k^T, (n, n)."""
        P = (self._H * lam) @ self._G.T
        return np.asarray(P if base is None else P + base)

    def bernoulli_variances(self, lam: Array, base: Array | None = None) -> Array:
        """Return variances of the entries of a 0/1 graph with these loadings, (n, n).

        P (1 - P) at estimated P is too small by the variance of P, on average: that is added back.
        It matters in small graphs, where d loadings take a part of the n (n - 1) / 2 entries.
        """
        P = np.clip(self.means(lam, base), 0.0, 1.0)
        V = P * (1.0 - P)
        values, vectors = np.linalg.eigh(self.covariance(V))
        of_P = np.zeros_like(V)
        for value, w in zip(values, vectors.T, strict=True):
            of_P += max(float(value), 0.0) * self.means(w) ** 2
        return np.minimum(V + of_P, 0.25)


# Fits to graphs that might have come instead


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Fits to resampled graphs; see :func:`bootstrap`.

    Signs and order of the components are those of the fit itself.

    Attributes
    ----------
    kind : str
        "graphs" or "model".
    level : float
        Of the intervals.
    positions : (B, n, d)
        Latent positions of each fit; for directed graphs, where edges start.
    positions_right : (B, n, d) or None
        For directed graphs, positions where edges end.
    loadings : (B, m, d)
        "graphs": of the graphs themselves on the positions of each fit. "model": of the
        simulated graphs.
    similarities : (B, d)
        Cosine of each component with that of the fit, without its sign.
    estimate : tuple of (n, d) and (m, d)
        Positions (n, d) and loadings (m, d) of the fit.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(8, random_state=0)
    >>> je = eg.JointEmbedding(1, random_state=0).fit(graphs)
    >>> found = eg.inference.bootstrap(je, graphs, n_resamples=5)
    >>> found.loadings.shape, found.loading_errors.shape, found.similarities.shape
    ((5, 8, 1), (8, 1), (5, 1))
    """

    kind: str
    level: float
    positions: Array
    positions_right: Array | None
    loadings: Array
    similarities: Array
    estimate: tuple[Array, Array]

    __repr__ = short_repr

    @property
    def position_errors(self) -> Array:
        """Standard errors of the positions, (n, d)."""
        return np.asarray(self.positions.std(axis=0, ddof=1))

    @property
    def loading_errors(self) -> Array:
        """Standard errors of the loadings, (m, d)."""
        return np.asarray(self.loadings.std(axis=0, ddof=1))

    def position_interval(self) -> tuple[Array, Array]:
        """Return lower and upper ends for the positions, (n, d) each.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(8, random_state=0)
        >>> je = eg.JointEmbedding(1, random_state=0).fit(graphs)
        >>> found = eg.inference.bootstrap(je, graphs, n_resamples=5)
        >>> low, high = found.position_interval()
        >>> low.shape, bool((low <= high).all())
        ((10, 1), True)
        """
        return self._interval(self.positions, self.estimate[0])

    def loading_interval(self) -> tuple[Array, Array]:
        """Return lower and upper ends for the loadings, (m, d) each.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(8, random_state=0)
        >>> je = eg.JointEmbedding(1, random_state=0).fit(graphs)
        >>> found = eg.inference.bootstrap(je, graphs, n_resamples=5)
        >>> low, high = found.loading_interval()
        >>> low.shape, bool((low <= high).all())
        ((8, 1), True)
        """
        return self._interval(self.loadings, self.estimate[1])

    def _interval(self, drawn: Array, estimate: Array) -> tuple[Array, Array]:
        tail = (1.0 - self.level) / 2
        low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
        if self.kind == "graphs":
            return np.asarray(low), np.asarray(high)
        # Graphs of the model differ from the estimate as the estimate does from the truth, its
        # bias included: ends are mirrored at the estimate.
        return np.asarray(2 * estimate - high), np.asarray(2 * estimate - low)


def bootstrap(
    embedding: JointEmbedding,
    graphs: Any,
    *,
    kind: Literal["graphs", "model"] = "graphs",
    n_resamples: int = 200,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    random_state: RandomState = 0,
    on_fit: Callable[[int, int], None] | None = None,
) -> Bootstrap:
    """Refit resampled graphs, to see how precise loadings and positions are.

    Parameters
    ----------
    embedding
        A fit.
    graphs
        Its graphs.
    kind
        "graphs": draw as many graphs with replacement; shows how positions depend on the sample of
        graphs. "model": simulate all graphs from the fitted MREG with their own loadings (Bernoulli
        edges for 0/1 graphs, else Gaussian ones with the spread of the residuals); shows how
        positions and loadings depend on the noise of edges. For undirected, complete graphs
        that were neither centered nor preprocessed.
    n_resamples
        Number of fits, B.
    groups : (m,), optional
        Graphs that belong together, as scans of one person: drawn together.
    level
        Of the intervals.
    random_state
        Of the draws.
    on_fit
        Called after each fit with the number done, and B.

    Returns
    -------
    Bootstrap
        Positions and loadings of all fits, with standard errors and intervals.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> graphs = mice.graphs.select_vertices(range(40)).log1p()
    >>> je = eg.JointEmbedding(2, random_state=0).fit(graphs)
    >>> found = eg.inference.bootstrap(je, graphs, n_resamples=20)
    >>> found.positions.shape, found.position_errors.shape
    ((20, 40, 2), (40, 2))
    """
    fit = FitView.of(embedding)
    stack = fit.stack(graphs)
    check_choice("kind", kind, ("graphs", "model"))
    if n_resamples < 2:
        raise InputError(f"n_resamples must be at least 2, got {n_resamples}")
    if fit.settings["loadings"] == "class":
        raise InputError("a fit with loadings='class' cannot be resampled; use loadings='free'")
    together = numbered(groups, stack.n_graphs)
    many = int(together.max()) + 1
    if kind == "graphs" and many < 2:
        raise InputError("there is only one graph, or one group of them, to draw from")
    model = _model(fit, stack, groups) if kind == "model" else None
    rng, d, sides = generator(random_state), embedding.n_components_, sides_of(embedding)
    positions, loadings, similar = [], [], []
    for b in range(n_resamples):
        if model is not None:
            drawn = model.sample(random_state=rng, loops=not fit.treatment.hollow)
            again = fit_quietly(embedding, drawn, n_components=d)
            Lam = again.loadings_
        else:
            # A graph that is drawn twice is one with weight 2: fewer graphs to read.
            counts = np.bincount(rng.integers(0, many, many), minlength=many)[together]
            kept = np.flatnonzero(counts)
            again = fit_quietly(embedding, stack[kept], counts[kept], n_components=d)
            Lam = again.transform(stack)
        match = match_components(embedding, again)
        if len(match.order) < d:
            raise InputError("a fit found fewer components than the first; fit with fewer")
        found = np.array(sides_of(again))[:, :, match.order]
        signs = np.where((found * sides).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        positions.append(found * signs)
        loadings.append(np.asarray(Lam, dtype=np.float64)[:, match.order])
        similar.append(match.similarities)
        if on_fit is not None:
            on_fit(b + 1, n_resamples)
    H = np.array(positions)  # (B, sides, n, d)
    estimate = sides[0], np.asarray(embedding.transform(stack), dtype=np.float64)
    right = H[:, 1] if fit.directed else None
    return Bootstrap(kind, level, H[:, 0], right, np.array(loadings), np.array(similar), estimate)


def _model(fit: FitView, stack: GraphStack, groups: ArrayLike | None) -> Any:
    """Return the fitted model of the graphs."""
    if groups is not None:
        raise InputError("groups are drawn together by kind='graphs'; a model simulates each graph")
    if fit.steps:
        raise InputError(
            f"the model describes graphs after {', '.join(fit.steps)} and cannot simulate graphs "
            "before that; preprocess the graphs first, and fit without"
        )
    if fit.settings["degree_corrected"] and stack.is_weighted:
        raise InputError(
            "the model of a degree-corrected fit has no law for weights; use kind='graphs'"
        )
    if stack.has_missing:
        raise InputError("the model simulates complete graphs, and these have missing entries")
    return fit.embedding.to_mreg("gaussian" if stack.is_weighted else "bernoulli")
