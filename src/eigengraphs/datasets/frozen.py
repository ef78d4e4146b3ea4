"""Arrays that come with a data set: read-only, as the data set itself is."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Names", "read_only"]

Names: TypeAlias = NDArray[np.str_]
Array = TypeVar("Array", bound=NDArray[Any])


def read_only(array: Array) -> Array:
    """Return the array itself, locked against changes."""
    array.setflags(write=False)
    return array
