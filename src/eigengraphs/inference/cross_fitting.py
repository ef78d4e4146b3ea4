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

__all__ = ["Fold", "agreement_of_halves", "cosines_squared", "cross_fits", "numbered", "refit"]

Array = NDArray[np.float64]
Places = NDArray[np.intp]


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


def agreement_of_halves(
    embedding: JointEmbedding,
    graphs: GraphStack,
    groups: Places,
    n_splits: int,
    rng: np.random.Generator,
) -> Array:
    """Return the mean |cosine| of each component's positions from two halves, (d,)."""
    found = []
    many = int(groups.max()) + 1
    for _ in range(n_splits):
        first = np.isin(groups, rng.permutation(many)[: many // 2])
        halves = [refit(embedding, graphs[np.flatnonzero(half)]) for half in (first, ~first)]
        places = []
        for half in halves:
            match = match_components(embedding, half)
            places.append([_side(half, name)[:, match.order] for name in _sides(embedding)])
        found.append(
            np.prod([np.abs((a * b).sum(axis=0)) for a, b in zip(*places, strict=True)], axis=0)
        )
    return np.asarray(np.mean(found, axis=0))


def cosines_squared(agreement: Array, share: float, *, sides: int = 1) -> Array:
    """Return c^2 of positions from a share of all graphs, by the agreement of halves, (d,).

    For directed graphs, the product of the cosines of both sides.
    """
    half = np.clip(agreement, 1e-3, 1.0) ** (1.0 / sides)
    return np.asarray((1.0 / (1.0 + (1.0 / half - 1.0) * 0.5 / share)) ** sides)


def _sides(embedding: Any) -> tuple[str, ...]:
    both = hasattr(embedding, "latent_positions_right_")
    return ("latent_positions_", "latent_positions_right_") if both else ("latent_positions_",)


def _side(embedding: Any, name: str) -> Array:
    return np.asarray(getattr(embedding, name), dtype=np.float64)
