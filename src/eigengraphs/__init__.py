"""Joint embedding of graphs: many graphs on one vertex set, embedded together.

:class:`GraphStack` holds the graphs, :func:`read` makes one of files, and :class:`JointEmbedding`
finds latent positions of the vertices and loadings of the graphs (eq. 1 of the paper).
:func:`select_dimension` chooses the number of components. The modules hold the rest: random graph
models, baselines, inference, files, stores and clusters, plots, data sets, errors.

>>> import eigengraphs as eg
>>> mice = eg.datasets.load_mice()
>>> je = eg.JointEmbedding(n_components=2, center=True, random_state=0)
>>> je.fit_transform(mice.graphs.log1p()).shape
(32, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigengraphs import (
        baselines,
        datasets,
        errors,
        inference,
        io,
        models,
        plot,
        store,
    )
    from eigengraphs.alignment import Alignment, align
    from eigengraphs.alignment.component_pairs import ComponentMatch, match_components
    from eigengraphs.dimension import DimensionChoice
    from eigengraphs.embedding import GraphPositions, JointEmbedding, load, select_dimension
    from eigengraphs.inference.prediction.flat_embedding import FlatEmbedding
    from eigengraphs.io import read
    from eigengraphs.stack import GraphStack
    from eigengraphs.store import open_store

__all__ = [
    "Alignment",
    "ComponentMatch",
    "DimensionChoice",
    "FlatEmbedding",
    "GraphPositions",
    "GraphStack",
    "JointEmbedding",
    "align",
    "baselines",
    "datasets",
    "errors",
    "inference",
    "io",
    "load",
    "match_components",
    "models",
    "open_store",
    "plot",
    "read",
    "select_dimension",
    "store",
]
__version__ = "0.1.0.dev0"

# Loaded when first used: scikit-learn and numba take longer to import than most commands to run.
_HOME = {
    "Alignment": "eigengraphs.alignment",
    "ComponentMatch": "eigengraphs.alignment.component_pairs",
    "DimensionChoice": "eigengraphs.dimension",
    "FlatEmbedding": "eigengraphs.inference.prediction.flat_embedding",
    "GraphPositions": "eigengraphs.embedding",
    "GraphStack": "eigengraphs.stack",
    "JointEmbedding": "eigengraphs.embedding",
    "align": "eigengraphs.alignment",
    "load": "eigengraphs.embedding",
    "match_components": "eigengraphs.alignment.component_pairs",
    "open_store": "eigengraphs.store",
    "read": "eigengraphs.io",
    "select_dimension": "eigengraphs.embedding",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'eigengraphs' has no attribute {name!r}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    return import_module(f"eigengraphs.{name}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
