"""Which graphs, or which vertices: by name, place, mask or slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import SelectionError
from eigengraphs.graphs.coerce import some_of

__all__ = ["one_place", "places"]


def one_place(which: int | np.integer[Any] | str, names: Sequence[str], noun: str) -> int:
    """Return the place, counted from 0, of one thing given by place or name."""
    if isinstance(which, str):
        if which not in names:
            raise SelectionError(f"no {noun} is called {which!r}")
        return list(names).index(which)
    if isinstance(which, bool) or not isinstance(which, int | np.integer):
        raise SelectionError(f"one {noun} is chosen by place or name, got {which!r}")
    return int(places([which], names, noun)[0])


def places(which: Any, names: Sequence[str], noun: str) -> NDArray[np.intp]:
    """Return the places of several things, (k,), counted from 0.

    Parameters
    ----------
    which
        A slice, a mask, or a sequence of places (also from the end) or of names.
    names
        The names of all things.
    noun
        "graph" or "vertex", for messages.
    """
    size = len(names)
    if isinstance(which, slice):
        try:
            chosen = np.arange(size)[which]
        except TypeError:
            raise _unusable(noun, repr(which)) from None
    else:
        chosen = np.asarray(which if hasattr(which, "__array__") else list(_iterable(which, noun)))
        if chosen.ndim != 1:
            raise _unusable(noun, f"an array of shape {chosen.shape}")
        if chosen.dtype.kind in "UTO":
            place = {name: s for s, name in enumerate(names)}
            unknown = [str(name) for name in chosen if str(name) not in place]
            if unknown:
                raise SelectionError(f"no {noun} is called {some_of(unknown)}")
            chosen = np.array([place[str(name)] for name in chosen])
        elif chosen.dtype == bool:
            if len(chosen) != size:
                raise SelectionError(
                    f"a mask must have one entry a {noun}, {size}; got {len(chosen)}"
                )
            chosen = np.flatnonzero(chosen)
        elif chosen.size and chosen.dtype.kind not in "iu":
            raise _unusable(noun, f"numbers of type {chosen.dtype}")
        chosen = chosen.astype(np.intp)  # int8 could not hold the size
        outside = chosen[(chosen < -size) | (chosen >= size)]
        if outside.size:
            raise SelectionError(f"{noun} {outside[0]} does not exist; there are {size}")
    if chosen.size == 0:
        raise SelectionError(f"the selection holds no {noun}")
    return (chosen % size).astype(np.intp)


def _iterable(which: Any, noun: str) -> Any:
    if isinstance(which, str) or not hasattr(which, "__iter__"):
        raise _unusable(noun, repr(which))
    return which


def _unusable(noun: str, got: str) -> SelectionError:
    return SelectionError(
        f"each {noun} is chosen by place or name, several by a slice, a mask, or a list of places "
        f"or names; got {got}"
    )
