"""From loadings to findings: prediction, group differences, uncertainty, and what they rest on.

:func:`evaluate` and :func:`contest` predict labels of held-out graphs, :func:`predict_edges` their
edges, and :func:`identify` recognizes people; :func:`compare` tests groups, and :func:`power` says
how many participants that needs; :func:`change_points` finds changes in time and :func:`anomalies`
graphs unlike the others, :func:`cluster_graphs` and :func:`cluster_vertices` group them;
:func:`structure` and :func:`fit_structure` say what graphs share.
:func:`read_components` and :func:`trust_components` say what a component is and whether it
replicates; :func:`loading_intervals` and :func:`bootstrap` how precise its numbers are. Each
returns a record with arrays and, mostly, words. See ``docs/guide/inference.md``.

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
    from eigengraphs.inference.intervals_and_bootstrap import (
        Bootstrap,
        LoadingIntervals,
        bootstrap,
        loading_intervals,
    )
    from eigengraphs.inference.prediction.label_prediction import (
        Evaluation,
        PipelineScore,
        evaluate,
    )
    from eigengraphs.inference.prediction.link_prediction import EdgePrediction, predict_edges
    from eigengraphs.inference.prediction.method_contest import (
        Contest,
        Identification,
        contest,
        identify,
    )
    from eigengraphs.inference.prediction.prediction_pipelines import METHODS
    from eigengraphs.inference.shared_structure import Structure, fit_structure, structure
    from eigengraphs.inference.studies.adjustment import CovariateAdjustment, Harmonize
    from eigengraphs.inference.studies.formulas import Formula
    from eigengraphs.inference.studies.group_differences import Comparison, compare
    from eigengraphs.inference.studies.planned_studies import Power, power
    from eigengraphs.inference.studies.trajectories_over_time import Trajectories, trajectories

__all__ = [
    "METHODS", "Anomalies", "Bootstrap", "Changes", "Clusters", "Comparison", "ComponentReading",
    "Contest", "CovariateAdjustment", "EdgePrediction", "Evaluation", "Formula", "Harmonize",
    "Identification", "LoadingIntervals", "PipelineScore", "Power", "Structure", "Trajectories",
    "anomalies", "bootstrap", "change_points", "cluster_graphs", "cluster_vertices", "compare",
    "contest", "evaluate", "fit_structure", "identify", "loading_intervals", "power",
    "predict_edges", "read_components", "structure", "trajectories", "trust_components",
]  # fmt: skip

# Loaded when first used: the report needs a part alone. No file has the name of a function.
_FILES = {
    "changes_and_anomalies": ("Anomalies", "Changes", "anomalies", "change_points"),
    "clusters": ("Clusters", "cluster_graphs", "cluster_vertices"),
    "component_meaning": ("ComponentReading", "read_components", "trust_components"),
    "studies.adjustment": ("CovariateAdjustment", "Harmonize"),
    "studies.formulas": ("Formula",),
    "studies.group_differences": ("Comparison", "compare"),
    "studies.planned_studies": ("Power", "power"),
    "studies.trajectories_over_time": ("Trajectories", "trajectories"),
    "intervals_and_bootstrap": (
        "Bootstrap", "LoadingIntervals", "bootstrap", "loading_intervals",
    ),
    "prediction.label_prediction": ("Evaluation", "PipelineScore", "evaluate"),
    "prediction.link_prediction": ("EdgePrediction", "predict_edges"),
    "prediction.method_contest": ("Contest", "Identification", "contest", "identify"),
    "prediction.prediction_pipelines": ("METHODS",),
    "shared_structure": ("Structure", "fit_structure", "structure"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for file, names in _FILES.items():
        if name in names:
            return getattr(import_module(f"eigengraphs.inference.{file}"), name)
    raise AttributeError(f"module 'eigengraphs.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
