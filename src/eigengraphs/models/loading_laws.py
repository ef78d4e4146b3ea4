"""Distributions of loadings and positions, in all the ways in which they can be given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.validation import Floats, Ints, float_array, probability_vector

__all__ = ["PointMasses", "RandomVectors", "is_distribution", "random_vectors"]


class PointMasses:
    """A distribution on finitely many vectors.

    Parameters
    ----------
    points : array_like, shape (n_points, n_components)
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
        masses = probability_vector(weights, "weights", len(values))
        self.__dict__.update(points=values, weights=masses)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"PointMasses cannot be changed; make a new one instead of .{name} =")

    def __repr__(self) -> str:
        n_points, d = self.points.shape
        return f"PointMasses(n_points={n_points}, n_components={d})"


class RandomVectors:
    """A source of random vectors, whatever it was made of.

    Parameters
    ----------
    source
        See `random_vectors`.
    n_components : int or None
        Their length, or None where only a draw can tell.
    name : str
        The parameter they came from, for errors.
    """

    def __init__(self, source: Any, n_components: int | None, name: str) -> None:
        self.source = source
        self.n_components = n_components
        self.name = name

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Floats, Ints | None]:
        """Return ``size`` vectors, (size, n_components), and which point mass each one is."""
        source = self.source
        if isinstance(source, PointMasses):
            which = rng.choice(len(source.weights), size=size, p=source.weights).astype(np.int64)
            return source.points[which], which
        values: Any
        if isinstance(source, tuple):
            values = np.stack([part.rvs(size=size, random_state=rng) for part in source], axis=1)
        elif hasattr(source, "rvs"):
            # scipy drops the axes of length one.
            values = np.asarray(source.rvs(size=size, random_state=rng)).reshape(size, -1)
        else:
            values = source(rng, size)
        array = float_array(values, f"a draw from {self.name}", 2, f"({size}, n_components)")
        expected = self.n_components or array.shape[1]
        if array.shape != (size, expected):
            raise InputError(
                f"a draw from {self.name} must have shape ({size}, {expected}), got {array.shape}"
            )
        return array, None

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


def random_vectors(value: Any, name: str, n_components: int | None) -> RandomVectors:
    """Read a distribution of vectors.

    Parameters
    ----------
    value
        `PointMasses`; a frozen scipy distribution with vectors of the right length; a sequence
        of frozen univariate scipy distributions, one for each component; or a function that
        takes a Generator and a size and returns an array (size, n_components).
    name : str
        What it is called in errors.
    n_components : int or None
        Length that the vectors must have, if known.
    """
    source: PointMasses | tuple[Any, ...] | Callable[..., Any] = value
    found: int | None = None
    if isinstance(value, PointMasses):
        found = value.points.shape[1]
    elif isinstance(value, Sequence):
        lacking = [k for k, part in enumerate(value) if not hasattr(part, "rvs")]
        if lacking:
            raise InputError(
                f"{name}[{lacking[0]}] is {value[lacking[0]]!r}, expected a frozen scipy.stats "
                f"distribution like the others; for a constant use scipy.stats.uniform(value, 0)"
            )
        source, found = tuple(value), len(value)
    if n_components is not None and found is not None and found != n_components:
        raise InputError(f"{name} must have {n_components} components, got {found}")
    return RandomVectors(source, n_components or found, name)
