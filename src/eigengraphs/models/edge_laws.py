"""How an edge is drawn around its mean: Bernoulli, Poisson or Gaussian."""

from __future__ import annotations

import math
import reprlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.validation import Floats, number

__all__ = ["BERNOULLI", "Bernoulli", "EdgeLaw", "EventLaw", "Gaussian", "Poisson", "edge_law"]


class EdgeLaw(ABC):
    """The distribution of one edge given its mean."""

    name: ClassVar[str]
    # Means outside [lower, upper] have no such distribution.
    lower: ClassVar[float]
    upper: ClassVar[float]

    @abstractmethod
    def draw(self, rng: np.random.Generator, mean: Floats, shape: tuple[int, ...]) -> Floats:
        """Draw an array of ``shape``, to which ``mean`` broadcasts."""

    @abstractmethod
    def presence(self, mean: Floats) -> Floats:
        """Return the probability that the edge is not zero."""


class EventLaw(EdgeLaw):
    """A law whose edges are made of Poisson events, so that pairs without one cost nothing."""

    @abstractmethod
    def rate(self, mean: Floats) -> Floats:
        """Return the rate of the events that make up the edge."""

    @abstractmethod
    def from_events(self, counts: Floats) -> Floats:
        """Return the edge weight that a number of events stands for."""


class Bernoulli(EventLaw):
    """The edge is there with probability ``mean``."""

    name = "bernoulli"
    lower = 0.0
    upper = 1.0

    def draw(self, rng: np.random.Generator, mean: Floats, shape: tuple[int, ...]) -> Floats:
        """See `EdgeLaw.draw`."""
        return (rng.random(shape) < mean).astype(np.float64)

    def presence(self, mean: Floats) -> Floats:
        """See `EdgeLaw.presence`."""
        return mean

    def rate(self, mean: Floats) -> Floats:
        """See `EventLaw.rate`."""
        # One event or more happens with probability 1 - exp(-rate) = mean.
        with np.errstate(divide="ignore"):
            return -np.log1p(-mean)

    def from_events(self, counts: Floats) -> Floats:
        """See `EventLaw.from_events`."""
        return np.minimum(counts, 1.0)


class Poisson(EventLaw):
    """The weight is a Poisson count with the given mean."""

    name = "poisson"
    lower = 0.0
    upper = math.inf

    def draw(self, rng: np.random.Generator, mean: Floats, shape: tuple[int, ...]) -> Floats:
        """See `EdgeLaw.draw`."""
        return rng.poisson(mean, shape).astype(np.float64)

    def presence(self, mean: Floats) -> Floats:
        """See `EdgeLaw.presence`."""
        return -np.expm1(-mean)

    def rate(self, mean: Floats) -> Floats:
        """See `EventLaw.rate`."""
        return mean

    def from_events(self, counts: Floats) -> Floats:
        """See `EventLaw.from_events`."""
        return counts


@dataclass(frozen=True)
class Gaussian(EdgeLaw):
    """The weight is the mean plus Gaussian noise; every pair is an edge."""

    noise_scale: float
    name = "gaussian"
    lower = -math.inf
    upper = math.inf

    def draw(self, rng: np.random.Generator, mean: Floats, shape: tuple[int, ...]) -> Floats:
        """See `EdgeLaw.draw`."""
        return mean + self.noise_scale * rng.standard_normal(shape)

    def presence(self, mean: Floats) -> Floats:
        """See `EdgeLaw.presence`."""
        return np.ones_like(mean)


BERNOULLI = Bernoulli()


def edge_law(name: Any, noise_scale: Any) -> EdgeLaw:
    """Return the law called ``name``; only the Gaussian one takes a ``noise_scale``."""
    if not isinstance(name, str) or name not in ("bernoulli", "poisson", "gaussian"):
        raise InputError(
            f"law must be 'bernoulli', 'poisson' or 'gaussian', got {reprlib.repr(name)}"
        )
    if name != "gaussian":
        if noise_scale is not None:
            raise InputError(f"noise_scale belongs to law='gaussian'; leave it out for {name!r}")
        return BERNOULLI if name == "bernoulli" else Poisson()
    if noise_scale is None:
        raise InputError("law='gaussian' needs noise_scale, the standard deviation of an edge")
    if isinstance(noise_scale, bool) or number(noise_scale, "noise_scale") < 0:
        raise InputError(f"noise_scale must be a finite number >= 0, got {noise_scale!r}")
    return Gaussian(float(noise_scale))
