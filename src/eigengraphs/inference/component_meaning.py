"""What a component is, which graphs express it, and whether it is more than noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigengraphs.dimension.selection_rules import chance, combined, noise_p_values
from eigengraphs.embedding import FitView, JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.inference.intervals_and_bootstrap import N_SPLITS, halvings, sides_of
from eigengraphs.inference.studies.designs import Array, numbered
from eigengraphs.system.randomness import RandomState
from eigengraphs.system.tables import short_repr


@dataclass(frozen=True)
class ComponentReading:
    """A description of one component; see :func:`read_components`.

    Attributes
    ----------
    number : int
        Number of the component, from 1.
    explained : float
        Share of the sum of squares (around the mean graph, if centered) that it explains when it
        is added.
    spread : float
        Number of vertices over which it is spread, 1 / sum h^4.
    high : tuple of (name, number)
        Vertices on one side with their positions, the strongest first.
    low : tuple of (name, number)
        Vertices on the other side. Within a side, pairs are connected more strongly in graphs with
        a large loading; between the sides, less strongly.
    pairs : tuple of (name, name, number)
        Pairs of vertices that carry it, with their weight in h h^T.
    most : tuple of (name, number)
        Graphs with the largest loadings.
    least : tuple of (name, number)
        Graphs with the smallest loadings.
    replicability : float or None
        Mean cosine, without its sign, of the positions that two halves of the graphs find;
        None if not tested.
    p_not_replicated : float or None
        p-value of "halves agree no more than by chance".
    p_noise : float or None
        p-value of "loadings of held-out graphs are noise around zero"; None for
        directed graphs, degree-corrected fits and graphs with missing entries.
    degenerate : bool
        Whether the data do not determine its loadings.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(20, 0.5).sample(8, random_state=0)
    >>> je = eg.JointEmbedding(1, random_state=0).fit(graphs)
    >>> (first,) = eg.inference.read_components(je, graphs, most=2, n_splits=0)
    >>> first.number, len(first.pairs), first.verdict
    (1, 2, 'not tested')
    """

    number: int
    explained: float
    spread: float
    high: tuple[tuple[str, float], ...]
    low: tuple[tuple[str, float], ...]
    pairs: tuple[tuple[str, str, float], ...]
    most: tuple[tuple[str, float], ...]
    least: tuple[tuple[str, float], ...]
    replicability: float | None
    p_not_replicated: float | None
    p_noise: float | None
    degenerate: bool

    __repr__ = short_repr

    @property
    def verdict(self) -> str:
        """Whether it may be interpreted, in words.

        "replicates"; "not shown to replicate": halves of the graphs find other patterns for it, or
        are too few to tell, so that it should not be interpreted alone; "looks like noise": halves
        agree, and held-out graphs express it, as noise does (both p-values are 1: the median over
        halvings, choice allowed for, is 0.5 or more), which weak patterns may do as well; "means
        nothing": its loadings are not decided by the data.
        """
        if self.degenerate:
            return "means nothing"
        if self.p_not_replicated is None:
            return "not tested"
        if self.p_noise is not None and min(self.p_noise, self.p_not_replicated) >= 1:
            return "looks like noise"
        if max(self.p_not_replicated, self.p_noise or 0.0) > 0.05:
            return "not shown to replicate"
        return "replicates" if (self.replicability or 0.0) >= 0.5 else "not shown to replicate"


@dataclass(frozen=True, eq=False)
class Trust:
    """Evidence for each component, from random halves of the graphs.

    Attributes
    ----------
    replicability : (d,)
        Mean cosine, without its sign, of the positions that two halves find.
    p_not_replicated : (d,)
        Of "halves agree no more than by chance".
    p_noise : (d,) or None
        Of "loadings of held-out graphs are noise around zero".
    """

    replicability: Array
    p_not_replicated: Array
    p_noise: Array | None

    __repr__ = short_repr


def read_components(
    embedding: JointEmbedding,
    graphs: Any,
    *,
    most: int = 8,
    n_splits: int = N_SPLITS,
    groups: ArrayLike | None = None,
    random_state: RandomState = 0,
    on_split: Callable[[int, int], None] | None = None,
) -> tuple[ComponentReading, ...]:
    """Describe every component: its vertices, pairs and graphs, and whether it replicates.

    Parameters
    ----------
    embedding
        A fit.
    graphs
        Its graphs, in any order; after ``partial_fit`` those of all batches.
    most
        Number of vertices of each side, pairs and graphs to name.
    n_splits
        Random halvings of the graphs for :func:`trust_components`; 0 for none.
    groups : (m,), optional
        Graphs that belong together, as scans of one person: kept in one half.
    random_state
        Of the halvings.
    on_split
        Called after each halving, as in :func:`trust_components`.

    Returns
    -------
    tuple of ComponentReading
        One for each component.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> mice = eg.datasets.load_mice()
    >>> je = eg.JointEmbedding(2, random_state=0).fit(mice.graphs.log1p())
    >>> first, second = eg.inference.read_components(je, mice.graphs.log1p(), n_splits=2)
    >>> first.verdict
    'replicates'
    """
    fit = FitView.of(embedding)
    stack = fit.stack(graphs)
    tested: dict[str, Array | None] = dict.fromkeys(
        ("replicability", "p_not_replicated", "p_noise")
    )
    if n_splits:
        tested = vars(trust_components(
            embedding, stack, n_splits=n_splits, groups=groups, random_state=random_state,
            on_split=on_split,
        ))  # fmt: skip
    sides = sides_of(embedding)
    # And not loadings_, which are of the graphs of the fit in their order, or of the last batch.
    Lam = np.asarray(embedding.transform(stack), dtype=np.float64)
    vertices, graph_names = embedding.vertex_names_, stack.graph_names
    found = []
    for k, lam in enumerate(Lam.T):
        h, *others = (side[:, k] for side in sides)
        high, low = (tuple((vertices[s], float(h[s])) for s in side) for side in ends(h, most))
        pairs = strongest_pairs(h, *others, loops=not fit.treatment.hollow, most=most)
        order = np.argsort(-lam, kind="stable")
        largest, smallest = (
            tuple((graph_names[i], float(lam[i])) for i in some[:most])
            for some in (order, order[::-1])
        )
        evidence = {name: None if p is None else float(p[k]) for name, p in tested.items()}
        found.append(
            ComponentReading(
                number=k + 1,
                explained=float(embedding.explained_ratio_[k]),
                spread=float(1.0 / max(float((h**4).sum()), 1e-300)),
                high=high,
                low=low,
                pairs=tuple((vertices[s], vertices[t], weight) for s, t, weight in pairs),
                most=largest,
                least=smallest,
                **evidence,
                degenerate=bool(embedding.degenerate_[k]),
            )
        )
    return tuple(found)


def trust_components(
    embedding: JointEmbedding,
    graphs: Any,
    *,
    n_splits: int = N_SPLITS,
    groups: ArrayLike | None = None,
    random_state: RandomState = 0,
    on_split: Callable[[int, int], None] | None = None,
) -> Trust:
    """Test each component on random halves of the graphs.

    Each half is fitted again, with some more components, and the one most similar to a component
    of the fit is taken; p-values account for this choice. "Not replicated": the positions of the
    two halves have a cosine that vectors with random signs also reach (Chernoff's bound).
    "Noise": loadings of one half on the other half's component have mean zero and the variance of
    random directions with the same sizes of entries. p-values of several halvings are combined by
    twice their median, which holds however they depend on each other.

    Parameters
    ----------
    embedding : JointEmbedding
        A fit.
    graphs
        Its graphs.
    n_splits : int
        Random halvings of the graphs.
    groups : (m,), optional
        Graphs that belong together, as scans of one person: kept in one half.
    random_state : int, Generator, RandomState or None
        Of the halvings.
    on_split : function, optional
        Called after each halving with the number done, and of all.

    Returns
    -------
    Trust
        ``replicability``, ``p_not_replicated`` and ``p_noise``, (d,) each; the last is None for
        directed graphs, degree-corrected fits and graphs with gaps.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(20, 0.5).sample(8, random_state=0)
    >>> je = eg.JointEmbedding(1, random_state=0).fit(graphs)
    >>> found = eg.inference.trust_components(je, graphs, n_splits=1)
    >>> bool(found.replicability[0] > 0.9)
    True
    """
    fit = FitView.of(embedding)
    stack = fit.stack(graphs)
    if fit.settings["loadings"] == "class":
        raise InputError(
            "components of a fit with loadings='class' depend on the classes, and are not tested "
            "on halves; fit with loadings='free'"
        )
    together = numbered(groups, stack.n_graphs)
    if together.max() < 3:
        many = together.max() + 1
        raise InputError(f"halves need at least 4 graphs (or groups of them), got {many}")
    plain = not fit.directed and not fit.settings["degree_corrected"]
    testable = plain and not stack.has_missing
    rng = np.random.default_rng(0)  # of signs that are turned; halves are by random_state alone
    cosines, p_same, p_noise = [], [], []
    for b, half in enumerate(halvings(embedding, stack, together, n_splits, random_state)):
        places = half.positions
        cosines.append(half.agreement)
        same = [chance(x) for x in (places[0] * places[1]).T]
        p_same.append(np.array(same) * half.prices[0] * half.prices[1])
        for own, other in ((0, 1), (1, 0)) if testable else ():
            # Seen as the fit to these very graphs sees them: centered by a mean of their own.
            view, n_training = FitView.of(half.fits[other]), half.graphs[own].n_graphs
            held_out = view.aligned(half.graphs[other])
            p = noise_p_values(view.treatment, held_out, places[own], n_training, rng)
            p_noise.append(p * half.prices[own])
        if on_split is not None:
            on_split(b + 1, n_splits)
    return Trust(
        np.mean(cosines, axis=0),
        combined(np.array(p_same)),
        combined(np.array(p_noise)) if testable else None,
    )


def ends(h: Array, most: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the vertices with the largest positive positions, and with the most negative ones."""
    order = np.argsort(-h, kind="stable")
    high = tuple(int(s) for s in order[:most] if h[s] > 0)
    low = tuple(int(s) for s in order[::-1][:most] if h[s] < 0)
    return high, low


def strongest_pairs(
    h: Array, g: Array | None = None, *, loops: bool, most: int
) -> list[tuple[int, int, float]]:
    """Return the pairs with the largest |h_s h_t| (s < t), or |h_s g_t|, the largest first.

    They are among the first most + 1 vertices by |h|, and by |g|: a vertex further down is beaten
    by all pairs of those above it with the same other vertex.
    """
    right = h if g is None else g
    s, t = (np.argsort(-np.abs(x), kind="stable")[: most + 1].tolist() for x in (h, right))
    pairs = [
        (a, b, float(h[a] * right[b]))
        for a, b in product(s, t)
        if h[a] * right[b] != 0.0 and ((loops and a == b) or (a < b if g is None else a != b))
    ]
    return sorted(pairs, key=lambda pair: (-abs(pair[2]), pair[0], pair[1]))[:most]
