"""Effects in a design: tests by permutation, sizes, and intervals around sizes.

:func:`permutation_tests` tells whether there is an effect, by Welch's F of a linear model whose
rows are rearranged; :func:`effect_sizes` how large it is, and :func:`estimates` what means and
coefficients are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, ncfdtrinc, nctdtrinc
from scipy.stats import chi2, norm, t
from sklearn.covariance import ledoit_wolf

from eigengraphs.inference.studies.designs import (
    Array,
    Design,
    EffectName,
    Indices,
    Permutations,
    independent_columns,
    portions,
)

_TIES = 1e-9  # statistics that differ by less are equal, whatever the order of sums was
_TINY = 1e-14  # of all squares: less is rounding, and a perfect fit is as good as another
# How far variances of groups are drawn together, and by how much their degrees of freedom are
# divided. Measured by tests.inference.calibrate_compare: without the first, 5 graphs against 20 of
# the same spread lose 14 points of power; without the second, the largest of several statistics
# rejects too often where spreads differ.
_EQUAL, _ALIKE, _PENALTY = 0.4, 1.0, 2.0
_UNITS, _ALL_UNITS = 5, 8  # in each group, or in all: with fewer, there is too little to draw from
_MOST_UNITS = 10_000  # with more, intervals are not accelerated: that takes units x units numbers
_FAR = 50.0  # standard deviations, beyond which noncentral distributions are normal ones


# Tests by permutation


@dataclass(frozen=True, eq=False)
class Tests:
    """What was observed, and how often rearranged rows gave as much.

    Attributes
    ----------
    F, p_values : (d,)
        Of each component.
    joint_F, joint_p
        Of all components together: F of the whitened loadings.
    p_family : (d,)
        Against the most unusual of all components.
    n_permutations
        Arrangements looked at, the observed one included.
    exact
        Whether these were all there are.
    """

    F: Array
    joint_F: float
    p_values: Array
    p_family: Array
    joint_p: float
    n_permutations: int
    exact: bool


def permutation_tests(design: Design, most: int, rng: np.random.Generator) -> Tests:
    """Test each component, and all together, by the same rearrangements.

    With covariates Z it is the method of Freedman and Lane: residuals E of Y on Z change places,
    and the statistic is that of X in the model of X and Z. Arrangements are compared by the tail
    of Welch's F under normality and not by F itself, since its degrees of freedom change from
    one arrangement to the next. A statistic that is nan counts as no evidence.
    """
    welch = _Welch(design)
    observed, F = welch.tails(np.arange(len(design.Y))[None, :])
    mark = observed[0] * (1 + _TIES)
    d = design.Y.shape[1]
    permutations = Permutations(design.raw, design.intercepts, most)
    count = 0 if permutations.exact else 1  # the observed arrangement
    as_small, family = np.full(d + 1, float(count)), np.full(d, float(count))
    for orders in permutations.orders(rng, welch.width):
        tails, _ = welch.tails(orders)
        as_small += (~(tails > mark)).sum(axis=0)
        family += (~(tails[:, :d].min(axis=1)[:, None] > mark[:d])).sum(axis=0)
        count += len(orders)
    p = as_small / count
    return Tests(
        F[0, :d], float(F[0, d]), p[:d], family / count, float(p[d]), count, permutations.exact
    )


class Spreads:
    """Variances of groups in Welch's statistic: of the design, whatever is tested by it.

    The coefficients b of X have the covariance V = sum_g s_g^2 A_g, with s_g^2 the variance around
    the model in group g and A_g = sum_(i in g) Q_i Q_i^T: b^T V^-1 b is Welch's statistic (1951),
    with the degrees of freedom of Johansen (1980). Variances are drawn together as far as chance
    would make them differ. For a slope, g are ranges of the quantity.

    Attributes
    ----------
    basis : (u, q + r)
        Orthonormal: what is tested, and covariates.
    q
        Columns of what is tested.
    """

    def __init__(self, design: Design) -> None:
        blocks, X = design.intercepts, design.without_covariates(design.X)
        Q = independent_columns(X / np.linalg.norm(design.X, axis=0))
        self.basis, self.q = np.hstack([Q, design.Z]), Q.shape[1]
        free = 1.0 - 1.0 / np.bincount(blocks)[blocks] - (self.basis**2).sum(axis=1)
        members = _cells(design)
        freedom = members @ free
        self._known = freedom > 0.5  # one graph has no spread: it gets that of the others
        if not self._known.any():
            self._known[:] = True
        self._freedom = np.where(self._known, freedom, 0.0)
        self._sums = members / np.where(self._known, freedom, 1.0)[:, None]
        self._A = np.einsum("gu,ui,uj->gij", members, Q, Q)

    def common(self, K: Array, orders: Indices) -> tuple[Array, Array, Array]:
        """Return what makes F of coefficients where all columns have the same ratios of variances.

        Parameters
        ----------
        K : (u, u)
            Sum of the outer products of the columns, each without covariates and of one length.
        orders : (B, u)
            Arrangements.

        Returns
        -------
        root, weights, df : (B, q, q), (B, u) and (B,)
            F = |root @ b|^2 / s^2 for coefficients b on ``basis`` and the weighted sum s^2 of the
            squares of what is left of the rows, with df degrees of freedom in its denominator.
        """
        on = self.basis[orders]  # (B, u, q + r), in the order of the columns
        crossed = K @ on
        left = np.diag(K) - 2 * (on * crossed).sum(axis=2)
        left += ((on @ (np.swapaxes(on, 1, 2) @ crossed)) * on).sum(axis=2)
        left = np.take_along_axis(left, np.argsort(orders, axis=1), axis=1)
        s2 = np.maximum(left @ self._sums.T, _TINY)[:, :, None]
        worth = np.trace(K) ** 2 / max(float((K**2).sum()), _TINY)
        shared, rough = self._shared(s2 / self._pooled(s2), worth)
        inverse, df, c = self._welch(shared, rough)
        root = np.swapaxes(np.linalg.cholesky(inverse[:, 0] / c[:, :, None]), 1, 2)
        # One column, or several that are the same, has these ratios itself.
        ratios = shared[:, :, 0] if worth > 1 + 1e-8 else np.ones_like(shared[:, :, 0])
        known = np.where(self._known, 1 / ratios, 0.0) / self._freedom.sum()
        weights = np.take_along_axis(known @ (self._sums > 0), orders, axis=1)
        return root, weights, df[:, 0]

    def _shared(self, ratio: Array, worth: float) -> tuple[Array, Array]:
        """Draw ratios of variances (B, groups, 1) towards one, and return how rough they are."""
        total = self._freedom.sum()
        shared, rough = self._moderated(ratio, 1.0, 1 / total / worth, _EQUAL, worth)
        return shared, np.maximum(rough, 1 / total)

    def _pooled(self, s2: Array) -> Array:
        share = self._freedom / self._freedom.sum()
        return np.asarray(np.einsum("g,bgk->bk", share, s2)[:, None])

    def _moderated(
        self, s2: Array, toward: Array | float, rough: Array | float, reach: float, worth: float = 1
    ) -> tuple[Array, Array]:
        """Draw variances of groups towards proportions, and return one over their freedom, too.

        They go there all the way if Bartlett's statistic is below ``reach`` times what it is on
        average where the proportions are true, and less the larger it is.

        Parameters
        ----------
        s2 : (B, groups, k)
            Variances.
        toward : (B, groups, 1)
            Proportions; 1 for equal variances.
        rough
            One over the degrees of freedom of these.
        reach, worth
            See above, and how many columns ``s2`` is the mean of.
        """
        freedom, known = self._freedom[:, None] * worth, self._known[:, None]
        ratio = s2 / toward
        pooled = self._pooled(ratio)
        distance = (freedom * (np.log(pooled) - np.log(ratio))).sum(axis=1, keepdims=True)
        some = np.where(known, freedom, np.inf)
        usual = max(known.sum() - 1 + ((1 / some).sum() - 1 / freedom.sum()) / 3, 0.0)
        share = np.minimum(1.0, reach * usual / np.maximum(distance, _TINY))
        share = np.where(known, share, 1.0)
        drawn = (1 - share) * s2 + share * pooled * toward
        return drawn, (1 - share) * _PENALTY / some + share * rough

    def _welch(self, s2: Array, rough: Array) -> tuple[Array, Array, Array]:
        """Return V^-1 (B, k, q, q), Johansen's degrees of freedom and his factor of F, (B, k)."""
        q = self.q
        inverse = np.linalg.inv(np.einsum("bgk,gij->bkij", s2, self._A))
        shares = s2 * np.einsum("bkij,gij->bgk", inverse, self._A)
        a = (shares**2 * rough).sum(axis=1)
        return inverse, q * (q + 2) / (3 * a), q + 2 * a - 6 * a / (q + 2)


