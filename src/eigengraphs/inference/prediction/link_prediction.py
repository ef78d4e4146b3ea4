"""Which pairs of vertices have an edge, though it was not seen: scores, and how good they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigengraphs.baselines import MultipleASE
from eigengraphs.dimension.choose_components import fit_quietly
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.studies.designs import Array, Indices
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.system.randomness import RandomState, seed_sequence
from eigengraphs.system.tables import short_repr

Flags: TypeAlias = NDArray[np.bool_]

METHODS = (
    "joint", "without the embedding", "embedding alone", "other graphs", "degrees",
    "shared neighbors", "Multiple ASE", "PCA",
)  # fmt: skip
_FOLDS = 5  # in which the observed pairs are hidden in turn, to learn from
_MOST = 3 * 10**7  # entries of all graphs; some twenty arrays of this size are made
# Rounds of a fit: average precision differs from that of a converged one by less than its error.
_ROUNDS, _TOL = 8, 1e-2


@dataclass(frozen=True, eq=False)
class EdgePrediction:
    """Scores of all pairs of vertices; what :func:`predict_edges` returns.

    Attributes
    ----------
    scores : (m, n, n)
        Estimated probability of an edge, from all but the entry itself; nan on the diagonal.
    values : (m, n, n)
        The graphs, with nan for missing entries.
    methods : tuple of str
        ``"joint"`` first, which the scores are of.
    average_precision, auc : (repeats, methods, m)
        On the pairs that were held out, for each repetition, method and graph.
    density : (m,)
        Share of observed pairs that have an edge: average precision by chance.
    graph_names, vertex_names : tuple of str
        Of the graphs.
    is_directed : bool
        Whether a pair has a direction.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> model = eg.models.StochasticBlockModel([[0.8, 0.1], [0.1, 0.8]], [0, 1] * 10)
    >>> found = eg.inference.predict_edges(model.sample(3, random_state=0), max_components=2)
    >>> found.scores.shape, found.average_precision.shape
    ((3, 20, 20), (5, 8, 3))
    >>> rank, graph, s, t, score, known = found.ranking(1)[0]
    >>> (rank, known, (int(s) - int(t)) % 2)  # of one block
    (1, 'no edge', 0)
    """

    scores: Array
    values: Array
    methods: tuple[str, ...]
    average_precision: Array
    auc: Array
    density: Array
    graph_names: tuple[str, ...]
    vertex_names: tuple[str, ...]
    is_directed: bool

    __repr__ = short_repr

    def table(self) -> tuple[tuple[Any, ...], ...]:
        """Return a row for each method and all graphs (``None``) or one of them.

        Method, graph, average precision, AUC, and after each of the two its standard error over
        repetitions (nan for one). All graphs: the mean over graphs, each of which counts the same.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.4).sample(2, random_state=0)
        >>> found = eg.inference.predict_edges(graphs, max_components=1, repeats=2)
        >>> [(method, graph) for method, graph, *_ in found.table()][:3]
        [('joint', None), ('joint', '0'), ('joint', '1')]
        """
        if not len(self.auc):
            return ()
        both = np.stack([self.average_precision, self.auc], axis=-1)
        with_all = np.concatenate([both.mean(axis=2, keepdims=True), both], axis=2)
        repeats = len(both)
        spread = with_all.std(axis=0, ddof=1) if repeats > 1 else np.full_like(with_all[0], np.nan)
        cells = np.stack([with_all.mean(axis=0), spread / np.sqrt(repeats)], axis=-1)
        return tuple(
            (method, graph, *cells[k, i].ravel().tolist())
            for k, method in enumerate(self.methods)
            for i, graph in enumerate((None, *self.graph_names))
        )

    def ranking(self, top: int = 100) -> tuple[tuple[int, str, str, str, float, str], ...]:
        """Return the pairs without an edge that most likely have one, best first.

        Parameters
        ----------
        top
            Number of pairs, of all graphs together.

        Returns
        -------
        tuple
            Rank, graph, vertex, vertex, score, and ``"no edge"`` or ``"missing"``: what is
            known of the pair.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.4).sample(2, random_state=0)
        >>> found = eg.inference.predict_edges(graphs, max_components=1, repeats=1)
        >>> len(found.ranking(5))
        5
        """
        check_count("top", top)
        n = len(self.vertex_names)
        pairs = ~np.eye(n, dtype=bool) if self.is_directed else np.triu(np.ones((n, n), bool), 1)
        unknown = np.isnan(self.values)
        where = np.nonzero(pairs & (unknown | (self.values == 0)))
        best = np.argsort(-self.scores[where], kind="stable")[:top]
        return tuple(
            (rank, self.graph_names[i], self.vertex_names[s], self.vertex_names[t],
             float(self.scores[i, s, t]), "missing" if unknown[i, s, t] else "no edge")
            for rank, (i, s, t) in enumerate(np.transpose(where)[best].tolist(), start=1)
        )  # fmt: skip


def predict_edges(
    graphs: Any,
    *,
    max_components: int = 8,
    hidden: float = 0.1,
    repeats: int = 5,
    random_state: RandomState = 0,
    on_repeat: Callable[[int, int], None] | None = None,
) -> EdgePrediction:
    """Score every pair of vertices in every graph by how likely it has an edge.

    In each graph, a logistic regression on what is known of a pair (s, t) without looking at it:
    its weight in every other graph; the sum of the logarithms of the degrees of s and t; the roots
    of their shared neighbors, sum_u A_su A_ut / degree(u), in this graph and in the sum of all;
    and what 1, 2, 4, ... components of a joint embedding reconstruct there. The embedding is fitted
    five times, each time with another fifth of the pairs of every graph unobserved: so the
    regression learns on hidden pairs how much to trust it, and how many components. A missing
    entry of another graph counts as that graph's mean; in directed graphs, the weight from t to s
    is known as well.

    How good the scores are is tried on pairs that are held out first.

    Parameters
    ----------
    graphs
        A :class:`GraphStack`, or anything it can be made of; two graphs or more, undirected or
        directed. An edge is a weight that is not zero. Loops do not matter, and nan is missing.
    max_components : int
        Largest number of components.
    hidden : float
        Share of the pairs of each graph, of those with and those without an edge, that are held
        out; rounded to one of 1/2, 1/3, 1/4, ....
    repeats : int
        How often, each time with others; 0 to try nothing.
    random_state
        Of the draws of pairs.
    on_repeat
        Called after each repetition with its number, and that of all.

    Returns
    -------
    EdgePrediction
        Scores of all pairs, learned from all observed ones; average precision and AUC on held-out
        pairs, beside the same without the embedding, the embedding alone, the mean of the other
        graphs, products of degrees, shared neighbors, Multiple ASE (zeros for the pairs held
        out) and PCA (the mean of the other graphs for these). Those that have a number of
        components take the one with the best average precision on the same hidden fifths.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> model = eg.models.StochasticBlockModel([[0.8, 0.1], [0.1, 0.8]], [0, 1] * 10)
    >>> found = eg.inference.predict_edges(model.sample(3, random_state=0), max_components=2)
    >>> method, graph, precision, *_ = found.table()[0]
    >>> method, bool(precision > found.density.mean())
    ('joint', True)
    """
    check_count("max_components", max_components)
    if not isinstance(hidden, float) or not 0 < hidden <= 0.5:
        raise InputError(f"hidden must be a share above 0 and at most 0.5, got hidden={hidden!r}")
    if repeats != 0:
        check_count("repeats", repeats)
    stack = _checked(graphs)
    A = np.array(stack, dtype=np.float64)
    pairs = _Pairs(stack.n_vertices, stack.is_directed)
    V = pairs.of(A)
    seen = ~np.isnan(V)
    E = seen & (V != 0)
    counts = np.minimum(E.sum(axis=1), (seen & ~E).sum(axis=1))
    if counts.min() < _FOLDS:
        raise InputError(
            f"every graph must have at least {_FOLDS} pairs with an edge and {_FOLDS} without; "
            f"graph {stack.graph_names[int(counts.argmin())]!r} has fewer; leave it out"
        )
    final, *seeds = seed_sequence(random_state).spawn(repeats + 1)
    found = []
    for r, seed in enumerate(seeds, start=1):
        rng = np.random.default_rng(seed)
        held = _parts(E, seen, round(1 / hidden), rng) == 0
        each = _by_all(pairs, V, seen & ~held, max_components, rng)
        rules = (average_precision_score, roc_auc_score)
        found.append([[_by_graph(rule, E, S, held) for S in each] for rule in rules])
        if on_repeat is not None:
            on_repeat(r, repeats)
    measured = np.array(found).reshape(repeats, 2, len(METHODS), len(V))
    rng = np.random.default_rng(final)
    scores = pairs.matrices(_by_all(pairs, V, seen, max_components, rng, ours_alone=True)[0])
    np.einsum("iss->is", scores)[...] = np.nan
    return EdgePrediction(
        scores, A, METHODS, measured[:, 0], measured[:, 1], E.sum(axis=1) / seen.sum(axis=1),
        stack.graph_names, stack.vertex_names, stack.is_directed,
    )  # fmt: skip


def _checked(graphs: Any) -> GraphStack:
    """Return graphs as a stack in memory."""
    stack = graphs
    if not isinstance(stack, GraphStack):
        stack = GraphStack(stack, copy=False, missing="unobserved")
    m, n, _ = stack.shape
    if m < 2:
        raise InputError("edges are predicted from other graphs, too; give two graphs at least")
    if m * n**2 > _MOST:
        raise InputError(
            f"scores of all pairs of {m} graphs on {n} vertices are {m * n**2:,d} numbers, and at "
            f"most {_MOST:,d} are made; take some of the graphs or vertices"
        )
    return stack.load() if isinstance(stack, BlockedStack) else stack


class _Pairs:
    """The P pairs of different vertices, each once in undirected graphs, and matrices of them."""

    def __init__(self, n: int, directed: bool) -> None:
        self.n, self.directed = n, directed
        upper = np.triu_indices(n, 1)
        self.rows, self.cols = np.nonzero(~np.eye(n, dtype=bool)) if directed else upper

    def of(self, A: Array) -> Array:
        """Return the values (m, P) of matrices (m, n, n)."""
        return A[:, self.rows, self.cols]

    def matrices(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return matrices (m, n, n) with values (m, P) off the diagonal."""
        A = np.zeros((len(values), self.n, self.n), values.dtype)
        A[:, self.rows, self.cols] = values
        if not self.directed:
            A[:, self.cols, self.rows] = values
        return A


