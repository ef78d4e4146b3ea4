"""Tables in text files: a header, and columns of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import ReadError
from eigengraphs.io.text import AUTO, MISSING, Notation, TextFile, number, open_text, whole
from eigengraphs.system.limits import DEFAULT, read_regular

__all__ = ["Table", "check_lengths", "column_of", "open_table", "read_table"]


@dataclass(frozen=True)
class Table:
    """Columns of cells as they stand in the file."""

    path: Path
    columns: dict[str, list[str]]
    places: list[int]  # line of every row in the file


def read_table(path: Path, notation: Notation = AUTO) -> Table:
    """Read a table with a header; delimiter and encoding are found."""
    return open_table(open_file(path, notation))


def open_file(path: Path, notation: Notation = AUTO) -> TextFile:
    """Open a text file, or say that it is not there."""
    try:
        data = read_regular(path)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    text = open_text(path, data, notation._replace(delimiter=None))
    if not text.lines:
        raise ReadError(f"{path} holds nothing but comments: it must have a header and rows")
    return text


def open_table(text: TextFile) -> Table:
    """Cut a text file into columns, by its header."""
    header, *rows = text.cells()
    if len(set(header)) < len(header):
        repeated = next(name for name, count in Counter(header).items() if count > 1)
        raise ReadError(
            f"{text.path}, line {text.places[0]}: two columns are called {repeated!r}; give each "
            "a name of its own"
        )
    for row, place in zip(rows, text.places[1:], strict=True):
        if len(row) != len(header):
            raise ReadError(
                f"{text.path}, line {place} has {len(row)} cells and the header has {len(header)}, "
                f"with {text.delimiter_in_words} between them; mend the line"
            )
    columns = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    return Table(text.path, columns, list(text.places[1:]))


def check_lengths(path: Path, columns: Mapping[str, Sequence[str]]) -> None:
    """Refuse columns that are large as arrays, where every cell takes as much as the longest."""
    longest = {name: max(map(len, cells), default=0) for name, cells in columns.items()}
    needed = sum(4 * length * len(columns[name]) for name, length in longest.items())
    if needed > DEFAULT.allowed(sum(len(cell) for cells in columns.values() for cell in cells)):
        worst = max(longest, key=lambda name: longest[name])
        raise ReadError(
            f"{path} has a cell of {longest[worst]:,} letters in column {worst[:60]!r}, and its "
            f"columns would take {needed:,} bytes: shorten that cell, or leave the column out"
        )


def column_of(cells: list[str]) -> NDArray[np.float64] | NDArray[np.str_]:
    """Return numbers if all that is there are numbers, nan for none; else words, '' for none.

    Whole numbers that floats cannot hold are ids, and stay words.
    """
    values = [number(cell) for cell in cells]
    exact = not any(abs(value or 0.0) >= 2**53 and whole(cell)
                    for value, cell in zip(values, cells, strict=True))  # fmt: skip
    if exact and None not in values and any(cell.lower() not in MISSING for cell in cells):
        return np.array(values, dtype=np.float64)
    unknown = MISSING - {"none"}  # which is a word among words: medication is none or ssri
    return np.array(["" if cell.lower() in unknown else cell for cell in cells], dtype=np.str_)
