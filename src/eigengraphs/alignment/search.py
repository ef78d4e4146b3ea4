"""Match one graph to the reference: several starts, FAQ from each, swaps, the best one kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, quadratic_assignment

from eigengraphs.alignment.similarity import similarity
from eigengraphs.alignment.swaps import improve_by_swaps, swap_losses

__all__ = ["Match", "Start", "match"]

Start: TypeAlias = Literal["auto", "order", "spectral"]

_SHUFFLED = 0.5  # share of the vertices of which a restart forgets the given order
_NEAR = 0.05  # restarts count when they come as near as this to the best score, in parts of it


@dataclass(frozen=True)
class Match:
    """One graph matched: its vertex ``order[s]`` goes with vertex s of the reference."""

    order: NDArray[np.intp]  # (n,)
    score: float
    score_before: float
    confidence: NDArray[np.float64]  # (n,)


def match(
    R: NDArray[np.float64],
    B: NDArray[np.float64],
    seeds: NDArray[np.intp],
    *,
    start: Start,
    n_init: int,
    max_iter: int,
    rng: np.random.Generator,
) -> Match:
    """Find the order of B's vertices with the largest <R, B[order][:, order]>.

    Parameters
    ----------
    R, B : (n, n)
        Reference and graph, centred and of norm 1 (or zero).
    seeds : (k, 2)
        Pairs (vertex of R, vertex of B) that are known.
    start, n_init, max_iter, rng
        See :func:`~eigengraphs.align`.
    """
    n = len(R)
    free_r = np.setdiff1d(np.arange(n), seeds[:, 0])
    free_b = np.setdiff1d(np.arange(n), seeds[:, 1])
    fixed = np.empty(n, dtype=np.intp)
    fixed[seeds[:, 0]] = seeds[:, 1]
    before = _score(R, B, np.arange(n))
    nothing_to_go_by = not (R.any() and B.any())
    if len(free_r) == 0 or nothing_to_go_by:
        fixed[free_r] = free_b[_keep_order(free_r, free_b)]
        confidence = np.zeros(n)
        confidence[seeds[:, 0]] = 1.0
        return Match(fixed, _score(R, B, fixed), before, confidence)

    # The best of n! matchings of unrelated graphs scores about so much, were they independent;
    # half as much again is no chance.
    n_pairs = n * (n - 1) / (2 if np.array_equal(R, R.T) and np.array_equal(B, B.T) else 1)
    clear = 1.5 * np.sqrt(2 * n * max(np.log(n) - 1, 0.0) / n_pairs)
    orders: list[NDArray[np.intp]] = []
    scores: list[float] = []
    for columns in _starts(R, B, seeds, free_r, free_b, start, n_init, rng):
        k = len(free_r)
        P0 = np.full((k, k), 0.5 / k)
        P0[np.arange(k), columns] += 0.5
        found = quadratic_assignment(
            R,
            B,
            method="faq",
            options={
                "maximize": True,
                "P0": P0,
                "partial_match": seeds,
                "maxiter": max_iter,
                "tol": 1e-2,
                "rng": rng,  # not used; without it, scipy warns of seeds that others set
            },
        ).col_ind
        order = improve_by_swaps(R, B, np.asarray(found, dtype=np.intp), free_r)
        score = _score(R, B, order)
        again = any(np.array_equal(order, other) for other in orders) and score >= max(scores)
        orders.append(order)
        scores.append(score)
        if again and score > clear:  # more starts would find it again
            break
    score = max(scores)
    best = orders[scores.index(score)]
    least = (1 - _NEAR) * score if score > clear else -np.inf
    near = [o for o, other in zip(orders, scores, strict=True) if other >= least]
    agreement = np.mean([order == best for order in near], axis=0)
    confidence = agreement * _certainty(R, B[np.ix_(best, best)], score, free_r, n_pairs)
    confidence[seeds[:, 0]] = 1.0
    return Match(best, score, before, confidence)


def _starts(
    R: NDArray[np.float64],
    B: NDArray[np.float64],
    seeds: NDArray[np.intp],
    free_r: NDArray[np.intp],
    free_b: NDArray[np.intp],
    start: Start,
    n_init: int,
    rng: np.random.Generator,
) -> Iterator[NDArray[np.intp]]:
    """Yield matchings of the free vertices to start from, (k,) places among ``free_b``.

    The first of each kind is the plain one, the others are variants: the order with half of it
    shuffled, similarities with other constants. (Similarities with noise were right less often.)
    "auto" looks at the order twice, which is cheap where it is mostly right, and then no more.
    """
    given = _keep_order(free_r, free_b)
    for trial in range(n_init):
        by_order = start == "order" or (start == "auto" and trial < 2)
        plain = trial == 0 or (start == "auto" and trial == 2)
        if by_order:
            columns = given.copy()
            if not plain:
                some = rng.permutation(len(given))[: round(_SHUFFLED * len(given))]
                columns[some] = columns[rng.permutation(some)]
            yield columns
        else:
            other = {} if plain else {"width": 0.07 * 7 ** rng.random(), "level": rng.random()}
            alike = similarity(R, B, seeds, **other)[np.ix_(free_r, free_b)]
            yield np.asarray(linear_sum_assignment(alike, maximize=True)[1], dtype=np.intp)


def _keep_order(free_r: NDArray[np.intp], free_b: NDArray[np.intp]) -> NDArray[np.intp]:
    """Match vertices of the same number where both are free, and the rest in turn."""
    columns = np.full(len(free_r), -1, dtype=np.intp)
    _, r, b = np.intersect1d(free_r, free_b, return_indices=True)
    columns[r] = b
    columns[columns < 0] = np.setdiff1d(np.arange(len(free_b)), b)
    return columns


def _score(R: NDArray[np.float64], B: NDArray[np.float64], order: NDArray[np.intp]) -> float:
    return float((R * B[np.ix_(order, order)]).sum())


def _certainty(
    R: NDArray[np.float64],
    B: NDArray[np.float64],
    score: float,
    free: NDArray[np.intp],
    n_pairs: float,
) -> NDArray[np.float64]:
    """Return 1 / (1 + sum_t exp(-l_st)) for each s, where l_st is the evidence against swapping.

    Were weights normal, with the correlation that was found, l_st would be the logarithm of the
    likelihood ratio of this matching and that with s and t swapped.
    """
    n = len(R)
    rho = np.clip(score, 0.0, 1 - 1e-9)
    losses = swap_losses(R, B)[np.ix_(free, free)]
    evidence = rho / (1 - rho**2) * n_pairs * np.maximum(losses, 0.0)
    np.fill_diagonal(evidence, np.inf)
    certainty = np.ones(n)
    certainty[free] = 1.0 / (1.0 + np.exp(-evidence).sum(axis=1))
    return certainty
