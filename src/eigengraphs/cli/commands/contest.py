"""``eigengraphs contest``: joint embedding and other methods on the same graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigengraphs import inference
from eigengraphs.cli.command_options import Contest
from eigengraphs.cli.held_out import holding_out
from eigengraphs.cli.input_files import gather
from eigengraphs.cli.results_folder import check_folder, write_files
from eigengraphs.cli.several_sites import harmonizing
from eigengraphs.cli.terminal import Listener, Outcome, Table, written
from eigengraphs.inference.prediction.label_prediction import CHANCE
from eigengraphs.plot import HUES, MARKERS
from eigengraphs.report.records import make_column
from eigengraphs.system.extras import need
from eigengraphs.system.labels import count_of


def contest(asked: Contest, listen: Listener) -> Outcome:
    """Fit and predict by several methods; write a table and a picture."""
    output, label = asked.output, asked.label
    check_folder(output)
    data = gather(asked.source, asked.study, listen)
    column = make_column(label, data.column(label))
    how = holding_out(asked.how, asked.methods, column, data.values, data.participants, listen)
    over = harmonizing(asked.sites, data.values)
    listen("predict", f"comparing methods on {count_of(data.graphs.n_graphs, 'graph')}")
    found = inference.contest(
        data.graphs, column.known, embedding=asked.embedding.estimator(data.graphs),
        seed=asked.embedding.seed, participants=data.participants, **how, **over,
    )  # fmt: skip
    listen("write", f"writing {output}")
    figure = _picture(found, f"{data.graphs.n_graphs} graphs, {label}")
    table = found.header, found.table()
    files = write_files(output, {"contest.tsv": table, "contest.png": figure})
    rows = [dict(zip(found.header, row, strict=True)) for row in table[1]]
    facts = {
        "label": label, "graphs": found.evaluation.n_graphs, "methods": rows,
        "not_offered": dict(found.not_offered), "protocol": found.evaluation.protocol,
        "notes": found.notes, "left_out": data.left_out, "problems": data.notes, "files": files,
    }  # fmt: skip
    why = [f"Not offered: {name}, because {why}." for name, why in found.not_offered.items()]
    return Outcome(
        [Table.of(*table, found.header), *why, *found.notes, written(files, data.left_out)],
        facts,
        [*data.notes, *found.evaluation.warnings],
    )


def _picture(contest: inference.Contest, title: str) -> Any:
    """Draw reconstruction by parameters, scores with intervals, and time."""
    figure = need("matplotlib.figure", "report", "drawing a picture").Figure(
        figsize=(13, 4.2), layout="constrained"
    )
    figure.suptitle(title, fontsize=12)
    explained, scores, seconds = figure.subplots(1, 3)
    names, found = [row.method for row in contest.rows], contest.evaluation
    for k, row in enumerate(contest.rows):
        look = {"color": HUES[k % 7], "marker": MARKERS[k % 7], "s": 60}
        if row.explained is not None and row.n_parameters:
            explained.scatter(row.n_parameters, row.explained, label=row.method, **look)
    explained.set(xscale="log", xlabel="parameters", ylabel="share of held-out graphs explained")
    if explained.has_data():
        explained.legend(frameon=False, fontsize=9)
    rules = list(dict.fromkeys(score.rule for score in found.scores if score.rule))
    for r, rule in enumerate(rules):
        mine = [found.score(name, rule) for name in names]
        places = np.arange(len(names)) + 0.24 * (r - (len(rules) - 1) / 2)
        values = np.array([score.score for score in mine])
        ends = np.abs(np.array([[s.low, s.high] for s in mine]).T - values)
        scores.errorbar(values, places, xerr=ends, fmt=MARKERS[r], color=HUES[r], label=rule)
    scores.axvline(found.score(CHANCE).score, color="#444444", lw=1, ls="--", label=CHANCE)
    scores.legend(frameon=False, fontsize=9)
    times = [row.seconds_fit + row.seconds_new for row in contest.rows]
    seconds.barh(range(len(names)), times, color=[HUES[k % 7] for k in range(len(names))])
    for axes, label in ((scores, f"{found.measure} (held out)"), (seconds, "seconds per fold")):
        axes.set(xlabel=label, yticks=range(len(names)), yticklabels=names)
        axes.invert_yaxis()
    return figure
