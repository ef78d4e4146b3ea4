"""RESULTS.md: one row a finding, then what each experiment measured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eigengraphs.system.whole_files import whole_file
from experiments.outcome import read_outcome

__all__ = ["write_results"]

_HEAD = """# What came out

Every figure and table of *Joint Embedding of Graphs*, and some questions beside it. Each section is
written by the command that it names; nothing here is typed by hand. Standard errors are in
parentheses. Verdicts: **reproduced** (as the paper says), **better**, **differs** (with the
reason), **new** (the paper does not ask).

"""


def write_results(outcomes: Path, folder: Path, order: Sequence[str]) -> Path:
    """Write RESULTS.md to ``folder`` from all outcomes that ``outcomes`` holds; return its path."""
    found = {path.stem: read_outcome(path) for path in outcomes.glob("*.json")}
    known: list[dict[str, Any]] = [found[name] for name in order if name in found]
    place = Path(os.path.relpath(outcomes, folder))
    lines = [
        *_table(
            ("experiment", "the paper", "here", "verdict", "why"),
            (
                (f"[{kept['name']}](#{kept['name']})", finding["claim"], finding["outcome"],
                 f"**{finding['verdict']}**", finding["reason"])
                for kept in known
                for finding in kept["findings"]
            ),
        ),
    ]  # fmt: skip
    for kept in known:
        lines += _section(kept, place)
    path = folder / "RESULTS.md"
    with whole_file(path) as temporary:
        temporary.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def _section(kept: dict[str, Any], place: Path) -> list[str]:
    made = f"`{kept['command']}` (eigengraphs {kept.get('version', 'before 0.1')})"
    lines = ["", f"## {kept['name']}", "", f"**{kept['title']}.** {made}", ""]
    lines += [f"Diagonal: {kept['diagonal']}", ""]
    if kept["notes"]:
        lines += [kept["notes"], ""]
    for table in kept["tables"]:
        lines += [*_table(table["columns"], table["rows"]), ""]
    for picture in kept["pictures"]:
        lines += [f"![{kept['title']}]({(place / picture).as_posix()})", ""]
    return lines[:-1]


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    heads = list(columns)
    return [
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
        *(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows),
    ]
