"""Graphs to refine the components of, and what it takes to do so."""

from __future__ import annotations

from typing import Any

import numpy as np
from known_graphs import random_symmetric
from numpy.typing import NDArray
from scipy import linalg

from eigengraphs import GraphStack
from eigengraphs.operators.treated import TreatedGraphs
from eigengraphs.solvers.metric import AllEntries, OffDiagonal
from eigengraphs.solvers.options import SolverOptions
from eigengraphs.solvers.refine import Refined, refine
from eigengraphs.solvers.rules import (
    FreeLoadings,
    NonnegativeLoadings,
    PenalizedLoadings,
    SparseLoadings,
)
from eigengraphs.solvers.subspace import subspace

Array = NDArray[np.float64]
Sides = tuple[Array, ...]

LARGE = 105  # vertices, beyond the shortcut
RULES = (
    FreeLoadings(),
    NonnegativeLoadings(),
    SparseLoadings(2),
    SparseLoadings(2, nonnegative=True),
    PenalizedLoadings(0.5),
    PenalizedLoadings(0.5, nonnegative=True),
)


def operator_of(A: Any, diagonal: Any = "observed", directed: bool = False) -> TreatedGraphs:
    """Return graphs as a solver sees them; ``diagonal`` is "observed", "filled" or "hollow"."""
    stack = A if isinstance(A, GraphStack) else GraphStack(A)
    return TreatedGraphs(stack, diagonal, directed=directed)


def dense(graphs: TreatedGraphs) -> Array:
    """Return the matrices that a solver sees, (m, n, n)."""
    return graphs.written_out()


def metric_of(hollow: bool) -> AllEntries | OffDiagonal:
    """Return how entries count."""
    return OffDiagonal() if hollow else AllEntries()


def greedy(
    graphs: TreatedGraphs,
    d: int,
    hollow: bool = False,
    tol: float = 1e-8,
    weights: Any = None,
    rule: Any = None,
) -> Sides:
    """Return d components of a greedy search."""
    fit = subspace(
        graphs, d, metric=metric_of(hollow), rule=rule or FreeLoadings(),
        weights=np.ones(graphs.n_graphs) if weights is None else weights, init="auto", n_init=1,
        tol=tol, max_iter=500, seed=np.random.SeedSequence(0),
    )  # fmt: skip
    return (fit.H,) if fit.G is None else (fit.H, fit.G)


def improve(
    graphs: Any, sides: Sides, rule: Any = None, hollow: bool = False, **settings: Any
) -> Refined:
    """Refine, under free loadings unless a rule is given."""
    defaults = {"weights": np.ones(graphs.n_graphs), "tol": 1e-7, "max_iter": 300}
    if "max_condition" in settings:
        settings["options"] = SolverOptions(max_condition=settings.pop("max_condition"))
    lengths = (linalg.norm(side, axis=0) for side in sides)
    sides = tuple(
        side / np.where(np.abs(length - 1) > 1e-12, length, 1.0)
        for side, length in zip(sides, lengths, strict=True)
    )
    return refine(
        graphs, sides, metric=metric_of(hollow), rule=rule or FreeLoadings(),
        **{**defaults, **settings},
    )  # fmt: skip


def skewed(
    n: int,
    m: int,
    d: int,
    seed: int,
    *,
    noise: float = 0.0,
    hollow: bool = False,
    directed: bool = False,
) -> tuple[Array, Sides]:
    """Return graphs of components that are far from orthogonal, and the components."""
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(1 + directed):
        H = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
        sides.append(H / linalg.norm(H, axis=0))
    A = np.einsum("sk,ik,tk->ist", sides[0], rng.uniform(0.5, 3.0, (m, d)), sides[-1])
    if directed:
        A += noise * np.random.default_rng(seed + 1).standard_normal((m, n, n))
    else:
        A += noise * random_symmetric(m, n, seed + 1)
    return A * (1 - np.eye(n)) if hollow else A, tuple(sides)
