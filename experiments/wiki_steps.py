"""Steps of Table 2 and Figure 8: positions of Wikipedia pages, clustered and classified."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score, roc_auc_score, silhouette_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from threadpoolctl import threadpool_limits

import eigengraphs as eg
from eigengraphs.baselines import AdjacencySpectralEmbedding

__all__ = ["METHODS", "cluster", "purity", "resample", "separate", "unit_rows"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
METHODS = ("ASE+EN", "JE+EN", "ASE+FR", "JE+FR", "ASE+(EN+FR)", "JE+(EN,FR)")
D = 3
STARTS = 20  # of k-means


def cluster(rng: np.random.Generator, *, diagonal: str, clusters: int, permutations: int) -> Any:
    """Cluster the positions of every method; score the clusters, also against shuffled labels."""
    labels = _labels()
    found = {}
    for method, X in _positions(diagonal).items():
        groups = _clusters(X, clusters, rng)
        shuffled = [_scores(rng.permutation(labels), groups) for _ in range(permutations)]
        found[method] = _scores(labels, groups) | {
            "shuffled": {what: [one[what] for one in shuffled] for what in ("ARI", "purity")},
            "members": [np.bincount(labels[groups == k], minlength=2).tolist()
                        for k in range(clusters)],
            "zero rows": int((~X.any(axis=1)).sum()),
        }  # fmt: skip
    return found


def resample(
    rng: np.random.Generator, *, diagonal: str, clusters: int, first: int, samples: int
) -> Any:
    """Cluster bootstrapped positions; all methods see the same vertices, so differences pair.

    Returns a list over samples ``first``, ``first + 1``, ... of scores by method.
    """
    del first  # tells this batch's random stream from others
    labels, positions = _labels(), _positions(diagonal)
    results = []
    for _ in range(samples):
        rows = rng.integers(len(labels), size=len(labels))
        results.append({
            method: _scores(labels[rows], _clusters(X[rows], clusters, rng))
            for method, X in positions.items()
        })  # fmt: skip
    return results


def separate(rng: np.random.Generator, *, diagonal: str, d: int, repetitions: int) -> Any:
    """Return H of both graphs, and how far math and people are apart in it."""
    labels = _labels()
    H = np.asarray(_fit(diagonal, d).latent_positions_, dtype=float)
    X = unit_rows(H)

    def accuracy(y: Labels) -> float:
        folds = StratifiedKFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
        return float(cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=folds).mean())

    return {
        "H": H.tolist(),
        "labels": labels.tolist(),
        "AUC": [float(max(area, 1 - area)) for area in (roc_auc_score(labels, h) for h in H.T)],
        "accuracy": [accuracy(labels) for _ in range(repetitions)],
        "chance": [accuracy(rng.permutation(labels)) for _ in range(repetitions)],
        "silhouette": float(silhouette_score(X, labels)),
    }


def purity(labels: Labels, groups: Labels) -> float:
    """Return the share of vertices that have the most frequent label of their cluster."""
    table = np.zeros((groups.max() + 1, labels.max() + 1))
    np.add.at(table, (groups, labels), 1)
    return float(table.max(axis=1).sum() / len(labels))


def unit_rows(X: Array) -> Array:
    """Return X with rows of norm 1; rows that are zero to rounding stay zero."""
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    tiny = norms <= 1e-9 * norms.max()
    return np.asarray(np.where(tiny, 0.0, X / np.where(tiny, 1.0, norms)))


def _scores(labels: Labels, groups: Labels) -> dict[str, float]:
    return {"ARI": float(adjusted_rand_score(labels, groups)), "purity": purity(labels, groups)}


def _clusters(X: Array, clusters: int, rng: np.random.Generator) -> Labels:
    means = KMeans(clusters, n_init=STARTS, random_state=int(rng.integers(2**31)))
    with threadpool_limits(1):  # threads wait for each other longer than 704 points take
        return np.asarray(means.fit_predict(X))


@cache
def _positions(diagonal: str) -> dict[str, Array]:
    """Return the positions of every method, rows of norm 1, (n, D) each."""
    graphs = _wiki().graphs
    joint = _fit(diagonal, D)

    def alone(stack: eg.GraphStack) -> Array:
        treat = "observed" if diagonal == "observed" else "filled"
        fit = AdjacencySpectralEmbedding(D, diagonal=treat).fit(stack)
        return np.asarray(fit.positions_)

    separately, mean = alone(graphs), alone(eg.GraphStack([(graphs[0] + graphs[1]) / 2]))
    found = {
        "ASE+EN": separately[0],
        "JE+EN": joint.graph_positions("EN").positions,
        "ASE+FR": separately[1],
        "JE+FR": joint.graph_positions("FR").positions,
        "ASE+(EN+FR)": mean[0],
        "JE+(EN,FR)": joint.latent_positions_,
    }
    return {method: unit_rows(np.asarray(found[method], dtype=float)) for method in METHODS}


def _fit(diagonal: str, d: int) -> eg.JointEmbedding:
    return eg.JointEmbedding(d, diagonal=diagonal, random_state=0).fit(_wiki().graphs)


def _labels() -> Labels:
    """Return 1 for math and 0 for people, (n,)."""
    return np.asarray(_wiki().labels == "math", dtype=np.intp)


@cache
def _wiki() -> Any:
    return eg.datasets.fetch_wiki().paper_subset()
