"""What an experiment found: tables, findings beside the paper's, a verdict on each; RESULTS.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigengraphs import __version__
from eigengraphs.errors import InputError
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import whole_file

__all__ = [
    "Array", "Finding", "Outcome", "Table", "error_of", "judged", "mean_and_error", "measured",
    "new", "write_outcome", "write_results",
]  # fmt: skip

Array: TypeAlias = NDArray[np.float64]
#: "new" is for questions that the paper does not ask.
Verdict: TypeAlias = Literal["reproduced", "better", "differs", "new"]
Cell: TypeAlias = str | int | float | None
_HEAD = """# What came out

Every figure and table of *Joint Embedding of Graphs*, and some questions beside it. Each section is
written by the command that it names; nothing here is typed by hand. Standard errors are in
parentheses. Verdicts: **reproduced** (as the paper says), **better**, **differs** (with the
reason), **new** (the paper does not ask).

"""


@dataclass(frozen=True)
class Table:
    """Numbers, written as ``NAME.tsv``, or as ``NAME-part.tsv`` when ``part`` is given.

    ``shown`` tables appear in RESULTS.md as well; long ones are files only.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    part: str = ""
    shown: bool = True

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(f"{len(self.columns)} columns, but a row has {len(row)}: {row}")


@dataclass(frozen=True)
class Finding:
    """One claim of the paper, what came out here, and the verdict."""

    claim: str
    outcome: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Outcome:
    """All that came out of one experiment."""

    title: str
    diagonal: str  # how self-loops were treated, in words
    findings: Sequence[Finding]
    tables: Sequence[Table] = ()
    pictures: Sequence[str] = ()  # names of files in the folder of the run
    notes: str = ""


def judged(claim: str, outcome: str, holds: Any, yes: str, no: str | None = None) -> Finding:
    """Return the finding that a claim of the paper holds, or does not, with the reason of each."""
    verdict: Verdict = "reproduced" if holds else "differs"
    return Finding(claim, outcome, verdict, yes if holds or no is None else no)


def new(claim: str, outcome: str, reason: str) -> Finding:
    """Return a finding on a question that the paper does not ask."""
    return Finding(claim, outcome, "new", reason)


def error_of(values: Any, axis: int = 0) -> Any:
    """Return the standard error of the mean over an axis."""
    x = np.asarray(values, dtype=float)
    return x.std(axis=axis, ddof=1) / np.sqrt(x.shape[axis])


def mean_and_error(values: Array) -> tuple[float, float]:
    """Return the mean and its standard error, as two cells of a table."""
    return float(values.mean()), float(error_of(values))


def measured(values: object, digits: int = 3) -> str:
    """Return the mean and, in parentheses as the paper prints it, its standard error.

    ``digits`` after the point, or as many more as show two digits of the error.
    """
    x = np.asarray(values, dtype=float)
    if x.size < 2:
        return f"{x.mean():.{digits}f}"
    error = float(error_of(x))
    if error > 0:
        digits = max(digits, 1 - int(np.floor(np.log10(error))))
    return f"{x.mean():.{digits}f} ({error:.{digits}f})"


def write_outcome(outcome: Outcome, name: str, command: str, folder: Path) -> None:
    """Write tables as TSV, and what RESULTS.md needs as JSON; a reader never sees half a file."""
    for table in outcome.tables:
        path = folder / (f"{name}-{table.part}.tsv" if table.part else f"{name}.tsv")
        write_table(path, table.columns, ([_text(cell, 6) for cell in row] for row in table.rows))
    kept = asdict(outcome) | {"name": name, "command": command, "version": __version__}
    kept["tables"] = [
        {"columns": table.columns, "rows": [[_text(cell, 4) for cell in row] for row in table.rows]}
        for table in outcome.tables
        if table.shown
    ]
    with whole_file(folder / f"{name}.json") as path:
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_results(outcomes: Path, folder: Path, order: Iterable[str]) -> Path:
    """Write RESULTS.md to ``folder`` from all outcomes that ``outcomes`` holds; return its path."""
    files = (outcomes / f"{name}.json" for name in order)
    known = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    lines = _markdown(
        ("experiment", "the paper", "here", "verdict", "why"),
        (
            (f"[{kept['name']}](#{kept['name']})", finding["claim"], finding["outcome"],
             f"**{finding['verdict']}**", finding["reason"])
            for kept in known
            for finding in kept["findings"]
        ),
    )  # fmt: skip
    place = Path(os.path.relpath(outcomes, folder))
    for kept in known:
        made = f"`{kept['command']}` (eigengraphs {kept.get('version', 'before 0.1')})"
        parts = [f"## {kept['name']}", f"**{kept['title']}.** {made}"]
        parts += [f"Diagonal: {kept['diagonal']}", *filter(None, [kept["notes"]])]
        parts += ["\n".join(_markdown(table["columns"], table["rows"])) for table in kept["tables"]]
        parts += [f"![{kept['title']}]({(place / x).as_posix()})" for x in kept["pictures"]]
        lines += ["", "\n\n".join(parts)]
    path = folder / "RESULTS.md"
    with whole_file(path) as temporary:
        temporary.write_text(_HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def _markdown(columns: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    return [
        f"| {' | '.join(columns)} |",
        "|" + "---|" * len(columns),
        *(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows),
    ]


def _text(cell: Cell, digits: int) -> str:
    if cell is None:
        return ""
    return f"{cell:.{digits}g}" if isinstance(cell, float) else str(cell)