class _Welch(Spreads):
    """Welch's F of rows in any order.

    First the variances that all components share are drawn towards equality, then those of each
    component towards the shared ones.
    """

    def __init__(self, design: Design) -> None:
        super().__init__(design)
        Y = design.Y
        E = design.without_covariates(Y)
        left, whole = np.linalg.norm(E, axis=0), np.linalg.norm(Y, axis=0)
        # What covariates leave of a component may be rounding alone: then nothing is left.
        some = left > 1e-8 * whole
        S = np.where(some, E, 0.0) / np.where(some, left / np.sqrt(len(Y)), 1.0)
        self._columns = np.hstack([S, _whitened(S)])
        self._d = Y.shape[1]
        # So many independent components would tell as much of spreads that all share.
        self._worth = self._d**2 / max(float(((S.T @ S / len(S)) ** 2).sum()), 1.0)
        self.width = self._columns.size + 4 * self._d * max(self.q, len(self._A)) ** 2

    def tails(self, orders: Indices) -> tuple[Array, Array]:
        """Return tails of F under normality, and F, of each component and of all, (B, d + 1)."""
        d, q = self._d, self.q
        # Row i of the design takes the place of row orders[i]: so do residuals the other way.
        e = self._columns[np.argsort(orders, axis=1)]  # (B, u, 2 d)
        on_basis = self.basis.T @ e
        e -= self.basis @ on_basis
        b = np.swapaxes(on_basis[:, :q], 1, 2)
        s2 = np.maximum(self._sums @ e**2, _TINY)  # (B, groups, 2 d)
        own, whole = s2[:, :, :d], s2[:, :, d:].mean(axis=2, keepdims=True)
        shared = (own / self._pooled(own)).mean(axis=2, keepdims=True)
        total = self._freedom.sum()
        shared, rough = self._shared(shared, self._worth)
        if d > 1:
            own, rough = self._moderated(own, shared, rough, _ALIKE)
        else:
            own = shared * self._pooled(own)
        whole, rough_whole = self._moderated(whole, 1.0, 1 / total / d, _EQUAL, d)
        inverse, df, c = self._welch(own, rough)
        F = np.einsum("bki,bkij,bkj->bk", b[:, :d], inverse, b[:, :d]) / c
        inverse, df_whole, c = self._welch(whole, rough_whole)
        F_whole = np.einsum("bki,bij,bkj->b", b[:, d:], inverse[:, 0], b[:, d:])[:, None] / (c * d)
        tails = [fdtrc(q, df, F), fdtrc(q * d, df_whole, F_whole)]
        return np.hstack(tails), np.hstack([F, F_whole])


