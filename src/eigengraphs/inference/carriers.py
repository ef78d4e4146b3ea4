"""Which vertices and pairs of vertices carry a component."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["effective_vertices", "ends", "strongest_pairs"]

Array = NDArray[np.float64]


def ends(h: Array, most: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the vertices with the largest positive positions, and with the most negative ones."""
    order = np.argsort(-h, kind="stable")
    high = tuple(int(s) for s in order[:most] if h[s] > 0)
    low = tuple(int(s) for s in order[::-1][:most] if h[s] < 0)
    return high, low


def strongest_pairs(
    h: Array, g: Array | None, *, loops: bool, most: int
) -> list[tuple[int, int, float]]:
    """Return the pairs with the largest |h_s h_t| (s < t), or |h_s g_t|, the largest first.

    They are among the first most + 1 vertices by |h|, and by |g|: a vertex further down is beaten
    by all pairs of those above it with the same other vertex.
    """
    s = _strongest(h, most + 1)
    t = s if g is None else _strongest(g, most + 1)
    right = h if g is None else g
    pairs = [
        (a, b, float(h[a] * right[b]))
        for a in s.tolist()
        for b in t.tolist()
        if (loops and a == b) or (a < b if g is None else a != b)
    ]
    kept = [pair for pair in pairs if pair[2] != 0.0]
    return sorted(kept, key=lambda pair: (-abs(pair[2]), pair[0], pair[1]))[:most]


def effective_vertices(h: Array) -> float:
    """Return over how many vertices a unit vector is spread, 1 / sum_s h_s^4: 1 to n."""
    return float(1.0 / max(float((h**4).sum()), 1e-300))


def _strongest(h: Array, most: int) -> NDArray[np.intp]:
    return np.argsort(-np.abs(h), kind="stable")[:most]
