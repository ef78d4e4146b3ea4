"""Joint embedding of graphs: many graphs on one vertex set, embedded together.

>>> import eigengraphs as eg
>>> mice = eg.datasets.load_mice()
>>> je = eg.JointEmbedding(n_components=2, center=True, random_state=0)
>>> je.fit_transform(mice.graphs.log1p()).shape
(32, 2)
"""

from eigengraphs import datasets, errors, models
from eigengraphs.embedding import GraphPositions, JointEmbedding
from eigengraphs.graphs import GraphStack
from eigengraphs.matching import ComponentMatch, match_components

__all__ = [
    "ComponentMatch",
    "GraphPositions",
    "GraphStack",
    "JointEmbedding",
    "datasets",
    "errors",
    "match_components",
    "models",
]
__version__ = "0.1.0.dev0"
