"""Graphs unlike the others: by their loadings, and by what the components leave of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, false_discovery_control

from eigengraphs.errors import InputError
from eigengraphs.inference.variables import Array, read_loadings, words
from eigengraphs.randomness import RandomState, generator

__all__ = ["Anomalies", "anomalies"]

_STEPS = 15  # of concentration; more change nothing
_NORMAL = 0.6745
_BLOCK = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Anomalies:
    """How far each graph is from the others, and how likely that would be of a usual graph.

    What :func:`anomalies` returns.

    Attributes
    ----------
    distances : (m,)
        Robust Mahalanobis distances of the loadings.
    residuals : (m,)
        Shares that the components leave, in robust deviations of their logarithms from the
        usual one; nan if they were not given.
    p_distances : (m,)
        p-values of the distances.
    p_residuals : (m,)
        p-values of the residuals; nan if they were not given.
    p_fdr : (m,)
        The smaller of the two (doubled), adjusted by the false discovery rate.
    level : float
        False discovery rate.
    n_simulations : int
        Normal samples that distances were referred to.

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
        """Places of the anomalous graphs, the oddest first."""
        odd = np.flatnonzero(self.p_fdr <= self.level)
        return tuple(int(i) for i in odd[np.argsort(self.p_fdr[odd], kind="stable")])

    @property
    def methods(self) -> str:
        """How it was done, for a paper."""
        return (
            "Anomalous graphs were found by robust Mahalanobis distances of their loadings (half "
            "of the graphs with the smallest scatter, then reweighted) and by robust scores of the "
            "logarithm of their residual shares, referred to normal samples of the same size "
            f"({self.n_simulations:,} simulations), at a false discovery rate of {self.level:.0%}."
        )

    def words(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the answer in a sentence.

        Parameters
        ----------
        names : sequence of str
            Names of the m graphs.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> Lam = np.random.default_rng(0).normal(size=(30, 2))
        >>> Lam[4] = 9.0
        >>> found = eg.inference.anomalies(Lam, n_simulations=99, random_state=0)
        >>> found.words([f"scan {i}" for i in range(30)])
        ('1 graph is anomalous (false discovery rate 5%): scan 4.',)
        """
        if not self.found:
            return (f"No graph is anomalous (false discovery rate {self.level:.0%}).",)
        count = len(self.found)
        return (
            f"{count} graph{'s are' if count > 1 else ' is'} anomalous (false discovery rate "
            f"{self.level:.0%}): {words([names[i] for i in self.found], 10)}.",
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
        A row for each graph.
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
        Normal samples of the same size and correlations that distances are referred to.
    random_state : int, Generator, RandomState or None
        Seed.

    Returns
    -------
    Anomalies

    Notes
    -----
    Usual loadings are taken as normal; of loadings with heavier tails, more are found. Few
    anomalies do not hide each other, as long as they are fewer than half of the graphs.

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
    if leave_out is not None:
        out = np.asarray(leave_out, dtype=bool)
        if out.shape != (Y.shape[1],):
            raise InputError(f"leave_out must have a value for each of {Y.shape[1]} components")
        Y = Y[:, ~out]
    Y = Y[:, _deviation(Y[None])[0] > 1e-12 * np.abs(Y).max(axis=0)]
    if Y.shape[1] == 0:
        raise InputError("no component is left: loadings are the same for most graphs")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level!r}")
    if n_simulations < 1:
        raise InputError(f"n_simulations must be at least 1, got {n_simulations!r}")
    m, d = Y.shape
    parts = np.zeros(m, dtype=np.intp)
    if segments is not None:
        if np.shape(segments) != (m,):
            raise InputError(f"segments must have a value for each of {m} graphs")
        parts = np.unique(np.asarray(segments), return_inverse=True)[1]
    rng = generator(random_state)
    distances, scatter = _distances(_from_levels(Y[None], parts))
    unit = np.sqrt(np.diag(scatter[0]))
    root = np.linalg.cholesky(scatter[0] / np.outer(unit, unit))
    left = np.full(m, np.nan)
    if residual_share is not None:
        share = np.asarray(residual_share, dtype=np.float64)
        if share.shape != (m,):
            raise InputError(f"residual_share must have a value for each of {m} graphs")
        left[share > 0] = np.log(share[share > 0])
        known = np.isfinite(left)
        left[known] = _scores(left[known][None], parts[known])[0]
    usual_distances, usual_scores = [], []
    step = max(1, _BLOCK // (m * d))
    for start in range(0, n_simulations, step):
        count = min(step, n_simulations - start)
        drawn = rng.normal(size=(count, m, d)) @ root.T
        usual_distances.append(_distances(_from_levels(drawn, parts))[0].ravel())
        usual_scores.append(_scores(rng.normal(size=(count, m)), parts).ravel())
    p_distances = _tail(distances[0], np.concatenate(usual_distances))
    p_residuals = _tail(left, np.concatenate(usual_scores))
    smaller = np.fmin(p_distances, p_residuals)
    both = smaller if residual_share is None else np.minimum(2 * smaller, 1.0)
    return Anomalies(
        distances[0], left, p_distances, p_residuals, np.asarray(false_discovery_control(both)),
        level, n_simulations,
    )  # fmt: skip


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


def _scores(x: Array, parts: NDArray[np.intp]) -> Array:
    moved = _from_levels(x[:, :, None], parts)
    unit = _deviation(moved)[:, None]
    return np.asarray((moved / np.where(unit > 0, unit, np.inf))[:, :, 0])


def _distances(Y: Array) -> tuple[Array, Array]:
    """Return robust distances (B, m) and scatters (B, d, d) of B samples Y (B, m, d).

    The half of the rows that are nearest to their own mean, in their own metric, found by
    repetition from medians; then all rows that this half finds usual.
    """
    B, m, d = Y.shape
    half = (m + d + 1) // 2
    unit = _deviation(Y)[:, None]
    Z = (Y - np.median(Y, axis=1, keepdims=True)) / unit
    squares = (Z**2).sum(axis=2)
    S = np.tile(np.eye(d), (B, 1, 1))
    for _ in range(_STEPS):
        chosen = np.argpartition(squares, half - 1, axis=1)[:, :half]
        weights = np.zeros((B, m))
        np.put_along_axis(weights, chosen, 1.0, axis=1)
        squares, S = _mahalanobis(Z, weights)
    typical = np.median(squares, axis=1, keepdims=True) / chi2.ppf(0.5, d)
    squares, S = _mahalanobis(Z, (squares <= typical * chi2.ppf(0.975, d)).astype(np.float64))
    return np.sqrt(squares), S * unit.transpose(0, 2, 1) * unit


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
