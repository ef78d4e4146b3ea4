"""Figure 5: classification of graphs by nine methods, as the number of graphs grows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.experiments import drawing, section52
from eigengraphs.experiments.designs import DIAGONALS
from eigengraphs.experiments.outcome import Finding, Outcome, Table, measured
from eigengraphs.experiments.run import Run

__all__ = ["run"]

Array = NDArray[np.float64]
SHOWN = (10, 20, 60, 200)
Results = dict[str, Array]  # by method, (repetitions, sizes)


def run(run: Run) -> Outcome:
    """Classify 4 to 200 graphs, 100 times, with and without self-loops."""
    sizes = list(section52.SIZES) if run.full else [4, 10, 20, 60, 200]
    repetitions = 100 if run.full else 4
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
        + ". The other methods get the graphs as they are.",
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
        "unit variance; GSS are all eigenvalues. Each repetition embeds the first m of 200 graphs.",
    )


def _findings(diagonal: str, results: Results, sizes: list[int]) -> list[Finding]:
    names = list(section52.METHODS)
    means = {name: values.mean(axis=0) for name, values in results.items()}
    others = np.max([means[name] for name in names[1:]], axis=0)
    ahead = [m for i, m in enumerate(sizes) if means["JE"][i] >= others[i]]
    behind = [m for m in sizes if m >= 20 and m not in ahead]
    best = max(names[1:], key=lambda name: means[name][-1])
    last = results["JE"][:, -1]
    margins = {
        m: measured(results["JE"][:, i] - results[_best(means, names, i)][:, i])
        for i, m in enumerate(sizes)
        if m in (20, 60, 200)
    }
    margin = ", ".join(f"{gap} at m = {m}" for m, gap in margins.items())
    first = "never" if not ahead else f"m = {_from_here_on(ahead, sizes)}"
    rise = {name: means[name][-1] - means[name][sizes.index(20)] for name in results}
    later = {name: measured(results[name][:, -1]) for name in section52.LATER}
    top = max(section52.LATER, key=lambda name: means[name][-1])
    return [
        Finding(
            "joint embedding outperforms the five other approaches when given more than 10 graphs",
            f"{diagonal}: highest mean accuracy of the six from {first} on; ahead of the next best "
            f"by {margin}; {measured(last)} at m = {sizes[-1]}, next {best} "
            f"{measured(results[best][:, -1])}",
            "reproduced" if not behind else "differs",
            "its two features average over all vertex pairs, with weights that all graphs share"
            if not behind
            else f"not the highest at m = {', '.join(map(str, behind))}",
        ),
        Finding(
            "ASE, LE, GS and GSS do not take advantage of more graphs; PCA is poor with few",
            f"{diagonal}: from m = 20 to {sizes[-1]} accuracy rises by "
            + ", ".join(f"{rise[name]:.3f} ({name})" for name in names)
            + f"; PCA at m = 10: {measured(results['PCA'][:, sizes.index(10)])}",
            "reproduced"
            if rise["PCA"] > max(rise[name] for name in ("ASE", "LE", "GS", "GSS"))
            else "differs",
            "PCA gains most from more graphs; 1-NN itself gains a little with every method",
        ),
        Finding(
            "(MASE, OMNI and UASE are later than the paper)",
            f"{diagonal}: at m = {sizes[-1]} "
            + ", ".join(f"{name} {value}" for name, value in later.items()),
            "new",
            f"{top} comes closest; it uses the shared subspace as well"
            if means[top][-1] < means["JE"][-1]
            else f"{top} does as well or better",
        ),
    ]


def _best(means: dict[str, Any], names: list[str], i: int) -> str:
    return max(names[1:], key=lambda name: means[name][i])


def _from_here_on(ahead: list[int], sizes: list[int]) -> int:
    """Return the first size from which on every size is in ``ahead``."""
    start = sizes[-1]
    for m in reversed(sizes):
        if m not in ahead:
            break
        start = m
    return start


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
