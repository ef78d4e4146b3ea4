"""Change points of ordered graphs, and graphs that are unlike the others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import lambertw
from scipy.stats import beta, chi2, false_discovery_control

from eigengraphs.errors import InputError, ManyAnomaliesWarning
from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.studies.designs import (
    Array,
    Indices,
    check_share,
    counted,
    numbered,
    portions,
    varying_loadings,
    words,
)
from eigengraphs.system.randomness import RandomState, generator

_NORMAL = 0.6745  # median of |x| of a standard normal x
_TENTH = 1.2816  # its upper decile
_DECILE = 1.6449  # the upper decile of |x|
# Change points
_FAR = 4.0  # standard deviations beyond which a graph is an outlier, and says nothing of levels
_MOST = 0.9  # autocorrelation above is taken as this: a random walk has no level to change
_MULTIPLIERS = np.sqrt([0.25, 1.75])  # sizes of random factors; their mean square is 1
# Anomalies
_STEPS = 15  # of concentration; more change nothing
_MANY = 0.1  # beyond this share, margins are not fitted to quantiles of usual graphs


# Change points


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
        How much each change lowers the squared distance from the levels, in units of the penalty;
        all are above 1, and the largest is the clearest.
    levels : (changes + 1, d)
        Median loadings between changes.
    segments : (m,)
        Index of the level of each graph.
    autocorrelation : (d,)
        Of neighbors around their levels; it was removed.
    penalty : float
        Gain that a change must bring, in squared standard deviations.
    level : float
        Probability of finding any change where there is none.
    n_permutations : int
        Number of series without a change from which the penalty was computed.
    smallest : int
        Fewest graphs between two changes.
    components : tuple of str
        Names of the components that were used.
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
    segments: Indices
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
            "from the median of their neighbors, and the autocorrelation of neighbors was "
            f"removed ({rho.min():.2f} to {rho.max():.2f}, estimated around levels). "
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
            Names or times of the graphs, in order; by default their numbers.

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
    """Find where the level of the loadings of ordered graphs changes.

    Parameters
    ----------
    loadings : (m, d)
        One row per graph, in their order.
    components : sequence of str, optional
        Names of the components.
    leave_out : (d,) of bool, optional
        Components that are not looked at: ``embedding.degenerate_``.
    smallest : int
        Fewest graphs between two changes; a single outlier is an anomaly, not a change.
    level : float
        Probability of finding any change where there is none.
    n_permutations : int
        Number of series without a change from which the penalty is computed.
    random_state : int, Generator, RandomState or None
        Seed.

    Returns
    -------
    Changes

    Notes
    -----
    Skewness, heavy tails and single outliers are removed first. Neighbors in time are similar
    even without a change. The autocorrelation of each component is estimated from differences of
    first and second neighbors, where levels cancel, and then again around the resulting levels. The
    series (y_t - rho y_(t-1)) / (1 - rho), which has the levels of y, is divided into segments.
    Series without a change consist of the innovations in their order, with random signs and sizes
    (a wild bootstrap), so that a spread that changes over time is not a change of level; everything
    is estimated again in each of them. Slow trends and seasons are also changes of level: remove a
    season first.

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
    Y, unit, names, notes = varying_loadings(
        loadings, lambda Y: np.median(np.abs(np.diff(Y, axis=0)), axis=0),
        "the same for most graphs", least=1, components=components, leave_out=leave_out,
    )  # fmt: skip
    if not isinstance(smallest, int | np.integer) or smallest < 2:
        raise InputError(f"smallest must be a whole number >= 2, got {smallest!r}")
    check_share("level", level)
    if n_permutations < 1 / level - 1:
        raise InputError(
            f"level {level} needs at least {int(np.ceil(1 / level - 1))} permutations, got "
            f"{n_permutations}"
        )
    m, fewest = len(Y), max(2 * smallest + 1, 10)
    if m < fewest:
        raise InputError(
            f"{m} graphs are too few for changes with {smallest} graphs on either side; at least "
            f"{fewest} are needed"
        )
    costs, (rho,), (tamed,) = _cuttable(Y[None], smallest)
    observed = float(largest_penalty(costs)[0])
    innovations, rng = _innovations(tamed, costs, rho), generator(random_state)
    null = [
        largest_penalty(_cuttable(_without_change(innovations, rho, some, rng), smallest)[0])
        for some in portions(n_permutations, m * m, 4_000_000)
    ]
    gains = np.nan_to_num(np.concatenate(null), nan=np.inf)
    # So that a gain that is nan has a p of 1.
    p = (1 + int((~(gains < observed * (1 - 1e-9))).sum())) / (1 + n_permutations)
    # The smallest gain whose own p value would be at most the level.
    rank = int(np.floor(level * (1 + n_permutations))) - 1
    penalty = float(np.sort(gains)[::-1][rank]) * (1 + 1e-9)
    found = _places(costs, penalty) if p <= level else []
    edges = [0, *found, m]
    gain = [
        costs[0, max(a - 1, 0), b - 2] - costs[0, max(a - 1, 0), c - 2] - costs[0, c - 1, b - 2]
        for a, c, b in zip(edges, edges[1:], edges[2:], strict=False)
    ]
    return Changes(
        p_value=p,
        places=tuple(found),
        gains=np.array(gain) / penalty,
        levels=np.array([np.median(Y[a:b], axis=0) for a, b in pairwise(edges)]) * unit,
        segments=np.repeat(np.arange(len(edges) - 1), np.diff(edges)),
        autocorrelation=rho,
        penalty=penalty,
        level=level,
        n_permutations=n_permutations,
        smallest=int(smallest),
        components=tuple(names),
        notes=tuple(notes),
    )


