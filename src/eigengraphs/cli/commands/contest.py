"""``eigengraphs contest``: joint embedding and other methods on the same graphs."""

from __future__ import annotations

from typing import Any

from eigengraphs import inference
from eigengraphs.cli.command_options import Contest
from eigengraphs.cli.held_out import holding_out
from eigengraphs.cli.input_files import gather
from eigengraphs.cli.several_sites import harmonizing
from eigengraphs.cli.terminal import Listener, Outcome, Table, written
from eigengraphs.errors import InputError
from eigengraphs.plot.three_panels import contest_figure
from eigengraphs.report.columns import make_column
from eigengraphs.system.labels import count_of
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import replace_together, scratch_folder

__all__ = ["contest"]


def contest(asked: Contest, listen: Listener) -> Outcome:
    """Fit and predict by several methods; write a table and a picture."""
    output, label = asked.output, asked.label
    if output.exists() and not output.is_dir():
        raise InputError(f"{str(output)!r} is a file; name a folder by --output")
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
    figure = contest_figure(found, f"{data.graphs.n_graphs} graphs, {label}")
    output.parent.mkdir(parents=True, exist_ok=True)
    table, picture = files = [output / "contest.tsv", output / "contest.png"]
    with scratch_folder(output) as scratch:
        write_table(scratch / table.name, list(found.header), found.table())
        figure.savefig(scratch / picture.name, dpi=150, format="png")
        output.mkdir(exist_ok=True)
        replace_together([(scratch / file.name, file) for file in files])
    rows = [dict(zip(found.header, row, strict=True)) for row in found.table()]
    facts = {
        "label": label, "graphs": found.evaluation.n_graphs, "methods": rows,
        "not_offered": dict(found.not_offered), "protocol": found.evaluation.protocol,
        "notes": found.notes, "left_out": data.left_out, "problems": data.notes, "files": files,
    }  # fmt: skip
    shown = [name for name in found.header if not name.endswith(("_low", "_high"))]
    table_shown = Table(
        [name.replace("_", " ") for name in shown],
        [[_cell(row, name) for name in shown] for row in rows],
    )
    why = [f"Not offered: {name}, because {why}." for name, why in found.not_offered.items()]
    return Outcome(
        [table_shown, *why, *found.notes, written(files, data.left_out)],
        facts,
        [*data.notes, *found.evaluation.warnings],
    )


def _cell(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if value is None or isinstance(value, str):
        return value or ""
    if row.get(f"{name}_low") is not None:
        return f"{value:.3f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"
    return f"{value:,d}" if isinstance(value, int) else f"{value:.3g}"
