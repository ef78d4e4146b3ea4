"""Text files as lines and cells: encoding, comments, the delimiter, decimal commas."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.notices import Notice
from eigengraphs.tables import unguarded

__all__ = ["DECIMAL_COMMA", "MISSING", "TextFile", "is_number", "number", "open_text"]

# Cells that say that a value is not known.
MISSING = frozenset({"", "na", "n/a", "nan", "-nan", "+nan", "null", "none", ".", "missing"})

DECIMAL_COMMA = re.compile(r"^[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?$")
# The same as a whole cell between semicolons, perhaps in quotes.
_CELL_WITH_COMMA = re.compile(
    r'((?:^|(?<=;))\s*"?[+-]?[0-9]+),([0-9]+(?:[eE][+-]?[0-9]+)?"?\s*(?=;|$))'
)
_CELL_WITH_POINT = re.compile(r'(?:^|;)\s*"?[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?"?\s*(?=;|$)')
_WORDS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", None: "white space"}
_BLANK = re.compile(r"\n\s*\n")  # with form feeds, and whatever else strip() takes off
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")


@dataclass(frozen=True)
class TextFile:
    """The lines of a file that hold data, and what was said in its comments."""

    path: Path
    lines: Sequence[str]
    places: Sequence[int]  # number of every line in the file, from 1
    comments: tuple[str, ...]  # without the # or %
    delimiter: str | None  # None is white space of any length
    notices: tuple[Notice, ...] = ()

    def cells(self, first: int = 0, last: int | None = None) -> list[list[str]]:
        """Return the cells of some lines, without white space around them.

        An apostrophe that stands before a formula, as spreadsheets want it, is taken off.
        """
        lines = self.lines[first:last]
        cells = self._cells(lines, first)
        if any("'" in line for line in lines):
            return [[unguarded(cell) for cell in row] for row in cells]
        return cells

    def _cells(self, lines: Sequence[str], first: int) -> list[list[str]]:
        if any('"' in line for line in lines):
            return self._quoted(lines, first)
        if self.delimiter is None:
            return [line.split() for line in lines]
        return [[cell.strip() for cell in line.split(self.delimiter)] for line in lines]

    def _quoted(self, lines: Sequence[str], first: int) -> list[list[str]]:
        if self.delimiter is None:
            lines = [line.replace("\t", " ").strip() for line in lines]
        reader = csv.reader(lines, delimiter=self.delimiter or " ", skipinitialspace=True)
        rows = list[list[str]]()
        try:
            for row in reader:  # unstripped: quotes keep white space that belongs to a name
                rows.append(row)
                if reader.line_num != len(rows):
                    raise csv.Error("a quote is not closed")
        except csv.Error as error:
            place = self.places[first + len(rows) - (reader.line_num != len(rows))]
            raise ReadError(
                f"{self.path}, line {place}: {error}; a cell in quotes ends in its own line: mend "
                "the line, or take the quotes out"
            ) from None
        return rows

    @property
    def delimiter_in_words(self) -> str:
        """The delimiter for messages."""
        return _WORDS.get(self.delimiter, repr(self.delimiter))

    def comment(self, word: str) -> str | None:
        """Return what a comment ``# word: ...`` says, or None."""
        for comment in self.comments:
            head, colon, rest = comment.partition(":")
            if colon and head.strip().lower() == word:
                return rest.strip()
        return None


def open_text(path: Path, data: bytes, delimiter: str | None = None) -> TextFile:
    """Decode a file and cut it into lines; find the delimiter where none is given."""
    text, notices = _decode(path, data)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept, places, comments = _lines(text)
    if not kept and not any(comment.startswith("vertices:") for comment in comments):
        raise ReadError(
            f"{path} holds no data"
            + (" but comments" if comments else "")
            + f" ({len(data)} bytes): leave it out, or write it again"
        )
    found = _sniff(kept[:20]) if delimiter is None else check_delimiter(delimiter)
    if found == ";" and _has_decimal_commas(kept):
        kept = [_CELL_WITH_COMMA.sub(r"\1.\2", line) for line in kept]
        notices = (*notices, Notice.of("decimal commas", path))
    opened = TextFile(path, kept, places, tuple(comments), found, notices)
    _refuse_decimal_commas(opened)
    return opened


