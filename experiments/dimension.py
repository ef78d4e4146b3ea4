"""Experiment ``dimension``: the paper's two rules for the number of components, on real graphs.

Section 5: run a large d', plot the objective against the dimension and take where it flattens out;
or plot the loadings and take where they begin to look like noise around zero. The two should
agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import eigengraphs as eg
from eigengraphs import datasets
from experiments import drawing
from experiments.frame import Outcome, Run, Table, grid, judged
from experiments.repetitions import Rng

#: Name, and whether graphs are centered by their mean.
CASES = {"mice": False, "hnu1": False, "hnu1, centred": True, "airports": False, "trade": False}


def _graphs(case: str) -> eg.GraphStack:
    load = {"mice": datasets.load_mice, "hnu1": datasets.fetch_hnu1,
            "airports": datasets.fetch_us_airports, "trade": datasets.fetch_agri_trade}  # fmt: skip
    return load[case.split(",")[0]]().graphs.log1p()


def step(rng: Rng, *, case: str, diagonal: str, largest: int) -> dict[str, Any]:
    """Fit ``largest`` components; the choice of each rule, and what a reader would plot."""
    graphs = _graphs(case)
    how: dict[str, Any] = {"center": CASES[case], "diagonal": diagonal}
    fit = eg.JointEmbedding(largest, random_state=0, **how).fit(graphs)
    choice = eg.select_dimension(graphs, largest, random_state=rng, **how)
    return {
        "objective": fit.objective_path_.tolist(),
        "loadings": fit.loadings_.tolist(),
        "choices": choice.choices,
        "recommended": choice.n_components,
        "left out": choice.left_out,
    }


def dimension(run: Run) -> Outcome:
    """Apply the rules to five stacks of real graphs."""
    largest = 20 if run.full else 10
    cases = list(CASES) if run.full else ["mice", "hnu1", "trade"]
    tasks = grid({"largest": largest}, diagonal=("auto", "observed"), case=cases)
    by_setting = run.each(step, tasks)
    found = {case: by_setting["auto", case] for case in cases}
    rules = ("elbow", "loadings", "pairs", "halves")

    def chosen(one: dict[str, Any], rule: str) -> str:
        """Return the choice of a rule; one that stops at the largest d might have gone on."""
        d = one["choices"].get(rule)
        return "" if d is None else f">= {d}" if d == largest else str(d)

    rows = [
        (case, diagonal, *(chosen(one, rule) for rule in rules), one["recommended"],
         f"{1 - one['objective'][-1] / one['objective'][0]:.1%}")
        for (diagonal, case), one in by_setting.items()
    ]  # fmt: skip
    both = [[one["choices"].get(rule) for rule in ("elbow", "loadings")]
            for one in by_setting.values()]  # fmt: skip
    pairs = "; ".join(f"{case} {chosen(one, 'elbow')} and {chosen(one, 'loadings')}"
                      for case, one in found.items())  # fmt: skip
    return Outcome(
        [
            judged(
                "dimension.flattens",
                f"elbow of the objective and test of the loadings: {pairs}",
                all(None not in (a, b) and abs(a - b) <= 2 for a, b in both),
                no="the test finds components that new graphs share, long after the curve has "
                f"flattened, and mostly no end among the {largest} that were looked at. An elbow "
                "is a matter of the picture's scale, not a test",
            )
        ],
        [
            Table(
                rows,
                columns=("graphs", "diagonal", *rules, "recommended", f"explained by {largest}"),
            )
        ],
        _picture(found, largest),
    )


def _picture(found: dict[str, Any], largest: int) -> Any:
    figure, axes = drawing.figure(7.4, 1.7 * len(found), len(found), 2, squeeze=False)
    for (left, right), (case, one) in zip(axes, found.items(), strict=True):
        path = np.array(one["objective"])
        left.plot(range(largest + 1), path / path[0], marker="o", color=drawing.COLORS[0])
        for rule, color in (("elbow", 1), ("loadings", 2)):
            place = one["choices"].get(rule)
            if place is not None:
                left.axvline(place, color=drawing.COLORS[color], linestyle="--", linewidth=1,
                             label=f"{rule}: {place}")  # fmt: skip
        left.legend(loc="upper center")
        drawing.tidy(left, "dimension", "share left", case)
        Lam = np.array(one["loadings"])
        Lam = Lam / np.abs(Lam).max()
        shift = np.linspace(-0.3, 0.3, len(Lam))
        for k in range(largest):
            right.scatter(k + 1 + shift, np.sign(Lam[:, k]) * np.abs(Lam[:, k]) ** 0.5, s=2,
                          color=drawing.COLORS[0], alpha=0.5, linewidth=0)  # fmt: skip
        right.axhline(0, color=drawing.GRAY, linewidth=0.6)
        drawing.tidy(right, "dimension", "loadings")
        for panel in (left, right):
            panel.set_xticks(range(0, largest + 1, 2))
    return figure
