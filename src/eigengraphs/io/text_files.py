"""Text files: encoding, delimiter and decimals; tables, matrices and edge lists in them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError, ReadError
from eigengraphs.io.file_graph import FileGraph, Notice, of_edges, repeated
from eigengraphs.stack.names import some_of, spelling
from eigengraphs.system.limits import DEFAULT, read_json, read_regular
from eigengraphs.system.tables import unguarded

TextKind: TypeAlias = Literal["matrix", "edge list", "table"]
Floats: TypeAlias = NDArray[np.float64]
Names: TypeAlias = "tuple[str, ...] | None"

# Cells that say that a value is not known.
_MISSING = frozenset({"", "na", "n/a", "nan", "-nan", "+nan", "null", "none", ".", "missing"})
# Headers of edge lists, in lower case.
SOURCE = frozenset([
    "source", "from", "src", "node1", "node_1", "i", "u", "s", "region1", "roi1", "vertex1",
    "start", "source_id", "node_from", "id1", "v1", "name1", "from_id", "row",
])  # fmt: skip
TARGET = frozenset([
    "target", "to", "dst", "node2", "node_2", "j", "v", "t", "region2", "roi2", "vertex2", "end",
    "target_id", "node_to", "id2", "v2", "name2", "to_id", "col", "column",
])  # fmt: skip
WEIGHT = frozenset([
    "weight", "weights", "w", "value", "count", "strength", "connectivity", "streamlines", "nos",
    "n", "sc", "fc", "correlation", "r",
])  # fmt: skip
_YES_OR_NO = {"true": True, "yes": True, "false": False, "no": False}

_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_COMMA = re.compile(rf"[+-]?[0-9]+,[0-9]+{_EXPONENT}")
_POINT = re.compile(rf"[+-]?[0-9]*\.[0-9]+{_EXPONENT}")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")  # could be, or three decimals
_WHOLE = re.compile(r"([+-]?)([0-9]+)(?:\.0*)?")
_PADDED = re.compile(r"(?<![0-9.+-])0[0-9]")  # may be an id such as 007
_DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "whitespace": None, "space": None}
_WORDS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", None: "white space"}
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")
_DATA = re.compile(r"'weight': ([^,}]*)")  # in the braces of ``0 1 {'weight': 3}``


# ---------------------------------------------------------------------- numbers


def number(cell: str) -> float | None:
    """Return the value of a cell; nan if it is missing, None if it is not a number."""
    try:
        if "_" in cell:  # Python's own way to write 1_000; in a file it is a name
            return None
        return float(cell)
    except ValueError:
        return float("nan") if cell.lower() in _MISSING else None


def is_number(cell: str) -> bool:
    """Tell whether a cell holds a number, and not a name or nothing."""
    return cell.lower() not in _MISSING and number(cell) is not None


def whole(cell: str) -> str | None:
    """Return the digits of a whole number of any length, 1.0 as 1; None if it is anything else."""
    found = _WHOLE.fullmatch(cell)
    if found is not None:
        return found[1].strip("+") + found[2]
    value = number(cell)  # such as 1.5e1, where no digit was lost
    return str(int(value)) if value is not None and abs(value) < 2**53 and value % 1 == 0 else None


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key for sorting that puts 2 before 10: runs of digits count as numbers."""
    return tuple(
        (0, int(part), part) if part.isdecimal() and len(part) < 1000 else (1, 0, part)
        for part in re.split(r"([0-9]+)", text)
        if part
    )


# ---------------------------------------------------------------------- lines and cells


@dataclass(frozen=True)
class Notation:
    """How cells and numbers are written; what is None is found out."""

    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None

    def __post_init__(self) -> None:
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


AUTO = Notation()


class AmbiguousComma(ReadError):
    """A comma may be a decimal comma, or separate thousands."""


