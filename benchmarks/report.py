"""What a benchmark gives back, as text for the terminal and as a section of RESULTS.md."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

import eigengraphs

__all__ = ["Report", "installed", "listed", "render", "write_section"]

_RESULTS = Path(__file__).parent / "RESULTS.md"
_TITLE = """# Results of the benchmarks

Written by `make bench`; each section by the benchmark that it is named after. Times are medians
of wall-clock seconds on a machine that others use at the same time, and are here for
information: read the ratios, which compare runs of one round.
"""


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
    meaning
        One sentence that a reader should take away, made of the numbers.
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
    table = [report.columns, *report.rows]
    widths = [max(len(row[c]) for row in table) for c in range(len(report.columns))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in table
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    failures = [f"- FAILED: {text}" for text in report.failures]
    parts = [
        f"## {report.name}: {report.title}",
        f"`{command}`, {date.today().isoformat()}, {_cores()} cores\n({report.versions})",
        "\n".join(lines),
        report.meaning,
        "\n".join([*failures, *(f"- {note}" for note in report.notes)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def write_section(report: Report) -> None:
    """Put the section into RESULTS.md, in the place of the benchmark's earlier one."""
    text = _RESULTS.read_text() if _RESULTS.exists() else ""
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    by_name = {section[3:].split(":")[0]: section.strip() for section in sections}
    by_name[report.name] = render(report).strip()
    _RESULTS.write_text("\n\n".join([_TITLE.strip(), *by_name.values()]) + "\n")
