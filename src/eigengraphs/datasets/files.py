"""Getting the files of a data set: from a data folder, checked, downloaded where absent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from eigengraphs.datasets.registry import HostedFile, registered
from eigengraphs.errors import DatasetError, InputError, MissingExtraError
from eigengraphs.system.limits import read_regular

__all__ = ["VARIABLE", "Folder", "find_folder", "read_file_if_there", "read_files"]

VARIABLE = "EIGENGRAPHS_DATA"
Folder: TypeAlias = str | os.PathLike[str] | None


def find_folder(data_folder: Folder) -> Path:
    """Return the folder given, else that of ``EIGENGRAPHS_DATA``, else the user's cache."""
    if data_folder is not None:
        if not isinstance(data_folder, str | os.PathLike):
            raise InputError(f"data_folder must be a path, got data_folder={data_folder!r}")
        return Path(data_folder).expanduser()
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    try:
        import pooch
    except ImportError:
        raise MissingExtraError("pooch", "data", "finding the user's cache") from None
    return Path(pooch.os_cache("eigengraphs"))


def read_files(paths: Sequence[str], *, data_folder: Folder, download: bool) -> list[bytes]:
    """Return the contents of files of the registry, each one checked.

    Parameters
    ----------
    paths : sequence of str
        As in the registry, such as ``"wiki/Wiki_orig.RData"``.
    data_folder : path or None
        See `find_folder`. It is written to only if files are absent.
    download : bool
        Whether absent files may be downloaded.
    """
    folder = find_folder(data_folder)
    wanted = [registered()[path] for path in paths]
    absent = [file for file in wanted if not _is_there(folder / file.path)]
    if absent and not download:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise DatasetError(
            f"not found: {folder / absent[0].path}{more}, and download=False; allow the download, "
            f"put the files there by hand, or name the folder that holds them by data_folder or "
            f"the environment variable {VARIABLE}"
        )
    if absent:
        from eigengraphs.datasets.downloading import download_files

        download_files(absent, folder)
    return [_read(file, folder) for file in wanted]


def read_file_if_there(path: str, *, data_folder: Folder) -> bytes | None:
    """Return the content of one file, checked, or None if it is not in the folder."""
    folder = find_folder(data_folder)
    if not _is_there(folder / path):
        return None
    return _read(registered()[path], folder)


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a folder that may not be looked into
        raise DatasetError(f"cannot look for {path}: {error.strerror}") from error


def _read(file: HostedFile, folder: Path) -> bytes:
    path = folder / file.path
    try:
        content = read_regular(path)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    found = sha256(content).hexdigest()
    if found != file.sha256:
        raise DatasetError(
            f"{path} is not the published file: expected SHA-256 {file.sha256} "
            f"({file.size} bytes), found {found} ({len(content)} bytes); delete it, and it will be "
            "downloaded again when next asked for"
        )
    return content
