"""Random graph models: what all have in common, and those whose graphs share their probabilities.

ER, inhomogeneous ER, SBM and RDPG; `eigen_graphs` has the model of many graphs. Conversions keep
the edge probabilities, as both panels of Figure 1 draw, and mean models given their labels,
positions or loadings. They build nothing of size n x n, except from and to the inhomogeneous
Erdos-Renyi model, which is such a matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, overload

import numpy as np
from scipy import linalg

from eigengraphs.errors import ConversionError, InputError
from eigengraphs.models import validation as read
from eigengraphs.models.edge_laws import BERNOULLI, EdgeLaw
from eigengraphs.models.edge_means import BlockMeans, LowRankMeans, Means
from eigengraphs.models.likelihood import log_likelihoods
from eigengraphs.models.loading_laws import RandomVectors
from eigengraphs.models.sampling import sample_stack
from eigengraphs.models.validation import TOLERANCE, Fixed, Floats, Ints
from eigengraphs.stack import GraphStack
from eigengraphs.system.randomness import RandomState, generator
from eigengraphs.system.tables import short_repr

if TYPE_CHECKING:
    from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs


@dataclass(frozen=True, eq=False)
class Latent:
    """What a sample was drawn from; None for what the model does not have.

    Attributes
    ----------
    loadings : ndarray, shape (n_graphs, n_components), or None
        Loadings of each graph of a multiple random eigen graph model.
    labels : ndarray or None
        Block of each vertex, (n_vertices,); for loadings drawn from point masses, the mass of
        each graph, (n_graphs,).
    positions : ndarray or None
        Positions of the vertices of a random dot product graph, (n_vertices, n_components).

    Examples
    --------
    >>> from eigengraphs.models import StochasticBlockModel
    >>> model = StochasticBlockModel([[0.6, 0.1], [0.1, 0.4]], prior=[0.5, 0.5], n_vertices=6)
    >>> stack, latent = model.sample(2, random_state=0, return_latent=True)
    >>> latent.labels.shape, latent.loadings
    ((6,), None)
    """

    loadings: Floats | None = None
    labels: Ints | None = None
    positions: Floats | None = None

    __repr__ = short_repr


#: Means to draw graphs from, and what they were made of.
Drawn: TypeAlias = tuple[Means, Latent]


class GraphModel(Fixed, ABC):
    """A random graph model on a fixed vertex set; immutable.

    What all models of section 2 have in common: sampling, likelihoods, edge probabilities, and
    conversions between them (Figure 1). Abstract; make one of its subclasses.

    Attributes
    ----------
    n_vertices : int
        Number of vertices, n.

    Examples
    --------
    >>> from eigengraphs.models import ErdosRenyi, GraphModel
    >>> isinstance(ErdosRenyi(5, 0.5), GraphModel)
    True
    """

    n_vertices: int

    @overload
    def sample(
        self,
        n_graphs: int | None = ...,
        random_state: RandomState = ...,
        *,
        loops: bool = ...,
        directed: bool = ...,
        return_latent: Literal[False] = ...,
    ) -> GraphStack: ...

    @overload
    def sample(
        self,
        n_graphs: int | None = ...,
        random_state: RandomState = ...,
        *,
        loops: bool = ...,
        directed: bool = ...,
        return_latent: Literal[True],
    ) -> tuple[GraphStack, Latent]: ...

    def sample(
        self,
        n_graphs: int | None = None,
        random_state: RandomState = None,
        *,
        loops: bool = False,
        directed: bool = False,
        return_latent: bool = False,
    ) -> GraphStack | tuple[GraphStack, Latent]:
        """Draw graphs from the model.

        For sparse graphs, time and memory are proportional to the number of edges, not to the
        square of the number of vertices.

        Parameters
        ----------
        n_graphs : int, optional
            Number of graphs, m. By default as many as the model has loadings for, and otherwise
            one.
        random_state : None, int, numpy Generator, RandomState or SeedSequence
            Source of all random numbers.
        loops : bool
            Draw A_ss as well, with mean P_ss. Otherwise diagonals are zero.
        directed : bool
            Draw A_st and A_ts independently of each other.
        return_latent : bool
            Return the loadings, labels or positions too. Labels and positions are drawn once,
            because the vertices are the same in all graphs.

        Returns
        -------
        GraphStack, or (GraphStack, Latent)

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(5, 0.5).sample(3, random_state=0).shape
        (3, 5, 5)
        """
        m = self._sample_size(n_graphs)
        if not directed:
            self._require_symmetric("sample")
        rng = generator(random_state)
        means, latent = self._draw_means(m, rng)
        stack = sample_stack(means, m, self._edge_law, rng, loops=loops, directed=directed)
        return (stack, latent) if return_latent else stack

    def log_likelihood(self, graphs: Any, *, loops: bool = False, directed: bool = False) -> Floats:
        """Return the log-probability (or log-density) of each graph.

        Parameters
        ----------
        graphs : GraphStack, or what it takes
            m graphs on the vertices of the model.
        loops : bool
            Count the pairs s = t; otherwise diagonals are ignored.
        directed : bool
            Count A_st and A_ts as two observations.

        Returns
        -------
        ndarray, shape (n_graphs,)
            -inf for a graph that the model cannot produce.

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(2, 0.25).log_likelihood([[[0, 1], [1, 0]]]).round(3)  # log(1/4)
        array([-1.386])
        """
        stack = self._read(graphs, directed)
        self._fixed("log_likelihood")
        which = np.zeros((1, len(stack)), dtype=np.int64)
        law, means = self._edge_law, self._means()
        return log_likelihoods(stack, means, law, which, loops=loops, directed=directed)[0]

    def edge_probabilities(self) -> Floats:
        """Return the matrix of edge probabilities, shape (n_vertices, n_vertices).

        Its diagonal holds those of loops, and may exceed 1 where loops are never drawn: in a
        random dot product graph it holds the squared norms of the positions.

        Examples
        --------
        >>> from eigengraphs.models import RandomDotProductGraph, StochasticBlockModel
        >>> StochasticBlockModel([[0.6, 0.1], [0.1, 0.4]], [0, 1]).edge_probabilities().tolist()
        [[0.6, 0.1], [0.1, 0.4]]
        >>> RandomDotProductGraph([[0.5], [0.8]]).edge_probabilities().round(2).tolist()
        [[0.25, 0.4], [0.4, 0.64]]
        """
        self._fixed("edge_probabilities")
        P: Floats = self._means().matrices()[0]
        return P

    def to_ier(self) -> InhomogeneousErdosRenyi:
        """Return the inhomogeneous Erdos-Renyi model with the same edge probabilities.

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(3, 0.5).to_ier()
        InhomogeneousErdosRenyi(n_vertices=3, mean probability 0.5)
        """
        return InhomogeneousErdosRenyi(self._one_graph("to_ier").edge_probabilities())

    def to_sbm(self) -> StochasticBlockModel:
        """Return the stochastic block model with the same edge probabilities.

        It has as few blocks as exact equality allows, at most one for each vertex.

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(3, 0.5).to_sbm()
        StochasticBlockModel(n_vertices=3, n_blocks=1, fixed labels)
        """
        one = self._one_graph("to_sbm")
        return (
            one if isinstance(one, StochasticBlockModel) else StochasticBlockModel(*one._blocks())
        )

    def to_rdpg(self) -> RandomDotProductGraph:
        """Return the random dot product graph with the same edge probabilities.

        Raises
        ------
        ConversionError
            If the matrix of edge probabilities is not positive semidefinite.

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(3, 0.5).to_rdpg()
        RandomDotProductGraph(n_vertices=3, n_components=1, fixed positions)
        """
        if isinstance(self, RandomDotProductGraph):
            return self
        one = self._one_graph("to_rdpg")
        H, lam, rounding = one._spectrum("to_rdpg")
        if lam.min(initial=0.0) < -rounding:
            raise ConversionError(
                f"{one!r} is not a random dot product graph: its edge probabilities are not "
                f"positive semidefinite, the smallest eigenvalue is {lam.min():.6g}, and inner "
                f"products of positions always are; use to_mreg(), which allows negative loadings"
            )
        kept = lam > rounding
        X = H[:, kept] * np.sqrt(lam[kept])
        return RandomDotProductGraph(X if kept.any() else np.zeros((self.n_vertices, 1)))

    def to_mreg(self) -> MultipleRandomEigenGraphs:
        """Return the multiple random eigen graph model with the same edge probabilities.

        A random dot product graph has the columns of its positions, divided by their norms, as h_k.

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(3, 0.5).to_mreg()
        MultipleRandomEigenGraphs(n_vertices=3, n_components=1, one vector of loadings)
        """
        from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs  # it is a GraphModel

        H, lam = self._one_graph("to_mreg")._components()
        if len(lam) == 0:  # no edges
            H, lam = np.full((self.n_vertices, 1), self.n_vertices**-0.5), np.zeros(1)
        return MultipleRandomEigenGraphs(H, lam)

    # What a model has to say about itself ------------------------------------------------

    _edge_law: EdgeLaw = BERNOULLI
    _symmetric: bool = True
    _matrix: ClassVar[str] = ""  # the parameter that is a matrix, which may be asymmetric
    _parameter: ClassVar[str] = ""  # the parameter that may be drawn when sampling

    @property
    def _draws(self) -> bool:
        """Whether the parameter is drawn."""
        return bool(self._parameter) and getattr(self, self._parameter) is None

    @abstractmethod
    def _means(self) -> Means:
        """Return the means, if nothing is drawn."""

    def _draw_means(self, m: int, rng: np.random.Generator) -> Drawn:  # noqa: ARG002
        """Return the means to sample m graphs from, drawing what is random."""
        drawn_from = {self._parameter: self._fixed("sample")} if self._parameter else {}
        return self._means(), Latent(**drawn_from)

    def _sample_size(self, n_graphs: int | None) -> int:
        return 1 if n_graphs is None else read.whole_number(n_graphs, "n_graphs")

    def _blocks(self) -> tuple[Floats, Ints]:
        """Return B (K, K) and labels (n,) of the same edge probabilities, with K as it may be.

        Equal rows (and equal columns, if P is asymmetric) make one block: rows that agree hold P_st
        on both diagonal places too, so merging is exact with loops.
        """
        P = self.edge_probabilities()
        labels = distinct_rows(P if self._symmetric else np.hstack([P, P.T]))[1]
        first = np.unique(labels, return_index=True)[1]
        return P[np.ix_(first, first)], labels

    def _eigenpairs(self) -> tuple[Floats, Floats]:
        """Return orthonormal H (n, d) and lam (d,) with P = H diag(lam) H^T."""
        P = self.edge_probabilities()
        lam, H = linalg.eigh((P + P.T) / 2)
        return H, lam

    def _fixed(self, purpose: str, error: type[InputError] = InputError) -> Any:
        """Return the parameter that may be drawn, or raise where it is."""
        if self._draws:
            raise error(
                f"{purpose} needs fixed {self._parameter}, and this model draws them; pass "
                f"{self._parameter}=, for example those of sample(..., return_latent=True)"
            )
        return getattr(self, self._parameter, None)

    def _require_symmetric(
        self, purpose: str, needs: str = "directed=True", error: type[InputError] = InputError
    ) -> None:
        """Raise if the means differ between s -> t and t -> s."""
        if self._symmetric:
            return
        name, matrix = self._matrix, getattr(self, self._matrix)
        s, t = np.argwhere(np.abs(matrix - matrix.T) > TOLERANCE)[0]
        raise error(
            f"{name} is not symmetric: {name}[{s}, {t}] = {matrix[s, t]:.6g} but {name}[{t}, {s}] "
            f"= {matrix[t, s]:.6g}; {purpose} needs {needs}, or pass ({name} + {name}.T) / 2"
        )

    def _one_graph(self, purpose: str) -> GraphModel:
        """Return the model of one graph, with nothing that is drawn."""
        self._fixed(purpose, ConversionError)
        return self

    def _components(self) -> tuple[Floats, Floats]:
        """Return unit columns H (n, d) and lam (d,) with P = H diag(lam) H^T."""
        H, lam, rounding = self._spectrum("to_mreg")
        kept = np.abs(lam) > rounding
        return H[:, kept], lam[kept]

    def _spectrum(self, purpose: str) -> tuple[Floats, Floats, float]:
        """Return `_eigenpairs`, and the size below which an eigenvalue is zero up to rounding."""
        self._require_symmetric(purpose, f"a symmetric {self._matrix}", ConversionError)
        H, lam = self._eigenpairs()
        return H, lam, float(4 * len(H) * np.finfo(float).eps * np.abs(lam).max(initial=0.0))

    def _read(self, graphs: Any, directed: bool) -> GraphStack:
        stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs)
        stack.require_complete("a likelihood needs complete graphs")
        if stack.n_vertices != self.n_vertices:
            raise InputError(
                f"the graphs have {stack.n_vertices} vertices, the model has {self.n_vertices}; "
                "pass graphs on the model's vertex set"
            )
        if not directed:
            self._require_symmetric("log_likelihood")
            stack.require_undirected("pass directed=True, or symmetrize the graphs first")
        return stack


class ErdosRenyi(GraphModel):
    """Every edge exists with the same probability, independently.

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
        value = read.probability(np.array(read.number(p, "p")), "p")
        self._set(n_vertices=read.whole_number(n_vertices, "n_vertices"), p=float(value))

    def __repr__(self) -> str:
        return f"ErdosRenyi(n_vertices={self.n_vertices}, p={self.p:g})"

    def _means(self) -> Means:
        return BlockMeans(*self._blocks())

    def _blocks(self) -> tuple[Floats, Ints]:
        return np.array([[self.p]]), np.zeros(self.n_vertices, dtype=np.int64)

    def _eigenpairs(self) -> tuple[Floats, Floats]:
        n = self.n_vertices
        return np.full((n, 1), n**-0.5), np.array([n * self.p])


