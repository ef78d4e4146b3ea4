"""Accuracies of Figure 6 by number of dimensions, and what dimensions cost in parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.hnu1_classify import N_VERTICES

__all__ = ["Curves", "Results", "Setting", "first_dimensions", "parameters", "ratios"]

Array = NDArray[np.float64]


class Setting(NamedTuple):
    """What is compared; the values of a task of `hnu1_classify.classify`."""

    scans: int
    diagonal: str = "auto"
    centring: str = "all"
    weights: str = "log1p"
    kept: float = 1.0


class Curves(NamedTuple):
    """Accuracies of one setting, (folds, dimensions), by method; of 1-NN on graphs, (folds,)."""

    by_method: dict[str, Array]
    reference: Array
    not_converged: int = 0  # joint embeddings with a component short of the tolerance, over folds


Results = dict[Setting, Curves]


def parameters(method: str, d: Any, scans: int, *, symmetric: bool = True) -> Any:
    """Return the number of parameters of d components and the loadings of the training graphs."""
    n, m = N_VERTICES, 30 * scans
    if method != "PCA":
        return d * (n + m)
    return d * ((n * (n + 1) // 2 if symmetric else n * n) + m)


def first_dimensions(curves: Curves, method: str, target: float) -> Array:
    """Return the smallest d that reach ``target``, (folds,); nan in folds where none does."""
    reached = curves.by_method[method] >= target
    return np.where(reached.any(axis=1), reached.argmax(axis=1) + 1.0, np.nan)


def ratios(curves: Curves, scans: int, target: float, *, symmetric: bool = True) -> Array:
    """Return PCA's over JE's parameters at the smallest d that reach ``target``, (folds,).

    nan in folds where one of them does not reach it.
    """
    pca, joint = (
        parameters(method, first_dimensions(curves, method, target), scans, symmetric=symmetric)
        for method in ("PCA", "JE")
    )
    return np.asarray(pca / joint, dtype=float)
