"""What a benchmark gives back, as text for the terminal and as a section of RESULTS.md.

The first section of RESULTS.md, the summary, holds the bars of all others: it is read off them, so
that it is true also after one benchmark was run alone. A section that was measured with an earlier
version says so until its benchmark is run again.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

import eigengraphs
from benchmarks.bars import COLUMNS, Bar
from benchmarks.ours import cores

__all__ = ["Report", "installed", "listed", "render", "write_section"]

_RESULTS = Path(__file__).parent / "RESULTS.md"
_TITLE = """# Results of the benchmarks

Written by `make bench`; each section by the benchmark of its name. Times are medians of
wall-clock seconds on a shared machine and only for information: compare the ratios, which are
from runs in the same round. In a round, each method runs three times in a row and the median
counts, unless a run takes ten seconds: short runs depend on how busy the machine is, and the
first run after a pause has to get its memory from the system again.
"""
_SUMMARY = "bars"
_EARLIER = "first stage"  # what such a section says, and the summary of its bars


@dataclass(frozen=True)
class Report:
    """The outcome of one benchmark.

    Attributes
    ----------
    name
        What ``python -m benchmarks`` calls it.
    title
        What is measured.
    columns, rows
        The table.
    bars
        What must be reached; one that is not makes no failure.
    picture
        File name of a picture beside RESULTS.md.
    meaning
        One sentence that a reader should take away, made of the numbers; if empty, it tells how
        many bars are met.
    notes
        What one must know to read the table, such as peers that are missing.
    failures
        Quality checks that failed; a benchmark with one of them has failed.
    versions
        Versions of the packages that were measured.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    meaning: str
    versions: str
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    picture: str | None = None


def installed(*packages: str) -> str:
    """Return the versions of eigengraphs, Python and the packages named."""
    found = {"eigengraphs": eigengraphs.__version__, "python": platform.python_version()}
    return listed(found | {package: version(package) for package in packages})


def listed(versions: dict[str, str]) -> str:
    """Return names and versions in one line."""
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def render(report: Report, *, quick: bool = False) -> str:
    """Return the section of a report, in Markdown that also reads well in a terminal."""
    command = f"python -m benchmarks {report.name}{' --quick' if quick else ''}"
    failures = [f"- FAILED: {text}" for text in report.failures]
    parts = [
        f"## {report.name}: {report.title}",
        f"`{command}`, {date.today().isoformat()}, {cores()} cores\n({report.versions})",
        _table(COLUMNS, [bar.row for bar in report.bars]) if report.bars else "",
        _table(report.columns, report.rows),
        report.meaning
        or f"{sum(bar.met for bar in report.bars)} of {len(report.bars)} bars are met.",
        f"![{report.title}]({report.picture})" if report.picture else "",
        "\n".join([*failures, *(f"- {note}" for note in report.notes)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    table = [columns, *rows]
    widths = [max(len(row[c]) for row in table) for c in range(len(columns))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in table
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def write_section(report: Report) -> None:
    """Put the section into RESULTS.md, in the place of the benchmark's earlier one."""
    text = _RESULTS.read_text() if _RESULTS.exists() else ""
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    by_name = {section[3:].split(":")[0]: section.strip() for section in sections}
    by_name.pop(_SUMMARY, None)
    by_name[report.name] = render(report).strip()
    parts = [_TITLE.strip(), _summary(by_name), *by_name.values()]
    _RESULTS.write_text("\n\n".join(part for part in parts if part) + "\n")


def _summary(sections: dict[str, str]) -> str:
    """Return the section that gathers the bars of all others."""
    rows: list[tuple[str, ...]] = []
    for name, section in sections.items():
        inside = False
        for line in section.splitlines():
            cells = tuple(cell.strip() for cell in line.strip("|").split(" | "))
            if cells == COLUMNS:
                inside = True
            elif not line.startswith("|"):
                inside = False
            elif inside and not line.startswith("|-"):
                earlier = f" ({_EARLIER})" if _EARLIER in section else ""
                rows.append((name + earlier, *cells))
    if not rows:
        return ""
    met = sum(row[-1] == "met" for row in rows)
    title = f"## {_SUMMARY}: {met} of {len(rows)} met"
    return f"{title}\n\n{_table(('benchmark', *COLUMNS), rows)}"
