"""Graphs as files gave them, together: of one kind, each with a name, and none twice in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eigengraphs.errors import ReadError
from eigengraphs.io.formats import Format, read_one
from eigengraphs.io.naming import name_graphs
from eigengraphs.io.notices import Notice, few
from eigengraphs.io.raw import RawGraph
from eigengraphs.io.sources import SourceFile
from eigengraphs.io.text import Notation
from eigengraphs.system.limits import DEFAULT, Cap, read_regular

__all__ = ["Loaded", "names_of", "one_layout", "same_content", "settle_ambiguous"]


@dataclass(frozen=True)
class Loaded:
    """One graph on its way into the stack."""

    file: SourceFile
    sha256: str
    graph: RawGraph
    several: bool  # its file holds more graphs


def one_layout(loaded: Sequence[Loaded]) -> None:
    """Refuse matrices and edge lists in one folder: one of them is likely to be something else."""
    kinds: dict[str, list[str]] = {}
    for item in loaded:
        kinds.setdefault(item.graph.format, []).append(str(item.file.path))
    if len(kinds) > 1:
        fewest = min(kinds, key=lambda kind: len(kinds[kind]))
        counts = ", ".join(f"{len(paths)} x {kind}" for kind, paths in kinds.items())
        raise ReadError(
            f"the files are of several kinds ({counts}); {fewest}: {few(kinds[fewest])}. Choose "
            "files of one kind with a pattern, or name them one by one in a list or manifest"
        )


def settle_ambiguous(
    loaded: list[Loaded], key: str | None, notation: Notation, cap: Cap = DEFAULT
) -> list[Loaded]:
    """Read a file that could be a matrix or an edge list as what the others are."""
    unsure = [any(said.kind == "ambiguous" for said in item.graph.notices) for item in loaded]
    sure = {item.graph.format for item, doubt in zip(loaded, unsure, strict=True) if not doubt}
    formats: dict[str, Format] = {"matrix": "matrix", "edge list": "edgelist"}
    if not any(unsure) or len(sure) != 1 or not sure <= set(formats):
        return loaded
    format = formats[next(iter(sure))]
    settled = list[Loaded]()
    for item, doubt in zip(loaded, unsure, strict=True):
        if not doubt:
            settled.append(item)
            continue
        path = item.file.path
        options: Any = {"format": format, "key": key, "notation": notation, "cap": cap}
        graphs = read_one(path, read_regular(path), **options)
        settled.append(replace(item, graph=graphs[0]))
    return settled


def names_of(loaded: Sequence[Loaded], *, searched: bool) -> list[str]:
    """Return a name for every graph: of a manifest, of the file, or of what is in the file."""
    paths = list(dict.fromkeys(item.file.path for item in loaded))
    by_file = dict(zip(paths, name_graphs(paths, searched=searched), strict=True))
    count: dict[Path, int] = {}
    names = list[str]()
    for item in loaded:
        path = item.file.path
        i = count[path] = count.get(path, -1) + 1
        name = item.file.name or by_file[path]
        if item.graph.key is not None:
            name = item.graph.key if len(paths) == 1 else f"{name}_{item.graph.key}"
        elif item.several:
            name = str(i) if len(paths) == 1 else f"{name}_{i}"
        names.append(name)
    name, often = Counter(names).most_common(1)[0]
    if often > 1:
        same = [i for i, other in enumerate(names) if other == name]
        shown = few([str(loaded[i].file.path) for i in same], 4)
        raise ReadError(
            f"{often} graphs would be called {name!r}: {shown}; keep one of the files, or give "
            "each a name in a manifest (a table with columns 'path' and 'id')"
        )
    return names


def same_content(loaded: Sequence[Loaded], names: Sequence[str]) -> list[Notice]:
    """Say which files are copies of one another."""
    hashes: dict[str, dict[Path, str]] = {}
    for item, name in zip(loaded, names, strict=True):
        if item.sha256:  # large files have none
            hashes.setdefault(item.sha256, {})[item.file.path] = name
    copies = [list(group.values()) for group in hashes.values() if len(group) > 1]
    if not copies:
        return []
    shown = few([" = ".join(group) for group in copies])
    text = f"{sum(map(len, copies))} files are copies of others, byte for byte ({shown}); if a "
    return [Notice("copies", text + "subject got into the data twice, leave one file out")]
