"""Section 5.2: Figures 4 and 5. Two classes of graphs, told apart by ten ways to compare graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

import eigengraphs as eg
from eigengraphs import baselines
from eigengraphs.models.paper import LOADINGS_5_2, SECTION_5_2
from experiments import drawing
from experiments.frame import Finding, Outcome, Run, Table, grid, judged, new
from experiments.repetitions import Array, Rng, error_of, mean_and_error, measured
from experiments.section_5_1_recovery import DIAGONALS

SIZES = (4, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200)
SHOWN = (10, 20, 60, 200)
#: The paper's six, and its abbreviations.
METHODS = {
    "JE": "joint embedding",
    "ASE": "adjacency spectral embedding",
    "LE": "Laplacian eigenmap",
    "GS": "graph statistics",
    "GSS": "graph spectral statistics",
    "PCA": "PCA by SVD of vectorized graphs",
}
#: Methods that are not in the paper; the paper's PCA does not speak of centering.
LATER = {
    "PCA-c": "PCA, centered",
    "MASE": "multiple ASE (COSIE)",
    "OMNI": "omnibus embedding",
    "UASE": "unfolded ASE",
}
#: Features or positions of a graph depend on that graph alone, so one computation serves all m.
_EACH: dict[str, Callable[[str], Any]] = {
    "ASE": lambda rule: baselines.AdjacencySpectralEmbedding(2, diagonal=rule),
    "LE": lambda _: baselines.LaplacianEigenmap(2),
    "GSS": lambda _: baselines.SpectralStatistics(),
}
_TOGETHER: dict[str, Callable[[str], Any]] = {
    "PCA": lambda rule: baselines.VectorizedPCA(2, center=False, diagonal=rule),
    "PCA-c": lambda rule: baselines.VectorizedPCA(2, diagonal=rule),
    "MASE": lambda rule: baselines.MultipleASE(2, diagonal=rule),
    "OMNI": lambda rule: baselines.Omnibus(2, diagonal=rule),
    "UASE": lambda rule: baselines.UnfoldedASE(2, diagonal=rule),
}


def draw(m: int, rng: Rng, *, loops: bool) -> tuple[eg.GraphStack, NDArray[np.intp]]:
    """Draw m graphs with 100 vertices and their classes, (m,): 1 or 2 with equal probability."""
    classes = rng.integers(1, 3, size=m)
    Lam = np.where(classes[:, None] == 1, LOADINGS_5_2[1], LOADINGS_5_2[2])
    model = eg.models.MultipleRandomEigenGraphs(SECTION_5_2, Lam)
    return model.sample(random_state=rng, loops=loops), classes


def _loadings(graphs: eg.GraphStack, diagonal: str) -> Array:
    treat = "observed" if diagonal == "observed" else "auto"
    return eg.JointEmbedding(2, diagonal=treat, random_state=0).fit(graphs).loadings_


def accuracy(D: Array, classes: NDArray[np.intp]) -> float:
    """Return the share of graphs whose nearest other graph has their class; D is (m, m)."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    return float((classes[D.argmin(axis=1)] == classes).mean())


# ------------------------------------------------------------------------------- Figure 4


def embed(rng: Rng, *, diagonal: str) -> dict[str, Any]:
    """Embed 200 graphs; return their loadings and classes."""
    graphs, classes = draw(200, rng, loops=diagonal == "observed")
    return {"loadings": _loadings(graphs, diagonal).tolist(), "classes": classes.tolist()}


