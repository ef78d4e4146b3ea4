"""``eigengraphs trajectories``: slopes of loadings over time, within people."""

from __future__ import annotations

from typing import Any

from eigengraphs import inference, plot
from eigengraphs.cli.command_options import Trajectories
from eigengraphs.cli.results_folder import FinishedFit, file_name
from eigengraphs.cli.terminal import Listener, Outcome, Table
from eigengraphs.errors import InputError
from eigengraphs.report.records import Intervals, says_number
from eigengraphs.system.extras import need


def trajectories(asked: Trajectories, _: Listener) -> Outcome:
    """Fit mixed models to the loadings of a fit, and draw them."""
    fit, time, group = FinishedFit(asked.folder), asked.time, asked.group
    subject = fit.participants if asked.subject is None else asked.subject
    if subject is None:
        raise InputError("no participant has several graphs; name their column by --subject")
    values = fit.values(time, "--time")
    if all(value is None or says_number(str(value)) for value in values):
        values = [None if value is None else float(value) for value in values]
    covariates = fit.covariates(asked.covariates, time, "--time")
    if group in (time, *covariates):
        raise InputError(f"{group!r} is named twice, by --group and --time or --covariates")
    loadings, said = fit.loadings
    found = inference.trajectories(
        loadings,
        values,
        fit.values(subject, "--subject"),
        None if group is None else fit.values(group, "--group"),
        covariates or None,
        components=list(fit.components),
        leave_out=fit.degenerate,
        name=time,
        group_name=group or "",
    )
    named = ["trajectories", time, *([] if group is None else [group]), *covariates]
    if asked.subject not in (None, fit.participants):
        named += ["of", subject]
    by, rows = f", by {group}" if group else "", fit.in_tables(found.rows)
    stem = file_name(*named).removesuffix(".tsv")
    people: dict[str, Any] = {subject: found.people} | dict(
        fit.in_tables(zip(found.components, found.person_slopes.T.tolist(), strict=True))
    )
    facts = {
        "time": time, "group": group, "subject": subject, "graphs": len(found.times),
        "people": len(found.people), "df": found.df,
        "slopes": [dict(zip(found.header, row, strict=True)) for row in rows],
    }  # fmt: skip
    only = [name for name in found.header if name != "se"]
    shown = Table.of(found.header, found.rows, only, f"{found.confidence:.0%} interval")
    return fit.answer(
        named, f"Change of loadings with {time} within {subject}{by}", found.words, found.header,
        rows, facts, shown=[shown],
        careful=(*said, *found.notes), methods=" ".join([*said, found.methods]),
        column=group or "",
        intervals=Intervals(2, 3, 4, 0.0, f"slope per unit of {time}"),
        more={f"{stem}.people.tsv": people},
        drawn={f"{stem}.png": _picture(found)},
    )  # fmt: skip


def _picture(found: inference.Trajectories) -> Any:
    """Return a figure with a panel for each component."""
    count = len(found.components)
    across = min(count, 3)
    down = -(-count // across)
    figure = need("matplotlib.figure", "report", "drawing a picture").Figure(
        figsize=(4.2 * across, 3.4 * down), layout="constrained"
    )
    for k, ax in enumerate(figure.subplots(down, across, squeeze=False).ravel()):
        if k < count:
            legend = plot.trajectories(found, k, ax=ax).get_legend()
            if legend is not None and k + 1 < count:  # one for all panels
                legend.remove()
        else:
            ax.set_axis_off()
    return figure
