"""Options that several commands share, with their words of help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.completions import ALIGN, DELIMITERS, FORMATS, among

__all__ = [
    "OF_STORES", "Align", "Cluster", "Decimal", "Delimiter", "Directed", "Format", "IdPattern",
    "Json", "Key", "MaxBytes", "Memory", "Missing", "MovedGraphs", "Participants", "Results",
    "Source", "Thousands", "Vertices", "Workers", "input_settings",
]  # fmt: skip

_FILES = "How files are read"  # a part of every help
OF_STORES = "Graphs in a store"

Source = Annotated[
    str,
    typer.Argument(
        metavar="IN", help="A folder, a pattern in quotes, a file, a manifest or a store."
    ),
]
Results = Annotated[
    Path, typer.Argument(metavar="OUT", help="A folder that eigengraphs fit has written.")
]
MovedGraphs = Annotated[
    Path | None, typer.Option(help="Where the graphs of the fit are now, if they were moved.")
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
Decimal = Annotated[
    str | None,
    typer.Option(help="Mark of decimals in text files and tables: . or ,", rich_help_panel=_FILES),
]
Thousands = Annotated[
    str | None,
    typer.Option(help="Mark between thousands, as , in 12,438.", rich_help_panel=_FILES),
]
IdPattern = Annotated[
    str | None,
    typer.Option(
        "--id-pattern",
        help="Regular expression whose group is the participant in a file name, as _([0-9]+)_.",
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
        "--allow-missing",
        help="Leave out entries that are nan, and regions that a matrix lacks.",
        rich_help_panel=_FILES,
    ),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        help="What one file may say it holds, unpacked, such as 4G; see SECURITY.md.",
        rich_help_panel=_FILES,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="What work on a store may take, such as 1G; a quarter of all memory if absent.",
        rich_help_panel=OF_STORES,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, help="Work in so many processes, a cluster on this machine.",
        rich_help_panel=OF_STORES,
    ),
]  # fmt: skip
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Work on this Dask cluster: the address of its scheduler, tcp://...",
        rich_help_panel=OF_STORES,
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
    memory: str | None = None,
    max_bytes: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    id_pattern: str | None = None,
) -> object:
    """Return the settings of a job from the words of its command."""
    from eigengraphs.job.inputs import InputSettings

    return InputSettings(
        participants=participants,
        vertices=vertices,
        format=file_format,
        key=key,
        delimiter={"tab": "\t", "space": " "}.get(delimiter or "", delimiter),
        decimal=decimal,
        thousands=" " if thousands == "space" else thousands,
        align=align,
        directed=True if directed else "auto",
        missing="unobserved" if allow_missing else "error",
        memory=memory,
        max_bytes=max_bytes,
        id_pattern=id_pattern,
    )
