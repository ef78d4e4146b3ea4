"""Experiment ``table_c``: types of vertices from two graphs, by the published protocol."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize

from eigengraphs import baselines, datasets
from experiments import drawing
from experiments.frame import Outcome, Run, Table, beside, embed, new, published
from experiments.repetitions import Array, Rng, error_of, measured

NEIGHBORS, FOLDS, MOST = 5, 5, 30
PLAIN, CORRECTED = "joint, plain", "joint, degree-corrected"
BASELINES = {
    "MASE": baselines.MultipleASE, "Omnibus": baselines.Omnibus, "UASE": baselines.UnfoldedASE,
}  # fmt: skip
METHODS = (PLAIN, CORRECTED, *BASELINES)
ROWS = ("as they are", "unit length")
PUBLISHED = published("table_c")  # errors in per cent
UNDIRECTED, DIRECTED = "undirected", "directed"
STEPS = {"weights": None, "log": "log1p", "normalized": "laplacian"}
#: What is compared with published values; undirected links of Wikipedia have no weights.
CHOSEN = {"C. elegans": (UNDIRECTED, "log"), "Wikipedia": (UNDIRECTED, "weights")}
CASES = [
    (data, direction, step)
    for data in PUBLISHED
    for direction in (UNDIRECTED, DIRECTED)
    for step in STEPS
    if (data, direction, step) != ("Wikipedia", UNDIRECTED, "log")
]


def step(
    rng: Rng, *, data: str, direction: str, weights: str, method: str, dims: list[int],
    repetitions: int,
) -> dict[str, list[list[float]]]:  # fmt: skip
    """Return errors in per cent, (dims, repetitions), with rows as they are and of unit length."""
    del rng  # folds are the same for all methods
    graphs, types = _graphs(data, direction)
    if STEPS[weights] is not None:
        graphs = getattr(graphs, str(STEPS[weights]))()
    folds = _folds(types, repetitions)
    found: dict[str, list[list[float]]] = {rows: [] for rows in ROWS}
    for X in _positions(graphs, method, direction == DIRECTED, dims):
        for rows, Y in zip(ROWS, (X, normalize(X)), strict=True):
            found[rows].append((100 * errors(Y, types, folds)).tolist())
    return found


def errors(X: Array, types: NDArray[np.intp], folds: NDArray[np.intp]) -> Array:
    """Return shares of vertices whose nearest neighbors in other folds are of another type, (r,).

    Parameters
    ----------
    X : (n, d)
        Positions.
    types : (n,)
        From 0 on; the lowest wins a tie.
    folds : (r, n)
        Fold of each vertex in each repetition.
    """
    squares = (X * X).sum(axis=1)
    apart = squares[:, None] + squares - 2 * X @ X.T
    np.fill_diagonal(apart, np.inf)
    # Of the 60 nearest, fewer than five in other folds would be a wonder.
    near = np.argsort(apart, axis=1, kind="stable")[:, :60]
    wrong = []
    for fold in folds:
        others = fold[near] != fold[:, None]
        chosen = others & (np.cumsum(others, axis=1) <= NEIGHBORS)
        votes = [(chosen & (types[near] == kind)).sum(axis=1) for kind in range(types.max() + 1)]
        wrong.append((np.argmax(votes, axis=0) != types).mean())
    return np.array(wrong)


def _folds(types: NDArray[np.intp], repetitions: int) -> NDArray[np.intp]:
    folds = np.zeros((repetitions, len(types)), dtype=np.intp)
    for r in range(repetitions):
        split = StratifiedKFold(FOLDS, shuffle=True, random_state=r).split(types, types)
        for fold, (_, tested) in enumerate(split):
            folds[r, tested] = fold
    return folds


def _graphs(data: str, direction: str) -> tuple[Any, NDArray[np.intp]]:
    directed = direction == DIRECTED
    if data == "Wikipedia":
        wiki = datasets.fetch_wiki()
        graphs, labels = wiki.counts if directed else wiki.graphs, wiki.labels
    else:
        neurons = datasets.load_multiplex("celegans-neurons", directed=directed)
        graphs, labels = neurons.graphs, neurons.labels
    return graphs, np.unique(labels, return_inverse=True)[1]


def _positions(graphs: Any, method: str, directed: bool, dims: list[int]) -> list[Array]:
    """Return common positions in each number of dimensions; directed: both sides side by side."""
    if method == "MASE":
        fits = [baselines.MultipleASE(d, directed=directed).fit(graphs) for d in dims]
        return [np.hstack(_sides(fit, directed)) for fit in fits]
    most = max(dims)  # positions of the others nest
    if method in BASELINES:
        sides = _sides(BASELINES[method](most, directed=directed).fit(graphs), directed)
    else:
        fit = embed(graphs, most, directed=directed, degree_corrected=method == CORRECTED)
        sizes = np.sqrt(np.sqrt((fit.loadings_**2).mean(axis=0)))
        sides = [side * sizes for side in _sides(fit, directed)]
    return [np.hstack([side[:, :d] for side in sides]) for d in dims]


def _sides(fit: Any, directed: bool) -> list[Array]:
    """Return positions where edges start and, of directed graphs, where they end."""
    left = fit.latent_positions_
    if not directed:
        return [left]
    if isinstance(fit, baselines.Omnibus):
        return np.split(left, 2)
    if isinstance(fit, baselines.UnfoldedASE):
        return [left, *fit.positions_]
    return [left, fit.latent_positions_right_]


def table_c(run: Run) -> Outcome:
    """Tell types of vertices by nearest neighbors, from positions of every method."""
    cases = CASES if run.full else [case for case in CASES if case[0] == "C. elegans"][:3]
    sizes = {"dims": list(range(1, MOST + 1)), "repetitions": 20}
    sizes = sizes if run.full else {"dims": [4, 8, 12], "repetitions": 4}
    names = ("data", "direction", "weights")
    tasks = {
        (*case, method): dict(zip(names, case, strict=True)) | {"method": method} | sizes
        for case in cases
        for method in METHODS
        if (case[2], method) != ("normalized", CORRECTED)  # degrees are corrected for once
    }
    results = run.each(step, tasks)
    best = {key: _best(found, sizes["dims"]) for key, found in results.items()}
    shown = [(*case, *(_cell(best.get((*case, method))) for method in METHODS)) for case in cases]
    rows = [
        (*key, rows, d, *map(float, (np.mean(values), error_of(values))))
        for key, found in results.items()
        for rows in ROWS
        for d, values in zip(sizes["dims"], found[rows], strict=True)
    ]
    findings = []
    for data in dict.fromkeys(case[0] for case in cases):
        case = (data, *CHOSEN[data])
        name, bound = min(PUBLISHED[data].items(), key=lambda one: one[1])
        ours = best[*case, PLAIN]
        findings.append(beside(
            f"{data}: best published error {bound} % ({name})", ours[0], bound,
            f"plain metric, {', '.join(CHOSEN[data])}: {_cell(ours)}",
        ))  # fmt: skip
        ranked = sorted(METHODS, key=lambda method: best[*case, method][0].mean())
        findings.append(new(
            f"(not published: {data}, {' graphs, '.join(CHOSEN[data])}, all methods computed here)",
            ", ".join(f"{method} {_cell(best[*case, method])}" for method in ranked),
            f"{ranked[0]} is best",
        ))  # fmt: skip
    return Outcome(
        findings,
        [
            Table(shown),
            Table(rows, "by-dimension", shown=False),
        ],
        _picture(results, best, sizes["dims"], cases),
        {"repetitions": sizes["repetitions"], "most": max(sizes["dims"])},
    )


def _best(found: dict[str, list[list[float]]], dims: list[int]) -> tuple[Array, str]:
    """Return errors (repetitions,) at the best d and form of rows, and these in words."""
    means = {(rows, k): np.mean(e) for rows in ROWS for k, e in enumerate(found[rows])}
    rows, k = min(means, key=lambda key: means[key])
    return np.array(found[rows][k]), f"d = {dims[k]}" + ", unit rows" * (rows == ROWS[1])


def _cell(best: tuple[Array, str] | None) -> str:
    return "" if best is None else f"{measured(best[0], 1)}, {best[1]}"


def _picture(results: Any, best: Any, dims: list[int], cases: Any) -> Any:
    kinds = list(dict.fromkeys(case[0] for case in cases))
    figure, axes = drawing.figure(7.4, 3.2, 1, len(kinds), squeeze=False)
    for ax, data in zip(axes[0], kinds, strict=True):
        for method, color in zip(METHODS, drawing.COLORS, strict=False):
            key = (data, *CHOSEN[data], method)
            rows = ROWS["unit" in best[key][1]]
            width = 2.2 if method in (PLAIN, CORRECTED) else 1.0
            ax.plot(dims, np.mean(results[key][rows], axis=1), color=color, label=method,
                    linewidth=width)  # fmt: skip
        ax.axhline(min(PUBLISHED[data].values()), color=drawing.GRAY, linestyle="--",
                   label="best published")  # fmt: skip
        drawing.tidy(ax, "dimensions", "error, %", f"{data} ({', '.join(CHOSEN[data])})")
    drawing.legend_below(figure, axes[0, 0], 3)
    return figure
