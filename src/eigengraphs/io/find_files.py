"""The files that a folder, pattern, list or manifest names, and the information in their names."""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.file_graph import Notice, few, grouped
from eigengraphs.io.text_files import (
    AUTO,
    AmbiguousComma,
    Notation,
    find_column,
    looks_like_graph,
    natural,
    open_table,
    open_text,
)
from eigengraphs.stack.names import spelling
from eigengraphs.system.labels import not_utf8
from eigengraphs.system.limits import open_regular, read_regular

SourceLike: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

# Endings that hold a matrix, an edge list or a table of something else.
_TEXT = frozenset({".csv", ".tsv", ".txt", ".dat", ".asc"})
#: Other endings, and the formats that they stand for.
ENDINGS = {
    ".npy": "numpy", ".npz": "numpy", ".mat": "matlab", ".parquet": "parquet", ".pq": "parquet",
    ".graphml": "graphml",
    ".edgelist": "text", ".edges": "text", ".ssv": "text", ".el": "text",
}  # fmt: skip
_KNOWN = _TEXT | set(ENDINGS)

# Columns of a manifest.
_PATH = ("path", "file", "filename", "filepath", "file_path")
_ID = ("id", "name", "graph", "graph_name")

# BIDS: the last word of the names of files that hold connectivity matrices.
_SUFFIXES = frozenset({"relmat", "conmat", "connectome", "connmat", "connectivity", "adjacency"})
_CALLED = ", ".join(f"*_{word}" for word in sorted(_SUFFIXES))
# Entities that tell what was computed from a scan; the others tell which scan it is.
_DERIVED = frozenset([
    "atlas", "seg", "meas", "desc", "space", "res", "den", "model", "label", "stat", "parc",
    "scale", "weight", "param", "feature",
])  # fmt: skip
# Keys that are known in any case, Sub- and SUB-; others stay as they are.
_KEYS = _DERIVED | {"sub", "ses", "task", "acq", "run", "dir", "rec", "echo"}
_ENTITY = re.compile(r"^([A-Za-z]+)-([A-Za-z0-9.+]+)$")
_INNER = re.compile(r"\.(dense|sparse|mtx)$", re.IGNORECASE)

# Names of files that lie beside graphs and are not graphs.
_BESIDE = re.compile(
    r"^(readme|changes|changelog|licen[cs]e|citation|authors|manifest|dataset_description"
    r"|(.*_)?(participants?|subjects?|phenotypes?|demographics|vertices|vertex_table|nodes|labels"
    r"|lut|atlas|parcellation|regions|rois|sessions|scans|timeseries|bold|coordinates|coords"
    r"|centres|centers|blocks|electrodes|channels|events|confounds|motion|qc))$",
    re.IGNORECASE,
)
_LOOK_AT = 3  # files of each ending, to see whether they are graphs


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
    searched: bool = False
    notices: tuple[Notice, ...] = ()


def find_files(source: SourceLike, *, bids: bool = False, notation: Notation = AUTO) -> Source:
    """Return the files that a folder, a pattern, a list, a manifest or one path names."""
    if isinstance(source, str | os.PathLike):
        found = _from_one(Path(source), os.fspath(source), bids, notation)
    else:
        found = _from_list(source)
    for file in found.files:
        if not_utf8([str(file.path)]) is not None:
            raise ReadError(
                f"the name of the file {str(file.path)!r} is not valid UTF-8 text, so that no "
                "result could name it: rename the file"
            )
    return found


def _from_list(source: Any) -> Source:
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise InputError(
            "read() takes a folder, a pattern such as 'data/*.csv', a file, a list of files, or a "
            f"manifest (a table with a column 'path'); got {type(source).__name__}"
        )
    files = list[SourceFile]()
    for item in source:
        if not isinstance(item, str | os.PathLike):
            raise InputError(
                f"a list of files must hold paths, got {type(item).__name__}; graphs that are in "
                "memory go to eigengraphs.GraphStack"
            )
        files.append(SourceFile(Path(item)))
        if not files[-1].path.is_file():
            _refuse_absent(files[-1].path)
    if not files:
        raise InputError("the list of files is empty")
    return Source(tuple(files))


