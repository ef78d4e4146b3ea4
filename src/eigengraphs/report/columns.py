"""Columns of graphs or vertices: numbers, categories, and the order of graphs in time."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from eigengraphs.errors import InputError
from eigengraphs.report.records import Column, TimeLine
from eigengraphs.stack.names import some_of
from eigengraphs.system.labels import UNKNOWN, are_codes, shortened, without_none

__all__ = ["is_unknown", "make_column", "make_columns", "says_number", "time_line"]

Key = tuple[Any, ...]
_YEAR = r"(\d{4})"
_MONTH = re.compile(_YEAR + r"-(\d{1,2})")
_QUARTER = re.compile(_YEAR + r"[- ]?Q([1-4])", re.IGNORECASE)
_WEEK = re.compile(_YEAR + r"-?W(\d{2})", re.IGNORECASE)
_COUNTED = re.compile(r"(\D*?)(\d+(?:\.\d+)?)(\D*)")


def make_columns(
    columns: Mapping[str, Sequence[Any]] | None, length: int, of: str
) -> tuple[Column, ...]:
    """Make columns from a mapping of names to one value per graph or vertex.

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


def make_column(name: str, given: Sequence[Any]) -> Column:
    """Make one column, and tell numbers from categories."""
    known = without_none([_plain(value) for value in given])
    numbers = _numbers(known)
    if numbers is not None and not are_codes(x for x in numbers if x is not None):
        return Column(name, "number", tuple(numbers))
    texts = [x if x is None else f"{x:g}" if isinstance(x, float) else str(x) for x in known]
    categories = tuple(dict.fromkeys(text for text in texts if text is not None))
    code = {text: c for c, text in enumerate(categories)}
    values = [None if text is None else code[text] for text in texts]
    return Column(name, "category", tuple(values), categories)


def is_unknown(value: Any) -> bool:
    """Tell whether a value stands for none: None, nan, "n/a" and the like."""
    return _plain(value) is None


def says_number(text: str) -> bool:
    """Tell whether a text is a finite number, and not a name such as 007."""
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


def _number(text: str) -> float | None:
    """Return the finite number that a text says, if it does."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _numbers(values: list[Any]) -> list[float | int | None] | None:
    """Return the values as numbers, or None if some are not."""
    found: list[float | int | None] = []
    for value in values:
        number = value
        if isinstance(value, str):  # 007 is a name
            number = None if re.match(r"\s*0\d", value) else _number(value)
        if isinstance(value, bool) or (number is None and value is not None):
            return None
        found.append(number)
    return found if any(number is not None for number in found) else None


def time_line(
    ordered: bool | str, columns: Mapping[str, Sequence[Any]], names: Sequence[str]
) -> TimeLine | None:
    """Return the order of graphs in time; equal times stay in the order of the input.

    Parameters
    ----------
    ordered
        The name of a column; or True: time is the order of the input; or False: there is none.
    columns
        One value per graph. To sort by: numbers; dates such as 2019-01-31 (perhaps with a
        time of day), 2019-01, 2019-Q1 or 2019-W05; or texts that differ by one number (visit 2).
    names
        Of the graphs.

    Raises
    ------
    InputError
        If the column does not exist, has no value for some graph, or cannot be sorted.
    """
    if not isinstance(ordered, str):
        return TimeLine("", tuple(range(len(names))), tuple(names)) if ordered else None
    if ordered not in columns:
        raise InputError(f"there is no column {ordered!r} to order by, of {sorted(columns)}")
    values = list(columns[ordered])
    unknown = [name for name, value in zip(names, values, strict=True) if is_unknown(value)]
    if unknown:
        raise InputError(
            f"graphs cannot be sorted by {ordered!r}, which has no value for {some_of(unknown)}: "
            "complete the column, or leave these graphs out"
        )
    plain = [_plain(value) for value in values]
    texts = [f"{x:.10g}" if isinstance(x, float) else str(x).strip() for x in plain]
    keys = _keys(ordered, texts, names)
    order = sorted(range(len(names)), key=lambda i: keys[i])  # stable
    return TimeLine(ordered, tuple(order), tuple(texts[i] for i in order))


def _keys(column: str, texts: Sequence[str], names: Sequence[str]) -> list[Key]:
    """Return what texts are sorted by: all are read in one way, the first that reads them all."""
    best: tuple[int, str, list[Key | None]] = (0, "number", [None] * len(texts))
    for what, read in _WAYS.items():
        keys = _alike([read(text) for text in texts])
        found = [key for key in keys if key is not None]
        if len(found) == len(keys):
            return found
        if len(found) > best[0]:
            best = (len(found), what, keys)
    count, what, keys = best
    odd = next((i for i, key in enumerate(keys) if key is None), 0)
    like = f", as {count} others are" if count else ""
    raise InputError(
        f"graphs cannot be sorted by {column!r}: {shortened(texts[odd])!r} ({names[odd]}) is not a "
        f"{what}{like}. A column to sort by has numbers, dates such as 2019-01-31 or 2019-01, or "
        "texts that differ in only one number (visit 1, visit 2)"
    )


def _alike(keys: Sequence[Key | None]) -> list[Key | None]:
    """Keep keys of the most frequent kind: the same words around a number, a time zone or none."""
    kinds = Counter(key[0] for key in keys if key is not None)
    usual = kinds.most_common(1)[0][0] if kinds else None
    return [key if key is not None and key[0] == usual else None for key in keys]


def _read_number(text: str) -> Key | None:
    value = _number(text)
    return None if value is None else ("", value)


def _date(text: str) -> Key | None:
    if not re.match(r"\d{4}-\d{2}-\d{2}", text):
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return ("local" if moment.tzinfo is None else "zone", moment)


def _part_of_year(pattern: re.Pattern[str], most: int) -> Callable[[str], Key | None]:
    def read(text: str) -> Key | None:
        found = pattern.fullmatch(text)
        if found is None or not 1 <= int(found[2]) <= most:
            return None
        return ("", int(found[1]), int(found[2]))

    return read


def _counted(text: str) -> Key | None:
    found = _COUNTED.fullmatch(text)
    # Two numbers could be a day and a month in either order.
    return None if found is None else ((found[1], found[3]), float(found[2]))


_WAYS: dict[str, Callable[[str], Key | None]] = {
    "number": _read_number,
    "date": _date,
    "month": _part_of_year(_MONTH, 12),
    "quarter": _part_of_year(_QUARTER, 4),
    "week": _part_of_year(_WEEK, 53),
    "text with one number": _counted,
}
