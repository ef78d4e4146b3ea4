"""Cutting a series into segments of one level each, by penalised least squares, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eigengraphs.inference.variables import Array

__all__ = ["largest_penalty", "segment", "segment_costs"]


def segment_costs(Y: Array, least: int) -> Array:
    """Return the squares around the mean of every segment, (B, m, m).

    Entry ``[b, s, t]`` is of rows s to t of series b; infinite where these are too few.

    Parameters
    ----------
    Y : (B, m, d)
        Series.
    least
        Number of rows that a segment must have.
    """
    B, m, d = Y.shape
    Y = Y - Y.mean(axis=1, keepdims=True)
    S = np.zeros((B, m + 1, d))
    np.cumsum(Y, axis=1, out=S[:, 1:])
    squares = np.zeros((B, m + 1))
    np.cumsum((Y**2).sum(axis=2), axis=1, out=squares[:, 1:])
    norms = (S**2).sum(axis=2)
    # |S_t - S_s|^2 by a product of matrices, for all pairs at once.
    moved = norms[:, None, 1:] + norms[:, :-1, None] - 2 * (S[:, :-1] @ S[:, 1:].transpose(0, 2, 1))
    length = np.arange(1, m + 1) - np.arange(m)[:, None]  # (s, t)
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = squares[:, None, 1:] - squares[:, :-1, None] - moved / length
    costs[:, length < least] = np.inf
    return np.asarray(np.maximum(costs, 0.0))


def segment(costs: Array, penalties: Array) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """Cut series where that lowers their cost by more than a penalty for each cut.

    Dynamic programming over all places of all cuts, for each series.

    Parameters
    ----------
    costs : (B, m, m)
        From :func:`segment_costs`.
    penalties : (B,)
        Price of a cut.

    Returns
    -------
    cost : (B,)
        Of the segments, without penalties.
    cuts : (B,)
        Their number.
    starts : (B, m)
        First row of the last segment of the best cutting of rows 0 to t.
    """
    B, m, _ = costs.shape
    best = np.full((B, m + 1), np.inf)
    best[:, 0] = -penalties  # the first segment begins without a cut
    cuts = np.full((B, m + 1), -1, dtype=np.intp)
    starts = np.zeros((B, m), dtype=np.intp)
    each = np.arange(B)
    for t in range(m):
        ways = best[:, : t + 1] + costs[:, : t + 1, t] + penalties[:, None]
        starts[:, t] = ways.argmin(axis=1)
        best[:, t + 1] = ways[each, starts[:, t]]
        cuts[:, t + 1] = cuts[each, starts[:, t]] + 1
    return best[:, -1] - penalties * cuts[:, -1], cuts[:, -1], starts


def largest_penalty(costs: Array) -> Array:
    """Return the largest penalty at which each series is still cut, (B,).

    It is the largest mean gain of a cut, over all numbers and places of cuts: max over K of
    (cost of no cut - cost of K cuts) / K. Each round finds the best cutting at the last penalty,
    and its mean gain is the next one; this rises to the answer in a few rounds.
    """
    whole = costs[:, 0, -1]
    m = costs.shape[1]
    one = (costs[:, 0, : m - 1] + costs[:, np.arange(1, m), m - 1]).min(axis=1)
    found = np.where(np.isfinite(one), whole - one, 0.0)
    active = np.isfinite(one)
    while active.any():
        rows = np.flatnonzero(active)
        cost, cuts, _ = segment(costs[rows], found[rows])
        gain = (whole[rows] - cost) / np.maximum(cuts, 1)
        better = (cuts > 0) & (gain > found[rows] * (1 + 1e-12) + 1e-300)
        found[rows[better]] = gain[better]
        active[rows[~better]] = False
    return np.asarray(found)


def places(starts: NDArray[np.intp]) -> list[int]:
    """Return the first rows of all segments but the first, from one row of ``starts``."""
    found: list[int] = []
    t = len(starts)
    while t > 0:
        t = int(starts[t - 1])
        if t > 0:
            found.append(t)
    return found[::-1]
