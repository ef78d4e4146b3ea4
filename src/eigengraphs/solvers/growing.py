"""Rows that come one after the other, in one array."""

from __future__ import annotations

import numpy as np

from eigengraphs.solvers.protocol import Array

__all__ = ["GrowingRows"]


class GrowingRows:
    """An array that gets rows; room is made for twice as many when there is none.

    To stack them anew for each costs as much as the work on them.

    Parameters
    ----------
    first : (k, p)
        The first rows.
    """

    def __init__(self, first: Array) -> None:
        self._room, self._count = first, len(first)

    def append(self, row: Array) -> None:
        """Add a row, (p,)."""
        if self._count == len(self._room):
            wider = np.empty((2 * self._count + 8, self._room.shape[1]))
            wider[: self._count] = self.rows
            self._room = wider
        self._room[self._count] = row
        self._count += 1

    @property
    def rows(self) -> Array:
        """All of them, (k, p): a view, which a further row leaves as it is."""
        return self._room[: self._count]