def _parts(E: Flags, seen: Flags, count: int, rng: np.random.Generator) -> Indices:
    """Return a part 0, 1, ..., count - 1 for each pair (m, P), -1 where it is not seen.

    In every graph each part has the same share of edges, to one.
    """
    parts = np.full(E.shape, -1)
    for own, edges, known in zip(parts, E, seen, strict=True):
        for kind in (known & edges, known & ~edges):
            own[kind] = rng.permutation(int(kind.sum())) % count
    return parts


# ---------------------------------------------------------------------- scores of each method


def _by_all(
    pairs: _Pairs, V: Array, seen: Flags, most: int, rng: np.random.Generator, *,
    ours_alone: bool = False,
) -> list[Array]:  # fmt: skip
    """Return scores (m, P) of each method, learned from the pairs that are seen."""
    V = np.where(seen, V, 0.0)
    E = V != 0
    folds = _parts(E, seen, _FOLDS, rng)
    sizes = [2**k for k in range(most.bit_length())]
    filled = _filled(V, seen)
    A = pairs.matrices(E.astype(np.float64))
    degrees = A.sum(axis=2)[:, pairs.rows] - E, A.sum(axis=1)[:, pairs.cols] - E  # by others
    shared, in_sum = (pairs.of(_shared(X)) for X in (A, A.sum(axis=0, keepdims=True)))
    known = [np.log1p(degrees[0]) + np.log1p(degrees[1]), np.sqrt(shared)]
    known.append(np.broadcast_to(np.sqrt(in_sum), V.shape))
    if pairs.directed:
        known.append(pairs.of(pairs.matrices(filled).transpose(0, 2, 1)))
    embedded = _unseen(_by_embedding, pairs, V, seen, folds, sizes)
    ours = _learned([*known, *embedded], filled, E, seen)
    if ours_alone:
        return [ours]
    return [
        ours,
        _learned(known, filled, E, seen),
        _best(embedded, E, seen),
        _mean_of_others(filled),
        degrees[0] * degrees[1],
        shared,
        _best(_unseen(_by_mase, pairs, V, seen, folds, sizes), E, seen),
        _best(_unseen(_by_pca, pairs, V, seen, folds, [d for d in sizes if d < len(V)]), E, seen),
    ]


