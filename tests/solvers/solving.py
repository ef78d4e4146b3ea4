"""Every geometry, metric and rule, and the greedy problem with all matrices written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from known_graphs import column_errors, random_directed, random_symmetric
from numpy.typing import NDArray
from written_out import norm_without_diagonal, outer_products

from eigengraphs import GraphStack
from eigengraphs.operators.treated import TreatedGraphs
from eigengraphs.solvers.metric import AllEntries, OffDiagonal
from eigengraphs.solvers.options import SolverOptions
from eigengraphs.solvers.refine import Refined, refine
from eigengraphs.solvers.rules import (
    FreeLoadings,
    LoadingRule,
    NonnegativeLoadings,
    PenalizedLoadings,
    SparseLoadings,
)
from eigengraphs.solvers.solution import Fit
from eigengraphs.solvers.subspace import subspace

Array = NDArray[np.float64]

FREE = FreeLoadings()
RULES: dict[str, LoadingRule] = {
    "free": FREE,
    "nonnegative": NonnegativeLoadings(),
    "sparse": SparseLoadings(2),
    "penalized": PenalizedLoadings(0.4),
    "nonnegative penalized": PenalizedLoadings(0.4, nonnegative=True),
    "nonnegative sparse": SparseLoadings(2, nonnegative=True),
}
# A growing basis on few vertices, which it never fills, and small blocks.
GENERAL = SolverOptions(whole=0, block=4, sketch=8, width=24, narrow=24)
LARGE = 36


def metric_of(hollow: bool) -> AllEntries | OffDiagonal:
    return OffDiagonal() if hollow else AllEntries()


def operator_of(
    graphs: Any, *, directed: bool = False, diagonal: Any = "observed", mean: Any = None
) -> TreatedGraphs:
    """Return what solvers multiply with, of an array (m, n, n) or a stack."""
    stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs)
    return TreatedGraphs(stack, diagonal, mean, directed=directed)


def solve(
    graphs: Any, d: int, *, directed: bool = False, hollow: bool = False, **settings: Any
) -> Fit:
    """Run the solver on an array, a stack or an operator."""
    if isinstance(graphs, np.ndarray | GraphStack):
        diagonal = "hollow" if hollow else "observed"
        graphs = operator_of(graphs, directed=directed, diagonal=diagonal)
    defaults = {
        "metric": metric_of(hollow), "rule": FREE, "weights": np.ones(graphs.n_graphs),
        "init": "auto", "n_init": 1, "tol": 1e-8, "max_iter": 200,
        "seed": np.random.SeedSequence(0),
    }  # fmt: skip
    return subspace(graphs, d, **{**defaults, **settings})


def drawn(m: int, n: int, seed: int, *, directed: bool, hollow: bool = False) -> Array:
    """Draw graphs with normal weights, (m, n, n)."""
    return (random_directed if directed else random_symmetric)(m, n, seed, hollow=hollow)


def planted(
    m: int, n: int, d: int, *, directed: bool, hollow: bool = False, noise: float = 0.3,
    seed: int = 0,
) -> tuple[Array, tuple[Array, ...]]:  # fmt: skip
    """Make graphs of d components of clearly different strength, and noise; return the sides, too.

    Loadings are orthogonal over the graphs, so that each component is a maximum of its own.
    """
    rng = np.random.default_rng(seed)
    H, G = (np.linalg.qr(rng.standard_normal((n, d)))[0] for _ in range(2))
    G = G if directed else H
    Lam = np.linalg.qr(rng.standard_normal((m, d)))[0] * 2.0 ** -np.arange(d) * 16 * np.sqrt(m)
    A = np.einsum("sk,ik,tk->ist", H, Lam, G)
    A += noise * drawn(m, n, seed + 1, directed=directed)
    return A * (1 - np.eye(n)) if hollow else A, (H, G) if directed else (H,)


def sides_of(fit: Fit) -> tuple[Array, ...]:
    return (fit.H,) if fit.G is None else (fit.H, fit.G)


def apart(fit: Fit, other: Any) -> Array:
    """Return how far the sides are from others (of a fit, or given), up to signs, one by one."""
    sides = sides_of(other) if isinstance(other, Fit) else other
    found = [column_errors(mine, side) for mine, side in zip(sides_of(fit), sides, strict=True)]
    return np.max(found, axis=0)


def units(X: Array) -> Array:
    return X / np.sqrt((X**2).sum(axis=0))


def reasons(fit: Fit) -> list[str]:
    return [stage.stop_reason for stage in fit.stages]


def gains(fit: Fit) -> Array:
    return np.array([stage.gain for stage in fit.stages])


# ---------------------------------------------------------------- written out


class Written:
    """f of one component on residuals R (m, n, n), at a point: its sides one behind the other."""

    def __init__(
        self, R: Array, weights: Array, rule: LoadingRule, costs: Array | None, n_sides: int,
        hollow: bool,
    ) -> None:  # fmt: skip
        self.R, self._weights, self._rule, self._costs = R, weights, rule, costs
        self._n_sides, self._hollow = n_sides, hollow
        self.c = 2 if n_sides == 1 else 1

    def unit(self, x: Array) -> Array:
        return units(x.reshape(self._n_sides, -1).T).T.ravel()

    def _parts(self, x: Array) -> tuple[Array, Array, Array]:
        sides = self.unit(x).reshape(self._n_sides, -1)
        h, g = sides[0], sides[-1]
        t = np.einsum("s,ist,t->i", h, self.R, g)
        tau = t / np.sqrt(norm_without_diagonal(h, g) if self._hollow else 1.0)
        loading, gain, _ = self._rule.alone(tau)
        costs = 0.0 if self._costs is None else self._costs
        return tau, np.where(gain > costs, loading, 0.0), np.maximum(gain - costs, 0.0)

    def __call__(self, x: Array) -> float:
        return float(self._weights @ self._parts(x)[2])

    def theta(self, x: Array) -> float:
        tau, loading, _ = self._parts(x)
        return float(self._weights @ (tau * loading))

    def stationarity(self, x: Array, step: float = 1e-5) -> float:
        """Return the relative gradient, by central differences."""
        gradient = [(self(x + step * e) - self(x - step * e)) / (2 * step) for e in np.eye(len(x))]
        return float(np.linalg.norm(gradient)) / (2 * self.c) / self.theta(x)


def written_out(
    A: Array, sides: tuple[Array, ...], weights: Array, rule: LoadingRule, *, hollow: bool = False
) -> Iterator[tuple[Written, Array]]:
    """Yield f of each component on what the earlier ones left, and the component as a point."""
    H, G = sides[0], sides[-1]
    n = A.shape[1]
    E = outer_products(H, G, hollow=hollow).reshape(H.shape[1], n * n)
    B = (A * (1 - np.eye(n)) if hollow else A).reshape(len(A), n * n)
    Gamma, Psi, Lam = E @ E.T, B @ E.T, np.zeros((len(A), 0))
    for k in range(H.shape[1]):
        x = np.concatenate([side[:, k] for side in sides])
        for known, costs in rule.beside(Gamma[:k, :k], Psi[:, :k], Lam):
            R = (B - known @ E[:k]).reshape(A.shape)
            f = Written(R, weights, rule, costs, len(sides), hollow)
            if f(x) > 1e-12 * float(weights @ (B**2).sum(axis=1)):
                break
        yield f, x
        Lam = rule.solve(Gamma[: k + 1, : k + 1], Psi[:, : k + 1], Lam)


def is_maximum(f: Callable[[Array], float], x: Array, seed: int = 0, step: float = 1e-3) -> bool:
    """Tell whether no point nearby is higher, in random directions."""
    directions = np.random.default_rng(seed).standard_normal((30, len(x)))
    nearby = [f(x + step * v / np.linalg.norm(v)) for v in directions]
    return bool(max(nearby) <= f(x) * (1 + 1e-9))


# ---------------------------------------------------------------- all components together


def improve(
    graphs: Any, sides: tuple[Array, ...], rule: LoadingRule = FREE, hollow: bool = False,
    **settings: Any,
) -> Refined:  # fmt: skip
    """Refine components, which need not be of norm 1."""
    defaults = {"weights": np.ones(graphs.n_graphs), "tol": 1e-7, "max_iter": 300}
    if "max_condition" in settings:
        settings["options"] = SolverOptions(max_condition=settings.pop("max_condition"))
    lengths = (np.linalg.norm(side, axis=0) for side in sides)
    sides = tuple(
        side / np.where(np.abs(length - 1) > 1e-12, length, 1.0)
        for side, length in zip(sides, lengths, strict=True)
    )
    return refine(graphs, sides, metric=metric_of(hollow), rule=rule, **{**defaults, **settings})


def skewed(
    n: int, m: int, d: int, seed: int, *, noise: float = 0.0, hollow: bool = False,
    directed: bool = False,
) -> tuple[Array, tuple[Array, ...]]:  # fmt: skip
    """Return graphs of components that are far from orthogonal, and the components."""
    rng = np.random.default_rng(seed)
    sides = tuple(
        units(rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1)))
        for _ in range(1 + directed)
    )
    A = np.einsum("sk,ik,tk->ist", sides[0], rng.uniform(0.5, 3.0, (m, d)), sides[-1])
    A += noise * drawn(m, n, seed + 1, directed=directed)
    return A * (1 - np.eye(n)) if hollow else A, sides


# ---------------------------------------------------------------- operators that stop


class Interrupting:
    """A watcher, or an operator, that is interrupted in the j-th call (of one of its methods)."""

    def __init__(self, at: int, graphs: Any = None, name: str = "") -> None:
        self._at, self._graphs, self._name, self._calls = at, graphs, name, 0

    def __call__(self, *_: Any) -> None:
        self._calls += 1
        if self._calls == self._at:
            raise KeyboardInterrupt

    def __getattr__(self, name: str) -> Any:
        if name == self._name:
            self()
        return getattr(self._graphs, name)
