"""What components take off the graphs, as the core sees it.

Because all loadings are solved again after each component, what k components leave of a graph is
its part orthogonal to their span, in the inner product over the entries that the loss counts. Let
e_k be the entries of h_k h_k^T that count, and q_k what is left of e_k after Gram and Schmidt.
Then one component takes <R_i, h_k h_k^T> q_k / ||q_k||^2 off R_i, and the graphs are not
needed for it: <h h^T, q_k> = y^T (V^T q_k V) y for h = V y. The same holds for h_k g_k^T
(:mod:`directed.pairs`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import linalg

from eigengraphs.solvers.growing import GrowingRows
from eigengraphs.solvers.loadings import component_gram
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array

__all__ = ["Deflation", "Outer", "packed_components"]


class Outer(Protocol):
    """How a component in the basis becomes a vector."""

    def outer(self, Y: Array) -> Array:
        """Return packed components, (b, p), of norm 1, for points, the rows of ``Y``."""
        ...


def packed_components(packing: Packing, V: Array, H: Array, Y: Array, hollow: bool) -> Array:
    """Return V^T e_k V packed, (d, p), for H (n, d) and Y = V^T H (s, d)."""
    E = packing.outer(Y.T)
    if hollow:
        E = E - np.array([packing.pack(V.T @ ((h**2)[:, None] * V)) for h in H.T]).reshape(E.shape)
    return E


class Deflation:
    """The q_k of the components so far.

    Parameters
    ----------
    packing
        Of s x s matrices.
    V : (n, s)
        The basis.
    frozen : (n, k)
        Earlier components, in the span of V or not. The cores are already without them.
    hollow
        Whether the pairs s = t take no part in the loss.
    """

    def __init__(self, packing: Packing, V: Array, frozen: Array, hollow: bool) -> None:
        self._V, self._hollow, self._symmetric = V, hollow, packing
        E = packed_components(packing, V, frozen, V.T @ frozen, hollow)
        self._begin(packing, component_gram(frozen, hollow=hollow), E)

    def _begin(self, packing: Outer, Gamma: Array, E: Array) -> None:
        """Start from frozen components, ``Gamma`` (k, k) and in the basis ``E`` (k, p)."""
        self._packing = packing
        values, vectors = np.zeros(0), np.zeros((0, 0))
        if Gamma.size:
            values, vectors = linalg.eigh(Gamma, driver="evd")
        keep = values > 1e-13 * max(values[-1:].sum(), 1e-300)
        # An orthonormal basis of the frozen components, as combinations of them.
        self._combination = (vectors[:, keep] / np.sqrt(values[keep])).T
        self._q = GrowingRows(self._combination @ E)  # V^T q_j V packed, (j, p)
        self._n_old = len(self._combination)
        self._squares = np.ones(self._n_old)  # ||q_j||^2

    @property
    def n_known(self) -> int:
        """How many directions are taken off, by earlier components and by new ones."""
        return len(self._squares)

    @property
    def known(self) -> Array:
        """Earlier components in the basis, packed, (j, p): orthonormal as components."""
        return self._q.rows[: self._n_old]

    def _diagonal(self, y: Array) -> tuple[Array, float]:
        """Return the diagonal of h h^T in the basis, packed, and its squared norm."""
        h = self._V @ y
        on_diagonal = self._symmetric.pack(self._V.T @ ((h**2)[:, None] * self._V))
        return on_diagonal, float((h**4).sum())

    def remaining(self, Y: Array, squares: Array, Z: Array | None = None) -> Array:
        """Return ||q||^2, (b,), of rows of ``Y`` (b, s) whose ||e||^2 are in ``squares``.

        ``Z`` (b, p) holds them packed, if they are known.
        """
        overlaps = (self._packing.outer(Y) if Z is None else Z) @ self._q.rows.T
        left: Array = squares - (overlaps**2 / self._squares).sum(axis=1)
        return left

    def add(self, y: Array) -> tuple[Array, float]:
        """Take in the component h = V y; return V^T q V packed, (p,), and ||q||^2."""
        z = self._packing.outer(y[None])[0]
        e, square = z, 1.0
        if self._hollow:
            on_diagonal, size = self._diagonal(y)
            e, square = z - on_diagonal, 1.0 - size
        Q = self._q.rows
        overlaps = Q @ z / self._squares  # <h h^T, q_j> / ||q_j||^2
        q = e - overlaps @ Q
        if self._n_old == 0 and not self._hollow:
            # q lies in the core, and a second round keeps the digits of nearly dependent ones.
            again = Q @ q / self._squares
            overlaps, q = overlaps + again, q - again @ Q
            square = float(q @ q)
        else:
            square -= float(overlaps**2 @ self._squares)
        square = max(square, 1e-14)
        j, k = self._combination.shape
        combination = np.zeros((j + 1, k + 1))
        combination[:j, :k] = self._combination
        combination[j, :k] = -overlaps @ self._combination
        combination[j, k] = 1.0
        self._combination = combination
        self._q.append(q)
        self._squares = np.append(self._squares, square)
        return q, square

    def projections(self, Psi: Array, Y: Array) -> tuple[Array, Array, Array]:
        """Split inner products of graphs with the new components by stage.

        Parameters
        ----------
        Psi : (m, d)
            <R_i, h_k h_k^T> with R_i the graphs less the frozen components.
        Y : (s, d)
            The new components in the basis.

        Returns
        -------
        T : (m, d)
            <R_ik, h_k h_k^T> with R_ik what the components before k leave.
        squares : (d,)
            ||q_k||^2.
        combination : (d, j)
            The q_k as combinations of all components, frozen ones first.
        """
        Q, squares = self._q.rows[self._n_old :], self._squares[self._n_old :]
        d = len(Q)
        overlaps = self._packing.outer(Y[:, :d].T) @ Q.T / squares  # (d, d)
        # T_k = Psi_k - sum_{j < k} T_j overlaps_kj: a triangular system.
        lower = np.tril(overlaps, -1) + np.eye(d)
        T = linalg.solve_triangular(lower, Psi[:, :d].T, lower=True, unit_diagonal=True).T
        return np.asarray(T), squares, self._combination[self._n_old :]
