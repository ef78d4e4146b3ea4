"""Edge lists in text files: two vertices a line and perhaps a weight."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import ReadError
from eigengraphs.io.kinds import SOURCE, TARGET, WEIGHT
from eigengraphs.io.naming import natural
from eigengraphs.io.notices import Notice, few
from eigengraphs.io.raw import EdgeGraph
from eigengraphs.io.text import TextFile, data_at, number, whole
from eigengraphs.stack.names import spelling
from eigengraphs.system.limits import read_json

__all__ = ["edge_graph", "read_edges"]

_PADDED = re.compile(r"(?<![0-9.+-])0[0-9]")  # may be an id such as 007


_LONGEST_DATA = 10_000  # characters: Python takes 200 times as many bytes to parse them


def read_edges(text: TextFile) -> EdgeGraph:
    """Read an edge list; vertices come in the order of their numbers, or of their names."""
    declared = _declared(text)
    directed = {"true": True, "false": False, "yes": True, "no": False}.get(
        (text.comment("directed") or "").lower()
    )
    if not text.lines:
        return edge_graph(([], []), np.zeros(0), declared, directed, text, text.notices)
    table = None
    if data_at(text.lines[0]) is None and not _are_padded(text, declared):
        table = _numbers(text)
    if table is not None:
        source, target = _whole(table[:, 0]), _whole(table[:, 1])
        if source is not None and target is not None:
            weight = table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
            ends: Any = (source, target)
            return edge_graph(ends, weight, declared, directed, text, text.notices)
    names, weight = _from_cells(text)
    if declared is None and not names[0]:
        notices = (*text.notices, Notice.of("no edges", text.path))
        return edge_graph(names, weight, None, directed, text, notices)
    if declared is None:
        names = _whole_ids(*names)
    return edge_graph(names, weight, declared, directed, text, text.notices)


def edge_graph(
    ends: tuple[Sequence[str], Sequence[str]] | tuple[NDArray[np.int64], NDArray[np.int64]],
    weight: NDArray[np.float64],
    declared: tuple[str, ...] | None,
    directed: bool | None,
    text: TextFile,
    notices: tuple[Notice, ...] = (),
) -> EdgeGraph:
    """Return edges that are given by names or by whole numbers, with places for vertices."""
    if isinstance(ends[0], np.ndarray):
        used, places = np.unique(np.concatenate(ends), return_inverse=True)
        found = [str(name) for name in used.tolist()]
    else:  # not an array, in which each name would take as much as the longest
        codes: dict[str, int] = {}
        both: Any = [codes.setdefault(str(name), len(codes)) for name in (*ends[0], *ends[1])]
        found, places = list(codes), np.array(both, dtype=np.intp)
    names = declared
    if names is None:
        named = not isinstance(ends[0], np.ndarray)
        names = tuple(sorted(sorted(found), key=natural)) if named else tuple(found)
    place = {name: s for s, name in enumerate(names)}
    unknown = [name for name in found if name not in place]
    if unknown:
        raise ReadError(
            f"{text.path} has edges of {few([repr(name) for name in unknown])}, which its comment "
            f"'# vertices:' does not list{spelling(unknown, names)}; add them there, or take the "
            "comment out"
        )
    to_place = np.array([place[name] for name in found], dtype=np.intp)
    s, t = to_place[places].reshape(2, -1)
    return EdgeGraph(s, t, weight, names, declared is not None, directed, notices=notices)


def _declared(text: TextFile) -> tuple[str, ...] | None:
    """Return the vertices of a comment ``# vertices: ["a", "b"]`` or ``# vertices: a b``."""
    said = text.comment("vertices")
    if not said:
        return None
    names: Any = None
    if said.startswith("["):
        try:
            names = read_json(said)
            if not isinstance(names, list):
                raise ValueError
        except ValueError:
            raise ReadError(
                f"{text.path}: the comment '# vertices:' starts with [ and is no list that JSON "
                "knows; write '# vertices: a b c'"
            ) from None
    else:
        names = said.replace(",", " ").split()
    texts = tuple(str(name) for name in names)
    if len(set(texts)) < len(texts):
        raise ReadError(f"{text.path}: the comment '# vertices:' names a vertex twice")
    return texts


def _are_padded(text: TextFile, declared: tuple[str, ...] | None) -> bool:
    """Tell whether ids are written like 007, which is a name and not the number 7."""
    if declared is not None:
        return not all(re.fullmatch(r"0|-?[1-9][0-9]*", name) for name in declared)
    near = (i for i, line in enumerate(text.lines) if _PADDED.search(line))
    cells = (cell for i in near for cell in text.cells(i, i + 1)[0][:2])
    return any(re.fullmatch(r"0[0-9]+", cell) for cell in cells)


