"""Experiment ``links``: edges of six multiplex data sets, predicted where they were held out."""

from __future__ import annotations

from typing import Any

import numpy as np

import eigengraphs as eg
from experiments import drawing
from experiments.frame import Finding, Outcome, Run, Table, grid
from experiments.repetitions import Array, Rng, error_of, measured

SETS = ("aarhus", "ckm", "celegans", "kapferer", "krackhardt", "vickers")
METHODS = (
    "joint", "without the embedding", "embedding alone", "other graphs", "degrees",
    "shared neighbors", "Multiple ASE", "PCA",
)  # fmt: skip
RIVALS = METHODS[3:]  # the second and third are what the first consists of


def step(rng: Rng, *, name: str, draws: int, repetition: int) -> dict[str, Any]:
    """Hold out pairs of a data set a few times; means over its graphs, (draws, methods)."""
    del repetition
    graphs = eg.datasets.load_multiplex(name, download=False).graphs
    found = eg.inference.predict_edges(graphs, repeats=draws, random_state=rng)
    assert found.methods == METHODS
    return {
        "ap": found.average_precision.mean(axis=2).tolist(),
        "auc": found.auc.mean(axis=2).tolist(),
        "density": float(found.density.mean()),
    }


def links(run: Run) -> Outcome:
    """Compare methods on the pairs that are held out of six data sets."""
    steps, draws = (4, 5) if run.full else (1, 2)
    results = run.repeated(step, grid({"draws": draws}, name=SETS), steps)
    for found in results.values():
        for measure in ("ap", "auc"):
            found[measure] = found[measure].reshape(-1, len(METHODS))
    findings = [_verdict(name, found["ap"]) for name, found in results.items()]
    n_first = sum(finding.verdict != "differs" for finding in findings)
    rows = [
        (name, title, chance, *map(measured, found[measure].T))
        for name, found in results.items()
        for measure, title, chance in (
            ("ap", "average precision", float(found["density"].mean())), ("auc", "AUC", 0.5)
        )
    ]  # fmt: skip
    gains = ", ".join(
        f"{name} {measured(found['ap'][:, 0] - found['ap'][:, 1])}"
        for name, found in results.items()
    )
    return Outcome(
        findings,
        [Table(rows)],
        _picture(results),
        {"draws": steps * draws, "first": n_first, "gains": gains},
    )


def _verdict(name: str, ap: Array) -> Finding:
    """Compare with the best rival, by the standard error of the difference on the same draws."""
    rivals = ap[:, [METHODS.index(rival) for rival in RIVALS]]
    best = int(rivals.mean(axis=0).argmax())
    ahead = ap[:, 0] - rivals[:, best]
    claim = f"{name}: best of the others {measured(rivals[:, best])} ({RIVALS[best]})"
    reason = f"{ahead.mean():+.3f} ({error_of(ahead):.3f}) on the same draws"
    if ahead.mean() > 0:
        return Finding(claim, measured(ap[:, 0]), "better", f"first: {reason}")
    if ahead.mean() >= -error_of(ahead):
        return Finding(claim, measured(ap[:, 0]), "reproduced", f"within an error: {reason}")
    return Finding(claim, measured(ap[:, 0]), "differs", f"behind: {reason}")


def _picture(results: dict[str, Any]) -> Any:
    figure, ax = drawing.figure(7.4, 3.0)
    shown = ("joint", "embedding alone", *RIVALS)
    width = 0.8 / len(shown)
    for k, (name, color) in enumerate(zip(shown, drawing.COLORS, strict=False)):
        ap = [found["ap"][:, METHODS.index(name)] for found in results.values()]
        ax.bar(
            np.arange(len(SETS)) + (k + 0.5) * width - 0.4, np.mean(ap, axis=1), width,
            yerr=[error_of(x) for x in ap], color=color, label=name,
        )  # fmt: skip
    ax.set_xticks(range(len(SETS)), SETS)
    ax.set_ylabel("average precision, held-out pairs")
    figure.legend(ncols=4, loc="outside lower center")
    return figure
