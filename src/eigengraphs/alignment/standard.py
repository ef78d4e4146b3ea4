"""Weights made comparable before graphs are matched."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["standardise"]


def standardise(graph: Any) -> NDArray[np.float64]:
    """Return one graph (n, n) as an array, centred and of Frobenius norm 1.

    Weights off the diagonal and loops are centred apart. Then <R, B> of two graphs is the
    correlation of their weights and lies in [-1, 1]. For permutations the mean does not matter;
    between them, where the search goes, the absent diagonal of graphs without loops would count
    for as many absent edges. A graph whose weights are all the same has nothing to match by and
    becomes zero.
    """
    A: NDArray[Any] = graph if isinstance(graph, np.ndarray) else graph.toarray()
    largest = float(np.abs(A).max(initial=0.0))
    if largest == 0:
        return np.zeros(A.shape)
    A = A / np.float64(largest)  # squares of 1e300 would leave the range
    n = len(A)
    diagonal = np.diag(A).copy()
    if n > 1:
        A -= (A.sum() - diagonal.sum()) / (n * (n - 1))
    np.fill_diagonal(A, diagonal - diagonal.mean())
    norm = float(np.linalg.norm(A))
    return A / norm if norm > 1e-12 * n else np.zeros(A.shape)
