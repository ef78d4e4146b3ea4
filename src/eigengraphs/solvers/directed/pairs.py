"""Pairs of vectors, one column each with h above g, and what deflation makes of h g^T."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.deflation import Deflation
from eigengraphs.solvers.directed.kernels import pack_pairs
from eigengraphs.solvers.loadings import component_gram
from eigengraphs.solvers.protocol import Array

__all__ = ["PairDeflation", "PairPacking", "pair_cosines", "pair_gram", "unit_pairs"]


class PairPacking:
    """Matrices (s, t) as vectors of p = s t entries, row by row, and points (s + t,) as y z^T."""

    def __init__(self, s: int, t: int) -> None:
        self.s, self.t = s, t

    @property
    def size(self) -> int:
        """Length p of a packed matrix."""
        return self.s * self.t

    def pack(self, C: Array) -> Array:
        """Return packed matrices, (..., p), of ``C`` (..., s, t)."""
        return C.reshape(*C.shape[:-2], self.size)

    def unpack(self, Z: Array) -> Array:
        """Return matrices, (..., s, t), of packed ones ``Z`` (..., p)."""
        return Z.reshape(*Z.shape[:-1], self.s, self.t)

    def outer(self, Y: Array) -> Array:
        """Return packed y z^T, (b, p), for the rows (y, z) of ``Y`` (b, s + t)."""
        packed: Array = np.empty((len(Y), self.size))
        pack_pairs(np.ascontiguousarray(Y), self.s, packed)
        return packed

    def rough_outer(self, Y: Array) -> NDArray[np.float32]:
        """Return the same in float32."""
        packed: NDArray[np.float32] = np.empty((len(Y), self.size), dtype=np.float32)
        pack_pairs(np.ascontiguousarray(Y), self.s, packed)
        return packed

    def cosines(self, X: Array, other: Array) -> Array:
        """Return <y z^T, y' z'^T>, (b, c), for the rows of ``X`` (b, s + t) and ``other``."""
        s = self.s
        cosines: Array = (X[:, :s] @ other[:, :s].T) * (X[:, s:] @ other[:, s:].T)
        return cosines


def unit_pairs(X: Array, s: int) -> Array:
    """Return pairs whose halves have length 1; the rows of ``X`` (..., s + t) are the pairs."""
    y, z = X[..., :s], X[..., s:]
    lengths = (np.sqrt((x**2).sum(axis=-1, keepdims=True)) for x in (y, z))
    return np.concatenate([x / length for x, length in zip((y, z), lengths, strict=True)], axis=-1)


def pair_gram(X: Array, *, hollow: bool) -> Array:
    """Return Gamma of components, the columns of ``X`` (2 n, d)."""
    n = len(X) // 2
    return component_gram(X[:n], X[n:], hollow=hollow)


def pair_cosines(X: Array, other: Array) -> Array:
    """Return <h g^T, h' g'^T>, column by column, (d,)."""
    n = len(X) // 2
    products = X * other
    cosines: Array = products[:n].sum(axis=0) * products[n:].sum(axis=0)
    return cosines


class PairDeflation(Deflation):
    """What components h g^T take off the graphs; see :class:`~eigengraphs.solvers.deflation`.

    Parameters
    ----------
    U, V : (n, s), (n, t)
        The bases.
    frozen : (2 n, k)
        Earlier components, in the spans of U and V or not.
    hollow
        Whether the pairs s = t take no part in the loss.
    """

    def __init__(self, U: Array, V: Array, frozen: Array, hollow: bool) -> None:
        n = len(U)
        self._U, self._V, self._hollow = U, V, hollow
        self._pairs = PairPacking(U.shape[1], V.shape[1])
        E = self._pairs.outer(np.vstack([U.T @ frozen[:n], V.T @ frozen[n:]]).T)
        if hollow:
            E = E - np.array([self._in_basis(hg) for hg in (frozen[:n] * frozen[n:]).T]).reshape(
                E.shape
            )
        self._begin(self._pairs, pair_gram(frozen, hollow=hollow), E)

    def _in_basis(self, diagonal: Array) -> Array:
        """Return U^T Diag(diagonal) V, packed."""
        return self._pairs.pack(self._U.T @ (diagonal[:, None] * self._V))

    def _diagonal(self, x: Array) -> tuple[Array, float]:
        """Return the diagonal of h g^T in the basis, packed, and its squared norm."""
        s = self._pairs.s
        hg = (self._U @ x[:s]) * (self._V @ x[s:])
        return self._in_basis(hg), float(hg @ hg)
