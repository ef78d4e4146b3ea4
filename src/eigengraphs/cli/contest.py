"""``eigengraphs contest``: which method suits these graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from eigengraphs.cli.completions import TRANSFORMS, among
from eigengraphs.cli.evaluate import (
    Cv,
    Folds,
    Groups,
    Jobs,
    Methods,
    Repeats,
    method_names,
    number_or_word,
)
from eigengraphs.cli.options import (
    Align,
    Decimal,
    Delimiter,
    Directed,
    Format,
    IdPattern,
    Json,
    Key,
    MaxBytes,
    Missing,
    Participants,
    Source,
    Thousands,
    Vertices,
    input_settings,
)  # fmt: skip
from eigengraphs.cli.wording import files_left_out, say, say_notes, table_width, visible

__all__ = ["contest"]


def contest(
    source: Source,
    label: Annotated[str, typer.Option(help="Column to predict: classes, or a quantity.")],
    output: Annotated[
        Path, typer.Option(metavar="FOLDER", help="For contest.tsv and contest.png.")
    ] = Path("contest"),
    components: Annotated[
        str, typer.Option("-d", "--components", help="Number of components, or auto.")
    ] = "8",
    transform: Annotated[
        list[str] | None,
        typer.Option(help="Of weights, such as log1p.", autocompletion=among(TRANSFORMS)),
    ] = None,
    center: Annotated[
        bool, typer.Option("--center", help="Joint embedding of differences from the mean.")
    ] = False,
    methods: Methods = "Multiple ASE,Omnibus,Unfolded ASE,PCA,ASE",
    cv: Cv = "5",
    repeats: Repeats = 1,
    groups: Groups = None,
    folds: Folds = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the folds and the search.")] = 0,
    jobs: Jobs = 1,
    participants: Participants = None,
    vertices: Vertices = None,
    file_format: Format = "auto",
    key: Key = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    id_pattern: IdPattern = None,
    align: Align = "auto",
    directed: Directed = False,
    allow_missing: Missing = False,
    max_bytes: MaxBytes = None,
    as_json: Json = False,
) -> None:
    """Compare joint embedding with other methods on your graphs: fit, prediction, time, size.

    Example: eigengraphs contest connectomes --participants participants.tsv --label group
    """
    from eigengraphs.cli.progress import showing
    from eigengraphs.job.events import Event

    with showing(as_json, Event("read", f"reading {source}")) as listen:
        from eigengraphs.job.analysis import FitSettings
        from eigengraphs.job.contesting import hold_contest
        from eigengraphs.job.evaluating import HoldingOut

        how: Any = input_settings(
            participants, vertices, file_format, key, delimiter, align, directed, allow_missing,
            max_bytes=max_bytes, decimal=decimal, thousands=thousands, id_pattern=id_pattern,
        )  # fmt: skip
        found, files, data = hold_contest(
            source, label, output, how,
            FitSettings(
                number_or_word(components), transform=tuple(transform or ()), center=center,
                seed=seed,
            ),
            HoldingOut(number_or_word(cv), repeats, groups, folds, seed=seed, n_jobs=jobs),
            methods=method_names(methods), listen=listen,
        )  # fmt: skip
    if as_json:
        say(json.dumps({
            "event": "done", "label": label, "graphs": found.evaluation.n_graphs,
            "methods": [dict(zip(found.header, row, strict=True)) for row in found.table()],
            "not_offered": dict(found.not_offered), "protocol": found.evaluation.protocol,
            "notes": found.notes,
            "files": [str(file) for file in files], "left_out": data.left_out,
            "problems": [problem.text for problem in data.problems],
        }))  # fmt: skip
        return
    from rich.console import Console
    from rich.table import Table

    say_notes([*(problem.text for problem in data.problems), *found.evaluation.warnings])
    table = Table(*(name.replace("_", " ") for name in found.header
                    if not name.endswith(("_low", "_high"))))  # fmt: skip
    for row in found.table():
        cells = dict(zip(found.header, row, strict=True))
        table.add_row(*(visible(_text(cells, name)) for name in found.header
                        if not name.endswith(("_low", "_high"))))  # fmt: skip
    Console(markup=False, emoji=False, highlight=False, width=table_width()).print(table)
    for name, why in found.not_offered.items():
        say(f"Not offered: {name}, because {why}.")
    say("\n".join(found.notes))
    say(f"wrote {', '.join(str(file) for file in files)}{files_left_out(data.left_out)}")


def _text(cells: dict[str, Any], name: str) -> str:
    value = cells[name]
    if value is None or isinstance(value, str):
        return value or ""
    if f"{name}_low" in cells:
        return f"{value:.3f} ({cells[f'{name}_low']:.2f} to {cells[f'{name}_high']:.2f})"
    return f"{value:,d}" if isinstance(value, int) else f"{value:.3g}"
