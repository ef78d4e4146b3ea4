"""Simulated graphs with known parameters: graph i depends only on the seed and on i.

:func:`read_design` makes a :class:`Design` from a name in :data:`DESIGNS`, a file or a table;
:func:`simulate_blocks` draws any of its graphs, and :func:`simulate_truth` returns what they were
drawn from.

>>> from eigengraphs.models.simulation import DESIGNS, read_design, simulate_blocks
>>> list(DESIGNS)
['section5.1', 'section5.2', 'weighted', 'sparse']
>>> simulate_blocks(read_design("section5.1"), 0, 3, seed=0).shape
(3, 20, 20)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigengraphs.errors import InputError, in_front
from eigengraphs.models.recipes import DESIGNS, Design, read_design
from eigengraphs.models.validation import Floats, Ints
from eigengraphs.stack import GraphStack
from eigengraphs.system.randomness import seed_sequence
from eigengraphs.system.tables import short_repr

__all__ = ["DESIGNS", "Design", "Truth", "read_design", "simulate_blocks", "simulate_truth"]

# Up to this many vertices, or from this density on, graphs are kept as arrays.
_SMALL, _DENSE = 512, 0.1


@dataclass(frozen=True, eq=False)
class Truth:
    """What graphs were drawn from.

    Attributes
    ----------
    classes : ndarray of int, shape (n_graphs,)
        Index of each graph's class in the design.
    loadings : ndarray, shape (n_graphs, d)
        d is 0 for models without loadings.

    Examples
    --------
    >>> from eigengraphs.models.simulation import read_design, simulate_truth
    >>> design = read_design("section5.2")
    >>> simulate_truth(design, 0, 2, seed=1)
    Truth(classes=[1, 0], loadings=<array (2, 2)>)
    """

    classes: Ints
    loadings: Floats

    __repr__ = short_repr


def simulate_blocks(
    design: Design, start: int, stop: int, seed: int | np.random.SeedSequence = 0
) -> GraphStack:
    """Draw the graphs from ``start`` up to, but not including, ``stop``.

    Graph i depends only on the design, the seed and i, not on how many graphs are drawn or in which
    blocks. Memory is that of the graphs of one block.

    Parameters
    ----------
    design : Design
        See `read_design`.
    start, stop : int
        Which graphs.
    seed : int or SeedSequence
        Graph i takes its i-th child.

    Returns
    -------
    GraphStack
        Named g000000, g000001, ... by their numbers.

    Examples
    --------
    >>> from eigengraphs.models.simulation import read_design, simulate_blocks
    >>> design = read_design("section5.2")
    >>> whole = simulate_blocks(design, 0, 4, seed=1)
    >>> part = simulate_blocks(design, 2, 4, seed=1)
    >>> part.graph_names, bool((part.dense == whole.dense[2:]).all())
    (('g000002', 'g000003'), True)
    """
    graphs: list[Any] = []
    for rng, k in _streams(design, start, stop, seed):
        what = f"g{start + len(graphs):06d}, class {design.classes[k].name!r}"
        with in_front(f"{design.where}, {what}"):
            one = design.classes[k].model.sample(1, rng, loops=design.loops)
        if not one.is_sparse and design.n_vertices > _SMALL:
            sparse_pays = np.count_nonzero(one.dense) < _DENSE * one.dense.size
            one = one.to_sparse() if sparse_pays else one
        graphs.append(one.flat if one.is_sparse else one.dense[0])
    names = [f"g{i:06d}" for i in range(start, stop)]
    dense = all(isinstance(graph, np.ndarray) for graph in graphs)
    return GraphStack(graphs, graph_names=names, storage="dense" if dense else "sparse")


def simulate_truth(
    design: Design, start: int, stop: int, seed: int | np.random.SeedSequence = 0
) -> Truth:
    """Return classes and loadings of the graphs that `simulate_blocks` draws, without edges.

    Parameters
    ----------
    design, start, stop, seed
        As in :func:`simulate_blocks`.

    Returns
    -------
    Truth
        Class and loadings of each graph.

    Examples
    --------
    >>> from eigengraphs.models.simulation import read_design, simulate_truth
    >>> design = read_design("section5.2")
    >>> truth = simulate_truth(design, 0, 5, seed=1)
    >>> truth.classes.shape, truth.loadings.shape
    ((5,), (5, 2))
    """
    classes = np.zeros(max(stop - start, 0), dtype=np.int64)
    loadings = np.zeros((len(classes), design.n_components))
    for row, (rng, k) in enumerate(_streams(design, start, stop, seed)):
        classes[row], lam = k, _loadings(design, k, rng)
        if lam is not None:
            loadings[row] = lam
    return Truth(classes, loadings)


def _streams(
    design: Design, start: int, stop: int, seed: int | np.random.SeedSequence
) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield the random numbers of each graph, and its class, which is the first thing drawn."""
    if not 0 <= start < stop:
        raise InputError(
            f"graphs start to stop must be 0 <= start < stop, got {start} to {stop}; pass at "
            "least one graph"
        )
    root, weights = seed_sequence(seed), [kind.weight for kind in design.classes]
    for i in range(start, stop):
        # The i-th child of the seed, without its elder siblings.
        child = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, i))
        rng = np.random.Generator(np.random.PCG64(child))
        yield rng, int(rng.choice(len(weights), p=weights))


def _loadings(design: Design, k: int, rng: np.random.Generator) -> Floats | None:
    """Draw the loadings of a graph of class k, as the model does after the class."""
    vectors = getattr(design.classes[k].model, "_vectors", None)
    return None if vectors is None else vectors.draw(rng, 1)[0][0]
