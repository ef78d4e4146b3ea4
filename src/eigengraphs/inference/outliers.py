"""Graphs unlike the others: by their loadings, and by what the components leave of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw
from scipy.stats import beta, chi2, false_discovery_control

from eigengraphs.errors import InputError, ManyAnomaliesWarning
from eigengraphs.inference.variables import Array, counted, read_loadings, units, words
from eigengraphs.system.randomness import RandomState, generator

__all__ = ["Anomalies", "anomalies"]

_STEPS = 15  # of concentration; more change nothing
_NORMAL = 0.6745  # median of |x| of a standard normal x
_TENTH = 1.2816  # its upper decile
_DECILE = 1.6449  # the upper decile of |x|
_MANY = (
    0.1  # beyond this share, the quantiles that the margins are fitted to are not of usual graphs
)
_BLOCK = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Anomalies:
    """How far each graph is from the others, and how likely that would be of a usual graph.

    What :func:`anomalies` returns.

    Attributes
    ----------
    distances : (m,)
        Robust Mahalanobis distances of the loadings, after the skewness and the heavy tails of the
        components were taken off.
    residuals : (m,)
        Logarithms of the shares that the components leave, in robust deviations from the usual
        one, skewness and heavy tails taken off; nan if they were not given.
    p_distances : (m,)
        p-values of the distances.
    p_residuals : (m,)
        p-values of the residuals; nan if they were not given.
    p_fdr : (m,)
        The smaller of the two (doubled), adjusted by the false discovery rate.
    level : float
        False discovery rate.
    n_simulations : int
        Samples that distances and residuals were referred to.

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
        """Indices (from 0) of the anomalous graphs, the oddest first."""
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
        Share of each graph that the components leave: ``embedding.residuals(graphs)``.
    segments : (m,), optional
        Which graphs belong together, such as :attr:`Changes.segments`: each graph is then compared
        with the level of its own segment.
    leave_out : (d,) of bool, optional
        Components that are not looked at: ``embedding.degenerate_``.
    level : float
        False discovery rate.
    n_simulations : int
        Samples of the same size and correlations that distances are referred to.
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
    What a usual graph can have is told by the middle 80 % of the graphs, and extrapolated: each
    component may be skewed (up to a lognormal) and all may have heavy tails or a common volume. So
    anomalies are taken to be fewer than a tenth of the graphs, and the others to be one group. Of
    skewed or heavy-tailed loadings, only graphs far beyond such a tail are found.

    Examples
    --------
    >>> import numpy as np
    >>> import eigengraphs as eg
    >>> Lam = np.random.default_rng(0).normal(size=(30, 2))
    >>> Lam[4] = 9.0
    >>> eg.inference.anomalies(Lam, n_simulations=99, random_state=0).found
    (4,)
    """
    Y = read_loadings(loadings, least=8)
    Y = Y / units(Y)
    if leave_out is not None:
        out = np.asarray(leave_out, dtype=bool)
        if out.shape != (Y.shape[1],):
            raise InputError(f"leave_out must have a value for each of {Y.shape[1]} components")
        Y = Y[:, ~out]
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level!r}")
    if n_simulations < 1:
        raise InputError(f"n_simulations must be at least 1, got {n_simulations!r}")
    m = len(Y)
    parts = np.zeros(m, dtype=np.intp)
    if segments is not None:
        if np.shape(segments) != (m,):
            raise InputError(f"segments must have a value for each of {m} graphs")
        parts = np.unique(np.asarray(segments), return_inverse=True)[1]
    Y = _varying(Y, parts)
    if Y.shape[1] == 0:
        raise InputError("no component is left: loadings are the same for most graphs")
    rng = generator(random_state)
    distances, p_distances = _judged(Y, parts, n_simulations, rng)
    left, p_residuals = np.full((2, m), np.nan)
    if residual_share is not None:
        share = np.asarray(residual_share, dtype=np.float64)
        if share.shape != (m,):
            raise InputError(f"residual_share must have a value for each of {m} graphs")
        known = (share > 0) & (share < np.inf)
        x = _varying(np.log(share[known])[:, None], parts[known])
        if len(x) >= 8 and x.size:
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
        f"{count} of {m} graphs is more than a tenth: these are rather another group, or a new "
        "level, than single anomalies. Compare groups (compare), or give segments"
    )


def _varying(Y: Array, parts: NDArray[np.intp]) -> Array:
    """Return the columns in which most rows differ from the median of their part."""
    unit = _deviation(_from_levels(Y[None], parts))[0]
    return Y[:, unit > 1e-12 * np.abs(Y).max(axis=0, initial=0.0)]


def _from_levels(Y: Array, parts: NDArray[np.intp]) -> Array:
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
    parts: NDArray[np.intp],
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
    drawn = []
    step = max(1, _BLOCK // (m * d))
    for start in range(0, n_simulations, step):
        sample = rng.normal(size=(min(step, n_simulations - start), m, d)) @ root.T
        drawn.append(measured(_normal_scores(sample, parts)[0]).ravel())
    reference = np.concatenate(drawn)
    if not upper:
        # A volume that all components share spreads the logarithms of distances.
        wide, usual = (np.log(np.quantile(x, 0.9) / np.median(x)) for x in (observed, reference))
        volume = np.sqrt(max(wide**2 - usual**2, 0.0)) / _TENTH
        reference = reference * np.exp(volume * rng.normal(size=reference.shape))
    return observed, _tail(observed, reference)


def _normal_scores(Y: Array, parts: NDArray[np.intp]) -> tuple[Array, Array]:
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
    """Take off skewness: the longer side of each column is s (exp(g z) - 1) / g of a normal z.

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
    """Take off heavy tails: columns are s z exp(h z^2 / 2) of a normal z, with one h for all.

    h is told by the directions of rows, which know nothing of a common volume; by the column
    itself if there is but one.
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