def _cells(design: Design) -> Array:
    """Return rows that are taken to have one spread, (cells, u), 1 where a row is in a cell.

    Groups; of a quantity, quarters of the rows by their distance from its mean (of several columns
    without groups, by their leverage).
    """
    x = design.group.values
    if not design.group.levels:
        several = design.X.shape[1] > 1
        far = (independent_columns(design.X / np.linalg.norm(design.X, axis=0)) ** 2).sum(axis=1)
        far = far if several else np.abs(design.X[:, 0])
        x = np.searchsorted(np.quantile(far, [0.25, 0.5, 0.75]), far).astype(np.float64)
    return np.asarray(x == np.unique(x)[:, None], dtype=np.float64)


def _whitened(S: Array) -> Array:
    """Return columns of one variance that are hardly correlated, (u, d), from standardized ones.

    The correlations are shrunk as by Ledoit and Wolf, which leaves a test where there are as many
    components as graphs. All rows have equal weight: groups are not used, so that rows stay
    exchangeable.
    """
    covariance = ledoit_wolf(S, assume_centered=True)[0]
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(S @ (vectors / np.sqrt(np.maximum(values, max(1e-12 * values[-1], _TINY)))))


# Sizes, and bootstrap intervals around them


@dataclass(frozen=True, eq=False)
class Effects:
    """One number for each component, and how precise it is.

    Attributes
    ----------
    effect, effect_low, effect_high : (d,)
        Sizes, and the ends of their intervals.
    intervals_by
        How intervals were found: units drawn, or a test inverted, by noncentral t or F.
    """

    effect_name: EffectName
    effect: Array
    effect_low: Array
    effect_high: Array
    intervals_by: Literal["BCa", "noncentral"]


