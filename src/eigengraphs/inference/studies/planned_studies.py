"""How many participants a study of two groups needs: its power, by simulation from a pilot fit.

Loadings of planned studies are drawn from the model that a pilot was fitted by: a normal
distribution with the pilot's residual covariance, and an effect between two groups. Each study is
tested as :func:`~eigengraphs.inference.compare` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, false_discovery_control, norm
from sklearn.covariance import ledoit_wolf

from eigengraphs.errors import InputError
from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.studies.designs import (
    Array,
    Design,
    check_choice,
    check_share,
    read_design,
    varying_loadings,
    words,
)
from eigengraphs.inference.studies.permutation_tests import permutation_tests
from eigengraphs.system.labels import count_of, listed
from eigengraphs.system.randomness import RandomState, seed_sequence
from eigengraphs.system.tables import aligned

Test: TypeAlias = Literal["alone", "fdr", "family", "joint"]
#: What a test of a planned study is, in words.
TESTS: dict[Test, str] = {
    "alone": "the component tested alone",
    "fdr": "the component, at a false discovery rate over all components",
    "family": "the component, at a family-wise error over all components",
    "joint": "all components together",
}
SHARES = (0.8, 0.9)  # of studies that find the effect, for which sizes are given


class Size(NamedTuple):
    """Participants per group, and an interval; infinite beyond the largest simulated size."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Power:
    """Shares of simulated studies that find an effect; what :func:`power` returns.

    Attributes
    ----------
    group : str
        Name of what is compared.
    sizes : tuple of int
        Participants per group, the smallest first.
    tests : tuple of str
        "alone": the component with the effect is the only one that is tested; "fdr" and "family":
        it is found among all components, by the adjusted p values of ``compare``; "joint": all
        components together differ.
    found : (sizes, tests) of int
        Studies with p <= level.
    n_studies : int
        Simulated studies of each size.
    level : float
        Of the tests.
    effects : (d,)
        Planted difference on each component, the second group less the first, in residual standard
        deviations of the pilot.
    components : tuple of str
        Names of the d components.
    origin : str
        Where the effect comes from, in words.
    n_pilot : int
        Graphs, or subjects, of the pilot.
    n_permutations : int
        Of each test.
    notes : tuple of str
        What was left out, and what is assumed.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import power
    >>> pilot = np.random.default_rng(0).normal(size=(24, 1))
    >>> found = power(pilot, ["a", "b"] * 12, effect=1.0, sizes=(10, 30), n_studies=50,
    ...               random_state=0)
    >>> found.power[:, found.tests.index("alone")]
    array([0.54, 0.96])
    """

    group: str
    sizes: tuple[int, ...]
    tests: tuple[Test, ...]
    found: NDArray[np.intp]
    n_studies: int
    level: float
    effects: Array
    components: tuple[str, ...]
    origin: str
    n_pilot: int
    n_permutations: int
    notes: tuple[str, ...]

    @property
    def power(self) -> Array:
        """Shares of studies that find the effect, (sizes, tests)."""
        return self.found / self.n_studies

    @property
    def standard_errors(self) -> Array:
        """Standard errors of these by the number of simulated studies, (sizes, tests)."""
        return np.asarray(np.sqrt(self.power * (1 - self.power) / self.n_studies))

    @property
    def ends(self) -> Array:
        """Lower and upper ends of their 95 % intervals (Wilson), (2, sizes, tests)."""
        n = self.n_studies
        each = [binomtest(k, n).proportion_ci(0.95, "wilson") for k in self.found.ravel().tolist()]
        return np.array([(one.low, one.high) for one in each]).T.reshape(2, *self.found.shape)

    def size(self, share: float = 0.8, test: Test = "family") -> Size:
        """Return how many participants per group a study needs to find the effect so often.

        Between the simulated sizes power is interpolated: its normal quantile is nearly a line
        in the root of the size. The interval is that of the simulation.

        Parameters
        ----------
        share : float
            Of studies, such as 0.8.
        test : {"alone", "fdr", "family", "joint"}

        Returns
        -------
        Size
            Infinite if the largest size does not reach it; the smallest size if that does.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import power
        >>> pilot = np.random.default_rng(0).normal(size=(24, 1))
        >>> found = power(pilot, ["a", "b"] * 12, effect=1.0, sizes=(10, 30), n_studies=50,
        ...               random_state=0)
        >>> found.size(0.8).value
        18.0
        """
        check_share("share", share)
        check_choice("test", test, self.tests)
        low, high = self.ends
        values = np.stack([self.power, high, low])[..., self.tests.index(test)]
        # Power rises with the size; where the simulation says otherwise, that is its error. One
        # without a miss is taken to be half a miss below 1, so that sizes are not too small.
        half = 0.5 / self.n_studies
        reached = norm.ppf(np.clip(np.maximum.accumulate(values, axis=1), half, 1 - half))
        at, root = norm.ppf(share), np.sqrt(self.sizes)
        n = [np.ceil(np.interp(at, each, root, right=np.inf) ** 2 - 1e-9) for each in reached]
        return Size(*map(float, n))

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :attr:`rows`."""
        each = [(test, f"{test}_se", f"{test}_low", f"{test}_high") for test in self.tests]
        return ("per_group", *(name for names in each for name in names))

    @property
    def rows(self) -> tuple[tuple[float, ...], ...]:
        """One row per size: power by each test, its standard error, and its interval."""
        table = np.stack([self.power, self.standard_errors, *self.ends], axis=-1)
        table = np.column_stack([self.sizes, table.reshape(len(self.sizes), -1)])
        return tuple((int(n), *row) for n, *row in table.tolist())

    def words(self, test: Test = "family") -> tuple[str, ...]:
        """Return the answer in sentences, for one of the tests.

        Parameters
        ----------
        test : {"alone", "fdr", "family", "joint"}

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import power
        >>> pilot = np.random.default_rng(0).normal(size=(24, 1))
        >>> found = power(pilot, ["a", "b"] * 12, effect=1.0, sizes=(10, 30), n_studies=50,
        ...               random_state=0)
        >>> print(found.words("alone")[1])
        80% power needs 18 participants per group (95% interval 14 to 26).
        """
        check_choice("test", test, self.tests)
        shares = [f"{share:.0%} of studies with {n}" for n, share in
                  zip(self.sizes, self.power[:, self.tests.index(test)], strict=True)]  # fmt: skip
        said = [
            f"{self.origin[:1].upper()}{self.origin[1:]} is found in {listed(shares)} "
            f"participants per group (tested: {TESTS[test]}; level {self.level:g})."
        ]
        for share in SHARES:
            value, low, high = (
                f"more than {self.sizes[-1]}" if np.isinf(n)
                else f"{'at most ' * (n <= self.sizes[0])}{n:g}" for n in self.size(share, test)
            )  # fmt: skip
            end = "" if value == high else f" (95% interval {low} to {high})"
            said.append(f"{share:.0%} power needs {value} participants per group{end}.")
        return tuple(said)

    @property
    def methods(self) -> str:
        """How it was found and what is assumed, as a paragraph."""
        return (
            f"Power was estimated from {self.n_studies:,} simulated studies of each size, two "
            f"groups of equal size. Loadings on {count_of(len(self.components), 'component')} "
            f"were drawn from a normal distribution with the residual covariance of the pilot "
            f"({self.n_pilot} independent units; shrunk as by Ledoit and Wolf, 2004), the same "
            f"in both groups; the effect: {self.origin}. Each study was tested as by compare, with "
            f"{self.n_permutations} permutations and without covariates. It is assumed that the "
            "planned study has the same components, measured equally well. Intervals are those of "
            "the simulation; they do not cover the uncertainty of the pilot."
        )

    def __repr__(self) -> str:
        return f"Power({self.group!r}, sizes={self.sizes}, {self.origin})"

    def __str__(self) -> str:
        pairs = zip(self.sizes, self.power, self.standard_errors, strict=True)
        return aligned([("per_group", *self.tests), *(
            (f"{n}", *(f"{p:.3f} ± {se:.3f}" for p, se in zip(*each, strict=True)))
            for n, *each in pairs
        )])  # fmt: skip


def power(
    loadings: Any,
    group: Any,
    *,
    effect: float | Literal["pilot"] = 0.5,
    component: str | None = None,
    sizes: Sequence[float] = (20, 40, 80),
    covariates: Any = None,
    subjects: Any = None,
    components: Sequence[str] | None = None,
    leave_out: Any = None,
    name: str = "group",
    level: float = 0.05,
    n_studies: int = 500,
    n_permutations: int = 999,
    random_state: RandomState = None,
    on_study: Callable[[int, int], None] | None = None,
) -> Power:
    """Return the power of planned studies of two groups, by simulation from a pilot fit.

    Parameters
    ----------
    loadings : (m, d)
        Of the pilot, one row per graph.
    group : (m,)
        Groups of the pilot. A planted effect needs no effect in them: they tell how much graphs of
        one group differ.
    effect : float or "pilot"
        Difference of two groups on one component, in residual standard deviations (Cohen's d). Or
        the pilot's own differences on all components (of two groups), each shrunk so that its
        square is unbiased: differences of a small pilot are too large, and plans made with them
        find too little.
    component
        Name of the component with the effect; by default the one whose loadings the pilot's groups
        explain best.
    sizes
        Participants per group.
    covariates, subjects, components, leave_out, name
        As of :func:`~eigengraphs.inference.compare`. Covariates are regressed out of the pilot.
    level
        Of the tests.
    n_studies
        Simulated studies of each size.
    n_permutations
        Of each test. The level is exact with any number of them; with few, tests find a little
        less, and at a false discovery rate over many components much less.
    random_state
        Seed.
    on_study
        Called after each study with the number done, and of all.

    Returns
    -------
    Power

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import power
    >>> pilot = np.random.default_rng(0).normal(size=(24, 2))
    >>> found = power(pilot, ["a", "b"] * 12, effect=1.0, component="je2", sizes=(10, 30),
    ...               n_studies=50, random_state=0)
    >>> found.effects
    array([0., 1.])
    """
    check_count("n_studies", n_studies)
    check_count("n_permutations", n_permutations)
    check_share("level", level)
    chosen = sorted({int(size) for size in sizes})
    if not chosen or chosen[0] < 2 or any(int(size) != size for size in sizes):
        raise InputError(f"sizes must be whole numbers of at least 2 per group, got {sizes!r}")
    if effect != "pilot" and not (isinstance(effect, int | float) and np.isfinite(effect)):
        raise InputError(f"effect must be a number or 'pilot', got {effect!r}")
    if round(1 / level) > n_permutations + 1:
        raise InputError(
            f"{n_permutations} permutations give no p value of {level:g}; take at least "
            f"{int(np.ceil(1 / level)) - 1}"
        )
    Y, _, names, notes = varying_loadings(loadings, components=components, leave_out=leave_out)
    design = read_design(Y, group, covariates, subjects, name)
    if not design.group.levels or design.kind == "within":
        what = "a quantity" if not design.group.levels else "different within participants"
        raise InputError(
            f"{name!r} is {what}, and planned studies compare two groups of different people; name "
            "a column of groups"
        )
    if n_permutations + 1 < 4 * len(names) / level:
        notes.append(f"few permutations for {len(names)} components: fdr is lower than it would be")
    X, left = design.without_covariates(design.X), design.without_covariates(design.Y)
    b = np.linalg.lstsq(X, left, rcond=None)[0]
    R = left - X @ b
    sigma = np.sqrt((R**2).sum(axis=0) / design.df_error)
    if (sigma <= 1e-7 * np.abs(design.Y).max(axis=0)).any():
        raise InputError("loadings do not vary within the groups of the pilot")
    delta, tests = np.zeros(len(names)), tuple(TESTS)
    if effect == "pilot":
        if len(design.group.levels) != 2 or component is not None:
            raise InputError(
                f"the pilot's own effect is that of two groups on all components; {name!r} has "
                f"{len(design.group.levels)}: give a number as effect, or leave out the rest"
            )
        raw = b[0] / design.unit / sigma
        shrunk = np.sqrt(np.maximum(raw**2 - 1 / (X[:, 0] @ X[:, 0]), 0))
        delta, tests = np.sign(raw) * shrunk + 0.0, tests[1:]  # no -0 in words
        each = words([f"{x:.2f}" for x in delta], 12)
        origin = (
            f"the effect of the pilot between {' and '.join(design.group.levels)}, shrunk to "
            f"{each} sd on its components"
        )
        at = np.flatnonzero(delta) if delta.any() else np.arange(len(delta))
        if not delta.any():
            notes.append("the pilot's differences are no larger than chance: nothing is planted")
    else:
        place = int(np.argmin((R**2).sum(axis=0) / (left**2).sum(axis=0)))
        if component is not None:
            check_choice("component", component, names)
            place = names.index(component)
        delta[place], at = effect, np.array([place])
        origin = f"an effect of {effect:g} sd on {names[place]}"
        if component is None and len(names) > 1:
            origin += " (where the pilot's groups differ most)"
    correlation = ledoit_wolf(R / sigma * np.sqrt(len(R) / design.df_error),
                              assume_centered=True)[0]  # fmt: skip
    root = np.linalg.cholesky(correlation / np.sqrt(np.outer(*[np.diag(correlation)] * 2)))
    found = np.zeros((len(chosen), len(tests)), dtype=np.intp)
    for i, seed in enumerate(seed_sequence(random_state).spawn(len(chosen))):
        rng, second = np.random.default_rng(seed), np.repeat([0.0, 1.0], chosen[i])
        labels = np.where(second, "second", "first")
        for k in range(n_studies):
            drawn = rng.normal(size=(len(second), len(delta))) @ root.T + np.outer(second, delta)
            p = _p_values(read_design(drawn, labels), n_permutations, rng, at)
            found[i] += [p[test] <= level * (1 + 1e-9) for test in tests]
            if on_study is not None:
                on_study(i * n_studies + k + 1, len(chosen) * n_studies)
    return Power(
        group=name, sizes=tuple(chosen), tests=tests, found=found, n_studies=n_studies, level=level,
        effects=delta, components=tuple(names), origin=origin, n_pilot=len(design.Y),
        n_permutations=n_permutations, notes=(*notes, *design.notes),
    )  # fmt: skip


def _p_values(
    design: Design, n_permutations: int, rng: np.random.Generator, at: NDArray[np.intp]
) -> dict[Test, float]:
    """Return the p value of each test; of several components with an effect, the smallest."""
    tests = permutation_tests(design, n_permutations, rng)
    adjusted = np.asarray(false_discovery_control(tests.p_values))
    return {
        "alone": float(tests.p_values[at].min()), "fdr": float(adjusted[at].min()),
        "family": float(tests.p_family[at].min()), "joint": tests.joint_p,
    }  # fmt: skip
