"""Conversions of multiple random eigen graphs, one graph at a time."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from eigengraphs.models.base import GraphModel

if TYPE_CHECKING:
    from eigengraphs.models.block import StochasticBlockModel
    from eigengraphs.models.dot_product import RandomDotProductGraph
    from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs
    from eigengraphs.models.inhomogeneous import InhomogeneousErdosRenyi

__all__ = ["EigenGraphConversions"]


class EigenGraphConversions(GraphModel):
    """What :class:`~eigengraphs.models.MultipleRandomEigenGraphs` is as another model.

    Graphs have loadings of their own, so a conversion is that of one graph.
    """

    @abstractmethod
    def _one_graph(self, graph: int | None, purpose: str) -> MultipleRandomEigenGraphs:
        """Return the model of one graph alone."""

    def to_ier(self, graph: int | None = None) -> InhomogeneousErdosRenyi:
        """Return the inhomogeneous Erdos-Renyi model of one graph.

        Parameters
        ----------
        graph : int, optional
            Which graph; needed if the model has loadings for several.

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> model = MultipleRandomEigenGraphs([[0.6], [0.8]], [[0.5], [1.0]])
        >>> model.to_ier(0)
        InhomogeneousErdosRenyi(n_vertices=2, mean probability 0.24)
        """
        from eigengraphs.models import conversions

        return conversions.to_ier(self._one_graph(graph, "to_ier"))

    def to_sbm(self, graph: int | None = None) -> StochasticBlockModel:
        """Return the block model of one graph: vertices with equal positions form a block.

        Parameters
        ----------
        graph : int, optional
            Which graph; needed if the model has loadings for several.

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> model = MultipleRandomEigenGraphs([[0.6], [0.8]], [[0.5], [1.0]])
        >>> model.to_sbm(0)
        StochasticBlockModel(n_vertices=2, n_blocks=2, fixed labels)
        """
        from eigengraphs.models import conversions

        return conversions.to_sbm(self._one_graph(graph, "to_sbm"))

    def to_rdpg(self, graph: int | None = None) -> RandomDotProductGraph:
        """Return the random dot product graph of one graph.

        Parameters
        ----------
        graph : int, optional
            Which graph; needed if the model has loadings for several.

        Raises
        ------
        ConversionError
            If the matrix of edge probabilities is not positive semidefinite.

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> model = MultipleRandomEigenGraphs([[0.6], [0.8]], [[0.5], [1.0]])
        >>> model.to_rdpg(0)
        RandomDotProductGraph(n_vertices=2, n_components=1, fixed positions)
        """
        from eigengraphs.models import conversions

        return conversions.to_rdpg(self._one_graph(graph, "to_rdpg"))

    def to_mreg(self, graph: int | None = None) -> MultipleRandomEigenGraphs:
        """Return the model itself, or the model of one graph alone.

        Parameters
        ----------
        graph : int, optional
            Which graph; by default the model stays as it is.

        Examples
        --------
        >>> from eigengraphs.models import MultipleRandomEigenGraphs
        >>> model = MultipleRandomEigenGraphs([[0.6], [0.8]], [[0.5], [1.0]])
        >>> model.to_mreg(0)
        MultipleRandomEigenGraphs(n_vertices=2, n_components=1, one vector of loadings)
        """
        return super().to_mreg() if graph is None else self._one_graph(graph, "to_mreg")
