"""From loadings to findings: prediction, group differences, uncertainty, and what they rest on.

:func:`evaluate` and :func:`contest` predict labels of graphs that were held out; :func:`compare`
tests groups, :func:`change_points` and :func:`anomalies` look at graphs in time and at odd ones,
:func:`cluster_graphs` and :func:`cluster_vertices` group them. :func:`read_components` and
:func:`trust_components` say what a component is and whether it is found again;
:func:`loading_intervals` and :func:`bootstrap` how sure its numbers are. Each returns a record
with arrays and, mostly, words. See ``docs/guide/inference.md``.

>>> import eigengraphs as eg
>>> graphs = eg.models.ErdosRenyi(10, 0.5).sample(12, random_state=0)
>>> Lam = eg.JointEmbedding(1, random_state=0).fit_transform(graphs)
>>> eg.inference.cluster_graphs(Lam, n_clusters=2).labels.shape
(12,)
>>> list(eg.inference.METHODS)[:3]
['joint embedding', 'PCA', 'Multiple ASE']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigengraphs.inference.adjusting import CovariateAdjustment
    from eigengraphs.inference.bootstrapping import Bootstrap, bootstrap
    from eigengraphs.inference.changes import Changes, change_points
    from eigengraphs.inference.clusters import Clusters, cluster_graphs, cluster_vertices
    from eigengraphs.inference.comparing import compare
    from eigengraphs.inference.comparison import Comparison
    from eigengraphs.inference.contesting import Contest, contest
    from eigengraphs.inference.evaluating import evaluate
    from eigengraphs.inference.evaluation import Evaluation, PipelineScore
    from eigengraphs.inference.intervals import LoadingIntervals, loading_intervals
    from eigengraphs.inference.methods import METHODS
    from eigengraphs.inference.outliers import Anomalies, anomalies
    from eigengraphs.inference.reading import ComponentReading, read_components, trust_components

__all__ = [
    "METHODS",
    "Anomalies",
    "Bootstrap",
    "Changes",
    "Clusters",
    "Comparison",
    "ComponentReading",
    "Contest",
    "CovariateAdjustment",
    "Evaluation",
    "LoadingIntervals",
    "PipelineScore",
    "anomalies",
    "bootstrap",
    "change_points",
    "cluster_graphs",
    "cluster_vertices",
    "compare",
    "contest",
    "evaluate",
    "loading_intervals",
    "read_components",
    "trust_components",
]

# Loaded when first used: the report needs a part alone. No file is called as a name in it.
_HOME = {
    "METHODS": "methods",
    "Anomalies": "outliers",
    "Bootstrap": "bootstrapping",
    "Changes": "changes",
    "Clusters": "clusters",
    "Comparison": "comparison",
    "ComponentReading": "reading",
    "Contest": "contesting",
    "CovariateAdjustment": "adjusting",
    "Evaluation": "evaluation",
    "LoadingIntervals": "intervals",
    "PipelineScore": "evaluation",
    "anomalies": "outliers",
    "bootstrap": "bootstrapping",
    "change_points": "changes",
    "cluster_graphs": "clusters",
    "cluster_vertices": "clusters",
    "compare": "comparing",
    "contest": "contesting",
    "evaluate": "evaluating",
    "loading_intervals": "intervals",
    "read_components": "reading",
    "trust_components": "reading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'eigengraphs.inference' has no attribute {name!r}")
    return getattr(import_module(f"eigengraphs.inference.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
