"""Matrices in text files, with or without names of vertices."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import ReadError
from eigengraphs.io.notices import Notice, few
from eigengraphs.io.raw import MatrixGraph
from eigengraphs.io.text import TextFile, is_number, number, whole
from eigengraphs.stack.names import spelling

__all__ = ["read_dense"]


def read_dense(text: TextFile) -> MatrixGraph:
    """Read a square matrix. Half of one becomes a matrix with nan in the other half."""
    directed = {"true": True, "yes": True}.get((text.comment("directed") or "").lower())
    notices = list(text.notices)
    names: tuple[str, ...] | None = None
    matrix = _plain_numbers(text)
    if matrix is None:
        matrix, names, more = _from_cells(text)
        notices += more
    elif matrix.shape[0] != matrix.shape[1]:
        matrix, names = _without_numbers(text, matrix)
        notices.append(Notice.of("numbered", text.path))
    return MatrixGraph(matrix, names, directed, notices=tuple(notices))


def _plain_numbers(text: TextFile) -> NDArray[np.float64] | None:
    """Return a table of nothing but numbers; None if there is anything else."""
    try:
        # Numpy's parser in C; it refuses empty cells, words and lines of unequal length.
        return np.loadtxt(text.lines, delimiter=text.delimiter, comments=None, ndmin=2)
    except ValueError:
        return None


def _without_numbers(
    text: TextFile, matrix: NDArray[np.float64]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Take off a first row, or a first column, of running numbers, or refuse the shape."""
    rows, columns = matrix.shape
    # Names from the text: floats hold no long numbers.
    if rows == columns + 1 and (names := _running(text.cells(0, 1)[0])):
        return matrix[1:], names
    if columns == rows + 1 and (names := _running([row[0] for row in text.cells()])):
        return matrix[:, 1:], names
    return _refuse_shape(text, rows, columns)


def _running(cells: list[str]) -> tuple[str, ...] | None:
    """Return numbers that could be vertices: whole, and each larger than the one before."""
    names = tuple(name for cell in cells if (name := whole(cell)) is not None and len(name) < 1000)
    rising = all(int(a) < int(b) for a, b in pairwise(names))
    return names if len(names) == len(cells) and rising else None


def _refuse_shape(text: TextFile, rows: int, columns: int) -> NoReturn:
    if columns == 1 and rows > 1:
        line = text.lines[0].strip()
        marks = Counter(re.findall(r"[^\w\s.+\-\"']", line))
        guess = marks.most_common(1)[0][0] if marks else None
        shown = line if len(line) <= 40 else line[:37] + "..."
        raise ReadError(
            f"{text.path}, line {text.places[0]}: the whole line is one cell, {shown!r}, with "
            f"{text.delimiter_in_words} as delimiter; "
            + (f"pass delimiter={guess!r}" if guess else "pass the right delimiter=")
            + ", or save the file with commas, tabs or spaces"
        )
    raise ReadError(
        f"{text.path} has {rows} rows and {columns} columns of numbers (lines {text.places[0]} to "
        f"{text.places[-1]}, {text.delimiter_in_words} between cells); a graph is a square matrix "
        "with a row and a column for each vertex, or an edge list of two or three columns: see "
        "whether the file is whole, or leave it out"
    )


def _from_cells(
    text: TextFile,
) -> tuple[NDArray[np.float64], tuple[str, ...] | None, list[Notice]]:
    """Read a matrix with names, with empty cells, or half of one."""
    cells = text.cells()
    places = list(text.places)
    if len(cells) > 2 and _drop_last(cells):
        cells = [row[:-1] for row in cells]
    widths = [len(row) for row in cells]
    triangles = (list(range(1, len(cells) + 1)), list(range(len(cells), 0, -1)))
    if len(cells) > 1 and widths in triangles:
        return _half(text, cells), None, []
    header: list[str] | None = None
    # A header has words beyond its first cell, or what the first column has, or is shorter (R).
    short = len(cells) > 1 and len(cells[0]) == len(cells[1]) - 1
    corner = len(cells) > 1 and cells[0][1:] == [row[0] for row in cells[1:]]
    corner = corner and not is_number(cells[0][0])
    if short or corner or _is_header(text, cells[0][1:]):
        header, cells, places = cells[0], cells[1:], places[1:]
    if not cells:
        raise ReadError(f"{text.path} holds a header and no rows: leave it out, or write it again")
    width = len(cells[0])
    for row, place in zip(cells, places, strict=True):
        if len(row) != width:
            if len(row) == 1 or width == 1:
                _refuse_shape(text, len(text.lines), 1)
            raise ReadError(
                f"{text.path}, line {place} has {len(row)} cells and line {places[0]} has {width}, "
                f"with {text.delimiter_in_words} between them; all must have as many: see whether "
                "the file is whole, or pass another delimiter="
            )
    index = None
    named_rows = any(number(row[0]) is None for row in cells)
    if short or (width == len(cells) + 1 and (named_rows or header is not None)):
        index, cells = [row[0] for row in cells], [row[1:] for row in cells]
        width -= 1
    if header is not None and len(header) == width + 1:
        header = header[1:]
    matrix = _values(text, cells, places, offset=1 + (index is not None))
    if matrix.shape[0] != matrix.shape[1]:
        _refuse_shape(text, *matrix.shape)
    return _named(text, matrix, header, index)


