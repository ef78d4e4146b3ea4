"""Names of graphs from names of files, and an order in which 2 comes before 10."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.bids import DERIVED, entities, stem
from eigengraphs.io.notices import Notice, few
from eigengraphs.stack.names import spelling

__all__ = ["differing_in_case", "id_finder", "name_graphs", "natural", "several_in_each_folder"]


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key for sorting: runs of digits count as numbers."""
    parts = re.split(r"([0-9]+)", text)
    key = [
        (0, int(part), part) if part.isdecimal() and len(part) < 1000 else (1, 0, part)
        for part in parts
        if part
    ]
    return tuple(key)


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
    """Return a name for every file, as short as tells it from the others.

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
            _one_of_each_scan(paths, known)
        names = _by_entities(known)
        if len(set(names)) == len(names):
            return names
    stems = [stem(path) for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return _by_folders(paths)


def _by_entities(known: Sequence[dict[str, str]]) -> list[str]:
    keys = list(dict.fromkeys(key for of_file in known for key in of_file))
    # A single file keeps sub and ses; of many, what is the same for all tells nothing.
    told = [
        key
        for key in keys
        if key in ("sub", "ses") or len({of_file.get(key) for of_file in known}) > 1
    ]
    return ["_".join(f"{key}-{of[key]}" for key in told if key in of) for of in known]


def _one_of_each_scan(paths: Sequence[Path], known: Sequence[dict[str, str]]) -> None:
    """Refuse several files of one scan: of other atlases or measures, or in other folders."""
    scans: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for i, of_file in enumerate(known):
        scan = tuple((key, of_file[key]) for key in of_file if key not in DERIVED)
        scans.setdefault(scan, []).append(i)
    several = {scan: group for scan, group in scans.items() if len(group) > 1}
    if not several:
        return
    scan, group = next(iter(several.items()))
    first = [paths[i] for i in group]
    scan_name = "_".join(f"{key}-{value}" for key, value in scan)
    shown = few([str(path) for path in first], 4)
    raise ReadError(
        f"{len(several)} of {len(scans)} scans have more than one file; {scan_name} has {shown}. "
        "Several atlases, measures or copies of one scan must not be mixed: choose with a "
        f"pattern, such as {_pattern(paths, first)!r}, or name the files in a manifest (columns "
        "path, id)"
    )


def _pattern(paths: Sequence[Path], several: Sequence[Path]) -> str:
    """Return a pattern that only the first of several files meets, as far as can be told."""
    mine, others = several[0], several[1:]
    tokens = re.split(r"[_.]", mine.name)
    theirs = {token for path in others for token in re.split(r"[_.]", path.name)}
    own = next((token for token in tokens if token not in theirs), None)
    if own is None:  # the names are the same, the folders differ
        return f"{mine.parent}/*{mine.suffix}"
    return f"{os.path.commonpath([path.parent for path in paths])}/**/*{own}*"


def several_in_each_folder(paths: Sequence[Path]) -> list[Notice]:
    """Say that every folder has files of the same few names: other scans, or other measures."""
    folders: dict[Path, set[str]] = {}
    for path in paths:
        folders.setdefault(path.parent, set()).add(stem(path))
    first = next(iter(folders.values()))
    if len(folders) < 2 or len(first) < 2 or any(names != first for names in folders.values()):
        return []
    text = f"each of {len(folders)} folders holds {few(sorted(first), 5)}, and each file was read "
    text += f"as a graph of its own; a pattern such as '**/{min(first)}.*' takes one of them"
    return [Notice("folders", text)]


def differing_in_case(paths: Sequence[Path], names: Sequence[str]) -> list[Notice]:
    """Say which files write a BIDS key in another case, and that graphs are called alike."""
    found = []
    for path in dict.fromkeys(paths):
        given = re.findall("[A-Za-z]+(?=-)", path.as_posix())
        if any(key not in given for key in entities(path)):
            found.append(Notice.of("case", path))
    alike = spelling(names, names)
    if alike:
        text = (
            f"names of graphs{alike.replace(';', ':', 1)}; if they are one participant, leave one"
        )
        found.append(Notice("alike", f"{text} out"))
    return found


def _by_folders(paths: Sequence[Path]) -> list[str]:
    """Return names made of the folders that vary and, if it varies, the name of the file."""
    parts = [[*path.parent.parts, stem(path)] for path in paths]
    shortest = min(map(len, parts))
    ahead = 0
    while ahead < shortest - 1 and len({part[ahead] for part in parts}) == 1:
        ahead += 1
    cut = [part[ahead:] for part in parts]
    if len({part[-1] for part in cut}) == 1 and all(len(part) > 1 for part in cut):
        shorter = ["/".join(part[:-1]) for part in cut]
        if len(set(shorter)) == len(shorter):
            return shorter
    return ["/".join(part) for part in cut]
