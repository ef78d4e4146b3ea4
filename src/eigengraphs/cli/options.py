"""Options that several commands share, with their words of help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Align", "Delimiter", "Directed", "Format", "Json", "Key", "Missing", "Participants", "Source",
    "Vertices", "input_settings",
]  # fmt: skip

Source = Annotated[
    str, typer.Argument(metavar="IN", help="A folder, a pattern in quotes, a file, or a manifest.")
]
Participants = Annotated[
    Path | None, typer.Option(help="Table with a column participant_id, joined to the graphs.")
]
Vertices = Annotated[
    Path | None, typer.Option(help="Table of vertex names, and perhaps coordinates x, y, z.")
]
Format = Annotated[
    str, typer.Option("--format", help="Kind of files; found by themselves as a rule.")
]
Key = Annotated[str | None, typer.Option(help="Which array of a .mat or .npz file.")]
Delimiter = Annotated[str | None, typer.Option(help="What stands between cells of text files.")]
Align = Annotated[
    str, typer.Option(help="Graphs on different vertices: auto, union, intersection or strict.")
]
Directed = Annotated[bool, typer.Option("--directed", help="Keep the direction of edges.")]
Missing = Annotated[bool, typer.Option("--allow-missing", help="Leave nan entries out of the fit.")]
Json = Annotated[bool, typer.Option("--json", help="Progress and results as lines of JSON.")]


def input_settings(
    participants: Path | None,
    vertices: Path | None,
    file_format: str,
    key: str | None,
    delimiter: str | None,
    align: str,
    directed: bool,
    allow_missing: bool,
) -> object:
    """Return the settings of a job from the words of its command."""
    from eigengraphs.job.inputs import InputSettings

    return InputSettings(
        participants=participants,
        vertices=vertices,
        format=file_format,
        key=key,
        delimiter={"tab": "\t", "space": " "}.get(delimiter or "", delimiter),
        align=align,
        directed=True if directed else "auto",
        missing="unobserved" if allow_missing else "error",
    )
