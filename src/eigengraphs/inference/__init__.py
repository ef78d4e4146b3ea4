"""From loadings to findings: prediction, group differences, uncertainty, and what they rest on.

:func:`evaluate` and :func:`contest` predict labels of held-out graphs; :func:`compare` tests
groups, :func:`change_points` finds changes in time and :func:`anomalies` graphs unlike the others,
:func:`cluster_graphs` and :func:`cluster_vertices` group them. :func:`read_components` and
:func:`trust_components` say what a component is and whether it replicates;
:func:`loading_intervals` and :func:`bootstrap` how precise its numbers are. Each returns a record
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
    from eigengraphs.inference.changes_and_anomalies import (
        Anomalies,
        Changes,
        anomalies,
        change_points,
    )
    from eigengraphs.inference.clusters import Clusters, cluster_graphs, cluster_vertices
    from eigengraphs.inference.component_meaning import (
        ComponentReading,
        read_components,
        trust_components,
    )
    from eigengraphs.inference.group_differences import Comparison, compare
    from eigengraphs.inference.intervals_and_bootstrap import (
        Bootstrap,
        LoadingIntervals,
        bootstrap,
        loading_intervals,
    )
    from eigengraphs.inference.label_prediction import Evaluation, PipelineScore, evaluate
    from eigengraphs.inference.method_contest import Contest, contest
    from eigengraphs.inference.prediction_pipelines import METHODS, CovariateAdjustment

__all__ = [
    "METHODS", "Anomalies", "Bootstrap", "Changes", "Clusters", "Comparison", "ComponentReading",
    "Contest", "CovariateAdjustment", "Evaluation", "LoadingIntervals", "PipelineScore",
    "anomalies", "bootstrap", "change_points", "cluster_graphs", "cluster_vertices", "compare",
    "contest", "evaluate", "loading_intervals", "read_components", "trust_components",
]  # fmt: skip

# Loaded when first used: the report needs a part alone. No file has the name of a function.
_FILES = {
    "changes_and_anomalies": ("Anomalies", "Changes", "anomalies", "change_points"),
    "clusters": ("Clusters", "cluster_graphs", "cluster_vertices"),
    "component_meaning": ("ComponentReading", "read_components", "trust_components"),
    "group_differences": ("Comparison", "compare"),
    "intervals_and_bootstrap": (
        "Bootstrap", "LoadingIntervals", "bootstrap", "loading_intervals",
    ),
    "label_prediction": ("Evaluation", "PipelineScore", "evaluate"),
    "method_contest": ("Contest", "contest"),
    "prediction_pipelines": ("METHODS", "CovariateAdjustment"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for file, names in _FILES.items():
        if name in names:
            return getattr(import_module(f"eigengraphs.inference.{file}"), name)
    raise AttributeError(f"module 'eigengraphs.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
