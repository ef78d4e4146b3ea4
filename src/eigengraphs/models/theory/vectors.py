"""Vectors as the population theory takes them, and a sum over them that keeps its digits."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigengraphs.errors import InputError
from eigengraphs.models.validation import float_array

__all__ = ["ROUNDING", "Array", "sum_of_others", "unit"]

Array: TypeAlias = NDArray[np.float64]

ROUNDING = 1e-12  # relative room for sums in floating point


def unit(vector: ArrayLike, name: str, n: int | None = None) -> Array:
    """Return a float64 copy of a vector of norm 1, shape (n,), freed from rounding."""
    v = float_array(vector, name, 1, "(n,)")
    if v.size < 2 or (n is not None and v.size != n):
        expected = "at least 2 entries" if n is None else f"{n} entries, as many as h1 has"
        raise InputError(f"{name} must be a vector of {expected}; got shape {v.shape}")
    norm = float(np.linalg.norm(v))
    if not abs(norm - 1) <= 1e-6:
        raise InputError(f"{name} must have norm 1; it has {norm:.6g}: divide by it")
    return v / norm


def sum_of_others(y: Array) -> Array:
    """Return sum_{t != s} y_t for every s; subtracting y_s from the sum would cancel digits."""
    before, after = np.zeros_like(y), np.zeros_like(y)
    before[1:] = np.cumsum(y[:-1])
    after[:-1] = np.cumsum(y[:0:-1])[::-1]
    return before + after