def _from_one(path: Path, text: str, bids: bool, notation: Notation) -> Source:
    if path.is_dir():
        if (path / "manifest.tsv").is_file():
            return _from_manifest(path / "manifest.tsv", notation)
        return _from_folder(path, bids, notation)
    if path.is_file():
        return _from_manifest(path, notation) if _is_manifest(path) else Source((SourceFile(path),))
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
    hint = f"; there is no folder {folder}"
    if folder.is_dir():
        near = difflib.get_close_matches(path.name, [item.name for item in folder.iterdir()], 1)
        hint = f"; is it {near[0]!r}?" if near else ""
    raise ReadError(f"there is no file or folder {path}{hint}")


# ---------------------------------------------------------------------- manifests


def _is_manifest(path: Path) -> bool:
    if path.suffix.lower() not in (".tsv", ".csv", ".txt"):
        return False
    with open_regular(path) as file:
        head = file.read(65536).decode("utf-8-sig", errors="replace")
    lines = (line for line in head.splitlines() if line.strip() and line.lstrip()[0] not in "#%")
    words = re.split("[\t,;]", next(lines, "").lower())
    return any(word.strip().strip('"') in _PATH for word in words)


def _from_manifest(manifest: Path, notation: Notation) -> Source:
    """Read a table of files; paths are relative to its folder."""
    table = open_table(manifest, notation)
    columns = table.columns()
    column, ids = find_column(columns, _PATH), find_column(columns, _ID)
    if column is None:
        raise ReadError(
            f"{manifest} must have a column 'path' (or 'file'); it has: {', '.join(columns)}"
        )
    kept = [name for name in columns if name not in (column, ids)]
    files = []
    for row, text in enumerate(columns[column]):
        path = manifest.parent / text
        try:
            there = bool(text) and path.is_file()
        except (OSError, ValueError):  # a name that is too long, or a folder of somebody else
            there = False
        if not there:
            raise ReadError(
                f"{table.place(row + 1)}: there is no file {text[:200]!r} in {manifest.parent}; "
                "correct the path, or take the line out"
            )
        more = {name: columns[name][row] for name in kept}
        files.append(SourceFile(path, None if ids is None else columns[ids][row], more))
    if not files:
        raise ReadError(f"{manifest} lists no files")
    return Source(tuple(files))


# ---------------------------------------------------------------------- folders


