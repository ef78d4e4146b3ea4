"""What graphs are drawn from: classes of graphs on one vertex set, each with a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigengraphs.models import GraphModel, MultipleRandomEigenGraphs, RandomDotProductGraph
from eigengraphs.models.laws import BERNOULLI, EdgeLaw, edge_law
from eigengraphs.models.validation import Floats, Ints
from eigengraphs.simulation.loadings import Loadings
from eigengraphs.system.tables import short_repr

__all__ = ["Design", "GraphClass", "Pairs"]


@dataclass(frozen=True, eq=False)
class GraphClass:
    """A kind of graph: how often it comes, and the model of its graphs."""

    name: str
    weight: float
    model: GraphModel
    loadings: Loadings | None = None

    @property
    def law(self) -> EdgeLaw:
        """How an edge is drawn around its mean."""
        model = self.model
        if isinstance(model, MultipleRandomEigenGraphs):
            return edge_law(model.law, model.noise_scale)
        return BERNOULLI


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs s < t (s <= t with loops) of a small graph, and their means in each class.

    ``means`` are (n_pairs,) for a class without loadings and (d, n_pairs), h_k[s] h_k[t], else.
    ``place`` (n * n,) says which pair an entry of the matrix is; n_pairs for a zero diagonal.
    """

    s: Ints
    t: Ints
    place: Ints
    means: tuple[Floats, ...]
    laws: tuple[EdgeLaw, ...]
    clip: tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class Design:
    """Classes of graphs on one vertex set.

    Attributes
    ----------
    source : mapping
        What it was made of, as it goes into a record.
    where : str
        What it is called in errors: a file, or the name of a design.
    classes : tuple of GraphClass
        Weights sum to one.
    loops : bool
        Whether self-loops are drawn.
    n_graphs : int
        How many graphs are drawn where nobody says.

    Examples
    --------
    >>> from eigengraphs.simulation import read_design
    >>> design = read_design("section5.2")
    >>> design.n_vertices, design.n_components, [kind.name for kind in design.classes]
    (100, 2, ['1', '2'])
    """

    source: Mapping[str, Any]
    where: str
    classes: tuple[GraphClass, ...]
    loops: bool = False
    n_graphs: int = 100

    __repr__ = short_repr

    @property
    def n_vertices(self) -> int:
        """Number of vertices, n."""
        return self.classes[0].model.n_vertices

    @property
    def n_components(self) -> int:
        """Number of loadings of a graph, d; 0 for models without loadings."""
        loadings = self.classes[0].loadings
        return 0 if loadings is None else loadings.n_components

    @property
    def positions(self) -> Floats | None:
        """True positions (n, d) where all graphs share them."""
        model = self.classes[0].model
        if isinstance(model, MultipleRandomEigenGraphs):
            return model.latent_positions
        if isinstance(model, RandomDotProductGraph) and len(self.classes) == 1:
            return model.positions
        return None

    @cached_property
    def upto(self) -> Floats:
        """Cumulative weights of the classes but the last."""
        sums: Floats = np.cumsum([kind.weight for kind in self.classes])[:-1]
        return sums

    @cached_property
    def pairs(self) -> Pairs:
        """Pairs and their means; for small graphs alone, it takes d n^2 / 2 numbers."""
        n = self.n_vertices
        s, t = np.triu_indices(n, 0 if self.loops else 1)
        place = np.full((n, n), len(s), dtype=np.int64)
        place[s, t] = place[t, s] = np.arange(len(s))
        means = []
        for kind in self.classes:
            model = kind.model
            if isinstance(model, MultipleRandomEigenGraphs):
                H = model.latent_positions.T
                means.append(np.ascontiguousarray(H[:, s] * H[:, t]))
            else:
                means.append(model.edge_probabilities()[s, t])
        clip = tuple(bool(getattr(kind.model, "clip", False)) for kind in self.classes)
        laws = tuple(kind.law for kind in self.classes)
        return Pairs(s, t, place.ravel(), tuple(means), laws, clip)
