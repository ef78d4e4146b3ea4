"""``eigengraphs evaluate``: a column of the graphs of a fit, predicted on held-out graphs."""

from __future__ import annotations

from eigengraphs import inference
from eigengraphs.cli.command_options import Evaluate
from eigengraphs.cli.held_out import holding_out
from eigengraphs.cli.results_folder import FinishedFit, file_name
from eigengraphs.cli.terminal import Listener, Outcome, Table, sentence, written
from eigengraphs.errors import InputError
from eigengraphs.inference.prediction.label_prediction import CHANCE
from eigengraphs.inference.prediction.prediction_pipelines import quiet
from eigengraphs.report.records import Finding, Intervals

__all__ = ["evaluate"]


def evaluate(asked: Evaluate, listen: Listener) -> Outcome:
    """Predict a column by the settings of a fit, and by other methods."""
    fit, target = FinishedFit(asked.folder), asked.target
    column = fit.column(target, "--target")
    covariates = fit.covariates(asked.covariates, target, "--target")
    whose = fit.participants and fit.values(fit.participants, "--groups")
    how = holding_out(asked.how, asked.methods, column, fit.values, whose, listen)
    settings = quiet(fit.embedding)
    if asked.components is not None:
        settings = settings.set_params(n_components=asked.components)
    data = fit.inputs(asked.graphs, listen)
    if tuple(data.graphs.graph_names) != tuple(fit.summary.graph_names):
        raise InputError(
            "the graphs have other names than those of the fit; fit them, and use the results "
            "of that"
        )
    listen("predict", f"predicting {target} of held-out graphs")
    found = inference.evaluate(
        data.graphs, column.known, embedding=settings, covariates=covariates,
        learn_from="one" if asked.learn_from_one else "others", seed=asked.seed, **how,
    )  # fmt: skip
    words = found.words()
    where = found.header.index(found.measure.replace(" ", "_"))
    by = ["by", asked.how.folds] if asked.how.folds else []
    named = ["evaluate", target, *by, *covariates]
    adjusted = f", adjusted for {', '.join(covariates)}" if covariates else ""
    n_units = f" of {found.n_units} groups" if found.n_units < found.n_graphs else ""
    axis = f"{found.measure} (held-out)"
    finding = Finding(
        key=" ".join(named),
        title=f"Prediction of {target}{adjusted}{f', folds by {asked.how.folds}' if by else ''}",
        words=words,
        header=found.header,
        rows=found.rows(),
        intervals=Intervals(where, where + 1, where + 2, found.score(CHANCE).score, axis),
        notes=(
            sentence(found.protocol),
            f"{found.n_graphs} graphs{n_units}.",
            *(f"Warning: {text}" for text in found.warnings[:5]),
        ),
    )
    files = fit.add(finding, file_name(*named))
    facts = {
        "target": target, "kind": found.kind, "measure": found.measure, "graphs": found.n_graphs,
        "groups": found.n_units,
        "pipelines": finding.cells,
        "not_offered": dict(found.not_offered), "protocol": found.protocol,
        "warnings": found.warnings, "files": files,
    }  # fmt: skip
    shown = []
    for score in found.scores:
        versus = [""] * 4
        if score.difference is not None:
            value, low, high, _ = score.difference
            versus = [score.versus, f"{value:+.3f}", f"{low:+.3f} to {high:+.3f}",
                      f"{score.p_holm:.2g}"]  # fmt: skip
        interval = f"{score.low:.3f} to {score.high:.3f}"
        shown.append((score.name, f"{score.score:.3f}", interval, *versus))
    header = ("pipeline", found.measure, "interval", "minus", "difference", "interval", "p (Holm)")
    protocol = sentence(found.protocol)
    return Outcome([*words, Table(header, shown), protocol, written(files)], facts, found.warnings)
