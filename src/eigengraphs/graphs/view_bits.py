"""Products of dense graphs of zeros and ones, which are kept a bit an entry beside the array.

The same methods as those of :class:`~eigengraphs.graphs.view_dense.DenseProducts`, with another
way to multiply: by tables of sums (:mod:`bit_kernels`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs.bit_kernels import NARROW, WIDE, WORD, multiply_words, table_rows
from eigengraphs.graphs.stack import GraphStack
from eigengraphs.graphs.view_dense import DenseProducts, products_at_hand
from eigengraphs.graphs.word_kernels import column_counts

__all__ = ["BitProducts", "dense_products"]

_CACHE_BYTES = 2**18  # of running sums
_STEP_WORDS = 2**15  # of graphs that are multiplied in one step, lest there are too many


def dense_products(stack: GraphStack) -> DenseProducts:
    """Return the products of a dense stack, by bits where it has them."""
    words = stack.words
    return DenseProducts(stack.dense) if words is None else BitProducts(stack.dense, words)


class BitProducts(DenseProducts):
    """Products B^T A_i of graphs whose entries are bits.

    Parameters
    ----------
    A : (m, n, n)
        The graphs.
    words : (m, ceil(n / WORD), n)
        The same, as :func:`~eigengraphs.graphs.bit_kernels.pack_graphs` gives them.
    """

    def __init__(self, A: NDArray[Any], words: NDArray[np.uint32]) -> None:
        super().__init__(A)
        self._words = words
        self._once = products_at_hand(A)
        self._again = max(1, _STEP_WORDS // words[0].size)  # those that count nothing are skipped

    def times(
        self, BT: NDArray[Any], lo: int, hi: int, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return B^T A_i, (hi - lo, b, n)."""
        P = np.empty((hi - lo, *BT.shape), dtype=self._A.dtype) if out is None else out
        for some, (columns, tables, sums) in self._slabs(len(BT), hi - lo):
            multiply_words(self._words[lo:hi], BT[some], columns, tables, sums, P[:, some])
        return P

    def times_each(self, P: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
        """Return P_i A_i for ``P`` (hi - lo, b, n), rows of its own for each graph."""
        Q = np.empty_like(P)
        for some, (columns, tables, sums) in self._slabs(P.shape[1], 1):
            for i in range(hi - lo):
                words, place = self._words[lo + i : lo + i + 1], Q[i : i + 1, some]
                multiply_words(words, P[i, some], columns, tables, sums, place)
        return Q

    def _slabs(self, b: int, n_graphs: int) -> Iterator[tuple[slice, tuple[NDArray[Any], ...]]]:
        """Yield which of b columns are multiplied together, and scratch for some graphs."""
        k, itemsize = 0, self._A.itemsize
        _, n_words, n = self._words.shape
        while k < b:
            width = WIDE if (b - k) * itemsize > NARROW else NARROW
            few = min(n_graphs, max(1, _CACHE_BYTES // (n * width)))
            rows, c = (n_words * WORD, table_rows(width), few * n), width // itemsize
            yield slice(k, k + c), tuple(_in_lines(count, c, self._A.dtype) for count in rows)
            k += c

    def row_sums(self) -> NDArray[np.float64]:
        """Return A_i 1, (m, n), of symmetric graphs."""
        return column_counts(self._words)


def _in_lines(rows: int, columns: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an empty array none of whose rows, WIDE or NARROW bytes, cross a line of the cache."""
    room = np.empty(rows * columns + WIDE // dtype.itemsize, dtype=dtype)
    first = -room.ctypes.data % WIDE // dtype.itemsize
    return room[first : first + rows * columns].reshape(rows, columns)