@dataclass(frozen=True)
class TextFile:
    """The lines of a file that hold data, and what its comments say."""

    path: Path
    lines: Sequence[str]
    places: Sequence[int]  # number of every line in the file, from 1
    comments: tuple[str, ...]  # without the # or %
    delimiter: str | None  # None is white space of any length
    notices: tuple[Notice, ...] = ()
    decimal: str = "."
    thousands: str | None = None
    is_list: bool = False  # of edges, as networkx writes them

    def cells(self, first: int = 0, last: int | None = None) -> list[list[str]]:
        """Return the cells of some lines, without white space around them.

        An apostrophe before a formula, for spreadsheets, is removed. Numbers
        get decimal points, and lose marks between thousands.
        """
        lines, mark = self.lines[first:last], self.delimiter
        if any('"' in line for line in lines):
            cells = self._quoted(lines, first)
        elif mark is None:
            cells = [line.split() for line in lines]
        else:
            cells = [[cell.strip() for cell in line.split(mark)] for line in lines]
        if any("'" in line for line in lines):
            cells = [[unguarded(cell) for cell in row] for row in cells]
        if self._is_plain:
            return cells
        return [self._with_points(row, i) for i, row in enumerate(cells, first)]

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
            i = first + len(rows) - (reader.line_num != len(rows))
            raise ReadError(
                f"{self.place(i)}: {error}; a cell in quotes must end in its own line: correct the "
                "line, or remove the quotes"
            ) from None
        return rows

    @property
    def _is_plain(self) -> bool:
        return self.decimal == "." and self.thousands is None

    def _with_points(self, row: list[str], i: int) -> list[str]:
        """Return the cells of a line with decimal points, and no marks between thousands."""
        mark, point = re.escape(self.thousands or ""), re.escape(self.decimal)
        groups = f"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|" if mark else ""
        pattern = re.compile(rf"[+-]?(?:{groups}[0-9]+)(?:{point}[0-9]+)?{_EXPONENT}")
        cells = list[str]()
        for t, cell in enumerate(row):
            if pattern.fullmatch(cell):
                cell = cell.replace(self.thousands or "", "").replace(self.decimal, ".")
            elif self.decimal == "," and _POINT.fullmatch(cell):
                # It would be read as another number.
                raise ReadError(
                    f"{self.place(i, t)}: {cell[:40]!r} has a point, which does not fit "
                    f"decimal={self.decimal!r}: correct the cell, or pass thousands='.' if points "
                    "separate thousands"
                )
            cells.append(cell)
        return cells

    def place(self, i: int = 0, column: int | None = None) -> str:
        """Return the file, the i-th line and perhaps a column, counted from 0, for messages."""
        cell = "" if column is None else f", column {column + 1}"
        return f"{self.path}, line {self.places[i]}{cell}"

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

    @property
    def directed(self) -> bool | None:
        """What a comment ``# directed: true`` says."""
        return _YES_OR_NO.get((self.comment("directed") or "").lower())

    def numbers(self) -> Floats | None:
        """Return a table of nothing but numbers, (rows, columns); None if it is anything else."""
        lines, mark = self.lines, self.delimiter
        if not self._is_plain:
            lines, mark = ["\x1f".join(row) for row in self.cells()], "\x1f"
        try:
            # Numpy's parser in C; it refuses empty cells, words and lines of unequal length.
            return np.loadtxt(lines, delimiter=mark, comments=None, ndmin=2)
        except ValueError:
            return None

    def columns(self) -> dict[str, list[str]]:
        """Return the cells below each name of the header."""
        header, *rows = self.cells()
        if twice := repeated(header):
            raise ReadError(
                f"{self.place()}: two columns are called {twice[0]!r}; give each a name of its own"
            )
        for i, row in enumerate(rows, 1):
            if len(row) != len(header):
                raise ReadError(
                    f"{self.place(i)} has {len(row)} cells and the header has {len(header)}, with "
                    f"{self.delimiter_in_words} between them; correct the line"
                )
        return {name: [row[t] for row in rows] for t, name in enumerate(header)}


