"""What a solver may ask of the data, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Fit", "Graphs", "Progress", "Stage"]

Array: TypeAlias = NDArray[np.float64]


class Graphs(Protocol):
    """Symmetric graphs A_1, ..., A_m on n vertices, reached only through products with them.

    Each call is one pass: it reads every graph once.
    """

    @property
    def n_graphs(self) -> int:
        """Number of graphs, m."""
        ...

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        ...

    def multiply(self, v: Array) -> Array:
        """Return A_i v, (m, n)."""
        ...

    def sum_multiply(self, Y: Array) -> Array:
        """Return sum_i A_i y_i, (n,), for one vector a graph, ``Y`` (m, n)."""
        ...

    def quadratic_forms(self, H: Array) -> Array:
        """Return h_k^T A_i h_k, (m, d)."""
        ...

    def mean(self, weights: Array) -> Any:
        """Return the weighted mean, (n, n), as an array or a scipy sparse array."""
        ...

    def squared_norms(self) -> Array:
        """Return ||A_i||^2, (m,)."""
        ...

    def rounding(self) -> Array:
        """Return the squared norm that rounding alone may leave of each graph, (m,)."""
        ...


@dataclass(frozen=True)
class Stage:
    """How one component was found."""

    n_iter: int
    stop_reason: str  # "stationary", "max_iter", "precision" or "exhausted"
    stationarity: float  # ||sum_i w_i lam_i R_i h - theta h|| / theta on the stage's residuals
    gain: float  # theta = sum_i w_i (h^T R_i h)^2, what the component takes off the objective
    start: str  # which start won

    @property
    def converged(self) -> bool:
        """Whether the component is as good as the tolerance or the arithmetic allows."""
        return self.stop_reason != "max_iter"


@dataclass(frozen=True)
class Fit:
    """Components and loadings of a stack; the first k components are the fit with k."""

    H: Array  # (n, d), unit columns
    Lam: Array  # (m, d), least squares given H
    stages: tuple[Stage, ...]
    n_passes: int

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which components found something to fit, (d,)."""
        return np.array([stage.stop_reason != "exhausted" for stage in self.stages], dtype=bool)


# Called after each iteration with the component, the iteration and the stationarity.
Progress: TypeAlias = Callable[[int, int, float], None]
