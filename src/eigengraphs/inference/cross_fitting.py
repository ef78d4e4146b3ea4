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

from eigengraphs.alignment.component_pairs import match_components
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import DegenerateWarning, InputError
from eigengraphs.stack import GraphStack
from eigengraphs.system.randomness import RandomState, generator

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
# Components of a half beyond the place of the one that is looked for. With 9 more, c^2 of section
# 5.1 is too large by 0.17, with none too small by 0.18 (and the mice, centered, lose 3 of 5).
_SPARE = 4
N_SPLITS = 6  # halvings


@dataclass(frozen=True, eq=False)
class Fold:
    """A fit without some graphs, its components in the order of the fit to all."""

    left_out: Places
    embedding: JointEmbedding
    order: Places
    """Component that goes with each of the fit to all, (d,)."""


def refit(
    embedding: JointEmbedding,
    graphs: GraphStack,
    sample_weight: Any = None,
    *,
    n_components: int | None = None,
) -> Any:
    """Fit other graphs with the same settings, by default as many components, in silence."""
    again: Any = clone(embedding)
    d = n_components or embedding.n_components_
    again.set_params(n_components=d, verbose=0, callback=None)
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
    """Fits to two random halves of the graphs, and their components that go with the fit to all."""

    graphs: tuple[GraphStack, GraphStack]
    fits: tuple[Any, Any]
    positions: tuple[Array, Array]
    """Of both fits, (n, d)."""
    prices: tuple[Array, Array]
    """Factors of p-values, (d,), for the choice among the components of a half."""
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

    Halves are fitted with spare components: what is component 2 of all graphs may be component 4
    of a half. So whether component k is found again does not depend on how many come after it.
    The same halves for the same random state, whatever is done with them: replicability in one
    table is the agreement behind the intervals of another.
    """
    rng, many = generator(random_state), int(groups.max()) + 1
    d, sides = embedding.n_components_, _sides(embedding)
    # Refined components change with their number; there, spare ones would change all others.
    K = d if hasattr(embedding, "refinement_") else max(d, min(d + _SPARE, graphs.n_vertices))
    for first in [np.isin(groups, rng.permutation(many)[: many // 2]) for _ in range(n_splits)]:
        stacks = graphs[np.flatnonzero(first)], graphs[np.flatnonzero(~first)]
        fits = tuple(refit(embedding, half, n_components=K) for half in stacks)
        (left, price_left), (right, price_right) = (_partners(embedding, half) for half in fits)
        pairs = [(getattr(fits[0], x)[:, left], getattr(fits[1], x)[:, right]) for x in sides]
        cosines = [np.abs((a * b).sum(axis=0)) for a, b in pairs]
        agreement = np.prod(cosines, axis=0) ** (1.0 / len(sides))
        yield Halving(stacks, (fits[0], fits[1]), pairs[0], (price_left, price_right), agreement)


def _partners(embedding: Any, half: Any) -> tuple[Places, Array]:
    """Return the component of a half that is most like each of a fit, in turn, and its price.

    The r-th of those that are left has the price r (r + 1): the inverses add up to 1 over all r,
    so that p-values times their prices keep their level whichever is chosen (Bonferroni).
    """
    likeness = np.prod(
        [np.abs(getattr(embedding, x).T @ getattr(half, x)) for x in _sides(embedding)], axis=0
    )
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


def _sides(embedding: Any) -> tuple[str, ...]:
    both = hasattr(embedding, "latent_positions_right_")
    return ("latent_positions_", "latent_positions_right_") if both else ("latent_positions_",)
