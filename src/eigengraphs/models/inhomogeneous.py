"""The inhomogeneous Erdos-Renyi model."""

# ruff: noqa: ARG002 - nothing here is random, so nothing asks for the generator or the purpose

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs.models.base import GraphModel, Latent
from eigengraphs.models.means import DenseMeans, Means
from eigengraphs.models.validation import (
    TOLERANCE,
    Floats,
    probability,
    refuse_asymmetry,
    square_matrix,
)

__all__ = ["InhomogeneousErdosRenyi"]


class InhomogeneousErdosRenyi(GraphModel):
    """Every edge has a probability of its own.

    Parameters
    ----------
    P : array_like, shape (n_vertices, n_vertices)
        Edge probabilities. The diagonal holds the probabilities of loops and is checked only
        where loops are asked. An asymmetric matrix serves directed graphs only.

    Examples
    --------
    >>> from eigengraphs.models import InhomogeneousErdosRenyi
    >>> model = InhomogeneousErdosRenyi([[0, 1, 0.5], [1, 0, 0], [0.5, 0, 0]])
    >>> model
    InhomogeneousErdosRenyi(n_vertices=3, mean probability 0.5)
    >>> model.sample(4, random_state=0).dense[:, 0, 1]
    array([1., 1., 1., 1.])
    """

    P: Floats

    def __init__(self, P: Any) -> None:
        matrix = square_matrix(P, "P", "n_vertices")
        matrix = probability(matrix, "P", ignore_diagonal=True)
        symmetric = bool((np.abs(matrix - matrix.T) <= TOLERANCE).all())
        self._set(n_vertices=len(matrix), P=matrix, _symmetric=symmetric)

    _symmetric: bool

    def __repr__(self) -> str:
        n = self.n_vertices
        mean = float(DenseMeans(self.P).total()[0]) / max(1, n * (n - 1))
        asymmetric = "" if self._symmetric else ", asymmetric"
        return f"InhomogeneousErdosRenyi(n_vertices={n}, mean probability {mean:.3g}{asymmetric})"

    def edge_probabilities(self) -> Floats:
        """Return the matrix of edge probabilities, shape (n_vertices, n_vertices).

        Examples
        --------
        >>> from eigengraphs.models import InhomogeneousErdosRenyi
        >>> InhomogeneousErdosRenyi([[0, 0.3], [0.3, 0]]).edge_probabilities().tolist()
        [[0.0, 0.3], [0.3, 0.0]]
        """
        return self.P.copy()

    def _fixed_means(self, purpose: str) -> Means:
        return DenseMeans(self.P)

    def _draw_means(
        self, m: int, rng: np.random.Generator, redraw: bool
    ) -> tuple[list[tuple[Means, int]], Latent]:
        self._refuse_redraw(redraw, "the edge probabilities are fixed")
        return [(DenseMeans(self.P), m)], Latent()

    def _require_symmetric(self, purpose: str) -> None:
        if not self._symmetric:
            refuse_asymmetry(self.P, "P", purpose)
