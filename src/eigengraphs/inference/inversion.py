"""Intervals for sizes of effects that an F or a t statistic tells, by inverting bootstrap tests.

A share of variance cannot be below zero, and a group of two or three graphs can hardly be drawn
from: percentiles of resampled sizes are far off there. Instead, errors are drawn around effects of
every size, and those sizes are kept under which the observed statistic would not be unusual.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigengraphs.inference.designs import Design, independent_columns
from eigengraphs.inference.variables import Array

__all__ = ["FEWEST", "invert"]

FEWEST = 10  # degrees of freedom, below which errors are normal ones and not drawn residuals
_BLOCK = 4_000_000  # numbers that are held at once
_HALVINGS = 60


def invert(
    design: Design, signed: bool, n_bootstrap: int, confidence: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return the least and the largest effect that the observed statistic allows, (d,) and (d,).

    Errors are residuals of all units alike, at the size that the degrees of freedom tell, or
    normal ones where these are few. For groups of one spread the law of F depends on the effects
    by their size alone.

    Parameters
    ----------
    design
        Loadings and groups.
    signed
        For one column of X: the t statistic, and effects of either sign. Else F, and sizes.
    n_bootstrap
        Samples.
    confidence
        Such as 0.95.
    rng
        Random numbers.

    Returns
    -------
    low, high : (d,)
        The length of the effect over all units, in standard deviations of errors: the root of the
        noncentrality of F, or the mean of the numerator of t.
    """
    U, Y, df = design.Z, design.Y, design.df_error
    X = design.X - U @ (U.T @ design.X)
    Q = X / np.linalg.norm(X) if signed else independent_columns(
        X / np.linalg.norm(design.X, axis=0))  # fmt: skip
    told = Q.T @ Y  # (q, d)
    R = Y - U @ (U.T @ Y) - Q @ told
    sigma = np.sqrt((R**2).sum(axis=0) / df)
    usable = sigma > 1e-7 * np.sqrt((Y**2).sum(axis=0))
    told = told / np.where(usable, sigma, 1.0)
    length = np.linalg.norm(told, axis=0)
    way = told / np.where(length > 0, length, 1.0)
    way[0, length == 0] = 1.0
    pool = R / np.where(usable, sigma, 1.0) * np.sqrt(len(Y) / df)
    along, across, rest = _draw(design, Q, way, pool, n_bootstrap, rng)
    rest = np.maximum(rest, 1e-12)
    tail = (1 - confidence) / 2
    if signed:
        sign = way[0]
        observed = told[0]

        def above(shift: Array) -> Array:
            return np.asarray(((shift + sign * along) / np.sqrt(rest / df) >= observed).mean(0))

        reach = 50.0 * (1.0 + np.abs(observed))
        low = _solve(above, tail, observed - reach, observed + reach)
        high = _solve(above, 1 - tail, observed - reach, observed + reach)
    else:
        observed = length**2

        def above(shift: Array) -> Array:
            between = (shift + along) ** 2 + across
            return np.asarray((between / (rest / df) >= observed).mean(0))

        zero, reach = np.zeros(len(length)), 50.0 * (1.0 + length)
        low, high = (_solve(above, share, zero, reach) for share in (tail, 1 - tail))
    return np.where(usable, low, np.nan), np.where(usable, high, np.nan)


def _draw(
    design: Design, Q: Array, way: Array, pool: Array, n: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return errors along the effects, and squares beside them and around the model, (n, d) each.

    Squares beside the effects are those of the other columns of X.
    """
    u, d = pool.shape
    along, across, rest = (np.empty((n, d)) for _ in range(3))
    blocks = np.zeros(u, dtype=np.intp) if design.blocks is None else design.blocks
    members = np.eye(int(blocks.max()) + 1)[blocks]
    members /= np.sqrt(members.sum(axis=0))  # orthonormal: the intercepts
    model = np.hstack([design.Z, members])
    step = max(1, _BLOCK // (u * d))
    for start in range(0, n, step):
        some = min(step, n - start)
        if design.df_error < FEWEST:
            errors = rng.normal(size=(some, u, d))
        else:
            errors = pool[rng.integers(u, size=(some, u))]
        on_x = np.einsum("uq,bud->bqd", Q, errors)
        on_model = np.einsum("ur,bud->brd", model, errors)
        square = (on_x**2).sum(axis=1)
        part = slice(start, start + some)
        along[part] = (on_x * way).sum(axis=1)
        across[part] = square - along[part] ** 2
        rest[part] = (errors**2).sum(axis=1) - square - (on_model**2).sum(axis=1)
    return along, across, rest


def _solve(rising: Callable[[Array], Array], share: float, low: Array, high: Array) -> Array:
    """Return where functions that rise reach a share; an end, where they do not in between."""
    least, there = low, rising(low) >= share
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        under = rising(middle) < share
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return np.where(there, least, high)
