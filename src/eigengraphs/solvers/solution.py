"""What every solver gives back, and what can be done to it without the graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array", "Fit", "Progress", "Sides", "Stage", "Start", "Watcher", "column_signs",
    "first_components", "with_signs",
]  # fmt: skip

Array: TypeAlias = NDArray[np.float64]
Start: TypeAlias = Literal["auto", "svd", "random"]
Sides: TypeAlias = tuple[Array, ...]  # one array per side: undirected one, directed left and right


@dataclass(frozen=True)
class Stage:
    """How one component was found."""

    n_iter: int
    stop_reason: str  # "stationary", "precision", "stalled", "max_iter", "interrupted", "exhausted"
    # ||sum_i w_i lam_i R_i h - theta h|| / theta on the stage's residuals; for directed graphs the
    # root of the sum of squares of this, with g on the right, and of the same for g.
    stationarity: float
    gain: float  # theta = sum_i w_i (h^T R_i h)^2, what the component takes off the objective
    start: str  # which start won
    agreement: float = float("nan")  # share of the starts that ended where the winner did

    @property
    def converged(self) -> bool:
        """Whether the component is as good as the tolerance or the arithmetic allows."""
        return self.stop_reason not in ("stalled", "max_iter", "interrupted")


@dataclass(frozen=True)
class Fit:
    """Components of a stack and their forms; the first k components are the fit with k."""

    H: Array  # (n, d), unit columns
    Psi: Array  # (m, d) <A_i, h_k h_k^T>, or <A_i, h_k g_k^T>, over the entries that count
    stages: tuple[Stage, ...]
    n_passes: int
    blocks: tuple[tuple[int, int], ...] = ()  # components searched together: the first, how many
    interrupted: bool = False  # the user stopped the fit; there may be fewer components
    G: Array | None = None  # (n, d), unit columns: components are h_k g_k^T, of directed graphs

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which components found something to fit, (d,)."""
        return np.array([stage.stop_reason != "exhausted" for stage in self.stages], dtype=bool)


@dataclass(frozen=True)
class Progress:
    """Where a fit stands."""

    n_iter: int  # iterations of the component, or rounds of all
    component: int | None  # which is searched, from 0; None when all are at once
    stationarity: float  # relative gradient, the largest of the components that are searched
    n_converged: int  # components that are found
    n_passes: int | None = None  # reads of the graphs so far, where the solver counts them


Watcher: TypeAlias = Callable[[Progress], None]


def first_components(fit: Fit, k: int) -> Fit:
    """Return the fit with k components."""
    blocks = tuple(block for block in fit.blocks if block[0] < k)
    return replace(
        fit,
        H=fit.H[:, :k],
        Psi=fit.Psi[:, :k],
        stages=fit.stages[:k],
        blocks=blocks,
        G=None if fit.G is None else fit.G[:, :k],
    )


def with_signs(H: Array) -> Array:
    """Make the first of the largest entries of each column positive."""
    return H * column_signs(H)


def column_signs(X: Array) -> Array:
    """Return the sign of the first of the largest entries of each column, 1 or -1.

    Entries within a millionth of the largest count as largest, so that rounding does not decide
    between equals.
    """
    size = np.abs(X)
    first = np.argmax(size >= size.max(axis=0) * (1 - 1e-6), axis=0)
    return np.where(X[first, np.arange(X.shape[1])] < 0, -1.0, 1.0)