def effect_sizes(
    design: Design, n_bootstrap: int, confidence: float, rng: np.random.Generator
) -> tuple[Effects, NDArray[np.bool_]]:
    """Return sizes of effects and intervals: BCa, with units drawn within their groups.

    Shares of variance, and sizes where a group (or the study) has too few units to draw from, have
    intervals by inversion of the test instead.

    Two groups: Hedges' g, the second less the first, in standard deviations around the model. More
    groups: omega squared, the share of the variance that groups explain beyond covariates, at least
    zero. A quantity: the partial correlation, which is the slope when both are standardized.

    Returns
    -------
    effects : Effects
    perfect : (d,)
        Where nothing is left beside the effect: its size has no interval.
    """
    units, strata, model = design.units, design.strata, CountedRows(design)
    n, name = len(strata), model.name

    def sizes(counts: Array) -> Array:
        return model.sizes(counts[:, units])

    size = sizes(np.ones((1, n)))[0]
    perfect = model.perfect()
    if name == "Hedges g":
        size = np.where(perfect, np.copysign(np.inf, size), size)
    fewest = _UNITS if strata.any() else _ALL_UNITS
    by: Literal["BCa", "noncentral"] = "BCa"
    if name == "omega squared" or np.bincount(strata).min() < fewest:
        by, ends = "noncentral", _invert(design, name != "omega squared", confidence)
        low, high = (_as_size(design, name, end) for end in ends)
    else:
        parts = portions(n_bootstrap, max(n, model.width))
        drawn = np.concatenate([sizes(_counts(strata, some, rng)) for some in parts])
        without = sizes(1.0 - np.eye(n)) if n <= _MOST_UNITS else np.tile(size, (n, 1))
        ends = bca(size, drawn, without, strata, confidence)
        low, high = (np.where(perfect, np.nan, end) for end in ends)
    return Effects(name, size, low, high, by), perfect


def _as_size(design: Design, name: EffectName, length: Array) -> Array:
    """Return effects of a length, in standard deviations over all units, as sizes."""
    if name == "Hedges g":
        return np.asarray(length / np.linalg.norm(design.without_covariates(design.X)))
    total = length**2 + len(design.Y)
    return np.asarray(length**2 / total if name == "omega squared" else length / np.sqrt(total))


