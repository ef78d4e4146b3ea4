"""Whether loadings differ between groups, or change with a quantity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import false_discovery_control

from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.studies.adjustment import Harmonize, harmonized_for_test
from eigengraphs.inference.studies.designs import (
    Array,
    DesignKind,
    check_share,
    read_design,
    varying_loadings,
    words,
)
from eigengraphs.inference.studies.permutation_tests import (
    Effects,
    Estimates,
    Tests,
    effect_sizes,
    estimates,
    interval_text,
    permutation_tests,
)
from eigengraphs.system.labels import count_of
from eigengraphs.system.randomness import RandomState, seed_sequence


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tests, Effects):
    """Differences of loadings between groups, slopes along a quantity, or other contrasts.

    A graph with a larger loading on a component has more of its pattern h h^T; in undirected
    graphs the sign of h does not matter for that.

    Attributes
    ----------
    group : str
        Name of what was compared.
    kind : str
        "groups", "quantity" for a slope, or "contrast" for what else a formula can test.
    design : str
        "single": independent graphs; "between": means of subjects; "within": graphs within
        subjects.
    components : tuple of str
        Names of the d components that were tested.
    levels : tuple of str
        Groups; empty for a quantity. Of a formula: the levels of the categorical variables in the
        tested terms; each group has its own spread in Welch's statistic.
    counts : tuple of int
        Units (graphs, or subjects) in each group.
    adjusted : Estimates
        Mean loadings of each group at the mean of the covariates: the mean prediction if all
        graphs were in the group and all else stayed as it is.
    coefficients : Estimates
        Of all columns of the model, by their names.
    contrasts : Estimates
        Of what is tested, one or several coefficients or contrasts of them.
    F : (d,)
        Welch's F statistic of each component, in which groups have their own spreads as far as
        these differ by more than chance.
    df : tuple of two int
        Degrees of freedom of the effect, and of the residuals.
    p_values : (d,)
        Of each component alone.
    p_fdr : (d,)
        Adjusted to control the share of false discoveries (Benjamini and Hochberg).
    p_family : (d,)
        Adjusted to control the probability of any false discovery (most unusual component).
    joint_F : float
        Welch's F statistic of all components together.
    joint_p : float
        p-value of all components together.
    effect_name : str
        Measure of effect size: "Hedges g", "omega squared" or a partial correlation.
    effect : (d,)
        Size of the effect; infinite if nothing varies within two groups.
    effect_low : (d,)
        Lower end of its interval; nan if nothing but the effect varies.
    effect_high : (d,)
        Upper end of its interval.
    confidence : float
        Of the intervals.
    covariates : tuple of str
        Names of the covariates, or of the other terms of a formula.
    formula : str
        Text of the formula; empty without one.
    n_graphs : int
        Number of graphs that were used.
    n_units : int
        Graphs or subjects that were compared.
    n_permutations : int
        Number of arrangements in the reference distribution of F, including the observed one.
    exact : bool
        Whether these were all possible arrangements.
    n_bootstrap : int
        Number of bootstrap samples for the intervals.
    notes : tuple of str
        What was left out, and what to be careful about.
    intervals_by : {"BCa", "noncentral"}
        Method for the intervals: bootstrap of units, or inversion of the test, by noncentral
        distributions of t or F.
    harmonized : str
        What was done to loadings before the test, in a sentence; empty if nothing was.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import compare
    >>> group = np.repeat(["a", "b"], 10)
    >>> Lam = np.random.default_rng(0).normal(size=(20, 2))
    >>> Lam[10:, 1] += 3.0
    >>> found = compare(Lam, group, n_permutations=99, n_bootstrap=100, random_state=0)
    >>> found.levels, found.counts, found.F.shape
    (('a', 'b'), (10, 10), (2,))
    >>> print(found.words[0])
    Loadings of all components together differ between groups of group (10 a, 10 b): p = 0.01.
    """

    group: str
    kind: Literal["groups", "quantity", "contrast"]
    design: DesignKind
    components: tuple[str, ...]
    levels: tuple[str, ...]
    counts: tuple[int, ...]
    adjusted: Estimates
    coefficients: Estimates
    contrasts: Estimates
    df: tuple[int, int]
    p_fdr: Array
    confidence: float
    covariates: tuple[str, ...]
    formula: str
    n_graphs: int
    n_units: int
    n_bootstrap: int
    notes: tuple[str, ...]
    harmonized: str = ""

    @property
    def means(self) -> Array:
        """Mean loadings of each group at the mean of the covariates, (groups, d)."""
        return self.adjusted.values

    @property
    def slopes(self) -> Array:
        """Change of loadings for one unit of a quantity, or a contrast, (d,); nan for groups."""
        told = self.kind != "groups" and len(self.contrasts.names) == 1
        return self.contrasts.values[0] if told else np.full(len(self.components), np.nan)

    def significant(self, level: float = 0.05) -> tuple[str, ...]:
        """Return the components that differ, at a false discovery rate.

        Parameters
        ----------
        level : float
            False discovery rate.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import compare
        >>> group = np.repeat(["a", "b"], 10)
        >>> Lam = np.random.default_rng(0).normal(size=(20, 2))
        >>> Lam[10:, 1] += 3.0
        >>> found = compare(Lam, group, n_permutations=99, n_bootstrap=100, random_state=0)
        >>> found.significant(0.05)
        ('je2',)
        """
        pairs = zip(self.components, self.p_fdr, strict=True)
        return tuple(name for name, p in pairs if p <= level)

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :attr:`rows`."""
        effect = (self.effect_name, "low", "high")
        shown = [name for name, _ in self._shown]
        return ("component", *effect, "F", "p", "p_fdr", "p_family", *shown)

    @property
    def _shown(self) -> list[tuple[str, Array]]:
        """Means and slopes with standard errors, (d,) each, by the names of their columns."""
        found: list[tuple[str, Array]] = []
        single = self.kind == "quantity"
        if self.kind != "groups":
            for name, *pair in zip(
                self.contrasts.names, self.contrasts.values, self.contrasts.errors, strict=True
            ):
                ends = ("slope", "slope_se") if single else (name, f"{name}_se")
                found += zip(ends, pair, strict=True)
        for what, table in (
            ("mean {}", self.adjusted.values),
            ("mean {}_se", self.adjusted.errors),
        ):
            if not np.isnan(table).all():
                found += [(what.format(level), row)
                          for level, row in zip(self.levels, table, strict=True)]  # fmt: skip
        return found

    @property
    def rows(self) -> tuple[tuple[str | float, ...], ...]:
        """One row for each component, and one for all together."""
        table = np.column_stack([
            self.effect, self.effect_low, self.effect_high, self.F, self.p_values, self.p_fdr,
            self.p_family, *(column for _, column in self._shown),
        ])  # fmt: skip
        together = np.full(table.shape[1], np.nan)
        together[[3, 4]] = self.joint_F, self.joint_p
        names, numbers = (*self.components, "all"), np.vstack([table, together]).tolist()
        return tuple((name, *row) for name, row in zip(names, numbers, strict=True))

    @property
    def words(self) -> tuple[str, ...]:
        """The answer in sentences."""
        verdict = {"groups": "differ between groups of", "quantity": "change with",
                   "contrast": "depend on"}[self.kind]  # fmt: skip
        if self.joint_p > 0.05:
            verdict = f"are not shown to {verdict}"
        found = self.significant()
        said = [
            f"Loadings of all components together {verdict} {self.group} ({self._units}): "
            f"p = {_p(self.joint_p)}.",
            *(self._sentence(self.components.index(name)) for name in found[:6]),
        ]
        if len(found) > 6:
            said.append(f"{len(found) - 6} more components are in the table.")
        if not found:
            said.append(
                "No single component does at a false discovery rate of 5 %; the smallest adjusted "
                f"p is {_p(float(self.p_fdr.min()))}."
            )
        return tuple(said)

    def _sentence(self, k: int) -> str:
        size = f"{self.effect_name} {self.effect[k]:.2f}, "
        if np.isinf(self.effect[k]):
            size = "perfect separation, as loadings do not vary within groups, "
        elif ends := self.interval(k, ".2f"):
            size += f"{self.confidence:.0%} interval {ends}, "
        size += f"adjusted p {_p(self.p_fdr[k])}"
        name = self.components[k]
        if self.kind == "quantity":
            way = "rises" if self.slopes[k] > 0 else "falls"
            return f"The loading on {name} {way} with {self.group} ({size})."
        if self.kind == "contrast":
            told = f"{self._told(self.contrasts, 0, k)}; " * (len(self.contrasts.names) == 1)
            return f"The loading on {name} depends on {self.group} ({told}{size})."
        order = np.argsort(-self.means[:, k])
        high, low = order[0], order[-1]
        adjusted = "adjusted " if self.covariates else ""
        return (
            f"The loading on {name} is largest in the group {self.levels[high]} ({adjusted}mean "
            f"{self._told(self.adjusted, high, k)}) and smallest in {self.levels[low]} "
            f"({self._told(self.adjusted, low, k)}; {size})."
        )

    def _told(self, of: Estimates, i: int, k: int) -> str:
        """Return a mean or a contrast with its interval, as text."""
        ends = of.interval(i, k)
        return f"{of.values[i, k]:.3g}{ends and f', {self.confidence:.0%} interval {ends}'}"

    def interval(self, k: int, form: str = ".3g") -> str:
        """Return the interval around the effect of one component as text; empty without one.

        Parameters
        ----------
        k : int
            Index of the component, from 0.
        form : str
            Format of the numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import compare
        >>> found = compare([[0.0], [0.0], [1.0], [1.0]], ["a", "a", "b", "b"])
        >>> found.interval(0)
        ''
        """
        return interval_text(self.effect_low[k], self.effect_high[k], form)

    @property
    def _units(self) -> str:
        """What was compared, and how many of each group."""
        sizes = [
            f"{count} {'of ' * level[:1].isdigit()}{level}"  # 24 of 2, of session 2
            for level, count in zip(self.levels, self.counts, strict=True)
        ]
        return words(sizes, 8) or self._all_units

    @property
    def _all_units(self) -> str:
        if self.design == "between":
            return f"{self.n_units} participants"
        subjects = f" of {self.n_units} participants" if self.design == "within" else ""
        return f"{self.n_graphs} graphs{subjects}"

    @property
    def methods(self) -> str:
        """The methods, as a paragraph for a paper."""
        name, d, what = self.group, len(self.components), "Loadings were regressed on"
        means, cells = "", f"quarters of {name} by distance from its mean"
        if self.kind == "contrast":
            what = "Loadings were tested for an effect of"
        elif self.levels:
            what = "Loadings were compared between the groups of"
        if self.levels:
            means, cells = "Means, not spreads, were tested. ", "groups"
        moved, drawn, within = {
            "single": ("graphs", "graphs", ""),
            "between": (
                "participants", "participants",
                f"; means of the {self.n_graphs} graphs over each of {self.n_units} participants",
            ),
            "within": (
                "graphs within participants", "participants",
                f"; within {self.n_units} participants",
            ),
        }[self.design]  # fmt: skip
        orders = f"{self.n_permutations - 1:,} random permutations of {moved}"
        if self.exact:
            orders = f"all {self.n_permutations:,} arrangements of {moved} (exact)"
        adjusted = ""
        if self.covariates:
            adjusted = f", adjusted for {words(self.covariates, 20)}"
            adjusted += f" (model: {self.formula})" * bool(self.formula)
            orders += ", permuting residuals of the covariates (Freedman and Lane, 1983)"
        strata = " within groups" if self.levels and self.design != "within" else ""
        size = {
            "Hedges g": f"Hedges' g ({' minus '.join(self.levels[1::-1])})"
            if self.kind == "groups"
            else "Hedges' g (the contrast over the residual standard deviation)",
            "omega squared": "omega squared",
            "partial correlation": "partial correlations",
        }[self.effect_name]
        intervals = "intervals by noncentral distributions of t or F"
        if self.intervals_by == "BCa":
            intervals = (
                f"BCa bootstrap intervals ({self.n_bootstrap:,} samples, {drawn} resampled{strata})"
            )
        estimated = " Adjusted means and coefficients" if self.levels else " Slopes"
        estimated += " have standard errors that allow each graph its own spread (HC2)."
        together = ", and of all together after whitening by their shrunk covariance" * (d > 1)
        return (
            f"{self.harmonized}{' ' * bool(self.harmonized)}"
            f"{what} {name} ({self._units}{within}){adjusted}. {means}Welch's F statistics of the "
            f"{count_of(d, 'component')}{together}, with variances of {cells} moderated by their "
            f"common ones, were referred to {orders}. p values of components were adjusted by the "
            "false discovery rate (Benjamini and Hochberg, 1995) and by the most unusual component "
            f"(Westfall and Young, 1993). Effect sizes are {size} with {self.confidence:.0%} "
            f"{intervals}."
            f"{estimated}"
        )

    def __repr__(self) -> str:
        return (
            f"Comparison({self.group!r}, {self._all_units}, {len(self.components)} components, "
            f"joint p = {_p(self.joint_p)}, differing: {words(self.significant()) or 'none'})"
        )


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def compare(
    loadings: Any,
    group: Any,
    *,
    covariates: Any = None,
    subjects: Any = None,
    harmonize: Any = None,
    harmonizer: Harmonize | None = None,
    components: Sequence[str] | None = None,
    leave_out: Any = None,
    name: str = "group",
    n_permutations: int = 9999,
    n_bootstrap: int = 2000,
    confidence: float = 0.95,
    random_state: RandomState = None,
) -> Comparison:
    """Compare the loadings of groups of graphs by permutations, each component and all together.

    Means are tested, not spreads: Welch's statistic allows each group its own variance. The
    embedding must have been fitted without the groups; then graphs are exchangeable if groups
    do not differ at all, and the tests are exact (with covariates, very nearly). If only spreads
    differ, the level holds approximately.

    Parameters
    ----------
    loadings : (m, d)
        One row per graph.
    group : (m,) or Formula
        Groups (texts, or numbers of two values) or a quantity (numbers of more values). Graphs
        where it is None, nan or "n/a" are left out. A :class:`Formula` has terms for covariates and
        interactions, and says which of them is tested.
    covariates
        Columns to adjust for: a mapping of names to columns of m values, a pandas table, or an
        array (m, q). Texts are categories, such as sites. Graphs without a value are left out.
    subjects : (m,), optional
        The participant of each graph. If the group is the same in all graphs of a subject, means of
        subjects are compared; if it varies within all subjects, graphs within subjects.
    harmonize : (m,), optional
        The site of each graph, or a mapping of the name of the column to them. Loadings are
        harmonized over sites with the covariates kept, and the site is a covariate of the test.
        The group is not kept: loadings that know the group would reject too often where groups
        have unequal shares of the sites.
    harmonizer
        Settings for that, ``Harmonize(mean_only=True)``.
    components
        Names of the components; ``je1``, ``je2``, ... by default.
    leave_out : (d,) of bool, optional
        Components that are not tested: ``embedding.degenerate_``.
    name
        Name of the group variable, for words and notes; a formula has its own.
    n_permutations
        Number of random rearrangements; if there are no more different ones, all are used.
    n_bootstrap, confidence
        Number of samples, and coverage, for the intervals of effect sizes.
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
    check_count("n_permutations", n_permutations)
    check_count("n_bootstrap", n_bootstrap)
    check_share("confidence", confidence)
    harmonized = ""
    if harmonize is not None:
        loadings, covariates, harmonized = harmonized_for_test(
            loadings, harmonize, covariates, group, name, harmonizer
        )
    Y, unit, names, notes = varying_loadings(loadings, components=components, leave_out=leave_out)
    design = read_design(Y, group, covariates, subjects, name)
    model, name = design.model, design.model.name
    notes.extend(design.notes)
    for_permutations, for_bootstrap = seed_sequence(random_state).spawn(2)
    tests = permutation_tests(design, n_permutations, np.random.default_rng(for_permutations))
    effects, perfect = effect_sizes(
        design, n_bootstrap, confidence, np.random.default_rng(for_bootstrap)
    )
    levels = design.group.levels
    if perfect.any():
        what = f"perfect fit: loadings do not vary around a line in {name}"
        if model.kind == "groups":
            what = "perfect separation: loadings do not vary within groups"
        which = words(np.array(names)[perfect].tolist())
        notes.append(f"{what} ({which}), so that the effect has no interval")
    if effects.intervals_by != "BCa" and effects.effect_name != "omega squared":
        notes.append("few graphs or participants: intervals assume normal errors of one spread")
    if not tests.exact and tests.n_permutations <= 20 * len(names):
        notes.append("few permutations: p values cannot be small")
    elif tests.exact and tests.n_permutations < 40:
        notes.append(
            f"there are only {tests.n_permutations} arrangements, so that no p value can be below "
            f"{1 / tests.n_permutations:.2g}"
        )
    scaled = np.eye(len(model.names)) / design.scales[:, None]
    told = [
        estimates(design, of, rows, unit, confidence)
        for of, rows in (
            (levels * (model.at is not None), design.at),
            (model.names, scaled),
            (model.contrasts, model.tested.T @ scaled),
        )
    ]
    return Comparison(
        group=name,
        kind=model.kind,
        design=design.kind,
        components=tuple(names),
        levels=levels,
        counts=tuple(np.bincount(design.group.values.astype(int)).tolist()) if levels else (),
        adjusted=told[0],
        coefficients=told[1],
        contrasts=told[2],
        df=(design.X.shape[1], design.df_error),
        p_fdr=np.asarray(false_discovery_control(tests.p_values)),
        confidence=confidence,
        covariates=design.covariates,
        formula=model.formula,
        n_graphs=design.n_graphs,
        n_units=int(design.units.max()) + 1,
        n_bootstrap=n_bootstrap,
        notes=tuple(notes),
        harmonized=harmonized,
        **vars(tests),
        **vars(effects),
    )
