"""Methods to compare joint embedding with: those of the paper, and later ones.

All are scikit-learn transformers of stacks of graphs: ``fit``, ``transform``, ``fit_transform``,
and ``pairwise_distances`` of graphs. See ``docs/guide/baselines.md``.

>>> import eigengraphs as eg
>>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(6, random_state=0)
>>> eg.baselines.Omnibus(2).fit(graphs).pairwise_distances().shape
(6, 6)
"""

from eigengraphs.baselines.graph_statistics import GraphStatistics, SpectralStatistics
from eigengraphs.baselines.spectral_embeddings import (
    AdjacencySpectralEmbedding,
    DegreeCorrectedMASE,
    LaplacianEigenmap,
    MultipleASE,
    Omnibus,
    SummedGraphs,
    SumOfSquares,
    UnfoldedASE,
)
from eigengraphs.baselines.vectorized_pca import VectorizedPCA

__all__ = [
    "AdjacencySpectralEmbedding",
    "DegreeCorrectedMASE",
    "GraphStatistics",
    "LaplacianEigenmap",
    "MultipleASE",
    "Omnibus",
    "SpectralStatistics",
    "SumOfSquares",
    "SummedGraphs",
    "UnfoldedASE",
    "VectorizedPCA",
]
