"""Principal components of graphs: kept as vectors for arrays, as combinations of sparse graphs.

Components are unit vectors with falling eigenvalues of X^T X, X being the training graphs as rows,
centred or not. Those beyond the rank of X are zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eigengraphs.baselines.pairs import JoinedPairs
from eigengraphs.baselines.spectra import leading
from eigengraphs.solvers.geometry import Symmetric
from eigengraphs.solvers.protocol import column_signs
from eigengraphs.stack import GraphStack

__all__ = ["DenseBasis", "Solution", "SparseBasis"]

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Solution:
    """What training graphs say."""

    basis: Any  # DenseBasis or SparseBasis
    scores: NDArray[np.float64]  # (m, d)
    squares: NDArray[np.float64]  # (d,) sum of squared scores
    total: float  # squared norm of X


@dataclass(frozen=True)
class DenseBasis:
    """Components as vectors."""

    packing: Symmetric
    center: NDArray[np.float64]  # (p,)
    vectors: NDArray[np.float64]  # (d, p)

    @classmethod
    def solve(cls, stack: GraphStack, d: int, *, center: bool) -> Solution:
        """Find the components of training graphs, by the smaller of X X^T and X^T X."""
        packing = Symmetric(stack.n_vertices)
        X = packing.pack(stack.dense)
        m, p = X.shape
        size = float(np.einsum("ij,ij->", X, X))
        mean = X.mean(axis=0) if center else np.zeros(p)
        X -= mean
        vectors = np.zeros((d, p))
        if m <= p:
            squares, W = leading(X @ X.T, min(d, m), "value")
            kept = squares > _floor(squares, m, size)
            vectors[: kept.sum()] = (W[:, kept] / np.sqrt(squares[kept])).T @ X
        else:
            squares, V = leading(X.T @ X, min(d, p), "value")
            kept = squares > _floor(squares, p, size)
            vectors[: kept.sum()] = V[:, kept].T
        scores = X @ vectors.T
        signs = column_signs(scores)
        basis = cls(packing, mean, vectors * signs[:, None])
        total = float(np.einsum("ij,ij->", X, X))
        return Solution(basis, scores * signs, _padded(squares[kept], d), total)

    def scores(self, stack: GraphStack) -> NDArray[np.float64]:
        """Return the scores of graphs, (m', d)."""
        return np.asarray(
            (self.packing.pack(stack.to_dense().dense) - self.center) @ self.vectors.T
        )

    def mean(self) -> NDArray[np.float64]:
        """Return the mean graph, (n, n)."""
        return self.packing.unpack(self.center)

    def components(self) -> NDArray[np.float64]:
        """Return the components as matrices of norm 1, (d, n, n)."""
        return self.packing.unpack(self.vectors)

    def graphs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the graphs that have these scores, (m', n, n)."""
        return self.packing.unpack(scores @ self.vectors + self.center)


@dataclass(frozen=True)
class SparseBasis:
    """Components as combinations of the training graphs, which are never centred entry by entry."""

    pairs: JoinedPairs
    X: sparse.csr_array  # (m, u) training graphs
    share: float  # 1 / m with centring, else 0
    dual: NDArray[np.float64]  # (m, d): component k is sum_i dual[i, k] (x_i - center)
    products: NDArray[np.float64]  # (m,) inner products of training graphs with the center

    @classmethod
    def solve(cls, stack: GraphStack, d: int, *, center: bool) -> Solution:
        """Find the components of training graphs, by the inner products of centred graphs."""
        pairs = JoinedPairs.of(stack)
        X = pairs.vectors(stack)
        m = stack.n_graphs
        share = 1.0 / m if center else 0.0
        K = np.asarray((X @ X.T).toarray())
        size = float(np.trace(K))
        products = share * K.sum(axis=1)
        K = K - products - products[:, None] + share * products.sum()
        squares, W = leading(K, min(d, m), "value")
        # Centring takes differences of inner products, which are exact to rounding of the whole.
        kept = squares > max(_floor(squares, m, size), 8 * _EPS * size if center else 0.0)
        dual, scores = np.zeros((m, d)), np.zeros((m, d))
        r = int(kept.sum())
        scores[:, :r] = W[:, kept] * np.sqrt(squares[kept])
        dual[:, :r] = W[:, kept] / np.sqrt(squares[kept])
        signs = column_signs(scores)
        basis = cls(pairs, X, share, dual * signs, products)
        return Solution(basis, scores * signs, _padded(squares[kept], d), float(np.trace(K)))

    def scores(self, stack: GraphStack) -> NDArray[np.float64]:
        """Return the scores of graphs, (m', d)."""
        K = np.asarray((self.pairs.vectors(stack) @ self.X.T).toarray())
        # The center's own part is the same for all training graphs, and columns of `dual` sum to 0.
        return np.asarray((K - self.products) @ self.dual)

    def mean(self) -> sparse.csr_array:
        """Return the mean graph, (n, n)."""
        return self.pairs.matrices(self._center()[None])[0]

    def components(self) -> tuple[sparse.csr_array, ...]:
        """Return the components as d sparse matrices (n, n) of norm 1."""
        return self.pairs.matrices(self._combined(self.dual.T))

    def graphs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the graphs that have these scores, (m', n, n)."""
        vectors = self._combined(scores @ self.dual.T) + self._center()
        return np.array([A.toarray() for A in self.pairs.matrices(vectors)])

    def _center(self) -> NDArray[np.float64]:
        return np.asarray(self.share * self.X.sum(axis=0))

    def _combined(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sum_i weights[k, i] (x_i - center), (k, u)."""
        whole = np.asarray((self.X.T @ weights.T).T)
        return np.asarray(whole - np.outer(weights.sum(axis=1), self._center()))


def _floor(squares: NDArray[np.float64], k: int, size: float) -> float:
    """Return up to where eigenvalues of k x k inner products are rounding.

    Centred copies of one graph are not exactly zero.
    """
    return max(4 * k * _EPS * float(squares[0]), (4 * _EPS) ** 2 * size)


def _padded(values: NDArray[np.float64], d: int) -> NDArray[np.float64]:
    return np.pad(values, (0, d - len(values)))
