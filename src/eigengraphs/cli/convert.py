"""``eigengraphs convert``: graphs from one format to another."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Annotated, Any

import typer

from eigengraphs.cli.completions import OUTPUT_FORMATS, among
from eigengraphs.cli.options import (
    Align,
    Decimal,
    Delimiter,
    Directed,
    Format,
    Json,
    Key,
    MaxBytes,
    Missing,
    Source,
    Thousands,
    Vertices,
    input_settings,
)  # fmt: skip
from eigengraphs.cli.wording import files_left_out, say, say_notes
from eigengraphs.errors import InputError
from eigengraphs.job.events import Event, Listener
from eigengraphs.system.labels import count_of

__all__ = ["convert"]


def convert(
    source: Source,
    output: Annotated[str, typer.Argument(metavar="OUT", help="File, folder or store to write.")],
    to: Annotated[
        str,
        typer.Option(
            help="Format of OUT, or 'store'; told by its ending as a rule.",
            autocompletion=among(OUTPUT_FORMATS),
        ),
    ] = "auto",
    append: Annotated[bool, typer.Option("--append", help="Add to a store that is there.")] = False,
    storage: Annotated[
        str, typer.Option(help="How a store keeps graphs: auto, dense or sparse.")
    ] = "auto",
    vertices: Vertices = None,
    file_format: Format = "auto",
    key: Key = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    align: Align = "auto",
    directed: Directed = False,
    allow_missing: Missing = False,
    max_bytes: MaxBytes = None,
    as_json: Json = False,
) -> None:
    """Write graphs in another format, with their names and vertices.

    With an OUT that ends in .egs, graphs go into a store, a few at a time, for data that do not
    fit in memory. The same command again goes on where it was stopped.

    Example: eigengraphs convert connectomes all.npz
    """
    from eigengraphs.cli.progress import showing

    with showing(as_json, Event("read", f"reading {source}")) as listen:
        how: Any = input_settings(
            None,
            vertices,
            file_format,
            key,
            delimiter,
            align,
            directed,
            allow_missing,
            max_bytes=max_bytes,
            decimal=decimal,
            thousands=thousands,
        )
        if to == "store" or (to == "auto" and output.rstrip("/").endswith(".egs")):
            said = _store(source, output, how, append, storage, listen)
        elif append:
            raise InputError("--append adds to a store; OUT must end in .egs, or pass --to store")
        else:
            from eigengraphs import io
            from eigengraphs.job.inputs import gather

            data = gather(source, how, listen)
            chosen: Any = to
            io.write(data.graphs, output, format=chosen)
            said = {
                "graphs": data.graphs.n_graphs, "vertices": data.graphs.n_vertices,
                "notices": [problem.text for problem in data.problems],
                "left_out": data.left_out,
            }  # fmt: skip
    if as_json:
        say(json.dumps({"event": "done", "output": output, **said}))
        return
    say_notes(said["notices"])
    new = f" ({said['new']} new)" if said.get("new", said["graphs"]) < said["graphs"] else ""
    wrote = f"wrote {output}" if said.get("new", 1) else f"{output} has them already"
    say(f"{count_of(said['graphs'], 'graph')}{new} on "
        f"{count_of(said['vertices'], 'vertex', 'vertices')}; {wrote}"
        f"{files_left_out(said['left_out'])}")  # fmt: skip


def _store(
    source: str, output: str, how: Any, append: bool, storage: Any, listen: Listener
) -> dict[str, Any]:
    """Convert into a store, with few graphs in memory at a time."""
    from eigengraphs import io
    from eigengraphs.io.file_graph import left_out
    from eigengraphs.job.large import noting

    marks = {"decimal": how.decimal, "thousands": how.thousands}
    labels = None if how.vertices is None else io.read_vertices(how.vertices, **marks)

    def watch(what: str, done: int, total: int) -> None:
        stage: Any = "read" if what.startswith("looking") else "write"
        listen(Event(stage, f"{what}, {done} of {total}", done, total))

    with noting(lambda: "the same command goes on where it was stopped"):
        done = io.convert_to_store(
            source,
            output,
            append=append,
            format=how.format,
            key=how.key,
            delimiter=how.delimiter,
            **marks,
            vertices=how.align,
            labels=labels,
            directed=how.directed,
            missing=how.missing,
            storage=storage,
            max_bytes=how.max_bytes,
            command=shlex.join(["eigengraphs", *sys.argv[1:]]),
            watch=watch,
        )
    return {
        "graphs": done.n_graphs,
        "vertices": done.n_vertices,
        "new": done.n_new,
        "resumed_at": done.n_there,
        "notices": [str(notice) for notice in done.notices if notice.loud],
        "left_out": left_out(done.notices),
    }
