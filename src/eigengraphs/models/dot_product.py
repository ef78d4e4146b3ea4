"""The random dot product graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.base import GraphModel, Latent
from eigengraphs.models.laws import BERNOULLI
from eigengraphs.models.loading_laws import RandomVectors, random_vectors
from eigengraphs.models.low_rank import LowRankMeans
from eigengraphs.models.means import Means
from eigengraphs.models.validation import Floats, Ints, float_array, whole_number

__all__ = ["RandomDotProductGraph"]


class RandomDotProductGraph(GraphModel):
    """The probability of an edge is the inner product of the positions of its two vertices.

    Of section 2 of the paper: RDPG(X) with ``positions``, RDPG(F) with ``distribution``.

    Parameters
    ----------
    positions : array_like, shape (n_vertices, n_components), optional
        Latent positions. Give this or ``distribution``.
    distribution : optional
        Distribution of a vertex' position: a function ``(rng, size) -> (size, n_components)``, a
        list of frozen ``scipy.stats`` distributions, a frozen multivariate one, or `PointMasses`.
    n_vertices : int, optional
        Needed with ``distribution``.

    Notes
    -----
    Up to 10,000 vertices the inner products of all pairs are checked to lie in [0, 1]. Above,
    those that can exceed 1 by the Cauchy-Schwarz inequality are, and the others where sampling
    or a likelihood comes across them.

    Examples
    --------
    >>> from scipy import stats
    >>> from eigengraphs.models import RandomDotProductGraph
    >>> model = RandomDotProductGraph(distribution=[stats.uniform(0.2, 0.5)], n_vertices=50)
    >>> model
    RandomDotProductGraph(n_vertices=50, n_components=1, positions drawn)
    >>> stack, latent = model.sample(2, random_state=0, return_latent=True)
    >>> RandomDotProductGraph(latent.positions).edge_probabilities().shape
    (50, 50)
    """

    positions: Floats | None
    distribution: Any
    _vectors: RandomVectors | None

    def __init__(
        self, positions: Any = None, *, distribution: Any = None, n_vertices: int | None = None
    ) -> None:
        if (positions is None) == (distribution is None):
            raise InputError(
                "give either positions=, an array (n_vertices, n_components), or distribution=, "
                "from which positions are drawn, and not both"
            )
        X = vectors = None
        if positions is not None:
            X = float_array(positions, "positions", 2, "(n_vertices, n_components)")
            n = len(X)
            if n_vertices is not None and whole_number(n_vertices, "n_vertices") != n:
                raise InputError(
                    f"n_vertices is {n_vertices}, but positions has {n} rows; leave n_vertices out"
                )
            _means(X, checked=True).check_pairs()
        else:
            vectors = random_vectors(distribution, "distribution", None)
            if n_vertices is None:
                raise InputError("distribution= needs n_vertices=, the number of vertices to draw")
            n = whole_number(n_vertices, "n_vertices")
        self._set(n_vertices=n, positions=X, distribution=distribution, _vectors=vectors)

    @property
    def n_components(self) -> int | None:
        """Dimension of the positions; None where only a draw can tell."""
        if self.positions is not None:
            return int(self.positions.shape[1])
        assert self._vectors is not None
        return self._vectors.n_components

    def __repr__(self) -> str:
        components = "" if self.n_components is None else f"n_components={self.n_components}, "
        positions = "positions drawn" if self.positions is None else "fixed positions"
        return f"RandomDotProductGraph(n_vertices={self.n_vertices}, {components}{positions})"

    def edge_probabilities(self) -> Floats:
        """Return the matrix of edge probabilities, shape (n_vertices, n_vertices).

        Its diagonal holds the squared norms of the positions, which may exceed 1.

        Examples
        --------
        >>> from eigengraphs.models import RandomDotProductGraph
        >>> RandomDotProductGraph([[0.5], [0.8]]).edge_probabilities().round(2).tolist()
        [[0.25, 0.4], [0.4, 0.64]]
        """
        X = self._fixed_positions("edge_probabilities")
        P: Floats = _means(X, checked=True).block(0, 1, 0, len(X), 0)[0]
        np.fill_diagonal(P, (X**2).sum(axis=1))
        return P

    def _fixed_positions(self, purpose: str, error: type[InputError] = InputError) -> Floats:
        if self.positions is None:
            raise error(
                f"{purpose} needs fixed positions, and this model draws them; pass positions=, "
                f"for example those of sample(..., return_latent=True)"
            )
        return self.positions

    def _fixed_means(self, purpose: str) -> Means:
        return _means(self._fixed_positions(purpose), checked=True)

    def _draw_means(
        self, m: int, rng: np.random.Generator, redraw: bool
    ) -> tuple[list[tuple[Means, int]], Latent]:
        if self._vectors is None:
            self._refuse_redraw(redraw, "the positions are fixed")
            return [(self._fixed_means("sample"), m)], Latent(positions=self.positions)
        n, copies = self.n_vertices, m if redraw else 1
        drawn, which = self._vectors.draw(rng, copies * n)
        X = drawn.reshape(copies, n, -1)
        labels: Ints | None = None if which is None else which.reshape(copies, n)
        groups: list[tuple[Means, int]] = [
            (_means(X[i], checked=False, name=f"graphs[{i}]" if redraw else ""), m // copies)
            for i in range(copies)
        ]
        if redraw:
            return groups, Latent(positions=X, labels=labels)
        return groups, Latent(positions=X[0], labels=None if labels is None else labels[0])


def _means(X: Floats, *, checked: bool, name: str = "") -> LowRankMeans:
    """Return the means X X^T."""
    return LowRankMeans(
        X,
        np.ones((1, X.shape[1])),
        BERNOULLI,
        checked=checked,
        graph_name=lambda _: name,
        remedy="inner products of positions must be probabilities: "
        + ("scale the positions down or move them" if checked else "narrow the distribution"),
    )
