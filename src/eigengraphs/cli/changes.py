"""``eigengraphs changes``: when loadings change, and which graphs are odd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.options import Json
from eigengraphs.cli.wording import say, say_notes

__all__ = ["changes"]


def changes(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="A folder of results.")],
    order: Annotated[
        str | None,
        typer.Option(
            help="Column that says when, or 'input'; by default that of the time line, or input."
        ),
    ] = None,
    smallest: Annotated[int, typer.Option(min=2, help="Graphs between changes, at least.")] = 3,
    permutations: Annotated[int, typer.Option(min=99, help="Series without change.")] = 999,
    seed: Annotated[int, typer.Option(min=0, help="Of the permutations.")] = 0,
    as_json: Json = False,
) -> None:
    """Find changes of level and anomalous graphs in ordered graphs, from their loadings.

    Example: eigengraphs changes results --order age
    """
    from eigengraphs.job.comparing import changes_in
    from eigengraphs.job.finished import FinishedFit

    found, files = changes_in(
        FinishedFit(folder), order, smallest=smallest, n_permutations=permutations, seed=seed
    )
    moved, odd = found.changes, found.anomalies
    if as_json:
        say(json.dumps({
            "event": "done", "order": found.line.by or "input", "p": moved.p_value,
            "changes": [
                {"graph": found.names[place], "when": found.line.labels[place], "gain": gain}
                for place, gain in zip(moved.places, moved.gains.tolist(), strict=True)
            ],
            "autocorrelation": dict(zip(
                moved.components, moved.autocorrelation.tolist(), strict=True)),
            "anomalies": [
                {"graph": found.names[i], "when": found.line.labels[i],
                 "distance": float(odd.distances[i]), "p_fdr": float(odd.p_fdr[i])}
                for i in odd.found
            ],
            "notes": moved.notes, "methods": f"{moved.methods} {odd.methods}",
            "files": [str(file) for file in files],
        }))  # fmt: skip
        return
    say_notes(moved.notes)
    say("\n".join(found.words))
    say(f"Methods: {moved.methods} {odd.methods}")
    say(f"wrote {', '.join(str(file) for file in files)}")
