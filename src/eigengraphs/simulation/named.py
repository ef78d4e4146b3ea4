"""Designs that have a name; each is a recipe as a file would hold it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models import paper

__all__ = ["DESIGNS", "SIZED", "named_recipe"]

MREG = "multiple_random_eigen_graphs"


def _section_5_1() -> dict[str, Any]:
    loadings = [{"uniform": list(limits)} for limits in paper.LOADINGS_5_1]
    return {"model": MREG, "positions": paper.SECTION_5_1, "loadings": loadings}


def _section_5_2() -> dict[str, Any]:
    classes = [{"name": str(name), "loadings": list(lam)} for name, lam in
               paper.LOADINGS_5_2.items()]  # fmt: skip
    return {"model": MREG, "positions": paper.SECTION_5_2, "classes": classes}


def _weighted(vertices: int = 70, mean_degree: float = 140.0) -> dict[str, Any]:
    """Return counts: all vertices in their measure, two overlapping parts that differ by class."""
    if vertices < 6:
        raise InputError(f"weighted: vertices must be at least 6, got {vertices}; pass more")
    n = vertices
    # Vertices of very different degree, in no order; the same for every seed.
    measure = 0.4 + 1.2 * (0.6180339887498949 * np.arange(1, n + 1) % 1.0)
    s = np.arange(n)
    inside = np.stack([s >= 0, s < 0.55 * n, s >= 0.45 * n], axis=1)
    H = np.where(inside, measure[:, None], 0.0)
    H /= np.linalg.norm(H, axis=0)
    shares = {"a": np.array([1.0, 0.7, 0.3]), "b": np.array([1.0, 0.3, 0.7])}
    # Sum of weights at a vertex, on average over vertices and classes, is mean_degree.
    reach = (H.sum(axis=0) ** 2 - (H**2).sum(axis=0)) / n
    scale = mean_degree / np.mean([share @ reach for share in shares.values()])
    classes = [{"name": name, "loadings": _gammas(scale * share)} for name, share in shares.items()]
    return {"model": MREG, "positions": H, "law": "poisson", "classes": classes}


def _gammas(means: Any) -> list[dict[str, list[float]]]:
    return [{"gamma": [float(mean), 0.15 * float(mean)]} for mean in means]


def _sparse(vertices: int = 10_000, mean_degree: float = 10.0) -> dict[str, Any]:
    """Return four blocks of equal size; classes differ in which halves hang together."""
    if vertices < 4 * max(1.0, mean_degree):
        raise InputError(
            f"sparse: vertices must be at least 4 and 4 times the mean degree, got {vertices} for "
            f"a mean degree of {mean_degree:g}; pass more vertices, or a smaller degree"
        )
    sizes = [(vertices + k) // 4 for k in range(4)]
    patterns = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]
    shares = {"a": (0.40, 0.14, 0.27), "b": (0.14, 0.40, 0.27)}
    # The three together stay below the least first loading: no mean is negative. On average each
    # is above what noise hides in ten graphs of mean degree 10, 2 sqrt(10 / 10) or a share of 0.2.
    classes = [
        {"name": name,
         "loadings": [{"uniform": [0.9 * mean_degree, 1.1 * mean_degree]},
                      *({"uniform": [0.9 * x * mean_degree, 1.1 * x * mean_degree]}
                        for x in share)]}
        for name, share in shares.items()
    ]  # fmt: skip
    return {"model": MREG, "sizes": sizes, "patterns": patterns, "classes": classes, "graphs": 10}


#: Recipes by name.
DESIGNS: dict[str, Callable[..., dict[str, Any]]] = {
    "section5.1": _section_5_1,
    "section5.2": _section_5_2,
    "weighted": _weighted,
    "sparse": _sparse,
}
#: Those whose number of vertices and mean degree can be chosen.
SIZED = ("weighted", "sparse")


def named_recipe(name: str, vertices: int | None, mean_degree: float | None) -> dict[str, Any]:
    """Return the recipe of a design, of a size that is asked or its own."""
    sizes: dict[str, Any] = {"vertices": vertices, "mean_degree": mean_degree}
    given = {key: value for key, value in sizes.items() if value is not None}
    if given and name not in SIZED:
        raise InputError(
            f"{name}: {next(iter(given))} belongs to the designs {' and '.join(SIZED)}; the size "
            f"of {name} is fixed, leave it out"
        )
    if mean_degree is not None and not 0 < mean_degree < np.inf:
        raise InputError(f"{name}: mean_degree must be a number above 0, got {mean_degree}")
    return DESIGNS[name](**given)
