"""Figure 5: classification of graphs by nine methods, as the number of graphs grows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import drawing, section52
from experiments.designs import DIAGONALS
from experiments.outcome import Finding, Outcome, Table, measured
from experiments.run import Run

__all__ = ["run"]

Array = NDArray[np.float64]
SHOWN = (10, 20, 60, 200)
Results = dict[str, Array]  # by method, (repetitions, sizes)


def run(run: Run) -> Outcome:
    """Classify 4 to 200 graphs, 100 times, with and without self-loops."""
    sizes = list(section52.SIZES) if run.full else [4, 10, 20, 60, 200]
    repetitions = 100 if run.full else 4
    run.expect(len(DIAGONALS) * repetitions)
    results: dict[str, Results] = {}
    for diagonal in DIAGONALS:
        steps = run.repeat(
            section52.classify,
            ({"repetition": r, "diagonal": diagonal, "sizes": sizes} for r in range(repetitions)),
        )
        results[diagonal] = {name: np.array([step[name] for step in steps]) for name in steps[0]}
    rows = tuple(
        (diagonal, name, m, float(values[:, i].mean()), _error(values[:, i]))
        for diagonal, methods in results.items()
        for name, values in methods.items()
        for i, m in enumerate(sizes)
    )
    shown = tuple(
        (diagonal, name, *(measured(values[:, sizes.index(m)]) for m in SHOWN))
        for diagonal, methods in results.items()
        for name, values in methods.items()
    )
    return Outcome(
        "Classification of graphs, by nine methods (section 5.2)",
        "; ".join(f"*{name}*: {words}" for name, words in DIAGONALS.items())
        + ", which ASE, PCA, MASE, OMNI and UASE get, too; LE, GS and GSS see hollow graphs.",
        tuple(
            finding
            for diagonal, methods in results.items()
            for finding in _findings(diagonal, methods, sizes)
        ),
        (
            Table(("diagonal", "method", *(f"m = {m}" for m in SHOWN)), shown, "summary"),
            Table(("diagonal", "method", "graphs", "accuracy", "se"), rows, shown=False),
        ),
        (_picture(run, results, sizes),),
        f"1-NN, leaving out one of the m embedded graphs, {repetitions} repetitions. Two "
        "dimensions for JE, ASE, LE, PCA, MASE, OMNI, UASE; the seven statistics are scaled to "
        "unit variance; GSS are all eigenvalues. Each repetition embeds the first m of 200 graphs. "
        "Bars are 95 % intervals (1.96 standard errors).",
    )


def _findings(diagonal: str, results: Results, sizes: list[int]) -> list[Finding]:
    means = {name: values.mean(axis=0) for name, values in results.items()}
    margins = [_margin(results, means, i) for i in range(len(sizes))]
    many = [i for i, m in enumerate(sizes) if m > 10]
    behind = [i for i in many if margins[i].mean() < 0]
    close = [i for i in many if margins[i].mean() < 2 * _error(margins[i])]
    shown = ", ".join(f"{measured(margins[i])} at {sizes[i]}" for i in many)
    rises = {name: values[:, -1] - values[:, sizes.index(20)] for name, values in results.items()}
    alone = ("ASE", "LE", "GS", "GSS")
    flat = [name for name in alone if rises[name].mean() < 0.05 + 2 * _error(rises[name])]
    poor = results["PCA"][:, sizes.index(10)]
    reason = "its two features average over all vertex pairs, with weights that all graphs share"
    if close:
        at = ", ".join(str(sizes[i]) for i in close)
        reason += f"; within two standard errors of the next best at m = {at}"
    if behind:
        reason = f"not the highest at m = {', '.join(str(sizes[i]) for i in behind)}"
    top = max(section52.LATER, key=lambda name: float(means[name][-1]))
    ahead = results["JE"][:, -1] - results[top][:, -1]
    return [
        Finding(
            "joint embedding outperforms the five other approaches when given more than 10 graphs",
            f"{diagonal}: {measured(results['JE'][:, -1])} at m = {sizes[-1]}; paired difference "
            f"to the best of the five, by m: {shown}",
            "differs" if behind else "reproduced",
            reason,
        ),
        Finding(
            "ASE, LE, GS and GSS do not take advantage of more graphs",
            f"{diagonal}: accuracy rises from m = 20 to {sizes[-1]} by "
            + ", ".join(f"{measured(rises[name])} ({name})" for name in [*alone, "PCA", "JE"]),
            "reproduced" if len(flat) == len(alone) else "differs",
            "their features do not; 1-NN itself gains a little with more neighbours"
            if len(flat) == len(alone)
            else f"{', '.join(set(alone) - set(flat))} rises by more than 0.05: 1-NN has more "
            "neighbours to choose from, whatever the features are",
        ),
        Finding(
            "PCA has poor performance when the sample is small",
            f"{diagonal}: {measured(poor)} at m = 10 by SVD of the vectorised graphs, as the paper "
            f"words it; {measured(results['PCA-c'][:, sizes.index(10)])} if centred; at m = "
            f"{sizes[-1]} {measured(results['PCA'][:, -1])} and "
            f"{measured(results['PCA-c'][:, -1])}",
            "reproduced" if poor.mean() < 0.8 else "differs",
            "n^2 numbers a component are learnt from 10 graphs; what classes have in common helps "
            "when it is not subtracted",
        ),
        Finding(
            "(MASE, OMNI and UASE are later than the paper)",
            f"{diagonal}: at m = {sizes[-1]} "
            + ", ".join(f"{name} {measured(results[name][:, -1])}" for name in section52.LATER),
            "new",
            f"JE minus the best of them, {top}: {measured(ahead)}",
        ),
    ]


def _margin(results: Results, means: dict[str, Any], i: int) -> Array:
    """Return accuracy less that of the best other method of the paper, (repetitions,)."""
    others = [name for name in section52.METHODS if name != "JE"]
    best = max(others, key=lambda name: float(means[name][i]))
    return np.asarray(results["JE"][:, i] - results[best][:, i])


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _picture(run: Run, results: dict[str, Results], sizes: list[int]) -> str:
    figure, axes = drawing.figure(7.4, 3.6, 1, 2, sharey=True)
    labels = section52.METHODS | section52.LATER
    for panel, (diagonal, methods) in zip(axes, results.items(), strict=True):
        for colour, name in zip(drawing.COLOURS, labels, strict=True):
            values = methods[name]
            error = 1.96 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
            later = name in section52.LATER
            drawing.band(panel, sizes, values.mean(axis=0), error, labels[name], colour,
                         ":" if later else "-", "x" if later else "o")  # fmt: skip
        panel.set_xscale("log")
        panel.set_xticks([4, 10, 20, 50, 100, 200], ["4", "10", "20", "50", "100", "200"])
        panel.minorticks_off()
        loops = "with self-loops" if diagonal == "observed" else "without self-loops"
        drawing.tidy(panel, "number of graphs m", "accuracy of 1-NN" if panel is axes[0] else "",
                     loops)  # fmt: skip
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawing.save(run, figure)
