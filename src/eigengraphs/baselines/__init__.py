"""Methods that joint embedding is compared with: those of the paper, and later ones.

All are transformers of stacks of graphs, as scikit-learn has them: ``fit``, ``transform``,
``fit_transform``, and ``pairwise_distances`` of graphs. See ``docs/guide/baselines.md``.

>>> import eigengraphs as eg
>>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
>>> eg.baselines.Omnibus(2).fit(graphs).pairwise_distances().shape
(6, 6)
"""

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
