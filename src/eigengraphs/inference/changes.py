"""Where the level of loadings changes in graphs that follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from eigengraphs.errors import InputError
from eigengraphs.inference.segments import largest_penalty, places, segment, segment_costs
from eigengraphs.inference.variables import Array, counted, read_loadings, units
from eigengraphs.system.randomness import RandomState, generator

__all__ = ["Changes", "change_points", "first_autocorrelation", "later_autocorrelation"]

_BLOCK = 4_000_000  # costs of segments that are held at once
_FAR = 4.0  # standard deviations beyond which a graph is odd, and tells nothing of levels
_MOST = 0.9  # autocorrelation above is taken as this: a random walk has no level to change
_MULTIPLIERS = np.sqrt([0.25, 1.75])  # sizes of random factors; their mean square is 1
_NORMAL = 0.6745  # median of |x| of a standard normal x


@dataclass(frozen=True, eq=False, repr=False)
class Changes:
    """Change points of ordered graphs.

    What :func:`change_points` returns.

    Attributes
    ----------
    p_value : float
        Of no change at all.
    places : tuple of int
        Index (from 0) of the first graph after each change, in the order of the rows; empty if p
        is above the level.
    gains : (changes,)
        By how much each lowers the squared distance from levels, in penalties; all are
        above 1, and the largest is the clearest.
    levels : (changes + 1, d)
        Median loadings between changes.
    segments : (m,)
        Which level each graph has.
    autocorrelation : (d,)
        Of neighbors around their levels, that was taken off.
    penalty : float
        Gain that a change must bring, in squared standard deviations.
    level : float
        Probability of finding any change where there is none.
    n_permutations : int
        Series without change that the penalty came from.
    smallest : int
        Graphs that must be between changes.
    components : tuple of str
        Names of the components that were looked at.
    notes : tuple of str
        What was left out, and why.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> Lam = np.random.default_rng(1).normal(size=(40, 2))
    >>> Lam[25:] += 4.0
    >>> found = eg.inference.change_points(Lam, n_permutations=99, random_state=0)
    >>> found
    Changes(40 graphs, p = 0.01, at (25,))
    >>> found.levels.shape, found.segments.shape
    ((2, 2), (40,))
    """

    p_value: float
    places: tuple[int, ...]
    gains: Array
    levels: Array
    segments: NDArray[np.intp]
    autocorrelation: Array
    penalty: float
    level: float
    n_permutations: int
    smallest: int
    components: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def methods(self) -> str:
        """How it was done, for a paper."""
        rho = self.autocorrelation
        return (
            f"Change points of the loadings of {len(self.segments)} ordered graphs on "
            f"{len(rho)} components were found by penalized least squares, exactly (dynamic "
            f"programming; at least {self.smallest} graphs between changes), after each component "
            "was brought to a symmetric scale (quartile deviations on either side of the median, "
            "inverse hyperbolic sine), single outliers were moved to four standard deviations "
            "from the median of their neighbors, and the autocorrelation of neighbors was taken "
            f"off ({rho.min():.2f} to {rho.max():.2f}, estimated around levels). "
            f"The penalty is the {1 - self.level:.0%} quantile of the "
            f"largest mean gain of a cut in {self.n_permutations:,} series without change (wild "
            "bootstrap: innovations with random signs and sizes, in their own order and with the "
            "same autocorrelation, so that spreads may differ in time); a series without any "
            f"change of level is cut with probability {self.level:.0%}, nearly."
        )

    def words(self, labels: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the answer in sentences.

        Parameters
        ----------
        labels : sequence of str, optional
            Names of the graphs, or when they were, in order; by default their numbers.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> Lam = np.random.default_rng(1).normal(size=(40, 2))
        >>> Lam[25:] += 4.0
        >>> found = eg.inference.change_points(Lam, n_permutations=99, random_state=0)
        >>> print(found.words()[0])
        The level of the loadings changes (p = 0.01): 1 change, first seen in graph 26 (index 25).
        """
        if not self.places:
            return (f"No change of level is shown (p = {self.p_value:.2g}).",)
        names = {i: counted(i) if labels is None else labels[i] for i in self.places}
        clearest = self.places[int(self.gains.argmax())]
        count = len(self.places)
        found = ", ".join(names.values())
        return (
            f"The level of the loadings changes (p = {self.p_value:.2g}): "
            f"{count} change{'s' if count > 1 else ''}, first seen in {found}.",
            *([f"The clearest change is the one in {names[clearest]}."] if count > 1 else []),
        )

    def __repr__(self) -> str:
        return f"Changes({len(self.segments)} graphs, p = {self.p_value:.2g}, at {self.places})"


