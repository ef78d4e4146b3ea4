"""Experiment ``mice``: genotypes of 32 mice from their connectomes."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import eigengraphs as eg
from eigengraphs import baselines, datasets
from experiments import drawing
from experiments.frame import Outcome, Run, Table, grid, new
from experiments.repetitions import Array, Rng, gathered

DIAGONALS = ("observed", "auto")
PARAMETERS = {"JE": 332 + 31, "PCA": 332 * 333 // 2 + 31}  # of one component


def step(rng: Rng, *, held_out: int, diagonal: str, largest: int) -> dict[str, list[bool]]:
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
        for name, (known, new_point) in {
            "JE": (short.loadings_, short.transform(test)),
            "PCA": (points[:, :d], point[:, :d]),
        }.items():
            nearest = KNeighborsClassifier(1).fit(known, genotypes[others])
            right[name].append(bool(nearest.predict(new_point)[0] == genotypes[held_out]))
    return right


def mice(run: Run) -> Outcome:
    """Hold out each of the 32 mice (every fourth in a quick run)."""
    largest, held_out = (16, range(32)) if run.full else (8, range(0, 32, 4))
    steps = run.each(step, grid({"largest": largest}, diagonal=DIAGONALS, held_out=held_out))
    #: Whether each held-out mouse is right, (mice, dimensions), by diagonal and method.
    right = {(diagonal, name): x.astype(float) for diagonal in DIAGONALS for name, x
             in gathered([steps[diagonal, i] for i in held_out]).items()}  # fmt: skip
    rows = [
        (*key, d + 1, float(x[:, d].mean()), _error(x[:, d]), (d + 1) * PARAMETERS[key[1]])
        for key, x in right.items()
        for d in range(largest)
    ]
    findings = []
    for diagonal in DIAGONALS:
        accuracy = {name: right[diagonal, name].mean(axis=0) for name in PARAMETERS}
        best = {name: int(values.argmax()) + 1 for name, values in accuracy.items()}
        words = {name: f"{accuracy[name].max():.1%} with {d}" for name, d in best.items()}
        findings.append(new(
            "(not in the paper: genotypes of mice, chance 25 %)",
            f"diagonal {diagonal}: JE at best {words['JE']} components and "
            f"{best['JE'] * PARAMETERS['JE']:,} parameters, PCA {words['PCA']} and "
            f"{best['PCA'] * PARAMETERS['PCA']:,}; PCA is ahead at "
            f"{(accuracy['PCA'] > accuracy['JE']).sum()} of the {largest} numbers of components",
            "the best of all d is chosen after the fact, for both alike",
        ))  # fmt: skip
    # PCA sees no diagonal: one curve.
    curves = {"JE, auto": ("auto", "JE", "-"), "JE, observed": ("observed", "JE", ":"),
              "PCA": ("auto", "PCA", "-")}  # fmt: skip
    shown = [
        (d + 1, *(f"{x.mean():.3f} ({_error(x):.3f})"
                  for x in (right[diagonal, name][:, d] for diagonal, name, _ in curves.values())))
        for d in range(largest)
    ]  # fmt: skip
    figure, axes = drawing.figure(7.2, 2.7, 1, 2, sharey=True)
    dimensions = np.arange(1, largest + 1)
    for label, (diagonal, name, line) in curves.items():
        color = drawing.COLORS[list(PARAMETERS).index(name)]
        for panel, x in zip(axes, (dimensions, dimensions * PARAMETERS[name]), strict=True):
            panel.plot(x, right[diagonal, name].mean(axis=0), line, color=color, marker="o",
                       label=label)  # fmt: skip
    for panel in axes:
        panel.axhline(0.25, color=drawing.GRAY, linewidth=0.8, label="chance")
    drawing.tidy(axes[0], "components", "share of held-out mice predicted correctly", legend=True)
    drawing.tidy(axes[1], "parameters", scales="x")
    return Outcome(
        "Genotypes of 32 mice from their connectomes",
        "hollow graphs; *observed* and the default *auto* (filled). log1p of streamlines, centered "
        "by the mean of the 31 others.",
        findings,
        [
            Table(("components", *curves), shown, "summary"),
            Table(("diagonal", "method", "components", "accuracy", "se", "parameters"), rows,
                  shown=False),
        ],
        figure,
        "1-NN on loadings; each mouse is held out of everything, the mean graph too.",
    )  # fmt: skip


def _error(right: Array) -> float:
    """Return the binomial standard error."""
    return float(np.sqrt(right.mean() * (1 - right.mean()) / len(right)))
