"""Methods that joint embedding is compared with: those of the paper, and later ones."""

from eigengraphs.baselines.adjacency import AdjacencySpectralEmbedding
from eigengraphs.baselines.laplacian import LaplacianEigenmap
from eigengraphs.baselines.multiple_ase import MultipleASE
from eigengraphs.baselines.omnibus import Omnibus
from eigengraphs.baselines.spectral_statistics import SpectralStatistics
from eigengraphs.baselines.statistics import GraphStatistics
from eigengraphs.baselines.unfolded import UnfoldedASE
from eigengraphs.baselines.vectorized_pca import VectorizedPCA

__all__ = [
    "AdjacencySpectralEmbedding",
    "GraphStatistics",
    "LaplacianEigenmap",
    "MultipleASE",
    "Omnibus",
    "SpectralStatistics",
    "UnfoldedASE",
    "VectorizedPCA",
]
