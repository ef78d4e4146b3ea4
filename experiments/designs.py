"""The paper's two simulation designs, and words that several experiments share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg

__all__ = ["DIAGONALS", "SECTION_5_1", "SECTION_5_2", "draw_5_1", "draw_5_2"]

#: The two treatments that every simulation reports: the paper's letter, and what users have.
DIAGONALS = {
    "observed": "graphs with self-loops, which the loss counts (the paper's model)",
    "filled": 'graphs without self-loops, diagonal="auto" (this library\'s default)',
}


SECTION_5_1 = eg.models.paper.SECTION_5_1
SECTION_5_2 = eg.models.paper.SECTION_5_2


def draw_5_1(
    m: int, rng: np.random.Generator, *, loops: bool
) -> tuple[eg.GraphStack, NDArray[np.float64]]:
    """Draw m graphs with 20 vertices and their loadings, (m, 3): uniform on 8-16, 0-2, 0-1."""
    low, high = zip(*eg.models.paper.LOADINGS_5_1, strict=True)
    Lam = rng.uniform(low, high, size=(m, 3))
    model = eg.models.MultipleRandomEigenGraphs(SECTION_5_1, Lam)
    return model.sample(random_state=rng, loops=loops), Lam


def draw_5_2(
    m: int, rng: np.random.Generator, *, loops: bool
) -> tuple[eg.GraphStack, NDArray[np.intp]]:
    """Draw m graphs with 100 vertices and their classes, (m,): 1 or 2 with equal probability."""
    classes = rng.integers(1, 3, size=m)
    loadings = eg.models.paper.LOADINGS_5_2
    Lam = np.where(classes[:, None] == 1, loadings[1], loadings[2])
    model = eg.models.MultipleRandomEigenGraphs(SECTION_5_2, Lam)
    return model.sample(random_state=rng, loops=loops), classes
