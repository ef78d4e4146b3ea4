"""Text files as lines and cells: encoding, comments, the delimiter, commas in numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.notices import Notice
from eigengraphs.system.tables import unguarded

__all__ = [
    "AUTO", "MISSING", "AmbiguousComma", "Notation", "TextFile", "is_number", "number", "open_text",
    "whole",
]  # fmt: skip

# Cells that say that a value is not known.
MISSING = frozenset({"", "na", "n/a", "nan", "-nan", "+nan", "null", "none", ".", "missing"})

_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_COMMA = rf"[+-]?[0-9]+,[0-9]+{_EXPONENT}"
_POINT = rf"[+-]?[0-9]*\.[0-9]+{_EXPONENT}"
_DECIMAL_COMMA = re.compile(f"^{_COMMA}$")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")  # could be, or three decimals
_WHOLE = re.compile(r"([+-]?)([0-9]+)(?:\.0*)?")
_WORDS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", None: "white space"}
_BLANK = re.compile(r"\n\s*\n")  # with form feeds, and whatever else strip() takes off
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")


class Notation(NamedTuple):
    """How cells and numbers are written; what is None is found out."""

    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None

    def checked(self) -> Notation:
        """Return itself, or say what is wrong."""
        if self.delimiter is not None:
            _one_delimiter(self.delimiter)
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal must be '.' or ',', got {self.decimal!r}")
        mark = self.thousands
        if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in '"+-'):
            raise InputError(f"thousands must be one mark, such as ',' or '.', got {mark!r}")
        if mark is not None and mark == (self.decimal or "."):
            raise InputError(
                f"thousands={mark!r} needs another mark for decimals: pass decimal="
                + ("','" if mark == "." else "'.'")
            )
        return self


AUTO = Notation()


class AmbiguousComma(ReadError):
    """A comma may be a decimal comma, or stand between thousands."""


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


def open_text(path: Path, data: bytes, notation: Notation = AUTO) -> TextFile:
    """Decode a file and cut it into lines; what ``notation`` does not say is found out."""
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
    if notation.delimiter is None:
        found = _sniff(kept[:20], "," in notation[1:])
    else:
        found = _one_delimiter(notation.delimiter)
    opened = TextFile(path, kept, places, tuple(comments), found, notices)
    decimal, thousands = notation.decimal, notation.thousands
    if decimal is None and thousands is None and _has_decimal_commas(opened):
        decimal = ","
        opened = replace(opened, notices=(*notices, Notice.of("decimal commas", path)))
    return _with_points(opened, decimal or ".", thousands)


def _one_delimiter(delimiter: str) -> str | None:
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


def whole(cell: str) -> str | None:
    """Return the digits of a whole number of any length, 1.0 as 1; None if it is anything else."""
    found = _WHOLE.fullmatch(cell)
    if found is not None:
        return found[1].strip("+") + found[2]
    value = number(cell)  # such as 1.5e1, where no digit was lost
    return str(int(value)) if value is not None and abs(value) < 2**53 and value % 1 == 0 else None


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


def _sniff(lines: Sequence[str], in_numbers: bool) -> str | None:
    """Return the delimiter that the first lines have; a comma ``in_numbers`` is none."""
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]  # what is quoted is no delimiter
    bare = [line[: data_at(line)] for line in bare]
    if in_numbers:
        spaced = (len(line.split()) > 1 for line in bare)
        bare = [
            re.sub("(?<=[0-9]),(?=[0-9])", "", line) if several else line
            for line, several in zip(bare, spaced, strict=True)
        ]
    sure = bare[1:] or bare  # a header may hold anything
    for mark in "\t;,":
        # One line may lack it: a triangle begins or ends with a line of one cell.
        if sum(mark in line for line in sure) < max(1, len(sure) - 1):
            continue
        words = [line.split() for line in sure]
        commas = any(len(row) > 1 and all(map(_DECIMAL_COMMA.match, row)) for row in words)
        if mark == "," and commas:
            return None  # 0,5 1,2: refused a little later
        return mark
    return None


def _cell(text: TextFile, body: str, *, quoted: bool = False) -> re.Pattern[str]:
    """Return a pattern of whole cells, perhaps in quotes, that are ``body``."""
    if text.delimiter is None:
        edge, space = r"\s", ""
    else:
        edge, space = re.escape(text.delimiter), " *"
    quote = '"' if quoted else '"?'
    return re.compile(f"(?<![^{edge}]){space}{quote}({body}){quote}{space}(?![^{edge}])")


def _has_decimal_commas(text: TextFile) -> bool:
    """Tell whether numbers have decimal commas, as in Excel's files; refuse what is in doubt.

    Between semicolons, where no number has a point, and where one comma cannot stand between
    thousands, commas are decimal.
    """
    if text.delimiter == "," or not any("," in line for line in text.lines):
        return False
    comma, first, thousands = _cell(text, _COMMA), None, True
    for i, line in enumerate(text.lines):
        for found in comma.finditer(line) if "," in line else ():
            first = first or (i, found)
            thousands = thousands and _THOUSANDS.fullmatch(found[1]) is not None
    if first is None:
        return False
    where, cell = _place(text, *first), first[1][1][:40]
    if thousands:
        raise AmbiguousComma(
            f"{where}: {cell!r} may be {cell.replace(',', '.')} or {cell.replace(',', '')}: every "
            "comma of the file is followed by exactly three digits; pass decimal=',' if it is a "
            "decimal comma, or thousands=',' if it separates thousands"
        )
    if text.delimiter == ";":
        point = _cell(text, _POINT)
        if not any("." in line and point.search(line) for line in text.lines):
            return True
    raise ReadError(
        f"{where}: {cell!r} has a decimal comma; numbers need a point, {cell.replace(',', '.')!r}: "
        "pass decimal=',', or save the file with points (in a spreadsheet, choose an English "
        "number format)"
    )


def _with_points(text: TextFile, decimal: str, thousands: str | None) -> TextFile:
    """Return lines whose numbers have decimal points, and no marks between thousands."""
    if decimal == "." and thousands is None:
        return text
    mark, point = re.escape(thousands or ""), re.escape(decimal)
    groups = f"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|" if thousands else ""
    quoted = (text.delimiter or " ") in (decimal, thousands)
    cell = _cell(text, rf"[+-]?(?:{groups}[0-9]+)(?:{point}[0-9]+)?{_EXPONENT}", quoted=quoted)
    # What has a point although that is not the mark would be read as another number.
    wrong = _cell(text, _POINT) if decimal == "," else None

    def plain(found: re.Match[str]) -> str:
        value = found[1].replace(thousands, "") if thousands else found[1]
        return found[0].replace(found[1], value.replace(decimal, "."))

    lines = list[str]()
    for i, line in enumerate(text.lines):
        if wrong is not None and "." in line:
            for odd in wrong.finditer(line):
                if cell.fullmatch(odd[0]) is None:
                    raise ReadError(
                        f"{_place(text, i, odd)}: {odd[1][:40]!r} has a point, which does not fit "
                        f"decimal={decimal!r}: correct the cell, or pass thousands='.' if points "
                        "separate thousands"
                    )
        lines.append(cell.sub(plain, line))
    return replace(text, lines=lines)


def _place(text: TextFile, i: int, found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    column = len(before.split()) if text.delimiter is None else before.count(text.delimiter)
    return f"{text.path}, line {text.places[i]}, column {column + 1}"
