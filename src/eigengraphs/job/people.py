"""Whose each graph is: scans of one person belong together, whatever is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eigengraphs.report.columns import is_unknown

__all__ = ["NOBODY", "owners", "people_among"]

NOBODY = "none"  # instead of a column: every graph is of its own
_PEOPLE = ("participant_id", "participant", "subject_id", "subject", "sub_id", "sub")


def people_among(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the name of the column that says whose each graph is, where some have several."""
    named = {name.lower(): name for name in reversed(list(columns))}
    for name in _PEOPLE:
        if name in named:
            known = [value for value in columns[named[name]] if not is_unknown(value)]
            if len(set(known)) < len(known):
                return named[name]
    return None


def owners(columns: Mapping[str, Sequence[Any]], names: Sequence[str]) -> tuple[str, ...] | None:
    """Return whose each graph is by its columns; a graph of nobody known is its own."""
    column = people_among(columns)
    if column is None:
        return None
    return tuple(name if is_unknown(who) else str(who)
                 for who, name in zip(columns[column], names, strict=True))  # fmt: skip