def _is_header(text: TextFile, cells: list[str]) -> bool:
    """Tell whether the first line is one of names; refuse what is neither that nor numbers."""
    words = [number(cell) is None for cell in cells]
    if not any(words) or all(words):
        return any(words)
    # Names and numbers in one line: a number that cannot be read would pass for a name.
    column = (words.index(True) if sum(words) <= len(words) / 2 else words.index(False)) + 2
    raise ReadError(
        f"{text.path}, line {text.places[0]} has both names and numbers, such as "
        f"{cells[column - 2][:40]!r} in column {column}: it must be a header of names, or a row "
        "of numbers; if these are names, put them into the first column as well"
    )


def _drop_last(cells: list[list[str]]) -> bool:
    """Tell whether every line ends with a delimiter, which makes a column of nothing."""
    return all(len(row) > 1 and row[-1] == "" for row in cells) and (
        len(cells[-1]) == len(cells) + 1 or len(cells[-1]) == len(cells[0]) != len(cells)
    )


def _half(text: TextFile, cells: list[list[str]]) -> NDArray[np.float64]:
    """Return a matrix of lines that get longer or shorter, with nan in the other half."""
    n = len(cells)
    lower = len(cells[0]) == 1
    matrix = np.full((n, n), np.nan)
    for s, row in enumerate(cells):
        values = _values(text, [row], [text.places[s]], offset=1)[0]
        if lower:
            matrix[s, : s + 1] = values
        else:
            matrix[s, s:] = values
    return matrix


def _values(
    text: TextFile, cells: list[list[str]], places: list[int], offset: int
) -> NDArray[np.float64]:
    matrix = np.empty((len(cells), len(cells[0])))
    for s, row in enumerate(cells):
        try:
            matrix[s] = row
        except ValueError:
            for t, cell in enumerate(row):
                value = number(cell)
                if value is None:
                    if len(row) == 1 and len(cells) > 1:
                        _refuse_shape(text, len(cells), 1)
                    raise ReadError(
                        f"{text.path}, line {places[s]}, column {t + offset}: {cell[:40]!r} is not "
                        "a number; a matrix of a graph holds numbers, with names of vertices in "
                        "the first row and column alone"
                    ) from None
                matrix[s, t] = value
    return matrix


def _named(
    text: TextFile, matrix: NDArray[np.float64], header: list[str] | None, index: list[str] | None
) -> tuple[NDArray[np.float64], tuple[str, ...] | None, list[Notice]]:
    """Return a matrix in the order of its rows, with names that its header and index agree on."""
    names = index if index is not None else header
    if names is None:
        return matrix, None, []
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        where = "first column" if index is not None else f"header, line {text.places[0]},"
        raise ReadError(
            f"{text.path}: the {where} names {few([repr(name) for name in repeated])} more than "
            "once; vertices need different names"
        )
    if header is None or index is None or header == index:
        return matrix, tuple(names), []
    if set(header) != set(index):
        only = sorted(set(header) ^ set(index))
        if _running(index):
            # Rows are numbered and columns named, as a spreadsheet does it.
            return matrix, tuple(header), []
        raise ReadError(
            f"{text.path}: rows and columns must be the same vertices; in one of the two alone: "
            f"{few([repr(name) for name in only], 6)}{spelling(index, header)}"
        )
    place = {name: t for t, name in enumerate(header)}
    ordered = matrix[:, [place[name] for name in index]]
    if _symmetric(matrix) and not _symmetric(ordered):
        _refuse_swapped(text, header, index)
    return ordered, tuple(index), [Notice.of("columns", text.path)]


def _symmetric(matrix: NDArray[np.float64]) -> bool:
    return bool(np.allclose(matrix, matrix.T, rtol=1e-6, atol=0.0, equal_nan=True))


def _refuse_swapped(text: TextFile, header: list[str], index: list[str]) -> NoReturn:
    """Refuse names that contradict the weights: symmetric as it stands, and not by name."""
    pairs = zip(header, index, strict=True)
    place = next(s for s, (column, row) in enumerate(pairs) if column != row)
    raise ReadError(
        f"{text.path}, line {text.places[0]}: column {place + 1} of the matrix is named "
        f"{header[place]!r} and row {place + 1} {index[place]!r}, but the weights are symmetric "
        "only if both are one vertex: names are swapped in the header or in the first column. "
        "Mend them, or leave the file out"
    )
