"""How loadings of people change over time: random intercepts and slopes, by mixed models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import f, false_discovery_control, t

from eigengraphs.errors import InputError
from eigengraphs.inference.studies.designs import (
    Array,
    Indices,
    Variable,
    check_share,
    complete_rows,
    means_of,
    read_table,
    read_variable,
    relations,
    varying_loadings,
    words,
)
from eigengraphs.inference.studies.permutation_tests import Estimates
from eigengraphs.system.labels import count_of, listed

_NONE = 1e-4  # of the variance of errors: a variance of intercepts or slopes below is none
_STARTS = (0.1, 0.5, 2.0, 20.0)  # of standard deviations between people, over that of errors
# What varies between people, and why it is not all.
_RANDOM = {
    "intercept and slope": "",
    "intercept and slope, fully correlated": "as their correlation is estimated to be 1 or -1",
    "intercept": "as the variance of slopes is estimated to be zero",
    "slope": "as the variance of intercepts is estimated to be zero",
    "none": "as the variances of both are estimated to be zero",
}


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories:
    """Slopes of loadings over time, of all people or of groups of people.

    Slopes are within people: differences between people whose mean times differ are a separate
    term of the model.

    Attributes
    ----------
    time, group : str
        Names of what they are; the group is empty without one.
    components : tuple of str
        Names of the d components.
    levels : tuple of str
        Groups; empty without them.
    counts : tuple of int
        People in each group; without groups, of all.
    slopes : Estimates
        Per unit of time: of all people; or of each group, and then how much more it is in each
        than in the first, ``"patient - control"``. With three or more groups, the last row is the
        test that all slopes are equal, without an estimate.
    p_values : (k, d)
        For the hypothesis that a slope or difference is zero, by t (equality of several: F) with
        ``df`` degrees of freedom.
    p_fdr : (k, d)
        The same, adjusted over components.
    df : int
        People with several times, minus the number of groups.
    random : (d,) tuple of str
        What varies between people in the model of each component: "intercept and slope", or, where
        a variance is estimated to be zero, "intercept", "slope" or "none"; "intercept and slope,
        fully correlated" where the correlation is estimated to be 1 or -1.
    people : tuple of str
        Names of the people.
    person_slopes : (people, d)
        Predicted slope of each person (best linear unbiased prediction).
    confidence : float
        Of the intervals.
    covariates : tuple of str
        Names of the covariates.
    notes : tuple of str
        What was left out, and what to be careful about.
    times : (m,)
        When each graph was measured.
    loadings : (m, d)
        What was modeled.
    person, membership : (m,)
        Numbers of people and of their groups.
    coefficients, covariances : (p, d), (d, p, p)
        Of all columns of the model: intercepts of groups, slopes, and others.
    lines : (groups, 2, p)
        Weights of the coefficients in the mean line of each group: at time 0, and per unit of time.

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import trajectories
    >>> rng = np.random.default_rng(0)
    >>> person, year = np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20)
    >>> Lam = rng.normal(size=(20, 2))[person] + 0.5 * rng.normal(size=(80, 2))
    >>> Lam[:, 1] += (0.6 + 0.2 * rng.normal(size=20))[person] * year
    >>> found = trajectories(Lam, year, person, name="year")
    >>> print(found.words[0])  # doctest: +ELLIPSIS
    The loading on je2 rises with year by 0.62... per unit (95% interval 0.4... to 0.8..., ...
    """

    time: str
    group: str
    components: tuple[str, ...]
    levels: tuple[str, ...]
    counts: tuple[int, ...]
    slopes: Estimates
    p_values: Array
    p_fdr: Array
    df: int
    random: tuple[str, ...]
    people: tuple[str, ...]
    person_slopes: Array
    confidence: float
    covariates: tuple[str, ...]
    notes: tuple[str, ...]
    times: Array
    loadings: Array
    person: Indices
    membership: Indices
    coefficients: Array
    covariances: Array
    lines: Array

    def line(self, component: int, points: int = 50) -> tuple[Array, Array, Array, Array]:
        """Return the mean line of each group and its band, (groups, points) each.

        Parameters
        ----------
        component : int
            Its index, from 0.
        points : int
            Number of times, from the mean first time of the people of a group to their mean last
            one: a slope within people holds for as long as people were followed.

        Returns
        -------
        times, means, low, high : (groups, points)
            At the mean of the covariates.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import trajectories
        >>> person, year = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
        >>> Lam = np.random.default_rng(0).normal(size=(48, 2)) + year[:, None]
        >>> found = trajectories(Lam, year, person)
        >>> times, means, low, high = found.line(0, points=3)
        >>> times.tolist(), means.shape
        ([[0.0, 1.5, 3.0]], (1, 3))
        """
        people = [self.person == i for i in range(len(self.people))]
        ends = np.array([[self.times[mine].min(), self.times[mine].max()] for mine in people])
        group = np.array([self.membership[mine][0] for mine in people])
        ends = means_of(ends, group)
        times = np.array([np.linspace(first, last, points) for first, last in ends])
        rows = self.lines[:, None, 0] + times[:, :, None] * self.lines[:, None, 1]
        means = rows @ self.coefficients[:, component]
        errors = np.sqrt(np.einsum("gip,pq,giq->gi", rows, self.covariances[component], rows))
        reach = errors * t.ppf((1 + self.confidence) / 2, self.df)
        return times, means, means - reach, means + reach

    def significant(self, level: float = 0.05) -> tuple[str, ...]:
        """Return the components that change, or differ in change, at a false discovery rate.

        Parameters
        ----------
        level : float
            False discovery rate.

        Examples
        --------
        >>> import numpy as np
        >>> from eigengraphs.inference import trajectories
        >>> person, year = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
        >>> Lam = np.random.default_rng(0).normal(size=(48, 2)) + year[:, None]
        >>> found = trajectories(Lam, year, person)
        >>> found.significant()
        ('je1', 'je2')
        """
        pairs = zip(self.components, self.p_fdr[-1], strict=True)
        return tuple(name for name, p in pairs if p <= level)

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of :attr:`rows`."""
        return ("component", "what", "slope", "low", "high", "se", "p", "p_fdr", "random")

    @property
    def rows(self) -> tuple[tuple[str | float, ...], ...]:
        """One row for each component and slope or difference."""
        s = self.slopes
        return tuple(
            (name, what, *(float(table[i, k]) for table in
             (s.values, s.low, s.high, s.errors, self.p_values, self.p_fdr)), self.random[k])
            for k, name in enumerate(self.components) for i, what in enumerate(s.names)
        )  # fmt: skip

    @property
    def words(self) -> tuple[str, ...]:
        """The answer in sentences."""
        found = self.significant()
        said = [self._sentence(self.components.index(name)) for name in found[:6]]
        if len(found) > 6:
            said.append(f"{len(found) - 6} more components are in the table.")
        if not found:
            asked = f"changes with {self.time}"
            if self.levels:
                asked = f"is shown to change differently with {self.time} in groups of {self.group}"
            said.append(
                f"No loading {asked} at a false discovery rate of 5 %; the smallest adjusted p is "
                f"{float(np.nanmin(self.p_fdr[-1], initial=1.0)):.2g}."
            )
        return tuple(said)

    def _sentence(self, k: int) -> str:
        name, s = self.components[k], self.slopes
        ends = [f"{s.values[i, k]:.3g} per unit ({self.confidence:.0%} interval {s.low[i, k]:.3g} "
                f"to {s.high[i, k]:.3g}" for i in range(len(s.names))]  # fmt: skip
        p = f"adjusted p {self.p_fdr[-1, k]:.2g}"
        if not self.levels:
            way = "rises" if s.values[0, k] > 0 else "falls"
            return f"The loading on {name} {way} with {self.time} by {ends[0].lstrip('-')}, {p})."
        each = [f"{end}) in {level}" for level, end in zip(self.levels, ends, strict=False)]
        return (
            f"The loading on {name} changes with {self.time} differently in groups of "
            f"{self.group} ({p}): by {listed(each)}."
        )

    @property
    def methods(self) -> str:
        """The methods, as a paragraph for a paper."""
        who = count_of(len(self.people), "participant")
        sizes = zip(self.counts, self.levels, strict=False)
        groups = f" ({', '.join(f'{n} {level}' for n, level in sizes)})" if self.levels else ""
        kinds = [f"{kind} ({count_of(self.random.count(kind), 'component')})"
                 for kind in _RANDOM if kind in self.random]  # fmt: skip
        own = f", own intercepts and slopes of groups of {self.group}" if self.levels else ""
        beside = f", adjusted for {words(self.covariates, 20)}" if self.covariates else ""
        return (
            f"Loadings of {len(self.times)} graphs of {who}{groups} were modeled by linear mixed "
            f"models (restricted maximum likelihood) of {self.time} within "
            f"participants, with the mean {self.time} of participants as another term{own}{beside}."
            f" Random effects of participants: {listed(kinds)}. Standard errors are those of "
            f"generalized least squares at the estimated variances; {self.confidence:.0%} "
            f"intervals and p values are by t with {self.df} degrees of freedom; p values were "
            "adjusted over components by the false discovery rate (Benjamini and Hochberg, 1995)."
        )

    def __repr__(self) -> str:
        by = f" by {self.group}" if self.levels else ""
        return (
            f"Trajectories({self.time!r}{by}, {len(self.times)} graphs of {len(self.people)} "
            f"participants, {len(self.components)} components, differing: "
            f"{words(self.significant()) or 'none'})"
        )


def trajectories(
    loadings: Any,
    time: Any,
    subjects: Any,
    group: Any = None,
    covariates: Any = None,
    *,
    components: Sequence[str] | None = None,
    leave_out: Any = None,
    name: str = "time",
    group_name: str = "group",
    confidence: float = 0.95,
) -> Trajectories:
    """Estimate how loadings change over time within people, and whether groups of people differ.

    Each component has a linear mixed model, with random intercepts and slopes of people, fitted by
    restricted maximum likelihood.

    Parameters
    ----------
    loadings : (m, d)
        One row per graph.
    time : (m,)
        When each graph was measured: numbers, such as ages or years since the first visit.
    subjects : (m,)
        The participant of each graph.
    group : (m,), optional
        Groups of participants. Each has its own mean and its own slope.
    covariates
        Columns to adjust for, as :func:`compare` takes them.
    components, leave_out
        As of :func:`compare`.
    name, group_name
        Names of time and group, for words and notes.
    confidence
        Of the intervals.

    Returns
    -------
    Trajectories

    Examples
    --------
    >>> import numpy as np
    >>> from eigengraphs.inference import trajectories
    >>> person, year = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
    >>> arm = np.where(person % 2, "drug", "placebo")
    >>> Lam = np.random.default_rng(0).normal(size=(48, 2)) + np.outer(year * (person % 2), [1, 0])
    >>> found = trajectories(Lam, year, person, arm, name="year", group_name="arm")
    >>> found.significant(), found.slopes.names
    (('je1',), ('drug', 'placebo', 'placebo - drug'))
    """
    check_share("confidence", confidence)
    Y, unit, names, notes = varying_loadings(loadings, components=components, leave_out=leave_out)
    m = len(Y)
    asked = [read_variable(name, time, m, "quantity"), *read_table(covariates, m)]
    asked.append(read_variable("subjects", subjects, m, "groups"))
    if group is not None:
        asked.append(read_variable(group_name, group, m, "groups"))
    rows, left_out = complete_rows(asked)
    known, Y = [each.rows(rows) for each in asked], Y[rows]
    who = known[-1 if group is None else -2]
    table = known[1 : -1 if group is None else -2]
    levels = () if group is None else known[-1].levels
    person = who.values.astype(np.intp)
    member = np.zeros(len(Y), np.intp) if group is None else known[-1].values.astype(np.intp)
    shift = float(known[0].values.mean())
    when, n_groups = known[0].values - shift, max(len(levels), 1)
    middle = means_of(when[:, None], person)[:, 0]
    within = when - middle[person]
    counts, df = _check_people(within, person, member, who, levels, name, group_name)
    columns, line = _columns(within, middle[person], when, member, n_groups)
    X, more = _with_covariates(columns, table)
    notes += [*left_out, *more]
    if len(X) - np.linalg.matrix_rank(X) < 2:
        raise InputError(f"{len(X)} graphs are too few for {X.shape[1]} coefficients")
    fits = [_fit(Y[:, k], X, within, person) for k in range(Y.shape[1])]
    for kind, why in _RANDOM.items():
        some = [one for one, fit in zip(names, fits, strict=True) if why and fit.random == kind]
        if some:
            notes.append(f"random effects of participants: {kind} in {listed(some)}, {why}")
    lost = [one for one, fit in zip(names, fits, strict=True) if not fit.converged]
    if lost:
        notes.append(f"the search for variances did not converge: {words(lost, 8)}")
    p = X.shape[1]
    W = np.eye(p)[n_groups : 2 * n_groups]  # the slopes
    texts = list(levels) or ["all"]
    if levels:
        W = np.vstack([W, W[1:] - W[0]])
        texts += [f"{level} - {levels[0]}" for level in levels[1:]]
    b = np.array([fit.b for fit in fits]).T
    V = np.array([fit.covariance for fit in fits])
    values, errors = W @ b, np.sqrt(np.einsum("kp,dpq,kq->kd", W, V, W))
    p_values = 2 * t.sf(np.abs(values) / errors, df)
    reach = errors * t.ppf((1 + confidence) / 2, df)
    told = [values * unit, errors * unit, (values - reach) * unit, (values + reach) * unit]
    if len(levels) > 2:
        C = W[n_groups:]
        F = [
            z @ np.linalg.solve(C @ v @ C.T, z) / len(C) for z, v in zip((C @ b).T, V, strict=True)
        ]
        p_values = np.vstack([p_values, f.sf(F, len(C), df)])
        told = [np.vstack([each, np.full(len(names), np.nan)]) for each in told]
        texts.append("all slopes are equal")
    rows_of_lines = np.zeros((n_groups, 2, p))
    rows_of_lines[:, :, : line.shape[2]] = line
    rows_of_lines[:, 0] -= shift * rows_of_lines[:, 1]
    own = np.array([fit.slopes for fit in fits]).T
    firsts = np.unique(person, return_index=True)[1]
    return Trajectories(
        time=name, group=group_name if levels else "", components=tuple(names), levels=levels,
        counts=counts, slopes=Estimates(tuple(texts), *told), p_values=p_values,
        p_fdr=np.array([false_discovery_control(each) for each in p_values]), df=df,
        random=tuple(fit.random for fit in fits), people=who.levels,
        person_slopes=(own + (W[:n_groups] @ b)[member[firsts]]) * unit, confidence=confidence,
        covariates=tuple(each.name for each in table), notes=tuple(notes), times=when + shift,
        loadings=Y * unit, person=person, membership=member, coefficients=b * unit,
        covariances=V * unit[:, None, None] ** 2, lines=rows_of_lines,
    )  # fmt: skip


def _check_people(
    within: Array, person: Indices, member: Indices, who: Variable, levels: Sequence[str],
    name: str, group_name: str,
) -> tuple[tuple[int, ...], int]:  # fmt: skip
    """Return people in each group, and degrees of freedom; refuse what tells no slope."""
    most = np.zeros(len(who.levels), np.intp)
    most[person] = member
    if (most[person] != member).any():
        some = words([who.levels[i] for i in np.unique(person[most[person] != member])])
        raise InputError(
            f"{group_name!r} differs between graphs of one participant ({some}); slopes are "
            "compared between groups of participants"
        )
    moving = np.unique(person[np.abs(within) > 1e-9 * np.abs(within).max(initial=0.0)])
    n_groups = max(len(levels), 1)
    enough = np.bincount(most[moving], minlength=n_groups)
    for g in np.flatnonzero(enough < 2).tolist():
        of = f" of {levels[g]!r}" if levels else ""
        raise InputError(
            f"{count_of(int(enough[g]), 'participant')}{of} with graphs at several values of "
            f"{name!r}: slopes need at least 2"
        )
    if len(moving) - n_groups < 2:
        raise InputError(f"{len(moving)} participants are too few for slopes of {n_groups} groups")
    return tuple(np.bincount(most, minlength=n_groups).tolist()), len(moving) - n_groups


def _columns(
    within: Array, middle: Array, when: Array, member: Indices, n_groups: int
) -> tuple[Array, Array]:
    """Return intercepts, slopes within and between people of each group; and lines of means.

    Lines are (groups, 2, p): columns at time 0, and per unit of time.
    """
    groups = np.eye(n_groups)[member]
    between = groups * (middle - when.mean())[:, None]
    spread = [np.ptp(middle[member == g]) > 1e-9 * np.ptp(when) for g in range(n_groups)]
    columns = np.hstack([groups, groups * within[:, None], between[:, spread]])
    centers = np.array([when[member == g].mean() for g in range(n_groups)])
    line = np.zeros((n_groups, 2, columns.shape[1]))
    for g in range(n_groups):
        line[g, 0, g], line[g, 1, n_groups + g] = 1.0, 1.0
        line[g, 0, n_groups + g] = -centers[g]
        line[g, 0, 2 * n_groups :] = (centers[g] - when.mean()) * np.eye(n_groups)[g, spread]
    return columns, line


def _with_covariates(columns: Array, table: Sequence[Variable]) -> tuple[Array, list[str]]:
    """Return columns beside covariates without what they have in common, and notes on that."""
    coded = [each.coded() - each.coded().mean(axis=0) for each in table]
    X = np.hstack([columns, *(Z / np.maximum(np.abs(Z).max(axis=0), 1e-300) for Z in coded)])
    names = [str(j) for j in range(columns.shape[1])] + [x for each in table for x in each.columns]
    found = relations(X, names, np.zeros(len(X), np.intp), np.ones(X.shape[1]))
    drop = sorted({about[0] for _, about in found})
    some = words([names[j] for j in drop])
    said = f"left out, as they add nothing beyond groups, time and covariates: {some}"
    return np.delete(X, drop, axis=1), [said] * bool(drop)


# One component


@dataclass(frozen=True, eq=False)
class _Fit:
    """Coefficients (p,), their covariance, which effects are random, and slopes of people (s,)."""

    b: Array
    covariance: Array
    random: str
    slopes: Array
    converged: bool


def _fit(y: Array, X: Array, within: Array, person: Indices) -> _Fit:
    """Fit intercepts and slopes of people by restricted maximum likelihood.

    With random effects of covariance s^2 L L^T, L lower triangular, the criterion depends on L
    alone (Bates et al., 2015), and on sums over the graphs of each person. It has its minimum at
    the edge where a variance is estimated to be zero; Nelder and Mead's search finds it there, too.
    """
    left = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    scale, spread = np.sqrt((left**2).mean()), np.sqrt((within**2).mean())
    if scale <= 1e-10 * np.abs(y).max():
        raise InputError("loadings are on lines exactly; there is no error to compare slopes with")
    v, R = y / scale, np.column_stack([np.ones(len(y)), within / spread])

    def sums(columns: Array) -> Array:
        flat = columns.reshape(len(y), -1)
        return (means_of(flat, person) * counts).reshape(-1, *columns.shape[1:])

    counts = np.bincount(person)[:, None]
    RR, RX, Rv = (sums(R[:, :, None] * each[:, None]) for each in (R, X, v[:, None]))
    XX, Xv, df = X.T @ X, X.T @ v, len(y) - X.shape[1]

    def solved(L: Array) -> tuple[Array, Array, float, Array, float]:
        """Return W, where V^-1 = I - R W R^T, X^T V^-1 X, its log det, b, squares, log det V."""
        M = np.eye(2) + L.T @ RR @ L
        W = L @ np.linalg.solve(M, np.broadcast_to(L.T, M.shape))
        WX, Wv = W @ RX, W @ Rv
        XVX = XX - np.einsum("sip,siq->pq", RX, WX)
        XVv = Xv - np.einsum("sip,si->p", RX, Wv[:, :, 0])
        b = np.linalg.solve(XVX, XVv)
        squares = float(v @ v - (Rv * Wv).sum() - b @ XVv)
        return W, XVX, max(squares, 1e-12), b, float(np.linalg.slogdet(M)[1].sum())

    def criterion(theta: Array) -> float:
        _, XVX, squares, _, log_det = solved(_lower(theta))
        return float(df * np.log(squares) + log_det + np.linalg.slogdet(XVX)[1])

    starts = [np.array([one, 0.0, other]) for one in _STARTS for other in _STARTS]
    theta, converged = min(starts, key=criterion), False
    for _ in range(2):  # the second search begins with a large simplex again
        simplex = np.maximum(theta, 0) + np.vstack([np.zeros(3), np.diag(0.2 + 0.3 * abs(theta))])
        simplex[:, 1] += theta[1] - max(theta[1], 0)
        found = minimize(
            criterion, theta, method="Nelder-Mead", bounds=[(0, None), (None, None), (0, None)],
            options={"initial_simplex": simplex, "xatol": 1e-5, "fatol": 1e-7, "maxiter": 1000},
        )  # fmt: skip
        theta, converged = found.x, bool(found.success)
    L = _lower(theta)
    W, XVX, squares, b, _ = solved(L)
    large = np.diag(L @ L.T) >= _NONE
    both, correlated, intercept, slope, none = _RANDOM
    random = {
        (True, True): both if theta[2] ** 2 >= _NONE else correlated,
        (True, False): intercept,
        (False, True): slope,
        (False, False): none,
    }[*large]
    effects = (W @ (Rv[:, :, 0] - RX @ b)[:, :, None])[:, 1, 0]
    return _Fit(
        b * scale, np.linalg.inv(XVX) * squares / df * scale**2, random, effects * scale / spread,
        converged,
    )  # fmt: skip


def _lower(theta: Array) -> Array:
    return np.array([[theta[0], 0.0], [theta[1], theta[2]]])
