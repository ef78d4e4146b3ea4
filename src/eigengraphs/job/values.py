"""Columns with one value a graph, kept as arrays: there may be a million graphs."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Values"]


class Values(Sequence[Any]):
    """Numbers and texts as Python has them, made when they are asked for; None where there is none.

    Parameters
    ----------
    values : (m,)
        Numbers, or texts; nan, None and empty texts are missing.
    whole
        Whether real numbers that are all whole are given as such.
    """

    __slots__ = ("_codes", "_known", "_whole")

    def __init__(self, values: ArrayLike, *, whole: bool = False) -> None:
        array = np.asarray(values)
        self._codes: NDArray[np.intp] | None = None  # places in ``_known``, which texts share
        self._whole = False
        if array.dtype.kind == "f":
            known = array[~np.isnan(array)]
            self._whole = whole and bool((np.isfinite(known) & (known == np.round(known))).all())
        elif array.dtype.kind not in "iub":
            places: dict[Any, int] = {}
            codes = [places.setdefault(value, len(places)) for value in array.tolist()]
            self._codes = np.array(codes, dtype=np.intp)
            array = np.empty(len(places), dtype=object)
            array[:] = [_text(value) for value in places]
        self._known = array

    def __len__(self) -> int:
        return len(self._known if self._codes is None else self._codes)

    @overload
    def __getitem__(self, which: int) -> Any: ...
    @overload
    def __getitem__(self, which: slice) -> list[Any]: ...
    def __getitem__(self, which: int | slice) -> Any:
        if isinstance(which, slice):
            return [self[i] for i in range(*which.indices(len(self)))]
        if self._codes is not None:
            return self._known[self._codes[which]]
        value = self._known[which].item()
        if isinstance(value, float) and value != value:  # nan
            return None
        return int(value) if self._whole else value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Values({self[:3]!r}, {len(self)} in all)"


def _text(value: Any) -> Any:
    """Return a text, None for none; what else a table of objects may hold stays as it is."""
    missing = value is None or value == "" or value != value
    return None if missing else value
