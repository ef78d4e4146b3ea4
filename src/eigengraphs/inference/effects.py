"""Sizes of effects, and bootstrap intervals around them."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from eigengraphs.inference.designs import Design
from eigengraphs.inference.inversion import FEWEST, invert
from eigengraphs.inference.variables import Array

__all__ = ["Effects", "bca", "effect_sizes"]

_BLOCK = 2_000_000  # numbers that are held at once
_UNITS, _ALL_UNITS = 5, 8  # in each group, or in all: with fewer, there is too little to draw from


@dataclass(frozen=True, eq=False)
class Effects:
    """One number for each component, and how sure it is."""

    name: str
    size: Array
    """(d,)."""
    low: Array
    high: Array
    coefficients: Array
    """(q, d), in units of the loadings."""
    by: Literal["BCa", "residuals", "normal"]
    """How intervals were found: units drawn, or a test inverted with residuals or normal errors."""
    perfect: NDArray[np.bool_]
    """(d,), where nothing is left beside the effect: its size has no interval."""


def effect_sizes(
    design: Design, n_bootstrap: int, confidence: float, rng: np.random.Generator
) -> Effects:
    """Return sizes of effects and intervals: BCa, with units drawn within their groups.

    Shares of variance, and sizes where a group (or the study) has too few units to draw from, have
    intervals by inversion of the test instead.

    Two groups: Hedges' g, the second less the first, in standard deviations around the model. More
    groups: omega squared, the share of the variance that groups explain beyond covariates, at least
    zero. A
    quantity: the partial correlation, which is the slope when both are standardised.
    """
    units = np.arange(len(design.Y)) if design.blocks is None else design.blocks
    n = int(units.max()) + 1
    strata = design.strata if design.blocks is None else np.zeros(n, dtype=np.intp)
    model = _Model(design)

    def sizes(counts: Array) -> Array:
        return model.sizes(counts[:, units])

    size = sizes(np.ones((1, n)))[0]
    b = model.coefficients(np.ones((1, len(units))))[0]
    perfect = model.perfect()
    if model.name == "Hedges g":
        size = np.where(perfect, np.copysign(np.inf, size), size)
    if model.name == "omega squared" or _too_few(design, strata, n):
        ends = invert(design, model.name != "omega squared", n_bootstrap, confidence, rng)
        low, high = (_as_size(design, model.name, end) for end in ends)
        by: Literal["residuals", "normal"] = "normal" if design.df_error < FEWEST else "residuals"
        return Effects(model.name, size, low, high, b, by, perfect)
    drawn = np.empty((n_bootstrap, design.Y.shape[1]))
    step = max(1, _BLOCK // max(n, model.width))
    for start in range(0, n_bootstrap, step):
        some = min(step, n_bootstrap - start)
        drawn[start : start + some] = sizes(_counts(strata, some, rng))
    without = sizes(1.0 - np.eye(n)) if n * n <= 50 * _BLOCK else np.tile(size, (n, 1))
    low, high = bca(size, drawn, without, strata, confidence)
    low, high = (np.where(perfect, np.nan, end) for end in (low, high))
    return Effects(model.name, size, low, high, b, "BCa", perfect)


def _too_few(design: Design, strata: NDArray[np.intp], n: int) -> bool:
    if design.group.kind == "groups" and design.blocks is None:
        return int(np.bincount(strata).min()) < _UNITS
    return n < _ALL_UNITS


def _as_size(design: Design, name: str, length: Array) -> Array:
    """Return effects of a length, in standard deviations over all units, as sizes."""
    u = len(design.Y)
    if name == "omega squared":
        return np.asarray(length**2 / (length**2 + u))
    if name == "partial correlation":
        return np.asarray(length / np.sqrt(length**2 + u))
    X = design.X - design.Z @ (design.Z.T @ design.X)
    return np.asarray(length / np.linalg.norm(X))


class _Model:
    """Least squares with rows counted several times, for many counts at once."""

    def __init__(self, design: Design) -> None:
        X, Z, Y = design.X, design.Z, design.Y
        ones = np.ones((len(Y), 1 if design.blocks is None else 0))
        scale = np.linalg.norm(X, axis=0) / np.sqrt(len(X))
        # Centred and scaled: products of these lose no digits.
        D = np.hstack([Z * np.sqrt(len(Z)), ones, X / scale])
        self._r, self._scale = Z.shape[1] + ones.shape[1], scale
        self._unit = np.where((unit := np.sqrt((Y**2).mean(axis=0))) > 0, unit, 1.0)
        V = Y / self._unit
        p, d = D.shape[1], V.shape[1]
        self._shape = (p, d)
        self._DD = (D[:, :, None] * D[:, None, :]).reshape(len(D), p * p)
        self._DY = (D[:, :, None] * V[:, None, :]).reshape(len(D), p * d)
        self._YY = V**2
        self._df, self._q, self._u = design.df_error, X.shape[1], len(Y)
        self._within = design.blocks is not None
        groups = design.group.kind == "groups"
        self.name = ("Hedges g" if self._q == 1 else "omega squared") if groups else (
            "partial correlation")  # fmt: skip
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

    def coefficients(self, counts: Array) -> Array:
        """Return coefficients of X in units of the loadings, (B, q, d)."""
        b = self._solve(counts)[0][:, self._r :]
        return np.asarray(b * self._unit / self._scale[:, None])

    def perfect(self) -> NDArray[np.bool_]:
        """Tell where X leaves no more than rounding of what varies, (d,)."""
        _, full, reduced = self._solve(np.ones((1, self._u)))
        squares = self._YY.sum(axis=0)
        return np.asarray((full[0] <= 1e-13 * squares) & (reduced[0] > 1e-13 * squares))

    def sizes(self, counts: Array) -> Array:
        """Return sizes of effects, (B, d); nan where a sample leaves no variance."""
        b, full, reduced = self._solve(counts)
        # Rows that are left out take their degrees of freedom along, subjects some of theirs.
        rows = counts.sum(axis=1)[:, None]
        df = self._df * rows / self._u if self._within else self._df - (self._u - rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.name == "Hedges g":
                d = b[:, self._r] / self._scale[0] / np.sqrt(full / df)
                size = d * _hedges(self._df)
            elif self.name == "omega squared":
                error = full / df
                size = np.maximum(0.0, (reduced - full - self._q * error) / (
                    reduced - full + (self._u - self._q) * error))  # fmt: skip
            else:
                size = np.sign(b[:, self._r]) * np.sqrt(np.maximum(1 - full / reduced, 0.0))
        return np.asarray(size)


def bca(
    size: Array, drawn: Array, without: Array, strata: NDArray[np.intp], confidence: float
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
    low, high = np.full(size.shape, np.nan), np.full(size.shape, np.nan)
    tail = norm.ppf((1 - confidence) / 2)
    for k in range(len(size)):
        values = np.sort(drawn[np.isfinite(drawn[:, k]), k])
        if len(values) < 2 or not np.isfinite(size[k]):
            continue
        below = (np.searchsorted(values, size[k], "left")
                 + np.searchsorted(values, size[k], "right")) / 2  # fmt: skip
        share = np.clip(below / len(values), 1 / (len(values) + 1), len(values) / (len(values) + 1))
        z0 = norm.ppf(share)
        influence = _influence(without[:, k], strata)
        spread = (influence**2).sum() ** 1.5
        a = (influence**3).sum() / (6 * spread) if spread > 0 else 0.0
        ends = []
        for z in (tail, -tail):
            moved = z0 + z
            # An acceleration that would turn the order round is not followed.
            slope = max(1 - a * moved, 0.1)
            ends.append(np.quantile(values, norm.cdf(z0 + moved / slope)))
        low[k], high[k] = ends
    return low, high


def _influence(without: Array, strata: NDArray[np.intp]) -> Array:
    """Return how far each unit moves the estimate, (n,)."""
    found = np.zeros(len(without))
    for stratum in np.unique(strata):
        rows = np.flatnonzero((strata == stratum) & np.isfinite(without))
        if len(rows) > 1:
            found[rows] = (without[rows].mean() - without[rows]) * (len(rows) - 1) / len(rows)
    return found


def _counts(strata: NDArray[np.intp], n: int, rng: np.random.Generator) -> Array:
    """Return how often each unit is in each of n samples, (n, units)."""
    counts = np.zeros((n, len(strata)))
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        counts[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=n)
    return counts


def _hedges(df: int) -> float:
    """Return the factor that makes a standardised difference unbiased under normality."""
    if df < 2:
        return 1.0
    return float(np.exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / np.sqrt(df / 2))