class CountedRows:
    """Least squares with rows counted several times, for many counts at once."""

    def __init__(self, design: Design) -> None:
        X, Z, Y = design.X, design.Z, design.Y
        self._within = design.kind == "within"
        ones = np.ones((len(Y), 0 if self._within else 1))
        self._scale = np.linalg.norm(X, axis=0) / np.sqrt(len(X))
        # Centered and scaled: products of these lose no digits.
        D = np.hstack([Z * np.sqrt(len(Z)), ones, X / self._scale])
        self._r = Z.shape[1] + ones.shape[1]
        V = Y / np.where((unit := np.sqrt((Y**2).mean(axis=0))) > 0, unit, 1.0)
        p, d = self._shape = (D.shape[1], V.shape[1])
        self._DD = (D[:, :, None] * D[:, None, :]).reshape(len(D), p * p)
        self._DY = (D[:, :, None] * V[:, None, :]).reshape(len(D), p * d)
        self._YY = V**2
        self._df, self._q, self._u = design.df_error, X.shape[1], len(Y)
        self.name = design.model.effect_name
        self.width = p * p + p * d

    def _solve(self, counts: Array) -> tuple[Array, Array, Array]:
        """Return coefficients (B, p, d), and squares left with X and without it, (B, d)."""
        p, d = self._shape
        G = (counts @ self._DD).reshape(-1, p, p)
        R = (counts @ self._DY).reshape(-1, p, d)
        YY = counts @ self._YY
        b = np.linalg.pinv(G, rcond=1e-10, hermitian=True) @ R
        full = YY - (b * R).sum(axis=1)
        r = self._r
        less = np.linalg.pinv(G[:, :r, :r], rcond=1e-10, hermitian=True) @ R[:, :r]
        reduced = YY - (less * R[:, :r]).sum(axis=1)
        return b, np.maximum(full, 1e-14 * YY), np.maximum(reduced, full)

    def perfect(self) -> NDArray[np.bool_]:
        """Return where X leaves no more than rounding of what varies, (d,)."""
        _, (full,), (reduced,) = self._solve(np.ones((1, self._u)))
        rounding = 1e-13 * self._YY.sum(axis=0)
        return np.asarray((full <= rounding) & (reduced > rounding))

    def sizes(self, counts: Array) -> Array:
        """Return sizes of effects, (B, d); nan where a sample leaves no variance."""
        b, full, reduced = self._solve(counts)
        # Rows that are left out take their degrees of freedom along, subjects some of theirs.
        rows = counts.sum(axis=1)[:, None]
        df = self._df * rows / self._u if self._within else self._df - (self._u - rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.name == "Hedges g":
                d = b[:, self._r] / self._scale[0] / np.sqrt(full / df)
                return np.asarray(d * _hedges(self._df))
            if self.name == "omega squared":
                error = full / df
                share = (reduced - full - self._q * error) / (
                    reduced - full + (self._u - self._q) * error)  # fmt: skip
                return np.asarray(np.maximum(0.0, share))
            explained = np.maximum(1 - full / reduced, 0.0)
            return np.asarray(np.sign(b[:, self._r]) * np.sqrt(explained))


def bca(
    size: Array, drawn: Array, without: Array, strata: Indices, confidence: float
) -> tuple[Array, Array]:
    """Return the ends of bias-corrected and accelerated bootstrap intervals, (d,) and (d,).

    Parameters
    ----------
    size : (d,)
        The estimates.
    drawn : (B, d)
        The same of bootstrap samples; what is not finite is left out.
    without : (n, d)
        The same without each unit.
    strata : (n,)
        Groups of units that were drawn from one by one.
    confidence
        Such as 0.95.
    """
    low, high = np.full((2, len(size)), np.nan)
    tail = norm.ppf((1 - confidence) / 2)
    for k in range(len(size)):
        values = np.sort(drawn[np.isfinite(drawn[:, k]), k])
        B = len(values)
        if B < 2 or not np.isfinite(size[k]):
            continue
        below = np.searchsorted(values, size[k], "left") + np.searchsorted(values, size[k], "right")
        z0 = norm.ppf(np.clip(below / 2 / B, 1 / (B + 1), B / (B + 1)))
        influence = _influence(without[:, k], strata)
        spread = (influence**2).sum() ** 1.5
        a = (influence**3).sum() / (6 * spread) if spread > 0 else 0.0
        moved = z0 + np.array([tail, -tail])
        # An acceleration that would turn the order round is not followed.
        slope = np.maximum(1 - a * moved, 0.1)
        low[k], high[k] = np.quantile(values, norm.cdf(z0 + moved / slope))
    return low, high


def _influence(without: Array, strata: Indices) -> Array:
    """Return how far each unit moves the estimate, (n,)."""
    found = np.zeros(len(without))
    for stratum in np.unique(strata):
        rows = np.flatnonzero((strata == stratum) & np.isfinite(without))
        if len(rows) > 1:
            found[rows] = (without[rows].mean() - without[rows]) * (len(rows) - 1) / len(rows)
    return found


def _counts(strata: Indices, n: int, rng: np.random.Generator) -> Array:
    """Return how often each unit is in each of n samples, (n, units)."""
    counts = np.zeros((n, len(strata)))
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        counts[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=n)
    return counts


def _hedges(df: int) -> float:
    """Return the factor that makes a standardized difference unbiased under normality."""
    if df < 2:
        return 1.0
    return float(np.exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / np.sqrt(df / 2))


# Means and coefficients with standard errors


def interval_text(low: float, high: float, form: str = ".3g") -> str:
    """Return an interval as text; empty without one."""
    return f"{low:{form}} to {high:{form}}" if np.isfinite([low, high]).all() else ""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Means or coefficients, k of them, with standard errors and intervals.

    Standard errors allow each graph a spread of its own (HC2), so that the error of the mean of a
    group is that of its own graphs; intervals are by t with the degrees of freedom of Bell and
    McCaffrey (2002). Within subjects, differences between subjects are not part of the errors.

    Attributes
    ----------
    names : tuple of str
        Groups or coefficients.
    values, errors, low, high : (k, d)
        Estimates, standard errors and ends of intervals; nan where the design does not tell them.
    """

    names: tuple[str, ...]
    values: Array
    errors: Array
    low: Array
    high: Array

    def interval(self, i: int, k: int) -> str:
        """Return an interval as text, of estimate i and component k; empty without one."""
        return interval_text(self.low[i, k], self.high[i, k])


def estimates(
    design: Design, names: tuple[str, ...], rows: Array, unit: Array, confidence: float
) -> Estimates:
    """Estimate linear combinations of the coefficients.

    Parameters
    ----------
    design
        Loadings and columns.
    names : (k,)
        Of the combinations.
    rows : (k, p)
        Weights of the coefficients of ``design.raw``.
    unit : (d,)
        Of the loadings.
    confidence
        Of the intervals.
    """
    D, blocks, u = design.raw, design.intercepts, len(design.Y)
    members = np.eye(int(blocks.max()) + 1)[blocks]
    members /= np.sqrt(members.sum(axis=0))
    left = D - members @ (members.T @ D)
    size = np.linalg.norm(D - D.mean(axis=0), axis=0)
    size[size == 0] = 1.0
    # How much of the intercept is in each combination, and what it is beside that.
    whole = rows @ np.linalg.lstsq(D, np.ones(u), rcond=None)[0]
    rows = (rows - whole[:, None] * D.mean(axis=0)) / size
    inverse = np.linalg.pinv(left / size, rcond=1e-8)
    on_rows = rows @ inverse  # (k, u)
    told = np.abs(on_rows @ (left / size) - rows).max(axis=1) <= 1e-6 * np.abs(rows).max(axis=1)
    if design.kind == "within":  # the intercept is that of the average subject
        told &= (np.abs(whole) < 1e-8) | (np.abs(whole - 1) < 1e-8)
    values = np.outer(whole, design.means) + on_rows @ design.Y
    L = whole[:, None] / u + on_rows
    Q = independent_columns(design.without_covariates(design.X / np.linalg.norm(design.X, axis=0)))
    E = design.without_covariates(design.Y)
    E, basis = E - Q @ (Q.T @ E), np.hstack([Q, design.Z, members])
    free = 1.0 - (basis**2).sum(axis=1)
    largest = np.abs(L).max(axis=1, keepdims=True)
    L /= np.where(largest > 0, largest, 1.0)  # squares neither overflow nor vanish
    used = np.abs(L) > 1e-8
    known = told & ~(used & (free < 1e-8)).any(axis=1)  # one graph alone tells no error
    A = np.where(used, L, 0.0) ** 2 / np.where(free < 1e-8, 1.0, free)
    errors = np.sqrt(A @ E**2) * largest
    squares = [a**2 @ (2 * free - 1) + (((basis.T * a) @ basis) ** 2).sum() for a in A]
    df = (A @ free) ** 2 / np.maximum(squares, _TINY)
    values, errors = (np.where(which[:, None], each, np.nan) * unit
                      for which, each in ((told, values), (known, errors)))  # fmt: skip
    reach = errors * t.ppf((1 + confidence) / 2, np.maximum(df, 1.0))[:, None]
    return Estimates(names, values, errors, values - reach, values + reach)


# Intervals by inversion of a test. A share of variance cannot be below zero, and a group of two or
# three graphs can hardly be drawn from: percentiles of resampled sizes are far off there. Instead,
# those sizes are kept under which the observed statistic would not be unusual. With drawn residuals
# in place of normal errors intervals are no better, under heavy tails and skewness neither.


def _invert(design: Design, signed: bool, confidence: float) -> tuple[Array, Array]:
    """Return the least and the largest effect that the observed statistic allows, (d,) and (d,).

    By noncentral t and F: of normal errors of one spread.

    Parameters
    ----------
    design
        Loadings and groups.
    signed
        For one column of X: the t statistic, and effects of either sign. Else F, and sizes.
    confidence
        Such as 0.95.

    Returns
    -------
    low, high : (d,)
        The length of the effect over all units, in standard deviations of errors: the root of the
        noncentrality of F, or that of t.
    """
    Y, df = design.Y, design.df_error
    X = design.without_covariates(design.X) / np.linalg.norm(design.X, axis=0)
    # One column keeps its direction, which says what a positive effect is.
    Q = X / np.linalg.norm(X) if signed else independent_columns(X)
    told = Q.T @ Y  # (q, d)
    sigma = np.sqrt(((design.without_covariates(Y) - Q @ told) ** 2).sum(axis=0) / df)
    usable = sigma > 1e-7 * np.sqrt((Y**2).sum(axis=0))
    told = told / np.where(usable, sigma, 1.0)
    length, tails = np.linalg.norm(told, axis=0), np.array([[1 + confidence], [1 - confidence]]) / 2
    # Beyond some size the error of the spread is all there is, and these functions have an end.
    far = np.sqrt(chi2.ppf(1 - tails, df) / df) * length
    if signed:
        ends = np.where(length > _FAR, np.sign(told) * far, nctdtrinc(df, tails, told[0]))
    else:
        ends = np.sqrt(ncfdtrinc(len(told), df, tails, length**2 / len(told)))
        ends = np.where(length > _FAR, far, ends)
    low, high = np.where(usable, np.sort(ends, axis=0), np.nan)
    return low, high
