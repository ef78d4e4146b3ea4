"""Loadings and the objective, from inner products of graphs and components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError
from eigengraphs.solvers.loadings import active_gram, solve_loadings
from eigengraphs.solvers.loadings_each import solve_loadings_each
from eigengraphs.solvers.protocol import Fit
from eigengraphs.solvers.ruled import stage_loadings
from eigengraphs.solvers.rules import FreeLoadings, LoadingRule, objective_of

__all__ = ["BatchProjection", "MaskedProjection", "Projection", "gram", "project"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Projection:
    """Inner products of graphs with components, over the entries that the loss counts."""

    Gamma: Array  # (d, d) of the components with each other
    Psi: Array  # (m, d) of the graphs with the components
    squared_norms: Array  # (m,) of the graphs with themselves

    def first(self, k: int) -> Projection:
        """Return the same with the first k components."""
        return Projection(self.Gamma[:k, :k], self.Psi[:, :k], self.squared_norms)

    def loadings(self, rule: LoadingRule) -> Array:
        """Return the best loadings that the rule allows, (m, d), graph by graph."""
        if isinstance(rule, FreeLoadings):
            return solve_loadings(self.Gamma, self.Psi)
        return stage_loadings(rule, self.Gamma, self.Psi)[-1]

    def residuals(self, Lam: Array) -> Array:
        """Return ||A_i - sum_k Lam_ik e_k||^2 with the first components, (m,), Lam (m, k)."""
        k = Lam.shape[1]
        left = self.squared_norms + objective_of(self.Gamma[:k, :k], self.Psi[:, :k], Lam)
        return np.maximum(left, 0.0)

    def loadings_and_path(self, rule: LoadingRule, weights: Array) -> tuple[Array, Array]:
        """Return the loadings, (m, d), and the objective's path, (d + 1,).

        The path is sum_i w_i ||residual_i||^2 with the first 0, 1, ..., d components.
        """
        stages = stage_loadings(rule, self.Gamma, self.Psi)
        return stages[-1], np.array([weights @ self.residuals(Lam) for Lam in stages])

    def grouped_path(self, mixing: Array, group_weights: Array, weights: Array) -> Array:
        """Return the objective's path when the graphs of a group share their loadings, (d + 1,).

        Parameters
        ----------
        mixing : (c, m)
            Weight of each graph in the mean of each group.
        group_weights, weights : (c,), (m,)
            Of the groups and of the graphs in the objective.
        """
        Psi = mixing @ self.Psi
        total = float(weights @ self.squared_norms)
        stages = stage_loadings(FreeLoadings(), self.Gamma, Psi)
        explained = [
            group_weights @ objective_of(self.Gamma[:k, :k], Psi[:, :k], Lam)
            for k, Lam in enumerate(stages)
        ]
        return np.maximum(total + np.array(explained), 0.0)


@dataclass(frozen=True)
class BatchProjection(Projection):
    """The same for the last graphs of many, with rows that stand for all of them.

    The rows are a root of the second moment of all graphs: the sum of their residuals is the
    objective of all.
    """

    rows: Projection

    def first(self, k: int) -> BatchProjection:
        """Return the same with the first k components."""
        mine = super().first(k)
        return BatchProjection(mine.Gamma, mine.Psi, mine.squared_norms, self.rows.first(k))

    def loadings_and_path(self, rule: LoadingRule, weights: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Return the loadings of the last graphs, (m, d), and the objective's path of all."""
        ones = np.ones(len(self.rows.Psi))
        return self.loadings(rule), self.rows.loadings_and_path(rule, ones)[1]


@dataclass(frozen=True)
class MaskedProjection:
    """The same where graphs have hidden entries: each has inner products of its own."""

    Gammas: Array  # (m, d, d) of the components, over what each graph observes
    Psi: Array  # (m, d) of the graphs with the components
    squared_norms: Array  # (m,)
    Gamma: Array  # (d, d) of the components over all entries
    observed: Array  # (m,) share of its entries that each graph observes

    def first(self, k: int) -> MaskedProjection:
        """Return the same with the first k components."""
        return MaskedProjection(
            self.Gammas[:, :k, :k], self.Psi[:, :k], self.squared_norms, self.Gamma[:k, :k],
            self.observed,
        )  # fmt: skip

    def loadings(self, rule: LoadingRule) -> Array:
        """Return the least-squares loadings, (m, d), graph by graph."""
        if not isinstance(rule, FreeLoadings):
            raise InputError(
                "graphs with missing entries can only have free loadings, and this fit has others; "
                "fill the missing entries"
            )
        return solve_loadings_each(self.Gammas, self.Psi, self.Gamma, self.observed)

    def residuals(self, Lam: Array) -> Array:
        """Return ||A_i - sum_k Lam_ik e_k||^2 over observed entries, (m,), Lam (m, k)."""
        k = Lam.shape[1]
        squares = np.einsum("ij,ijk,ik->i", Lam, self.Gammas[:, :k, :k], Lam)
        left = self.squared_norms + squares - 2 * np.einsum("ik,ik->i", Lam, self.Psi[:, :k])
        return np.asarray(np.maximum(left, 0.0))

    def loadings_and_path(self, rule: LoadingRule, weights: Array) -> tuple[Array, Array]:
        """Return the loadings, (m, d), and the objective's path, (d + 1,)."""
        path = []
        for k in range(self.Psi.shape[1] + 1):
            Lam = self.first(k).loadings(rule)
            path.append(weights @ self.residuals(Lam))
        return Lam, np.array(path)


def gram(fit: Fit, *, hollow: bool) -> Array:
    """Return the inner products of the components, zero for those that are nothing, (d, d)."""
    return active_gram(fit.H, fit.active, G=fit.G, hollow=hollow)


def project(
    view: Any, fit: Fit, *, hollow: bool, Psi: Array | None = None
) -> Projection | MaskedProjection:
    """Return the inner products of graphs with the components of a fit.

    Reads the graphs once, unless their inner products with the components, ``Psi`` (m, d), are
    known.
    """
    if Psi is None:
        Psi = view.quadratic_forms(fit.H) if fit.G is None else view.bilinear_forms(fit.H, fit.G)
    Gamma = gram(fit, hollow=hollow)
    if not hasattr(view, "grams"):
        return Projection(Gamma, Psi, view.squared_norms())
    Gammas = view.grams(fit.H) * np.outer(fit.active, fit.active)
    return MaskedProjection(Gammas, Psi, view.squared_norms(), Gamma, view.observed())
