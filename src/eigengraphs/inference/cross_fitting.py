"""Loadings of graphs on positions that others gave, and how sure positions are.

A graph that helped to find the positions has loadings that are too large: positions lean towards
its noise. Positions from the other graphs do not, but they are off the true ones in all other
directions, so that loadings are too small, by c^2 with c the cosine of the two. Positions from two
halves of the graphs err independently: their cosine is about c_half^2, and
tan^2 = (1 - c^2) / c^2 falls as one over the number of graphs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import DegenerateWarning, InputError
from eigengraphs.graphs import GraphStack
from eigengraphs.matching import match_components
from eigengraphs.randomness import RandomState, generator

__all__ = [
    "N_SPLITS",
    "Fold",
    "Halving",
    "cosines_squared",
    "cross_fits",
    "halvings",
    "numbered",
    "refit",
]  # fmt: skip

Array = NDArray[np.float64]
Places = NDArray[np.intp]
N_SPLITS = 6  # halvings; with 3 others, component 5 of the mice had 0.75 instead of 0.45


@dataclass(frozen=True, eq=False)
class Fold:
    """A fit without some graphs, its components in the order of the fit to all."""

    left_out: Places
    embedding: JointEmbedding
    order: Places
    """Component that goes with each of the fit to all, (d,)."""


def refit(embedding: JointEmbedding, graphs: GraphStack, sample_weight: Any = None) -> Any:
    """Fit other graphs with the same settings and number of components, in silence."""
    again: Any = clone(embedding)
    again.set_params(n_components=embedding.n_components_, verbose=0, callback=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        return again.fit(graphs, sample_weight=sample_weight)


def numbered(groups: ArrayLike | None, m: int) -> NDArray[np.intp]:
    """Return the group of each graph as a number from 0 on, (m,); by default its own."""
    if groups is None:
        return np.arange(m)
    given = np.asarray(groups)
    if given.shape != (m,):
        raise InputError(f"groups must hold one value a graph, ({m},), got shape {given.shape}")
    return np.asarray(np.unique(given, return_inverse=True)[1], dtype=np.intp)


def cross_fits(
    embedding: JointEmbedding, graphs: GraphStack, groups: Places, n_folds: int
) -> Iterator[Fold]:
    """Yield a fit without each fold; ``groups`` (m,) are kept together, numbered from 0."""
    fold_of = np.arange(int(groups.max()) + 1) % n_folds
    for f in range(n_folds):
        out = fold_of[groups] == f
        fit = refit(embedding, graphs[np.flatnonzero(~out)])
        yield Fold(np.flatnonzero(out), fit, match_components(embedding, fit).order)


@dataclass(frozen=True, eq=False)
class Halving:
    """Fits to two random halves of the graphs, components in the order of the fit to all."""

    graphs: tuple[GraphStack, GraphStack]
    fits: tuple[Any, Any]
    positions: tuple[Array, Array]
    """Of both fits, (n, d)."""
    agreement: Array
    """|cosine| of the two, (d,); for directed graphs, the geometric mean of both sides."""


def halvings(
    embedding: JointEmbedding,
    graphs: GraphStack,
    groups: Places,
    n_splits: int,
    random_state: RandomState,
) -> Iterator[Halving]:
    """Fit random halves; ``groups`` (m,) are kept together, numbered from 0.

    The same halves for the same random state, whatever is done with them: replicability in one
    table is the agreement behind the intervals of another.
    """
    rng, many = generator(random_state), int(groups.max()) + 1
    for first in [np.isin(groups, rng.permutation(many)[: many // 2]) for _ in range(n_splits)]:
        stacks = graphs[np.flatnonzero(first)], graphs[np.flatnonzero(~first)]
        fits = refit(embedding, stacks[0]), refit(embedding, stacks[1])
        matches = [match_components(embedding, half) for half in fits]
        cosines = []
        for name in reversed(_sides(embedding)):  # the left side last
            a, b = (
                match.apply(getattr(half, name)) for match, half in zip(matches, fits, strict=True)
            )
            cosines.append(np.abs((a * b).sum(axis=0)))
        agreement = np.prod(cosines, axis=0) ** (1.0 / len(cosines))
        yield Halving(stacks, fits, (a, b), agreement)


def cosines_squared(agreement: Array, share: float, *, sides: int = 1) -> Array:
    """Return c^2 of positions from a share of all graphs, by the agreement of halves, (d,).

    For directed graphs, the product of the cosines of both sides.
    """
    half = np.clip(agreement, 1e-3, 1.0)
    return np.asarray((1.0 / (1.0 + (1.0 / half - 1.0) * 0.5 / share)) ** sides)


def _sides(embedding: Any) -> tuple[str, ...]:
    both = hasattr(embedding, "latent_positions_right_")
    return ("latent_positions_", "latent_positions_right_") if both else ("latent_positions_",)
