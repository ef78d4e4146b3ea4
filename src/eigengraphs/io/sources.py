"""What a user named - a folder, a pattern, files, a manifest - as a list of files."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.folders import search_folder
from eigengraphs.io.naming import natural
from eigengraphs.io.notices import Notice
from eigengraphs.io.tables import read_table
from eigengraphs.io.text import AUTO, Notation
from eigengraphs.system.labels import not_utf8
from eigengraphs.system.limits import open_regular

__all__ = ["Source", "SourceFile", "SourceLike", "find_files"]

SourceLike: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

_PATH = ("path", "file", "filename", "filepath", "file_path")
_ID = ("id", "name", "graph", "graph_name")


@dataclass(frozen=True)
class SourceFile:
    """One file, with what a manifest says of it."""

    path: Path
    name: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """Files in order; ``searched`` if they were found, and not named one by one."""

    files: tuple[SourceFile, ...]
    searched: bool
    notices: tuple[Notice, ...] = ()


def find_files(source: SourceLike, *, bids: bool = False, notation: Notation = AUTO) -> Source:
    """Return the files that a folder, a pattern, a list, a manifest or one path stands for."""
    found = _found(source, bids, notation)
    for file in found.files:
        if not_utf8([str(file.path)]) is not None:
            raise ReadError(
                f"the name of the file {str(file.path)!r} is no text in UTF-8, so that no result "
                "could name it: rename the file"
            )
    return found


def _found(source: SourceLike, bids: bool, notation: Notation) -> Source:
    if isinstance(source, str | os.PathLike):
        return _from_one(Path(source), os.fspath(source), bids, notation)
    items: Any = source
    if isinstance(items, bytes) or not isinstance(items, Iterable):
        raise InputError(
            "read() takes a folder, a pattern such as 'data/*.csv', a file, a list of files, or a "
            f"manifest (a table with a column 'path'); got {type(source).__name__}"
        )
    paths = [Path(_checked(item)) for item in items]
    if not paths:
        raise InputError("the list of files is empty")
    for path in paths:
        if not path.is_file():
            _refuse_absent(path)
    return Source(tuple(map(SourceFile, paths)), searched=False)


def _checked(item: Any) -> str | os.PathLike[str]:
    if not isinstance(item, str | os.PathLike):
        raise InputError(
            f"a list of files must hold paths, got {type(item).__name__}; graphs that are in "
            "memory go to eigengraphs.GraphStack"
        )
    return item


def _from_one(path: Path, text: str, bids: bool, notation: Notation) -> Source:
    if path.is_dir():
        manifest = path / "manifest.tsv"
        if manifest.is_file():
            return _from_manifest(manifest, notation)
        found = search_folder(path, bids=bids, notation=notation)
        return Source(tuple(map(SourceFile, found.paths)), True, found.notices)
    if path.is_file():
        if _is_manifest(path):
            return _from_manifest(path, notation)
        return Source((SourceFile(path),), searched=False)
    if any(mark in text for mark in "*?["):
        # Not Path.glob, which takes no pattern with a root.
        matched = [Path(name) for name in glob.glob(text, recursive=True)]  # noqa: PTH207
        files = sorted((p for p in matched if p.is_file()), key=lambda p: natural(str(p)))
        if not files:
            raise ReadError(
                f"no file matches {text!r}; patterns are relative to {Path.cwd()}, and ** goes "
                "into folders"
            )
        return Source(tuple(map(SourceFile, files)), searched=True)
    return _refuse_absent(path)


def _refuse_absent(path: Path) -> NoReturn:
    folder = path.parent
    near: Sequence[str] = []
    if folder.is_dir():
        names = [item.name for item in folder.iterdir()]
        near = difflib.get_close_matches(path.name, names, 1)
    hint = f"; is it {near[0]!r}?" if near else ""
    if not folder.is_dir():
        hint = f"; there is no folder {folder}"
    raise ReadError(f"there is no file or folder {path}{hint}")


def _is_manifest(path: Path) -> bool:
    if path.suffix.lower() not in (".tsv", ".csv", ".txt"):
        return False
    with open_regular(path) as file:
        head = file.read(65536).decode("utf-8-sig", errors="replace")
    lines = [line for line in head.splitlines() if line.strip() and line.lstrip()[0] not in "#%"]
    if not lines:
        return False
    words = lines[0].lower().replace(",", "\t").replace(";", "\t").split("\t")
    return any(word.strip().strip('"') in _PATH for word in words)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or a folder of somebody else
        return False


def _from_manifest(manifest: Path, notation: Notation) -> Source:
    """Read a table of files; paths are relative to its folder."""
    table = read_table(manifest, notation)
    lower = {name.lower(): name for name in table.columns}
    column = next((lower[word] for word in _PATH if word in lower), None)
    if column is None:
        raise ReadError(
            f"{manifest} must have a column 'path' (or 'file'); it has: {', '.join(table.columns)}"
        )
    ids = next((lower[word] for word in _ID if word in lower), None)
    kept = [name for name in table.columns if name not in (column, ids)]
    files = []
    for row, (place, text) in enumerate(zip(table.places, table.columns[column], strict=True)):
        path = manifest.parent / text
        if not text or not _is_file(path):
            raise ReadError(
                f"{manifest}, line {place}: there is no file {text[:200]!r} in {manifest.parent}; "
                "mend the path, or take the line out"
            )
        columns = {name: table.columns[name][row] for name in kept}
        files.append(SourceFile(path, None if ids is None else table.columns[ids][row], columns))
    if not files:
        raise ReadError(f"{manifest} lists no files")
    return Source(tuple(files), searched=False)
