"""Tables of experiments: as TSV beside the pictures, and as a section of RESULTS.md."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Outcome", "write_outcome"]

RESULTS = Path(__file__).parent / "RESULTS.md"


@dataclass(frozen=True)
class Outcome:
    """What came out of an experiment."""

    name: str
    title: str
    paper: str  # what the paper says
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    verdict: str  # reproduced, better or differs, and why
    command: str


def write_outcome(outcome: Outcome, folder: Path, *, quick: bool) -> str:
    """Write the table to ``folder`` and, unless it was a quick run, to RESULTS.md; return it."""
    with (folder / f"{outcome.name}.tsv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(outcome.columns)
        writer.writerows(outcome.rows)
    section = _section(outcome)
    if not quick:
        text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else _HEAD
        begin, end = f"<!-- {outcome.name} -->", f"<!-- end of {outcome.name} -->"
        block = f"{begin}\n{section}{end}\n"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end) + "\n", re.DOTALL)
        if pattern.search(text):
            text = pattern.sub(lambda _: block, text)
        else:
            text = text.rstrip("\n") + "\n\n" + block
        RESULTS.write_text(text, encoding="utf-8")
    return section


def _section(outcome: Outcome) -> str:
    lines = [
        f"## {outcome.title}",
        "",
        f"`{outcome.command}`",
        "",
        f"**The paper:** {outcome.paper}",
        "",
        f"| {' | '.join(outcome.columns)} |",
        "|" + "---|" * len(outcome.columns),
        *(f"| {' | '.join(row)} |" for row in outcome.rows),
        "",
        f"**Verdict:** {outcome.verdict}",
        "",
    ]
    return "\n".join(lines)


_HEAD = """# What came out

Experiments on what the paper claims, by the public interface alone. Each section is written by the
command above its table.
"""
