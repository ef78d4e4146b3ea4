"""What was asked of a fit afterwards: a table, words, and a line with its interval for each row."""

from __future__ import annotations

from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from eigengraphs.report.records import Cell, Finding
from eigengraphs.report.tags import a_name, number, paragraphs, table

if TYPE_CHECKING:
    from eigengraphs.report.payload import Shown
    from eigengraphs.report.summary import Summary

__all__ = ["findings"]

_ROWS = 60  # of a table that are shown
_WIDTH, _ROW, _NAMES = 720.0, 22.0, 210.0
_TINY = 0.0001


def findings(summary: Summary, shown: Shown) -> str:
    """Return what was asked of the fit afterwards."""
    if not summary.findings:
        return paragraphs(
            ["Nothing was asked of this fit yet: eigengraphs compare, evaluate and read add to it."]
        )
    return "".join(_finding(found, shown.limits.name) for found in summary.findings)


def _finding(found: Finding, most: int) -> str:
    rows = found.rows[:_ROWS]
    header: list[str | tuple[str]] = [found.header[0]]
    for place, name in enumerate(found.header[1:], start=1):
        numbers = all(not isinstance(row[place], str) for row in rows)
        header.append((name,) if numbers else name)
    more = [f"{len(found.rows) - _ROWS} more rows are in report.json."]
    body = (_row(row, found.header, most) for row in rows)
    return (
        f"<article><h3>{escape(found.title)}</h3>"
        + paragraphs(found.words)
        + _forest(found)
        + table(header, body, found.title, tall=len(rows) > 12)
        + paragraphs(more if len(found.rows) > _ROWS else [], "note")
        + paragraphs(found.notes, "note")
        + "</article>\n"
    )


def _row(row: tuple[Cell, ...], header: tuple[str, ...], most: int) -> str:
    cells = "".join(
        f"<td>{a_name(cell, most)}</td>"
        if isinstance(cell, str)
        else f'<td class="number">{_number(cell, name)}</td>'
        for cell, name in zip(row[1:], header[1:], strict=True)
    )
    first = row[0] if isinstance(row[0], str) else number(row[0])
    return f'<tr><th scope="row">{a_name(first, most)}</th>{cells}</tr>'


def _number(value: float | None, name: str) -> str:
    if value is None or not isfinite(value):
        return number(None)
    if value < _TINY and (name == "p" or name.startswith(("p (", "p_"))):
        return f"&lt; {_TINY}"  # how much less depends on tails that nobody knows
    return number(value)


def _forest(found: Finding) -> str:
    """Return points with their intervals, one under the other, on one axis."""
    drawn = found.intervals
    if drawn is None:
        return ""
    lines: list[tuple[str, float, float, float]] = []
    for row in found.rows[:_ROWS]:
        ends = [row[place] for place in (drawn.value, drawn.low, drawn.high)]
        known = [float(end) for end in ends if isinstance(end, int | float) and isfinite(end)]
        if len(known) == 3:
            lines.append((str(row[0]), *known))  # type: ignore[arg-type]
    if not lines:
        return ""
    marks = [end for line in lines for end in line[1:]]
    marks += [] if drawn.reference is None else [drawn.reference]
    least, span = min(marks), (max(marks) - min(marks)) or 1.0
    room = _WIDTH - _NAMES - 30

    def across(value: float) -> float:
        return round(_NAMES + 10 + room * (value - least) / span, 1)

    height = _ROW * len(lines) + 40
    parts = []
    if drawn.reference is not None:
        x = across(drawn.reference)
        parts.append(f'<line class="reference" x1="{x}" x2="{x}" y1="4" y2="{height - 36}"/>')
    for i, (name, value, low, high) in enumerate(lines):
        y = _ROW * (i + 0.5) + 4
        text = escape(name if len(name) <= 30 else f"{name[:29]}…")
        parts.append(
            f'<text x="{_NAMES}" y="{y + 4}" text-anchor="end">{text}</text>'
            f'<line class="interval" x1="{across(low)}" x2="{across(high)}" y1="{y}" y2="{y}"/>'
            f'<circle class="estimate" cx="{across(value)}" cy="{y}" r="4"/>'
        )
    for value in (least, least + span / 2, least + span):
        parts.append(
            f'<text x="{across(value)}" y="{height - 20}" text-anchor="middle">'
            f"{number(value, 3)}</text>"
        )
    if drawn.axis:
        middle = _NAMES + 10 + room / 2
        parts.append(
            f'<text x="{middle}" y="{height - 4}" text-anchor="middle">{escape(drawn.axis)}</text>'
        )
    return (
        f'<svg class="forest" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(found.title, quote=True)}: values and intervals, as in the table '
        f'below">{"".join(parts)}</svg>'
    )
