"""The Erdos-Renyi model."""

# ruff: noqa: ARG002 - nothing here is random, so nothing asks for the generator or the purpose

from __future__ import annotations

import numpy as np

from eigengraphs.models.base import GraphModel, Latent
from eigengraphs.models.means import BlockMeans, Means
from eigengraphs.models.validation import Floats, number, probability, whole_number

__all__ = ["ErdosRenyi"]


class ErdosRenyi(GraphModel):
    """Every edge is there with the same probability, independently.

    A block model with one block (section 2).

    Parameters
    ----------
    n_vertices : int
        Number of vertices, n.
    p : float
        Probability of an edge, and of a loop where loops are asked.

    Examples
    --------
    >>> from eigengraphs.models import ErdosRenyi
    >>> model = ErdosRenyi(1000, 0.3)
    >>> model
    ErdosRenyi(n_vertices=1000, p=0.3)
    >>> stack = model.sample(2, random_state=0)
    >>> len(stack), stack.is_hollow
    (2, True)
    >>> model.to_mreg().loadings
    array([300.])
    """

    p: float

    def __init__(self, n_vertices: int, p: float) -> None:
        value = probability(np.array(number(p, "p")), "p")
        self._set(n_vertices=whole_number(n_vertices, "n_vertices"), p=float(value))

    def __repr__(self) -> str:
        return f"ErdosRenyi(n_vertices={self.n_vertices}, p={self.p:g})"

    def edge_probabilities(self) -> Floats:
        """Return the matrix of edge probabilities, shape (n_vertices, n_vertices).

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(2, 0.25).edge_probabilities().tolist()
        [[0.25, 0.25], [0.25, 0.25]]
        """
        return np.full((self.n_vertices, self.n_vertices), self.p)

    def _fixed_means(self, purpose: str) -> Means:
        return BlockMeans(np.array([[self.p]]), np.zeros(self.n_vertices, dtype=np.int64))

    def _draw_means(
        self, m: int, rng: np.random.Generator, redraw: bool
    ) -> tuple[list[tuple[Means, int]], Latent]:
        self._refuse_redraw(redraw, "an Erdos-Renyi graph has no labels or positions to draw")
        return [(self._fixed_means("sample"), m)], Latent()