def _filled(V: Array, seen: Flags) -> Array:
    """Return values (m, P), with the mean of its graph for each that is not seen."""
    means = np.where(seen, V, 0.0).sum(axis=1) / seen.sum(axis=1)
    return np.where(seen, V, means[:, None])


def _mean_of_others(filled: Array) -> Array:
    return np.asarray((filled.sum(axis=0) - filled) / (len(filled) - 1))


def _shared(A: Array) -> Array:
    """Return sum_u A_su A_ut / degree(u), (m, n, n)."""
    return np.asarray(A @ (A / np.maximum(A.sum(axis=2, keepdims=True), 1.0)))


def _learned(known: list[Array], filled: Array, E: Flags, seen: Flags) -> Array:
    """Return probabilities (m, P): regressions on the other graphs and on what is known."""
    scores = np.empty(E.shape)
    for i, at in enumerate(seen):
        X = np.column_stack([*np.delete(filled, i, axis=0), *(x[i] for x in known)])
        rule = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        scores[i] = rule.fit(X[at], E[i, at]).predict_proba(X)[:, 1]
    return scores


def _unseen(
    method: Callable[..., list[Array]], pairs: _Pairs, V: Array, seen: Flags, folds: Indices,
    sizes: list[int],
) -> Array:  # fmt: skip
    """Return what a method of each size makes of pairs that it does not see, (sizes, m, P).

    Folds are hidden in turn; a pair that is never seen gets the mean.
    """
    total = np.zeros((len(sizes), *V.shape))
    for k in range(_FOLDS):
        share = np.where(folds == k, 1.0, ~seen / _FOLDS)
        total += share * np.array(method(pairs, V, seen & (folds != k), sizes))
    return total


