"""Options that several commands share, with their words of help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.completions import ALIGN, DELIMITERS, FORMATS, among

__all__ = [
    "Align", "Delimiter", "Directed", "Format", "Json", "Key", "Missing", "Participants", "Source",
    "Vertices", "input_settings",
]  # fmt: skip

_FILES = "How files are read"  # a part of every help

Source = Annotated[
    str,
    typer.Argument(
        metavar="IN", help="A folder, a pattern in quotes, a file, a manifest or a store."
    ),
]
Participants = Annotated[
    Path | None,
    typer.Option(
        help="Table with a column participant_id, joined to the graphs.", rich_help_panel=_FILES
    ),
]
Vertices = Annotated[
    Path | None,
    typer.Option(
        help="Table of vertex names, and perhaps coordinates x, y, z.", rich_help_panel=_FILES
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="Kind of files; found by themselves as a rule.",
        autocompletion=among(FORMATS),
        rich_help_panel=_FILES,
    ),
]
Key = Annotated[
    str | None, typer.Option(help="Which array of a .mat or .npz file.", rich_help_panel=_FILES)
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What stands between cells of text files.",
        autocompletion=among(DELIMITERS),
        rich_help_panel=_FILES,
    ),
]
Align = Annotated[
    str,
    typer.Option(
        help="Graphs on different vertices: auto, union, intersection or strict.",
        autocompletion=among(ALIGN),
        rich_help_panel=_FILES,
    ),
]
Directed = Annotated[
    bool, typer.Option("--directed", help="Keep the direction of edges.", rich_help_panel=_FILES)
]
Missing = Annotated[
    bool,
    typer.Option(
        "--allow-missing", help="Leave nan entries out of the fit.", rich_help_panel=_FILES
    ),
]
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