def ending(path: Path) -> str:
    """Return the ending of a name in lower case, without ``.gz``."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _from_folder(folder: Path, bids: bool, notation: Notation) -> Source:
    """Return the graph files of a folder and its folders; of one ending, or refuse to choose."""
    within = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    shown = (path for path in within if not any(part.startswith(".") for part in path.parts))
    every = [folder / path for path in sorted(shown, key=lambda path: natural(str(path)))]
    known = [path for path in every if ending(path) in _KNOWN]
    beside = [path for path in known if _is_beside(path)]
    known = [path for path in known if path not in set(beside)]
    if not known:
        _refuse_empty(folder, every, beside)
    notices = list[Notice]()
    if beside:
        text = f"tables beside the graphs were left out: {few([path.name for path in beside])}"
        notices.append(Notice("beside", text, loud=False))

    def keep(taken: list[Path], why: str) -> list[Path]:
        rest = [path.name for path in known if path not in set(taken)]
        count = "1 file" if len(rest) == 1 else f"{len(rest)} files"
        text = f"{count} left out ({few(rest)}), which {why}"
        notices.append(Notice("left out", text, count=len(rest)))
        return taken

    matrices = [path for path in known if _bids_suffix(path) in _SUFFIXES]
    if bids and not matrices:
        raise ReadError(
            f"no file in {folder} is named as BIDS derivatives are ({_CALLED}); leave format='auto'"
        )
    if 0 < len(matrices) < len(known):
        known = keep(matrices, f"are not named {_CALLED} as others are")
    scans = [path for path in known if "sub" in entities(path.relative_to(folder))]
    if len(known) / 2 < len(scans) < len(known):
        known = keep(scans, "belong to no subject: their names have no sub-")
    groups = grouped(known, ending)
    if len(groups) > 1:
        taken = [name for name, paths in groups.items() if _are_graphs(name, paths, notation)]
        if len(taken) != 1:
            _refuse_mixed(folder, {name: groups[name] for name in taken or groups})
        known = keep(groups[taken[0]], f"are not graphs, or not {taken[0]} files as the others are")
    return Source(tuple(map(SourceFile, known)), True, tuple(notices))


def _is_beside(path: Path) -> bool:
    name = path.name
    while Path(name).suffix and len(Path(name).suffix) < 10:
        name = Path(name).stem
    return _BESIDE.match(name) is not None


def _are_graphs(name: str, paths: list[Path], notation: Notation) -> bool:
    if name not in _TEXT:
        return True
    # Not the first few: files that are named alike lie side by side.
    step = max(1, len(paths) // _LOOK_AT)
    for path in paths[::step][:_LOOK_AT]:
        try:
            if looks_like_graph(open_text(path, read_regular(path), notation)):
                return True
        except AmbiguousComma:  # to be refused, and not left out
            return True
        except (ReadError, OSError):
            continue
    return False


def _refuse_empty(folder: Path, every: list[Path], beside: list[Path]) -> None:
    there = few([path.name for path in every], 5) or "nothing"
    hint = f"; {few([path.name for path in beside])} would be tables beside graphs"
    raise ReadError(
        f"no graph files in {folder}; it holds {there}{hint if beside else ''}. Endings that are "
        f"read: {', '.join(sorted(_KNOWN))}; files in a list are read whatever their names"
    )


def _refuse_mixed(folder: Path, groups: dict[str, list[Path]]) -> None:
    counts = ", ".join(f"{len(paths)} {name}" for name, paths in groups.items())
    largest = max(groups, key=lambda name: len(groups[name]))
    raise ReadError(
        f"{folder} holds graphs of several kinds ({counts}); take one of them with a pattern: "
        f"'{folder}/**/*{largest}'"
    )


# ---------------------------------------------------------------------- what names say


def _stem(path: Path) -> str:
    """Return the name of a file without its ending: ``.tsv``, ``.dense.tsv``, ``.csv.gz``."""
    name = Path(path.name).stem if path.suffix.lower() == ".gz" else path.name
    return _INNER.sub("", Path(name).stem) or path.name


def _bids_suffix(path: Path) -> str:
    """Return the last word of a name, which says what a file holds; '' if it is an entity."""
    word = re.split(r"[_.]", _stem(path))[-1].lower()
    return "" if _ENTITY.match(word) else word


def entities(path: Path) -> dict[str, str]:
    """Return entities such as ``{"sub": "01", "ses": "1"}``, of the folders and of the name."""
    found: dict[str, str] = {}
    for folder in path.parent.parts:
        match = _ENTITY.match(folder)
        if match and (key := match[1].lower()) in ("sub", "ses"):
            if key == "sub":
                found.clear()  # what counts is the innermost subject
            found[key] = match[2]
    for word in _stem(path).split("_"):
        match = _ENTITY.match(word)
        if match:
            key = match[1].lower()
            found[key if key in _KEYS else match[1]] = match[2]
    return found


def id_finder(pattern: str) -> Callable[..., str]:
    """Return a function that finds the id in the first text that has one."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise InputError(f"id_pattern={pattern!r} is not a regular expression: {error}") from None
    if compiled.groups != 1:
        raise InputError(
            f"id_pattern={pattern!r} must have one group, the id, as in '_([0-9]+)_'; it has "
            f"{compiled.groups}"
        )

    def find(*texts: str) -> str:
        found = next((match[1] for text in texts if (match := compiled.search(text))), None)
        if not found:
            raise ReadError(f"id_pattern={pattern!r} finds no id in {texts[0]!r}; correct it")
        return found

    return find


