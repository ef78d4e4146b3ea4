"""``eigengraphs evaluate``: how well a column is predicted for graphs that are held out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigengraphs.cli.options import Json
from eigengraphs.cli.wording import say, say_notes, table_width

if TYPE_CHECKING:
    from eigengraphs.inference.label_prediction import Evaluation

__all__ = ["Cv", "Folds", "Groups", "Jobs", "Methods", "Repeats", "evaluate", "method_names",
           "number_or_word"]  # fmt: skip

Cv = Annotated[str, typer.Option(help="Number of folds, or loo: each graph or group alone.")]
Repeats = Annotated[int, typer.Option(min=1, help="How often graphs are shared out anew.")]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Column whose graphs stay together; by default the participants. none: no groups."
    ),
]
Folds = Annotated[
    str | None, typer.Option(help="Column that says the fold of each graph, such as session.")
]
Methods = Annotated[
    str, typer.Option(help="What to compare with, with commas: PCA,Omnibus; all, or none.")
]
Jobs = Annotated[int, typer.Option(min=1, help="Folds at a time, in processes.")]


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="A folder of results.")],
    target: Annotated[str, typer.Option(help="Column to predict: classes, or a quantity.")],
    cv: Cv = "5",
    repeats: Repeats = 1,
    groups: Groups = None,
    folds: Folds = None,
    covariates: Annotated[
        str,
        typer.Option(help="Columns whose effects are taken off, learnt in each fold: age,site."),
    ] = "",
    learn_from_one: Annotated[
        bool, typer.Option("--learn-from-one", help="Learn from one fold, hold all others out.")
    ] = False,
    methods: Methods = "all",
    components: Annotated[
        str | None, typer.Option("-d", "--components", help="Another number than the fit has.")
    ] = None,
    graphs: Annotated[
        Path | None, typer.Option(help="Where the graphs are now, if they were moved.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the folds.")] = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Predict a column of graphs that are held out: the whole pipeline is learnt in every fold.

    Example: eigengraphs evaluate results --target sex --cv 5 --groups participant_id
    """
    from eigengraphs.cli.progress import showing
    from eigengraphs.job.events import Event

    with showing(as_json, Event("read", f"opening {folder}")) as listen:
        from eigengraphs.job.evaluating import HoldingOut, evaluate_fit
        from eigengraphs.job.finished import FinishedFit

        how = HoldingOut(
            number_or_word(cv), repeats, groups, folds, "one" if learn_from_one else "others", seed,
            jobs,
            tuple(name.strip() for name in covariates.split(",") if name.strip()),
        )  # fmt: skip
        found, files = evaluate_fit(
            FinishedFit(folder), target, how, methods=method_names(methods), source=graphs,
            components=None if components is None else number_or_word(components), listen=listen,
        )  # fmt: skip
    if as_json:
        say(json.dumps({
            "event": "done", "target": target, "kind": found.kind, "measure": found.measure,
            "graphs": found.n_graphs, "groups": found.n_units,
            "pipelines": [dict(zip(found.header, row, strict=True)) for row in found.rows()],
            "not_offered": dict(found.not_offered), "protocol": found.protocol,
            "warnings": found.warnings, "files": [str(file) for file in files],
        }))  # fmt: skip
        return
    say_notes(found.warnings)
    say("\n".join(found.words()))
    _show(found)
    say(f"{found.protocol[0].upper()}{found.protocol[1:]}")
    say(f"wrote {', '.join(str(file) for file in files)}")


def number_or_word(text: str) -> int | str:
    """Return a whole number where the text is one."""
    return int(text) if text.isdecimal() else text


def method_names(text: str) -> Any:
    """Return what --methods names."""
    if text.strip() in ("all", "none"):
        return "all" if text.strip() == "all" else ()
    return [name.strip() for name in text.split(",") if name.strip()]


def _show(found: Evaluation) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "pipeline", found.measure, "interval", "minus", "difference", "interval", "p (Holm)"
    )
    for score in found.scores:
        difference = ["", "", "", ""]
        if score.difference is not None:
            value, low, high, _ = score.difference
            difference = [score.versus, f"{value:+.3f}", f"{low:+.3f} to {high:+.3f}",
                          f"{score.p_holm:.2g}"]  # fmt: skip
        table.add_row(
            score.name, f"{score.score:.3f}", f"{score.low:.3f} to {score.high:.3f}", *difference
        )
    Console(markup=False, emoji=False, highlight=False, width=table_width()).print(table)
