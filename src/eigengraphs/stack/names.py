"""Names of graphs and vertices: in input, in messages, and for selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from eigengraphs.errors import InputError, SelectionError
from eigengraphs.system.labels import not_utf8


def check_names(names: Iterable[Any] | None, size: int, what: str) -> tuple[str, ...] | None:
    """Return names as a tuple of unique strings of the right number, or None."""
    if names is None:
        return None
    texts = read_names(names, what)
    if len(texts) != size:
        raise InputError(f"{what} must hold {size} names, got {len(texts)}")
    if len(set(texts)) < size:
        repeated = next(name for place, name in enumerate(texts) if name in texts[:place])
        raise InputError(f"{what} must be unique; {repeated!r} occurs more than once")
    return texts


def read_names(names: Any, what: str) -> tuple[str, ...]:
    """Return names as a tuple of strings."""
    if isinstance(names, str):
        raise InputError(f"{what} must be a sequence of names, got one string {names!r}")
    if not isinstance(names, Iterable):
        raise InputError(f"{what} must be a sequence of names, got {names!r}")
    texts = tuple(str(name) for name in names)
    wrong = not_utf8(texts)
    if wrong is not None:
        raise InputError(
            f"{what} must hold text that UTF-8 can encode; {wrong[:60]!r} has half a character "
            "(a surrogate): rename it"
        )
    return texts


def label(index: int, name: str | None) -> str:
    """Return a graph's name in messages: its index, and its name if it has one."""
    return f"graphs[{index}]" if name is None else f"graphs[{index}] ({name!r})"


def some_of(names: list[str], most: int = 5) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def spelling(some: Iterable[str], others: Iterable[str]) -> str:
    """Return "; ..." on two names that differ in Unicode form or in case alone; '' for none."""
    found: dict[str, list[str]] = {}
    for name in others:
        found.setdefault(_folded(name), []).append(name)
    for name in some:
        for other in found.get(_folded(name), ()):
            if name != other:
                form = normalize("NFKC", name) == normalize("NFKC", other)
                case = name.casefold() == other.casefold()
                what = "Unicode form" if form else "case" if case else "case and Unicode form"
                return f"; {name[:60]!r} and {other[:60]!r} differ in {what} alone"
    return ""


def unlike_names(named: Sequence[tuple[str, ...]], where: Sequence[object]) -> str:
    """Say which graph has other vertices than most; not all have the same."""
    sets = [frozenset(own) for own in named]
    usual, count = Counter(sets).most_common(1)[0]
    odd = [i for i, own in enumerate(sets) if own != usual]
    i, like = odd[0], sets.index(usual)
    lacks = [name for name in named[like] if name not in sets[i]]
    has = [name for name in named[i] if name not in usual]
    parts = [f"it lacks {some_of(lacks)}"] * bool(lacks)
    parts += [f"only it has {some_of(has)}"] * bool(has)
    more = f" ({len(odd) - 1} more differ, too)" if len(odd) > 1 else ""
    return (
        f"{where[i]} has {len(sets[i])} vertices whose names differ from those of {count} of "
        f"{len(sets)} graphs, such as {where[like]}, which have {len(usual)}: "
        f"{'; '.join(parts)}{spelling(lacks, has)}{more}"
    )


def unlike_sizes(sizes: Sequence[int], where: Sequence[object]) -> str:
    """Say which graphs have another number of vertices than most; '' if all have the same."""
    usual, count = Counter(sizes).most_common(1)[0]
    odd = [f"{who} has {n}" for who, n in zip(where, sizes, strict=True) if n != usual]
    if not odd:
        return ""
    more = f" and {len(odd) - 3} more" if len(odd) > 3 else ""
    return f"{count} of {len(sizes)} graphs have {usual} vertices, but {', '.join(odd[:3])}{more}"


def shifted(names: Iterable[str], known: Iterable[str]) -> str:
    """Return "; ..." on numbers from 0 where those known are from 1, or so back; '' for others."""
    own, target = set(names), set(known)
    if ("0" in own) == ("0" in target):
        return ""
    step, words = (1, "0 instead of 1: add 1 to each") if "0" in own else (
        -1, "1 instead of 0: subtract 1 from each")  # fmt: skip
    numbers = all(name.isdecimal() and len(name) < 19 for name in own)
    if not numbers or not {str(int(name) + step) for name in own} <= target:
        return ""
    return f"; the numbers seem to begin at {words}"


def _folded(name: str) -> str:
    return normalize("NFKC", normalize("NFKC", name).casefold())


def one_place(which: int | np.integer[Any] | str, names: Sequence[str], noun: str) -> int:
    """Return the index, from 0, of one thing given by index or name."""
    if isinstance(which, str):
        if which not in names:
            raise SelectionError(f"no {noun} is called {which!r}")
        return list(names).index(which)
    if isinstance(which, bool) or not isinstance(which, int | np.integer):
        raise SelectionError(f"one {noun} is chosen by index or name, got {which!r}")
    return int(places([which], names, noun)[0])


def places(which: Any, names: Sequence[str], noun: str) -> NDArray[np.intp]:
    """Return the indices of several things, (k,), from 0.

    Parameters
    ----------
    which
        A slice, a mask, or a sequence of indices (also from the end) or of names.
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
                    f"a mask must have one entry per {noun}, {size}; got {len(chosen)}"
                )
            chosen = np.flatnonzero(chosen)
        elif chosen.size and chosen.dtype.kind not in "iu":
            raise _unusable(noun, f"numbers of type {chosen.dtype}")
        chosen = chosen.astype(np.intp)  # int8 could not hold the size
        outside = chosen[(chosen < -size) | (chosen >= size)]
        if outside.size:
            raise SelectionError(f"{noun} {outside[0]} does not exist; there are {size}")
    if chosen.size == 0:
        raise SelectionError(f"the selection is empty: it holds no {noun}")
    return (chosen % size).astype(np.intp)


def _iterable(which: Any, noun: str) -> Any:
    if isinstance(which, str) or not hasattr(which, "__iter__"):
        raise _unusable(noun, repr(which))
    return which


def _unusable(noun: str, got: str) -> SelectionError:
    return SelectionError(
        f"each {noun} is chosen by index or name, several by a slice, a mask, or a list of indices "
        f"or names; got {got}"
    )