def _numbers(text: TextFile) -> NDArray[np.float64] | None:
    """Return a table of two or three columns of numbers; None if it is anything else."""
    try:
        # Numpy's parser in C; it refuses words, empty cells and lines of unequal length.
        table = np.loadtxt(text.lines, delimiter=text.delimiter, comments=None, ndmin=2)
    except ValueError:
        return None
    return table if table.shape[1] in (2, 3) else None


def _whole(values: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return ids as integers, or None if they are none, or too large to be kept exactly.

    What is 2**53 as a float may have been 2**53 + 1 in the file.
    """
    if not np.isfinite(values).all() or np.abs(values).max(initial=0) >= 2**53:
        return None
    ids = values.astype(np.int64)
    return ids if np.array_equal(ids, values) else None


def _from_cells(text: TextFile) -> tuple[tuple[list[str], list[str]], NDArray[np.float64]]:
    """Read edges between names, with a header, or with data as networkx writes it."""
    if data_at(text.lines[0]) is not None:
        rows = [_with_data(text, i) for i in range(len(text.lines))]
    else:
        rows = text.cells()
    places = list(text.places)
    if rows and len(rows[0]) > 3 and all(row[-1] == "" for row in rows):
        rows = [row[:-1] for row in rows]
    s, t, w, header = _columns(text, rows)
    rows, places = rows[header:], places[header:]
    sources, targets = list[str](), list[str]()
    weight = np.ones(len(rows))
    needed = max(s, t, -1 if w is None else w) + 1
    for i, (row, place) in enumerate(zip(rows, places, strict=True)):
        if len(row) < needed or (w is not None and header == 0 and len(row) > needed):
            raise ReadError(
                f"{text.path}, line {place} has {len(row)} cells, with {text.delimiter_in_words} "
                f"between them, and other lines have {needed}; an edge is two vertices and perhaps "
                "a weight: mend the line, or pass another delimiter="
            )
        sources.append(row[s])
        targets.append(row[t])
        if w is not None:
            value = number(row[w])
            if value is None:
                raise ReadError(
                    f"{text.path}, line {place}, column {w + 1}: the weight {row[w][:40]!r} is not "
                    "a number; an edge is two vertices and perhaps a weight"
                )
            weight[i] = value
    return (sources, targets), weight


def _columns(text: TextFile, rows: list[list[str]]) -> tuple[int, int, int | None, int]:
    """Return which columns are source, target and weight, and the number of header lines."""
    first = [cell.lower() for cell in rows[0]]
    found = [
        next((column for column, cell in enumerate(first) if cell in words), None)
        for words in (SOURCE, TARGET, WEIGHT)
    ]
    if found[0] is not None and found[1] is not None and found[0] != found[1]:
        weight = found[2]
        if weight is None and len(first) == 3:
            weight = 3 - found[0] - found[1]
        return found[0], found[1], weight, 1
    width = len(rows[0])
    if width not in (2, 3):
        raise ReadError(
            f"{text.path}, line {text.places[0]} has {width} cells with {text.delimiter_in_words} "
            "between them; an edge list has two or three columns (two vertices and a weight), or "
            "a header that names 'source', 'target' and 'weight'"
        )
    header = width == 3 and number(rows[0][2]) is None and len(rows) > 1
    return 0, 1, 2 if width == 3 else None, int(header)


def _with_data(text: TextFile, i: int) -> list[str]:
    """Return two vertices and the weight of a line such as ``0 1 {'weight': 3}``."""
    line = text.lines[i]
    at = data_at(line)
    ends = line[:at].strip()
    cells = [cell.strip() for cell in ends.rstrip(",;\t ").split(text.delimiter)]
    data: Any = {}
    if at is not None:
        if len(line) - at > _LONGEST_DATA:
            raise ReadError(
                f"{text.path}, line {text.places[i]}: the data of an edge have {len(line) - at:,} "
                f"characters, more than {_LONGEST_DATA:,}; keep the weight alone, as in "
                "\"0 1 {'weight': 3}\""
            )
        try:
            data = ast.literal_eval(line[at:].strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            data = None
    if len(cells) != 2 or not isinstance(data, dict):
        raise ReadError(
            f"{text.path}, line {text.places[i]}: {line.strip()[:60]!r} is no edge; expected two "
            "vertices and data, as in \"0 1 {'weight': 3}\""
        )
    return [*cells, str(data.get("weight", 1))]


def _whole_ids(sources: list[str], targets: list[str]) -> tuple[list[str], list[str]]:
    """Return names, whole numbers without a point: 1.0, as some programs write it, is 1."""
    sides = [[whole(name) for name in names] for names in (sources, targets)]
    left, right = ([name for name in names if name is not None] for names in sides)
    return (left, right) if len(left) + len(right) == 2 * len(sources) else (sources, targets)