def _innovations(tamed: Array, costs: Array, rho: Array) -> Array:
    """Return innovations (m, d) of a series around the levels between its clear changes.

    These must not make the series without change wilder than the noise is. No cut of normal noise
    gains more than what is called clear, nearly. Medians, so that an outlier among few stays one,
    and larger by what fitting took.
    """
    m, d = tamed.shape
    clear = d + 2 * np.sqrt(d * np.log(m)) + 2 * np.log(m)
    quiet = np.concatenate([
        (part - np.median(part, axis=0)) * np.sqrt(len(part) / (len(part) - 1))
        for part in np.split(tamed, _places(costs, clear))
    ])  # fmt: skip
    innovations = np.concatenate([quiet[:1], quiet[1:] - rho * quiet[:-1]])
    most = _FAR * np.sqrt(_mean_square(innovations[None]))[0]
    # Beside a change that was cut a graph too late.
    return np.asarray(np.clip(innovations, -most, most))


def _tamed(Y: Array, smallest: int) -> Array:
    """Return series (B, m, d) without skewness, heavy tails and single outliers.

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
    first = segment(costs, np.array([penalty]))[1][0]
    # The first row was spent on the second's innovation.
    return (np.flatnonzero(first) + 1).tolist()


def _cuttable(Y: Array, smallest: int) -> tuple[Array, Array, Array]:
    """Return costs of segments without autocorrelation, autocorrelations, and tamed series.

    Differences give a first autocorrelation whatever the changes, but a rough one. The best cutting
    under it has levels, (B, m, d), and what is left around these gives a better one, (B, d).
    """
    Y = _tamed(Y, smallest)
    costs = segment_costs(_flat(Y, first_autocorrelation(Y)), smallest)
    first = segment(costs, largest_penalty(costs) * (1 - 1e-9))[1]
    rho = later_autocorrelation(Y, first)
    return segment_costs(_flat(Y, rho), smallest), rho, Y


def first_autocorrelation(Y: Array) -> Array:
    """Return the autocorrelation of neighbors, (B, d), as if series had no changes; Y (B, m, d).

    For a first-order autoregression the mean square of differences at lag k is proportional to
    1 - rho^k. Differences beyond three standard deviations, as at changes, do not count.
    """
    first, second = (_mean_square(Y[:, lag:] - Y[:, :-lag]) for lag in (1, 2))
    return np.asarray(np.clip(second / np.where(first > 0, first, np.inf) - 1, 0.0, _MOST))


def later_autocorrelation(Y: Array, first: NDArray[np.bool_]) -> Array:
    """Return the autocorrelation of neighbors around levels, (B, d).

    Levels are means of segments, which begin where ``first`` (B, m - 1) says for rows 1 on.
    """
    which = np.cumsum(np.pad(first, ((0, 0), (1, 0))), axis=1)
    same = (which[:, :, None] == which[:, None]).astype(np.float64)  # segment
    left = Y - same @ Y / same.sum(axis=2, keepdims=True)
    unit = np.sqrt(_mean_square(left))[:, None]
    left = np.clip(left, -3 * unit, 3 * unit)  # an outlier or two
    rho = (left[:, 1:] * left[:, :-1]).sum(axis=1) / np.maximum((left**2).sum(axis=1), 1e-300)
    # Each mean that was subtracted lowers it by about (1 + 3 rho) / m.
    means = 1 + which[:, -1:]
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


# Cutting a series into segments of one level each, by penalized least squares, exactly


def segment_costs(Y: Array, least: int) -> Array:
    """Return the squares around the mean of every segment, (B, m, m).

    Entry ``[b, s, t]`` is of rows s to t of series b; infinite where these are too few.

    Parameters
    ----------
    Y : (B, m, d)
        Series.
    least
        Number of rows that a segment must have.
    """
    m = Y.shape[1]
    Y = Y - Y.mean(axis=1, keepdims=True)
    S = np.pad(np.cumsum(Y, axis=1), ((0, 0), (1, 0), (0, 0)))
    squares = np.pad(np.cumsum((Y**2).sum(axis=2), axis=1), ((0, 0), (1, 0)))
    norms = (S**2).sum(axis=2)
    # |S_t - S_s|^2 by a product of matrices, for all pairs at once.
    moved = norms[:, None, 1:] + norms[:, :-1, None] - 2 * (S[:, :-1] @ S[:, 1:].transpose(0, 2, 1))
    length = np.arange(1, m + 1) - np.arange(m)[:, None]  # (s, t)
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = squares[:, None, 1:] - squares[:, :-1, None] - moved / length
    costs[:, length < least] = np.inf
    return np.asarray(np.maximum(costs, 0.0))


def segment(costs: Array, penalties: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Cut series where that lowers their cost by more than a penalty for each cut.

    Dynamic programming over all places of all cuts, for each series.

    Parameters
    ----------
    costs : (B, m, m)
        From :func:`segment_costs`.
    penalties : (B,)
        Price of a cut.

    Returns
    -------
    cost : (B,)
        Of the segments, without penalties.
    first : (B, m)
        Whether a segment begins at a row after a cut.
    """
    B, m, _ = costs.shape
    best = np.full((B, m + 1), np.inf)
    best[:, 0] = -penalties  # the first segment begins without a cut
    starts = np.zeros((B, m + 1), dtype=np.intp)  # of the last segment of rows before t
    each = np.arange(B)
    for t in range(m):
        ways = best[:, : t + 1] + costs[:, : t + 1, t] + penalties[:, None]
        starts[:, t + 1] = ways.argmin(axis=1)
        best[:, t + 1] = ways[each, starts[:, t + 1]]
    first, start = np.zeros((B, m), dtype=bool), starts[:, m]
    while start.any():
        first[each, start] = True
        start = starts[each, start]
    first[:, 0] = False
    return best[:, -1] - penalties * first.sum(axis=1), first


