"""``eigengraphs convert``: graphs from one format to another, or into a store."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Any

import typer

from eigengraphs.cli.shared_options import OUTPUT_FORMATS, Json, Source, Study, among
from eigengraphs.cli.terminal import (
    Listener,
    files_left_out,
    noting,
    say,
    say_json,
    say_notes,
    showing,
)
from eigengraphs.errors import InputError
from eigengraphs.system.labels import count_of

__all__ = ["convert"]


def convert(
    source: Source,
    output: Annotated[str, typer.Argument(metavar="OUT", help="File, folder or store to write.")],
    study: Annotated[Study, "memory", "participants", "id_pattern"],
    to: Annotated[
        str,
        typer.Option(
            help="Format of OUT, or store; usually told by its ending.",
            autocompletion=among(OUTPUT_FORMATS),
        ),
    ] = "auto",
    append: Annotated[
        bool, typer.Option("--append", help="Add the graphs to an existing store.")
    ] = False,
    storage: Annotated[
        str, typer.Option(help="How a store keeps graphs: auto, dense or sparse.")
    ] = "auto",
    as_json: Json = False,
) -> None:
    """Write graphs in another format, with their names and vertices.

    With an OUT that ends in .egs, graphs go into a store, a few at a time, for data that do not
    fit in memory. If it is stopped, the same command continues.

    Example: eigengraphs convert connectomes all.npz
    """
    with showing(as_json, "read", f"reading {source}") as listen:
        if to == "store" or (to == "auto" and output.rstrip("/").endswith(".egs")):
            told = _into_store(source, output, study, append, storage, listen)
        elif append:
            raise InputError("--append adds to a store; OUT must end in .egs, or pass --to store")
        else:
            from eigengraphs import io
            from eigengraphs.cli.input_files import gather

            data = gather(source, study, listen)
            file_format: Any = to
            io.write(data.graphs, output, format=file_format)
            told = {
                "graphs": data.graphs.n_graphs, "vertices": data.graphs.n_vertices,
                "notices": [problem.text for problem in data.problems], "left_out": data.left_out,
            }  # fmt: skip
    if as_json:
        say_json(output=output, **told)
        return
    say_notes(told["notices"])
    new = told.get("new", told["graphs"])
    some = f" ({new} new)" if new < told["graphs"] else ""
    wrote = f"wrote {output}" if new else f"{output} has them already"
    say(
        f"{count_of(told['graphs'], 'graph')}{some} on "
        f"{count_of(told['vertices'], 'vertex', 'vertices')}; {wrote}"
        f"{files_left_out(told['left_out'])}"
    )


def _into_store(
    source: str, output: str, study: Study, append: bool, storage: Any, listen: Listener
) -> dict[str, Any]:
    """Convert into a store, with few graphs in memory at a time."""
    from eigengraphs import io
    from eigengraphs.io.file_graph import left_out

    labels = None if study.vertices is None else io.read_vertices(study.vertices, **study.marks)
    how = {key: value for key, value in study.arguments.items() if key != "id_pattern"}

    def watch(what: str, done: int, total: int) -> None:
        stage = "read" if what.startswith("looking") else "write"
        listen(stage, f"{what}, {done} of {total}", done, total)

    with noting(lambda: "the same command continues where it was stopped"):
        done = io.convert_to_store(
            source, output, append=append, labels=labels, storage=storage,
            command=shlex.join(["eigengraphs", *sys.argv[1:]]), watch=watch, **how,
        )  # fmt: skip
    return {
        "graphs": done.n_graphs, "vertices": done.n_vertices, "new": done.n_new,
        "resumed_at": done.n_there,
        "notices": [str(notice) for notice in done.notices if notice.loud],
        "left_out": left_out(done.notices),
    }  # fmt: skip
