"""From a plan to components: which solver, on which graphs, and what it costs in reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigengraphs.graphs import GraphStack
from eigengraphs.graphs.group_means import group_means
from eigengraphs.plan import Plan
from eigengraphs.projection import MaskedProjection, Projection, project, projection_of
from eigengraphs.refinement import Refinement, improve
from eigengraphs.settings import given_start, tolerance
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.components import with_signs, with_signs_pair
from eigengraphs.solvers.directed import directed
from eigengraphs.solvers.directions import basis_width
from eigengraphs.solvers.masked import masked
from eigengraphs.solvers.protocol import Fit, Watcher
from eigengraphs.solvers.rules import FreeLoadings
from eigengraphs.solvers.spectral import spectral
from eigengraphs.solvers.subspace import subspace

__all__ = ["Found", "find_components"]

_SMALL_PRODUCTS = 2**28  # bytes


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
    if groups is not None:
        # sum_i ||A_i - H D_{y_i} H^T||^2 is a constant and the same of the weighted class means.
        searched = group_means(stack, groups.codes, plan.weights, len(groups.labels))
        weights = plan.group_weights
    kind = plan.kind_of(searched)
    search = treatment.search_view(searched, kind)
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
    if kind == "masked":
        fit = masked(search, d, hollow=hollow, **common)
    elif plan.directed:
        cache = _products_fit(searched, sides=2)
        fit = directed(search, d, cache=cache, hollow=hollow, **common)
    elif searched.n_graphs == 1 and not hollow and settings["loadings"] == "shared":
        fit = spectral(search, d, tol=tol, seed=seed, resume=resume)
    elif settings["solver"] == "algorithm1":
        fit = algorithm1(search, d, **common)
    else:
        rule = None if isinstance(plan.rule, FreeLoadings) else plan.rule
        cache = _products_fit(searched)
        fit = subspace(search, d, cache=cache, hollow=hollow, rule=rule, **common)
    greedy, refinement = fit, None
    if settings["refine"] and not fit.interrupted:
        fit, refinement = improve(
            search, fit, weights=weights, rule=plan.rule, tol=tol, max_iter=settings["max_iter"],
            cache=_products_fit(searched), hollow=hollow, masked=kind == "masked",
            unit=plan.largest_weight / treatment.scale**2, watch=watch,
        )  # fmt: skip
    if fit.G is None:
        fit = replace(fit, H=with_signs(fit.H))
    else:
        H, G = with_signs_pair(fit.H, fit.G)
        fit = replace(fit, H=H, G=G)
    # The mean, and the row sums.
    others = (treatment.mean is not None) + (treatment.diagonal == "filled")
    if groups is not None:
        # Norms, mean graphs and forms: further reads are of the mean graphs alone.
        fit = replace(fit, n_passes=3 + (treatment.mean is not None))
        view = treatment.loss_view(stack, kind)
        return Found(fit, project(view, fit, hollow=treatment.hollow), greedy, refinement)
    fit = replace(fit, n_passes=fit.n_passes + others)
    loss = treatment.loss_view(stack, kind, search)
    sides = (fit.H,) if fit.G is None else (fit.H, fit.G)
    Psi = fit.Psi + loss.diagonal_forms(*sides) - search.diagonal_forms(*sides)
    projection = projection_of(loss, fit, Psi, hollow=treatment.hollow)
    return Found(fit, projection, greedy, refinement)


def _products_fit(stack: GraphStack, sides: int = 1) -> bool:
    """Tell whether the products of dense graphs with a basis are small beside them."""
    m, n, _ = stack.shape
    products = sides * m * n * basis_width(m, cache=True) * stack.dtype.itemsize
    return not stack.is_sparse and products <= max(_SMALL_PRODUCTS, stack.nbytes // 4)
