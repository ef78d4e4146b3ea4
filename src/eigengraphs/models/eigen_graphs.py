"""Multiple random eigen graphs: the model that joint embedding estimates."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import linalg
from scipy.special import logsumexp

from eigengraphs.errors import ConversionError, InputError
from eigengraphs.models import validation as read
from eigengraphs.models.edge_laws import EdgeLaw, Gaussian, edge_law
from eigengraphs.models.edge_means import LowRankMeans, Means
from eigengraphs.models.graph_models import Drawn, GraphModel, Latent, distinct_rows
from eigengraphs.models.likelihood import log_likelihoods
from eigengraphs.models.loading_laws import PointMasses, RandomVectors, is_distribution
from eigengraphs.models.validation import TOLERANCE, Floats, Ints
from eigengraphs.stack import GraphStack

LawName: TypeAlias = Literal["bernoulli", "poisson", "gaussian"]

# Unit norms in float32 are off by about 1e-7.
_NORM_TOLERANCE = 1e-6


def _read_positions(value: Any) -> Floats:
    """Return latent positions, shape (n_vertices, n_components), with columns of unit length."""
    H = read.float_array(value, "latent_positions", 2, "(n_vertices, n_components)")
    norms = np.linalg.norm(H, axis=0)
    far = np.abs(norms - 1) > _NORM_TOLERANCE
    if far.any():
        k = int(np.argmax(far))
        raise InputError(
            f"column {k} of latent_positions has norm {norms[k]:.6g}, expected 1; divide it "
            f"by its norm, and multiply loadings[:, {k}] by the norm squared"
        )
    return H


def _read_loadings(value: Any, d: int) -> Floats:
    """Return fixed loadings, shape (n_graphs, d), or (d,) for graphs that all have the same."""
    loadings = read.float_array(value, "loadings", (1, 2), f"(n_graphs, {d}) or ({d},)")
    if loadings.shape[-1] != d:
        raise InputError(
            f"loadings must have {d} entries for each graph, one for each column of "
            f"latent_positions, got shape {loadings.shape}"
        )
    return loadings


def _block_components(B: Floats, z: Ints) -> tuple[Floats, Floats]:
    """Return H (n, K (K + 1) / 2) and loadings for B (m, K, K) between the blocks z (n,) in use.

    With z_a the indicator of block a, (z_a + z_b)(z_a + z_b)^T holds the pairs between a and b, and
    what it adds within the two blocks is subtracted from the loading of z_a z_a^T.
    """
    Z = np.eye(B.shape[1])[z]
    sizes = Z.sum(axis=0)
    a, b = np.triu_indices(len(sizes), 1)
    within = np.einsum("iaa->ia", B)
    between = B.sum(axis=2) - within
    H = np.hstack([Z / np.sqrt(sizes), (Z[:, a] + Z[:, b]) / np.sqrt(sizes[a] + sizes[b])])
    return H, np.hstack([(within - between) * sizes, B[:, a, b] * (sizes[a] + sizes[b])])


class MultipleRandomEigenGraphs(GraphModel):
    """Graphs with shared latent positions h_k and their own loadings (MREG, section 2).

    The mean of edge (s, t) of graph i is sum_k loadings[i, k] h_k[s] h_k[t].

    Parameters
    ----------
    latent_positions : array_like, shape (n_vertices, n_components)
        The h_k as columns of unit length.
    loadings
        Fixed: an array (n_graphs, n_components), or (n_components,) for the same loadings in all
        graphs. Random: a function ``(rng, size) -> (size, n_components)``, a list of frozen
        ``scipy.stats`` distributions, a frozen multivariate one, or `PointMasses`. Entries may
        be negative.
    law : {"bernoulli", "poisson", "gaussian"}
        Distribution of an edge around its mean.
    noise_scale : float, optional
        Standard deviation of an edge; required for the Gaussian law.
    clip : bool
        Clip means that are not probabilities (or, for the Poisson law, negative) instead of
        refusing them; `n_clipped` and `clipped_share` count them.

    Notes
    -----
    Up to 10,000 vertices the means of all pairs are checked. With more vertices, those that can
    exceed 1 by the Cauchy-Schwarz inequality are checked, and the others when sampling or a
    likelihood needs them. Random loadings are checked when drawn. The diagonal matters only if
    loops are drawn.

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
    _parameter = "loadings"

    def __init__(
        self,
        latent_positions: Any,
        loadings: Any,
        *,
        law: LawName = "bernoulli",
        noise_scale: float | None = None,
        clip: bool = False,
    ) -> None:
        H = _read_positions(latent_positions)
        edges = edge_law(law, noise_scale)
        if clip and isinstance(edges, Gaussian):
            raise InputError("law='gaussian' has no limits to clip at; leave clip out")
        vectors = None
        if is_distribution(loadings):
            vectors = RandomVectors(loadings, "loadings", H.shape[1])
        else:
            loadings = _read_loadings(loadings, H.shape[1])
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
            self._means().check_pairs()
        elif isinstance(loadings, PointMasses):
            self._means_at(loadings.points, "points").check_pairs()

    @classmethod
    def from_block_models(cls, labels: Any, B: Any) -> MultipleRandomEigenGraphs:
        """Return the model of a family of block models with common blocks.

        If every entry of B may vary, this takes K (K + 1) / 2 dimensions, where K is the number of
        blocks in use: the h_k are the normalized indicators of each block and of each union of
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
        Bs = read.probability(read.float_array(B, "B", 3, "(n_graphs, n_blocks, n_blocks)"), "B")
        if Bs.shape[1] != Bs.shape[2]:
            raise InputError(f"each B must be square, got shape {Bs.shape}")
        skew = np.abs(Bs - Bs.transpose(0, 2, 1)) > TOLERANCE
        if skew.any():
            i, a, b = np.argwhere(skew)[0]
            raise InputError(
                f"B[{i}] is not symmetric: entry ({a}, {b}) is {Bs[i, a, b]:.6g} and entry "
                f"({b}, {a}) is {Bs[i, b, a]:.6g}; pass (B[{i}] + B[{i}].T) / 2"
            )
        used, z = np.unique(read.block_labels(labels, Bs.shape[1]), return_inverse=True)
        return cls(*_block_components(Bs[:, used][:, :, used], z))

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
        stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs)
        stack.require_complete("from_distribution needs complete graphs")
        stack.require_undirected("from_distribution needs undirected graphs: symmetrize them")
        if stack.is_weighted:
            raise InputError("from_distribution needs graphs of 0 and 1; binarize them first")
        # Every vertex is a block: the h_k are e_s and (e_s + e_t) / sqrt(2), whose h_k h_k^T form a
        # basis of the symmetric matrices.
        A = stack.to_dense().dense.astype(np.float64)
        H, points = _block_components(A, np.arange(stack.n_vertices))
        weights = read.probability_vector(probabilities, "probabilities", len(stack))
        return cls(H, PointMasses(points, weights))

    @property
    def _draws(self) -> bool:
        return self._vectors is not None

    @property
    def n_components(self) -> int:
        """Number of components, d."""
        return int(self.latent_positions.shape[1])

    @property
    def n_graphs(self) -> int | None:
        """Number of graphs with their own loadings; None if there are none."""
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
        values = self._means_at(given, "graphs" if loadings is None else "loadings").matrices()
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
        self._loadings_at(loadings, "edge_probabilities")
        return self._edge_law.presence(self.expected_adjacency(loadings))

    @property
    def n_clipped(self) -> int:
        """Number of pairs s < t, over all graphs, whose mean ``clip=True`` changes."""
        return self._means_at(self._fixed("n_clipped")).n_out_of_range()

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
            Count the pairs s = t; otherwise diagonals are ignored.
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
        stack, law = self._read(graphs, directed), self._edge_law
        if loadings is None and isinstance(self.loadings, PointMasses):
            means, weights = self._means_at(self.loadings.points, "points"), self.loadings.weights
            each = np.repeat(np.arange(len(weights))[:, None], len(stack), axis=1)
            table = log_likelihoods(stack, means, law, each, loops=loops, directed=directed)
            with np.errstate(divide="ignore"):
                return np.asarray(logsumexp(np.stack(table) + np.log(weights)[:, None], axis=0))
        given = self._loadings_at(loadings, "log_likelihood")
        if given.ndim == 2 and len(given) != len(stack):
            raise InputError(
                f"there are loadings for {len(given)} graphs, but {len(stack)} graphs; pass "
                f"loadings= with one row for each graph"
            )
        which = np.arange(len(stack)) * (given.ndim == 2)
        means = self._means_at(given, "graphs" if loadings is None else "loadings")
        return log_likelihoods(stack, means, law, which[None], loops=loops, directed=directed)[0]

    def to_mreg(self) -> MultipleRandomEigenGraphs:
        """Return the model itself.

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> MultipleRandomEigenGraphs([[0.6], [0.8]], [0.5]).to_mreg()
        MultipleRandomEigenGraphs(n_vertices=2, n_components=1, one vector of loadings)
        """
        return self

    def _one_graph(self, purpose: str) -> MultipleRandomEigenGraphs:
        """Return the model itself, if its loadings are one vector."""
        if self.law != "bernoulli":
            raise ConversionError(
                f"{purpose} needs law='bernoulli'; the other models have no weights, and this one "
                f"has law={self.law!r}"
            )
        if self._fixed(purpose, ConversionError).ndim == 2:
            raise ConversionError(
                f"{purpose} converts one graph, and this model has loadings for {self.n_graphs}; "
                "make the model of one: MultipleRandomEigenGraphs(latent_positions, loadings[i])"
            )
        return self

    def _blocks(self) -> tuple[Floats, Ints]:
        active = self.loadings != 0
        rows, labels = distinct_rows(self.latent_positions[:, active])
        B = (rows * self.loadings[active]) @ rows.T
        return np.clip(B, 0, 1) if self.clip else B, labels

    def _eigenpairs(self) -> tuple[Floats, Floats]:
        if self.clip and self.n_clipped:
            # Clipping is no operation on H and the loadings, so the matrix is needed.
            return self.to_ier()._eigenpairs()
        active = self.loadings != 0
        if not active.any():
            return np.zeros((self.n_vertices, 0)), np.zeros(0)
        Q, R = linalg.qr(self.latent_positions[:, active], mode="economic")
        core = (R * self.loadings[active]) @ R.T
        lam, V = linalg.eigh((core + core.T) / 2)
        return Q @ V, lam

    def _loadings_at(self, loadings: Any, purpose: str) -> Floats:
        if loadings is not None:
            return _read_loadings(loadings, self.n_components)
        fixed: Floats = self._fixed(purpose)
        return fixed

    def _means_at(self, Lam: Floats, name: str = "graphs", checked: bool = True) -> LowRankMeans:
        what = "scale them down" if checked else "narrow their distribution"
        one = self._vectors is None and self.loadings.ndim == 1 and name == "graphs"
        return LowRankMeans(
            self.latent_positions,
            np.atleast_2d(Lam),
            f"the loadings must keep all means in range: {what}, or pass clip=True",
            "" if one else f"{name}[{{}}]",
            self._edge_law,
            self.clip,
            checked,
        )

    def _means(self) -> Means:
        return self._means_at(self._fixed("sample"))

    def _sample_size(self, n_graphs: int | None) -> int:
        if n_graphs is None or self.n_graphs is None:
            return super()._sample_size(self.n_graphs if n_graphs is None else n_graphs)
        if read.whole_number(n_graphs, "n_graphs") != self.n_graphs:
            raise InputError(
                f"n_graphs is {n_graphs}, but the model has loadings for {self.n_graphs} graphs; "
                f"leave n_graphs out, or pass one vector or a distribution as loadings"
            )
        return self.n_graphs

    def _draw_means(self, m: int, rng: np.random.Generator) -> Drawn:
        if self._vectors is None:
            Lam = np.broadcast_to(self.loadings, (m, self.n_components))
            return self._means(), Latent(loadings=Lam)
        Lam, which = self._vectors.draw(rng, m)
        return self._means_at(Lam, checked=False), Latent(loadings=Lam, labels=which)
