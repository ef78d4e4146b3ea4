"""``align``: graphs with vertices in unknown orders, matched to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from eigengraphs.alignment.inputs import as_reference, as_seeds
from eigengraphs.alignment.result import Alignment
from eigengraphs.alignment.search import Match, Start, match
from eigengraphs.alignment.standard import standardise
from eigengraphs.errors import InputError
from eigengraphs.stack import GraphStack
from eigengraphs.stack.preprocess import Preprocessing
from eigengraphs.system.randomness import RandomState, seed_sequence

__all__ = ["align"]


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
        All must have as many vertices; names of the vertices are not used to match.
    reference : int, str, "mean" or one graph
        Place or name of a graph of the stack; or a graph that is not in it, with as many
        vertices. With "mean" each graph is matched to the mean of all others, over and over
        until nothing moves: for orders that are mostly right. For orders that are not known
        at all, the mean shows nothing: align to one graph first, then to the mean.
    seeds : list of vertices, array of pairs (k, 2), or dictionary, optional
        What is known. A list holds vertices (places or names) that are in their places
        already. Pairs are a vertex of the reference and a vertex of the graph. A dictionary
        from graphs (places or names) to lists or pairs gives each graph its own.
    init : {"auto", "order", "spectral"}
        Where to start. "order" takes the order that was given as a hint: right when it is mostly
        right, or at least for a tenth of the vertices. "spectral" does not look at it, and compares
        how vertices stand in eigenvectors. "auto" starts twice from the order, then from there;
        the best score wins.
    n_init : int
        Most starts a graph. After the first of its kind they vary: half of the given order is
        shuffled, or the constants of the spectral similarity change. When two starts end in the
        same best matching, and it scores half as much again as chance, it is taken.
    preprocess : str, function, sequence of these or None
        Steps that the graphs go through to be matched, as "log1p" or "rank"; the aligned stack has
        the weights that were given. Heavy weights decide; "log1p" or "rank" let the light ones
        have a say, which may help or not.
    max_iter : int
        Most iterations of FAQ a start.
    max_rounds : int
        Most rounds over all graphs with ``reference="mean"``.
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
    m, n, _ = stack.shape
    counts = {
        "n_init": n_init,
        "max_iter": max_iter,
        "max_rounds": max_rounds,
        "max_vertices": max_vertices,
    }
    _check(init, counts, n)
    target = as_reference(reference, stack)
    if m == 1 and not isinstance(target, GraphStack):
        raise InputError(
            "one graph alone has nothing to be aligned with; give at least two graphs, or another "
            "graph as reference"
        )
    names = stack.vertex_names
    if isinstance(target, GraphStack) and target.has_vertex_names:
        names = target.vertex_names
    pairs = as_seeds(seeds, stack, names)
    steps = Preprocessing.of(preprocess)
    work = steps.apply(stack)
    streams = seed_sequence(random_state).spawn(m)
    options: dict[str, Any] = {"n_init": n_init, "max_iter": max_iter}

    if target is None:
        found = _to_mean(work, pairs, streams, init, max_rounds, options)
    else:
        other = work[target] if isinstance(target, int) else steps.apply(target)[0]
        R = standardise(other)
        found = []
        for i in range(m):
            if i == target:
                found.append(_itself(n, float(R.any())))
                continue
            rng = np.random.default_rng(streams[i])
            found.append(match(R, standardise(work[i]), pairs[i], start=init, rng=rng, **options))
    orders = np.stack([one.order for one in found])
    aligned = stack.reorder(orders)
    if names != stack.vertex_names:
        aligned = aligned.with_names(vertex_names=names)
    return Alignment(
        stack=aligned,
        permutations=orders,
        score=np.array([one.score for one in found]),
        score_before=np.array([one.score_before for one in found]),
        confidence=np.stack([one.confidence for one in found]),
    )


def _itself(n: int, score: float) -> Match:
    return Match(np.arange(n), score, score, np.ones(n))


def _to_mean(
    work: GraphStack,
    pairs: Sequence[NDArray[np.intp]],
    streams: Sequence[np.random.SeedSequence],
    init: Start,
    max_rounds: int,
    options: dict[str, Any],
) -> list[Match]:
    """Match each graph to the mean of the others as they are matched so far."""
    m, n, _ = work.shape
    orders = np.tile(np.arange(n), (m, 1))
    generators = [np.random.default_rng(stream) for stream in streams]
    total = np.zeros((n, n))
    for graph in work:
        total += standardise(graph)
    found: list[Match] = []
    for turn in range(max_rounds):
        latest = []
        for i, graph in enumerate(work):
            B = standardise(graph)[np.ix_(orders[i], orders[i])]
            total -= B
            # What the last round found is this round's order, for the seeds as well.
            r, b = pairs[i].T
            known = np.stack([r, np.argsort(orders[i])[b]], axis=1)
            start: Start = init if turn == 0 else "order"
            one = match(standardise(total), B, known, start=start, rng=generators[i], **options)
            total += B[np.ix_(one.order, one.order)]
            before = one.score_before if turn == 0 else found[i].score_before
            latest.append(replace(one, order=orders[i][one.order], score_before=before))
        found = latest
        now = np.stack([one.order for one in found])
        if np.array_equal(now, orders):
            break
        orders = now
    return found


def _check(init: Any, counts: dict[str, Any], n_vertices: int) -> None:
    if not isinstance(init, str) or init not in get_args(Start):
        raise InputError(f"init must be 'auto', 'order' or 'spectral', got init={init!r}")
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
