"""The objective of all columns at once, on cores: its value, gradient and bound.

With loadings at their best under a rule, what is left of the graphs depends on the components,

    phi(H) = sum_i w_i min_lam ||A_i - sum_k lam_k h_k h_k^T||^2,

alone, and not on their lengths. By the envelope theorem its gradient is that for fixed loadings,
-4 r with

    r_k = sum_i w_i Lam_ik (A_i - sum_j Lam_ij h_j h_j^T) h_k.

A minimum need not exist: two columns may come together while their loadings go to infinity with
opposite signs. So phi is bent upwards, once differentiable, where the inner products Gamma of the
components have small eigenvalues; and, if the diagonal is unobserved, near a single vertex, as
:mod:`quotient` does for one component.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import linalg

from eigengraphs.solvers.loadings import component_gram
from eigengraphs.solvers.packing import Packing
from eigengraphs.solvers.protocol import Array
from eigengraphs.solvers.quotient import norm_curvature, norm_gradient, squared_norm
from eigengraphs.solvers.rules import objective_of

__all__ = ["Bend", "Objective", "Point", "carried", "holding", "relative", "search_gram", "tangent"]

Loadings: TypeAlias = Callable[[Array, Array], Array]  # (Gamma, Psi) -> Lam

_WAY = 4.0  # from where the bending begins to the bound
_STRENGTH = 0.01  # of the graphs' squared norm: a hundred times what is to be gained beyond
_LEAST = 1e-14  # relative eigenvalue that is told from zero
_DEPENDENT = 1e-10  # and what is taken for one of components that are the same


def search_gram(H: Array, *, hollow: bool) -> Array:
    """Return Gamma (d, d) with the norms of :mod:`quotient`, which do not vanish at a vertex."""
    Gamma = component_gram(H, hollow=hollow)
    if hollow:
        np.fill_diagonal(Gamma, squared_norm((H**4).sum(axis=0)))
    return Gamma


def holding(H: Array, N: Array, *, hollow: bool) -> Array:
    """Return sum_j N_kj h_j h_j^T h_k, (n, d), for symmetric ``N``: d/dH of <N, Gamma> over 4."""
    held: Array = H @ (N * (H.T @ H))
    if hollow:
        held -= (H**2 @ N) * H
        held += np.diagonal(N) * (norm_gradient(H) - H + H**3)
    return held


@dataclass(frozen=True)
class Bend:
    """What is added to the objective where components are nearly dependent.

    strength * sum_e max(0, log(b / e))^2 over the eigenvalues e of Gamma, b = ||Gamma|| / begin.

    Attributes
    ----------
    begin : float
        ||Gamma|| over the smallest eigenvalue, at least the condition number, from which on it
        bends.
    end : float
        Beyond this it is infinite.
    strength : float
        In units of the objective.
    """

    begin: float
    end: float
    strength: float

    @classmethod
    def at(cls, max_condition: float, Gamma: Array, total: float) -> Bend:
        """Return the bend that keeps within ``max_condition``, or brings a worse start back.

        Parameters
        ----------
        max_condition
            The bound.
        Gamma : (d, d)
            Inner products at the start.
        total
            Squared norm of the graphs.
        """
        # A ratio of sqrt(d) is that of orthonormal components.
        begin = max(max_condition / _WAY, 2 * np.sqrt(len(Gamma)))
        return cls(begin, max(_WAY * begin, 1.01 * _ratio(Gamma)), _STRENGTH * total)

    def __call__(self, Gamma: Array) -> tuple[float, Array, Array]:
        """Return its value, infinite out of bounds, its gradient (d, d) and its curvature.

        The latter are matrices K (e, d, d): the bend's Hessian is about sum_e K_e K_e^T, if K_e is
        taken as a vector.
        """
        size = float(linalg.norm(Gamma))
        values, vectors = linalg.eigh(Gamma, driver="evd", check_finite=False)
        none, flat = np.zeros_like(Gamma), np.zeros((0, *Gamma.shape))
        if size / max(float(values[0]), _LEAST * size) > self.end:
            return np.inf, none, flat
        depth = np.log(np.maximum(size / self.begin / np.maximum(values, _LEAST * size), 1.0))
        if not depth.any():
            return 0.0, none, flat
        values = np.maximum(values, _LEAST * size)
        gradient = (vectors * (-2 * self.strength * depth / values)) @ vectors.T
        gradient += 2 * self.strength * depth.sum() * Gamma / size**2
        bent = depth > 0
        v = vectors[:, bent].T
        sizes = np.sqrt(2 * self.strength) / values[bent]
        curvature = sizes[:, None, None] * v[:, :, None] * v[:, None, :]
        return self.strength * float(depth @ depth), gradient, curvature

    def met(self, Gamma: Array) -> bool:
        """Tell whether Gamma is where the objective is bent, or a hundredth short of it."""
        return _ratio(Gamma) > 0.99 * self.begin


def _ratio(Gamma: Array) -> float:
    """Return ||Gamma|| over its smallest eigenvalue."""
    size = float(linalg.norm(Gamma))
    return size / max(float(linalg.eigvalsh(Gamma)[0]), _LEAST * size)


@dataclass(frozen=True)
class Point:
    """The objective at unit columns."""

    Y: Array  # (s, d)
    value: float  # bent, less sum_i w_i ||A_i||^2; infinite out of bounds
    r: Array  # (s, d) minus a quarter of the gradient
    Lam: Array  # (r, d)
    weighted: Array  # (r, d) w_i Lam_ik
    N: Array  # (d, d) sum_i w_i Lam_ij Lam_ik and what the bend adds
    M: Array  # (d, d) the former alone
    Gamma: Array  # (d, d)
    bent: Array  # (e, s, d) vectors x: bending adds about the sum of x x^T to the Hessian

    @property
    def stationarity(self) -> Array:
        """Return ||r_k|| / theta_k, (d,)."""
        return relative(self.r, carried(self.M, self.Gamma))


def carried(M: Array, Gamma: Array) -> Array:
    """Return theta_k = sum_i w_i Lam_ik^2 / (Gamma^-1)_kk, (d,), for M = sum_i w_i lam_i lam_i^T.

    1 / (Gamma^-1)_kk is the squared norm of what h_k h_k^T has outside of the span of the others,
    so that theta_k is what the objective would rise by without component k. The whole norm would
    call loadings that cancel large, and any gradient small beside them.
    """
    least = _DEPENDENT * float(np.trace(Gamma))
    inverse = linalg.inv(Gamma + least * np.eye(len(Gamma)), check_finite=False)
    return np.asarray(np.diagonal(M) / np.diagonal(inverse))


def relative(r: Array, theta: Array) -> Array:
    """Return ||r_k|| / theta_k, (d,); nothing for a component that carries nothing."""
    sizes: Array = np.sqrt((r**2).sum(axis=0))
    return np.divide(sizes, theta, out=np.zeros_like(sizes), where=theta > 0)


class Objective:
    """phi on cores, bent.

    Parameters
    ----------
    R : (r, p)
        Packed cores V^T A_i V.
    weights : (r,)
        Weight of each.
    V : (n, s)
        Orthonormal columns.
    loadings
        Best loadings for given Gamma and Psi.
    penalty
        2 penalty sum_k ||h_k h_k^T|| |lam_k| is part of what the loadings minimise.
    bend
        The bound.
    hollow
        The pairs s = t take no part in the loss.
    """

    def __init__(
        self,
        R: Array,
        weights: Array,
        V: Array,
        loadings: Loadings,
        penalty: float,
        bend: Bend,
        *,
        hollow: bool,
    ) -> None:
        self._R, self._weights, self._V = R, weights, V
        self._packing = Packing(V.shape[1])
        self._loadings, self._penalty, self._bend, self._hollow = loadings, penalty, bend, hollow

    def __call__(self, Y: Array) -> Point:
        """Return the objective at the unit columns of ``Y`` (s, d)."""
        H = self._V @ Y if self._hollow else Y
        Gamma = search_gram(H, hollow=self._hollow)
        bent, D, curvature = self._bend(Gamma)
        if not np.isfinite(bent):
            return Point(Y, bent, np.zeros_like(Y), D, D, D, D, Gamma, np.zeros((0, *Y.shape)))
        Psi = self._R @ self._packing.outer(Y.T).T
        Lam = self._loadings(Gamma, Psi)
        weighted = self._weights[:, None] * Lam
        M = weighted.T @ Lam
        value = float(self._weights @ objective_of(Gamma, Psi, Lam)) + bent
        if self._penalty:
            sums, norms = np.abs(weighted).sum(axis=0), np.sqrt(np.diagonal(Gamma))
            value += 2 * self._penalty * float(sums @ norms)
            D = D + np.diag(self._penalty * sums / norms)
        r = self._packing.multiply(weighted.T @ self._R, Y.T).T  # sum_i w_i Lam_ik C_i y_k
        # Tangent, as lengths do not matter, but for rounding.
        r = tangent(Y, r - self._inside(holding(H, M + D, hollow=self._hollow)))
        turns = [4 * self._inside(holding(H, K, hollow=self._hollow)) for K in curvature]
        if self._hollow:
            alone = self._inside(np.sqrt(np.diagonal(M)) * norm_curvature(H))
            turns += [alone * (np.arange(Y.shape[1]) == k) for k in np.flatnonzero(alone.any(0))]
        bends = np.array([tangent(Y, turn) for turn in turns]).reshape(-1, *Y.shape)
        return Point(Y, value, r, Lam, weighted, M + D, M, Gamma, bends)

    def _inside(self, X: Array) -> Array:
        """Return the coordinates, (s, d), of what is (n, d) if H is."""
        return np.asarray(self._V.T @ X if self._hollow else X)


def tangent(Y: Array, X: Array) -> Array:
    """Return X without what would change the lengths of the columns."""
    return np.asarray(X - Y * (Y * X).sum(axis=0))