def figure4(run: Run) -> Outcome:
    """Embed one sample of 200 graphs with self-loops and one without."""
    samples = run.each(embed, grid({}, diagonal=DIAGONALS))
    rows, findings = [], []
    figure, axes = drawing.figure(7.2, 3.3, 1, 2, sharex=True, sharey=True)
    for panel, (diagonal, sample) in zip(axes, samples.items(), strict=True):
        Lam, classes = np.array(sample["loadings"]), np.array(sample["classes"])
        each = {y: Lam[classes == y] for y in LOADINGS_5_2}
        within = sum(np.cov(mine.T) * (len(mine) - 1) for mine in each.values()) / (len(Lam) - 2)
        gap = each[1].mean(axis=0) - each[2].mean(axis=0)
        apart = float(np.sqrt(gap @ np.linalg.solve(within, gap)))
        right = accuracy(pairwise_distances(Lam), classes)
        for (y, mine), color, marker in zip(each.items(), drawing.COLORS, "o^", strict=False):
            truth = LOADINGS_5_2[y]
            panel.scatter(*mine.T, s=12, color=color, marker=marker, alpha=0.7, linewidth=0,
                          label=f"class {y}")  # fmt: skip
            panel.plot(*truth, "+", color="black", markersize=11, markeredgewidth=1.4,
                       label="the model" if y == 2 else None)  # fmt: skip
            rows += [(diagonal, y, k + 1, float(mine[:, k].mean()),
                      float(mine[:, k].std(ddof=1)), truth[k]) for k in range(2)]  # fmt: skip
        drawing.tidy(panel, "component 1", "", drawing.LOOPS[diagonal])
        findings.append(
            judged(
                "figure4.separated",
                f"{diagonal}: the class means are {apart:.1f} standard deviations apart; the "
                f"nearest neighbor has the right class for {right:.1%} of the 200 graphs",
                right > 0.95,
            )
        )
    axes[0].set_ylabel("component 2")
    axes[0].legend()
    return Outcome(
        findings,
        [Table(rows)],
        figure,
    )


# ------------------------------------------------------------------------------- Figure 5


def classify(
    rng: Rng, *, repetition: int, diagonal: str, sizes: list[int]
) -> dict[str, list[float]]:
    """Return the share of graphs whose nearest neighbor has their class, by method and size.

    The first m graphs of one sample are embedded without their classes; then each is left out
    of the neighbors of the others, as in the paper. Without self-loops, every method that looks
    at the diagonal gets it filled, as joint embedding does.
    """
    del repetition  # the random stream is its own
    graphs, classes = draw(max(sizes), rng, loops=diagonal == "observed")
    found: dict[str, list[float]] = {name: [] for name in METHODS | LATER}
    for name, method in _EACH.items():
        D = method(diagonal).fit(graphs).pairwise_distances()
        found[name] = [accuracy(D[:m, :m], classes[:m]) for m in sizes]
    statistics = baselines.GraphStatistics(standardize=False).fit_transform(graphs)
    for m in sizes:
        some = graphs[:m]
        found["JE"].append(accuracy(pairwise_distances(_loadings(some, diagonal)), classes[:m]))
        # Statistics have different units: 1-NN needs them on one scale, that of these m graphs.
        scale = statistics[:m].std(axis=0)
        scaled = statistics[:m] / np.where(scale > 0, scale, 1.0)
        found["GS"].append(accuracy(pairwise_distances(scaled), classes[:m]))
        for name, method in _TOGETHER.items():
            D = method(diagonal).fit(some).pairwise_distances()
            found[name].append(accuracy(D, classes[:m]))
    return found


