"""The halves rule: whether two halves of the graphs find the same components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigengraphs.alignment.components import match_components
from eigengraphs.solvers.protocol import Array

__all__ = ["Replication", "chance", "last_replicated", "needed", "replication"]

_THE_SAME = 0.5  # cosine; below, components may be alike beyond chance, but are not the same
_TILTS = np.geomspace(1e-1, 1e3, 200)


class Replication(NamedTuple):
    """How the first 1, 2, ..., K components of two fits compare."""

    similarities: Array  # (K,) |cosine| of the pair that is least alike
    p_values: Array  # (K,) of "not all are found again"
    levels: Array  # (K,) similarity that the pair with the largest p-value needs


def replication(H_a: Array, H_b: Array, alpha: float) -> Replication:
    """Compare the first d components of two fits, for d = 1, 2, ..., K.

    Components are paired. All d should be found again, so the largest p-value of a pair tests
    whether they are. A pair with a cosine below 1/2 is not the same component, whatever the test.

    Parameters
    ----------
    H_a, H_b : (n, K)
        Components of the two fits; zero columns are never found again.
    alpha : float
        Level for a single p-value.
    """
    K = H_a.shape[1]
    found = Replication(np.zeros(K), np.ones(K), np.ones(K))
    for d in range(1, K + 1):
        match = match_components(H_a[:, :d], H_b[:, :d])
        products = H_a[:, match.components] * H_b[:, match.order]
        p = [chance(products[:, k]) for k in range(d)]
        worst = int(np.argmax(p))
        found.similarities[d - 1] = match.similarities.min()
        found.levels[d - 1] = max(needed(products[:, worst], alpha), _THE_SAME)
        if match.similarities.min() >= _THE_SAME:
            found.p_values[d - 1] = p[worst]
    return found


def chance(products: Array) -> float:
    """Bound the probability that components with nothing in common are as much alike.

    Then signs are independent from vertex to vertex. Given the sizes of the entries, the cosine
    is |sum_s e_s x_s| with random signs e_s and x_s = a_s b_s, and Chernoff's bound for it is
    2 min_t exp(sum_s log cosh(t x_s) - t |cosine|). Components of noise that sit on the same few
    noisy vertices in both halves are no surprise to it.

    Parameters
    ----------
    products : (n,)
        a_s b_s of two unit vectors.
    """
    scale = float(np.sqrt((products**2).sum()))
    if scale == 0:
        return 1.0
    x = products / scale
    exponent = float((_cumulants(x) - _TILTS * abs(x.sum())).min())
    return min(1.0, 2 * float(np.exp(exponent)))


def needed(products: Array, alpha: float) -> float:
    """Return the |cosine| for which `chance` is alpha with entries of these sizes, 1 if none is."""
    scale = float(np.sqrt((products**2).sum()))
    if scale == 0:
        return 1.0
    x = products / scale
    level = float(((_cumulants(x) - np.log(alpha / 2)) / _TILTS).min()) * scale
    return min(level, 1.0)


def _cumulants(x: Array) -> Array:
    """Return sum_s log cosh(t x_s) for all tilts t."""
    tx = np.abs(_TILTS[:, None] * x)
    return np.asarray((tx + np.log1p(np.exp(-2 * tx)) - np.log(2)).sum(axis=1))


def last_replicated(p_values: Array, alpha: float) -> int:
    """Return the largest number of components that are all found again.

    The largest and not the first before a failure: halves may find equally strong components in
    different orders, and then agree on three but not on the first.
    """
    found = np.flatnonzero(p_values <= alpha)
    return int(found[-1]) + 1 if found.size else 0
