"""The elbow rule: where the objective flattens out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eigengraphs.dimension.dimension_choice import Evidence
from eigengraphs.solvers.solution import Array

if TYPE_CHECKING:
    from eigengraphs.dimension.choose_components import Job

_LOOKS_AT = 8  # components at least: it takes gains of noise to see where they begin

# All of logarithms of gains.
_ALIKE = 0.03  # least standard deviation: differences of three percent do not count
_APART = 0.2  # least distance of two groups
_FALL = 0.2  # largest decrease of noise from one component to the next
_FEWEST = 4  # gains that can be two groups on a slope, with one left to estimate the spread
_NOTHING = 1e-12  # of the squared norm: a smaller gain is rounding


def by_elbow(job: Job) -> Evidence:
    """Find where the objective of one fit flattens out."""
    d = min(job.possible, max(job.max_components, _LOOKS_AT))
    job.tell(f"elbow: {d} components on all graphs")
    fit = job.fit(job.stack, d, job.weights, job.seed)
    choice = min(elbow(fit.objective_path_), job.max_components)
    return Evidence(choice, np.asarray(fit.explained_ratio_))


def elbow(path: Array) -> int:
    """Return the number of components after which the objective flattens out, 0 to K.

    Zhu and Ghodsi's split, on the logarithms of the gains, with two changes. Both groups decrease
    by a common gentle slope, as gains of noise do. And the split is made again on the
    gains after it as long as there is one: otherwise a first component ten times as strong as the
    second would hide it. There is a split where two groups beat one by BIC as for change points
    (Zhang and Siegmund, 2007).

    Two groups are never none or all. Without any split the answer is 0, or all if what
    they leave is less than what the last of them gained.

    Parameters
    ----------
    path : (K + 1,)
        Objective with 0, 1, ..., K components.
    """
    if path[0] <= 0:
        return 0
    gains = np.maximum(-np.diff(path), _NOTHING * path[0])
    values = np.log(gains)
    first = 0
    while len(values) - first >= _FEWEST:
        q = _split(values[first:])
        if q == 0:
            break
        first += q
    return len(gains) if first == 0 and path[-1] < gains[-1] else first


def profile_likelihood(values: Array, fall: float = 0.0) -> Array:
    """Return the log likelihood of groups after the first 0, 1, ..., K - 1 values, (K,).

    Both groups are normal with means of their own and one variance (Zhu and Ghodsi, 2006), and
    decrease by a common slope between 0 and ``fall`` per value. The first entry is that of one
    group.
    """
    return np.array([_two_groups(values, q, fall)[0] for q in range(len(values))])


def _split(values: Array) -> int:
    """Return how many values the first group has, or 0 if there are no two groups."""
    profile = profile_likelihood(values, _FALL)
    q = int(profile.argmax())
    if profile[q] - max(profile[0], _straight(values)) <= 1.5 * np.log(len(values)):
        return 0
    return q if _two_groups(values, q, _FALL)[1] > _APART else 0


def _straight(values: Array) -> float:
    """Return the log likelihood of gains on a straight line, as they are at their end."""
    gains, t = np.exp(values - values.max()), np.arange(len(values))
    line = np.polyval(np.polyfit(t, gains, 1), t)
    residuals = values - values.max() - np.log(np.maximum(line, gains.min() / 2))
    return _log_likelihood(float((residuals**2).sum()), len(values))


def _two_groups(values: Array, q: int, fall: float) -> tuple[float, float]:
    """Return the log likelihood of two groups and their distance, at the best slope."""
    t = np.arange(len(values), dtype=np.float64)
    groups = [slice(q), slice(q, None)] if q else [slice(None)]
    t_within, v_within = (np.concatenate([x[g] - x[g].mean() for g in groups]) for x in (t, values))
    slope = float(t_within @ v_within) / max(float(t_within @ t_within), 1e-300)
    slope = min(max(slope, -fall), 0.0)
    means = [(values - slope * t)[group].mean() for group in groups]
    squares = float(((v_within - slope * t_within) ** 2).sum())
    return _log_likelihood(squares, len(values)), float(means[0] - means[-1])


def _log_likelihood(sum_of_squares: float, K: int) -> float:
    variance = max(sum_of_squares / K, _ALIKE**2)
    return -K / 2 * (float(np.log(2 * np.pi * variance)) + 1)
