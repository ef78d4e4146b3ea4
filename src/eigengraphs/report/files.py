"""Write results so that a name in the output folder always stands for a whole file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eigengraphs.errors import InputError
from eigengraphs.whole_files import whole_file

__all__ = ["output_folder", "whole_file", "write_table"]


def output_folder(path: str | os.PathLike[str]) -> Path:
    """Make a folder for results, or say why it cannot be."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the output folder {str(folder)!r}: {error.strerror}; choose another"
        ) from None
    return folder


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a tab-separated table; numbers keep 10 digits."""

    def cell(value: Any) -> str:
        text = f"{value:.10g}" if isinstance(value, float) else str(value)
        return text.replace("\t", " ").replace("\n", " ")

    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for row in [header, *rows]:
            file.write("\t".join(map(cell, row)) + "\n")
