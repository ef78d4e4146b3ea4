"""Experiment ``table_a``: communities of multilayer graphs, by the published design of DC-MASE."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import normalize

from eigengraphs import baselines
from experiments import drawing
from experiments.frame import Outcome, Run, Table, beside, embed, grid, published
from experiments.repetitions import Array, Rng, error_of, measured

N, K, DEGREE = 150, 3, 10.0
LAYERS = (5, 10, 50)
BLOCKS, THETAS = ("same", "different"), ("same", "different", "alternating")
OURS, REFINED, PLAIN = "joint, degree-corrected", "the same, refined", "joint, plain"
METHODS = (OURS, REFINED, PLAIN, "DC-MASE", "Sum A", "bias-adjusted SoS", "MASE (spherical)")
#: Misclassification at 5, 10 and 50 layers, by matrices B and degrees theta.
PUBLISHED = published("table_a")
_SQUARE = np.repeat(np.arange(K), N // K)  # the community of each vertex


def drawn(rng: Rng, layers: int, B: str, theta: str) -> Array:
    """Draw layers (L, n, n) of the degree-corrected block model; mean degree 10, no loops."""

    def degrees() -> Array:
        return _of_mean_one(rng.exponential(1.0, N) + 0.2)

    same, graphs = degrees(), np.zeros((layers, N, N))
    for i in range(layers):
        inside, across = (0.10, 0.04) if B == "same" else rng.random(2)
        factors = same if theta == "same" else degrees() if theta == "different" else _half(i)
        P = np.outer(factors, factors) * np.where(_SQUARE[:, None] == _SQUARE, inside, across)
        upper = np.triu(rng.random((N, N)) < np.minimum(P * (DEGREE * N / P.sum()), 1.0), 1)
        graphs[i] = upper + upper.T
    return graphs


def _half(i: int) -> Array:
    """Return degrees of which the first half of each block has the most in every second layer."""
    low_first = np.tile(np.repeat([0.15, 0.8], [N // K // 2, N // K - N // K // 2]), K)
    return _of_mean_one(low_first if i % 2 == 0 else 0.95 - low_first)


def _of_mean_one(factors: Array) -> Array:
    means = np.bincount(_SQUARE, factors) / np.bincount(_SQUARE)
    return np.asarray(factors / means[_SQUARE])


def misclassified(positions: Array) -> float:
    """Return the share of vertices in the wrong cluster, under the best matching of clusters."""
    labels = KMeans(K, n_init=10, random_state=0).fit_predict(positions)
    table = contingency_matrix(_SQUARE, labels)
    return float(1 - table[linear_sum_assignment(-table)].sum() / N)


def step(rng: Rng, *, layers: int, B: str, theta: str, repetition: int) -> dict[str, float]:
    """Draw layers once, and cluster their vertices by every method."""
    del repetition
    graphs = drawn(rng, layers, B, theta)
    corrected = {"degree_corrected": True, "tol": 1e-5}

    def joint(**settings: Any) -> Array:
        H = embed(graphs, K, **settings).latent_positions_
        return np.asarray(np.linalg.qr(H)[0])

    def space(method: Any) -> Array:
        return np.asarray(method(K).fit(graphs).latent_positions_)

    found = {
        OURS: joint(**corrected),
        REFINED: joint(**corrected, refine=True),
        PLAIN: normalize(joint(tol=1e-5)),
        "DC-MASE": space(baselines.DegreeCorrectedMASE),
        "Sum A": normalize(space(baselines.SummedGraphs)),
        "bias-adjusted SoS": space(baselines.SumOfSquares),
        "MASE (spherical)": normalize(space(baselines.MultipleASE)),
    }
    return {name: misclassified(X) for name, X in found.items()}


def table_a(run: Run) -> Outcome:
    """Compare methods on six kinds of layers, at three numbers of them."""
    layers, repetitions = (LAYERS, 100) if run.full else ((5,), 6)
    cells = grid({}, layers=layers, B=BLOCKS, theta=THETAS)
    results = run.repeated(step, cells, repetitions)
    rows, findings, n_best = [], [], 0
    for B in BLOCKS:
        for theta in THETAS:
            for L in layers:
                found, printed = results[L, B, theta], PUBLISHED[f"{B}, {theta}"]
                place = LAYERS.index(L)
                best = min(printed, key=lambda name: printed[name][place])
                ours, bound = found[OURS], printed[best][place]
                error = float(error_of(ours))
                n_best += ours.mean() <= bound + 2 * error
                rows.append((
                    f"{B}, {theta}", L, *(measured(found[name]) for name in METHODS),
                    *(printed[name][place] for name in printed),
                ))  # fmt: skip
                claim = f"{B}, {theta}, {L} layers: best published {bound:.4f} ({best})"
                findings.append(beside(claim, ours, bound))
    gap = max(float(found[OURS].mean() - found[REFINED].mean()) for found in results.values())
    return Outcome(
        findings,
        [Table(rows)],
        _picture(results, layers),
        {"repetitions": repetitions, "best": n_best, "cells": len(findings), "gap": gap},
    )


def _picture(results: dict[Any, Any], layers: tuple[int, ...]) -> Any:
    figure, axes = drawing.figure(7.4, 4.6, 2, 3, sharey=True)
    shown = (OURS, "DC-MASE", "Sum A", "bias-adjusted SoS", "MASE (spherical)")
    for row, B in zip(axes, BLOCKS, strict=True):
        for ax, theta in zip(row, THETAS, strict=True):
            for name, color in zip(shown, drawing.COLORS, strict=False):
                errors = [results[L, B, theta][name].mean() for L in layers]
                width = 2.2 if name == OURS else 1.0
                ax.plot(range(len(layers)), errors, "o-", color=color, label=name, linewidth=width)
            ax.set_title(f"B {B}, degrees {theta}")
            ax.set_xticks(range(len(layers)), [str(L) for L in layers])
        row[0].set_ylabel("misclassified")
    for ax in axes[1]:
        ax.set_xlabel("layers")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    return figure