class InhomogeneousErdosRenyi(GraphModel):
    """Every edge has its own probability.

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
        matrix = read.square_matrix(P, "P", "n_vertices")
        matrix = read.probability(matrix, "P", unchecked=np.eye(len(matrix), dtype=bool))
        self._set(n_vertices=len(matrix), P=matrix, _symmetric=read.is_symmetric(matrix))

    def __repr__(self) -> str:
        n = self.n_vertices
        mean = float(self.P.sum() - np.trace(self.P)) / max(1, n * (n - 1))
        asymmetric = "" if self._symmetric else ", asymmetric"
        return f"InhomogeneousErdosRenyi(n_vertices={n}, mean probability {mean:.3g}{asymmetric})"

    def _means(self) -> Means:
        # Every vertex is a block.
        return BlockMeans(self.P, np.arange(self.n_vertices), "P")


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
    _matrix, _parameter = "B", "labels"

    def __init__(
        self, B: Any, labels: Any = None, *, prior: Any = None, n_vertices: int | None = None
    ) -> None:
        matrix = read.square_matrix(B, "B", "n_blocks")
        n_blocks = len(matrix)
        if (labels is None) == (prior is None):
            raise InputError(
                "give either labels=, the block of each vertex, or prior=, the probabilities of "
                "the blocks, and not both"
            )
        blocks = weights = None
        if labels is not None:
            blocks = read.block_labels(labels, n_blocks)
            n = _number_of_vertices(n_vertices, len(blocks), "labels has", "entries")
            # A block of one vertex uses its entry of the diagonal for loops only.
            matrix = read.probability(
                matrix, "B", np.diag(np.bincount(blocks, minlength=n_blocks) < 2)
            )
        else:
            weights = read.probability_vector(prior, "prior", n_blocks)
            n = _number_of_vertices(n_vertices, None, "prior=")
            matrix = read.probability(matrix, "B")
        symmetric = read.is_symmetric(matrix)
        self._set(n_vertices=n, B=matrix, labels=blocks, prior=weights, _symmetric=symmetric)

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

    def _blocks(self) -> tuple[Floats, Ints]:
        return self.B, self._fixed("to_sbm")

    def _means(self) -> Means:
        return BlockMeans(*self._blocks())

    def _eigenpairs(self) -> tuple[Floats, Floats]:
        used, z = np.unique(self._fixed("to_mreg"), return_inverse=True)
        roots = np.sqrt(np.bincount(z))
        lam, V = linalg.eigh(roots[:, None] * self.B[np.ix_(used, used)] * roots)
        return (V / roots[:, None])[z], lam

    def _draw_means(self, m: int, rng: np.random.Generator) -> Drawn:
        if not self._draws:
            return super()._draw_means(m, rng)
        labels = rng.choice(self.n_blocks, size=self.n_vertices, p=self.prior)
        return BlockMeans(self.B, labels), Latent(labels=labels)


class RandomDotProductGraph(GraphModel):
    """The probability of an edge is the inner product of the positions of its two vertices.

    Of section 2 of the paper: RDPG(X) with ``positions``, RDPG(F) with ``distribution``.

    Parameters
    ----------
    positions : array_like, shape (n_vertices, n_components), optional
        Latent positions. Give this or ``distribution``.
    distribution : optional
        Distribution of the position of a vertex: a function ``(rng, size) -> (size,
        n_components)``, a list of frozen ``scipy.stats`` distributions, a frozen multivariate one,
        or `PointMasses`.
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
    _parameter = "positions"

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
            X = read.float_array(positions, "positions", 2, "(n_vertices, n_components)")
            n = _number_of_vertices(n_vertices, len(X), "positions has", "rows")
            _inner_products(X).check_pairs()
        else:
            vectors = RandomVectors(distribution, "distribution")
            n = _number_of_vertices(n_vertices, None, "distribution=")
        self._set(n_vertices=n, positions=X, distribution=distribution, _vectors=vectors)

    @property
    def n_components(self) -> int | None:
        """Dimension of the positions; None if it is only known after a draw."""
        if self._vectors is not None:
            return self._vectors.n_components
        return int(self._fixed("sample").shape[1])

    def __repr__(self) -> str:
        components = "" if self.n_components is None else f"n_components={self.n_components}, "
        positions = "positions drawn" if self.positions is None else "fixed positions"
        return f"RandomDotProductGraph(n_vertices={self.n_vertices}, {components}{positions})"

    def _components(self) -> tuple[Floats, Floats]:
        # The columns themselves, as the paper has it; they need not be orthogonal.
        X = self._fixed("to_mreg")
        norms = np.linalg.norm(X, axis=0)
        kept = norms > 0
        return X[:, kept] / norms[kept], norms[kept] ** 2

    def _means(self) -> Means:
        return _inner_products(self._fixed("sample"))

    def _blocks(self) -> tuple[Floats, Ints]:
        rows, labels = distinct_rows(self._fixed("to_sbm"))
        return rows @ rows.T, labels

    def _draw_means(self, m: int, rng: np.random.Generator) -> Drawn:
        if self._vectors is None:
            return super()._draw_means(m, rng)
        X, labels = self._vectors.draw(rng, self.n_vertices)
        return _inner_products(X, checked=False), Latent(positions=X, labels=labels)


