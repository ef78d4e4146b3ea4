"""Distributions of loadings and positions, in all the ways in which they can be given."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.validation import Fixed, Floats, Ints, float_array, probability_vector

_EXPECTED = (
    "PointMasses(...), frozen scipy.stats distributions (uniform(value, 0) for a constant), or a "
    "function (rng, size) -> array of shape (size, n_components)"
)


class PointMasses(Fixed):
    """A distribution on finitely many vectors.

    Parameters
    ----------
    points : array_like, shape (n_points, n_components)
        The vectors.
    weights : array_like, shape (n_points,), optional
        Probabilities of the points, by default equal.

    Examples
    --------
    >>> from eigengraphs.models import PointMasses
    >>> PointMasses([[8.0, 1.0], [12.0, 0.0]], weights=[0.25, 0.75])
    PointMasses(n_points=2, n_components=2)
    """

    points: Floats
    weights: Floats

    def __init__(self, points: Any, weights: Any = None) -> None:
        values = float_array(points, "points", 2, "(n_points, n_components)")
        if weights is None:
            weights = np.full(len(values), 1 / len(values))
        self._set(points=values, weights=probability_vector(weights, "weights", len(values)))

    def __repr__(self) -> str:
        n_points, d = self.points.shape
        return f"PointMasses(n_points={n_points}, n_components={d})"


class RandomVectors:
    """A source of random vectors, in any of the ways in which it can be given.

    Parameters
    ----------
    source
        `PointMasses`; a frozen scipy distribution with vectors of the right length; a sequence
        of frozen univariate scipy distributions, one for each component; or a function that
        takes a Generator and a size and returns an array (size, n_components).
    name : str
        The parameter it came from, for errors.
    n_components : int or None
        Length that the vectors must have, if known; else only a draw may tell.
    """

    def __init__(self, source: Any, name: str, n_components: int | None = None) -> None:
        several = isinstance(source, Sequence) and not isinstance(source, str | bytes)
        source, found = (tuple(source), len(source)) if several else (source, None)
        if several and not source:
            raise InputError(f"{name} is empty, expected a distribution for each component")
        for k, part in enumerate(source if several else [source]):
            where, known = f"{name}[{k}]" if several else name, isinstance(part, PointMasses)
            function = callable(part) and not isinstance(part, type)
            if not _is_frozen(part, where) and (several or not (known or function)):
                what = f"an object of type {type(part).__name__}"
                what = f"the class {part.__name__}" if isinstance(part, type) else what
                raise InputError(
                    f"{where} is {reprlib.repr(part) if several else what}, expected {_EXPECTED}"
                )
        if isinstance(source, PointMasses):
            found = source.points.shape[1]
        if None not in (n_components, found) and found != n_components:
            raise InputError(
                f"{name} must have {n_components} components, got {found}; give as many"
            )
        self.source, self.name, self.n_components = source, name, n_components or found

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Floats, Ints | None]:
        """Return ``size`` vectors, (size, n_components), and which point mass each one is."""
        source = self.source
        if isinstance(source, PointMasses):
            which = rng.choice(len(source.weights), size=size, p=source.weights).astype(np.int64)
            return source.points[which], which
        try:
            values = self._values(rng, size)
        except TypeError as error:
            raise InputError(
                f"{self.name} could not be drawn from: {self!r} raised TypeError: {error}; "
                f"expected {_EXPECTED}"
            ) from error
        array = float_array(values, f"a draw from {self.name}", 2, f"({size}, n_components)")
        expected = self.n_components or array.shape[1]
        if array.shape != (size, expected):
            raise InputError(
                f"a draw from {self.name} must have shape ({size}, {expected}), got {array.shape}"
            )
        return array, None

    def _values(self, rng: np.random.Generator, size: int) -> Any:
        if isinstance(self.source, tuple):
            columns = [_rvs(part, rng, size) for part in self.source]
            for k, column in enumerate(columns):
                if column.shape != (size, 1):
                    raise InputError(
                        f"a draw from {self.name}[{k}] must have shape ({size},), got "
                        f"{column.shape}; each distribution in a list gives one component"
                    )
            return np.hstack(columns)
        if _is_frozen(self.source, self.name):
            return _rvs(self.source, rng, size)
        return self.source(rng, size)

    def __repr__(self) -> str:
        if isinstance(self.source, PointMasses):
            return f"{len(self.source.weights)} point masses"
        if isinstance(self.source, tuple):
            return f"{len(self.source)} distributions"
        return getattr(self.source, "__name__", type(self.source).__name__)


def is_distribution(value: Any) -> bool:
    """Tell a distribution from an array of fixed values."""
    if isinstance(value, PointMasses) or hasattr(value, "rvs") or callable(value):
        return True
    return isinstance(value, Sequence) and any(hasattr(part, "rvs") for part in value)


def _is_frozen(value: Any, name: str) -> bool:
    """Tell whether scipy's way of drawing is there; a class has it too, but cannot draw.

    Refuse scipy.stats.beta, which has no distribution before its parameters are given.
    """
    if not callable(getattr(value, "rvs", None)) or isinstance(value, type):
        return False
    if getattr(value, "numargs", 0):
        label = getattr(value, "name", type(value).__name__)
        raise InputError(
            f"{name} is the distribution {label} without its parameters, expected a frozen one; "
            f"give them, as in scipy.stats.{label}(...)"
        )
    return True


def _rvs(part: Any, rng: np.random.Generator, size: int) -> Floats:
    """Return a draw from a scipy distribution, (size, n_components); scipy drops axes of one."""
    values = np.asarray(part.rvs(size=size, random_state=rng))
    if size == 1:
        return values.reshape(1, -1)
    return values[:, None] if values.ndim == 1 else values
