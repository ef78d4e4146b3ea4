"""``eigengraphs changes``: changes of level and anomalous graphs, in ordered graphs."""

from __future__ import annotations

import warnings

from eigengraphs import inference
from eigengraphs.cli.command_options import Changes
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.cli.terminal import Listener, Outcome
from eigengraphs.errors import ManyAnomaliesWarning
from eigengraphs.report.records import TimeLine, time_line


def changes(asked: Changes, _: Listener) -> Outcome:
    """Look for changes and anomalies in the loadings of a fit."""
    fit = FinishedFit(asked.folder)
    summary = fit.summary
    line = _line(fit, asked.order)
    order, (loadings, said) = list(line.order), fit.loadings
    names = [summary.graph_names[i] for i in order]
    found = inference.change_points(
        loadings[order], components=list(fit.components), leave_out=fit.degenerate,
        smallest=asked.smallest, n_permutations=asked.permutations, random_state=asked.seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManyAnomaliesWarning)  # said in words
        odd = inference.anomalies(
            loadings[order], summary.residual_with_mean[order], segments=found.segments,
            leave_out=fit.degenerate, random_state=asked.seed,
        )  # fmt: skip
    named = names
    if line.by:  # graphs by name, with the value that put them in order
        pairs = zip(names, line.labels, strict=True)
        named = [f"{name} ({line.by} {label})" for name, label in pairs]
    words = (*found.words(named), *odd.words(named))
    rows = [
        (name, label, float(found.segments[i] + 1), "yes" if i in found.places else "",
         float(odd.distances[i]), float(odd.residuals[i]), float(odd.p_fdr[i]))
        for i, (name, label) in enumerate(zip(names, line.labels, strict=True))
    ]  # fmt: skip
    facts = {
        "order": line.by or "input", "p": found.p_value,
        "changes": [
            {"graph": names[place], "when": line.labels[place], "gain": gain}
            for place, gain in zip(found.places, found.gains.tolist(), strict=True)
        ],
        "autocorrelation": dict(
            fit.in_tables(zip(found.components, found.autocorrelation.tolist(), strict=True))
        ),
        "anomalies": [
            {"graph": names[i], "when": line.labels[i], "distance": float(odd.distances[i]),
             "p_fdr": float(odd.p_fdr[i])}
            for i in odd.found
        ],
    }  # fmt: skip
    return fit.answer(
        ["changes"],
        f"Changes and anomalies, in the order of {line.by or 'the input'}",
        words,
        ("graph", "when", "segment", "change", "distance", "residual score", "p_fdr"),
        rows,
        facts,
        shown=said,
        notes=(
            "Graphs are compared with the level of their own segment, so that graphs after a "
            "change are not anomalies for that reason. The distance is that of the loadings, the "
            "residual score that of the logarithm of the residual of the whole graph; both are in "
            "robust standard deviations, corrected for skewness and heavy tails of most graphs.",
            *said,
        ),
        careful=found.notes,
        methods=f"{found.methods} {odd.methods}",
        timeline=line,
    )


def _line(fit: FinishedFit, order: str | None) -> TimeLine:
    """Return the graphs in the order that is asked for; by default in that of the report."""
    if order is None and fit.summary.timeline is not None:
        return fit.summary.timeline
    by = None if order in (None, "input") else order
    columns = {} if by is None else {by: fit.values(by, "--order")}
    line = time_line(by or True, columns, fit.summary.graph_names)
    assert line is not None
    return line
