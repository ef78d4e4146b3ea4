"""Where the loadings of one graph come from: a law for each component, or points with weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigengraphs.models.validation import Floats

__all__ = ["LAWS", "ComponentLaw", "IndependentLoadings", "Loadings", "PointLoadings"]

#: Names of laws, and what their two numbers are.
LAWS = {"uniform": "low, high", "normal": "mean, sd", "gamma": "mean, sd"}


@dataclass(frozen=True)
class ComponentLaw:
    """Of the loading on one component: ``kind`` is "constant" or a name of `LAWS`."""

    kind: str
    a: float
    b: float = 0.0

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Return ``size`` numbers; a constant takes none from the stream."""
        if self.kind == "uniform":
            return rng.uniform(self.a, self.b, size)
        if self.kind == "normal":
            return rng.normal(self.a, self.b, size)
        if self.kind == "gamma" and self.b > 0:
            return rng.gamma((self.a / self.b) ** 2, self.b**2 / self.a, size)
        return np.full(size, self.a)


class Loadings:
    """A source of loadings; a model takes it as its ``loadings``."""

    n_components: int

    def __call__(self, rng: np.random.Generator, size: int) -> Floats:
        """Return ``size`` vectors, (size, n_components)."""
        raise NotImplementedError


class IndependentLoadings(Loadings):
    """Each component has a law of its own."""

    def __init__(self, laws: tuple[ComponentLaw, ...]) -> None:
        self.laws = laws
        self.n_components = len(laws)

    def __call__(self, rng: np.random.Generator, size: int) -> Floats:
        """See `Loadings`."""
        return np.stack([law.draw(rng, size) for law in self.laws], axis=1)


class PointLoadings(Loadings):
    """One of several vectors, (n_points, d), with given probabilities."""

    def __init__(self, points: Floats, weights: Floats) -> None:
        self.points = points
        self.n_components = points.shape[1]
        self._upto = np.cumsum(weights)[:-1]

    def __call__(self, rng: np.random.Generator, size: int) -> Floats:
        """See `Loadings`."""
        return self.points[np.searchsorted(self._upto, rng.random(size), side="right")]