def figure5(run: Run) -> Outcome:
    """Classify 4 to 200 graphs, 100 times, with and without self-loops, by ten methods."""
    sizes, repetitions = (list(SIZES), 100) if run.full else ([4, 10, 20, 60, 200], 4)
    #: (repetitions, sizes) by diagonal and method.
    values = run.repeated(classify, grid({"sizes": sizes}, diagonal=DIAGONALS), repetitions)
    flat = {(diagonal, name): x for diagonal in DIAGONALS for name, x in values[diagonal].items()}
    rows = [(*key, m, *mean_and_error(x[:, i])) for key, x in flat.items()
            for i, m in enumerate(sizes)]  # fmt: skip
    shown = [(*key, *(measured(x[:, sizes.index(m)]) for m in SHOWN)) for key, x in flat.items()]
    figure, axes = drawing.figure(7.4, 3.6, 1, 2, sharey=True)
    for panel, diagonal in zip(axes, DIAGONALS, strict=True):
        for color, (name, label) in zip(drawing.COLORS, (METHODS | LATER).items(), strict=True):
            line, marker = (":", "x") if name in LATER else ("-", "o")
            drawing.band(panel, sizes, values[diagonal][name], label, color, line, marker, 1.96)
        drawing.tidy(panel, "number of graphs m", "", drawing.LOOPS[diagonal], scales="x")
        panel.set_xticks([4, 10, 20, 50, 100, 200], ["4", "10", "20", "50", "100", "200"])
        panel.minorticks_off()
    axes[0].set_ylabel("accuracy of 1-NN")
    drawing.legend_below(figure, axes[0], 3)
    return Outcome(
        [one for diagonal in DIAGONALS for one in _findings(diagonal, values[diagonal], sizes)],
        [
            Table(shown, "summary"),
            Table(rows, shown=False),
        ],
        figure,
        {"repetitions": repetitions},
    )


def _margin(results: dict[str, Array], i: int) -> Array:
    """Return accuracy minus that of the best other method of the paper, (repetitions,)."""
    others = (results[name][:, i] for name in METHODS if name != "JE")
    return results["JE"][:, i] - max(others, key=np.mean)


def _findings(diagonal: str, results: dict[str, Array], sizes: list[int]) -> list[Finding]:
    margins = {m: _margin(results, i) for i, m in enumerate(sizes) if m > 10}
    behind = [str(m) for m, margin in margins.items() if margin.mean() < 0]
    close = [str(m) for m, margin in margins.items() if margin.mean() < 2 * error_of(margin)]
    reason = "its two features average over all vertex pairs, with weights that all graphs share"
    if close:
        reason += f"; within two standard errors of the next best at m = {', '.join(close)}"
    rises = {name: x[:, -1] - x[:, sizes.index(20)] for name, x in results.items()}
    alone = ("ASE", "LE", "GS", "GSS")
    rising = [name for name in alone if rises[name].mean() >= 0.05 + 2 * error_of(rises[name])]
    ten, last = sizes.index(10), sizes[-1]
    at_last = {name: x[:, -1] for name, x in results.items()}
    top = max(LATER, key=lambda name: float(at_last[name].mean()))
    return [
        judged(
            "figure5.first",
            f"{diagonal}: {measured(at_last['JE'])} at m = {last}; paired difference to the best "
            f"of the five, by m: {', '.join(f'{measured(x)} at {m}' for m, x in margins.items())}",
            not behind,
            reason,
            f"not the highest at m = {', '.join(behind)}",
        ),
        judged(
            "figure5.alone",
            f"{diagonal}: accuracy rises from m = 20 to {last} by "
            + ", ".join(f"{measured(rises[name])} ({name})" for name in [*alone, "PCA", "JE"]),
            not rising,
            no=f"{', '.join(rising)} rises by more than 0.05: 1-NN has more neighbors to choose "
            "from, whatever the features are",
        ),
        judged(
            "figure5.pca",
            f"{diagonal}: {measured(results['PCA'][:, ten])} at m = 10 by SVD of the vectorized "
            f"graphs, as the paper words it; {measured(results['PCA-c'][:, ten])} if centered; at "
            f"m = {last} {measured(at_last['PCA'])} and {measured(at_last['PCA-c'])}",
            results["PCA"][:, ten].mean() < 0.8,
        ),
        new(
            "figure5.later",
            f"{diagonal}: at m = {last} "
            + ", ".join(f"{name} {measured(at_last[name])}" for name in LATER),
            f"JE minus the best of them, {top}: {measured(at_last['JE'] - at_last[top])}",
        ),
    ]