def check_delimiter(delimiter: str) -> str | None:
    """Return one character, or None for white space."""
    if delimiter in (" ", "space", "whitespace"):
        return None
    delimiter = {"tab": "\t", "comma": ",", "semicolon": ";"}.get(delimiter, delimiter)
    if len(delimiter) != 1:
        raise InputError(
            f"delimiter must be one character, or 'tab', 'comma', 'semicolon' or 'whitespace'; "
            f"got {delimiter!r}"
        )
    return delimiter


def number(cell: str) -> float | None:
    """Return the value of a cell; nan if it says that none is known, None if it is no number."""
    try:
        if "_" in cell:  # Python's own way to write 1_000; in a file it is a name
            return None
        return float(cell)
    except ValueError:
        return float("nan") if cell.lower() in MISSING else None


def data_at(line: str) -> int | None:
    """Return where data of networkx begin, the braces in ``0 1 {'weight': 3}``; None for none."""
    at = line.find("{")
    return at if at >= 0 and line.rstrip().endswith("}") else None


def is_number(cell: str) -> bool:
    """Tell whether a cell holds a number, and not a name or nothing."""
    return cell.lower() not in MISSING and number(cell) is not None


def _decode(path: Path, data: bytes) -> tuple[str, tuple[Notice, ...]]:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16"), ()
        except UnicodeDecodeError as error:
            raise ReadError(
                f"{path} begins as UTF-16 text and is none ({error.reason} at byte {error.start}): "
                "save it again as UTF-8"
            ) from None
    if data[:4] == b"PK\x03\x04":
        raise ReadError(
            f"{path} is no text but a zip archive, as workbooks of Excel are: open it there and "
            "save it as CSV or as text with tabs"
        )
    if _BINARY.search(data[:4096]):
        raise ReadError(
            f"{path} is no text: its first bytes are {data[:8]!r}; if its ending is wrong, "
            "rename it, else leave it out"
        )
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), (Notice.of("encoding", path),)


def _lines(text: str) -> tuple[list[str], Sequence[int], list[str]]:
    """Return the lines that hold data, their numbers, and the comments."""
    body = text.rstrip("\n")
    marked = "#" in body or "%" in body or _BLANK.search(f"\n{body[:80]}") or _BLANK.search(body)
    if not marked and body.rpartition("\n")[2].strip():
        lines = body.split("\n")
        return lines, range(1, len(lines) + 1), []
    kept, places, comments = list[str](), list[int](), list[str]()
    for place, line in enumerate(text.split("\n"), 1):
        start = line.lstrip()
        if not start:
            continue
        if start[0] in "#%":
            comments.append(start.lstrip("#% ").rstrip())
        else:
            kept.append(line)
            places.append(place)
    return kept, places, comments


def _sniff(lines: Sequence[str]) -> str | None:
    """Return the delimiter that the first lines have."""
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]  # what is quoted is no delimiter
    bare = [line[: data_at(line)] for line in bare]
    sure = bare[1:] or bare  # a header may hold anything
    for mark in "\t;,":
        # One line may lack it: a triangle begins or ends with a line of one cell.
        if sum(mark in line for line in sure) < max(1, len(sure) - 1):
            continue
        words = [line.split() for line in sure]
        commas = any(len(row) > 1 and all(map(DECIMAL_COMMA.match, row)) for row in words)
        if mark == "," and commas:
            return None  # 0,5 1,2: refused a little later
        return mark
    return None


def _has_decimal_commas(lines: Sequence[str]) -> bool:
    """Tell whether cells between semicolons have commas and none has a point, as in Excel's files.

    Where both occur, one of them may stand for thousands: such a file is refused.
    """
    if not any(_CELL_WITH_COMMA.search(line) for line in lines[:20]):
        return False
    return not any(_CELL_WITH_POINT.search(line) for line in lines)


def _refuse_decimal_commas(text: TextFile) -> None:
    if text.delimiter == ",":
        return
    for i, row in enumerate(text.cells(0, 20)):
        for column, cell in enumerate(row, 1):
            if DECIMAL_COMMA.match(cell):
                raise ReadError(
                    f"{text.path}, line {text.places[i]}, column {column}: {cell!r} has a decimal "
                    f"comma; numbers need a point, {cell.replace(',', '.')!r}: save the file with "
                    "points (in a spreadsheet, choose an English number format)"
                )
