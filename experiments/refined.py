"""Experiment ``refined``: what is lost by finding one component at a time.

The paper (section 3.2) searches components greedily and says that the difference to optimizing
all columns together is negligible when d is small. Here ``refine=True`` does the second, from where
the first ended, and the two are compared: by the objective, and, where the truth is known, by the
errors of positions and loadings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

import eigengraphs as eg
from eigengraphs.models.paper import LOADINGS_5_1, SECTION_5_1
from experiments import drawing
from experiments.frame import Outcome, Run, Table, embed, judged
from experiments.repetitions import Array, Rng


@dataclass(frozen=True)
class Case:
    """Graphs, and the components that they were made from if that is known."""

    name: str
    graphs: eg.GraphStack
    d: int
    H: Array | None = None  # (n, d)
    Lam: Array | None = None  # (m, d)
    settings: dict[str, Any] = field(default_factory=dict)


def cases(quick: bool, seed: int) -> Iterator[Case]:
    """Yield the cases: the paper's first design, overlapping components, blocks, mice."""
    rng = np.random.default_rng(seed)
    for m in (64,) if quick else (64, 256, 1024):
        Lam = rng.uniform(*zip(*LOADINGS_5_1, strict=True), size=(m, 3))
        model = eg.models.MultipleRandomEigenGraphs(SECTION_5_1, Lam)
        yield Case(f"section 5.1, m = {m}", model.sample(random_state=rng), 3, SECTION_5_1, Lam)
    for overlap in (0.0, 0.3) if quick else (0.0, 0.1, 0.3, 0.6):
        # Unit vectors with this cosine between any two of them.
        n, d = 60, 4
        root = np.linalg.cholesky(np.full((d, d), overlap) + (1 - overlap) * np.eye(d))
        H = np.linalg.qr(rng.standard_normal((n, d)))[0] @ root.T
        Lam = rng.uniform(1.0, 3.0, (40, d))
        noise = 0.05 * rng.standard_normal((40, n, n))
        A = np.einsum("sk,ik,tk->ist", H, Lam, H) + (noise + noise.transpose(0, 2, 1)) / 2
        graphs, observed = eg.GraphStack(A), {"diagonal": "observed"}
        yield Case(f"planted, cosines {overlap:g}", graphs, d, H, Lam, observed)
    labels = np.arange(90) % 3
    blocks = np.array([
        [[0.5, 0.2, 0.1], [0.2, 0.4, 0.2], [0.1, 0.2, 0.6]] + rng.uniform(-0.08, 0.08, 1)
        * rng.standard_normal((3, 3)) for _ in range(30)
    ])  # fmt: skip
    P = np.clip((blocks + blocks.transpose(0, 2, 1)) / 2, 0.02, 0.98)
    A = np.array([np.triu(rng.random((90, 90)) < p[np.ix_(labels, labels)], 1) for p in P])
    yield Case("block models, 30 graphs", eg.GraphStack((A | A.transpose(0, 2, 1)) * 1.0), 4)
    mice = eg.datasets.load_mice().graphs.log1p()
    for d in (4,) if quick else (2, 4, 8):
        for name, settings in {
            "log1p": {},
            "centered": {"center": True},
            "centered, observed": {"center": True, "diagonal": "observed"},
        }.items():
            yield Case(f"mice, {name}, d = {d}", mice, d, settings=settings)


