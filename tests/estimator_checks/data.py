"""Stacks of graphs for the checks, and what every check does with an estimator first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

__all__ = ["METHODS", "CheckData", "fresh", "outputs", "planted_graphs", "require"]

# Methods that take graphs and return something about each of them.
METHODS = (
    "transform", "residuals", "predict", "predict_proba", "decision_function", "score_samples",
)  # fmt: skip
_HIDDEN = 0.05  # share of the pairs that is missing where an estimator takes missing entries


def planted_graphs(n_graphs: int, n_vertices: int, directed: bool, seed: int) -> NDArray[Any]:
    """Return graphs with components of clearly different strength, and noise, (m, n, n).

    What there is to find is found whatever the order of the graphs, and however they are rounded.
    """
    rng = np.random.default_rng(seed)
    d = min(3, n_vertices)
    H, G = (np.linalg.qr(rng.standard_normal((n_vertices, d)))[0] for _ in range(2))
    G = G if directed else H
    Lam = rng.uniform(0.5, 1.5, size=(n_graphs, d)) * 9.0 * 3.0 ** -np.arange(d)
    A = np.einsum("sk,ik,tk->ist", H, Lam, G)
    noise = 0.1 * rng.standard_normal(A.shape)
    return np.asarray(A + (noise if directed else noise + noise.transpose(0, 2, 1)))


@dataclass(frozen=True)
class CheckData:
    """Where the checks get their graphs from.

    Parameters
    ----------
    make
        Function of the number of graphs, the number of vertices, whether they are directed, and a
        seed, that returns graphs (m, n, n) which the estimator takes.
    """

    make: Callable[[int, int, bool, int], NDArray[Any]] = planted_graphs

    def graphs(
        self, estimator: Any, m: int = 10, n: int = 6, seed: int = 0, *, complete: bool = False
    ) -> NDArray[Any]:
        """Return graphs (m, n, n) that suit the tags of an estimator.

        ``complete`` leaves no entry missing even where the estimator would take that.
        """
        directed = bool(estimator.get_params(deep=False).get("directed", False))
        A = np.array(self.make(m, n, directed, seed), dtype=np.float64)
        tags = get_tags(estimator)
        if tags.input_tags.positive_only:
            A = np.abs(A)
        if tags.input_tags.allow_nan and not complete:
            rng = np.random.default_rng(seed + 1)
            hidden = np.triu(rng.random(A.shape) < _HIDDEN, 1)
            A[hidden | hidden.transpose(0, 2, 1)] = np.nan
        return A

    def labels(self, m: int) -> NDArray[Any]:
        """Return labels of two classes, (m,)."""
        return np.arange(m) % 2

    def fitted(self, estimator: Any, A: Any = None, **arguments: Any) -> Any:
        """Return a copy of the estimator that is fitted to graphs, by default to its own."""
        A = self.graphs(estimator) if A is None else A
        return fresh(estimator).fit(A, self.labels(len(A)), **arguments)


def fresh(estimator: Any) -> Any:
    """Return a copy that is not fitted, with a fixed seed if it has one."""
    copy = clone(estimator)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=0)
    return copy


def outputs(fit: Any, A: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the name of each method that takes graphs, and what it returns for these."""
    for method in METHODS:
        if hasattr(fit, method):
            yield method, np.asarray(getattr(fit, method)(A))


def as_sparse(A: NDArray[Any], make: Any = sparse.csr_array) -> list[Any]:
    """Return graphs as a list of sparse ones."""
    return [make(graph) for graph in A]


def require(condition: Any, message: str) -> None:
    """Raise an AssertionError with the message unless the condition holds, under ``-O`` too."""
    if not condition:
        raise AssertionError(message)
