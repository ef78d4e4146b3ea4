"""Experiment ``aucs``: research groups of 61 people from five kinds of relations."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from eigengraphs import baselines, datasets, inference
from experiments import drawing
from experiments.frame import Outcome, Run, Table, embed, grid, new
from experiments.repetitions import Array, Rng

DIMENSIONS = (3, 4, 5, 6, 8, 10)
GROUPS = 8
PLAIN, CORRECTED = "joint, plain", "joint, degree-corrected"
BASELINES = {
    "DC-MASE": baselines.DegreeCorrectedMASE, "MASE": baselines.MultipleASE,
    "Omnibus": baselines.Omnibus, "UASE": baselines.UnfoldedASE, "Sum A": baselines.SummedGraphs,
    "bias-adjusted SoS": baselines.SumOfSquares,
}  # fmt: skip
METHODS = (CORRECTED, PLAIN, *BASELINES)
SPHERICAL = "unit rows"


def step(rng: Rng, *, d: int, samples: int) -> dict[str, Any]:
    """Return the adjusted Rand index of every method, also of people drawn with replacement."""
    data = datasets.load_multiplex("aucs")
    assert data.labels is not None
    known = np.array([len(label) == 2 and label != "NA" for label in data.labels])
    groups = data.labels[known]
    found: dict[str, Array] = {}
    for name, corrected in ((CORRECTED, True), (PLAIN, False)):
        fit = embed(data.graphs, d, degree_corrected=corrected)
        for rows in (False, True):
            clusters = inference.cluster_vertices(
                fit, n_clusters=GROUPS, method="kmeans", normalize_rows=rows
            )
            found[f"{name}, {SPHERICAL}" if rows else name] = clusters.labels
        if corrected:
            drawn = inference.cluster_vertices(
                fit, n_clusters=GROUPS, method="kmeans", graphs=data.graphs, n_boot=20
            )
    for name, method in BASELINES.items():
        X = method(d).fit(data.graphs).latent_positions_
        for which, Y in ((name, X), (f"{name}, {SPHERICAL}", normalize(X))):
            found[which] = KMeans(GROUPS, n_init=10, random_state=0).fit_predict(Y)
    people = [np.arange(len(groups)), *rng.integers(len(groups), size=(samples, len(groups)))]
    scores = {
        name: [float(adjusted_rand_score(groups[who], labels[known][who])) for who in people]
        for name, labels in found.items()
    }
    return {"scores": scores, "stability": drawn.stability, "people": int(known.sum())}


def aucs(run: Run) -> Outcome:
    """Cluster people by their positions, and compare clusters with research groups."""
    dims = DIMENSIONS if run.full else (4,)
    results = run.each(step, grid({"samples": 1000 if run.full else 50}, d=dims))
    scores = {
        name: np.array([results[d]["scores"][name] for d in dims]) for name in results[4]["scores"]
    }  # (dims, 1 + samples)
    mean = {name: values.mean(axis=0) for name, values in scores.items()}
    at = dims.index(4)
    best = max((name for name in mean if not name.startswith("joint")), key=lambda x: mean[x][0])
    ranked = sorted(mean, key=lambda name: -mean[name][0])
    pairs = (
        ("degree-corrected beside plain, d = 4", scores[CORRECTED][at], scores[PLAIN][at]),
        ("degree-corrected beside plain, mean of all d", mean[CORRECTED], mean[PLAIN]),
        (f"degree-corrected beside the best baseline, {best}", mean[CORRECTED], mean[best]),
    )
    findings = [
        new(
            f"(not published: {what})",
            f"ARI {_score(one)} and {_score(other)}, difference {_score(one - other)}",
            _sign(one - other),
        )
        for what, one, other in pairs
    ]
    stable = ", ".join(f"{results[d]['stability']:.2f} (d = {d})" for d in dims)
    return Outcome(
        findings,
        [
            Table(
                [(name, *map(_score, scores[name]), _score(mean[name])) for name in ranked],
                columns=("method", *(f"d = {d}" for d in dims), "mean"),
            )
        ],
        _picture(scores, dims),
        {"people": results[4]["people"], "stable": stable},
    )


def _score(values: Array) -> str:
    """Return the index of all people, and its standard error over draws of people."""
    return f"{values[0]:.2f} ({values[1:].std():.2f})"


def _sign(difference: Array) -> str:
    if abs(difference[0]) <= 2 * difference[1:].std():
        return "no difference beyond two standard errors"
    return "degree-corrected is better" if difference[0] > 0 else "degree-corrected is worse"


def _picture(scores: Any, dims: Any) -> Any:
    figure, ax = drawing.figure(7.4, 3.2)
    for name, color in zip(METHODS, drawing.COLORS, strict=False):
        width = 2.4 if name == CORRECTED else 1.2
        ax.plot(dims, scores[name][:, 0], "o-", color=color, label=name, linewidth=width)
    drawing.tidy(ax, "dimensions", "adjusted Rand index", "rows as they are", legend=True)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
