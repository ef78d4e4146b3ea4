"""Steps of section 5.2: two classes of graphs, told apart by nine ways to compare graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

import eigengraphs as eg
from eigengraphs import baselines
from experiments.designs import draw_5_2

__all__ = ["LATER", "METHODS", "SIZES", "accuracy", "classify", "embed"]

Array = NDArray[np.float64]
SIZES = (4, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200)
#: The paper's six, and its abbreviations.
METHODS = {
    "JE": "joint embedding",
    "ASE": "adjacency spectral embedding",
    "LE": "Laplacian eigenmap",
    "GS": "graph statistics",
    "GSS": "graph spectral statistics",
    "PCA": "PCA by SVD of vectorised graphs",
}
#: Methods that are not in the paper; the paper's PCA does not speak of centring.
LATER = {
    "PCA-c": "PCA, centred",
    "MASE": "multiple ASE (COSIE)",
    "OMNI": "omnibus embedding",
    "UASE": "unfolded ASE",
}

#: Features or positions of a graph depend on that graph alone, so one computation serves all m.
_EACH: dict[str, Callable[[str], Any]] = {
    "ASE": lambda rule: baselines.AdjacencySpectralEmbedding(2, diagonal=rule),
    "LE": lambda _: baselines.LaplacianEigenmap(2),
    "GSS": lambda _: baselines.SpectralStatistics(),
}
_TOGETHER: dict[str, Callable[[str], Any]] = {
    "PCA": lambda rule: baselines.VectorizedPCA(2, center=False, diagonal=rule),
    "PCA-c": lambda rule: baselines.VectorizedPCA(2, diagonal=rule),
    "MASE": lambda rule: baselines.MultipleASE(2, diagonal=rule),
    "OMNI": lambda rule: baselines.Omnibus(2, diagonal=rule),
    "UASE": lambda rule: baselines.UnfoldedASE(2, diagonal=rule),
}


def classify(
    rng: np.random.Generator, *, repetition: int, diagonal: str, sizes: list[int]
) -> dict[str, list[float]]:
    """Return the share of graphs whose nearest neighbour has their class, by method and size.

    The first m graphs of one sample are embedded without their classes; then each is left out
    of the neighbours of the others, as in the paper. Without self-loops, every method that looks
    at the diagonal gets it filled, as joint embedding does.
    """
    del repetition  # the random stream is its own
    graphs, classes = draw_5_2(max(sizes), rng, loops=diagonal == "observed")
    found: dict[str, list[float]] = {name: [] for name in [*METHODS, *LATER]}
    for name, method in _EACH.items():
        D = method(diagonal).fit(graphs).pairwise_distances()
        found[name] = [accuracy(D[:m, :m], classes[:m]) for m in sizes]
    statistics = baselines.GraphStatistics(standardize=False).fit_transform(graphs)
    for m in sizes:
        some = graphs[:m]
        found["JE"].append(accuracy(pairwise_distances(_loadings(some, diagonal)), classes[:m]))
        # Statistics have different units: 1-NN needs them on one scale, that of these m graphs.
        scale = statistics[:m].std(axis=0)
        scaled = statistics[:m] / np.where(scale > 0, scale, 1.0)
        found["GS"].append(accuracy(pairwise_distances(scaled), classes[:m]))
        for name, method in _TOGETHER.items():
            D = method(diagonal).fit(some).pairwise_distances()
            found[name].append(accuracy(D, classes[:m]))
    return found


def embed(rng: np.random.Generator, *, diagonal: str) -> dict[str, Any]:
    """Embed 200 graphs; return their loadings and classes."""
    graphs, classes = draw_5_2(200, rng, loops=diagonal == "observed")
    Lam = _loadings(graphs, diagonal)
    return {"loadings": Lam.tolist(), "classes": classes.tolist()}


def accuracy(D: Array, classes: NDArray[np.intp]) -> float:
    """Return the share of graphs whose nearest other graph has their class; D is (m, m)."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    return float((classes[D.argmin(axis=1)] == classes).mean())


def _loadings(graphs: eg.GraphStack, diagonal: str) -> Array:
    treat = "observed" if diagonal == "observed" else "auto"
    Lam: Array = eg.JointEmbedding(2, diagonal=treat, random_state=0).fit(graphs).loadings_
    return Lam
