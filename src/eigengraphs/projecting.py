"""Graphs as they come, and graphs, seen or not, on the components of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eigengraphs.errors import AlignmentError
from eigengraphs.graphs import GraphStack
from eigengraphs.graphs.align import shifted, spelling
from eigengraphs.graphs.coerce import some_of
from eigengraphs.graphs.missing import check_missing
from eigengraphs.graphs.preprocess import Preprocessing
from eigengraphs.plan import Plan
from eigengraphs.projection import MaskedProjection, Projection, project
from eigengraphs.settings import check_weights, name_rows
from eigengraphs.solvers.protocol import Fit
from eigengraphs.threads import one_blas_thread

__all__ = ["ProjectedGraphs"]


class ProjectedGraphs:
    """Projections and ``score`` of :class:`~eigengraphs.JointEmbedding`."""

    loadings_: Any
    missing: Any
    n_vertices_: int
    vertex_names_: tuple[str, ...]
    _dtype: np.dtype[Any]
    _fit: Fit
    _fitted_with: dict[str, Any]
    _has_vertex_names: bool
    _plan: Plan
    _steps: Preprocessing

    def _stack(
        self, graphs: Any, steps: Preprocessing, directed: bool, missing: Any = None
    ) -> GraphStack:
        # No copy: a stack made here is read at once, and only `extend` comes back to it.
        missing = self.missing if missing is None else missing
        check_missing(missing)
        if isinstance(graphs, GraphStack):
            stack = graphs
            if missing == "error":
                stack.require_complete("pass missing='unobserved' to leave them out")
        else:
            stack = GraphStack(graphs, copy=False, missing=missing)
        stack = steps.apply(stack)
        if not directed:
            stack.require_undirected(
                "make the graphs undirected with GraphStack(graphs).symmetrize(), or fit them "
                "with directed=True"
            )
        return stack

    @one_blas_thread()
    def _loadings(self, graphs: Any, missing: Any) -> Any:
        check_is_fitted(self)
        stack = self._aligned(graphs, missing)
        Lam = self._project(stack).loadings(self._plan.rule)
        Lam = (Lam / self._plan.treatment.scale).astype(self._dtype)
        return name_rows(self, Lam, stack._graph_names)

    def _project(self, stack: GraphStack) -> Projection | MaskedProjection:
        treatment, kind = self._plan.treatment, self._plan.kind_of(stack)
        view = treatment.loss_view(stack, kind)
        with one_blas_thread():
            return project(view, self._fit, hollow=treatment.hollow)

    def _aligned(self, graphs: Any, missing: Any = None) -> GraphStack:
        missing = self.missing if missing is None else missing
        stack = self._stack(graphs, self._steps, self._plan.directed, missing)
        # Without names vertices are called by their places, 0, 1, ...: a networkx graph whose
        # nodes are these numbers goes with arrays.
        own, wanted = set(stack.vertex_names), set(self.vertex_names_)
        if own == wanted:
            return stack.in_order_of(self.vertex_names_)
        both_named = stack.has_vertex_names and self._has_vertex_names
        if stack.has_vertex_names and own < wanted and missing == "unobserved":
            return stack.among(self.vertex_names_)
        if both_named or stack.n_vertices != self.n_vertices_:
            if stack.n_vertices != self.n_vertices_:
                text = (
                    f"{stack.n_vertices} vertices, expected {self.n_vertices_} as in the training"
                )
            else:
                text = f"other vertices than the {self.n_vertices_} of the training"
            more = self._differing(stack) if both_named else ""
            raise AlignmentError(f"the graphs have {text} graphs{more}")
        return stack

    def _differing(self, stack: GraphStack) -> str:
        """Say which vertices are not common to graphs and training graphs, and what to do."""
        own, wanted = stack.vertex_names, self.vertex_names_
        extra = [name for name in own if name not in set(wanted)]
        lacking = [name for name in wanted if name not in set(own)]
        text = f"; they lack {some_of(lacking)}" if lacking else ""
        if extra:
            text += f"; only they have {some_of(extra)}{spelling(lacking, extra)}"
            shift = shifted(own, wanted)
            if shift:
                return text + shift
            return text + ": correct the names, or leave these out (select_vertices)"
        return text + ": pass missing='unobserved' to project them on the other vertices"

    @one_blas_thread()
    def score(
        self, graphs: Any, y: Any = None, sample_weight: Any = None, *, missing: Any = None
    ) -> float:
        """Return the share of the squared norm of (centred) graphs that their loadings explain.

        Only the entries count that the loss counts: with a filled diagonal, those off it.

        Parameters
        ----------
        graphs : GraphStack, or anything it can be made of
            Graphs on the vertices of the training graphs.
        y
            Ignored.
        sample_weight : (m',), optional
            Weight of each graph.
        missing : {"error", "unobserved"}, optional
            As of :meth:`transform`.

        Returns
        -------
        float
            1 if the components describe the graphs exactly, 0 if they explain nothing.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> graphs = [np.full((4, 4), weight) for weight in (1.0, 2.0)]
        >>> round(eg.JointEmbedding(1, random_state=0).fit(graphs).score(graphs), 6)
        1.0
        """
        check_is_fitted(self)
        stack = self._aligned(graphs, missing)
        weights = check_weights(sample_weight, stack.n_graphs)
        weights = weights / weights.max()
        projection = self._project(stack)
        total = float(weights @ projection.squared_norms)
        left = float(weights @ projection.residuals(projection.loadings(self._plan.rule)))
        return 1.0 - left / total if total > 0 else 0.0

    @one_blas_thread()
    def residuals(self, graphs: Any, *, missing: Any = None) -> NDArray[np.float64]:
        """Return the share of each graph's squared norm that the components leave, (m',).

        Over the entries that the loss counts; 0 for a graph without any.

        Parameters
        ----------
        graphs : GraphStack, or anything it can be made of
            m' graphs on the vertices of the training graphs.
        missing : {"error", "unobserved"}, optional
            As of :meth:`transform`.

        Examples
        --------
        >>> import numpy as np
        >>> import eigengraphs as eg
        >>> je = eg.JointEmbedding(1, diagonal="observed", random_state=0).fit([np.ones((4, 4))])
        >>> je.residuals([np.ones((4, 4)), np.eye(4)]).round(2) + 0.0
        array([0.  , 0.75])
        """
        check_is_fitted(self)
        projection = self._project(self._aligned(graphs, missing))
        left = projection.residuals(projection.loadings(self._plan.rule))
        norms = projection.squared_norms
        return np.asarray(np.divide(left, norms, out=np.zeros_like(left), where=norms > 0))
