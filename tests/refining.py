"""Graphs to refine the components of, and what it takes to do so."""

from __future__ import annotations

from typing import Any

import numpy as np
from known_graphs import random_symmetric
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs import GraphStack
from eigengraphs.graphs.view import StackView
from eigengraphs.solvers.refine import Refined, refine
from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    PenalisedLoadings,
    SparseLoadings,
)
from eigengraphs.solvers.subspace import subspace

Array = NDArray[np.float64]

LARGE = 105  # vertices, beyond the shortcut
RULES = (
    FreeLoadings(),
    NonnegativeLoadings(),
    SparseLoadings(2),
    SparseLoadings(2, nonnegative=True),
    PenalisedLoadings(0.5),
)


def view_of(A: Any, hollow: bool = False) -> StackView:
    """Return graphs as a solver sees them."""
    stack = A if isinstance(A, GraphStack) else GraphStack(A)
    return StackView(stack, "hollow" if hollow else "observed")


def greedy(
    view: Any, d: int, hollow: bool = False, tol: float = 1e-8, weights: Any = None
) -> Array:
    """Return d components of a greedy search."""
    return subspace(
        view, d, weights=np.ones(view.n_graphs) if weights is None else weights, init="auto",
        n_init=1, tol=tol, max_iter=500, seed=np.random.SeedSequence(0), cache=True, hollow=hollow,
    ).H  # fmt: skip


def improve(view: Any, H: Array, rule: Any = None, **settings: Any) -> Refined:
    """Refine, under free loadings unless a rule is given."""
    defaults = {"weights": np.ones(view.n_graphs), "tol": 1e-7, "max_iter": 300, "cache": True}
    return refine(view, H, rule=rule or FreeLoadings(), **{**defaults, **settings})


def skewed(
    n: int, m: int, d: int, seed: int, *, noise: float = 0.0, hollow: bool = False
) -> tuple[Array, Array]:
    """Return graphs of components that are far from orthogonal, and the components."""
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    H /= linalg.norm(H, axis=0)
    A = np.einsum("sk,ik,tk->ist", H, rng.uniform(0.5, 3.0, (m, d)), H)
    A += noise * random_symmetric(m, n, seed + 1)
    return A * (1 - np.eye(n)) if hollow else A, H
