"""``eigengraphs evaluate``: a column of the graphs of a fit, predicted on held-out graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eigengraphs import inference
from eigengraphs.cli.command_options import Evaluate
from eigengraphs.cli.held_out import holding_out
from eigengraphs.cli.results_folder import FinishedFit, file_name
from eigengraphs.cli.several_sites import harmonizing
from eigengraphs.cli.terminal import Listener, Outcome, Table, counting
from eigengraphs.errors import InputError
from eigengraphs.inference.prediction.label_prediction import CHANCE
from eigengraphs.inference.prediction.prediction_pipelines import JOINT, quiet
from eigengraphs.report.records import Finding, Intervals

_MOST_ROWS = 40  # of a table on a terminal; the file has all


def evaluate(asked: Evaluate, listen: Listener) -> Outcome:
    """Predict a column by the settings of a fit, and by other methods."""
    fit, target = FinishedFit(asked.folder), asked.target
    column = fit.column(target, "--target")
    covariates = fit.covariates(asked.covariates, target, "--target")
    beyond = fit.covariates(asked.beyond, target, "--target", "--beyond")
    parts = None if asked.by is None else fit.values(asked.by, "--by")
    whose = fit.participants and fit.values(fit.participants, "--groups")
    how = holding_out(asked.how, asked.methods, column, fit.values, whose, listen)
    sites = fit.harmonizing(asked.sites)
    over = harmonizing(sites, fit.values)
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
        data.graphs, column.known, embedding=settings, covariates=covariates, beyond=beyond,
        learn_from="one" if asked.learn_from_one else "others", seed=asked.seed,
        positive=asked.positive, permutations=asked.permutations,
        on_permutation=counting(listen, "permute", "permutation"), **how, **over,
    )  # fmt: skip
    where = found.header.index(found.measure)
    by = ["by", asked.how.folds] if asked.how.folds else []
    named = ["evaluate", target, *by, *covariates, *(["beyond", *beyond] if beyond else [])]
    named += ["over", str(sites.harmonize)] if over else []
    adjusted = f", adjusted for {', '.join(covariates)}" if covariates else ""
    adjusted += f", harmonized over {sites.harmonize}" if over else ""
    added = f", beyond {', '.join(beyond)}" if beyond else ""
    folds = f", folds by {asked.how.folds}" if by else ""
    title = f"Prediction of {target}{adjusted}{added}{folds}"
    n_units = f" of {found.n_units} groups" if found.n_units < found.n_graphs else ""
    # Each of these is a table of its own, and a part of the report about the joint embedding.
    part = asked.by or asked.how.folds or "fold"
    tables: dict[str, tuple[Sequence[Mapping[str, Any]], str]] = {
        "parts": (found.measures("folds" if parts is None else parts),
                  f"Measures of held-out graphs by {part}"),
        "confusion": (found.confusion(), "Held-out graphs by their class and the predicted one"),
        "calibration": (found.calibration(), "Predicted probabilities and observed shares"),
    }  # fmt: skip
    tables = {name: ([{part if key == "part" else key: cell for key, cell in row.items()}
                      for row in rows], said)
              for name, (rows, said) in tables.items() if rows}  # fmt: skip
    stem = file_name(*named).removesuffix(".tsv")
    rows = found.rows()
    facts = {
        "target": target, "kind": found.kind, "measure": found.measure, "graphs": found.n_graphs,
        "groups": found.n_units, "positive": found.positive or None,
        "pipelines": [dict(zip(found.header, row, strict=True)) for row in rows],
        **{name: rows for name, (rows, _) in tables.items()},
        "not_offered": dict(found.not_offered), "protocol": found.protocol,
        "warnings": found.warnings,
    }  # fmt: skip
    only = ("pipeline", found.measure, "low", "high", "versus", "difference", "difference_low",
            "difference_high", "p_holm")  # fmt: skip
    shown: list[str | Table] = [Table.of(found.header, rows, only)]
    best = max((s for s in found.scores if s.method == JOINT), key=lambda s: s.score).name
    for name in ("parts", "confusion"):
        cells, said = tables.get(name, ((), ""))
        mine = [row for row in cells if row["pipeline"] == best]
        if 0 < len(mine) <= _MOST_ROWS:
            shown += [f"{said}, {best}:", _table(mine)]
    return fit.answer(
        named, title, found.words(), found.header, rows, facts,
        shown=shown,
        notes=(
            f"{found.n_graphs} graphs{n_units}.",
            *(f"Warning: {text}" for text in found.warnings[:5]),
        ),
        careful=found.notes,
        methods=f"The {target} of held-out graphs was predicted. Procedure: {found.protocol}",
        aside=found.warnings,
        intervals=Intervals(
            where, where + 1, where + 2, found.score(CHANCE).score, f"{found.measure} (held-out)"
        ),
        more={f"{stem}.{name}.tsv": {key: [row[key] for row in cells] for key in cells[0]}
              for name, (cells, _) in tables.items()},
        further=[_finding(f"{name} of {' '.join(named)}", f"{title}: {name}", cells, said)
                 for name, (cells, said) in tables.items()],
    )  # fmt: skip


def _finding(key: str, title: str, rows: Sequence[Mapping[str, Any]], said: str) -> Finding:
    """Return rows as a part of the report: those of joint embeddings, named by the second cell."""
    joint = [[*row.values()] for row in rows if str(row["pipeline"]).startswith(JOINT)]
    header = [*rows[0]]
    for row in (header, *joint):
        row[:2] = row[1::-1]
    return Finding(key, title, (f"{said}.",), tuple(header), tuple(map(tuple, joint)))


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return rows of one pipeline for a terminal: without columns that say nothing, or always."""
    keys = [key for key in rows[0] if any(row[key] not in (None, "") for row in rows)]
    same = "why_empty" if len({row.get("why_empty") for row in rows}) == 1 else ""
    cells = ([*row.values()] for row in rows)
    return Table.of([*rows[0]], cells, [key for key in keys[1:] if key != same])
