"""Results of repetitions: arrays with an axis for them in front, means, standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator


def gathered(results: Sequence[Any]) -> Any:
    """Return results of repetitions, all of one form, as arrays with an axis for them in front."""
    if isinstance(results[0], Mapping):
        return {key: gathered([one[key] for one in results]) for key in results[0]}
    return np.array(results)


def error_of(values: Any, axis: int = 0) -> Any:
    """Return the standard error of the mean over an axis."""
    x = np.asarray(values, dtype=float)
    return x.std(axis=axis, ddof=1) / np.sqrt(x.shape[axis])


def mean_and_error(values: Array) -> tuple[float, float]:
    """Return the mean and its standard error, as two cells of a table."""
    return float(values.mean()), float(error_of(values))


def measured(values: object, digits: int = 3) -> str:
    """Return the mean and, in parentheses as the paper prints it, its standard error.

    ``digits`` after the point, or as many more as show two digits of the error.
    """
    x = np.asarray(values, dtype=float)
    if x.size < 2:
        return f"{x.mean():.{digits}f}"
    error = float(error_of(x))
    if error > 0:
        digits = max(digits, 1 - int(np.floor(np.log10(error))))
    return f"{x.mean():.{digits}f} ({error:.{digits}f})"
