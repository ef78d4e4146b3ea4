"""Experiment ``hollow``: what self-loops, or their absence, do to the components of section 5.1.

The paper's model draws self-loops, real graphs have none. Three treatments of hollow graphs stand
beside the paper's own setting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import eigengraphs as eg
from experiments import drawing
from experiments.designs import SECTION_5_1, draw_5_1
from experiments.outcome import Finding, Outcome, Table, measured
from experiments.run import Run

__all__ = ["CASES", "run", "step"]

#: Self-loops drawn or not, and the estimator's ``diagonal``.
CASES = {
    "loops, observed": (True, "observed"),
    "hollow, observed": (False, "observed"),
    "hollow, filled": (False, "filled"),
    "hollow, unobserved": (False, "unobserved"),
}


def step(rng: np.random.Generator, *, repetition: int, m: int) -> dict[str, Any]:
    """Return the errors of h_1 to h_3 and the mean errors of the loadings, by case."""
    found = {}
    for case, (loops, diagonal) in CASES.items():
        graphs, Lam = draw_5_1(m, rng, loops=loops)
        fit = eg.JointEmbedding(3, diagonal=diagonal, random_state=repetition).fit(graphs)
        H = fit.latent_positions_
        H = H * np.where((H * SECTION_5_1).sum(axis=0) < 0, -1.0, 1.0)
        found[case] = {
            "error": np.linalg.norm(H - SECTION_5_1, axis=0).tolist(),
            "bias": (fit.loadings_ - Lam).mean(axis=0).tolist(),
        }
    return found


def run(run: Run) -> Outcome:
    """Fit graphs with and without self-loops, under every treatment of the diagonal."""
    sizes, repetitions = ((64, 256, 1024, 4096), 20) if run.full else ((64, 256, 1024), 3)
    run.expect(len(sizes) * repetitions)
    steps = {
        m: run.repeat(step, ({"repetition": r, "m": m} for r in range(repetitions))) for m in sizes
    }

    def values(case: str, m: int, what: str) -> NDArray[np.float64]:
        """Return (repetitions, 3)."""
        return np.array([one[case][what] for one in steps[m]])

    rows: list[tuple[str | int, ...]] = []
    for case in CASES:
        for m in sizes:
            cells = (values(case, m, what)[:, k] for what in ("error", "bias") for k in range(3))
            rows.append((case, m, *map(measured, cells)))
    last = sizes[-1]

    def words(case: str) -> str:
        return " and ".join(measured(values(case, last, "error")[:, k]) for k in (1, 2))

    naive = values("hollow, observed", last, "error").mean(axis=0)
    filled = values("hollow, filled", last, "error").mean(axis=0)
    return Outcome(
        "Hollow graphs against graphs with self-loops (section 5.1)",
        "that is the question: all of them.",
        (
            Finding(
                "self-loops are allowed for theoretical convenience",
                f"at m = {last}, errors of h_2 and h_3: with loops {words('loops, observed')}; "
                f"hollow graphs by the letter of eq. 1 {words('hollow, observed')}",
                "differs" if naive[1] > 1.0 else "reproduced",
                "not a convenience: a zero diagonal is fitted as if it were data, and the weaker "
                "components are lost",
            ),
            Finding(
                "(filling the diagonal is not in the paper)",
                f"at m = {last}, hollow graphs: filled {words('hollow, filled')}, unobserved "
                f"{words('hollow, unobserved')}",
                "new",
                "with each diagonal entry at the mean of its row, hollow graphs do as well as "
                "graphs with loops"
                if (filled[1:] < 0.2).all()
                else "filling does not recover the components at this number of graphs",
            ),
        ),
        (Table(("case", "graphs", "error of h_1", "h_2", "h_3", "bias of loading 1", "2", "3"),
               tuple(rows)),),
        (_picture(run, values, sizes),),
        "Loadings of filled graphs are solved on the pairs of different vertices alone, so that "
        "the fill does not bias them.",
    )  # fmt: skip


def _picture(run: Run, values: Any, sizes: tuple[int, ...]) -> str:
    figure, axes = drawing.figure(7.2, 2.6, 1, 3, sharey=True)
    for k, panel in enumerate(axes):
        for colour, case in zip(drawing.COLOURS, CASES, strict=False):
            errors = np.array([values(case, m, "error")[:, k] for m in sizes])
            drawing.band(panel, sizes, errors.mean(axis=1),
                         errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1]), case,
                         colour)  # fmt: skip
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        drawing.tidy(panel, "number of graphs m", "" if k else "error of the component",
                     f"$h_{k + 1}$")  # fmt: skip
    axes[0].legend()
    return drawing.save(run, figure)