def change_points(
    loadings: Any,
    *,
    components: Sequence[str] | None = None,
    leave_out: Any = None,
    smallest: int = 3,
    level: float = 0.05,
    n_permutations: int = 999,
    random_state: RandomState = None,
) -> Changes:
    """Find where the loadings of ordered graphs change their level.

    Parameters
    ----------
    loadings : (m, d)
        One row per graph, in their order.
    components : sequence of str, optional
        Names of the components.
    leave_out : (d,) of bool, optional
        Components that are not looked at: ``embedding.degenerate_``.
    smallest : int
        Graphs that must be between two changes; one odd graph is an anomaly, no change.
    level : float
        Probability of finding any change where there is none.
    n_permutations : int
        Series without change that the penalty comes from.
    random_state : int, Generator, RandomState or None
        Seed.

    Returns
    -------
    Changes

    Notes
    -----
    Skewness, heavy tails and single wild graphs are taken off first. Neighbors in time are alike
    even without a change. The autocorrelation of each component is estimated from differences of
    first and second neighbors, where levels cancel, and then once more around the levels that this
    gives. What is cut is (y_t - rho y_(t-1)) / (1 - rho), which has the levels of y. Series without
    change are made of innovations that keep their places and get random signs and sizes (a wild
    bootstrap), so that a spread that changes in time is no change of level; everything is estimated
    anew in each of them. Slow trends and seasons are changes of level, too: take a season off
    before.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> Lam = np.random.default_rng(1).normal(size=(40, 2))
    >>> Lam[25:] += 4.0
    >>> found = eg.inference.change_points(Lam, n_permutations=99, random_state=0)
    >>> found.places
    (25,)
    """
    Y = read_loadings(loadings, least=1)
    unit = units(Y)
    Y = Y / unit
    out = np.zeros(Y.shape[1], bool) if leave_out is None else np.asarray(leave_out, dtype=bool)
    names = [f"je{k + 1}" for k in range(Y.shape[1])] if components is None else list(components)
    notes = []
    constant = np.median(np.abs(np.diff(Y, axis=0)), axis=0) <= 1e-12 * np.abs(Y).max(axis=0)
    if out.shape != constant.shape or len(names) != len(out):
        raise InputError(f"leave_out and components must have {len(constant)} values")
    for which, why in ((out, "degenerate"), (constant & ~out, "the same for most graphs")):
        if which.any():
            left = ", ".join(np.array(names)[which])
            notes.append(f"not looked at, because loadings are {why}: {left}")
    keep = ~(out | constant)
    if not keep.any():
        raise InputError("no component is left: loadings are constant or degenerate")
    if not isinstance(smallest, int | np.integer) or smallest < 2:
        raise InputError(f"smallest must be a whole number >= 2, got {smallest!r}")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level!r}")
    if n_permutations < 1 / level - 1:
        raise InputError(
            f"level {level} needs at least {int(np.ceil(1 / level - 1))} permutations, got "
            f"{n_permutations}"
        )
    if len(Y) < max(2 * smallest + 1, 10):
        raise InputError(
            f"{len(Y)} graphs are too few for changes with {smallest} graphs on either side; at "
            f"least {max(2 * smallest + 1, 10)} are needed"
        )
    found = _search(Y[:, keep], tuple(np.array(names)[keep]), smallest, level, n_permutations,
                    generator(random_state), tuple(notes))  # fmt: skip
    return replace(found, levels=found.levels * unit[keep])


