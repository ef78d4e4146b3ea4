"""Experiment ``airports``: 69 months of flights; the spring of 2020 must stand out."""

from __future__ import annotations

from typing import Any

import numpy as np

import eigengraphs as eg
from eigengraphs import datasets
from experiments import drawing
from experiments.frame import Outcome, Run, Table, grid, new
from experiments.repetitions import Array, Rng

D = 5


def step(rng: Rng, *, diagonal: str) -> dict[str, Any]:
    """Embed the months; return loadings, what they explain, and the airports that lead."""
    del rng
    data = datasets.fetch_us_airports()
    fit = eg.JointEmbedding(D, diagonal=diagonal, random_state=0).fit(data.graphs.log1p())
    H = fit.latent_positions_
    return {
        "months": data.months.astype(str).tolist(),
        "loadings": fit.loadings_.tolist(),
        "explained": fit.explained_ratio_.tolist(),
        "positions": H.tolist(),
        "coordinates": data.coordinates.tolist(),
        "leading": [
            [str(data.airports[i]) for i in np.argsort(-np.abs(h), kind="stable")[:6]] for h in H.T
        ],
    }


def changes(Lam: Array) -> Array:
    """Return how much the loadings change from month to month, (m - 1,), in mean absolute ones."""
    return np.linalg.norm(np.diff(Lam / np.abs(Lam).mean(axis=0), axis=0), axis=1)


def airports(run: Run) -> Outcome:
    """Embed the flights of 69 months."""
    results = run.each(step, grid({}, diagonal=("observed", "auto")))
    findings, rows = [], []
    for diagonal, found in results.items():
        Lam, months = np.array(found["loadings"]), found["months"]
        moved = changes(Lam)
        largest = int(moved.argmax())
        before = np.array([month < "2020-03" for month in months[1:]])
        times = moved.max() / np.median(moved[before])
        second = float(np.sort(moved)[-2])
        spring = months[largest + 1] in {"2020-03", "2020-04", "2020-05"}
        fall = 1 - Lam[months.index("2020-04"), 0] / Lam[months.index("2019-04"), 0]
        findings.append(new(
            "(not in the paper: a change point in spring 2020)",
            f"diagonal {diagonal}: the largest change of loadings is from "
            f"{months[largest]} to {months[largest + 1]}, {times:.0f} times the median of the "
            f"months before the pandemic and {moved.max() / second:.1f} times the next "
            f"largest; the first loading of April 2020 is {fall:.0%} below that of April 2019",
            "spring 2020 stands out" if spring else "spring 2020 does NOT stand out",
        ))  # fmt: skip
        rows += [
            (diagonal, month, *(float(value) for value in values), float(move))
            for month, values, move in zip(months, Lam, [np.nan, *moved], strict=True)
        ]
    auto = results["auto"]
    shown = [
        (k + 1, f"{share:.1%}", ", ".join(names))
        for k, (share, names) in enumerate(zip(auto["explained"], auto["leading"], strict=True))
    ]
    return Outcome(
        "Flights between 343 airports in 69 months",
        "hollow graphs; *observed* and the default *auto* (filled). log1p of the flights.",
        findings,
        [
            Table(("component", "explained", "airports furthest from 0"), shown, "leads"),
            Table(("diagonal", "month", *(f"loading {k + 1}" for k in range(D)), "change"),
                  rows, shown=False),
        ],
        _picture(auto),
    )  # fmt: skip


def _picture(found: dict[str, Any]) -> Any:
    months = np.array(found["months"], dtype="datetime64[M]").astype("datetime64[D]")
    Lam, H, places = (np.array(found[key]) for key in ("loadings", "positions", "coordinates"))
    figure, axes = drawing.figure(7.4, 4.9, 2, 2)
    lines, steps = axes[0]
    for k in range(D):
        level = Lam[:, k] / Lam[:12, k].mean()
        lines.plot(months, level, color=drawing.COLORS[k], label=f"component {k + 1}")
    drawing.tidy(lines, "", "loading over its mean in 2016", "loadings", legend=True)
    steps.bar(months[1:], changes(Lam), width=25, color=drawing.COLORS[0])
    drawing.tidy(steps, "", "change of all loadings", "from month to month")
    for panel in (lines, steps):
        panel.axvspan(np.datetime64("2020-03-01"), np.datetime64("2020-06-01"), color="#f2d5c4",
                      zorder=0)  # fmt: skip
    for panel, k in zip(axes[1], (1, 2), strict=True):
        h = H[:, k]
        limit = np.abs(h).max()
        dots = panel.scatter(*places.T, c=h, cmap="RdBu_r", vmin=-limit, vmax=limit,
                             s=4 + 250 * np.abs(h), edgecolor="#999999", linewidth=0.2)  # fmt: skip
        panel.set_aspect(1.25)
        drawing.tidy(panel, "longitude", "latitude", f"positions in component {k + 1}")
        figure.colorbar(dots, ax=panel, shrink=0.6, label="position")
    return figure
