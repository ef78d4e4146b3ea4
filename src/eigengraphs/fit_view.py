"""What a report needs of a fit beyond its attributes: how it treated graphs, and its own view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eigengraphs.projection import gram
from eigengraphs.stack import GraphStack

if TYPE_CHECKING:
    from eigengraphs.graphs.treatment import Treatment
    from eigengraphs.projection import MaskedProjection, Projection

__all__ = ["FitView", "explained_of"]


@dataclass(frozen=True, eq=False)
class FitView:
    """A fitted :class:`~eigengraphs.JointEmbedding`, seen from outside.

    Settings may be changed after a fit; these are the ones that it was made with.
    """

    embedding: Any
    settings: Mapping[str, Any]
    """Those that decide what a component is: center, diagonal, directed, loadings, ..."""
    steps: tuple[str, ...]
    """Names of what was done to the weights."""
    directed: bool
    treatment: Treatment
    """Scale, mean graph and diagonal."""

    @classmethod
    def of(cls, embedding: Any) -> FitView:
        """Look at a fit."""
        check_is_fitted(embedding)
        plan = embedding._plan
        return cls(
            embedding,
            MappingProxyType(dict(embedding._fitted_with)),
            tuple(embedding._steps.names),
            bool(plan.directed),
            plan.treatment,
        )

    @property
    def gram(self) -> NDArray[np.float64]:
        """Inner products of the components over the entries that the loss counts, (d, d)."""
        return gram(self.embedding._fit, hollow=self.treatment.hollow)

    def stack(self, graphs: Any) -> GraphStack:
        """Return graphs as they came, as a stack."""
        if isinstance(graphs, GraphStack):
            return graphs
        return GraphStack(graphs, copy=False, missing=self.settings["missing"])

    def aligned(self, graphs: GraphStack) -> GraphStack:
        """Return graphs as the fit took them: transformed, vertices in its order."""
        aligned: GraphStack = self.embedding._aligned(graphs)
        return aligned

    def project(self, aligned: GraphStack) -> Projection | MaskedProjection:
        """Return aligned graphs on the components, in units of ``treatment.scale``."""
        projected: Projection | MaskedProjection = self.embedding._project(aligned)
        return projected


def explained_of(centered: bool) -> str:
    """Return what shares are of wherever something is "explained", in words."""
    return "the sum of squares around the mean graph" if centered else "the sum of squares"
