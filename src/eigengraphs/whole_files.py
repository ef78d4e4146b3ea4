"""A name on the disk stands for something whole: what is half written never gets it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["to_disk", "whole_file", "whole_folder"]


@contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Give a temporary name beside ``path``; what is written there gets the name at the end.

    With ``durable``, it is on the disk before it gets the name, and so is the name at the end: a
    power cut leaves the old file or the new one.
    """
    # Part of the stem: the temporary name must not be longer than a file system allows.
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.stem[:60]}-", suffix=path.suffix
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)  # mkstemp keeps files to their owner; results are to be shared
        if durable:
            to_disk(temporary)
        temporary.replace(path)
        if durable:
            to_disk(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path``, which must be absent or an empty folder.

    It gets the name at the end, with all that was written into it.
    """
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:60]}-"))
    try:
        yield temporary
        temporary.chmod(0o755)
        if path.is_dir():
            path.rmdir()  # empty, or this fails and the old one stays
        temporary.replace(path)
    finally:
        if temporary.exists():
            shutil.rmtree(temporary)
