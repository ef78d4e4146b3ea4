"""Sparse graphs as sparse vectors of vertex pairs, with inner products kept.

``solvers.packing`` does the same to arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.stack import GraphStack

__all__ = ["JoinedPairs"]

_ROOT = np.sqrt(2.0)  # a pair s < t stands for two entries


@dataclass(frozen=True)
class JoinedPairs:
    """The u pairs s <= t that some training graph joins, as numbers s n + t, rising."""

    n: int
    codes: NDArray[np.int64]  # (u,)

    @classmethod
    def of(cls, stack: GraphStack) -> JoinedPairs:
        """Find the pairs of training graphs."""
        return cls(stack.n_vertices, np.unique(_upper(stack)[1]))

    def vectors(self, stack: GraphStack) -> sparse.csr_array:
        """Return the graphs as rows, (m, u); other pairs are left out."""
        graph, codes, values = _upper(stack)
        column = np.searchsorted(self.codes, codes)
        known = column < len(self.codes)
        known[known] = self.codes[column[known]] == codes[known]
        places = (graph[known], column[known])
        shape = (stack.n_graphs, len(self.codes))
        return sparse.csr_array(sparse.coo_array((values[known], places), shape=shape))

    def matrices(self, X: NDArray[np.float64]) -> tuple[sparse.csr_array, ...]:
        """Return rows (k, u) as sparse matrices (n, n)."""
        s, t = np.divmod(self.codes, self.n)
        off = s < t
        ends = (np.r_[s, t[off]], np.r_[t, s[off]])
        scaled = np.where(off, X / _ROOT, X)
        values = np.concatenate([scaled, scaled[:, off]], axis=1)
        shape = (self.n, self.n)
        return tuple(sparse.csr_array(sparse.coo_array((v, ends), shape=shape)) for v in values)


def _upper(
    stack: GraphStack,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return graph, pair and value of each entry s <= t, the value ready for inner products."""
    flat, n = stack.to_sparse().flat, stack.n_vertices
    row = np.repeat(np.arange(flat.shape[0], dtype=np.int64), np.diff(flat.indptr))
    graph, s = np.divmod(row, n)
    t = flat.indices.astype(np.int64)
    upper = s <= t
    graph, s, t = graph[upper], s[upper], t[upper]
    values = np.where(s < t, _ROOT, 1.0) * flat.data[upper]
    return graph, s * n + t, values
