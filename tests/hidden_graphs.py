"""Fits of graphs with hidden entries, for the tests of their solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from written_out import Counted

from eigengraphs import GraphStack
from eigengraphs.operators.observed import ObservedGraphs
from eigengraphs.solvers.full_space import full_space
from eigengraphs.solvers.metric import AllEntries, OffDiagonal
from eigengraphs.solvers.rules import (
    FreeLoadings,
    Seen,
    active_gram,
    component_gram,
    objective_of,
    stage_loadings,
)
from eigengraphs.solvers.solution import Fit

Array = NDArray[np.float64]
COMMON = {"init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 500}


def solve(graphs: Any, d: int, rule: Any = "observed", **settings: Any) -> Fit:
    """Fit a stack, or an operator of one."""
    given = isinstance(graphs, ObservedGraphs | Counted)
    seen = graphs if given else ObservedGraphs(graphs, rule)
    defaults = {
        **COMMON, "weights": np.ones(seen.n_graphs), "seed": np.random.SeedSequence(0),
        "metric": OffDiagonal() if seen.hollow else AllEntries(), "rule": FreeLoadings(),
    }  # fmt: skip
    return full_space(seen, d, **{**defaults, **settings})


def loadings(stack: GraphStack, H: Array, rule: Any = "observed") -> Array:
    """Return the loadings of components, (m, d)."""
    graphs = ObservedGraphs(stack, rule)
    seen = Seen(component_gram(H, hollow=graphs.hollow), graphs.observed())
    return FreeLoadings().solve(graphs.grams(H), graphs.forms(H), seen=seen)


def path(graphs: ObservedGraphs, fit: Fit, weights: Array) -> Array:
    """Return the objective with 0, 1, ..., d components."""
    seen = Seen(active_gram(fit.H, fit.active, hollow=graphs.hollow), graphs.observed())
    Gammas = graphs.grams(fit.H) * np.outer(fit.active, fit.active)
    norms = graphs.squared_norms()
    return np.array([
        weights @ (norms + objective_of(Gammas[:, :k, :k], fit.Psi[:, :k], Lam))
        for k, Lam in enumerate(stage_loadings(FreeLoadings(), Gammas, fit.Psi, seen))
    ])  # fmt: skip


def pairs_at_random(m: int, n: int, share: float, seed: int = 0) -> NDArray[np.bool_]:
    """Return pairs of vertices to hide, (m, n, n)."""
    return np.triu(np.random.default_rng(seed).random((m, n, n)) < share)


def absent(m: int, n: int, share: float, seed: int = 0) -> NDArray[np.bool_]:
    """Return the entries of vertices that are absent from some graphs, (m, n, n)."""
    gone = np.random.default_rng(seed).random((m, n)) < share
    return gone[:, :, None] | gone[:, None, :]


HIDDEN = {
    "entries": lambda m, n: pairs_at_random(m, n, 0.2),
    "vertices": lambda m, n: absent(m, n, 0.2),
    "both": lambda m, n: pairs_at_random(m, n, 0.2) | absent(m, n, 0.2),
}
