"""Figure 4: loadings of 200 graphs of two classes."""

from __future__ import annotations

import numpy as np

from experiments import drawing, section52
from experiments.designs import DIAGONALS
from experiments.outcome import Finding, Outcome, Table
from experiments.run import Run

__all__ = ["run"]


def run(run: Run) -> Outcome:
    """Embed one sample with and one without self-loops."""
    samples = dict(zip(DIAGONALS, run.repeat(
        section52.embed, [{"diagonal": diagonal} for diagonal in DIAGONALS]
    ), strict=True))  # fmt: skip
    truth = {1: (25.0, 5.0), 2: (22.5, 2.5)}
    rows, findings = [], []
    figure, axes = drawing.figure(7.2, 3.3, 1, 2, sharex=True, sharey=True)
    for panel, (diagonal, sample) in zip(axes, samples.items(), strict=True):
        Lam, classes = np.array(sample["loadings"]), np.array(sample["classes"])
        means = {y: Lam[classes == y].mean(axis=0) for y in (1, 2)}
        within = sum(np.cov(Lam[classes == y].T) * ((classes == y).sum() - 1) for y in (1, 2))
        gap = means[1] - means[2]
        apart = float(np.sqrt(gap @ np.linalg.solve(within / (len(Lam) - 2), gap)))
        D = np.linalg.norm(Lam[:, None] - Lam[None], axis=2)
        right = section52.accuracy(D, classes)
        for y, colour, marker in ((1, drawing.COLOURS[0], "o"), (2, drawing.COLOURS[1], "^")):
            mine = Lam[classes == y]
            panel.scatter(*mine.T, s=12, color=colour, marker=marker, alpha=0.7, linewidth=0,
                          label=f"class {y}")  # fmt: skip
            panel.plot(*truth[y], "+", color="black", markersize=11, markeredgewidth=1.4,
                       label="the model" if y == 2 else None)  # fmt: skip
            for k in range(2):
                rows.append((diagonal, y, k + 1, float(mine[:, k].mean()),
                             float(mine[:, k].std(ddof=1)), truth[y][k]))  # fmt: skip
        loops = "with self-loops" if diagonal == "observed" else "without self-loops"
        drawing.tidy(panel, "first loading", "" if panel is axes[1] else "second loading", loops)
        findings.append(
            Finding(
                "the loadings of the two classes are separated",
                f"{diagonal}: the class means are {apart:.1f} standard deviations apart; the "
                f"nearest neighbour has the right class for {right:.1%} of the 200 graphs",
                "reproduced" if right > 0.95 else "differs",
                "the means of the classes are where the model puts them (crosses), up to bias of "
                "the second component"
                if right > 0.95
                else "too many graphs lie in the other class",
            )
        )
    axes[0].legend()
    return Outcome(
        "Loadings of 200 graphs of two classes (section 5.2)",
        "; ".join(f"*{name}*: {words}" for name, words in DIAGONALS.items()) + ".",
        tuple(findings),
        (Table(("diagonal", "class", "component", "mean loading", "standard deviation", "truth"),
               tuple(rows)),),
        (drawing.save(run, figure),),
    )  # fmt: skip
