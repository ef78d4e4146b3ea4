"""From a plan to components: which solver, on which graphs, and what it costs in reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.fitting.plan import Plan
from eigengraphs.fitting.projection import (
    BatchProjection,
    Projection,
    gram,
    project,
)
from eigengraphs.fitting.settings import given_start, tolerance
from eigengraphs.operators.degrees import DegreeGraphs, Members
from eigengraphs.operators.means import GroupGraphs, group_means
from eigengraphs.solvers.algorithm1 import algorithm1
from eigengraphs.solvers.basis import basis_width, whole_pays
from eigengraphs.solvers.full_space import full_space, refine_observed
from eigengraphs.solvers.metric import AllEntries, ByDegrees, Metric, OffDiagonal
from eigengraphs.solvers.moments import GraphMoments
from eigengraphs.solvers.options import DEFAULTS
from eigengraphs.solvers.refine import refine
from eigengraphs.solvers.rules import component_gram, condition
from eigengraphs.solvers.solution import Array, Fit, Watcher, column_signs
from eigengraphs.solvers.subspace import Keep, subspace
from eigengraphs.stack import GraphStack
from eigengraphs.stack.blocked import BlockedStack
from eigengraphs.system.parallel import order_is_fixed
from eigengraphs.system.tables import short_repr

_SMALL_PRODUCTS = 2**28  # bytes
_SHARE = 8  # of the budget of graphs in blocks is for what is kept of them in a basis


@dataclass(frozen=True)
class Refinement:
    """What refining all components together achieved.

    Attributes
    ----------
    greedy_positions : (n, d)
        Unit columns of the greedy search, in its order: these nest. With ``directed=True``, the
        left ones.
    objective_greedy, objective_refined : float
        The objective with the greedy components and with those of the fit, as in
        ``objective_path_``. With a filled diagonal components are refined on the filled graphs; if
        that lets the objective off the diagonal rise, the greedy components are kept.
    gain : float
        Share of the greedy objective that refining removed, at least 0.
    n_iter : int
        Rounds, or iterations where entries are missing.
    stop_reason : str
        As for the components of a fit.
    condition : float
        Of the components' inner products.
    bound_met : bool
        Components were becoming collinear, with loadings of opposite signs growing without bound,
        since a best fit need not exist; a bound on the condition number stopped them.
    kept_greedy : bool
        Refining gained nothing, and the components are the greedy ones.
    greedy_positions_right : (n, d), optional
        The right ones, with ``directed=True``.
    """

    greedy_positions: Array
    objective_greedy: float
    objective_refined: float
    n_iter: int
    stop_reason: str
    condition: float
    bound_met: bool
    kept_greedy: bool
    greedy_positions_right: Array | None = None

    __repr__ = short_repr

    @property
    def gain(self) -> float:
        """Share of the greedy objective that refining removed."""
        if self.objective_greedy <= 0:
            return 0.0
        return max(1.0 - self.objective_refined / self.objective_greedy, 0.0)


@dataclass(frozen=True)
class Found:
    """Components, and how they came about."""

    fit: Fit
    projection: Projection  # of all graphs on them
    greedy: Fit  # before refinement: the start of a longer fit
    refinement: Refinement | None
    mean_degrees: Array | None = None  # (sides, n), of a degree-corrected fit


def find_components(
    plan: Plan,
    stack: GraphStack,
    d: int,
    settings: Mapping[str, Any],
    *,
    seed: np.random.SeedSequence,
    resume: Fit | None,
    watch: Watcher | None,
    moments: GraphMoments | None = None,
) -> Found:
    """Return d components, and the inner products of the graphs with them.

    Parameters
    ----------
    plan
        What the fit decided before.
    stack
        Training graphs; the last of them where ``moments`` are given.
    d
        Number of components.
    settings
        Those of the estimator: solver, init, n_init, tol, max_iter and refine.
    seed
        Source of everything random.
    resume
        A fit that is to be continued.
    watch
        Called during the search.
    moments
        Of all graphs, where these came in batches.
    """
    # Moments are of float64, whatever the graphs are.
    dtype = stack.dtype if moments is None else np.dtype(np.float64)
    common: dict[str, Any] = {
        "init": given_start(
            settings["init"], stack.n_vertices, 0 if resume else d, directed=plan.directed
        ),
        "n_init": settings["n_init"],
        "tol": tolerance(settings["tol"], dtype),
        "max_iter": settings["max_iter"],
        "seed": seed,
        "resume": resume,
        "watch": watch,
    }
    if moments is not None:
        return _find_in_moments(moments, plan, stack, d, common)
    treatment, groups = plan.treatment, plan.groups
    searched, weights = stack, plan.weights
    before = stack.n_asked if isinstance(stack, BlockedStack) else 0
    missing = treatment.hides(stack)
    if groups is not None:
        weights = plan.group_weights
    if groups is not None and not missing and treatment.regularization is None:
        # sum_i ||A_i - H D_{y_i} H^T||^2 is a constant and the same of the weighted class means.
        searched = group_means(stack, groups.codes, plan.weights, len(groups.labels))
    search = treatment.operator(searched, directed=plan.directed)
    metric: Metric = OffDiagonal() if treatment.diagonal == "unobserved" else AllEntries()
    if treatment.regularization is not None:
        search, metric = _by_degrees(plan, stack, search)
        if resume is not None:
            common["resume"] = _in_search(search, resume)
    elif groups is not None and missing:
        search = GroupGraphs(search, groups.mixing(plan.weights))
    common["weights"] = weights
    linear = plan.rule.linear and metric.degrees is None
    keep, wide = kept_in_basis(searched, plan.directed, linear=linear)
    if missing:
        fit = full_space(search, d, metric=metric, rule=plan.rule, **common)
    elif settings["solver"] == "algorithm1":
        fit = algorithm1(search, d, **common)
    else:
        fit = subspace(search, d, metric=metric, rule=plan.rule, keep=keep, wide=wide, **common)
    if treatment.regularization is not None:
        fit = _out_of_search(search, fit, resume)
    fit = _signed(fit)
    centered = treatment.mean is not None
    # The mean, and the row sums.
    n_passes = (
        fit.n_passes + centered + (treatment.diagonal == "filled" or metric.degrees is not None)
    )
    if groups is not None and not missing:
        # Norms, mean graphs and forms: further reads are of the mean graphs alone.
        n_passes = 3 + centered
    projected = partial(_projected, plan, stack, search)
    projection = projected(fit)
    if isinstance(stack, BlockedStack):  # these know better
        n_passes = stack.n_asked - before + centered
    fit = replace(fit, n_passes=n_passes)
    mean_degrees = search.mean_degrees(plan.weights) if metric.degrees is not None else None
    greedy = Found(fit, projection, fit, None, mean_degrees)
    if not settings["refine"] or fit.interrupted:
        return greedy
    settled = {name: common[name] for name in ("weights", "tol", "max_iter", "watch")}
    better = _improve(search, fit, keep, missing, metric=metric, rule=plan.rule, **settled)
    return _better_of(plan, greedy, better, projected)


def _by_degrees(plan: Plan, stack: GraphStack, graphs: DegreeGraphs) -> tuple[Any, Metric]:
    """Return graphs scaled for a degree-corrected search, and the metric."""
    weights, groups = plan.weights, plan.groups
    members = Members.alone(len(weights))
    if groups is not None:
        mixing, c = groups.mixing(weights), len(groups.labels)
        share = mixing[groups.codes, np.arange(len(weights))]
        means = group_means(stack, groups.codes, share * graphs.factors, c)
        plain = replace(plan.treatment, regularization=None)
        graphs = graphs.grouped(plain.operator(means, directed=plan.directed), mixing)
        members = Members(groups.codes.astype(np.int64), share, c)
    graphs = graphs.scaled(weights)
    return graphs, ByDegrees(graphs.degrees, members)


def _in_search(search: DegreeGraphs, fit: Fit) -> Fit:
    """Return a fit in the coordinates of a degree-corrected search."""
    sides = search.searched(_sides(fit))
    divided = search.found(sides)[1]
    return replace(fit, H=sides[0], G=None if fit.G is None else sides[1], Psi=fit.Psi * divided)


def _out_of_search(search: DegreeGraphs, fit: Fit, resumed: Fit | None = None) -> Fit:
    """Return a fit of unit columns h; those that were resumed are as they were, to the bit."""
    sides, divided = search.found(_sides(fit))
    Psi, k = fit.Psi / divided, 0 if resumed is None else len(resumed.stages)
    if resumed is not None and fit.stages[:k] == resumed.stages:
        Psi[:, :k] = resumed.Psi
        for side, known in zip(sides, _sides(resumed), strict=True):
            side[:, :k] = known
    return replace(fit, H=sides[0], G=None if fit.G is None else sides[1], Psi=Psi)


def _sides(fit: Fit) -> tuple[Array, ...]:
    return (fit.H,) if fit.G is None else (fit.H, fit.G)


def _find_in_moments(
    moments: GraphMoments, plan: Plan, stack: GraphStack, d: int, common: Mapping[str, Any]
) -> Found:
    """Return d components of all graphs with these moments, and loadings of the last graphs."""
    treatment, hollow = plan.treatment, plan.treatment.hollow
    centered = treatment.mean is not None
    rows = moments.stand_ins(hollow=hollow, center=centered)
    # What differs by a diagonal in the search is the same off it.
    searched = rows.filled() if treatment.diagonal == "filled" else rows
    metric = OffDiagonal() if treatment.diagonal == "unobserved" else AllEntries()
    resume = common["resume"]
    if resume is not None:  # where other graphs came since, other rows stand for them
        resume = replace(resume, Psi=searched.forms(resume.H))
    fit = subspace(
        searched, d, metric=metric, rule=plan.rule, weights=np.ones(searched.n_graphs),
        keep="rows", **{**common, "resume": resume},
    )  # fmt: skip
    # Norms, which those in blocks know, mean, moments and forms; norms again when centered.
    n_passes = 3 + (not isinstance(stack, BlockedStack)) + centered
    fit = replace(_signed(fit), n_passes=n_passes)
    last = project(treatment.operator(stack, loss=True), fit, hollow=hollow)
    of_rows = Projection(gram(fit, hollow=hollow), rows.forms(fit.H), rows.squared_norms())
    projection = BatchProjection(of_rows.Gamma, last.Psi, last.squared_norms, of_rows)
    return Found(fit, projection, fit, None)


def _signed(fit: Fit) -> Fit:
    """Return the fit with the sign of every component fixed; both sides of one turn together."""
    signs = column_signs(fit.H)
    return replace(fit, H=fit.H * signs, G=None if fit.G is None else fit.G * signs)


def _projected(plan: Plan, stack: GraphStack, search: Any, fit: Fit) -> Projection:
    """Return the inner products of all graphs with components: no read, except of grouped ones."""
    treatment, Psi = plan.treatment, None
    if treatment.regularization is not None:
        if plan.groups is None:
            return project(search.unscaled(), fit, hollow=False, Psi=fit.Psi)
        return project(treatment.operator(stack, directed=plan.directed), fit, hollow=False)
    like = None if plan.groups is not None else search
    loss = treatment.operator(stack, directed=plan.directed, loss=True, like=like)
    if plan.groups is None:
        sides = (fit.H,) if fit.G is None else (fit.H, fit.G)
        Psi = fit.Psi + loss.diagonal_forms(*sides) - search.diagonal_forms(*sides)
    return project(loss, fit, hollow=treatment.hollow, Psi=Psi)


class Improved(NamedTuple):
    """Components improved together."""

    fit: Fit
    n_iter: int
    stop_reason: str
    condition: float
    bound_met: bool


def _improve(
    search: Any, fit: Fit, keep: Keep, masked: bool, *, metric: Metric, **settings: Any
) -> Improved:
    """Return the fit with its components improved together.

    Parameters
    ----------
    search
        The graphs that components are searched on.
    fit
        The greedy fit; components that are nothing stay as they are.
    keep, metric, **settings
        As for the solvers.
    masked
        Whether graphs have hidden entries.
    """
    on, corrected = fit.active, metric.degrees is not None
    if not on.any():
        return Improved(fit, 0, "exhausted", 1.0, False)
    fit = _in_search(search, fit) if corrected else fit
    sides = _sides(fit)
    start = tuple(side[:, on] for side in sides)
    try:
        if masked:
            found = refine_observed(search, start, metric=metric, **settings)
        else:
            kept: Literal["products", "cores"] = "products" if keep == "products" else "cores"
            found = refine(search, start, keep=kept, metric=metric, **settings)
    except KeyboardInterrupt:  # before there is anything better: the greedy fit is kept
        size = condition(component_gram(start[0], start[-1], hollow=metric.hollow))
        fit = _out_of_search(search, fit) if corrected else fit
        return Improved(replace(fit, interrupted=True), 0, "interrupted", size, False)
    stages, Psi = list(fit.stages), fit.Psi.copy()
    Psi[:, on] = found.Psi
    for place, k in enumerate(np.flatnonzero(on)):
        stages[k] = replace(
            stages[k], n_iter=stages[k].n_iter + found.n_iter, stop_reason=found.stop_reason,
            stationarity=float(found.stationarity[place]),
        )  # fmt: skip
    moved = [side.copy() for side in sides]
    for side, better in zip(moved, found.sides, strict=True):
        side[:, on] = better
    improved = replace(
        fit, H=moved[0], G=None if fit.G is None else moved[1], Psi=Psi, stages=tuple(stages),
        n_passes=fit.n_passes + found.n_passes, interrupted=found.stop_reason == "interrupted",
    )  # fmt: skip
    improved = _out_of_search(search, improved) if corrected else improved
    return Improved(improved, found.n_iter, found.stop_reason, found.condition, found.bound_met)


def _better_of(
    plan: Plan, greedy: Found, better: Improved, projected: Callable[[Fit], Projection]
) -> Found:
    """Return the refined components, unless they leave more of the graphs than the greedy ones."""
    fit = _signed(better.fit)
    projection = projected(fit)
    before, after = (
        float(plan.reported(plan.loadings_and_path(x)[1])[0][-1])
        for x in (greedy.projection, projection)
    )
    kept = after > before
    refinement = Refinement(
        greedy.fit.H, before, min(before, after), better.n_iter, better.stop_reason,
        better.condition, better.bound_met, kept, greedy.fit.G,
    )  # fmt: skip
    if kept:
        fit = replace(greedy.fit, n_passes=fit.n_passes, interrupted=fit.interrupted)
        projection = greedy.projection
    return Found(fit, projection, greedy.fit, refinement, greedy.mean_degrees)


def kept_in_basis(stack: GraphStack, directed: bool, *, linear: bool) -> tuple[Keep, bool]:
    """Return what a solver keeps of graphs in a basis, and whether that may be wide.

    ``linear`` says that rows of a second moment may stand for graphs, as for free loadings.
    Where graphs come from must not change what is found: how wide a basis gets depends on the
    number and the size of graphs alone, and the budget of those in blocks only on what is kept.
    Nothing that grows with the number of graphs comes back from a cluster in every round, except
    cores that are fewer than the rows of their second moment.
    """
    m, n, _ = stack.shape
    products = (1 + directed) * m * n * DEFAULTS.width * stack.dtype.itemsize
    wide = not stack.is_sparse and products <= max(_SMALL_PRODUCTS, stack.nbytes // 4)
    whole = whole_pays(m, n, directed, linear, DEFAULTS)
    width = n if whole else min(n, basis_width(m, wide, directed, DEFAULTS))
    entries = width * width if directed else width * (width + 1) // 2
    if not isinstance(stack, BlockedStack):
        many = whole and linear and m > 4 * entries
        return "moments" if many else "products" if wide else "cores", wide
    large = m > entries and 8 * m * entries > stack.memory // _SHARE
    if large and not linear:
        raise InputError(
            f"loadings under a rule (nonnegative, sparse) and degree correction need "
            f"{m * entries * 8 / 1e9:.2g} GB for the {m} graphs in a basis, and "
            f"{stack.memory // _SHARE / 1e9:.2g} GB of the budget is for them; allow more memory, "
            "or use free loadings without degree correction"
        )
    if order_is_fixed():  # what is kept where is for speed alone, and rounds in another way
        return "moments" if large else "cores", wide
    if large or (stack.is_remote and m > entries and linear):
        return "moments", wide
    cached = wide and not stack.is_remote and products <= stack.memory // _SHARE
    return "products" if cached else "cores", wide
