"""Whether loadings differ between groups, or change with a quantity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from eigengraphs.errors import InputError
from eigengraphs.inference.comparison import Comparison
from eigengraphs.inference.designs import make_design
from eigengraphs.inference.effects import effect_sizes
from eigengraphs.inference.statistics import permutation_tests
from eigengraphs.inference.variables import (
    Array,
    Variable,
    read_loadings,
    read_table,
    read_variable,
    units,
    words,
)
from eigengraphs.system.randomness import RandomState, seed_sequence

__all__ = ["compare"]


def compare(
    loadings: Any,
    group: Any,
    *,
    covariates: Any = None,
    subjects: Any = None,
    components: Sequence[str] | None = None,
    leave_out: Any = None,
    name: str = "group",
    n_permutations: int = 9999,
    n_bootstrap: int = 2000,
    confidence: float = 0.95,
    random_state: RandomState = None,
) -> Comparison:
    """Compare the loadings of groups of graphs by permutations, each component and all together.

    Means are tested, not spreads: Welch's statistic lets groups have variances of their own. The
    embedding must have been fitted without the groups; then graphs are exchangeable where groups
    do not differ at all, and the tests are exact (with covariates, very nearly). Where spreads
    alone differ, the level is held approximately.

    Parameters
    ----------
    loadings : (m, d)
        A row for each graph.
    group : (m,)
        Groups (texts, or numbers of two values) or a quantity (numbers of more values). Graphs
        where it is None, nan or "n/a" are left out.
    covariates
        What is held constant: a mapping of names to columns of m values, a pandas table, or an
        array (m, q). Texts are categories, such as sites. Graphs without a value are left out.
    subjects : (m,), optional
        Who each graph is of. If the group is the same in all graphs of a subject, means of
        subjects are compared; if it varies within all subjects, graphs within subjects.
    components
        Names of the components; ``je1``, ``je2``, ... by default.
    leave_out : (d,) of bool, optional
        Components that are not tested: ``embedding.degenerate_``.
    name
        What the group is called.
    n_permutations
        Rearrangements that are drawn; if there are no more different ones, all are taken.
    n_bootstrap, confidence
        Samples, and coverage, of the intervals around sizes of effects.
    random_state
        Seed.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import compare
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["control", "patient"], 20)
    >>> Lam = rng.normal(size=(40, 3)) + 2.0 * np.outer(group == "patient", [0, 1, 0])
    >>> found = compare(Lam, group, random_state=0)
    >>> found.significant()
    ('je2',)
    """
    Y = read_loadings(loadings)
    _check_numbers(n_permutations, n_bootstrap, confidence)
    names = [f"je{k + 1}" for k in range(Y.shape[1])] if components is None else list(components)
    if len(names) != Y.shape[1]:
        raise InputError(f"got {len(names)} names for {Y.shape[1]} components")
    notes: list[str] = []
    unit = units(Y)
    keep = _tested(Y / unit, names, leave_out, notes)
    Y, unit = (Y / unit)[:, keep], unit[keep]
    names = [name for name, kept in zip(names, keep, strict=True) if kept]
    variable, unit_of_group = read_variable(name, group, len(Y)).scaled()
    table = tuple(covariate.scaled()[0] for covariate in read_table(covariates, len(Y)))
    who = None if subjects is None else read_variable("subjects", subjects, len(Y), "groups")
    keep = _complete((variable, *table, *([] if who is None else [who])), notes)
    try:
        design = make_design(
            Y[keep],
            variable.rows(keep),
            tuple(covariate.rows(keep) for covariate in table),
            None if who is None else who.rows(keep),
        )
    except InputError as error:
        if keep.all():
            raise
        raise InputError(f"{error} ({notes[-1]})") from None
    notes.extend(design.notes)
    for absorbed in design.absorbed:
        notes.append(f"the covariate {absorbed!r} adds nothing to subjects or other covariates")
    for_permutations, for_bootstrap = seed_sequence(random_state).spawn(2)
    tests = permutation_tests(design, n_permutations, np.random.default_rng(for_permutations))
    effects = effect_sizes(design, n_bootstrap, confidence, np.random.default_rng(for_bootstrap))
    perfect = [one for one, all_of_it in zip(names, effects.perfect, strict=True) if all_of_it]
    if perfect:
        what = (
            "perfect separation: loadings do not vary within groups"
            if design.group.levels
            else f"perfect fit: loadings do not vary around a line in {name}"
        )
        notes.append(f"{what} ({words(perfect)}), so that the effect has no interval")
    if effects.by != "BCa" and effects.name != "omega squared":
        notes.append("few graphs or subjects: intervals take errors to be of one spread")
    levels = design.group.levels
    q = design.X.shape[1]
    b = effects.coefficients
    rows = np.vstack([np.zeros(q), np.eye(q)]) if levels else np.zeros((0, q))
    of_raw = design.raw[:, :q].mean(axis=0)
    if not tests.exact and tests.n_permutations <= 20 * len(names):
        notes.append("few permutations: p values cannot be small")
    elif tests.exact and tests.n_permutations < 40:
        notes.append(
            f"there are only {tests.n_permutations} arrangements, so that no p value can be below "
            f"{1 / tests.n_permutations:.2g}"
        )
    return Comparison(
        group=name,
        kind=design.group.kind,
        design=design.kind,
        components=tuple(names),
        levels=levels,
        counts=tuple(np.bincount(design.group.values.astype(int)).tolist()) if levels else (),
        means=(design.means + (rows - of_raw) @ b) * unit,
        slopes=np.full(len(names), np.nan) if levels else _quotient(b[0], unit, unit_of_group),
        F=tests.F,
        df=(q, design.df_error),
        p_values=tests.p_values,
        p_fdr=np.asarray(false_discovery_control(tests.p_values)),
        p_family=tests.p_family,
        joint_F=tests.joint,
        joint_p=tests.joint_p,
        effect_name=effects.name,
        effect=effects.size,
        effect_low=effects.low,
        effect_high=effects.high,
        confidence=confidence,
        covariates=tuple(covariate.name for covariate in table),
        n_graphs=design.n_graphs,
        n_units=design.n_intercepts if design.blocks is not None else len(design.Y),
        n_permutations=tests.n_permutations,
        exact=tests.exact,
        n_bootstrap=n_bootstrap,
        notes=tuple(notes),
        intervals_by=effects.by,
    )


def _check_numbers(n_permutations: int, n_bootstrap: int, confidence: float) -> None:
    for name, value in (("n_permutations", n_permutations), ("n_bootstrap", n_bootstrap)):
        if not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name} must be a whole number >= 1, got {value!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1, got {confidence!r}")


def _tested(Y: Array, names: list[str], leave_out: Any, notes: list[str]) -> NDArray[np.bool_]:
    """Return which components can be tested, (d,)."""
    out = np.zeros(Y.shape[1], bool) if leave_out is None else np.asarray(leave_out, dtype=bool)
    if out.shape != (Y.shape[1],):
        raise InputError(f"leave_out must have a value for each of {Y.shape[1]} components")
    constant = (np.ptp(Y, axis=0) <= 1e-12 * np.abs(Y).max(axis=0)) & ~out
    for which, why in ((out, "degenerate"), (constant, "the same for all graphs")):
        if which.any():
            left = ", ".join(name for name, gone in zip(names, which, strict=True) if gone)
            notes.append(f"not tested, because loadings are {why}: {left}")
    keep: NDArray[np.bool_] = ~(out | constant)
    if not keep.any():
        raise InputError("no component is left to test: loadings are constant or degenerate")
    return keep


def _quotient(b: Array, unit: Array, by: float) -> Array:
    """Return b * unit / by, infinite if that is beyond what a number can hold."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(b * (unit / by))


def _complete(variables: tuple[Variable, ...], notes: list[str]) -> NDArray[np.bool_]:
    """Return the graphs of which all is known."""
    keep: NDArray[np.bool_] = np.all([variable.known for variable in variables], axis=0)
    if keep.all():
        return keep
    why = ", ".join(
        f"{int((~variable.known).sum())} without {variable.name}"
        for variable in variables
        if not variable.known.all()
    )
    notes.append(f"{int((~keep).sum())} of {len(keep)} graphs are left out: {why}")
    if keep.sum() < 3:
        raise InputError(f"{int(keep.sum())} graphs have all values ({why}); too few to compare")
    return keep
