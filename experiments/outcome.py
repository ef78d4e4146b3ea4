"""What an experiment found: tables, findings beside the paper's, and a verdict on each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from eigengraphs import __version__
from eigengraphs.errors import InputError
from eigengraphs.system.tables import write_table
from eigengraphs.system.whole_files import whole_file

__all__ = ["Finding", "Outcome", "Table", "Verdict", "measured", "read_outcome", "write_outcome"]

#: "new" is for questions that the paper does not ask.
Verdict: TypeAlias = Literal["reproduced", "better", "differs", "new"]
Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Numbers, written as ``NAME.tsv``, or as ``NAME-part.tsv`` when ``part`` is given.

    ``shown`` tables appear in RESULTS.md as well; long ones are files only.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
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
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...] = ()
    pictures: tuple[str, ...] = ()  # names of files in the folder of the run
    notes: str = ""


def measured(values: object, digits: int = 3) -> str:
    """Return the mean and, in parentheses as the paper prints it, its standard error.

    ``digits`` after the point, or as many more as show two digits of the error.
    """
    x = np.asarray(values, dtype=float)
    if x.size < 2:
        return f"{x.mean():.{digits}f}"
    error = float(x.std(ddof=1) / np.sqrt(x.size))
    if error > 0:
        digits = max(digits, 1 - int(np.floor(np.log10(error))))
    return f"{x.mean():.{digits}f} ({error:.{digits}f})"


def write_outcome(outcome: Outcome, name: str, command: str, folder: Path) -> None:
    """Write tables as TSV, and what RESULTS.md needs as JSON; a reader never sees half a file."""
    for table in outcome.tables:
        path = folder / (f"{name}-{table.part}.tsv" if table.part else f"{name}.tsv")
        rows = ([_text(cell, digits=6) for cell in row] for row in table.rows)
        write_table(path, table.columns, rows)
    kept = asdict(outcome) | {"name": name, "command": command, "version": __version__}
    kept["tables"] = [
        {"columns": table.columns, "rows": [[_text(cell) for cell in row] for row in table.rows]}
        for table in outcome.tables
        if table.shown
    ]
    with whole_file(folder / f"{name}.json") as path:
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_outcome(path: Path) -> dict[str, object]:
    """Read back what `write_outcome` kept for RESULTS.md."""
    kept: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def _text(cell: Cell, digits: int = 4) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.{digits}g}"
    return str(cell)
