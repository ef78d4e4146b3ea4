"""Welch's F statistics of a linear model, observed and with its rows rearranged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc
from sklearn.covariance import ledoit_wolf

from eigengraphs.inference.designs import Design, independent_columns
from eigengraphs.inference.permutations import Permutations
from eigengraphs.inference.variables import Array

__all__ = ["Tests", "permutation_tests", "whitened"]

_TIES = 1e-9  # statistics that differ by less are equal, whatever the order of sums was
_TINY = 1e-14  # of all squares: less is rounding, and a perfect fit is as good as another
# How far variances of groups are drawn together, and by how much their degrees of freedom are
# divided. Measured by tests.inference.calibrate_compare: without the first, 5 graphs against 20 of
# the same spread lose 14 points of power; without the second, the largest of several statistics
# rejects too often where spreads differ.
_EQUAL, _ALIKE, _PENALTY = 0.4, 1.0, 2.0


@dataclass(frozen=True, eq=False)
class Tests:
    """What was observed, and how often rearranged rows did as well."""

    F: Array
    """(d,), each component."""
    joint: float
    """All components together: F of the whitened loadings."""
    p_values: Array
    """(d,)."""
    p_family: Array
    """(d,), against the most unusual of all components."""
    joint_p: float
    n_permutations: int
    """Arrangements looked at, the observed one included."""
    exact: bool


def permutation_tests(design: Design, most: int, rng: np.random.Generator) -> Tests:
    """Test each component, and all together, by the same rearrangements.

    With covariates Z it is the method of Freedman and Lane: residuals E of Y on Z change places,
    and the statistic is that of X in the model of X and Z. Arrangements are compared by the tail
    of Welch's F under normality and not by F itself, since its degrees of freedom change from
    one arrangement to the next. A statistic that is nan counts as no evidence.
    """
    model = _Model(design)
    observed, F = model.tails(np.arange(len(design.Y))[None, :])
    mark = observed[0] * (1 + _TIES)
    d = design.Y.shape[1]
    permutations = Permutations(design.raw, design.blocks, most)
    as_small, family = np.zeros(d + 1), np.zeros(d)
    count = 0
    for orders in permutations.orders(rng, model.width):
        tails, _ = model.tails(orders)
        as_small += (~(tails > mark)).sum(axis=0)
        family += (~(tails[:, :d].min(axis=1)[:, None] > mark[:d])).sum(axis=0)
        count += len(orders)
    added = 0 if permutations.exact else 1
    p = (as_small + added) / (count + added)
    p_family = (family + added) / (count + added)
    return Tests(
        F[0, :d], float(F[0, d]), p[:d], p_family, float(p[d]), count + added, permutations.exact
    )


class _Model:
    """Welch's F of rows in any order.

    The coefficients b of X have the covariance V = sum_g s_g^2 A_g, with s_g^2 the variance around
    the model in group g and A_g = sum_(i in g) Q_i Q_i^T: b^T V^-1 b is Welch's statistic (1951),
    with the degrees of freedom of Johansen (1980). Variances are drawn together as far as chance
    would make them differ: first those that all components share towards equality, then those of
    each component towards the shared ones. For a slope, g are ranges of the quantity.
    """

    def __init__(self, design: Design) -> None:
        U, Y = design.Z, design.Y
        E = Y - U @ (U.T @ Y)
        X = design.X - U @ (U.T @ design.X)
        Q = independent_columns(X / np.linalg.norm(design.X, axis=0))
        left, all_of_it = np.linalg.norm(E, axis=0), np.linalg.norm(Y, axis=0)
        # What covariates leave of a component may be rounding alone: then nothing is left.
        some = left > 1e-8 * all_of_it
        S = np.where(some, E, 0.0) / np.where(some, left / np.sqrt(len(Y)), 1.0)
        self._columns = np.hstack([S, whitened(S)])
        self._basis = np.hstack([Q, U])
        self._q, self._d = Q.shape[1], Y.shape[1]
        blocks = np.zeros(len(Y), dtype=np.intp) if design.blocks is None else design.blocks
        free = 1.0 - 1.0 / np.bincount(blocks)[blocks] - (self._basis**2).sum(axis=1)
        members = _cells(design)
        freedom = members @ free
        self._known = freedom > 0.5  # one graph has no spread: it gets that of the others
        if not self._known.any():
            self._known[:] = True
        self._freedom = np.where(self._known, freedom, 0.0)
        self._sums = members / np.where(self._known, freedom, 1.0)[:, None]
        self._A = np.einsum("gu,ui,uj->gij", members, Q, Q)
        # So many independent components would tell as much of spreads that all share.
        self._worth = self._d**2 / max(float(((S.T @ S / len(S)) ** 2).sum()), 1.0)
        self.width = self._columns.size + 4 * self._d * max(self._q, len(self._A)) ** 2

    def tails(self, orders: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return tails of F under normality, and F, of each component and of all, (B, d + 1)."""
        d, q = self._d, self._q
        # Row i of the design takes the place of row orders[i]: so do residuals the other way.
        e = self._columns[np.argsort(orders, axis=1)]  # (B, u, 2 d)
        on_basis = self._basis.T @ e
        e -= self._basis @ on_basis
        b = np.swapaxes(on_basis[:, :q], 1, 2)
        s2 = np.maximum(self._sums @ e**2, _TINY)  # (B, groups, 2 d)
        own, whole = s2[:, :, :d], s2[:, :, d:].mean(axis=2, keepdims=True)
        shared = (own / self._pooled(own)).mean(axis=2, keepdims=True)
        total = self._freedom.sum()
        shared, rough = self._moderated(shared, 1.0, 1 / total / self._worth, _EQUAL, self._worth)
        rough = np.maximum(rough, 1 / total)
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
        q = self._q
        inverse = np.linalg.inv(np.einsum("bgk,gij->bkij", s2, self._A))
        shares = s2 * np.einsum("bkij,gij->bgk", inverse, self._A)
        a = (shares**2 * rough).sum(axis=1)
        return inverse, q * (q + 2) / (3 * a), q + 2 * a - 6 * a / (q + 2)


def _cells(design: Design) -> Array:
    """Return rows that are taken to have one spread, (cells, u), 1 where a row is in a cell.

    Groups; of a quantity, quarters of the rows by their distance from its mean.
    """
    x = design.group.values
    if not design.group.levels:
        far = np.abs(design.X[:, 0])
        x = np.searchsorted(np.quantile(far, [0.25, 0.5, 0.75]), far).astype(np.float64)
    return np.asarray(x == np.unique(x)[:, None], dtype=np.float64)


def whitened(S: Array) -> Array:
    """Return columns of one variance that are hardly correlated, (u, d), from standardized ones.

    The correlations are shrunk as by Ledoit and Wolf, which leaves a test where there are as many
    components as graphs. All rows count alike: groups take no part, so that rows stay exchangeable.
    """
    covariance = ledoit_wolf(S, assume_centered=True)[0]
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(S @ (vectors / np.sqrt(np.maximum(values, max(1e-12 * values[-1], _TINY)))))