def _search(
    Y: Array,
    names: tuple[str, ...],
    smallest: int,
    level: float,
    n_permutations: int,
    rng: np.random.Generator,
    notes: tuple[str, ...],
) -> Changes:
    m, d = Y.shape
    tamed = _tamed(Y[None], smallest)
    costs, rhos = _cuttable(tamed, smallest)
    rho = rhos[0]
    observed = float(largest_penalty(costs)[0])
    # Around the levels between clear changes: these must not make the series without change wilder
    # than the noise is. No cut of normal noise gains more than this, nearly. Medians, so that a
    # wild graph among few stays one, and larger by what fitting took.
    clear = d + 2 * np.sqrt(d * np.log(m)) + 2 * np.log(m)
    cuts = _places(costs, clear)
    quiet = np.concatenate([
        (part - np.median(part, axis=0)) * np.sqrt(len(part) / (len(part) - 1))
        for part in np.split(tamed[0], cuts)
    ])  # fmt: skip
    innovations = np.concatenate([quiet[:1], quiet[1:] - rho * quiet[:-1]])
    most = _FAR * np.sqrt(_mean_square(innovations[None]))[0]
    innovations = np.clip(innovations, -most, most)  # beside a change that was cut a graph too late
    null = []
    step = max(1, _BLOCK // (m * m))
    for start in range(0, n_permutations, step):
        count = min(step, n_permutations - start)
        series = _without_change(innovations, rho, count, rng)
        null.append(largest_penalty(_cuttable(_tamed(series, smallest), smallest)[0]))
    gains = np.nan_to_num(np.concatenate(null), nan=np.inf)
    # So that a gain that is no number has a p of 1.
    p = (1 + int((~(gains < observed * (1 - 1e-9))).sum())) / (1 + n_permutations)
    # The smallest gain whose own p value would be at most the level.
    rank = int(np.floor(level * (1 + n_permutations))) - 1
    penalty = float(np.sort(gains)[::-1][rank]) * (1 + 1e-9)
    found: list[int] = []
    if p <= level:
        found = _places(costs, penalty)
    edges = [0, *found, m]
    gain = [
        costs[0, max(a - 1, 0), b - 2] - costs[0, max(a - 1, 0), c - 2] - costs[0, c - 1, b - 2]
        for a, c, b in zip(edges, edges[1:], edges[2:], strict=False)
    ]
    return Changes(
        p_value=p,
        places=tuple(found),
        gains=np.array(gain) / penalty,
        levels=np.array([np.median(Y[a:b], axis=0) for a, b in pairwise(edges)]),
        segments=np.repeat(np.arange(len(edges) - 1), np.diff(edges)),
        autocorrelation=rho,
        penalty=penalty,
        level=level,
        n_permutations=n_permutations,
        smallest=int(smallest),
        components=names,
        notes=notes,
    )


def _tamed(Y: Array, smallest: int) -> Array:
    """Return series (B, m, d) without skewness, heavy tails and single wild graphs.

    Each side of the median is divided by its own deviation, and far values are brought nearer; a
    level that changes still does. Then no row is far from the median of its neighbors.
    """
    low, middle, high = np.quantile(Y, [0.25, 0.5, 0.75], axis=1)[:, :, None]
    up, down = high - middle, middle - low
    up, down = np.maximum(up, down / 20), np.maximum(down, up / 20)  # ties
    x = (Y - middle) * _NORMAL
    x = np.arcsinh(x / (2 * np.where(x > 0, up, down)))
    side = min(smallest, 3) - 1
    wide = np.pad(x, ((0, 0), (side, side), (0, 0)), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(wide, 2 * side + 1, axis=1)
    near = np.median(windows, axis=3)
    most = _FAR * np.sqrt(_mean_square(x - near))[:, None]
    return np.asarray(np.clip(x, near - most, near + most))


def _places(costs: Array, penalty: float) -> list[int]:
    """Return the rows where the series of these costs (1, m - 1, m - 1) is cut."""
    # The first row was spent on the second's innovation.
    return [place + 1 for place in places(segment(costs, np.array([penalty]))[2][0])]


def _cuttable(Y: Array, smallest: int) -> tuple[Array, Array]:
    """Return costs of segments without autocorrelation, and autocorrelations.

    Differences give a first autocorrelation whatever the changes, but a rough one. The best cutting
    under it has levels, (B, m, d), and what is left around these gives a better one, (B, d).
    """
    costs = segment_costs(_flat(Y, first_autocorrelation(Y)), smallest)
    best = largest_penalty(costs)
    starts = segment(costs, best * (1 - 1e-9))[2]
    rho = later_autocorrelation(Y, _levels(Y, starts))
    return segment_costs(_flat(Y, rho), smallest), rho


def _levels(Y: Array, starts: NDArray[np.intp]) -> Array:
    """Return the mean of each row's segment, (B, m, d); segments are of rows 1 to m - 1."""
    B, m, d = Y.shape
    first = np.zeros((B, m), dtype=bool)
    each, t = np.arange(B), np.full(B, m - 1)
    while t.any():
        t = np.where(t > 0, starts[each, t - 1], 0)
        first[each[t > 0], t[t > 0] + 1] = True  # row 0 belongs to the first segment
    which = np.cumsum(first, axis=1) + each[:, None] * m
    counts = np.bincount(which.ravel(), minlength=B * m)
    sums = np.stack([
        np.bincount(which.ravel(), weights=Y[:, :, k].ravel(), minlength=B * m) for k in range(d)
    ], axis=1)  # fmt: skip
    return np.asarray((sums / np.maximum(counts, 1)[:, None])[which])


def first_autocorrelation(Y: Array) -> Array:
    """Return the autocorrelation of neighbors, (B, d), as if series had no changes; Y (B, m, d).

    For a first-order autoregression the mean square of differences at lag k is proportional to
    1 - rho^k. Differences beyond three standard deviations, as at changes, do not count.
    """
    first, second = (_mean_square(Y[:, lag:] - Y[:, :-lag]) for lag in (1, 2))
    return np.asarray(np.clip(second / np.where(first > 0, first, np.inf) - 1, 0.0, _MOST))


def later_autocorrelation(Y: Array, levels: Array) -> Array:
    """Return the autocorrelation of neighbors around levels, (B, d)."""
    left = Y - levels
    unit = np.sqrt(_mean_square(left))[:, None]
    left = np.clip(left, -3 * unit, 3 * unit)  # an odd graph or two
    rho = (left[:, 1:] * left[:, :-1]).sum(axis=1) / np.maximum((left**2).sum(axis=1), 1e-300)
    # Each mean that was taken off lowers it by about (1 + 3 rho) / m.
    means = 1 + (np.diff(levels, axis=1) != 0).any(axis=2).sum(axis=1)[:, None]
    rho = rho + means * (1 + 3 * np.maximum(rho, 0.0)) / Y.shape[1]
    return np.asarray(np.clip(rho, 0.0, _MOST))


def _mean_square(D: Array) -> Array:
    """Return mean squares over rows, (B, d), without what is beyond three robust deviations."""
    D = np.abs(D)
    unit = np.median(D, axis=1, keepdims=True) / _NORMAL
    usual = np.less_equal(D, 3 * unit)
    return np.asarray((np.where(usual, D, 0.0) ** 2).sum(axis=1) / usual.sum(axis=1))


def _flat(Y: Array, rho: Array) -> Array:
    """Return series (B, m - 1, d) without autocorrelation, of unit variance around their levels."""
    r = rho[:, None]
    Z = (Y[:, 1:] - r * Y[:, :-1]) / (1 - r)
    unit = np.sqrt(_mean_square(np.diff(Z, axis=1)) / 2)[:, None]
    return np.asarray(Z / np.where(unit > 0, unit, np.inf))


def _without_change(innovations: Array, rho: Array, count: int, rng: np.random.Generator) -> Array:
    """Return series (count, m, d) of innovations with random factors, one for all components.

    Signs alone would be too tame: what is left around levels that were fitted has smaller tails
    than the noise.
    """
    size = (count, len(innovations), 1)
    factors = rng.choice([-1.0, 1.0], size=size) * rng.choice(_MULTIPLIERS, size=size)
    drawn = factors * innovations
    made = [lfilter([1.0], [1.0, -float(r)], drawn[:, :, k], axis=1) for k, r in enumerate(rho)]
    return np.stack(made, axis=2)