def name_graphs(paths: Sequence[Path], *, searched: bool) -> list[str]:
    """Return a name for every file, as short as possible but unique.

    Files with a BIDS entity ``sub-`` are named by the entities that vary; others by the name of
    the file, with the folders that vary where that is not enough.

    Parameters
    ----------
    searched
        Whether the files were found in a folder or by a pattern, and not named one by one. Then
        several files of one scan, which differ in atlas or measure, are refused.
    """
    known = [entities(path) for path in paths]
    if all("sub" in of_file for of_file in known):
        if searched:
            _one_of_each_scan(paths)
        keys = dict.fromkeys(key for of_file in known for key in of_file)
        # A single file keeps sub and ses; of many, what is the same for all tells nothing.
        told = [
            key
            for key in keys
            if key in ("sub", "ses") or len({of_file.get(key) for of_file in known}) > 1
        ]
        names = ["_".join(f"{key}-{of[key]}" for key in told if key in of) for of in known]
        if len(set(names)) == len(names):
            return names
    stems = [_stem(path) for path in paths]
    return stems if len(set(stems)) == len(stems) else _by_folders(paths)


def _one_of_each_scan(paths: Sequence[Path]) -> None:
    """Refuse several files of one scan: with different atlases or measures, or in other folders."""
    scans = grouped(
        paths,
        lambda path: "_".join(f"{k}-{v}" for k, v in entities(path).items() if k not in _DERIVED),
    )
    several = {scan: group for scan, group in scans.items() if len(group) > 1}
    if not several:
        return
    scan, group = next(iter(several.items()))
    shown = few([str(path) for path in group], 4)
    raise ReadError(
        f"{len(several)} of {len(scans)} scans have more than one file; {scan} has {shown}. "
        "Several atlases, measures or copies of one scan must not be mixed: choose with a "
        f"pattern, such as {_pattern(paths, *group)!r}, or name the files in a manifest (columns "
        "path, id)"
    )


def _pattern(paths: Sequence[Path], mine: Path, *others: Path) -> str:
    """Return a pattern that only the first of several files meets, as far as can be told."""
    theirs = {token for path in others for token in re.split(r"[_.]", path.name)}
    own = next((token for token in re.split(r"[_.]", mine.name) if token not in theirs), None)
    if own is None:  # the names are the same, the folders differ
        return f"{mine.parent}/*{mine.suffix}"
    return f"{os.path.commonpath([path.parent for path in paths])}/**/*{own}*"


def _by_folders(paths: Sequence[Path]) -> list[str]:
    """Return names made of the folders that vary and, if it varies, the name of the file."""
    parts = [[*path.parent.parts, _stem(path)] for path in paths]
    same = [len(set(column)) == 1 for column in zip(*parts, strict=False)]
    ahead = [*same[:-1], False].index(False)
    cut = [part[ahead:] for part in parts]
    if len({part[-1] for part in cut}) == 1 and all(len(part) > 1 for part in cut):
        shorter = ["/".join(part[:-1]) for part in cut]
        if len(set(shorter)) == len(shorter):
            return shorter
    return ["/".join(part) for part in cut]


def name_notices(source: Source, paths: Sequence[Path], names: Sequence[str]) -> list[Notice]:
    """Return notices about unusual names of files and of their graphs."""
    found = list[Notice]()
    folders = grouped((file.path for file in source.files), lambda path: path.parent)
    first, *others = ({_stem(path) for path in group} for group in folders.values())
    same = all(stems == first for stems in others)
    if source.searched and len(folders) > 1 and len(first) > 1 and same:  # scans, or measures
        text = f"each of {len(folders)} folders holds {few(sorted(first), 5)}, and each file was "
        text += f"read as a graph of its own; a pattern such as '**/{min(first)}.*' takes only one"
        found.append(Notice("folders", text))
    for path in dict.fromkeys(paths):
        given = re.findall("[A-Za-z]+(?=-)", path.as_posix())
        if any(key not in given for key in entities(path)):
            found.append(Notice.of("case", path))
    alike = spelling(names, names)
    if alike:
        text = f"names of graphs{alike.replace(';', ':', 1)}; if they are one participant, leave "
        found.append(Notice("alike", f"{text}one out"))
    return found
