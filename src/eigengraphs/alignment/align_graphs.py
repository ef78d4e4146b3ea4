"""``align``: graphs with vertices in unknown orders, matched to one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from eigengraphs.alignment.graph_matching import Array, Match, Order, Start, match, standardize
from eigengraphs.errors import AlignmentError, InputError, in_front
from eigengraphs.stack import GraphStack
from eigengraphs.stack.build import StorageRule, check_choice
from eigengraphs.stack.names import one_place, places
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.system.randomness import RandomState, seed_sequence

_NO_SEEDS = np.empty((0, 2), dtype=np.intp)


@dataclass(frozen=True, repr=False)
class Alignment:
    """Graphs put into the order of a reference; see :func:`~eigengraphs.align`.

    Attributes
    ----------
    stack : GraphStack
        The graphs, all with their vertices in the order of the reference.
    permutations : (m, n)
        ``permutations[i, s]`` is the vertex of graph i (its index in the given order) that
        corresponds to vertex s of the reference:
        ``stack[i] = given[i][p][:, p]`` with ``p = permutations[i]``.
    score : (m,)
        Correlation of the weights of graph and reference, off the diagonal (and of loops, centered
        apart): the inner product of the matched graphs relative to their norms. 1 is the same
        graph. Unrelated graphs have more than 0, because the best matching is taken.
    score_before : (m,)
        The same in the given order.
    confidence : (m, n)
        Confidence in the match of each vertex, in [0, 1]: a product of two shares.

        - Agreement: the share of starts with the same match. If the score is beyond chance (more
          than 1.5 sqrt(4 (log n - 1) / n), or 1.5 sqrt(2 (log n - 1) / n) for directed graphs),
          starts that did not come within 5 % of it failed, and do not count.
        - Certainty: 1 / (1 + sum_t exp(-l_st)), where l_st is the logarithm of the likelihood
          ratio of this matching and the one with s and t swapped, if weights were normal with the
          correlation found. Two vertices with the same edges have at most 1/2 each.

        It considers only single swaps and other starts: a matching that is wrong as a
        whole can have high confidence if all starts end in it, or with ``n_init=1``. Near chance it
        is lower than the share of correct matches. Seeds, and all vertices of a reference that is
        one of the graphs, have 1; all others 0 in a graph whose weights are all the same.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> A = eg.models.ErdosRenyi(8, 0.5).sample(1, random_state=0)[0]
    >>> found = eg.align([A, A[::-1, ::-1]], random_state=0)
    >>> found.score.round(3), bool(found.moved[0].any())
    (array([1., 1.]), False)
    """

    stack: GraphStack
    permutations: Order
    score: NDArray[np.float64]
    score_before: NDArray[np.float64]
    confidence: NDArray[np.float64]

    @property
    def moved(self) -> NDArray[np.bool_]:
        """Which vertices were not where they were put, (m, n)."""
        return np.asarray(self.permutations != np.arange(self.permutations.shape[1]))

    def uncertain(self, threshold: float = 0.5) -> NDArray[np.bool_]:
        """Return which matches have a confidence below ``threshold``, (m, n).

        Parameters
        ----------
        threshold : float
            From 0 to 1.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> A = eg.models.ErdosRenyi(8, 0.5).sample(1, random_state=0)[0]
        >>> found = eg.align([A, A[::-1, ::-1]], random_state=0)
        >>> found.uncertain(0.9).shape
        (2, 8)
        """
        number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold <= 1:
            raise InputError(f"threshold must be a number from 0 to 1, got threshold={threshold!r}")
        return np.asarray(self.confidence < threshold)

    def __repr__(self) -> str:
        m, n = self.permutations.shape
        return (
            f"Alignment({m} graphs, {n} vertices, {int(self.moved.sum())} of {m * n} vertices "
            f"moved, {int(self.uncertain().sum())} uncertain, mean score "
            f"{self.score_before.mean():.3f} -> {self.score.mean():.3f})"
        )


def align(
    graphs: Any,
    reference: Any = 0,
    *,
    seeds: Any = None,
    init: Start = "auto",
    n_init: int = 6,
    preprocess: Any = None,
    max_iter: int = 50,
    max_rounds: int = 5,
    max_vertices: int = 3000,
    random_state: RandomState = None,
) -> Alignment:
    """Put graphs whose vertices are in unknown orders into the order of a reference.

    Each graph is matched to the reference by quadratic assignment: from several starts, the FAQ
    algorithm (``scipy.optimize.quadratic_assignment``) looks for the order of its vertices in
    which its weights correlate best with those of the reference; then pairs of vertices are
    swapped as long as that helps, and the best of all starts is kept.

    Parameters
    ----------
    graphs : GraphStack, or whatever makes one
        Weighted or not, directed or not, dense or sparse. One graph at a time is made dense.
        All must have the same number of vertices; vertex names are not used for matching.
    reference : int, str, "mean" or one graph
        Place or name of a graph of the stack; or a graph that is not in it, with as many
        vertices. With "mean" each graph is matched to the mean of all others, repeatedly
        until nothing moves: for orders that are mostly right. Where orders are not known
        at all, the mean holds no information: align to one graph first, then to the mean.
    seeds : list of vertices, array of pairs (k, 2), or dictionary, optional
        Known matches. A list holds vertices (places or names) that are already in their places.
        Pairs are a vertex of the reference and a vertex of the graph. A dictionary from graphs
        (places or names) to lists or pairs gives each graph its own.
    init : {"auto", "order", "spectral"}
        Where to start. "order" takes the order that was given as a hint: right when it is mostly
        right, or at least for a tenth of the vertices. "spectral" does not look at it, and compares
        how vertices stand in eigenvectors. "auto" starts twice from the order, then from there;
        the best score wins.
    n_init : int
        Maximum number of starts per graph. After the first of its kind they vary: half of the given
        order is shuffled, or the constants of the spectral similarity change. When two starts end
        in the same best matching, and it scores half as much again as chance, it is taken.
    preprocess : str, function, sequence of these or None
        Preprocessing for the matching only, such as "log1p" or "rank"; the aligned stack has the
        weights that were given. Large weights dominate the matching; "log1p" or "rank" give small
        ones more influence, which may help or not.
    max_iter : int
        Maximum number of FAQ iterations per start.
    max_rounds : int
        Maximum number of rounds over all graphs with ``reference="mean"``.
    max_vertices : int
        Refuse graphs with more. An iteration took 0.01 s with 300 vertices, 0.4 s with 1000 and
        3 s with 2000 on one core; a start takes 3 of them where the order is mostly right and
        up to ``max_iter`` where nothing fits. Memory is some 180 n^2 bytes beside the stack.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the starts. Each graph has a stream of its own.

    Returns
    -------
    Alignment
        ``stack``, ``permutations``, ``score``, ``score_before``, ``confidence``,
        ``uncertain(threshold)``. Vertices are named as those of the reference if it has names
        of its own, else as in the stack. A reference with the names of the stack is put into
        the stack's order first.

    Notes
    -----
    The best matching need not be the right one: between two of the bundled mice it can score
    higher than the truth, and then moves vertices that were right. Vertices can only be told
    apart by edges that differ, and those of one block of a block model only by edges that the
    graphs share beyond the blocks. ``confidence`` is low where that is not so.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> rng = np.random.default_rng(0)
    >>> A = eg.models.ErdosRenyi(30, 0.5).sample(1, random_state=0)[0]
    >>> order = rng.permutation(30)
    >>> found = eg.align([A, A[order][:, order]], random_state=0)
    >>> np.array_equal(order[found.permutations[1]], np.arange(30))
    True
    >>> np.array_equal(found.stack[1], A)
    True
    """
    stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs)
    stack.require_complete("graphs with hidden entries are not aligned; fill them first")
    m, n, _ = stack.shape
    counts = {"n_init": n_init, "max_iter": max_iter, "max_rounds": max_rounds}
    _check(init, counts | {"max_vertices": max_vertices}, n)
    target = _as_reference(reference, stack)
    if m == 1 and not isinstance(target, GraphStack):
        raise InputError(
            "one graph alone has nothing to be aligned with; give at least two graphs, or another "
            "graph as reference"
        )
    names = stack.vertex_names
    if isinstance(target, GraphStack) and target.has_vertex_names:
        names = target.vertex_names
    pairs = _as_seeds(seeds, stack, names)
    steps = Preprocessing.of(preprocess)
    work = steps.apply(stack)
    rngs = [np.random.default_rng(stream) for stream in seed_sequence(random_state).spawn(m)]
    R = None
    if target is not None:
        R = standardize(work[target] if isinstance(target, int) else steps.apply(target)[0])
    own = target if isinstance(target, int) else None
    found = _matches(work, R, own, pairs, rngs, init, max_rounds, n_init=n_init, max_iter=max_iter)
    orders = np.stack([one.order for one in found])
    graphs = [graph[order][:, order] for graph, order in zip(stack, orders, strict=True)]
    kept: StorageRule = "sparse" if stack.is_sparse else "dense"
    aligned = GraphStack(graphs, graph_names=stack._graph_names, storage=kept)
    if stack.has_vertex_names or names != stack.vertex_names:
        aligned = aligned.with_names(vertex_names=names)
    return Alignment(
        stack=aligned,
        permutations=orders,
        score=np.array([one.score for one in found]),
        score_before=np.array([one.score_before for one in found]),
        confidence=np.stack([one.confidence for one in found]),
    )


def _matches(
    work: GraphStack, R: Array | None, own: int | None, pairs: Sequence[Order],
    rngs: Sequence[np.random.Generator], init: Start, max_rounds: int, **options: int,
) -> list[Match]:  # fmt: skip
    """Match each graph to R, or, where that is None, to the mean of the others.

    R may be graph number ``own`` itself. The others are taken as they are matched so far, in rounds
    until nothing moves.
    """
    m, n, _ = work.shape
    orders, total = np.tile(np.arange(n), (m, 1)), np.zeros((n, n))
    for graph in work if R is None else ():
        total += standardize(graph)
    found: list[Match] = []
    for turn in range(max_rounds if R is None else 1):
        latest = []
        for i, graph in enumerate(work):
            if R is not None and i == own:
                score = float(R.any())
                latest.append(Match(orders[i], score, score, np.ones(n)))
                continue
            B = standardize(graph)[np.ix_(orders[i], orders[i])]
            total -= B
            # What the last round found is this round's order, for the seeds as well.
            r, b = pairs[i].T
            known = np.stack([r, np.argsort(orders[i])[b]], axis=1)
            start: Start = init if turn == 0 else "order"
            mean = standardize(total) if R is None else R
            one = match(mean, B, known, start=start, rng=rngs[i], **options)
            total += B[np.ix_(one.order, one.order)]
            before = one.score_before if turn == 0 else found[i].score_before
            latest.append(replace(one, order=orders[i][one.order], score_before=before))
        found, earlier = latest, orders
        orders = np.stack([one.order for one in found])
        if np.array_equal(orders, earlier):
            break
    return found


def _check(init: Any, counts: dict[str, Any], n_vertices: int) -> None:
    check_choice("init", init, *get_args(Start))
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name} must be a whole number >= 1, got {name}={value!r}")
    most = counts["max_vertices"]
    if n_vertices > most:
        raise InputError(
            f"the graphs have {n_vertices} vertices, more than max_vertices={most}: matching takes "
            f"some {180 * n_vertices**2 / 1e9:.1g} GB and time that grows with the cube of "
            "their number; select vertices, or raise max_vertices"
        )


# ------------------------------------------------------------------ reference and seeds


def _as_reference(reference: Any, stack: GraphStack) -> int | GraphStack | None:
    """Return the place of a graph of the stack, another graph as a stack of one, or None: the mean.

    A graph that names the same vertices as the stack is put into the stack's order.
    """
    if isinstance(reference, str) and reference == "mean":
        if "mean" in stack.graph_names:
            raise InputError("one graph has that name, 'mean'; give it by its index")
        return None
    if isinstance(reference, str | int | np.integer) and not isinstance(reference, bool):
        return one_place(reference, stack.graph_names, "graph")
    with in_front("reference must be a graph, its index or name, or 'mean'"):
        other = reference if isinstance(reference, GraphStack) else GraphStack([reference])
    if len(other) != 1:
        raise InputError(f"reference must be one graph, got a stack of {len(other)}: take one")
    if other.n_vertices != stack.n_vertices:
        raise AlignmentError(
            f"the reference has {other.n_vertices} vertices, the graphs have {stack.n_vertices}; "
            "they must be equal: add isolated vertices to the smaller, or select vertices"
        )
    both_named = other.has_vertex_names and stack.has_vertex_names
    if both_named and set(other.vertex_names) == set(stack.vertex_names):
        other = other.in_order_of(stack.vertex_names)
    return other


def _as_seeds(seeds: Any, stack: GraphStack, reference_names: tuple[str, ...]) -> list[Order]:
    """Return pairs (vertex of the reference, vertex of the graph), (k, 2), for each graph."""
    if isinstance(seeds, Mapping):
        each = [_NO_SEEDS] * len(stack)
        for graph, own in seeds.items():
            place = one_place(graph, stack.graph_names, "graph")
            each[place] = _pairs(own, stack.vertex_names, reference_names)
        return each
    own = _NO_SEEDS if seeds is None else _pairs(seeds, stack.vertex_names, reference_names)
    return [own] * len(stack)


def _pairs(seeds: Any, names: tuple[str, ...], reference_names: tuple[str, ...]) -> Order:
    several = not isinstance(seeds, str) and hasattr(seeds, "__iter__")
    given = np.asarray(list(seeds) if several and not hasattr(seeds, "__array__") else seeds)
    if given.size == 0:
        return _NO_SEEDS
    if given.ndim == 1:  # vertices that already correspond
        given = np.stack([given, given], axis=1)
    if given.ndim != 2 or given.shape[1] != 2:
        got = f"an array of shape {given.shape}" if given.ndim else repr(seeds)
        raise InputError(
            "seeds must be None, a list of vertices that already correspond, pairs (k, 2) of a "
            "vertex of the reference and a vertex of the graph, or a dictionary from graphs to "
            f"these; got {got}"
        )
    columns = []
    for which, known, noun in zip(
        given.T, (reference_names, names), ("vertex of the reference", "vertex"), strict=True
    ):
        chosen = places(which, known, noun)
        values, counts = np.unique(chosen, return_counts=True)
        if len(values) < len(chosen):
            twice = f"the {noun} {known[int(values[counts > 1][0])]!r}"
            raise InputError(f"seeds name {twice} more than once; each has one partner")
        columns.append(chosen)
    return np.stack(columns, axis=1)
