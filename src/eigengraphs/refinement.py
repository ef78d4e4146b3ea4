"""All components improved together, and what the greedy search had found before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.components import with_signs
from eigengraphs.solvers.loadings import component_gram, condition
from eigengraphs.solvers.loadings_each import solve_loadings_each
from eigengraphs.solvers.masked_refine import refine_masked
from eigengraphs.solvers.protocol import Fit, Watcher
from eigengraphs.solvers.refine import refine
from eigengraphs.solvers.rules import LoadingRule

__all__ = ["Refinement", "improve"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Refinement:
    """What refining all components together brought.

    Attributes
    ----------
    greedy_positions : (n, d)
        Unit columns of the greedy search, in its order: these nest.
    objective_greedy, objective_refined : float
        Objectives on the graphs that are searched (with a filled diagonal, the filled ones), of
        the greedy components and of the refined ones, in the unit of the graphs.
    gain : float
        Share of the greedy objective that refining took off, at least 0.
    n_iter : int
        Rounds, or iterations where entries are missing.
    stop_reason : str
        As of the components of a fit.
    condition : float
        Of the components' inner products.
    bound_met : bool
        Components would have gone on towards each other, with loadings of opposite signs towards
        infinity, for there need not be a best fit; a bound on the condition number stopped them.
    """

    greedy_positions: Array
    objective_greedy: float
    objective_refined: float
    n_iter: int
    stop_reason: str
    condition: float
    bound_met: bool

    @property
    def gain(self) -> float:
        """Share of the greedy objective that refining took off."""
        if self.objective_greedy <= 0:
            return 0.0
        return max(1.0 - self.objective_refined / self.objective_greedy, 0.0)


def improve(
    search: Any,
    fit: Fit,
    *,
    weights: Array,
    rule: LoadingRule,
    tol: float,
    max_iter: int,
    cache: bool,
    hollow: bool,
    masked: bool,
    unit: float,
    watch: Watcher | None,
) -> tuple[Fit, Refinement]:
    """Return the fit with its components improved together, and what that brought.

    Parameters
    ----------
    search
        The graphs that components are searched on.
    fit
        The greedy fit; components that are nothing stay as they are.
    weights, rule, tol, max_iter, cache, hollow, watch
        As for the solvers.
    masked
        Whether graphs have hidden entries.
    unit : float
        Of the objective, in which it is reported.
    """
    greedy, on = with_signs(fit.H), fit.active
    if masked:
        better = refine_masked(
            search, fit, weights=weights, tol=tol, max_iter=max_iter, hollow=hollow
        )
        size = condition(component_gram(better.H[:, on], hollow=hollow))
        before, after = (
            unit * _masked_objective(search, f, weights, hollow) for f in (fit, better)
        )
        unmoved = np.array_equal(better.H, fit.H)
        n_iter = 0 if unmoved else max((stage.n_iter for stage in better.stages), default=0)
        reason = "stalled"
        if not unmoved:
            worst = max(better.stages[k].stationarity for k in np.flatnonzero(on))
            reason = _reason(worst, tol, n_iter >= max_iter)
            stages = [
                replace(stage, stop_reason=reason) if active else stage
                for stage, active in zip(better.stages, on, strict=True)
            ]
            better = replace(better, H=with_signs(better.H), stages=tuple(stages))
        bound_met = bool(unmoved and on.sum() > 1)
        return better, Refinement(greedy, before, after, n_iter, reason, size, bound_met)
    found = refine(
        search, fit.H[:, on], weights=weights, rule=rule, tol=tol, max_iter=max_iter, cache=cache,
        hollow=hollow, watch=watch,
    )  # fmt: skip
    H, Psi, stages = fit.H.copy(), fit.Psi.copy(), list(fit.stages)
    H[:, on], Psi[:, on] = found.H, found.Psi
    for place, k in enumerate(np.flatnonzero(on)):
        stages[k] = replace(
            stages[k], n_iter=stages[k].n_iter + found.n_iter, stop_reason=found.stop_reason,
            stationarity=float(found.stationarity[place]),
        )  # fmt: skip
    better = replace(
        fit, H=with_signs(H), Psi=Psi, stages=tuple(stages), n_passes=fit.n_passes + found.n_passes,
        interrupted=found.stop_reason == "interrupted",
    )  # fmt: skip
    return better, Refinement(
        greedy, unit * found.objective_before, unit * found.objective_after, found.n_iter,
        found.stop_reason, found.condition, found.bound_met,
    )  # fmt: skip


def _reason(stationarity: float, tol: float, out_of_time: bool) -> str:
    if stationarity <= tol:
        return "stationary"
    return "max_iter" if out_of_time else "precision"


def _masked_objective(search: Any, fit: Fit, weights: Array, hollow: bool) -> float:
    """Return sum_i w_i ||residual_i||^2 over the observed entries."""
    H, Psi = fit.H[:, fit.active], fit.Psi[:, fit.active]
    whole = component_gram(H, hollow=hollow)
    Lam = solve_loadings_each(search.grams(H), Psi, whole, search.observed())
    left = search.squared_norms() - np.einsum("ik,ik->i", Lam, Psi)
    return float(weights @ np.maximum(left, 0.0))