def _best(by_size: Array, E: Flags, seen: Flags) -> Array:
    """Return the scores (m, P) of the size that is best on pairs that are seen."""
    each = [_by_graph(average_precision_score, E, scores, seen) for scores in by_size]
    return np.asarray(by_size[np.mean(each, axis=1).argmax()])


def _by_graph(rule: Callable[..., float], E: Flags, scores: Array, at: Flags) -> list[float]:
    """Return a measure of scores (m, P) at some pairs of each graph."""
    # PCA of three graphs gives few values: what differs by rounding alone must stay a tie.
    tied = np.round(scores / (np.abs(scores).max() or 1.0), 9)
    return [rule(e[a], s[a]) for e, s, a in zip(E, tied, at, strict=True)]


def _by_embedding(pairs: _Pairs, V: Array, seen: Flags, sizes: list[int]) -> list[Array]:
    graphs = GraphStack(pairs.matrices(np.where(seen, V, 0.0))).hide(pairs.matrices(~seen))
    je = JointEmbedding(
        min(sizes[-1], pairs.n), directed=pairs.directed, missing="unobserved", tol=_TOL,
        max_iter=_ROUNDS, random_state=0,
    )  # fmt: skip
    je = fit_quietly(je, graphs)
    shorter = [je.truncate(min(size, je.n_components_)) for size in sizes]
    return [pairs.of(fit.inverse_transform(fit.loadings_)) for fit in shorter]


def _by_mase(pairs: _Pairs, V: Array, seen: Flags, sizes: list[int]) -> list[Array]:
    zeros = GraphStack(pairs.matrices(np.where(seen, V, 0.0)))
    fits = [MultipleASE(min(d, pairs.n), directed=pairs.directed).fit(zeros) for d in sizes]
    right = "latent_positions_right_" if pairs.directed else "latent_positions_"
    return [pairs.of(fit.latent_positions_ @ fit.scores_ @ getattr(fit, right).T) for fit in fits]


def _by_pca(_: _Pairs, V: Array, seen: Flags, sizes: list[int]) -> list[Array]:
    X = np.where(seen, V, _mean_of_others(_filled(V, seen)))
    mean = X.mean(axis=0)
    U, s, T = np.linalg.svd(X - mean, full_matrices=False)
    return [mean + (U[:, :d] * s[:d]) @ T[:d] for d in sizes]
