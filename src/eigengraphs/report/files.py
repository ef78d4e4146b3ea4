"""Write results so that a name in the output folder always stands for a whole file."""

from __future__ import annotations

import os
from pathlib import Path

from eigengraphs.errors import InputError
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import whole_file

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
