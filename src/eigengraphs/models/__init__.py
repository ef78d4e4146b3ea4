"""Random graph models: parameters, sampling, likelihoods, and conversions between them.

The models of section 2 of the paper: Erdos-Renyi, inhomogeneous Erdos-Renyi, stochastic block
model, random dot product graph, and multiple random eigen graphs, the model that joint embedding
estimates. ``paper`` holds the designs of its simulations, ``theory`` its section 4.

>>> import eigengraphs as eg
>>> eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0).shape
(6, 10, 10)
>>> eg.models.paper.SECTION_5_1.shape
(20, 3)
"""

from eigengraphs.models import paper, theory
from eigengraphs.models.base import GraphModel, Latent
from eigengraphs.models.block import StochasticBlockModel
from eigengraphs.models.dot_product import RandomDotProductGraph
from eigengraphs.models.eigen_graphs import MultipleRandomEigenGraphs
from eigengraphs.models.erdos_renyi import ErdosRenyi
from eigengraphs.models.inhomogeneous import InhomogeneousErdosRenyi
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
    "theory",
]
