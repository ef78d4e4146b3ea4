"""Columns of participants (or of vertices): which are numbers, which are categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.report.parts import Column
from eigengraphs.system.labels import UNKNOWN, are_codes, without_none

__all__ = ["is_unknown", "make_column", "make_columns", "says_number"]


def make_columns(
    columns: Mapping[str, Sequence[Any]] | None, length: int, of: str
) -> tuple[Column, ...]:
    """Make columns of a mapping of names to one value for each graph or vertex.

    Parameters
    ----------
    columns
        Values may be numbers, texts or None. Texts that all say numbers are numbers; "n/a" and
        empty texts are unknown, and so is "none" among numbers.
    length
        Number of values that each must have.
    of
        What they are values of, for messages: "graph" or "vertex".
    """
    made = []
    for name, values in (columns or {}).items():
        if isinstance(values, str) or len(values) != length:
            number = "one text" if isinstance(values, str) else f"{len(values)} values"
            raise InputError(
                f"column {name!r} must have one value for each {of}, {length} in all, got {number}"
            )
        made.append(make_column(str(name), values))
    return tuple(made)


def make_column(name: str, values: Sequence[Any]) -> Column:
    """Make one column, and tell numbers from categories."""
    return _column(name, without_none([_plain(value) for value in values]))


def is_unknown(value: Any) -> bool:
    """Tell whether a value stands for none: None, nan, "n/a" and the like."""
    return _plain(value) is None


def says_number(text: str) -> bool:
    """Tell whether a text says a finite number, and is no name such as 007."""
    return _numbers([text]) is not None


def _plain(value: Any) -> Any:
    """Return a Python number or text, None for what is unknown."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, str):
        return None if value.strip().lower() in UNKNOWN else value
    return value if isinstance(value, bool | int | float) else str(value)


def _column(name: str, values: list[Any]) -> Column:
    numbers = _numbers(values)
    if numbers is not None and not are_codes(x for x in numbers if x is not None):
        return Column(name, "number", tuple(numbers))
    texts = [None if value is None else _word(value) for value in values]
    categories = tuple(dict.fromkeys(text for text in texts if text is not None))
    place = {text: float(c) for c, text in enumerate(categories)}
    codes = tuple(None if text is None else int(place[text]) for text in texts)
    return Column(name, "category", codes, categories)


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _numbers(values: list[Any]) -> list[float | int | None] | None:
    """Return the values as numbers, or None if some are not."""
    found: list[float | int | None] = []
    for value in values:
        number = value
        if isinstance(value, bool):
            return None
        if isinstance(value, str):
            text = value.strip()
            if len(text) > 1 and text[0] == "0" and text[1].isdigit():
                return None  # 007 is a name
            try:
                number = float(text)
            except ValueError:
                return None
            if not math.isfinite(number):
                return None
        found.append(number)
    return found if any(number is not None for number in found) else None
