"""Output of results: tables that R's ``read.delim`` and pandas can read, and short reprs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from eigengraphs.system.whole_files import whole_file

#: What both take for a missing value.
MISSING = "NA"
_QUOTED = frozenset('"\t\n\r')
# What a spreadsheet takes for a formula: these marks, also in full width, and white space that it
# drops. Apostrophes before them are ours, or would be taken for ours.
_FORMULA = re.compile(r"'*(\s*[=+\-@＝＋－＠]| *[\t\r\n])")


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a tab-separated table with a header; see `cell`."""
    # newline: the same bytes on every system.
    with (
        whole_file(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for row in chain([header], rows):  # there may be millions
            file.write("\t".join(map(cell, row)) + "\n")


def cell(value: Any) -> str:
    """Return the text of a value.

    Floating-point numbers keep 10 digits and a point, so that a column of them has this type even
    if all are whole. None and nan are NA, truth values TRUE or FALSE. A text is in quotes, with
    inner quotes doubled, if it has a quote, a tab or a line break. A text that a spreadsheet would
    run as a formula gets an apostrophe in front; see `guarded`.
    """
    value = value.item() if hasattr(value, "item") else value  # numpy's own bool is no bool
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        if not math.isfinite(value):
            return MISSING if math.isnan(value) else "Inf" if value > 0 else "-Inf"
        text = f"{value:.10g}"
        return text if "." in text or "e" in text else f"{text}.0"
    text = guarded(str(value))
    return '"' + text.replace('"', '""') + '"' if set(text) & _QUOTED else text


def guarded(text: str) -> str:
    """Return a text that no spreadsheet treats as a formula: with an apostrophe before ``=`` etc.

    Numbers stay as they are. A text of apostrophes and then such a mark gets one more, so that
    `unguarded` gives back every text.
    """
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def unguarded(text: str) -> str:
    """Return the text that `guarded` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip() and "_" not in text


def aligned(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of texts as lines, with columns of one width."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{text:{width}s}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def short_repr(record: Any) -> str:
    """Return a short repr of a record: shapes of arrays, and sizes of long sequences."""
    if is_dataclass(record):
        names = [field.name for field in fields(record) if field.repr]
    else:
        names = record._fields  # of a named tuple
    shown = ", ".join(f"{name}={_short(getattr(record, name))}" for name in names)
    return f"{type(record).__name__}({shown})"


def _short(value: Any, most: int = 6) -> str:
    if isinstance(value, np.ndarray):
        if value.ndim != 1 or value.size > most:
            return f"<array {value.shape}>"
        return np.array2string(value, precision=4, separator=", ", max_line_width=100)
    if isinstance(value, tuple | list | set | Mapping) and len(value) > most:
        return f"<{len(value)} items>"
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    if len(text) <= 100:
        return text
    if isinstance(value, str):
        return f"{text[:90]}...{text[-1]}"
    return f"<{len(value)} items>" if hasattr(value, "__len__") else f"<{type(value).__name__}>"
