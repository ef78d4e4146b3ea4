"""What a label is: a quantity, or classes."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["are_codes", "are_quantity"]

_FEW = 6  # whole numbers with no more values than this, each often, are codes: site 1, 2, 3


def are_codes(numbers: Iterable[float]) -> bool:
    """Tell whether numbers stand for classes: few whole ones, each four times on average."""
    known = list(numbers)
    distinct = set(known)
    whole = all(float(number).is_integer() for number in distinct)
    return whole and len(distinct) <= _FEW and len(known) >= 4 * len(distinct)


def are_quantity(numbers: Iterable[float]) -> bool:
    """Tell whether numbers are a quantity: no codes, and more than two values (0 and 1)."""
    known = list(numbers)
    return len(set(known)) > 2 and not are_codes(known)
