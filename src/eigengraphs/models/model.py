"""What every random graph model can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeAlias, overload

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.models.edge_laws import BERNOULLI, EdgeLaw
from eigengraphs.models.edge_means import Means
from eigengraphs.models.likelihood import log_likelihoods
from eigengraphs.models.sampling import sample_stack
from eigengraphs.models.validation import Floats, Ints, refuse_asymmetry, whole_number
from eigengraphs.stack import GraphStack
from eigengraphs.system.randomness import RandomState, generator
from eigengraphs.system.tables import short_repr

if TYPE_CHECKING:
    from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs
    from eigengraphs.models.graph_models import (
        InhomogeneousErdosRenyi,
        RandomDotProductGraph,
        StochasticBlockModel,
    )

__all__ = ["Drawn", "GraphModel", "Latent"]


@dataclass(frozen=True, eq=False)
class Latent:
    """What a sample was drawn from; None for what the model does not have.

    Attributes
    ----------
    loadings : ndarray, shape (n_graphs, n_components), or None
        Loadings of each graph of a multiple random eigen graph model.
    labels : ndarray or None
        Block of each vertex, (n_vertices,), or (n_graphs, n_vertices) if drawn for each
        graph; for loadings drawn from point masses, the mass of each graph, (n_graphs,).
    positions : ndarray or None
        Positions of the vertices of a random dot product graph, (n_vertices, n_components), or
        (n_graphs, n_vertices, n_components) if drawn for each graph.

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


#: Means and the number of graphs to draw from each, and what they were made of.
Drawn: TypeAlias = tuple[list[tuple[Means, int]], Latent]


class GraphModel(ABC):
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

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"a {type(self).__name__} cannot be changed; make a new one instead of .{name} ="
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"a {type(self).__name__} cannot be changed, so .{name} cannot be deleted"
        )

    @overload
    def sample(
        self,
        n_graphs: int | None = ...,
        random_state: RandomState = ...,
        *,
        loops: bool = ...,
        directed: bool = ...,
        return_latent: Literal[False] = ...,
        redraw: bool = ...,
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
        redraw: bool = ...,
    ) -> tuple[GraphStack, Latent]: ...

    def sample(
        self,
        n_graphs: int | None = None,
        random_state: RandomState = None,
        *,
        loops: bool = False,
        directed: bool = False,
        return_latent: bool = False,
        redraw: bool = False,
    ) -> GraphStack | tuple[GraphStack, Latent]:
        """Draw graphs from the model.

        Time and memory follow the number of edges for sparse graphs, not the square of the
        number of vertices.

        Parameters
        ----------
        n_graphs : int, optional
            How many, m. By default as many as the model has loadings for, and otherwise one.
        random_state : None, int, numpy Generator, RandomState or SeedSequence
            Source of all that is drawn.
        loops : bool
            Draw A_ss as well, with mean P_ss. Otherwise diagonals are zero.
        directed : bool
            Draw A_st and A_ts independently of each other.
        return_latent : bool
            Return the loadings, labels or positions too.
        redraw : bool
            Draw new labels or positions for each graph. By default all graphs share
            one draw, because a vertex is the same vertex in all of them.

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
        groups, latent = self._draw_means(m, rng, redraw)
        stack = sample_stack(groups, self._edge_law, rng, loops=loops, directed=directed)
        return (stack, latent) if return_latent else stack

    def log_likelihood(self, graphs: Any, *, loops: bool = False, directed: bool = False) -> Floats:
        """Return the log-probability (or log-density) of each graph.

        Parameters
        ----------
        graphs : GraphStack, or what it takes
            m graphs on the vertices of the model.
        loops : bool
            Count the pairs s = t; otherwise diagonals take no part, whatever they hold.
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
        means = self._fixed_means("log_likelihood")
        which = np.zeros((1, len(stack)), dtype=np.int64)
        law = self._edge_law
        return log_likelihoods(stack, means, law, which, loops=loops, directed=directed)[0]

    @abstractmethod
    def edge_probabilities(self) -> Floats:
        """Return the matrix of edge probabilities, shape (n_vertices, n_vertices).

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(2, 0.25).edge_probabilities()
        array([[0.25, 0.25],
               [0.25, 0.25]])
        """

    def to_ier(self) -> InhomogeneousErdosRenyi:
        """Return the inhomogeneous Erdos-Renyi model with the same edge probabilities.

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(3, 0.5).to_ier()
        InhomogeneousErdosRenyi(n_vertices=3, mean probability 0.5)
        """
        # The conversions know every model, so they can only be imported once all exist.
        from eigengraphs.models import conversions

        return conversions.to_ier(self)

    def to_sbm(self) -> StochasticBlockModel:
        """Return the stochastic block model with the same edge probabilities.

        It has as few blocks as exact equality allows, at most one for each vertex.

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(3, 0.5).to_sbm()
        StochasticBlockModel(n_vertices=3, n_blocks=1, fixed labels)
        """
        from eigengraphs.models import conversions

        return conversions.to_sbm(self)

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
        from eigengraphs.models import conversions

        return conversions.to_rdpg(self)

    def to_mreg(self) -> MultipleRandomEigenGraphs:
        """Return the multiple random eigen graph model with the same edge probabilities.

        Examples
        --------
        >>> from eigengraphs.models import ErdosRenyi
        >>> ErdosRenyi(3, 0.5).to_mreg()
        MultipleRandomEigenGraphs(n_vertices=3, n_components=1, one vector of loadings)
        """
        from eigengraphs.models import conversions

        return conversions.to_mreg(self)

    # What a model has to say about itself ------------------------------------------------

    _edge_law: EdgeLaw = BERNOULLI
    _symmetric: bool = True
    _matrix: ClassVar[str] = ""  # the parameter that is a matrix, which may be asymmetric

    @abstractmethod
    def _draw_means(self, m: int, rng: np.random.Generator, redraw: bool) -> Drawn:
        """Return the means to sample m graphs from, drawing what is random."""

    @abstractmethod
    def _fixed_means(self, purpose: str) -> Means:
        """Return the means, or raise if they depend on something random."""

    def _sample_size(self, n_graphs: int | None) -> int:
        return 1 if n_graphs is None else whole_number(n_graphs, "n_graphs")

    def _require_symmetric(self, purpose: str) -> None:
        """Raise if the means differ between s -> t and t -> s."""
        if not self._symmetric:
            refuse_asymmetry(getattr(self, self._matrix), self._matrix, purpose)

    def _refuse_redraw(self, redraw: bool, why: str) -> None:
        if redraw:
            raise InputError(f"redraw=True, but {why}; leave redraw out")

    def _read(self, graphs: Any, directed: bool) -> GraphStack:
        stack = graphs if isinstance(graphs, GraphStack) else GraphStack(graphs)
        stack.require_complete("a likelihood is that of graphs that are known as a whole")
        if stack.n_vertices != self.n_vertices:
            raise InputError(
                f"the graphs have {stack.n_vertices} vertices, the model has {self.n_vertices}; "
                "pass graphs on the model's vertex set"
            )
        if not directed:
            self._require_symmetric("log_likelihood")
            if stack.is_directed:
                raise InputError(
                    "some graphs are directed, A_st differs from A_ts; pass directed=True, or "
                    "symmetrize the graphs first"
                )
        return stack
