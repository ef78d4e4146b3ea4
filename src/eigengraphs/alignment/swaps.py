"""What it would cost to swap two matched vertices, and swaps that pay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["improve_by_swaps", "swap_losses"]

_ROUNDING = 1e-12  # of scores, which are at most 1


def swap_losses(R: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much <R, B> falls when vertices s and t of B are swapped, (n, n).

    Sums over all third vertices are one matrix product; the entries among s and t themselves
    are taken out of it and put back as they are after the swap.
    """
    M = R @ B.T + R.T @ B
    own = np.diag(M)
    gain = M + M.T - own[:, None] - own
    r, b = np.diag(R), np.diag(B)
    # Terms of the sum with the third vertex s or t, for rows and for columns ...
    gain -= (r[:, None] - R.T) * (B.T - b[:, None]) + (R - r) * (b - B)
    gain -= (r[:, None] - R) * (B - b[:, None]) + (R.T - r) * (b - B.T)
    # ... and what the four entries truly gain.
    gain += (r[:, None] - r) * (b - b[:, None]) + (R - R.T) * (B.T - B)
    return -gain


def improve_by_swaps(
    R: NDArray[np.float64],
    B: NDArray[np.float64],
    order: NDArray[np.intp],
    free: NDArray[np.intp],
    max_rounds: int = 200,
) -> NDArray[np.intp]:
    """Swap matched vertices among ``free`` as long as some swap raises <R, B[order][:, order]>.

    A round takes all swaps that pay and share no vertex, the best first; if together they gain
    less than the best of them alone, that one.
    """
    order = order.copy()
    matched = B[np.ix_(order, order)]
    value = float((R * matched).sum())
    for _ in range(max_rounds):
        gains = -swap_losses(R, matched)[np.ix_(free, free)]
        s, t = np.nonzero(np.triu(gains, 1) > _ROUNDING)
        if s.size == 0:
            break
        best_first = np.argsort(-gains[s, t], kind="stable")
        pairs = _disjoint(s[best_first], t[best_first], len(free))
        least = value + float(gains[pairs[0]])
        for chosen in (pairs, pairs[:1]):
            trial = order.copy()
            for a, b in chosen:
                trial[free[[a, b]]] = trial[free[[b, a]]]
            rearranged = B[np.ix_(trial, trial)]
            new = float((R * rearranged).sum())
            if new >= least - _ROUNDING:
                break
        if new <= value:
            break
        order, matched, value = trial, rearranged, new
    return order


def _disjoint(s: NDArray[np.intp], t: NDArray[np.intp], size: int) -> list[tuple[int, int]]:
    taken = np.zeros(size, dtype=bool)
    pairs = []
    for a, b in zip(s.tolist(), t.tolist(), strict=True):
        if not (taken[a] or taken[b]):
            taken[a] = taken[b] = True
            pairs.append((a, b))
    return pairs
