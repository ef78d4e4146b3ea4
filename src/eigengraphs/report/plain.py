"""Records, arrays and tuples as what JSON knows: whole, or as text in pieces."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["pieces", "plain"]

_MANY = 1000  # items of a list that are written at a time


def pieces(value: Any) -> Iterator[str]:
    """Yield the text of a value, of long lists and arrays some hundred items at a time."""
    listed = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    if listed and len(value) > _MANY:
        for lo in range(0, len(value), _MANY):
            yield ("[" if lo == 0 else ", ") + _text(value[lo : lo + _MANY])[1:-1]
        yield "]"
    elif isinstance(value, tuple):
        yield "["
        for place, item in enumerate(value):
            yield ", " if place else ""
            yield from pieces(item)
        yield "]"
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for place, field in enumerate(dataclasses.fields(value)):
            yield f'{", " if place else "{"}"{field.name}": '
            yield from pieces(getattr(value, field.name))
        yield "}"
    else:
        yield _text(value)


def _text(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Turn records, arrays and tuples into what JSON knows."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, np.ndarray):
        if np.isfinite(value).all():
            return value.tolist()
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
