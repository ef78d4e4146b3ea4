"""How loadings and positions would vary: graphs drawn again, or made again by the fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigengraphs.alignment.component_pairs import match_components
from eigengraphs.embedding import FitView, JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference.cross_fitting import numbered, refit
from eigengraphs.stack import GraphStack
from eigengraphs.system.randomness import RandomState, generator
from eigengraphs.system.tables import short_repr

__all__ = ["Bootstrap", "bootstrap"]

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[GraphStack, NDArray[np.intp] | None]]
_KINDS = ("graphs", "model")


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Fits to graphs that might have come instead; see :func:`bootstrap`.

    Signs and order of the components are those of the fit itself.

    Attributes
    ----------
    kind : str
        "graphs" or "model".
    level : float
        Of the intervals.
    positions : (B, n, d)
        Latent positions of each fit; directed graphs: from where edges go.
    positions_right : (B, n, d) or None
        Where edges end, of directed graphs.
    loadings : (B, m, d)
        "graphs": of the graphs themselves on the positions of each fit. "model": of the
        graphs that the model made.
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
    """Fit again and again, to see how far loadings and positions can be relied on.

    Parameters
    ----------
    embedding
        A fit.
    graphs
        Its graphs.
    kind
        "graphs": draw graphs with replacement, each time as many as there are; says how positions
        depend on which graphs were seen. "model": let the fitted MREG make all graphs anew with
        their own loadings (Bernoulli edges for 0/1 graphs, else Gaussian ones with the spread of
        the residuals); says how both depend on the noise of edges. For undirected, complete graphs
        that were neither centred nor preprocessed.
    n_resamples
        Number of fits, B.
    groups : (m,), optional
        Graphs that belong together, as scans of one person: drawn together.
    level
        Of the intervals.
    random_state
        Of the draws.
    on_fit
        Told after each fit: how many are done, and B.

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
    if kind not in _KINDS:
        raise InputError(f"kind must be one of {', '.join(map(repr, _KINDS))}, got {kind!r}")
    if n_resamples < 2:
        raise InputError(f"n_resamples must be at least 2, got {n_resamples}")
    if fit.settings["loadings"] == "class":
        raise InputError("a fit with loadings='class' cannot be drawn again; fit with 'free' ones")
    draw = _from_graphs(stack, groups) if kind == "graphs" else _from_model(fit, stack, groups)
    rng = generator(random_state)
    positions, right, loadings, similar = [], [], [], []
    for b in range(n_resamples):
        drawn, weights = draw(rng)
        again = refit(embedding, drawn, weights)
        match = match_components(embedding, again)
        if len(match.order) < embedding.n_components_:
            raise InputError("a fit found fewer components than the first; fit with fewer")
        positions.append(match.apply(again.latent_positions_))
        if fit.directed:
            both = _signs(embedding, again, match.order)
            right.append(np.asarray(again.latent_positions_right_)[:, match.order] * both)
        own = again.loadings_ if kind == "model" else again.transform(stack)
        loadings.append(np.asarray(own, dtype=np.float64)[:, match.order])
        similar.append(match.similarities)
        if on_fit is not None:
            on_fit(b + 1, n_resamples)
    H = np.asarray(embedding.latent_positions_, dtype=np.float64)
    return Bootstrap(
        kind,
        level,
        np.array(positions, dtype=np.float64),
        np.array(right, dtype=np.float64) if right else None,
        np.array(loadings),
        np.array(similar),
        (H, np.asarray(embedding.transform(stack), dtype=np.float64)),
    )


def _signs(embedding: Any, again: Any, order: NDArray[np.intp]) -> Array:
    """Return signs of the right positions, (d,)."""
    G = np.asarray(embedding.latent_positions_right_)
    cosines = (G * np.asarray(again.latent_positions_right_)[:, order]).sum(axis=0)
    return np.where(cosines < 0, -1.0, 1.0)


def _from_graphs(stack: GraphStack, groups: ArrayLike | None) -> Draw:
    together = numbered(groups, stack.n_graphs)
    many = int(together.max()) + 1
    if many < 2:
        raise InputError("there is but one graph, or one group of them, to draw from")

    def draw(rng: np.random.Generator) -> tuple[GraphStack, NDArray[np.intp] | None]:
        # A graph that is drawn twice is one with weight 2: fewer graphs to read.
        counts = np.bincount(rng.integers(0, many, many), minlength=many)[together]
        kept = np.flatnonzero(counts)
        return stack[kept], counts[kept]

    return draw


def _from_model(fit: FitView, stack: GraphStack, groups: ArrayLike | None) -> Draw:
    if groups is not None:
        raise InputError("groups are drawn together by kind='graphs'; the model makes all graphs")
    if fit.steps:
        raise InputError(
            f"the model is of graphs after {', '.join(fit.steps)}, which cannot be made again "
            "before it; preprocess the graphs first, and fit without"
        )
    if stack.has_missing:
        raise InputError("the model makes complete graphs, and these have missing entries")
    model = fit.embedding.to_mreg("gaussian" if stack.is_weighted else "bernoulli")
    loops = not fit.treatment.hollow

    def draw(rng: np.random.Generator) -> tuple[GraphStack, NDArray[np.intp] | None]:
        return model.sample(random_state=rng, loops=loops), None

    return draw