def open_text(path: Path, data: bytes, notation: Notation = AUTO) -> TextFile:
    """Decode a file and cut it into lines; what ``notation`` does not say is found out."""
    text, notices = _decode(path, data)
    kept, places, comments = _lines(text.replace("\r\n", "\n").replace("\r", "\n"))
    if is_list := bool(kept) and "{" in kept[0] and kept[0].rstrip().endswith("}"):
        kept = list(map(_without_braces, kept))
    if not kept and not any(comment.startswith("vertices:") for comment in comments):
        raise ReadError(
            f"{path} holds no data"
            + (" but comments" if comments else "")
            + f" ({len(data)} bytes): leave it out, or write it again"
        )
    decimal, thousands = notation.decimal, notation.thousands
    if notation.delimiter is None:
        found = _sniff(kept[:20], "," in (decimal, thousands))
    else:
        found = _one_delimiter(notation.delimiter)
    opened = TextFile(path, kept, places, tuple(comments), found, notices, is_list=is_list)
    if decimal is None and thousands is None and _has_decimal_commas(opened):
        return replace(opened, decimal=",", notices=(*notices, Notice.of("decimal commas", path)))
    return replace(opened, decimal=decimal or ".", thousands=thousands)


def _one_delimiter(delimiter: str) -> str | None:
    """Return one character, or None for white space."""
    found = _DELIMITERS.get(delimiter, None if delimiter == " " else delimiter)
    if found is not None and len(found) != 1:
        raise InputError(
            f"delimiter must be one character, or 'tab', 'comma', 'semicolon' or 'whitespace'; "
            f"got {delimiter!r}"
        )
    return found


def _decode(path: Path, data: bytes) -> tuple[str, tuple[Notice, ...]]:
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if data[:4] == b"PK\x03\x04":
        raise ReadError(
            f"{path} is not a text file but a zip archive, as Excel workbooks are: open it there "
            "and save it as CSV or as text with tabs"
        )
    if not utf16 and _BINARY.search(data[:4096]):
        raise ReadError(
            f"{path} is not a text file: its first bytes are {data[:8]!r}; if its ending is wrong, "
            "rename it, else leave it out"
        )
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig"), ()
    except UnicodeDecodeError as error:
        if utf16:
            raise ReadError(
                f"{path} begins as UTF-16 text but is not valid ({error.reason} at byte "
                f"{error.start}): save it again as UTF-8"
            ) from None
        return data.decode("cp1252", errors="replace"), (Notice.of("encoding", path),)


def _lines(text: str) -> tuple[list[str], Sequence[int], list[str]]:
    """Return the lines that hold data, their numbers, and the comments."""
    kept, places, comments = list[str](), list[int](), list[str]()
    for place, line in enumerate(text.split("\n"), 1):
        start = line.lstrip()
        if start and start[0] in "#%":
            comments.append(start.lstrip("#% ").rstrip())
        elif start:
            kept.append(line)
            places.append(place)
    return kept, places, comments


def _sniff(lines: Sequence[str], in_numbers: bool) -> str | None:
    """Return the delimiter of the first lines; a comma ``in_numbers`` is not one."""
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]  # what is quoted is no delimiter
    if in_numbers:
        bare = [
            re.sub("(?<=[0-9]),(?=[0-9])", "", line) if len(line.split()) > 1 else line
            for line in bare
        ]
    sure = bare[1:] or bare  # a header may hold anything
    for mark in "\t;,":
        # One line may lack it: a triangle begins or ends with a line of one cell.
        if sum(mark in line for line in sure) < max(1, len(sure) - 1):
            continue
        rows = (line.split() for line in sure)
        if mark == "," and any(len(row) > 1 and all(map(_COMMA.fullmatch, row)) for row in rows):
            return None  # 0,5 1,2: refused a little later
        return mark
    return None


def _without_braces(line: str) -> str:
    """Return ``0 1 3`` for ``0 1 {'weight': 3}``."""
    ends, brace, data = line.partition("{")
    weight = _DATA.search(data)
    return ends + (weight[1] if weight else "1") if brace else line