def _number_of_vertices(given: int | None, found: int | None, what: str, unit: str = "") -> int:
    """Return n, which a fixed parameter tells and a distribution does not."""
    if given is None and found is None:
        raise InputError(f"{what} needs n_vertices=, the number of vertices to draw")
    if given is not None and found not in (None, read.whole_number(given, "n_vertices")):
        raise InputError(f"n_vertices is {given}, but {what} {found} {unit}; leave n_vertices out")
    return read.whole_number(given if found is None else found, "n_vertices")


def _inner_products(X: Floats, *, checked: bool = True) -> LowRankMeans:
    """Return the means X X^T; of positions that were drawn now if they are not ``checked``."""
    what = "scale the positions down or move them" if checked else "narrow the distribution"
    remedy = f"inner products of positions must be probabilities: {what}"
    return LowRankMeans(X, np.ones((1, X.shape[1])), remedy, checked=checked)


def distinct_rows(X: Floats) -> tuple[Floats, Ints]:
    """Return the different rows of a matrix, and which of them each row is."""
    if X.shape[1] == 0:
        return np.zeros((1, 0)), np.zeros(len(X), dtype=np.int64)
    rows, labels = np.unique(X, axis=0, return_inverse=True)
    return rows, labels.reshape(-1).astype(np.int64)
