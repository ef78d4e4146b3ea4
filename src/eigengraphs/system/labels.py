"""Labels: quantities or classes, characters that names may not hold, names and counts in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

#: Texts, in small letters, which say that a value is not known, whatever the others are.
UNKNOWN = frozenset({"", "n/a", "na", "nan", "null"})

_HALF = re.compile("[\ud800-\udfff]")  # as Python reads bytes that are not UTF-8
_FEW = 6  # whole numbers with no more values than this, each often, are codes: site 1, 2, 3


def count_of(number: int, one: str) -> str:
    """Return a number of things in words: "1 graph", "2 vertices"."""
    many = {"vertex": "vertices", "pass": "passes"}.get(one, f"{one}s")
    return f"{number} {one if number == 1 else many}"


def component_name(k: int) -> str:
    """Return the name of component k, from 0, in text: "component 1"."""
    return f"component {k + 1}"


def component_column(k: int) -> str:
    """Return the name of component k, from 0, in tables and JSON: "je1"."""
    return f"je{k + 1}"


def listed(names: Sequence[str]) -> str:
    """Return names in words: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def shortened(name: str, most: int = 40) -> str:
    """Cut the middle out of a long name: names of regions often differ only at their end."""
    if len(name) <= most:
        return name
    tail = (most - 1) // 2
    return f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"


def size_in_words(size: float) -> str:
    """Return a number of bytes in words: "1.5 MB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def are_codes(numbers: Iterable[float]) -> bool:
    """Tell whether numbers are codes of classes: few whole ones, each four times on average."""
    known = list(numbers)
    distinct = set(known)
    whole = all(float(number).is_integer() for number in distinct)
    return whole and len(distinct) <= _FEW and len(known) >= 4 * len(distinct)


def are_quantity(numbers: Iterable[float]) -> bool:
    """Tell whether numbers are a quantity: not codes, and more than two values (0 and 1)."""
    known = list(numbers)
    return len(set(known)) > 2 and not are_codes(known)


def without_none(values: list[Any]) -> list[Any]:
    """Put None for the text "none" where all other values are numbers.

    Among words it is one of them: medication is "none" or "ssri".
    """
    others = [value for value in values if value is not None and not _says_none(value)]
    if not others or not all(_is_number(value) for value in others):
        return values
    return [None if _says_none(value) else value for value in values]


def not_utf8(texts: Iterable[str]) -> str | None:
    """Return the first text with half a character (a lone surrogate), which no file can hold."""
    return next((text for text in texts if _HALF.search(text)), None)


def _says_none(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() == "none"


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def measure_words(name: str) -> str:
    """Return a measure of predictions in words, by its name in tables."""
    return name.replace("roc_auc", "ROC AUC").replace("brier", "Brier").replace("_", " ")