def _has_decimal_commas(text: TextFile) -> bool:
    """Tell whether numbers have decimal commas, as in Excel's files; refuse what is in doubt.

    Between semicolons, where no number has a point, and where one comma cannot separate
    thousands, commas are decimal.
    """
    if text.delimiter == ",":
        return False
    found = (
        (i, t, cell)
        for i, line in enumerate(text.lines)
        if "," in line
        for t, cell in enumerate(text.cells(i, i + 1)[0])
        if _COMMA.fullmatch(cell)
    )
    i, t, first = next(found, (0, 0, ""))
    if not first:
        return False
    doubt = all(_THOUSANDS.fullmatch(cell) for cell in [first, *(cell for *_, cell in found)])
    if (
        not doubt
        and text.delimiter == ";"
        and not any(
            any(map(_POINT.fullmatch, text.cells(i, i + 1)[0]))
            for i, line in enumerate(text.lines)
            if "." in line
        )
    ):
        return True
    said = f"{text.place(i, t)}: {first[:40]!r} has a comma: pass decimal=',' if it is "
    said += f"{first[:40].replace(',', '.')}, or thousands=',' if it separates thousands, or save "
    said += "the file with points (in a spreadsheet, choose an English number format)"
    raise AmbiguousComma(said) if doubt else ReadError(said)


# ---------------------------------------------------------------------- tables
# Not by pandas: see docs/develop/decisions/023-tables-and-files-by-hand.md.


def open_table(path: Path, notation: Notation = AUTO) -> TextFile:
    """Open the file of a table, whose delimiter is found, or say that it is not there."""
    try:
        data = read_regular(path)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}") from None
    text = open_text(path, data, replace(notation, delimiter=None))
    if not text.lines:
        raise ReadError(f"{path} holds nothing but comments: it must have a header and rows")
    return text


def find_column(columns: Mapping[str, Any], words: Sequence[str]) -> str | None:
    """Return the name of the column that is called, in any case, as the first known word."""
    lower = {name.lower(): name for name in columns}
    return next((lower[word] for word in words if word in lower), None)


