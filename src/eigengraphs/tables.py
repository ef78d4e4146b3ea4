"""Tables of results, such that R's ``read.delim`` and pandas read them with one call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eigengraphs.whole_files import whole_file

__all__ = ["cell", "write_table"]

#: What both take for a missing value.
MISSING = "NA"
_QUOTED = frozenset('"\t\n\r')


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a tab-separated table with a header; see `cell`."""
    # newline: the same bytes on every system.
    with (
        whole_file(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for row in [header, *rows]:
            file.write("\t".join(map(cell, row)) + "\n")


def cell(value: Any) -> str:
    """Return the text of a value.

    Real numbers keep 10 digits and a point, so that a column of them is one of real numbers even
    if all are whole. None and nan are NA, truth is TRUE or FALSE. A text is in quotes, with inner
    quotes doubled, if it holds a quote, a tab or the end of a line.
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
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & _QUOTED else text
