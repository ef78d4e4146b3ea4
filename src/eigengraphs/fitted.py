"""What a fit stores: every fitted attribute, from components and their inner products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.graphs import GraphStack
from eigengraphs.plan import Plan
from eigengraphs.projection import MaskedProjection, Projection
from eigengraphs.settings import FIXED_BY_FIT
from eigengraphs.solvers.loadings import condition
from eigengraphs.solvers.protocol import Fit
from eigengraphs.solvers.quotient import CONCENTRATED

__all__ = ["FittedAttributes"]

_MANY_NAMES = 100_000
_OF_SOME_FITS = (
    "_vertex_table", "class_loadings_", "classes_", "cluster_", "latent_positions_right_",
    "refinement_", "shared_loadings_",
)  # fmt: skip


class FittedAttributes:
    """The attributes of :class:`~eigengraphs.JointEmbedding` that end in an underscore."""

    _plan: Plan

    def _learn_names(self, stack: GraphStack, settings: Mapping[str, Any]) -> None:
        """Set what does not depend on components."""
        self._dtype, self._is_weighted = stack.dtype, stack.is_weighted
        self._fitted_with = {name: settings[name] for name in FIXED_BY_FIT}
        self.n_vertices_ = stack.n_vertices
        self.__dict__.pop("vertex_names_", None)
        if stack.has_vertex_names or stack.n_vertices <= _MANY_NAMES:
            self.vertex_names_ = stack.vertex_names
        self._has_vertex_names = stack.has_vertex_names
        self._graph_names = stack._graph_names  # thousands of numbers are not made into names

    def _forget(self) -> None:
        """Drop what a fit before, with other settings, may have set and this one may not."""
        for name in _OF_SOME_FITS:
            self.__dict__.pop(name, None)

    def _store(self, fit: Fit, projection: Projection | MaskedProjection) -> None:
        """Set every fitted attribute."""
        self._fit, self._projection = fit, projection
        plan, Gamma = self._plan, projection.Gamma
        scale, rule = plan.treatment.scale, plan.rule
        self.n_components_ = len(fit.stages)
        self.latent_positions_ = fit.H.astype(self._dtype)
        if fit.G is not None:
            self.latent_positions_right_ = fit.G.astype(self._dtype)
        Lam, path = projection.loadings_and_path(rule, plan.weights)
        self.loadings_ = (Lam / scale).astype(self._dtype)
        if plan.groups is not None:
            grouped = projection.grouped(plan.groups.mixing(plan.weights))
            shared, path = grouped.loadings_and_path(rule, plan.group_weights)
            shared = (shared / scale).astype(self._dtype)
            if self._fitted_with["loadings"] == "class":
                self.classes_, self.class_loadings_ = plan.groups.labels, shared
            else:
                self.shared_loadings_ = shared[0]
        if rule.nonnegative:
            rounding = 1e-10 * np.sqrt(projection.squared_norms)
            self.cluster_ = np.where(Lam.max(axis=1) > rounding, Lam.argmax(axis=1), -1)
        self.objective_path_, self.objective_scale_ = plan.reported(path)
        self.explained_ratio_ = -np.diff(path) / path[0] if path[0] > 0 else np.zeros(len(Gamma))
        self.stop_reason_ = tuple(stage.stop_reason for stage in fit.stages)
        self.stationarity_ = np.array([stage.stationarity for stage in fit.stages])
        self.n_iter_ = np.array([stage.n_iter for stage in fit.stages])
        self.converged_ = all(stage.converged for stage in fit.stages)
        self.start_agreement_ = np.array([stage.agreement for stage in fit.stages])
        self.gamma_condition_ = condition(Gamma[np.ix_(fit.active, fit.active)])
        # A component on one vertex alone has no pair of different vertices to speak of.
        self.degenerate_ = ~fit.active | (np.diag(Gamma) < 1e-8)
        self.degenerate_ |= self._in_rounding()
        if plan.treatment.diagonal == "unobserved":
            G = fit.H if fit.G is None else fit.G
            self.degenerate_ |= (fit.H**2 * G**2).sum(axis=0) >= CONCENTRATED - 1e-6
        self.n_passes_ = fit.n_passes
        self.diagonal_ = plan.treatment.diagonal
        self.mean_graph_ = plan.treatment.mean

    def _in_rounding(self) -> NDArray[np.bool_]:
        """Tell components before which nothing but rounding was left of the squares, (d,)."""
        path = self.objective_path_
        return np.asarray(path[:-1] <= 10 * np.finfo(self._dtype).eps * path[0])
