"""From loadings to findings: prediction, group differences, uncertainty, and what they rest on.

:func:`evaluate` and :func:`contest` predict labels of held-out graphs, :func:`predict_edges` their
edges, and :func:`identify` recognizes people; :func:`compare` tests groups, :func:`edge_effects`
says which edges differ, and :func:`power` how many participants that needs;
:func:`change_points` finds changes in time and :func:`anomalies` graphs unlike the others,
:func:`cluster_graphs` and :func:`cluster_vertices` group them; :func:`structure` and
:func:`fit_structure` say what graphs share.
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
from eigengraphs.inference.studies.effects_on_edges import EdgeEffects, edge_effects
from eigengraphs.inference.studies.formulas import Formula
from eigengraphs.inference.studies.group_differences import Comparison, compare
from eigengraphs.inference.studies.planned_studies import Power, power
from eigengraphs.inference.studies.trajectories_over_time import Trajectories, trajectories

__all__ = [
    "METHODS", "Anomalies", "Bootstrap", "Changes", "Clusters", "Comparison", "ComponentReading",
    "Contest", "CovariateAdjustment", "EdgeEffects", "EdgePrediction", "Evaluation", "Formula",
    "Harmonize", "Identification", "LoadingIntervals", "PipelineScore", "Power", "Structure",
    "Trajectories", "anomalies", "bootstrap", "change_points", "cluster_graphs", "cluster_vertices",
    "compare", "contest", "edge_effects", "evaluate", "fit_structure", "identify",
    "loading_intervals", "power", "predict_edges", "read_components", "structure", "trajectories",
    "trust_components",
]  # fmt: skip