def largest_penalty(costs: Array) -> Array:
    """Return the largest penalty at which each series is still cut, (B,).

    It is the largest mean gain of a cut, over all numbers and places of cuts: max over K of
    (cost of no cut - cost of K cuts) / K. Each round finds the best cutting at the last penalty,
    and its mean gain is the next one; this rises to the answer in a few rounds.
    """
    whole, one = costs[:, 0, -1], (costs[:, 0, :-1] + costs[:, 1:, -1]).min(axis=1)
    found = np.where(np.isfinite(one), whole - one, 0.0)
    rows = np.flatnonzero(np.isfinite(one))
    while len(rows):
        cost, first = segment(costs[rows], found[rows])
        cuts = first.sum(axis=1)
        gain = (whole[rows] - cost) / np.maximum(cuts, 1)
        better = (cuts > 0) & (gain > found[rows] * (1 + 1e-12) + 1e-300)
        rows = rows[better]
        found[rows] = gain[better]
    return np.asarray(found)


# Graphs unlike the others: by their loadings, and by what the components do not explain


@dataclass(frozen=True, eq=False, repr=False)
class Anomalies:
    """How far each graph is from the others, and how likely this is for a usual graph.

    What :func:`anomalies` returns.

    Attributes
    ----------
    distances : (m,)
        Robust Mahalanobis distances of the loadings, without the skewness and the heavy tails of
        the components.
    residuals : (m,)
        Logarithms of the shares that the components do not explain, in robust deviations from the
        usual one, without skewness and heavy tails; nan if they were not given.
    p_distances : (m,)
        p-values of the distances.
    p_residuals : (m,)
        p-values of the residuals; nan if they were not given.
    p_fdr : (m,)
        The smaller of the two (doubled), adjusted by the false discovery rate.
    level : float
        False discovery rate.
    n_simulations : int
        Number of simulated samples in the reference distributions.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> Lam = np.random.default_rng(0).normal(size=(30, 2))
    >>> Lam[4] = 9.0
    >>> found = eg.inference.anomalies(Lam, n_simulations=99, random_state=0)
    >>> found
    Anomalies(30 graphs, found: (4,))
    """

    distances: Array
    residuals: Array
    p_distances: Array
    p_residuals: Array
    p_fdr: Array
    level: float
    n_simulations: int

    @property
    def found(self) -> tuple[int, ...]:
        """Indices (from 0) of the anomalous graphs, the most unusual first."""
        odd = np.flatnonzero(self.p_fdr <= self.level)
        return tuple(int(i) for i in odd[np.argsort(self.p_fdr[odd], kind="stable")])

    @property
    def methods(self) -> str:
        """How it was done, for a paper."""
        return (
            "Anomalous graphs were found by robust Mahalanobis distances of their loadings and by "
            "the logarithm of their residual shares. Components were whitened by a robust "
            "covariance (half of the graphs with the smallest scatter, then reweighted), and "
            "brought to normal margins in the middle 80% of the graphs (skewness by a shifted "
            "logarithm, heavy tails by the inverse of Tukey's h). Distances were referred to "
            "normal samples of the same size, treated likewise, times a lognormal volume common "
            "to all components, where distances are spread more widely "
            f"({self.n_simulations:,} simulations), at a false discovery rate of {self.level:.0%}."
        )

    def words(self, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the answer in sentences.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the m graphs; by default their numbers.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> Lam = np.random.default_rng(0).normal(size=(30, 2))
        >>> Lam[4] = 9.0
        >>> found = eg.inference.anomalies(Lam, n_simulations=99, random_state=0)
        >>> found.words([f"scan {i}" for i in range(30)])
        ('1 graph is anomalous (false discovery rate 5%): scan 4.',)
        >>> found.words()
        ('1 graph is anomalous (false discovery rate 5%): graph 5 (index 4).',)
        """
        if not self.found:
            return (f"No graph is anomalous (false discovery rate {self.level:.0%}).",)
        count = len(self.found)
        listed = [counted(i) if names is None else names[i] for i in self.found]
        return (
            f"{count} graph{'s are' if count > 1 else ' is'} anomalous (false discovery rate "
            f"{self.level:.0%}): {words(listed, 10)}.",
            *([f"{_many(count, len(self.p_fdr))}."] if count > _MANY * len(self.p_fdr) else []),
        )

    def __repr__(self) -> str:
        return f"Anomalies({len(self.distances)} graphs, found: {self.found})"


def anomalies(
    loadings: Any,
    residual_share: Any = None,
    *,
    segments: Any = None,
    leave_out: Any = None,
    level: float = 0.05,
    n_simulations: int = 499,
    random_state: RandomState = None,
) -> Anomalies:
    """Find graphs that are unlike the others.

    Parameters
    ----------
    loadings : (m, d)
        One row per graph.
    residual_share : (m,), optional
        Share of each graph that the components do not explain: ``embedding.residuals(graphs)``.
    segments : (m,), optional
        Which graphs belong together, such as :attr:`Changes.segments`: each graph is then compared
        with the level of its own segment.
    leave_out : (d,) of bool, optional
        Components that are not looked at: ``embedding.degenerate_``.
    level : float
        False discovery rate.
    n_simulations : int
        Number of simulated samples, of the same size and correlations, for the reference
        distributions.
    random_state : int, Generator, RandomState or None
        Seed.

    Returns
    -------
    Anomalies

    Warns
    -----
    ManyAnomaliesWarning
        If more than 10 % of the graphs are found.

    Notes
    -----
    The usual distribution is estimated from the middle 80 % of the graphs, and extrapolated: each
    component may be skewed (up to a lognormal), and all may have heavy tails or a common volume. So
    anomalies are assumed to be fewer than a tenth of the graphs, and the others to be one group.
    For skewed or heavy-tailed loadings, only graphs far beyond such a tail are found.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> Lam = np.random.default_rng(0).normal(size=(30, 2))
    >>> Lam[4] = 9.0
    >>> eg.inference.anomalies(Lam, n_simulations=99, random_state=0).found
    (4,)
    """
    check_share("level", level)
    check_count("n_simulations", n_simulations)

    def parts_of(Y: Array) -> Indices:
        return numbered(np.zeros(len(Y)) if segments is None else segments, len(Y), "segments")

    Y, *_ = varying_loadings(
        loadings, lambda Y: _spread(Y, parts_of(Y)), "the same for most graphs", least=8,
        leave_out=leave_out,
    )  # fmt: skip
    m, parts, rng = len(Y), parts_of(Y), generator(random_state)
    distances, p_distances = _judged(Y, parts, n_simulations, rng)
    left, p_residuals = np.full((2, m), np.nan)
    if residual_share is not None:
        share = np.asarray(residual_share, dtype=np.float64)
        if share.shape != (m,):
            raise InputError(f"residual_share must have one value for each of {m} graphs")
        known = (share > 0) & (share < np.inf)
        x = np.log(share[known])[:, None]
        if len(x) >= 8 and _spread(x, parts[known]) > 1e-12 * np.abs(x).max():
            left[known], p_residuals[known] = _judged(
                x, parts[known], n_simulations, rng, upper=True
            )
    smaller = np.fmin(p_distances, p_residuals)
    both = smaller if residual_share is None else np.minimum(2 * smaller, 1.0)
    found = Anomalies(
        distances, left, p_distances, p_residuals, np.asarray(false_discovery_control(both)),
        level, n_simulations,
    )  # fmt: skip
    if len(found.found) > _MANY * m:
        warnings.warn(_many(len(found.found), m), ManyAnomaliesWarning, stacklevel=2)
    return found


def _many(count: int, m: int) -> str:
    return (
        f"{count} of {m} graphs is more than a tenth: they are more likely another group, or a new "
        "level, than single anomalies. Compare groups (compare), or give segments"
    )


def _spread(Y: Array, parts: Indices) -> Array:
    """Return the robust deviation of columns from the median of each row's part, (d,)."""
    return np.asarray(_deviation(_from_levels(Y[None], parts))[0])


def _from_levels(Y: Array, parts: Indices) -> Array:
    """Return the differences from the median of each graph's part, (B, m, d)."""
    moved = Y.copy()
    for part in np.unique(parts):
        rows = parts == part
        moved[:, rows] -= np.median(Y[:, rows], axis=1, keepdims=True)
    return np.asarray(moved)


def _deviation(Y: Array) -> Array:
    """Return the robust standard deviation of each column, (B, d)."""
    return np.asarray(np.median(np.abs(Y - np.median(Y, axis=1, keepdims=True)), axis=1) / _NORMAL)


def _judged(
    Y: Array,
    parts: Indices,
    n_simulations: int,
    rng: np.random.Generator,
    upper: bool = False,
) -> tuple[Array, Array]:
    """Return distances of rows, or scores of a single column if upper, and p-values, (m,) each."""
    m, d = Y.shape

    def measured(scores: Array) -> Array:
        return np.asarray(scores[:, :, 0] if upper else np.sqrt((scores**2).sum(axis=2)))

    scores, S = _normal_scores(Y[None], parts)
    observed = measured(scores)[0]
    root = np.linalg.cholesky(S[0])
    reference = np.concatenate([
        measured(_normal_scores(rng.normal(size=(some, m, d)) @ root.T, parts)[0]).ravel()
        for some in portions(n_simulations, m * d)
    ])  # fmt: skip
    if not upper:
        # A volume that all components share spreads the logarithms of distances.
        wide, usual = (np.log(np.quantile(x, 0.9) / np.median(x)) for x in (observed, reference))
        volume = np.sqrt(max(wide**2 - usual**2, 0.0)) / _TENTH
        reference = reference * np.exp(volume * rng.normal(size=reference.shape))
    return observed, _tail(observed, reference)


def _normal_scores(Y: Array, parts: Indices) -> tuple[Array, Array]:
    """Return uncorrelated columns (B, m, d) that are standard normal in the middle, and scatters.

    Whitening is symmetric, so that columns stay as near as possible to the components: sums of
    skewed components would look normal in the middle and have the tails of each.
    """
    moved = _from_levels(Y, parts)
    Z = moved / _deviation(moved)[:, None]
    S = _scatter(Z)
    values, vectors = np.linalg.eigh(S)
    W = Z @ (vectors / np.sqrt(values)[:, None] @ vectors.transpose(0, 2, 1))
    return _light_tailed(_symmetric(W)), S


def _symmetric(W: Array) -> Array:
    """Remove skewness: the longer side of each column is s (exp(g z) - 1) / g of a normal z.

    g is told by the upper and the lower tenth, less some of its own error, and the shorter side is
    only divided by its deviation: its bound is not known well enough to extrapolate to.
    """
    lower, middle, upper = np.quantile(W, [0.1, 0.5, 0.9], axis=1)[:, :, None]
    up, down = upper - middle, middle - lower
    up, down = np.maximum(up, down / 20), np.maximum(down, up / 20)  # ties
    side = np.where(up >= down, 1.0, -1.0)
    x = (W - middle) * side
    longer, shorter = np.maximum(up, down), np.minimum(up, down)
    g = np.log(longer / shorter) / _TENTH - 1 / np.sqrt(W.shape[1])
    g = np.maximum(g, 1e-9)
    unit = longer * g / np.expm1(_TENTH * g)
    long = np.log1p(g * np.maximum(x, 0.0) / unit) / g
    return np.asarray(side * np.where(x > 0, long, x * _TENTH / shorter))


def _light_tailed(z: Array) -> Array:
    """Remove heavy tails: columns are s z exp(h z^2 / 2) of a normal z, with one h for all.

    h is told by the directions of rows, which know nothing of a common volume; by the column
    itself if there is only one.
    """
    B, _, d = z.shape
    size = np.abs(z)
    ratio = _DECILE / _NORMAL
    of = size
    if d > 1:
        of = size / np.maximum(np.sqrt((z**2).sum(axis=2, keepdims=True)), 1e-300)
        low, high = np.sqrt(beta.ppf([0.5, 0.9], 0.5, (d - 1) / 2))
        ratio = high / low
    low, high = np.quantile(of.reshape(B, -1), [0.5, 0.9], axis=1)
    h = np.log(high / np.maximum(low, high / 100) / ratio) * 2 / (_DECILE**2 - _NORMAL**2)
    h = np.maximum(h, 1e-9)[:, None, None]
    unit = np.median(size.reshape(B, -1), axis=1)[:, None, None] / _NORMAL
    u = size / (unit * np.exp(-h * _NORMAL**2 / 2))
    return np.asarray(np.sign(z) * np.sqrt(lambertw(h * u**2).real / h))


def _scatter(Z: Array) -> Array:
    """Return robust covariances (B, d, d) of B samples Z (B, m, d) around zero medians.

    The half of the rows that are nearest to their own mean, in their own metric, found by
    repetition from medians; then all rows that this half finds usual.
    """
    B, m, d = Z.shape
    half = (m + d + 1) // 2
    squares = (Z**2).sum(axis=2)
    for _ in range(_STEPS):
        chosen = np.argpartition(squares, half - 1, axis=1)[:, :half]
        weights = np.zeros((B, m))
        np.put_along_axis(weights, chosen, 1.0, axis=1)
        squares, _ = _mahalanobis(Z, weights)
    typical = np.median(squares, axis=1, keepdims=True) / chi2.ppf(0.5, d)
    usual = squares <= typical * chi2.ppf(0.975, d)
    S = _mahalanobis(Z, usual.astype(np.float64))[1]
    unit = np.sqrt(np.diagonal(S, axis1=1, axis2=2))
    return np.asarray(S / (unit[:, :, None] * unit[:, None]))


def _mahalanobis(Z: Array, weights: Array) -> tuple[Array, Array]:
    count = weights.sum(axis=1)[:, None]
    mean = (weights[:, None] @ Z) / count[:, None]
    moved = Z - mean
    S = (moved * weights[:, :, None]).transpose(0, 2, 1) @ moved / count[:, None]
    d = Z.shape[2]
    # A little towards the diagonal: there may be hardly more rows than columns.
    S *= 1 - (d / (d + count[:, None])) * (1 - np.eye(d))
    squares = (moved @ np.linalg.inv(S) * moved).sum(axis=2)
    return np.asarray(squares), np.asarray(S)


def _tail(values: Array, usual: Array) -> Array:
    """Return the share of usual values that are as large, (m,); nan stays."""
    usual = np.sort(usual)
    above = len(usual) - np.searchsorted(usual, values, "left")
    return np.where(np.isnan(values), np.nan, (1 + above) / (1 + len(usual)))
