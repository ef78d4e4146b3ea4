"""``eigengraphs simulate``: graphs with a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.completions import DESIGNS, OUTPUT_FORMATS, WEIGHTS, among
from eigengraphs.cli.options import Json
from eigengraphs.cli.wording import say
from eigengraphs.system.labels import count_of

__all__ = ["simulate"]


def simulate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help=f"A recipe (.toml or .json), or one of {', '.join(DESIGNS)}.",
            autocompletion=among(DESIGNS),
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File or new folder to write.")],
    graphs: Annotated[
        int | None, typer.Option(min=1, help="Number of graphs; the model has its own.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Graph i depends on it and i alone.")] = 0,
    file_format: Annotated[
        str,
        typer.Option(
            "--format",
            help="Format of OUT; told by its ending as a rule.",
            autocompletion=among(OUTPUT_FORMATS),
        ),
    ] = "auto",
    weights: Annotated[
        str,
        typer.Option(
            help="Edges: auto, binary, or counts with the same means.",
            autocompletion=among(WEIGHTS),
        ),
    ] = "auto",
    vertices: Annotated[
        int | None, typer.Option(min=1, help="Of the designs weighted and sparse.")
    ] = None,
    mean_degree: Annotated[
        float | None, typer.Option(help="Of the designs weighted and sparse.")
    ] = None,
    loops: Annotated[bool, typer.Option("--loops", help="Draw self-loops too.")] = False,
    as_json: Json = False,
) -> None:
    """Draw graphs whose truth is known; write them, a table of participants, and the truth.

    Example: eigengraphs simulate section5.2 study --graphs 40
    """
    from eigengraphs.cli.progress import showing
    from eigengraphs.job.events import Event

    with showing(as_json, Event("draw", f"reading {model}")) as listen:
        from eigengraphs.job.simulating import simulate_to
        from eigengraphs.models.simulation import read_design

        design = read_design(
            model, vertices=vertices, mean_degree=mean_degree, weights=weights, loops=loops
        )
        stack, files = simulate_to(design, output, graphs, seed, file_format, listen)
    if as_json:
        import json

        found = {"graphs": stack.n_graphs, "vertices": stack.n_vertices}
        say(json.dumps({"event": "done"} | found | {"files": [str(path) for path in files]}))
        return
    names = [kind.name for kind in design.classes]
    classes = f" of classes {', '.join(names)}" if len(names) > 1 else ""
    say(
        f"{count_of(stack.n_graphs, 'graph')}{classes} on "
        f"{count_of(stack.n_vertices, 'vertex', 'vertices')}, density {stack.density:.3g}; "
        f"wrote {', '.join(map(str, files))}"
    )
    if files[0].suffix == ".egs":  # whose labels are not predicted
        say(f"next: eigengraphs fit {files[0]} results")
    elif len(names) > 1:
        say(f"next: eigengraphs fit {files[0]} results --participants {files[1]} --label class")
