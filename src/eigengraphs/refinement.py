"""All components improved together, and what the greedy search had found before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.solvers.full_space import MAX_CONDITION, refine_observed
from eigengraphs.solvers.loadings import component_gram, condition
from eigengraphs.solvers.metric import AllEntries, Metric, OffDiagonal
from eigengraphs.solvers.protocol import Fit, Watcher
from eigengraphs.solvers.refine import refine
from eigengraphs.solvers.rules import LoadingRule
from eigengraphs.tables import short_repr

__all__ = ["Improved", "Refinement", "improve"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Refinement:
    """What refining all components together brought.

    Attributes
    ----------
    greedy_positions : (n, d)
        Unit columns of the greedy search, in its order: these nest.
    objective_greedy, objective_refined : float
        The objective with the greedy components and with those of the fit, as in
        ``objective_path_``. With a filled diagonal components are refined on the filled graphs; if
        that lets the objective off the diagonal rise, the greedy components are kept.
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
    kept_greedy : bool
        Refining brought nothing, and the components are the greedy ones.
    """

    greedy_positions: Array
    objective_greedy: float
    objective_refined: float
    n_iter: int
    stop_reason: str
    condition: float
    bound_met: bool
    kept_greedy: bool

    __repr__ = short_repr

    @property
    def gain(self) -> float:
        """Share of the greedy objective that refining took off."""
        if self.objective_greedy <= 0:
            return 0.0
        return max(1.0 - self.objective_refined / self.objective_greedy, 0.0)


class Improved(NamedTuple):
    """Components improved together."""

    fit: Fit
    n_iter: int
    stop_reason: str
    condition: float
    bound_met: bool


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
    watch: Watcher | None,
) -> Improved:
    """Return the fit with its components improved together.

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
    """
    on = fit.active
    try:
        if masked:
            metric = OffDiagonal() if hollow else AllEntries()
            better = refine_observed(
                search, fit, metric=metric, rule=rule, weights=weights, tol=tol, max_iter=max_iter,
                watch=watch,
            )  # fmt: skip
            return _improved(better, metric, tol)
        found = refine(
            search, fit.H[:, on], weights=weights, rule=rule, tol=tol, max_iter=max_iter,
            cache=cache, hollow=hollow, watch=watch,
        )  # fmt: skip
    except KeyboardInterrupt:  # before there is anything better: what is greedy is kept
        size = condition(component_gram(fit.H[:, on], hollow=hollow))
        return Improved(replace(fit, interrupted=True), 0, "interrupted", size, False)
    H, Psi, stages = fit.H.copy(), fit.Psi.copy(), list(fit.stages)
    H[:, on], Psi[:, on] = found.H, found.Psi
    for place, k in enumerate(np.flatnonzero(on)):
        stages[k] = replace(
            stages[k], n_iter=stages[k].n_iter + found.n_iter, stop_reason=found.stop_reason,
            stationarity=float(found.stationarity[place]),
        )  # fmt: skip
    better = replace(
        fit, H=H, Psi=Psi, stages=tuple(stages), n_passes=fit.n_passes + found.n_passes,
        interrupted=found.stop_reason == "interrupted",
    )  # fmt: skip
    return Improved(better, found.n_iter, found.stop_reason, found.condition, found.bound_met)


def _improved(fit: Fit, metric: Metric, tol: float) -> Improved:
    on = fit.active
    sides = (fit.H,) if fit.G is None else (fit.H, fit.G)
    size = condition(metric.gram(tuple(side[:, on] for side in sides)))
    stages = [fit.stages[k] for k in np.flatnonzero(on)]
    worst = max((stage.stationarity for stage in stages), default=0.0)
    # Near the bound with a slope that leads on: there it was stopped.
    bound_met = bool(worst > 1e3 * tol and size > 0.1 * MAX_CONDITION)
    n_iter, reason = (stages[0].n_iter, stages[0].stop_reason) if stages else (0, "exhausted")
    return Improved(fit, n_iter, reason, size, bound_met)
