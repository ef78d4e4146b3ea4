"""``eigengraphs convert``: graphs from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from eigengraphs.cli.completions import OUTPUT_FORMATS, among
from eigengraphs.cli.options import (
    Align,
    Delimiter,
    Directed,
    Format,
    Key,
    Missing,
    Source,
    Vertices,
    input_settings,
)  # fmt: skip

__all__ = ["convert"]


def convert(
    source: Source,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File or folder to write.")],
    to: Annotated[
        str,
        typer.Option(
            help="Format of OUT; told by its ending as a rule.",
            autocompletion=among(OUTPUT_FORMATS),
        ),
    ] = "auto",
    vertices: Vertices = None,
    file_format: Format = "auto",
    key: Key = None,
    delimiter: Delimiter = None,
    align: Align = "auto",
    directed: Directed = False,
    allow_missing: Missing = False,
) -> None:
    """Write graphs in another format, with their names and vertices.

    Example: eigengraphs convert connectomes all.npz
    """
    from eigengraphs.cli.progress import showing
    from eigengraphs.job.events import Event

    with showing(False, Event("read", f"reading {source}")) as listen:
        from eigengraphs import io
        from eigengraphs.job.inputs import gather

        how: Any = input_settings(
            None, vertices, file_format, key, delimiter, align, directed, allow_missing
        )
        data = gather(source, how, listen)
        chosen: Any = to
        io.write(data.graphs, output, format=chosen)
    print(f"{data.graphs.n_graphs} graphs on {data.graphs.n_vertices} vertices; wrote {output}")
