"""From a plan to components: which solver, on which graphs, and what it costs in reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.graphs import GraphStack
from eigengraphs.graphs.blocked import BlockedStack
from eigengraphs.graphs.group_means import group_means
from eigengraphs.graphs.ordering import order_is_fixed
from eigengraphs.graphs.treatment import ViewKind
from eigengraphs.plan import Plan
from eigengraphs.projection import MaskedProjection, Projection, project, projection_of
from eigengraphs.refinement import Improved, Refinement, improve
from eigengraphs.settings import given_start, tolerance
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.components import with_signs, with_signs_pair
from eigengraphs.solvers.directed import directed
from eigengraphs.solvers.directed.space import pair_width
from eigengraphs.solvers.directions import basis_width
from eigengraphs.solvers.full_space import MeanGraphs, full_space
from eigengraphs.solvers.metric import AllEntries, OffDiagonal
from eigengraphs.solvers.old_subspace import subspace
from eigengraphs.solvers.protocol import Fit, Watcher
from eigengraphs.solvers.rules import FreeLoadings, LoadingRule
from eigengraphs.solvers.spectral import spectral

__all__ = ["Found", "find_components", "kept_in_basis"]

_SMALL_PRODUCTS = 2**28  # bytes
_SHARE = 8  # of the budget of graphs in blocks is for what is kept of them in a basis


@dataclass(frozen=True)
class Found:
    """Components, and how they came about."""

    fit: Fit
    projection: Projection | MaskedProjection  # of all graphs on them
    greedy: Fit  # before they were refined: where a longer fit goes on
    refinement: Refinement | None


def find_components(
    plan: Plan,
    stack: GraphStack,
    d: int,
    settings: Mapping[str, Any],
    *,
    seed: np.random.SeedSequence,
    resume: Fit | None,
    watch: Watcher | None,
) -> Found:
    """Return d components, and what the graphs have in common with them.

    Parameters
    ----------
    plan
        What the fit decided before.
    stack
        Training graphs.
    d
        Number of components.
    settings
        Those of the estimator: solver, init, n_init, tol and max_iter.
    seed
        Source of everything random.
    resume
        A fit that is to be continued.
    watch
        Called as the search goes on.
    """
    treatment, groups = plan.treatment, plan.groups
    searched, weights = stack, plan.weights
    before = stack.n_asked if isinstance(stack, BlockedStack) else 0
    kind = plan.kind_of(stack)
    missing = kind.startswith("masked")
    if groups is not None:
        weights = plan.group_weights
    if groups is not None and not missing:
        # sum_i ||A_i - H D_{y_i} H^T||^2 is a constant and the same of the weighted class means.
        searched = group_means(stack, groups.codes, plan.weights, len(groups.labels))
        kind = plan.kind_of(searched)
    search = treatment.search_view(searched, kind)
    if groups is not None and missing:
        search = MeanGraphs(search, groups.mixing(plan.weights))
    hollow = treatment.diagonal == "unobserved"
    tol = tolerance(settings["tol"], stack.dtype)
    common = {
        "weights": weights,
        "init": given_start(
            settings["init"], stack.n_vertices, 0 if resume else d, directed=plan.directed
        ),
        "n_init": settings["n_init"],
        "tol": tol,
        "max_iter": settings["max_iter"],
        "seed": seed,
        "resume": resume,
        "watch": watch,
    }
    if missing:
        metric = OffDiagonal() if hollow else AllEntries()
        fit = full_space(search, d, metric=metric, rule=plan.rule, **common)
    elif plan.directed:
        fit = directed(search, d, hollow=hollow, **kept_in_basis(searched, 2, None), **common)
    elif searched.n_graphs == 1 and not hollow and settings["loadings"] == "shared":
        fit = spectral(search, d, tol=tol, seed=seed, resume=resume)
    elif settings["solver"] == "algorithm1":
        fit = algorithm1(search, d, **common)
    else:
        rule = None if isinstance(plan.rule, FreeLoadings) else plan.rule
        kept = kept_in_basis(searched, 1, rule)
        fit = subspace(search, d, hollow=hollow, rule=rule, **kept, **common)
    # The mean, and the row sums.
    others = (treatment.mean is not None) + (treatment.diagonal == "filled")
    fit = _signed(replace(fit, n_passes=fit.n_passes + others))
    if groups is not None and not missing:
        # Norms, mean graphs and forms: further reads are of the mean graphs alone.
        fit = replace(fit, n_passes=3 + (treatment.mean is not None))
    projected = partial(_projected, plan, stack, search, kind)
    projection = projected(fit)
    if isinstance(stack, BlockedStack):  # these know better
        read = stack.n_asked - before + (treatment.mean is not None)
        fit = replace(fit, n_passes=read)
    greedy = Found(fit, projection, fit, None)
    if not settings["refine"] or fit.interrupted:
        return greedy
    better = improve(
        search, fit, weights=weights, rule=plan.rule, tol=tol, max_iter=settings["max_iter"],
        cache=kept_in_basis(searched, 1, None)["cache"], hollow=hollow, masked=missing,
        watch=watch,
    )  # fmt: skip
    return _better_of(plan, greedy, better, projected)


def _signed(fit: Fit) -> Fit:
    """Return the fit with the sign of every component fixed."""
    if fit.G is None:
        return replace(fit, H=with_signs(fit.H))
    H, G = with_signs_pair(fit.H, fit.G)
    return replace(fit, H=H, G=G)


def _projected(
    plan: Plan, stack: GraphStack, search: Any, kind: ViewKind, fit: Fit
) -> Projection | MaskedProjection:
    """Return what all graphs have in common with components: no read, but for grouped ones."""
    treatment = plan.treatment
    if plan.groups is not None:
        return project(treatment.loss_view(stack, kind), fit, hollow=treatment.hollow)
    loss = treatment.loss_view(stack, kind, search)
    sides = (fit.H,) if fit.G is None else (fit.H, fit.G)
    Psi = fit.Psi + loss.diagonal_forms(*sides) - search.diagonal_forms(*sides)
    return projection_of(loss, fit, Psi, hollow=treatment.hollow)


def _better_of(
    plan: Plan,
    greedy: Found,
    better: Improved,
    projected: Callable[[Fit], Projection | MaskedProjection],
) -> Found:
    """Return the refined components, unless they leave more of the graphs than the greedy ones."""
    fit = _signed(better.fit)
    projection = projected(fit)
    before, after = _objective(plan, greedy.projection), _objective(plan, projection)
    kept = after > before
    refinement = Refinement(
        greedy.fit.H, before, min(before, after), better.n_iter, better.stop_reason,
        better.condition, better.bound_met, kept,
    )  # fmt: skip
    if kept:
        fit = replace(greedy.fit, n_passes=fit.n_passes, interrupted=fit.interrupted)
        projection = greedy.projection
    return Found(fit, projection, greedy.fit, refinement)


def _objective(plan: Plan, projection: Projection | MaskedProjection) -> float:
    """Return the objective in the unit of ``objective_path_``."""
    weights = plan.weights
    if plan.groups is not None:
        projection, weights = projection.grouped(plan.groups.mixing(weights)), plan.group_weights
    path = projection.objective_path(plan.rule, weights)
    return float(plan.reported(path)[0][-1])


def kept_in_basis(stack: GraphStack, sides: int, rule: LoadingRule | None) -> dict[str, Any]:
    """Return what a solver keeps of graphs in a basis: ``cache``, ``wide`` and ``moments``.

    Where graphs come from must not change what is found: how wide a basis gets depends on the
    number and the size of graphs alone, and the budget of those in blocks only on what is kept.
    Nothing that grows with the number of graphs comes back from a cluster in every round, but for
    cores that are fewer than their second moment has rows.
    """
    m, n, _ = stack.shape
    products = sides * m * n * basis_width(m, cache=True) * stack.dtype.itemsize
    wide = not stack.is_sparse and products <= max(_SMALL_PRODUCTS, stack.nbytes // 4)
    if not isinstance(stack, BlockedStack):
        return {"cache": wide, "wide": wide, "moments": False}
    width = min(n, basis_width(m, wide) if sides == 1 else pair_width(m, wide))
    entries = width * (width + 1) // 2 if sides == 1 else width * width
    large = m > entries and 8 * m * entries > stack.memory // _SHARE
    if large and rule is not None:
        raise InputError(
            f"loadings under a rule (nonnegative, sparse) need {m * entries * 8 / 1e9:.2g} GB for "
            f"the {m} graphs in a basis, and {stack.memory // _SHARE / 1e9:.2g} GB of the budget "
            "is for that; allow more memory, or use free loadings"
        )
    if order_is_fixed():  # what is kept where is for speed alone, and rounds in another way
        return {"cache": False, "wide": wide, "moments": large}
    many = large or (stack.is_remote and m > entries and rule is None)
    cache = wide and not many and not stack.is_remote and products <= stack.memory // _SHARE
    return {"cache": cache, "wide": wide, "moments": many}
