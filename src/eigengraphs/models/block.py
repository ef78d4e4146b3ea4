"""The stochastic block model."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.base import GraphModel, Latent
from eigengraphs.models.means import BlockMeans, Means
from eigengraphs.models.validation import (
    TOLERANCE,
    Floats,
    Ints,
    block_labels,
    probability,
    probability_vector,
    refuse_asymmetry,
    square_matrix,
    whole_number,
)

__all__ = ["StochasticBlockModel"]


class StochasticBlockModel(GraphModel):
    """The probability of an edge depends on the blocks of its two vertices.

    Of section 2 of the paper, SBM(pi, B) with ``prior`` and SBM(tau, B) with ``labels``.

    Parameters
    ----------
    B : array_like, shape (n_blocks, n_blocks)
        Edge probabilities between blocks. An asymmetric matrix serves directed graphs only.
    labels : array_like of int, shape (n_vertices,), optional
        Block of each vertex, 0 to n_blocks - 1. Give this or ``prior``.
    prior : array_like, shape (n_blocks,), optional
        Probabilities of the blocks; the labels are then drawn when sampling.
    n_vertices : int, optional
        Needed with ``prior``.

    Examples
    --------
    >>> from eigengraphs.models import StochasticBlockModel
    >>> model = StochasticBlockModel([[0.6, 0.1], [0.1, 0.4]], prior=[0.5, 0.5], n_vertices=100)
    >>> model
    StochasticBlockModel(n_vertices=100, n_blocks=2, labels drawn from prior=[0.5, 0.5])
    >>> stack, latent = model.sample(3, random_state=0, return_latent=True)
    >>> fixed = StochasticBlockModel(model.B, labels=latent.labels)
    >>> fixed.to_mreg().n_components
    2
    """

    B: Floats
    labels: Ints | None
    prior: Floats | None
    _symmetric: bool

    def __init__(
        self, B: Any, labels: Any = None, *, prior: Any = None, n_vertices: int | None = None
    ) -> None:
        matrix = square_matrix(B, "B", "n_blocks")
        n_blocks = len(matrix)
        if (labels is None) == (prior is None):
            raise InputError(
                "give either labels=, the block of each vertex, or prior=, the probabilities of "
                "the blocks, and not both"
            )
        blocks = weights = None
        if labels is not None:
            blocks = block_labels(labels, n_blocks)
            n = len(blocks)
            if n_vertices is not None and whole_number(n_vertices, "n_vertices") != n:
                raise InputError(
                    f"n_vertices is {n_vertices}, but labels has {n} entries; leave n_vertices out"
                )
            unused = np.bincount(blocks, minlength=n_blocks) < 2
        else:
            weights = probability_vector(prior, "prior", n_blocks)
            if n_vertices is None:
                raise InputError("prior= needs n_vertices=, the number of vertices to draw")
            n = whole_number(n_vertices, "n_vertices")
            unused = np.zeros(n_blocks, dtype=bool)
        # A block of one vertex uses its entry of the diagonal for loops only.
        pairs = matrix.copy()
        pairs[unused, unused] = 0.0
        checked = np.array(probability(pairs, "B"))
        checked[unused, unused] = matrix[unused, unused]
        checked.setflags(write=False)
        symmetric = bool((np.abs(checked - checked.T) <= TOLERANCE).all())
        self._set(n_vertices=n, B=checked, labels=blocks, prior=weights, _symmetric=symmetric)

    @property
    def n_blocks(self) -> int:
        """Number of blocks, K."""
        return len(self.B)

    def __repr__(self) -> str:
        if self.prior is None:
            labels = "fixed labels"
        else:
            weights = ", ".join(f"{x:.3g}" for x in self.prior[:6])
            labels = f"labels drawn from prior=[{weights}{', ...' if self.n_blocks > 6 else ''}]"
        asymmetric = "" if self._symmetric else ", asymmetric"
        return (
            f"StochasticBlockModel(n_vertices={self.n_vertices}, n_blocks={self.n_blocks}, "
            f"{labels}{asymmetric})"
        )

    def edge_probabilities(self) -> Floats:
        """Return the matrix of edge probabilities, shape (n_vertices, n_vertices).

        Examples
        --------
        >>> from eigengraphs.models import StochasticBlockModel
        >>> StochasticBlockModel([[0.6, 0.1], [0.1, 0.4]], [0, 1]).edge_probabilities().tolist()
        [[0.6, 0.1], [0.1, 0.4]]
        """
        labels = self._fixed_labels("edge_probabilities")
        return self.B[np.ix_(labels, labels)]

    def _fixed_labels(self, purpose: str, error: type[InputError] = InputError) -> Ints:
        if self.labels is None:
            raise error(
                f"{purpose} needs fixed labels, and this model draws them from a prior; pass "
                f"labels=, for example those of sample(..., return_latent=True)"
            )
        return self.labels

    def _fixed_means(self, purpose: str) -> Means:
        return BlockMeans(self.B, self._fixed_labels(purpose))

    def _draw_means(
        self, m: int, rng: np.random.Generator, redraw: bool
    ) -> tuple[list[tuple[Means, int]], Latent]:
        if self.labels is not None:
            self._refuse_redraw(redraw, "the labels are fixed")
            return [(BlockMeans(self.B, self.labels), m)], Latent(labels=self.labels)
        shape = (m, self.n_vertices) if redraw else (1, self.n_vertices)
        drawn = rng.choice(self.n_blocks, size=shape, p=self.prior).astype(np.int64)
        groups: list[tuple[Means, int]] = [
            (BlockMeans(self.B, labels), 1 if redraw else m) for labels in drawn
        ]
        return groups, Latent(labels=drawn if redraw else drawn[0])

    def _require_symmetric(self, purpose: str) -> None:
        if not self._symmetric:
            refuse_asymmetry(self.B, "B", purpose)
