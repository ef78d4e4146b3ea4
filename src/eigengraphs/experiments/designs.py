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


def _signs(period: int) -> NDArray[np.float64]:
    return np.where(np.arange(20) // period % 2 == 0, 1.0, -1.0)


#: h_1, h_2, h_3 of section 5.1, (20, 3).
SECTION_5_1 = np.stack([np.ones(20), _signs(1), _signs(2)], axis=1) / np.sqrt(20)
#: h_1, h_2 of section 5.2, (100, 2).
SECTION_5_2 = np.stack([np.full(100, 0.1), np.repeat([-0.1, 0.1], 50)], axis=1)


def draw_5_1(
    m: int, rng: np.random.Generator, *, loops: bool
) -> tuple[eg.GraphStack, NDArray[np.float64]]:
    """Draw m graphs with 20 vertices and their loadings, (m, 3): uniform on 8-16, 0-2, 0-1."""
    Lam = rng.uniform([8.0, 0.0, 0.0], [16.0, 2.0, 1.0], size=(m, 3))
    model = eg.models.MultipleRandomEigenGraphs(SECTION_5_1, Lam)
    return model.sample(random_state=rng, loops=loops), Lam


def draw_5_2(
    m: int, rng: np.random.Generator, *, loops: bool
) -> tuple[eg.GraphStack, NDArray[np.intp]]:
    """Draw m graphs with 100 vertices and their classes, (m,): 1 or 2 with equal probability."""
    classes = rng.integers(1, 3, size=m)
    Lam = np.where(classes[:, None] == 1, [25.0, 5.0], [22.5, 2.5])
    model = eg.models.MultipleRandomEigenGraphs(SECTION_5_2, Lam)
    return model.sample(random_state=rng, loops=loops), classes