def as_arrays(
    path: Path, columns: Mapping[str, list[str]], words: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return columns as arrays of numbers or words; of words as they stand where that is said.

    Refuses columns that are large as arrays, where every cell takes as much as the longest.
    """
    longest = {name: max(map(len, cells), default=0) for name, cells in columns.items()}
    needed = sum(4 * length * len(columns[name]) for name, length in longest.items())
    if needed > DEFAULT.allowed(sum(len(cell) for cells in columns.values() for cell in cells)):
        worst = max(longest, key=lambda name: longest[name])
        raise ReadError(
            f"{path} has a cell of {longest[worst]:,} letters in column {worst[:60]!r}, and its "
            f"columns would take {needed:,} bytes: shorten that cell, or leave the column out"
        )
    return {
        name: np.array(cells, dtype=np.str_) if name in words else _numbers_or_words(cells)
        for name, cells in columns.items()
    }


def _numbers_or_words(cells: list[str]) -> NDArray[Any]:
    """Return numbers if all that is there are numbers, nan for none; else words, '' for none.

    Whole numbers that floats cannot hold are ids, and stay words.
    """
    values = [number(cell) for cell in cells]
    exact = not any(
        abs(value or 0.0) >= 2**53 and whole(cell)
        for value, cell in zip(values, cells, strict=True)
    )
    if exact and None not in values and any(cell.lower() not in _MISSING for cell in cells):
        return np.array(values, dtype=np.float64)
    unknown = _MISSING - {"none"}  # which is a word among words: medication is none or ssri
    return np.array(["" if cell.lower() in unknown else cell for cell in cells], dtype=np.str_)


# ---------------------------------------------------------------------- matrix, edge list or table


def text_kind(text: TextFile) -> tuple[TextKind, bool]:
    """Tell what a file is by its ending, first lines and size, and whether that is in doubt."""
    ending = text.path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if text.is_list or not text.lines or text.comment("vertices") is not None:
        return "edge list", False
    head = text.cells(0, 4)
    first, below = head[0], head[1:]
    width = len((below or head)[0])
    words = {cell.lower() for cell in first}
    # A matrix whose vertices are called i and j has its header's words in the rows, too.
    square = (below and below[0][0].lower() in words) or _names_columns(first, len(text.lines))
    if words & SOURCE and words & TARGET and not square:
        return "edge list", False
    if _is_triangle(text):
        return "matrix", False
    if width not in (2, 3):
        # Words below a header, beyond the first cell.
        odd = any(number(cell) is None for row in below for cell in row[1:])
        return "table" if odd and not all(map(is_number, first)) else "matrix", False
    if ending in ("edgelist", "edges", "ssv", "el"):
        return "edge list", False
    return _narrow_kind(text, head, width)


def _names_columns(header: list[str], rows: int) -> bool:
    """Tell whether a header names the columns of a matrix, as R's V1, V2, V3, ... does.

    V1 and V2, node1 and node2, ... also head the ends of edges; then the names do not run on, and
    there are not as many lines as names, but for lists too short to be a study.
    """
    named = [word.lower() for word in header if word]
    if len(named) < 4 or len(named) != rows - 1:
        return False
    stems = {word.rstrip("0123456789") for word in named}
    return len(named) > 8 or (len(stems) == 1 and not stems & set(named))


def _narrow_kind(text: TextFile, head: list[list[str]], width: int) -> tuple[TextKind, bool]:
    """Decide for two or three columns."""
    rows = len(text.lines)
    has_header = any(number(cell) is None for cell in head[0])
    data = rows - has_header
    if has_header and rows > 1 and data in (width - 1, width):
        square = text.cells(1)
        names = [cell for cell in head[0] if cell][-(width - 1) :]
        if data == width - 1 and [row[0] for row in square] == names:
            return "matrix", False  # names on both sides
        if data == width and all(number(cell) is not None for row in square for cell in row):
            return "matrix", False
    if not has_header and rows == width:
        cells = [[number(cell) for cell in row] for row in text.cells()]
        if all(len(row) == width and None not in row for row in cells):
            mirrored = [list(column) for column in zip(*cells, strict=True)]
            hollow = all(cells[s][s] == 0 for s in range(width))
            return "matrix" if cells == mirrored or hollow else "edge list", True
    last = head[1:] or head
    if width == 3 and not all(len(row) == 3 and number(row[2]) is not None for row in last):
        return "table", False
    return "edge list", False


def looks_like_graph(text: TextFile) -> bool:
    """Tell whether a file found in a folder may be meant: a square matrix or an edge list."""
    kind, _ = text_kind(text)
    if kind != "matrix":
        return kind == "edge list"
    width = len(text.cells(1, 2)[0]) if len(text.lines) > 1 else 1
    return abs(len(text.lines) - width) <= 1 or _is_triangle(text)


def _is_triangle(text: TextFile) -> bool:
    """Tell whether lines get longer, or shorter, by one cell each: half of a matrix."""
    rows = len(text.lines)
    if rows < 3:
        return False
    ends = [len(text.cells(i, i + 1)[0]) for i in (0, 1, rows - 1)]
    return ends in ([1, 2, rows], [rows, rows - 1, 1])


# ---------------------------------------------------------------------- matrices


def read_matrix(text: TextFile) -> FileGraph:
    """Read a square matrix. Half of one becomes a matrix with nan in the other half."""
    names, more = None, list[Notice]()
    matrix = text.numbers()
    if matrix is None:
        matrix, names, more = _from_cells(text)
    elif matrix.shape[0] != matrix.shape[1]:
        matrix, names = _without_running_numbers(text, matrix)
        more = [Notice.of("numbered", text.path)]
    return FileGraph(matrix, names, text.directed or None, notices=(*text.notices, *more))


def _without_running_numbers(text: TextFile, matrix: Floats) -> tuple[Floats, Names]:
    """Take off a first row, or a first column, of running numbers, or refuse the shape."""
    rows, columns = matrix.shape
    # Names from the text: floats hold no long numbers.
    if rows == columns + 1 and (names := _running(text.cells(0, 1)[0])):
        return matrix[1:], names
    if columns == rows + 1 and (names := _running([row[0] for row in text.cells()])):
        return matrix[:, 1:], names
    return _refuse_shape(text, rows, columns)


def _running(cells: list[str]) -> Names:
    """Return numbers that could be vertices: whole, and each larger than the one before."""
    names = tuple(name for cell in cells if (name := whole(cell)) is not None and len(name) < 1000)
    rising = all(int(a) < int(b) for a, b in pairwise(names))
    return names if len(names) == len(cells) and rising else None


def _refuse_shape(text: TextFile, rows: int, columns: int) -> NoReturn:
    if columns == 1 and rows > 1:
        line = text.lines[0].strip()
        marks = Counter(re.findall(r"[^\w\s.+\-\"']", line))
        guess = repr(marks.most_common(1)[0][0]) if marks else ""
        shown = line if len(line) <= 40 else line[:37] + "..."
        raise ReadError(
            f"{text.place()}: the whole line is one cell, {shown!r}, with "
            f"{text.delimiter_in_words} as delimiter; pass {'' if guess else 'the right '}"
            f"delimiter={guess}, or save the file with commas, tabs or spaces"
        )
    raise ReadError(
        f"{text.path} has {rows} rows and {columns} columns of numbers (lines {text.places[0]} to "
        f"{text.places[-1]}, {text.delimiter_in_words} between cells); a graph is a square matrix "
        "with a row and a column for each vertex, or an edge list of two or three columns: check "
        "that the file is complete, or leave it out"
    )


def _from_cells(text: TextFile) -> tuple[Floats, Names, list[Notice]]:
    """Read a matrix with names, with empty cells, or half of one."""
    cells = text.cells()
    if len(cells) > 2 and _ends_with_delimiter(cells):
        cells = [row[:-1] for row in cells]
    widths, n = [len(row) for row in cells], len(cells)
    if n > 1 and widths in (list(range(1, n + 1)), list(range(n, 0, -1))):
        matrix, lower = np.full((n, n), np.nan), widths[0] == 1
        for s, row in enumerate(cells):
            matrix[s, slice(s + 1) if lower else slice(s, n)] = _values(text, [row], s, 0)
        return matrix, None, []
    header: list[str] | None = None
    # A header has words beyond its first cell, or what the first column has, or is shorter (R).
    short = n > 1 and widths[0] == widths[1] - 1
    corner = n > 1 and cells[0][1:] == [row[0] for row in cells[1:]] and not is_number(cells[0][0])
    top = 0
    if short or corner or _is_header(text, cells[0][1:]):
        header, cells, top = cells[0], cells[1:], 1
    if not cells:
        raise ReadError(f"{text.path} holds a header and no rows: leave it out, or write it again")
    width = len(cells[0])
    for i, row in enumerate(cells, top):
        if len(row) != width:
            if len(row) == 1 or width == 1:
                _refuse_shape(text, len(text.lines), 1)
            raise ReadError(
                f"{text.place(i)} has {len(row)} cells and line {text.places[top]} has {width}, "
                f"with {text.delimiter_in_words} between them; all lines must have the same "
                "number: check that the file is complete, or pass another delimiter="
            )
    index = None
    named_rows = any(number(row[0]) is None for row in cells)
    if short or (width == len(cells) + 1 and (named_rows or header is not None)):
        index, cells = [row[0] for row in cells], [row[1:] for row in cells]
        width -= 1
    if header is not None and len(header) == width + 1:
        header = header[1:]
    matrix = _values(text, cells, top, int(index is not None))
    if len(matrix) != width:
        _refuse_shape(text, *matrix.shape)
    return _named(text, matrix, header, index)


def _is_header(text: TextFile, cells: list[str]) -> bool:
    """Tell whether the first line holds names; refuse what is neither that nor numbers."""
    words = [number(cell) is None for cell in cells]
    if not any(words) or all(words):
        return any(words)
    # Names and numbers in one line: a number that cannot be read would pass for a name.
    odd = words.index(True) if sum(words) <= len(words) / 2 else words.index(False)
    raise ReadError(
        f"{text.place()} has both names and numbers, such as {cells[odd][:40]!r} in column "
        f"{odd + 2}: it must be a header of names, or a row of numbers; if these are names, put "
        "them into the first column as well"
    )


def _ends_with_delimiter(cells: list[list[str]]) -> bool:
    """Tell whether every line ends with a delimiter, which makes an empty column."""
    return all(len(row) > 1 and row[-1] == "" for row in cells) and (
        len(cells[-1]) == len(cells) + 1 or len(cells[-1]) == len(cells[0]) != len(cells)
    )


def _values(text: TextFile, cells: list[list[str]], top: int, left: int) -> Floats:
    """Return the numbers of cells that begin ``top`` lines and ``left`` columns within the file."""
    values = [[number(cell) for cell in row] for row in cells]
    for s, row in enumerate(values):
        if None in row:
            if len(row) == 1 and len(cells) > 1:
                _refuse_shape(text, len(cells), 1)
            t = row.index(None)
            raise ReadError(
                f"{text.place(top + s, left + t)}: {cells[s][t][:40]!r} is not a number; a matrix "
                "of a graph holds numbers, with names of vertices in the first row and column only"
            )
    return np.array(values, dtype=np.float64)


def _named(
    text: TextFile, matrix: Floats, header: list[str] | None, index: list[str] | None
) -> tuple[Floats, Names, list[Notice]]:
    """Return a matrix in the order of its rows, with names that its header and index agree on."""
    names = index if index is not None else header
    if names is None:
        return matrix, None, []
    if twice := repeated(names):
        where = "first column" if index is not None else f"header, line {text.places[0]},"
        raise ReadError(
            f"{text.path}: the {where} names {some_of(twice, 3)} more than once; vertices need "
            "different names"
        )
    if header is None or index is None or header == index:
        return matrix, tuple(names), []
    if set(header) != set(index):
        if _running(index):
            # Rows are numbered and columns named, as a spreadsheet does it.
            return matrix, tuple(header), []
        raise ReadError(
            f"{text.path}: rows and columns must be the same vertices; only in one of the two: "
            f"{some_of(sorted(set(header) ^ set(index)), 6)}{spelling(index, header)}"
        )
    place = {name: t for t, name in enumerate(header)}
    ordered = matrix[:, [place[name] for name in index]]
    if _symmetric(matrix) and not _symmetric(ordered):
        s = next(s for s, column in enumerate(header) if column != index[s])
        raise ReadError(
            f"{text.place()}: column {s + 1} of the matrix is named {header[s]!r} and row {s + 1} "
            f"{index[s]!r}, but the weights are symmetric only if both are one vertex: names are "
            "swapped in the header or in the first column. Correct them, or leave the file out"
        )
    return ordered, tuple(index), [Notice.of("columns", text.path)]


def _symmetric(matrix: Floats) -> bool:
    return bool(np.allclose(matrix, matrix.T, rtol=1e-6, atol=0.0, equal_nan=True))


# ---------------------------------------------------------------------- edge lists


def read_edges(text: TextFile) -> FileGraph:
    """Read an edge list; vertices are in the order of their numbers, or of their names."""
    declared, notices = _declared(text), text.notices
    numbered = None if _has_padded_ids(text, declared) else _numbered_edges(text)
    if numbered is not None:
        ids, weight = numbered
        used, places = np.unique(ids, return_inverse=True)
        found = list(map(str, used.tolist()))
        names = tuple(found)
    else:  # not an array, in which each name would take as much as the longest
        ends, weight = _named_edges(text) if text.lines else ([], np.zeros(0))
        if declared is None:
            numbers = [whole(name) for name in ends]  # 1.0, as some programs write it, is 1
            ends = ends if None in numbers else [name for name in numbers if name is not None]
            notices += () if ends else (Notice.of("no edges", text.path),)
        codes: dict[str, int] = {}
        places = np.array([codes.setdefault(name, len(codes)) for name in ends], dtype=np.intp)
        found = list(codes)
        names = tuple(sorted(sorted(found), key=natural))
    names = names if declared is None else declared
    place = {name: s for s, name in enumerate(names)}
    unknown = [name for name in found if name not in place]
    if unknown:
        raise ReadError(
            f"{text.path} has edges of {some_of(unknown, 3)}, which its comment '# vertices:' does "
            f"not list{spelling(unknown, names)}; add them there, or remove the comment"
        )
    s, t = np.array([place[name] for name in found], dtype=np.intp)[places].reshape(2, -1)
    return of_edges(
        s, t, weight, names, directed=text.directed, notices=notices, format="edge list",
        names_all=declared is not None,
    )  # fmt: skip


def _declared(text: TextFile) -> Names:
    """Return the vertices of a comment ``# vertices: ["a", "b"]`` or ``# vertices: a b``."""
    said = text.comment("vertices")
    if not said:
        return None
    names: Any = said.replace(",", " ").split()
    if said.startswith("["):
        try:
            names = read_json(said)
            if not isinstance(names, list):
                raise ValueError
        except ValueError:
            raise ReadError(
                f"{text.path}: the comment '# vertices:' starts with [ and is not a list in JSON; "
                "write '# vertices: a b c'"
            ) from None
    texts = tuple(str(name) for name in names)
    if repeated(texts):
        raise ReadError(f"{text.path}: the comment '# vertices:' names a vertex twice")
    return texts


def _has_padded_ids(text: TextFile, declared: Names) -> bool:
    """Tell whether ids are written like 007, which is a name and not the number 7."""
    if declared is not None:
        return not all(re.fullmatch(r"0|-?[1-9][0-9]*", name) for name in declared)
    near = (i for i, line in enumerate(text.lines) if _PADDED.search(line))
    cells = (cell for i in near for cell in text.cells(i, i + 1)[0][:2])
    return any(re.fullmatch(r"0[0-9]+", cell) for cell in cells)


def _numbered_edges(text: TextFile) -> tuple[NDArray[np.int64], Floats] | None:
    """Return edges between whole numbers, sources before targets, and weights; None for others.

    Ids must be exact: what is 2**53 as a float may have been 2**53 + 1 in the file.
    """
    table = text.numbers() if text.lines else None
    if table is None or table.shape[1] not in (2, 3):
        return None
    ends = table[:, :2].T.ravel()
    if not np.isfinite(ends).all() or np.abs(ends).max(initial=0) >= 2**53:
        return None
    ids = ends.astype(np.int64)
    if not np.array_equal(ids, ends):
        return None
    return ids, table[:, 2] if table.shape[1] == 3 else np.ones(len(table))


def _named_edges(text: TextFile) -> tuple[list[str], Floats]:
    """Return names, sources before targets, and weights of edges, which may have a header."""
    rows = text.cells()
    if len(rows[0]) > 3 and all(row[-1] == "" for row in rows):
        rows = [row[:-1] for row in rows]
    s, t, w, header = _edge_columns(text, rows[0], len(rows))
    rows = rows[header:]
    weight = np.ones(len(rows))
    needed = max(s, t, -1 if w is None else w) + 1
    for i, row in enumerate(rows):
        if len(row) < needed or (w is not None and header == 0 and len(row) > needed):
            raise ReadError(
                f"{text.place(i + header)} has {len(row)} cells, with {text.delimiter_in_words} "
                f"between them, and other lines have {needed}; an edge is two vertices and perhaps "
                "a weight: correct the line, or pass another delimiter="
            )
        if w is not None:
            value = number(row[w])
            if value is None:
                raise ReadError(
                    f"{text.place(i + header, w)}: the weight {row[w][:40]!r} is not a number; an "
                    "edge is two vertices and perhaps a weight"
                )
            weight[i] = value
    return [row[s] for row in rows] + [row[t] for row in rows], weight


def _edge_columns(text: TextFile, first: list[str], rows: int) -> tuple[int, int, int | None, int]:
    """Return which columns are source, target and weight, and the number of header lines."""
    lower = [cell.lower() for cell in first]
    s, t, w = (
        next((column for column, cell in enumerate(lower) if cell in words), None)
        for words in (SOURCE, TARGET, WEIGHT)
    )
    width = len(first)
    if s is not None and t is not None and s != t:
        return s, t, 3 - s - t if w is None and width == 3 else w, 1
    if width not in (2, 3):
        raise ReadError(
            f"{text.place()} has {width} cells with {text.delimiter_in_words} between them; an "
            "edge list has two or three columns (two vertices and a weight), or a header that "
            "names 'source', 'target' and 'weight'"
        )
    header = width == 3 and number(first[2]) is None and rows > 1 and not text.is_list
    return 0, 1, 2 if width == 3 else None, int(header)
