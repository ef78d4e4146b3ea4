"""Random graph models: parameters, sampling, likelihoods, and conversions between them.

The models of section 2 of the paper: Erdos-Renyi, inhomogeneous Erdos-Renyi, stochastic block
model, random dot product graph, and multiple random eigen graphs, the model that joint embedding
estimates. ``paper`` holds the designs of its simulations, and :mod:`eigengraphs.models.simulation`
draws graphs with a known truth.

>>> import eigengraphs as eg
>>> eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0).shape
(6, 10, 10)
>>> eg.models.paper.SECTION_5_1.shape
(20, 3)
"""

from eigengraphs.models import paper
from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs
from eigengraphs.models.graph_models import (
    ErdosRenyi,
    GraphModel,
    InhomogeneousErdosRenyi,
    Latent,
    RandomDotProductGraph,
    StochasticBlockModel,
)
from eigengraphs.models.loading_laws import PointMasses

__all__ = [
    "ErdosRenyi",
    "GraphModel",
    "InhomogeneousErdosRenyi",
    "Latent",
    "MultipleRandomEigenGraphs",
    "PointMasses",
    "RandomDotProductGraph",
    "StochasticBlockModel",
    "paper",
]
