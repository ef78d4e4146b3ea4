"""Which rearrangements of graphs a hypothesis allows: all of them if few, else a random sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from eigengraphs.inference.variables import Array

__all__ = ["Permutations", "arrangements", "count_arrangements"]

Indices = NDArray[np.intp]
_BLOCK = 4_000_000  # numbers that are held at once


class Permutations:
    """Rearrangements of the rows of a design, against which an observation is judged.

    Two orders that put equal rows in equal places are one arrangement. If there are no more
    arrangements than ``most``, each is taken once, the observed one among them, and p-values are
    exact. Otherwise ``most`` orders are drawn, and the observed one is added.

    Parameters
    ----------
    rows : (u, p)
        Rows of the design; equal rows are interchangeable.
    blocks : (u,), optional
        Rows change places only with rows of the same block.
    most
        How many are looked at.
    """

    def __init__(self, rows: Array, blocks: Indices | None, most: int) -> None:
        self.most = most
        self._ids = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.intp)
        blocks = np.zeros(len(self._ids), dtype=np.intp) if blocks is None else blocks
        self._members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]

    @property
    def n_distinct(self) -> int:
        """Number of different arrangements, at most ``most + 1`` (there may be too many to say)."""
        total = 1
        for members in self._members:
            total *= count_arrangements(self._ids[members])
            if total > self.most:
                return self.most + 1
        return total

    @property
    def exact(self) -> bool:
        """Whether all arrangements are looked at."""
        return self.n_distinct <= self.most

    def orders(self, rng: np.random.Generator, width: int) -> Iterator[Indices]:
        """Yield blocks of orders, each (some, u); the observed one is among them if exact.

        ``width`` is how many numbers are held for each order.
        """
        u = len(self._ids)
        size = max(1, _BLOCK // width)
        if self.exact:
            every = self._every()
            for start in range(0, len(every), size):
                yield every[start : start + size]
            return
        for start in range(0, self.most, size):
            some = min(size, self.most - start)
            if len(self._members) == 1:
                yield rng.permuted(np.tile(np.arange(u), (some, 1)), axis=1)
                continue
            order = np.concatenate(self._members)
            block = np.repeat(np.arange(len(self._members)), [len(m) for m in self._members])
            # Random numbers that never leave the room of their block, sorted.
            shuffled = np.argsort(rng.random((some, u)) + block, axis=1)
            orders = np.empty((some, u), dtype=np.intp)
            orders[:, order] = order[shuffled]
            yield orders

    def _every(self) -> Indices:
        whole = np.arange(len(self._ids))[None, :]
        for members in self._members:
            inner = members[arrangements(self._ids[members])]
            whole = np.repeat(whole, len(inner), axis=0)
            whole[:, members] = np.tile(inner, (len(whole) // len(inner), 1))
        return whole


def count_arrangements(ids: Indices) -> int:
    """Return the number of different orders of things of which some are alike."""
    total, left = 1, len(ids)
    for count in np.unique(ids, return_counts=True)[1]:
        total *= comb(left, int(count))
        left -= int(count)
    return total


def arrangements(ids: Indices) -> Indices:
    """Return orders (count, u) such that ``ids[order]`` are all different arrangements of ids."""
    places = [np.flatnonzero(ids == one) for one in np.unique(ids)]

    def fill(order: Indices, free: Indices, kind: int) -> Iterator[Indices]:
        if kind == len(places) - 1:
            order[free] = places[kind]
            yield order.copy()
            return
        for chosen in combinations(range(len(free)), len(places[kind])):
            picked = list(chosen)
            order[free[picked]] = places[kind]
            yield from fill(order, np.delete(free, picked), kind + 1)

    u = len(ids)
    return np.array(list(fill(np.zeros(u, dtype=np.intp), np.arange(u), 0)), dtype=np.intp)
