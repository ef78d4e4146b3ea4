"""What a comparison of groups found, and how to say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eigengraphs.inference.variables import Array, words

__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Differences of loadings between groups, or slopes along a quantity.

    Loadings are numbers of their pattern: a graph with a larger loading on a component has more of
    the pattern h h^T in it. The sign of h does not matter for that of an undirected graph.

    Attributes
    ----------
    group : str
        Name of what was compared.
    kind : str
        "groups", or "quantity" for a slope.
    design : str
        "single": graphs of their own; "between": means of subjects; "within": graphs within
        subjects.
    components : tuple of str
        Names of the d components that were tested.
    levels : tuple of str
        Groups; empty for a quantity.
    counts : tuple of int
        Units (graphs, or subjects) in each group.
    means : (groups, d)
        Mean loadings of each group at the mean of the covariates.
    slopes : (d,)
        Change of loadings for one unit of a quantity; nan for groups.
    F : (d,)
        Welch's F statistic of each component, in which groups have spreads of their own as far as
        these differ by more than chance.
    df : tuple of two int
        Degrees of freedom of the effect, and those that the model leaves.
    p_values : (d,)
        Of each component alone.
    p_fdr : (d,)
        Adjusted so that the share of false discoveries is held (Benjamini and Hochberg).
    p_family : (d,)
        Adjusted so that the chance of any false discovery is held (most
        unusual component).
    joint_F : float
        Welch's F statistic of all components together.
    joint_p : float
        p-value of all components together.
    effect_name : str
        What sizes of effects are: "Hedges g", "omega squared" or a partial correlation.
    effect : (d,)
        Size of the effect; infinite if nothing varies within two groups.
    effect_low : (d,)
        Lower end of its interval; nan if nothing varies beside the effect.
    effect_high : (d,)
        Upper end of its interval.
    confidence : float
        Of the intervals.
    covariates : tuple of str
        Names of what was held constant.
    n_graphs : int
        Graphs that took part.
    n_units : int
        Graphs or subjects that were compared.
    n_permutations : int
        Arrangements that F was referred to, the observed one included.
    exact : bool
        Whether these were all there are.
    n_bootstrap : int
        Samples behind the intervals.
    notes : tuple of str
        What was left out, and what to be careful about.
    intervals_by : {"BCa", "residuals", "normal"}
        How intervals of effects were found: units drawn, or the test inverted with errors drawn
        from residuals, or from a normal law where these are few.

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
    kind: Literal["groups", "quantity"]
    design: Literal["single", "between", "within"]
    components: tuple[str, ...]
    levels: tuple[str, ...]
    counts: tuple[int, ...]
    means: Array
    slopes: Array
    F: Array
    df: tuple[int, int]
    p_values: Array
    p_fdr: Array
    p_family: Array
    joint_F: float
    joint_p: float
    effect_name: str
    effect: Array
    effect_low: Array
    effect_high: Array
    confidence: float
    covariates: tuple[str, ...]
    n_graphs: int
    n_units: int
    n_permutations: int
    exact: bool
    n_bootstrap: int
    notes: tuple[str, ...]
    intervals_by: Literal["BCa", "residuals", "normal"] = "BCa"

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
        return tuple(
            name for name, p in zip(self.components, self.p_fdr, strict=True) if p <= level
        )

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :attr:`rows`."""
        means = tuple(f"mean {level}" for level in self.levels) or ("slope",)
        effect = (self.effect_name, "low", "high")
        return ("component", *effect, "F", "p", "p (FDR)", "p (family)", *means)

    @property
    def rows(self) -> tuple[tuple[str | float, ...], ...]:
        """A row for each component, and one for all together."""
        middle = self.means.T if self.levels else self.slopes[:, None]
        rows: list[tuple[str | float, ...]] = [
            (name, *map(float, numbers), *map(float, shown))
            for name, *numbers, shown in zip(
                self.components, self.effect, self.effect_low, self.effect_high, self.F,
                self.p_values, self.p_fdr, self.p_family, middle, strict=True,
            )
        ]  # fmt: skip
        nan = float("nan")
        blank = (nan,) * middle.shape[1]
        rows.append(("all", nan, nan, nan, self.joint_F, self.joint_p, nan, nan, *blank))
        return tuple(rows)

    @property
    def words(self) -> tuple[str, ...]:
        """The answer in sentences."""
        what = (
            f"groups of {self.group} ({self._sizes()})" if self.levels else
            f"{self.group} ({self._of()})"
        )  # fmt: skip
        verdict = "differ between" if self.levels else "change with"
        if self.joint_p > 0.05:
            verdict = f"are not shown to {verdict}"
        said = [f"Loadings of all components together {verdict} {what}: p = {_p(self.joint_p)}."]
        found = self.significant()
        for name in found[:6]:
            said.append(self._sentence(self.components.index(name)))
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
        if not self.levels:
            way = "rises" if self.slopes[k] > 0 else "falls"
            return f"The loading on {name} {way} with {self.group} ({size})."
        order = np.argsort(-self.means[:, k])
        high, low = self.levels[order[0]], self.levels[order[-1]]
        most, least = (f"{self.means[place, k]:.3g}" for place in (order[0], order[-1]))
        return (
            f"The loading on {name} is largest in graphs of {high} (mean {most}) and smallest in "
            f"those of {low} ({least}; {size})."
        )

    def interval(self, k: int, form: str = ".3g") -> str:
        """Return the interval around the effect of one component as text; empty without one.

        Parameters
        ----------
        k : int
            Place of the component, from 0.
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
        low, high = self.effect_low[k], self.effect_high[k]
        return f"{low:{form}} to {high:{form}}" if np.isfinite([low, high]).all() else ""

    def _sizes(self) -> str:
        return words(
            [
                f"{count} {'of ' * level[:1].isdigit()}{level}"  # 24 of 2, of session 2
                for level, count in zip(self.levels, self.counts, strict=True)
            ],
            8,
        )

    def _of(self) -> str:
        if self.design == "between":
            return f"{self.n_units} subjects"
        subjects = f" of {self.n_units} subjects" if self.design == "within" else ""
        return f"{self.n_graphs} graphs{subjects}"

    @property
    def methods(self) -> str:
        """How it was done, for a paper."""
        name = self.group
        what = (
            f"Loadings were compared between the groups of {name} ({self._sizes()}"
            if self.levels
            else f"Loadings were regressed on {name} ({self._of()}"
        )
        what += {
            "single": ")",
            "between": f"; means of the {self.n_graphs} graphs over each of {self.n_units} "
            "subjects)",
            "within": f"; within {self.n_units} subjects)",
        }[self.design]
        if self.covariates:
            what += f", adjusted for {words(self.covariates, 20)}"
        d = len(self.components)
        rows = {"single": "graphs", "between": "subjects", "within": "graphs within subjects"}
        moved = rows[self.design]
        orders = (
            f"all {self.n_permutations:,} arrangements of {moved} (exact)"
            if self.exact
            else f"{self.n_permutations - 1:,} random permutations of {moved}"
        )
        how = (
            ", permuting residuals of the covariates (Freedman and Lane, 1983)"
            if self.covariates
            else ""
        )
        cells = "groups" if self.levels else f"quarters of {name} by distance from its mean"
        size = {
            "Hedges g": "Hedges' g (the second group less the first)",
            "omega squared": "omega squared",
        }.get(self.effect_name, "partial correlations")
        drawn = {
            "single": "graphs resampled within groups" if self.levels else "graphs resampled",
            "between": "subjects resampled within groups" if self.levels else "subjects resampled",
            "within": "subjects resampled",
        }[self.design]
        intervals = {
            "BCa": f"BCa bootstrap intervals ({self.n_bootstrap:,} samples, {drawn})",
            "residuals": "intervals by inversion of the test, with errors drawn from the residuals "
            f"({self.n_bootstrap:,} samples)",
            "normal": "intervals by inversion of the test, with normal errors "
            f"({self.n_bootstrap:,} samples)",
        }[self.intervals_by]
        return (
            f"{what}. {'Means, not spreads, were tested. ' if self.levels else ''}"
            f"Welch's F statistics of the {d} component{'s' if d > 1 else ''}"
            + (", and of all together after whitening by their shrunk covariance" if d > 1 else "")
            + f", with variances of {cells} moderated by their common ones, were referred to "
            f"{orders}{how}. p values of components were adjusted by the false discovery rate "
            "(Benjamini and Hochberg, 1995) and by the most unusual component (Westfall and Young, "
            f"1993). Effect sizes are {size} with {self.confidence:.0%} {intervals}."
        )

    def __repr__(self) -> str:
        return (
            f"Comparison({self.group!r}, {self._of()}, {len(self.components)} components, "
            f"joint p = {_p(self.joint_p)}, differing: {words(self.significant()) or 'none'})"
        )


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"
