"""Multiple random eigen graphs."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import logsumexp

from eigengraphs.errors import ConversionError, InputError
from eigengraphs.models.base import Latent
from eigengraphs.models.constructions import (
    eigen_graphs_of_block_models,
    eigen_graphs_of_distribution,
)
from eigengraphs.models.eigen_conversions import EigenGraphConversions
from eigengraphs.models.eigen_parameters import read_loadings, read_positions
from eigengraphs.models.laws import EdgeLaw, Gaussian, edge_law
from eigengraphs.models.likelihood import log_likelihood_table, log_likelihoods
from eigengraphs.models.loading_laws import (
    PointMasses,
    RandomVectors,
    is_distribution,
    random_vectors,
)
from eigengraphs.models.low_rank import LowRankMeans
from eigengraphs.models.means import Means
from eigengraphs.models.validation import Floats, whole_number

__all__ = ["MultipleRandomEigenGraphs"]

LawName: TypeAlias = Literal["bernoulli", "poisson", "gaussian"]


class MultipleRandomEigenGraphs(EigenGraphConversions):
    """Graphs with shared latent positions h_k, and loadings of their own (MREG, section 2).

    The mean of edge (s, t) of graph i is sum_k loadings[i, k] h_k[s] h_k[t].

    Parameters
    ----------
    latent_positions : array_like, shape (n_vertices, n_components)
        The h_k as columns of unit length.
    loadings
        Fixed: an array (n_graphs, n_components), or (n_components,) for graphs that all have
        the same. Random: a function ``(rng, size) -> (size, n_components)``, a list of frozen
        ``scipy.stats`` distributions, a frozen multivariate one, or `PointMasses`. Entries may
        be negative.
    law : {"bernoulli", "poisson", "gaussian"}
        Distribution of an edge around its mean.
    noise_scale : float, optional
        Standard deviation of an edge; for the Gaussian law, and needed there.
    clip : bool
        Clip means that are no probability (or, for the Poisson law, negative) instead of
        refusing them; `n_clipped` and `clipped_share` tell how many.

    Notes
    -----
    Up to 10,000 vertices the means of all pairs are checked. Above, those that can exceed 1 by
    the Cauchy-Schwarz inequality are, and the others where sampling or a likelihood comes
    across them. Random loadings are checked when drawn. The diagonal matters only where loops
    are asked.

    Examples
    --------
    The design of section 5.1 of the paper with two of its components:

    >>> import numpy as np
    >>> from scipy import stats
    >>> from eigengraphs.models import MultipleRandomEigenGraphs
    >>> H = np.stack([np.ones(20), np.resize([1, -1], 20)], axis=1) / np.sqrt(20)
    >>> model = MultipleRandomEigenGraphs(H, loadings=[stats.uniform(8, 8), stats.uniform(0, 2)])
    >>> model
    MultipleRandomEigenGraphs(n_vertices=20, n_components=2, loadings from 2 distributions)
    >>> stack, latent = model.sample(100, random_state=0, loops=True, return_latent=True)
    >>> len(stack), latent.loadings.shape
    (100, (100, 2))
    """

    latent_positions: Floats
    loadings: Any
    law: LawName
    noise_scale: float | None
    clip: bool
    _edge_law: EdgeLaw
    _vectors: RandomVectors | None

    def __init__(
        self,
        latent_positions: Any,
        loadings: Any,
        *,
        law: LawName = "bernoulli",
        noise_scale: float | None = None,
        clip: bool = False,
    ) -> None:
        H = read_positions(latent_positions)
        edges = edge_law(law, noise_scale)
        if clip and isinstance(edges, Gaussian):
            raise InputError("law='gaussian' has no limits to clip at; leave clip out")
        vectors = None
        if is_distribution(loadings):
            vectors = random_vectors(loadings, "loadings", H.shape[1])
        else:
            loadings = read_loadings(loadings, H.shape[1])
        self._set(
            n_vertices=len(H),
            latent_positions=H,
            loadings=loadings,
            law=law,
            noise_scale=noise_scale,
            clip=bool(clip),
            _edge_law=edges,
            _vectors=vectors,
        )
        if vectors is None:
            self._means(np.atleast_2d(loadings)).check_pairs()
        elif isinstance(loadings, PointMasses):
            self._means(loadings.points, "points").check_pairs()

    @classmethod
    def from_block_models(cls, labels: Any, B: Any) -> MultipleRandomEigenGraphs:
        """Return the model of a family of block models with common blocks.

        Letting every entry of B vary takes K (K + 1) / 2 dimensions, where K is the number of
        blocks in use: the h_k are the normalised indicators of each block and of each union of
        two blocks. K dimensions do not suffice in general.

        Parameters
        ----------
        labels : array_like of int, shape (n_vertices,)
            Block of each vertex, the same in all graphs.
        B : array_like, shape (n_graphs, n_blocks, n_blocks)
            Edge probabilities between blocks for each graph, symmetric.

        Returns
        -------
        MultipleRandomEigenGraphs

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> B = [[[0.6, 0.1], [0.1, 0.4]], [[0.5, 0.2], [0.2, 0.3]]]
        >>> MultipleRandomEigenGraphs.from_block_models([0, 0, 1, 1], B).n_components
        3
        """
        return cls(*eigen_graphs_of_block_models(labels, B))

    @classmethod
    def from_distribution(cls, graphs: Any, probabilities: Any) -> MultipleRandomEigenGraphs:
        """Return the model that draws exactly the given graphs with the given probabilities.

        This is the construction in the proof of Theorem 2.1: n (n + 1) / 2 components, on
        single vertices and on pairs of vertices, and loadings at one point mass for each graph
        under which every edge is certain or impossible. For graphs with loops pass
        ``loops=True`` when sampling.

        Parameters
        ----------
        graphs : GraphStack, or what it takes
            Binary and undirected.
        probabilities : array_like, shape (n_graphs,)
            They sum to one.

        Examples
        --------
        Two edges that are there together or not at all:

        >>> import numpy as np
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> both = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
        >>> model = MultipleRandomEigenGraphs.from_distribution([both, 0 * both], [0.5, 0.5])
        >>> stack = model.sample(100, random_state=0)
        >>> sorted({int(graph.sum()) for graph in stack})
        [0, 4]
        """
        return cls(*eigen_graphs_of_distribution(graphs, probabilities))

    @property
    def n_components(self) -> int:
        """Number of components, d."""
        return int(self.latent_positions.shape[1])

    @property
    def n_graphs(self) -> int | None:
        """Number of graphs that have loadings of their own; None if there are none such."""
        return len(self.loadings) if self._vectors is None and self.loadings.ndim == 2 else None

    def __repr__(self) -> str:
        if self._vectors is not None:
            loadings = f"loadings from {self._vectors!r}"
        elif self.n_graphs is None:
            loadings = "one vector of loadings"
        else:
            loadings = f"loadings of {self.n_graphs} graphs"
        noise = "" if self.noise_scale is None else f", noise_scale={self.noise_scale:g}"
        law = "" if self.law == "bernoulli" else f", law={self.law!r}{noise}"
        clip = ", clip=True" if self.clip else ""
        return (
            f"MultipleRandomEigenGraphs(n_vertices={self.n_vertices}, "
            f"n_components={self.n_components}, {loadings}{law}{clip})"
        )

    def expected_adjacency(self, loadings: Any = None) -> Floats:
        """Return H diag(loadings) H^T with its diagonal, clipped if the model clips.

        Parameters
        ----------
        loadings : array_like, shape (k, n_components) or (n_components,), optional
            By default those of the model.

        Returns
        -------
        ndarray, shape (k, n_vertices, n_vertices), or (n_vertices, n_vertices) for one vector

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> model = MultipleRandomEigenGraphs([[0.6], [0.8]], [[0.5], [1.0]])
        >>> model.expected_adjacency().round(2)[1].tolist()
        [[0.36, 0.48], [0.48, 0.64]]
        """
        given = self._loadings_at(loadings, "expected_adjacency")
        Lam = np.atleast_2d(given)
        means = self._means(Lam, "loadings" if loadings is not None else "graphs")
        values = np.empty((len(Lam), self.n_vertices, self.n_vertices))
        s = np.arange(self.n_vertices)
        for i in range(len(Lam)):
            values[i] = means.block(i, i + 1, 0, self.n_vertices, 0)[0]
        loops = Lam @ (self.latent_positions**2).T
        if self.clip:
            loops = np.clip(loops, self._edge_law.lower, self._edge_law.upper)
        values[:, s, s] = loops
        return values if given.ndim == 2 else values[0]

    def edge_probabilities(self, loadings: Any = None) -> Floats:
        """Return the probability that each edge is not zero.

        Parameters
        ----------
        loadings : array_like, shape (k, n_components) or (n_components,), optional
            By default those of the model.

        Returns
        -------
        ndarray, shape (k, n_vertices, n_vertices), or (n_vertices, n_vertices) for one vector
            The expected adjacency for the Bernoulli law, 1 - exp(-mean) for the Poisson law
            and 1 for the Gaussian law.

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> model = MultipleRandomEigenGraphs([[0.6], [0.8]], [[0.5], [1.0]])
        >>> model.edge_probabilities([1.0]).round(2).tolist()
        [[0.36, 0.48], [0.48, 0.64]]
        """
        if loadings is None and self._vectors is not None:
            self._loadings_at(None, "edge_probabilities")
        return self._edge_law.presence(self.expected_adjacency(loadings))

    def count_clipped(self, loadings: Any = None) -> int:
        """Count the pairs s < t, over all graphs, whose mean lies outside the law's limits.

        Parameters
        ----------
        loadings : array_like, shape (k, n_components) or (n_components,), optional
            By default those of the model.

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> model = MultipleRandomEigenGraphs([[0.6], [0.8]], [[0.5], [1.0]])
        >>> model.count_clipped([[0.5], [3.0]])
        1
        """
        given = self._loadings_at(loadings, "count_clipped")
        return self._means(np.atleast_2d(given)).n_out_of_range()

    @property
    def n_clipped(self) -> int:
        """Number of pairs s < t, over all graphs, whose mean ``clip=True`` changes."""
        return self.count_clipped()

    @property
    def clipped_share(self) -> float:
        """`n_clipped` as a share of all pairs s < t of all graphs."""
        n = self.n_vertices
        return self.n_clipped / max(1, (self.n_graphs or 1) * n * (n - 1) // 2)

    def log_likelihood(
        self, graphs: Any, *, loops: bool = False, directed: bool = False, loadings: Any = None
    ) -> Floats:
        """Return the log-probability (or log-density) of each graph.

        Parameters
        ----------
        graphs : GraphStack, or what it takes
            As many as the model has loadings for, if they are fixed graph by graph.
        loops : bool
            Count the pairs s = t; otherwise diagonals take no part, whatever they hold.
        directed : bool
            Count A_st and A_ts as two observations.
        loadings : array_like, shape (n_graphs, n_components) or (n_components,), optional
            By default those of the model. Loadings at point masses are summed over.

        Returns
        -------
        ndarray, shape (n_graphs,)
            -inf for a graph that the model cannot produce.

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> model = MultipleRandomEigenGraphs([[0.6], [0.8]], [[0.5], [1.0]])
        >>> model.log_likelihood([[[0, 1], [1, 0]], [[0, 0], [0, 0]]]).round(3)
        array([-1.427, -0.654])
        """
        stack = self._read(graphs, directed)
        if loadings is None and isinstance(self.loadings, PointMasses):
            means = self._means(self.loadings.points, "points")
            table = log_likelihood_table(
                stack, means, self._edge_law, loops=loops, directed=directed
            )
            with np.errstate(divide="ignore"):
                return np.asarray(logsumexp(table + np.log(self.loadings.weights), axis=1))
        given = self._loadings_at(loadings, "log_likelihood")
        if given.ndim == 2 and len(given) != len(stack):
            raise InputError(
                f"there are loadings for {len(given)} graphs, but {len(stack)} graphs; pass "
                f"loadings= with one row for each graph"
            )
        which = np.arange(len(stack)) if given.ndim == 2 else np.zeros(len(stack), dtype=np.int64)
        means = self._means(np.atleast_2d(given), "graphs" if loadings is None else "loadings")
        return log_likelihoods(stack, means, self._edge_law, which, loops=loops, directed=directed)

    def _one_graph(self, graph: int | None, purpose: str) -> MultipleRandomEigenGraphs:
        from eigengraphs.models import conversions

        return conversions.one_graph(self, graph, purpose)

    def _loadings_at(
        self, loadings: Any, purpose: str, error: type[InputError] = InputError
    ) -> Floats:
        if loadings is not None:
            return read_loadings(loadings, self.n_components)
        if self._vectors is not None:
            raise error(
                f"{purpose} needs fixed loadings, and this model draws them; "
                + ("fix them" if error is ConversionError else "pass loadings=")
                + ", for example those of sample(..., return_latent=True)"
            )
        fixed: Floats = self.loadings
        return fixed

    def _means(self, Lam: Floats, name: str = "graphs", checked: bool = True) -> LowRankMeans:
        remedy = "the loadings must keep all means in range: " + (
            "scale them down" if checked else "narrow their distribution"
        )
        one = self._vectors is None and self.loadings.ndim == 1 and name == "graphs"
        return LowRankMeans(
            self.latent_positions,
            Lam,
            self._edge_law,
            clip=self.clip,
            checked=checked,
            graph_name=lambda i: "" if one else f"{name}[{i}]",
            remedy=f"{remedy}, or pass clip=True",
        )

    def _fixed_means(self, purpose: str) -> Means:
        return self._means(np.atleast_2d(self._loadings_at(None, purpose)))

    def _sample_size(self, n_graphs: int | None) -> int:
        if n_graphs is None or self.n_graphs is None:
            return super()._sample_size(self.n_graphs if n_graphs is None else n_graphs)
        if whole_number(n_graphs, "n_graphs") != self.n_graphs:
            raise InputError(
                f"n_graphs is {n_graphs}, but the model has loadings for {self.n_graphs} graphs; "
                f"leave n_graphs out, or pass one vector or a distribution as loadings"
            )
        return self.n_graphs

    def _draw_means(
        self, m: int, rng: np.random.Generator, redraw: bool
    ) -> tuple[list[tuple[Means, int]], Latent]:
        self._refuse_redraw(redraw, "loadings are drawn anew for each graph in any case")
        if self._vectors is None:
            Lam = np.atleast_2d(self.loadings)
            latent = Latent(loadings=np.broadcast_to(Lam, (m, self.n_components)))
            return [(self._means(Lam), m)], latent
        Lam, which = self._vectors.draw(rng, m)
        return [(self._means(Lam, checked=False), m)], Latent(loadings=Lam, labels=which)
