"""Tables of results, such that R's ``read.delim`` and pandas read them with one call."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from eigengraphs.whole_files import whole_file

__all__ = ["cell", "guarded", "unguarded", "write_table"]

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

    Real numbers keep 10 digits and a point, so that a column of them is one of real numbers even
    if all are whole. None and nan are NA, truth is TRUE or FALSE. A text is in quotes, with inner
    quotes doubled, if it holds a quote, a tab or the end of a line. Before one that a spreadsheet
    would run as a formula stands an apostrophe; see `guarded`.
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
    """Return a text that no spreadsheet takes for a formula: with an apostrophe before ``=`` etc.

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
