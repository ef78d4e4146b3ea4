"""Models whose graphs all have the same edge probabilities: ER, inhomogeneous ER, SBM and RDPG."""

# ruff: noqa: ARG002 - where nothing is random, nothing asks for the generator or the purpose

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.edge_laws import BERNOULLI
from eigengraphs.models.edge_means import BlockMeans, DenseMeans, LowRankMeans, Means
from eigengraphs.models.loading_laws import RandomVectors
from eigengraphs.models.model import Drawn, GraphModel, Latent
from eigengraphs.models.validation import (
    TOLERANCE,
    Floats,
    Ints,
    block_labels,
    float_array,
    number,
    probability,
    probability_vector,
    square_matrix,
    whole_number,
)

__all__ = ["ErdosRenyi", "InhomogeneousErdosRenyi", "RandomDotProductGraph", "StochasticBlockModel"]


class ErdosRenyi(GraphModel):
    """Every edge is there with the same probability, independently.

    A block model with one block (section 2).

    Parameters
    ----------
    n_vertices : int
        Number of vertices, n.
    p : float
        Probability of an edge, and of a loop where loops are drawn.

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

    def _draw_means(self, m: int, rng: np.random.Generator, redraw: bool) -> Drawn:
        self._refuse_redraw(redraw, "an Erdos-Renyi graph has no labels or positions to draw")
        return [(self._fixed_means("sample"), m)], Latent()


class InhomogeneousErdosRenyi(GraphModel):
    """Every edge has a probability of its own.

    Parameters
    ----------
    P : array_like, shape (n_vertices, n_vertices)
        Edge probabilities. The diagonal holds the probabilities of loops and is checked only
        where loops are drawn. An asymmetric matrix serves directed graphs only.

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
    _matrix = "P"

    def __init__(self, P: Any) -> None:
        matrix = square_matrix(P, "P", "n_vertices")
        matrix = probability(matrix, "P", ignore_diagonal=True)
        symmetric = bool((np.abs(matrix - matrix.T) <= TOLERANCE).all())
        self._set(n_vertices=len(matrix), P=matrix, _symmetric=symmetric)

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

    def _draw_means(self, m: int, rng: np.random.Generator, redraw: bool) -> Drawn:
        self._refuse_redraw(redraw, "the edge probabilities are fixed")
        return [(DenseMeans(self.P), m)], Latent()


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
    _matrix = "B"

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
            n = _number_of_vertices(n_vertices, len(blocks), "labels has", "entries")
            unused = np.bincount(blocks, minlength=n_blocks) < 2
        else:
            weights = probability_vector(prior, "prior", n_blocks)
            n = _number_of_vertices(n_vertices, None, "prior=")
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

    def _draw_means(self, m: int, rng: np.random.Generator, redraw: bool) -> Drawn:
        if self.labels is not None:
            self._refuse_redraw(redraw, "the labels are fixed")
            return [(BlockMeans(self.B, self.labels), m)], Latent(labels=self.labels)
        shape = (m, self.n_vertices) if redraw else (1, self.n_vertices)
        drawn = rng.choice(self.n_blocks, size=shape, p=self.prior).astype(np.int64)
        groups: list[tuple[Means, int]] = [
            (BlockMeans(self.B, labels), m // len(drawn)) for labels in drawn
        ]
        return groups, Latent(labels=drawn if redraw else drawn[0])


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
            n = _number_of_vertices(n_vertices, len(X), "positions has", "rows")
            _means(X, checked=True).check_pairs()
        else:
            vectors = RandomVectors(distribution, "distribution")
            n = _number_of_vertices(n_vertices, None, "distribution=")
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

    def _draw_means(self, m: int, rng: np.random.Generator, redraw: bool) -> Drawn:
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


def _number_of_vertices(given: int | None, found: int | None, what: str, unit: str = "") -> int:
    """Return n, which a fixed parameter tells and a distribution does not."""
    if given is None and found is None:
        raise InputError(f"{what} needs n_vertices=, the number of vertices to draw")
    if given is not None and found not in (None, whole_number(given, "n_vertices")):
        raise InputError(f"n_vertices is {given}, but {what} {found} {unit}; leave n_vertices out")
    return whole_number(given if found is None else found, "n_vertices")


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
