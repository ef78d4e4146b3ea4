"""How an edge is drawn around its mean: Bernoulli, Poisson or Gaussian.

Edges of the first two are made of Poisson events, so that pairs without one cost nothing, and their
likelihood is that of the empty graph and a term for each edge.
"""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlogy

from eigengraphs.errors import InputError
from eigengraphs.models.validation import Floats, number


@dataclass(frozen=True)
class Bernoulli:
    """The edge is there with probability ``mean``."""

    name = "bernoulli"
    lower, upper = 0.0, 1.0  # limits of the mean
    needs = "a Bernoulli model needs 0 and 1: binarize the graphs"

    def draw(self, rng: np.random.Generator, mean: Floats, shape: tuple[int, ...]) -> Floats:
        """Draw an array of ``shape``, to which ``mean`` broadcasts."""
        return (rng.random(shape) < mean).astype(np.float64)

    def presence(self, mean: Floats) -> Floats:
        """Return the probability that the edge is not zero."""
        return mean

    def rate(self, mean: Floats) -> Floats:
        """Return the rate of events; one or more happen with probability 1 - exp(-rate) = mean."""
        with np.errstate(divide="ignore"):
            return -np.log1p(-mean)

    def from_events(self, counts: Floats) -> Floats:
        """Return the edge weight that a number of events stands for."""
        return np.minimum(counts, 1.0)

    def allows(self, weight: Floats) -> npt.NDArray[np.bool_]:
        """Tell which weights, all of them not zero, an edge can have."""
        return np.asarray(weight == 1)

    def log_absent(self, mean: Floats) -> Floats:
        """Return log-probabilities of no edge; 0 where the edge is certain."""
        return np.log1p(-np.where(mean < 1, mean, 0.0))

    def log_odds(self, weight: Floats, mean: Floats) -> Floats:  # noqa: ARG002 - it is 1
        """Return the logarithms of P(weight) / P(no edge); of P(weight) where it is certain."""
        p = np.where(mean < 1, mean, 0.5)
        with np.errstate(divide="ignore"):
            return np.log(p) - np.log1p(-p)


@dataclass(frozen=True)
class Poisson:
    """The weight is a Poisson count with the given mean; see `Bernoulli` for the methods."""

    name = "poisson"
    lower, upper = 0.0, math.inf
    needs = "law='poisson' needs counts 0, 1, 2, ..."

    def draw(self, rng: np.random.Generator, mean: Floats, shape: tuple[int, ...]) -> Floats:
        """Draw counts."""
        return rng.poisson(mean, shape).astype(np.float64)

    def presence(self, mean: Floats) -> Floats:
        """Return the probability of a count above 0."""
        return -np.expm1(-mean)

    def rate(self, mean: Floats) -> Floats:
        """Return the mean itself."""
        return mean

    def from_events(self, counts: Floats) -> Floats:
        """Return the counts."""
        return counts

    def allows(self, weight: Floats) -> npt.NDArray[np.bool_]:
        """Tell which weights are counts."""
        return np.asarray((weight >= 0) & (weight == np.floor(weight)))

    def log_absent(self, mean: Floats) -> Floats:
        """Return log-probabilities of a count of 0."""
        return -mean

    def log_odds(self, weight: Floats, mean: Floats) -> Floats:
        """Return the logarithms of P(weight) / P(0)."""
        return np.asarray(xlogy(weight, mean) - gammaln(weight + 1))


@dataclass(frozen=True)
class Gaussian:
    """The weight is the mean plus Gaussian noise; every pair is an edge."""

    noise_scale: float
    name = "gaussian"
    lower, upper = -math.inf, math.inf

    def draw(self, rng: np.random.Generator, mean: Floats, shape: tuple[int, ...]) -> Floats:
        """Draw weights."""
        return mean + self.noise_scale * rng.standard_normal(shape)

    def presence(self, mean: Floats) -> Floats:
        """Return ones."""
        return np.ones_like(mean)


EventLaw: TypeAlias = Bernoulli | Poisson
EdgeLaw: TypeAlias = EventLaw | Gaussian
BERNOULLI = Bernoulli()


def edge_law(name: Any, noise_scale: Any) -> EdgeLaw:
    """Return the law called ``name``; only the Gaussian one takes a ``noise_scale``."""
    if not isinstance(name, str) or name not in ("bernoulli", "poisson", "gaussian"):
        got = reprlib.repr(name)
        raise InputError(f"law must be 'bernoulli', 'poisson' or 'gaussian', got {got}; choose one")
    if name != "gaussian":
        if noise_scale is not None:
            raise InputError(f"noise_scale belongs to law='gaussian'; leave it out for {name!r}")
        return BERNOULLI if name == "bernoulli" else Poisson()
    if noise_scale is None:
        raise InputError("law='gaussian' needs noise_scale, the standard deviation of an edge")
    if number(noise_scale, "noise_scale") < 0:
        raise InputError(f"noise_scale must be a finite number >= 0, got {noise_scale!r}")
    return Gaussian(float(noise_scale))
