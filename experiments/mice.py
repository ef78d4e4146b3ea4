"""Experiment ``mice``: genotypes of 32 mice from their connectomes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import eigengraphs as eg
from eigengraphs import baselines, datasets
from experiments import drawing
from experiments.outcome import Finding, Outcome, Table
from experiments.run import Run

__all__ = ["run", "step"]


def step(
    rng: np.random.Generator, *, held_out: int, diagonal: str, largest: int
) -> dict[str, list[bool]]:
    """Hold one mouse out, embed the others, and predict its genotype; by number of components."""
    del rng
    mice = datasets.load_mice()
    graphs, genotypes = mice.graphs.log1p(), mice.genotypes
    others = [i for i in range(len(graphs)) if i != held_out]
    train, test = graphs[others], graphs[held_out : held_out + 1]
    fit = eg.JointEmbedding(largest, center=True, diagonal=diagonal, random_state=0).fit(train)
    pca = baselines.VectorizedPCA(largest).fit(train)
    right: dict[str, list[bool]] = {"JE": [], "PCA": []}
    points, point = pca.transform(train), pca.transform(test)
    for d in range(1, largest + 1):
        short = fit.truncate(d) if d < largest else fit
        for name, (known, new) in {
            "JE": (short.loadings_, short.transform(test)),
            "PCA": (points[:, :d], point[:, :d]),
        }.items():
            nearest = KNeighborsClassifier(1).fit(known, genotypes[others])
            right[name].append(bool(nearest.predict(new)[0] == genotypes[held_out]))
    return right


def run(run: Run) -> Outcome:
    """Hold out each of the 32 mice (every fourth in a quick run)."""
    largest = 16 if run.full else 8
    held_out = range(32) if run.full else range(0, 32, 4)
    settings = ("observed", "auto")
    run.expect(len(settings) * len(held_out))
    results: dict[str, Any] = {}
    for diagonal in settings:
        steps = run.repeat(
            step,
            ({"held_out": i, "diagonal": diagonal, "largest": largest} for i in held_out),
        )
        results[diagonal] = {
            name: np.array([one[name] for one in steps], dtype=float) for name in ("JE", "PCA")
        }
    n, m = 332, 31
    parameters = {"JE": n + m, "PCA": n * (n + 1) // 2 + m}
    rows = tuple(
        (diagonal, name, d + 1, float(right[:, d].mean()), _error(right[:, d]),
         (d + 1) * parameters[name])
        for diagonal, methods in results.items()
        for name, right in methods.items()
        for d in range(largest)
    )  # fmt: skip
    heads = ("JE, auto", "JE, observed", "PCA")
    curves = (results["auto"]["JE"], results["observed"]["JE"], results["auto"]["PCA"])
    shown: list[tuple[int | str, ...]] = []
    for d in range(largest):
        cells = [f"{right[:, d].mean():.3f} ({_error(right[:, d]):.3f})" for right in curves]
        shown.append((d + 1, *cells))
    findings = []
    for diagonal, methods in results.items():
        best = {name: (right.mean(axis=0).max(), int(right.mean(axis=0).argmax()) + 1)
                for name, right in methods.items()}  # fmt: skip
        cost = {name: best[name][1] * parameters[name] for name in best}
        findings.append(
            Finding(
                "(not in the paper: genotypes of mice, chance 25 %)",
                f"diagonal {diagonal}: JE at best {best['JE'][0]:.1%} with {best['JE'][1]} "
                f"components and {cost['JE']:,} parameters, PCA {best['PCA'][0]:.1%} with "
                f"{best['PCA'][1]} and {cost['PCA']:,}; PCA is ahead at {_behind(methods)} of the "
                f"{largest} numbers of components",
                "new",
                "the best of all d is chosen after the fact, for both alike",
            )
        )
    figure, axes = drawing.figure(7.2, 2.7, 1, 2, sharey=True)
    for colour, name in zip(drawing.COLOURS, ("JE", "PCA"), strict=False):
        for diagonal, style in zip(settings, (":", "-"), strict=True):
            if name == "PCA" and diagonal == "observed":
                continue  # PCA sees no diagonal: one curve
            accuracy = results[diagonal][name].mean(axis=0)
            label = name if name == "PCA" else f"JE, diagonal {diagonal}"
            dimensions = np.arange(1, largest + 1)
            axes[0].plot(dimensions, accuracy, style, color=colour, marker="o", label=label)
            axes[1].plot(dimensions * parameters[name], accuracy, style, color=colour, marker="o")
    axes[1].set_xscale("log")
    for panel in axes:
        panel.axhline(0.25, color=drawing.GREY, linewidth=0.8, label="chance")
    drawing.tidy(axes[0], "components", "share of held-out mice that are right", legend=True)
    drawing.tidy(axes[1], "parameters")
    return Outcome(
        "Genotypes of 32 mice from their connectomes",
        "hollow graphs; *observed* and the default *auto* (filled). log1p of streamlines, centred "
        "by the mean of the 31 others.",
        tuple(findings),
        (
            Table(("components", *heads), tuple(shown), "summary"),
            Table(
                ("diagonal", "method", "components", "accuracy", "se", "parameters"),
                rows,
                shown=False,
            ),
        ),
        (drawing.save(run, figure),),
        "1-NN on loadings; each mouse is held out of everything, the mean graph too.",
    )


def _error(right: Any) -> float:
    """Return the binomial standard error."""
    p = float(right.mean())
    return float(np.sqrt(p * (1 - p) / len(right)))


def _behind(methods: Any) -> int:
    return int((methods["PCA"].mean(axis=0) > methods["JE"].mean(axis=0)).sum())
