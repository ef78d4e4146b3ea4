"""How sure a score is, and a difference of two scores, from cross-validation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = [
    "Difference",
    "accuracy_interval",
    "compare_crossed",
    "compare_folds",
    "explained_interval",
    "holm",
]

Array = NDArray[np.float64]
_DRAWS = 2000
# Graphs are learnt from as well as held out, so that errors of different graphs depend on each
# other. In a small simulation (48 samples, 150 runs a case, 1-NN and logistic regression; 4 folds
# with 2 and 20 features, 10 folds with 2 features in part) accuracies varied 1.3 to 1.8 times as
# much as the binomial law has it without signal, and 0.9 to 1.9 times with one. Two is a round
# number above all of these, not an estimate: intervals are too wide where errors are independent.
OVERLAP = 2.0


class Difference(NamedTuple):
    """A difference of two scores."""

    value: float
    low: float
    high: float
    p: float


def accuracy_interval(
    right: Array, units: NDArray[np.intp], level: float = 0.95, overlap: float = OVERLAP
) -> tuple[float, float]:
    """Return Wilson's interval for a share, with as many graphs as those held out are worth.

    In cross-validation two graphs are worth one (``overlap``).

    Graphs of one group (scans of a person) are right or wrong together: the variance of the
    share between groups tells how many independent graphs would vary as much (the design effect of
    Korn and Graubard), at most all of them. Where all graphs are right, or all wrong, there is no
    such variance, and every group counts as one graph, which is the least it can be worth (but
    never more than the graphs without groups).

    Parameters
    ----------
    right : (m,)
        Share of the predictions of each graph that were right.
    units : (m,)
        Group of each graph, 0, 1, ...
    level
        Of confidence.
    overlap
        By how much the variance exceeds that of graphs that were never learnt from.
    """
    m, n_units = len(right), len(np.unique(units))
    p = float(np.mean(right))
    worth = m / overlap
    q = float(stats.norm.ppf(0.5 + level / 2))
    if n_units < m:
        q = float(stats.t.ppf(0.5 + level / 2, max(n_units - 1, 1)))
        worth = min(float(n_units), m / overlap)
        if 0 < p < 1 and n_units > 1:
            sums = np.bincount(units, right - p)
            variance = n_units / (n_units - 1) * float(sums @ sums) / m**2
            worth = m / overlap / max(1.0, variance * m / (p * (1 - p)))
    middle = (p + q**2 / (2 * worth)) / (1 + q**2 / worth)
    half = q / (1 + q**2 / worth) * np.sqrt(p * (1 - p) / worth + (q / (2 * worth)) ** 2)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def explained_interval(
    y: Array,
    squares: Array,
    units: NDArray[np.intp],
    level: float = 0.95,
    seed: int = 0,
    overlap: float = OVERLAP,
) -> tuple[float, float]:
    """Return a bootstrap interval for the explained variance; groups are drawn, not graphs.

    It is widened by sqrt(overlap) about the estimate; see :func:`accuracy_interval`.

    Parameters
    ----------
    y : (m,)
        Values.
    squares : (m,)
        Mean squared error of the predictions of each graph.
    units : (m,)
        Group of each graph, 0, 1, ...
    """
    n_units = int(units.max()) + 1
    counts, sums, squared, errors = (
        np.bincount(units, x, n_units)
        for x in (np.ones(len(y)), y - y.mean(), (y - y.mean()) ** 2, squares)
    )
    draws = np.random.default_rng(seed).multinomial(
        n_units, np.full(n_units, 1 / n_units), size=_DRAWS
    )
    n = draws @ counts
    variance = draws @ squared / n - (draws @ sums / n) ** 2
    enough = variance > 1e-12 * np.var(y)
    explained = 1.0 - (draws @ errors / n)[enough] / variance[enough]
    ends = np.quantile(explained, [0.5 - level / 2, 0.5 + level / 2])
    estimate = 1.0 - squares.mean() / np.var(y)
    low, high = estimate + np.sqrt(overlap) * (ends - estimate)
    return float(low), min(1.0, float(high))


def compare_folds(
    a: Array, b: Array, sizes: NDArray[np.intp], ratio: float, n_units: int, level: float = 0.95
) -> Difference:
    """Return the difference a - b of two scores, by Nadeau and Bengio's corrected t interval.

    Training sets of folds overlap, so that scores of folds vary less than those of independent
    samples would: the variance of their mean is taken as (1 / J + ratio) times that of J folds,
    ``ratio`` being that of graphs held out to graphs learnt from.

    Where the difference is the same in every fold, that variance is zero. Then the interval is that
    of a paired difference of shares among ``n_units`` (Agresti and Min), which is never empty.

    Parameters
    ----------
    a, b : (J,)
        Scores of two pipelines in the same folds.
    sizes : (J,)
        Graphs that each fold held out.
    """
    differences = np.asarray(a) - np.asarray(b)
    value = float(np.average(differences, weights=sizes))
    J = len(differences)
    s = float(np.std(differences, ddof=1))
    if s > 1e-12:
        se, freedom = s * float(np.sqrt(1.0 / J + ratio)), J - 1
    else:
        # Half a pair each way is added: 0 of 30 discordant pairs does not mean that there are none.
        pairs, freedom = n_units + 2, max(n_units - 1, 1)
        se = float(np.sqrt(abs(value) * n_units + 1 - (value * n_units) ** 2 / pairs)) / pairs
    q = float(stats.t.ppf(0.5 + level / 2, freedom))
    p = float(2 * stats.t.sf(abs(value) / se, freedom))
    return Difference(value, value - q * se, value + q * se, p)


def compare_crossed(folds: Array, units: Array, value: float, level: float = 0.95) -> Difference:
    """Return a difference of scores where each fold learns from other graphs and holds out all.

    What was learnt from, and what was held out, are two samples that are crossed: the variance of
    the mean is at most that of a mean over folds plus that of a mean over groups.

    Parameters
    ----------
    folds : (J,)
        Difference in each fold.
    units : (G,)
        Difference for each group of graphs that were held out.
    value
        The difference over all.
    """
    J, G = len(folds), len(units)
    variance = float(np.var(folds, ddof=1)) / J + float(np.var(units, ddof=1)) / G
    if variance < 1e-24:  # half a pair each way, as above
        variance = 1.0 / (G + 2) ** 2
    freedom, se = min(J, G) - 1, float(np.sqrt(variance))
    q = float(stats.t.ppf(0.5 + level / 2, freedom))
    p = float(2 * stats.t.sf(abs(value) / se, freedom))
    return Difference(value, value - q * se, value + q * se, p)


def holm(p: Array) -> Array:
    """Return Holm's p values of several questions, (k,)."""
    order = np.argsort(p)
    steps = (len(p) - np.arange(len(p))) * np.asarray(p)[order]
    found = np.empty(len(p))
    found[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return found