def compare(case: Case) -> dict[str, Any]:
    """Fit a case greedily and refined.

    ``gain`` is the share of the greedy residuals that refining removes. Pairs are
    greedy and refined: ``explained``, the share of the squared norm; the mean error of
    ``positions``; that of ``loadings``, root mean square over that of the true loadings. ``cosine``
    is the largest between two greedy components, ``condition`` that of the refined components'
    inner products, ``cost`` passes over those of the greedy fit.
    """
    greedy, refined = fits = [
        embed(case.graphs, case.d, refine=refine, **case.settings) for refine in (False, True)
    ]
    positions = loadings = None
    if case.H is not None and case.Lam is not None:
        positions, loadings = [], []
        for fit in fits:
            match = eg.match_components(case.H, fit)
            gap = case.H - match.apply(fit.latent_positions_)
            positions.append(float(np.linalg.norm(gap, axis=0).mean()))
            gap = fit.loadings_[:, match.order] - case.Lam
            loadings.append(float(np.sqrt((gap**2).mean() / (case.Lam**2).mean())))
    H = greedy.latent_positions_
    return {
        "name": case.name, "d": case.d, "gain": refined.refinement_.gain,
        "explained": [float(fit.explained_ratio_.sum()) for fit in fits],
        "positions": positions, "loadings": loadings,
        "cosine": float(np.abs(H.T @ H - np.eye(case.d)).max()),
        "condition": refined.gamma_condition_, "cost": refined.n_passes_ / greedy.n_passes_,
    }  # fmt: skip


def step(rng: Rng, *, case: int, full: bool, seed: int) -> Any:
    """Compare one case; they are drawn in a row, so that each needs those before it."""
    del rng
    return compare(next(islice(cases(not full, seed), case, None)))


def refined(run: Run) -> Outcome:
    """Compare all cases; draw how much refining reduces the residuals."""
    count = sum(1 for _ in cases(not run.full, run.seed))
    tasks = [{"case": case, "full": run.full, "seed": run.seed} for case in range(count)]
    found = run.repeat(step, tasks)
    small = [row for row in found if row["positions"] is None and row["d"] <= 4]
    gain = max(row["gain"] for row in small)
    planted = [row for row in found if row["name"].startswith("planted, cosines 0.")]
    gains = ", ".join(f"{row['gain']:.0%}" for row in planted)
    errors = ", ".join("{:.2f} to {:.2f}".format(*row["positions"]) for row in planted)
    return Outcome(
        [
            judged(
                "refined.greedy",
                "real and block graphs with d up to 4: refining reduces the residuals by at most "
                f"{gain:.1%}",
                gain < 0.05,
                "although greedy components are not orthogonal (cosines up to "
                f"{max(row['cosine'] for row in small):.2f})",
            ),
            judged(
                "refined.overlapping",
                "planted components that are not orthogonal: refining reduces the residuals by "
                f"{gains}, and the mean error of positions falls from {errors}",
                max(row["gain"] for row in planted) <= 0.05,
            ),
        ],
        [Table([_cells(row) for row in found])],
        _picture(found),
    )


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    errors = [*(row["positions"] or [None] * 2), *(row["loadings"] or [None] * 2)]
    return (
        row["name"], str(row["d"]), f"{row['gain']:.2%}",
        *(f"{share:.4f}" for share in row["explained"]),
        *("" if x is None else f"{x:.3f}" for x in errors), f"{row['cosine']:.2f}",
        f"{row['condition']:.3g}", f"{row['cost']:.1f}",
    )  # fmt: skip


def _picture(rows: list[dict[str, Any]]) -> Any:
    figure, (left, right) = drawing.figure(
        7.2, 0.32 * len(rows) + 1.2, 1, 2, sharey=True, width_ratios=[3, 2]
    )
    places = np.arange(len(rows))[::-1]
    left.barh(places, [100 * row["gain"] for row in rows], color=drawing.COLORS[0], height=0.6)
    left.set_yticks(places, [row["name"] for row in rows])
    for place, row in zip(places, rows, strict=True):
        if row["positions"] is not None:
            right.plot(row["positions"], [place, place], color="#bbbbbb", zorder=1)
            for x, label, color in zip(
                row["positions"], ("greedy", "refined"), drawing.COLORS[1:], strict=False
            ):
                right.scatter([x], [place], color=color, s=22,
                              label=label if row is rows[0] else None)  # fmt: skip
    drawing.tidy(left, "reduction of the residuals by refining (%)")
    drawing.tidy(right, "mean error of positions", legend=True)
    return figure
