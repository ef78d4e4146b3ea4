"""Random graph models: parameters, sampling, likelihoods, and conversions between them."""

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
