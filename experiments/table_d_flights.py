"""Experiment ``table_d``: a month of flights from communities of airports in all other months."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from eigengraphs import baselines, datasets
from experiments import drawing
from experiments.frame import Outcome, Run, Table, embed, grid, new, published
from experiments.repetitions import Array, Rng, gathered, measured

NUMBERS = (4, 6)
PLAIN, CORRECTED = "joint, plain", "joint, degree-corrected"
BASELINES = {
    "DC-MASE": baselines.DegreeCorrectedMASE, "Sum": baselines.SummedGraphs,
    "SoS": baselines.SumOfSquares, "MASE": baselines.MultipleASE,
}  # fmt: skip
METHODS = (CORRECTED, PLAIN, *BASELINES)
PUBLISHED = published("table_d")  # squared errors over n, by K


def step(rng: Rng, *, month: int, K: int) -> dict[str, dict[str, float]]:
    """Fit all months but one; return squared errors over n of that one, by both descriptions."""
    del rng
    graphs = _flights()
    rest, A = graphs[np.arange(graphs.n_graphs) != month], graphs[month].toarray()
    blocks, parts = {}, {}

    def error(fitted: Array) -> float:
        return float(((A - fitted) ** 2).sum() / len(A))

    for name, corrected in ((CORRECTED, True), (PLAIN, False)):
        fit = embed(rest, K, degree_corrected=corrected)
        H = np.linalg.qr(fit.latent_positions_)[0]
        blocks[name] = error(block_model(A, _clusters(H if corrected else normalize(H), K)))
        own = {"degrees": A.sum(axis=1)[None]} if corrected else {}
        fitted = np.asarray(fit.inverse_transform(fit.transform(A[None]), **own))[0]
        parts[name] = error(fitted)
    for name, method in BASELINES.items():
        V = method(K).fit(rest).latent_positions_
        rows = V if name in ("DC-MASE", "SoS") else normalize(V)  # as in table A
        blocks[name] = error(block_model(A, _clusters(rows, K)))
        parts[name] = error(V @ (V.T @ A @ V) @ V.T)
    return {"communities": blocks, "components": parts}


def block_model(A: Array, labels: NDArray[np.intp]) -> Array:
    """Return the mean of the degree-corrected block model with the degrees and blocks of A.

    An edge (s, t) is expected to be A's sum over the blocks of s and t, times the shares that s and
    t have of all degrees in their blocks.
    """
    Z = np.eye(labels.max() + 1)[labels]
    degrees = A.sum(axis=1)
    volumes = (Z.T @ degrees)[labels]
    shares = np.divide(degrees, volumes, out=np.zeros_like(degrees), where=volumes > 0)
    return np.asarray(np.outer(shares, shares) * (Z @ (Z.T @ A @ Z) @ Z.T))


def _clusters(X: Array, K: int) -> NDArray[np.intp]:
    return np.asarray(KMeans(K, n_init=10, random_state=0).fit_predict(X), dtype=np.intp)


@cache
def _flights() -> Any:
    return datasets.fetch_us_airports().graphs


def table_d(run: Run) -> Outcome:
    """Leave out one month after another."""
    months = range(69) if run.full else range(0, 69, 23)
    found = run.each(step, grid({}, K=NUMBERS if run.full else (4,), month=months))
    numbers = list(dict.fromkeys(K for K, _ in found))
    results = {K: gathered([found[K, month] for month in months]) for K in numbers}
    rows: list[Any] = []
    findings = []
    for K in numbers:
        for kind, by in results[K].items():
            rows.append((f"K = {K}, {kind}", *(measured(by[name], 0) for name in METHODS)))
        printed = PUBLISHED[str(K)]
        rows.append((f"K = {K}, published", *(printed.get(name) for name in METHODS)))
        blocks = results[K]["communities"]
        ranked = sorted(METHODS, key=lambda name: blocks[name].mean())
        ahead = blocks["DC-MASE"] - blocks[CORRECTED]
        author, least = min(printed.items(), key=lambda one: one[1])
        findings.append(new(
            f"(K = {K}: best published {least:,} by {author}, of a protocol that is "
            "not given)",
            ", ".join(f"{name} {blocks[name].mean():,.0f}" for name in ranked)
            + f"; DC-MASE less joint, degree-corrected: {measured(ahead, 0)}",
            f"{ranked[0]} is lowest here, by communities",
        ))  # fmt: skip
    return Outcome(
        findings,
        [Table(rows)],
        _picture(results),
        {"months": len(months)},
    )


def _picture(results: Any) -> Any:
    figure, axes = drawing.figure(7.4, 3.0, 1, 2)
    for ax, kind in zip(axes, ("communities", "components"), strict=True):
        for place, K in enumerate(results):
            for k, name in enumerate(METHODS):
                at = k + 0.36 * (place - (len(results) - 1) / 2)
                ax.bar(at, results[K][kind][name].mean() / 1000, 0.34, alpha=1 - 0.45 * place,
                       color=drawing.COLORS[k])  # fmt: skip
                if kind == "communities" and name in PUBLISHED[str(K)]:
                    ax.plot(at, PUBLISHED[str(K)][name] / 1000, "k_", markersize=9)
        ax.set_xticks(range(len(METHODS)), [name.replace(", ", "\n") for name in METHODS])
        ax.tick_params(axis="x", labelsize=6)
        drawing.tidy(ax, "", "squared error / n, thousands", f"by {kind}")
    return figure
