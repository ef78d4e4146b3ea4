"""Loadings and the objective, from inner products of graphs and components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from eigengraphs.solvers.rules import (
    FreeLoadings,
    LoadingRule,
    Seen,
    component_gram,
    objective_of,
    solve_loadings,
    stage_loadings,
)
from eigengraphs.solvers.solution import Array, Fit


@dataclass(frozen=True)
class Projection:
    """Inner products of graphs with components, over the entries that the loss counts."""

    Gamma: Array  # (d, d) of the components with each other
    Psi: Array  # (m, d) of the graphs with the components
    squared_norms: Array  # (m,) of the graphs with themselves

    @property
    def _grams(self) -> Array:
        """Inner products of the components, over what counts: (d, d), or (m, d, d)."""
        return self.Gamma

    def _stages(self, rule: LoadingRule) -> list[Array]:
        """Return loadings with the first 0, 1, ..., d components."""
        return stage_loadings(rule, self.Gamma, self.Psi)

    def first(self, k: int) -> Self:
        """Return the same with the first k components."""
        return replace(self, Gamma=self.Gamma[:k, :k], Psi=self.Psi[:, :k])

    def loadings(self, rule: LoadingRule) -> Array:
        """Return the best loadings that the rule allows, (m, d), graph by graph."""
        if isinstance(rule, FreeLoadings) and self._grams is self.Gamma:
            return solve_loadings(self.Gamma, self.Psi)
        return self._stages(rule)[-1]

    def residuals(self, Lam: Array) -> Array:
        """Return ||A_i - sum_k Lam_ik e_k||^2 with the first components, (m,), Lam (m, k)."""
        k = Lam.shape[1]
        left = self.squared_norms + objective_of(self._grams[..., :k, :k], self.Psi[:, :k], Lam)
        return np.asarray(np.maximum(left, 0.0))

    def loadings_and_path(self, rule: LoadingRule, weights: Array) -> tuple[Array, Array]:
        """Return the loadings, (m, d), and the objective's path, (d + 1,).

        The path is sum_i w_i ||residual_i||^2 with the first 0, 1, ..., d components.
        """
        stages = self._stages(rule)
        return stages[-1], np.array([weights @ self.residuals(Lam) for Lam in stages])

    def grouped(self, mixing: Array) -> Self:
        """Return the same of groups that share their loadings, by their means.

        Parameters
        ----------
        mixing : (c, m)
            Weight of each graph in the mean of each group.
        """
        norms = mixing @ self.squared_norms
        return replace(self, Psi=mixing @ self.Psi, squared_norms=norms)


@dataclass(frozen=True)
class BatchProjection(Projection):
    """The same for the last graphs of many, with rows that stand for all of them.

    The rows are a root of the second moment of all graphs: the sum of their residuals is the
    objective of all.
    """

    rows: Projection

    def first(self, k: int) -> Self:
        """Return the same with the first k components."""
        return replace(super().first(k), rows=self.rows.first(k))

    def loadings_and_path(self, rule: LoadingRule, weights: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Return the loadings of the last graphs, (m, d), and the objective's path of all."""
        ones = np.ones(len(self.rows.Psi))
        return self.loadings(rule), self.rows.loadings_and_path(rule, ones)[1]


@dataclass(frozen=True)
class MaskedProjection(Projection):
    """The same where each graph has inner products of its own; Gamma is over all entries.

    That is so with hidden entries, and degree-corrected: there, nothing is hidden.
    """

    Gammas: Array  # (m, d, d) of the components, over what each graph observes
    observed: Array | None  # (m,) share of its entries that each graph observes, if some are hidden

    @property
    def _grams(self) -> Array:
        return self.Gammas

    def _stages(self, rule: LoadingRule) -> list[Array]:
        seen = None if self.observed is None else Seen(self.Gamma, self.observed)
        return stage_loadings(rule, self.Gammas, self.Psi, seen)

    def first(self, k: int) -> Self:
        """Return the same with the first k components."""
        return replace(super().first(k), Gammas=self.Gammas[:, :k, :k])

    def grouped(self, mixing: Array) -> Self:
        """Return the same of groups that share their loadings; see :class:`Projection`."""
        Gammas = np.tensordot(mixing, self.Gammas, axes=1)
        observed = None if self.observed is None else mixing @ self.observed
        return replace(super().grouped(mixing), Gammas=Gammas, observed=observed)


def gram(fit: Fit, *, hollow: bool) -> Array:
    """Return the inner products of the components, zero for those that are nothing, (d, d)."""
    return component_gram(fit.H * fit.active, fit.G, hollow=hollow)


def project(graphs: Any, fit: Fit, *, hollow: bool, Psi: Array | None = None) -> Projection:
    """Return the inner products of graphs with the components of a fit.

    Reads the graphs once, unless their inner products with the components, ``Psi`` (m, d), are
    known.
    """
    sides = (fit.H,) if fit.G is None else (fit.H, fit.G)
    if Psi is None:
        Psi = graphs.forms(*sides)
    Gamma = gram(fit, hollow=hollow)
    if not hasattr(graphs, "grams"):
        return Projection(Gamma, Psi, graphs.squared_norms())
    Gammas = graphs.grams(*sides) * np.outer(fit.active, fit.active)
    observed = graphs.observed() if hasattr(graphs, "observed") else None
    return MaskedProjection(Gamma, Psi, graphs.squared_norms(), Gammas, observed)
