"""Keys of a recipe, each read once; what is wrong is named with its file and key."""

from __future__ import annotations

import difflib
import math
import re
import reprlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from eigengraphs.errors import InputError, ReadError
from eigengraphs.models.validation import Floats, Ints
from eigengraphs.system.limits import read_json, read_regular

__all__ = ["Fields", "load_recipe"]

_MOST_DOTS = 2_000  # besides those of numbers
_MOST_VERTICES = 10_000_000  # a table of positions then takes 80 MB a component


def load_recipe(path: Path) -> dict[str, Any]:
    """Read a TOML or JSON file that holds a table."""
    if path.suffix.lower() not in (".toml", ".json"):
        raise ReadError(f"{path}: a recipe must end in .toml or .json, got {path.suffix!r}; rename")
    try:
        text = read_regular(path).decode("utf-8-sig")
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}; is the path right?") from None
    except UnicodeDecodeError as error:
        raise ReadError(f"{path} is no UTF-8 text ({error.reason}); save it as UTF-8") from None
    is_toml = path.suffix.lower() == ".toml"
    # tomllib keeps every beginning of a.b.c...: the square of its length.
    if is_toml and re.sub(r"[0-9]\.[0-9]", "", text).count(".") > _MOST_DOTS:
        raise ReadError(f"{path} is no recipe: it has keys within keys without end; mend them")
    try:
        found: Any = tomllib.loads(text) if is_toml else read_json(text)
    except (ValueError, RecursionError) as error:  # of both parsers; they say line and column
        kind = "TOML" if is_toml else "JSON"
        raise ReadError(f"{path} is not {kind}: {error}; mend that place") from None
    if not isinstance(found, dict):
        raise ReadError(
            f"{path}: expected keys and values at the top, got {type(found).__name__}; put the "
            'recipe into { "model": ..., ... }'
        )
    return found


class Fields:
    """A table of a recipe.

    Parameters
    ----------
    table
        Keys and values.
    where
        The file, and the place in it.
    """

    def __init__(self, table: Mapping[str, Any], where: str) -> None:
        self.table = table
        self.where = where
        self._asked: set[str] = set()

    def __contains__(self, key: str) -> bool:
        self._asked.add(key)
        return key in self.table

    def get(self, key: str, expected: str) -> Any:
        """Return a value that must be there; ``expected`` says in words what it is."""
        if key not in self:
            self.refuse(f"the key {key!r} is missing, expected {expected}; add it")
        return self.table[key]

    def refuse(self, text: str) -> NoReturn:
        """Raise with the place in front."""
        raise InputError(f"{self.where}: {text}")

    def wrong(self, key: str, expected: str, what_to_do: str = "mend it") -> NoReturn:
        """Raise at the value of a key."""
        got = reprlib.repr(self.table[key])
        self.refuse(f"the key {key!r} must be {expected}, got {got}; {what_to_do}")

    def whole(self, key: str, default: int | None = None, minimum: int = 1) -> int:
        """Return a whole number of at least ``minimum``."""
        expected = f"a whole number of at least {minimum}"
        if default is not None and key not in self:
            return default
        value = self.get(key, expected)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
            self.wrong(key, expected)
        return int(value)

    def number(self, key: str, default: float | None = None) -> float:
        """Return a finite number."""
        if default is not None and key not in self:
            return default
        value = self.get(key, "a number")
        if not _is_number(value):
            self.wrong(key, "a finite number")
        return float(value)

    def flag(self, key: str) -> bool:
        """Return true or false; false where the key is absent."""
        if key not in self:
            return False
        value = self.table[key]
        if not isinstance(value, bool):
            self.wrong(key, "true or false")
        return value

    def text(self, key: str) -> str:
        """Return a text that is not empty."""
        value = self.get(key, "a text")
        if not isinstance(value, str) or not value.strip():
            self.wrong(key, "a text in quotes")
        return value

    def array(self, key: str, n_dims: int, expected: str) -> Floats:
        """Return numbers as an array of ``n_dims``."""
        value = self.get(key, expected)
        try:
            raw = np.asarray(value)
            array = raw.astype(np.float64) if raw.dtype.kind in "iuf" else None
        except ValueError:
            array = None
        if array is None or array.ndim != n_dims or not array.size or not np.isfinite(array).all():
            self.wrong(key, expected, "give rows of numbers, all of one length")
        return array

    def sizes(self, key: str) -> Ints:
        """Return numbers of vertices, one a block."""
        array = self.array(key, 1, "a list of whole numbers, the vertices of each block")
        if (array < 1).any() or (array != np.round(array)).any():
            self.wrong(key, "a list of whole numbers of at least 1, the vertices of each block")
        if array.sum() > _MOST_VERTICES:
            self.wrong(key, f"of at most {_MOST_VERTICES} vertices together", "take smaller blocks")
        return array.astype(np.int64)

    def tables(self, key: str) -> Sequence[Mapping[str, Any]]:
        """Return a list of tables; none where the key is absent."""
        if key not in self:
            return []
        value = self.table[key]
        if not isinstance(value, list) or not value or not all(isinstance(x, dict) for x in value):
            self.wrong(key, f"a list of tables, in TOML [[{key}]]")
        return value

    def finish(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self.table:
            if key not in self._asked:
                near = difflib.get_close_matches(key, sorted(self._asked), 1)
                hint = f"is it {near[0]!r}?" if near else "take it out"
                known = ", ".join(sorted(self._asked))
                self.refuse(f"the key {key!r} has no meaning here, expected {known}; {hint}")


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:  # a whole number of hundreds of digits
        return False
