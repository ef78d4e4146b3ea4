"""The picture of a contest of methods: what they explain and predict, and what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs.errors import MissingExtraError
from eigengraphs.inference.label_prediction import CHANCE
from eigengraphs.inference.method_contest import Contest
from eigengraphs.plot.axes import HUES, MARKERS

__all__ = ["contest_figure"]


def contest_figure(contest: Contest, title: str) -> Any:
    """Draw a contest: reconstruction by parameters, scores with intervals, and time.

    Parameters
    ----------
    contest
        What :func:`~eigengraphs.inference.contest` found.
    title
        Heading of the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "report", "drawing a picture") from None
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    figure.suptitle(title, fontsize=12)
    explained, scores, seconds = figure.subplots(1, 3)
    names = [row.method for row in contest.rows]
    for k, row in enumerate(contest.rows):
        if row.explained is not None and row.n_parameters:
            explained.scatter(
                row.n_parameters, row.explained, color=HUES[k % 7], marker=MARKERS[k % 7], s=60,
                label=row.method,
            )  # fmt: skip
    explained.set(xscale="log", xlabel="parameters", ylabel="share of held-out graphs explained")
    if explained.has_data():
        explained.legend(frameon=False, fontsize=9)
    _scores(scores, contest, names)
    times = [(row.seconds_fit or 0.0) + (row.seconds_new or 0.0) for row in contest.rows]
    seconds.barh(range(len(names)), times, color=[HUES[k % 7] for k in range(len(names))])
    seconds.set(xlabel="seconds a fold", yticks=range(len(names)), yticklabels=names)
    seconds.invert_yaxis()
    return figure


def _scores(axes: Any, contest: Contest, names: list[str]) -> None:
    found = contest.evaluation
    rules = list(dict.fromkeys(score.rule for score in found.scores if score.rule))
    for r, rule in enumerate(rules):
        mine = [found.score(name, rule) for name in names]
        places = np.arange(len(names)) + 0.24 * (r - (len(rules) - 1) / 2)
        values = np.array([score.score for score in mine])
        ends = np.abs(np.array([[s.low, s.high] for s in mine]).T - values)
        axes.errorbar(values, places, xerr=ends, fmt=MARKERS[r], color=HUES[r], label=rule)
    axes.axvline(found.score(CHANCE).score, color="#444444", lw=1, ls="--", label=CHANCE)
    axes.set(xlabel=f"{found.measure} (held out)", yticks=range(len(names)), yticklabels=names)
    axes.invert_yaxis()
    axes.legend(frameon=False, fontsize=9)
