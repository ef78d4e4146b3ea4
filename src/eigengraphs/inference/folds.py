"""Which graphs are held out, and from which others their labels are learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from eigengraphs.errors import InputError
from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.targets import shown

__all__ = ["Folds", "Split", "make_folds"]

Split = tuple[NDArray[np.intp], NDArray[np.intp]]  # places of graphs to learn from, and held out


@dataclass(frozen=True)
class Folds:
    """Splits of graphs, made of labels and groups alone: no graph has a part in them."""

    splits: tuple[Split, ...]
    units: NDArray[np.intp]  # (m,) graphs of one unit (a person) count together in intervals
    words: str  # how graphs were held out, a clause and further sentences
    apart: bool = False  # whether folds learn from different graphs, and hold out the same

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.units.max()) + 1

    @property
    def ratio(self) -> float:
        """Mean number of graphs held out for one that is learnt from."""
        train, test = (sum(len(split[side]) for split in self.splits) for side in (0, 1))
        return test / train


def make_folds(
    y: NDArray[Any],
    *,
    cv: int | str = 5,
    repeats: int = 1,
    groups: Sequence[Any] | None = None,
    folds: Sequence[Any] | None = None,
    learn_from: str = "others",
    seed: int = 0,
) -> Folds:
    """Split graphs.

    Parameters
    ----------
    y : (m,)
        Classes (texts), which every fold has in about the same shares, or numbers.
    cv
        Number of folds, fewer if a class has fewer groups; or "loo", each graph (or group) alone.
    repeats
        How often graphs are shared out anew.
    groups : (m,), optional
        Graphs of one group are never on both sides. Where each class is one group (people are told
        apart) that cannot be, and groups count for intervals alone.
    folds : (m,), optional
        The fold of each graph, instead of ``cv`` and ``repeats``.
    learn_from
        "others": a fold is held out, and all others are learnt from. "one": one fold is learnt
        from, and all others are held out.
    seed
        Of the shares.

    Raises
    ------
    InputError
        If nothing could be learnt.
    """
    if learn_from not in ("others", "one"):
        raise InputError(f"learn_from must be 'others' or 'one', got {learn_from!r}")
    m = len(y)
    units = _places(np.arange(m) if groups is None else groups)
    is_quantity = y.dtype.kind == "f"
    apart = units
    alone = not is_quantity and _one_to_one(y, units)
    if alone:  # the label is the group
        apart = np.arange(m)
    if folds is None:
        splits, words = _shared_out(y, apart, is_quantity, cv, repeats, seed)
    else:
        splits, words = _by_column(folds, None if alone or groups is None else units, groups)
    if learn_from == "one":
        splits = [(test, train) for train, test in splits]
        words += ", learning from one fold and holding out all others"
    for train, test in splits:
        _check(y, train, test, is_quantity)
    if groups is not None and len(np.unique(units)) < m:
        words += (
            ". Each class is one participant, whose graphs are shared out among the folds"
            if alone
            else ". Graphs of one participant stay together"
        )
    return Folds(tuple(splits), units, words, apart=learn_from == "one")


def _shared_out(
    y: NDArray[Any],
    apart: NDArray[np.intp],
    is_quantity: bool,
    cv: int | str,
    repeats: int,
    seed: int,
) -> tuple[list[Split], str]:
    check_count("repeats", repeats)
    if cv == "loo":
        if repeats > 1:
            raise InputError("cv='loo' is the same every time; use repeats=1")
        found = [(np.flatnonzero(apart != u), np.flatnonzero(apart == u)) for u in np.unique(apart)]
        if len(found) < 2:
            raise InputError("there are too few participants")
        one = "graph" if len(found) == len(y) else "participant"
        return found, f"leave-one-{one}-out cross-validation"
    if isinstance(cv, str):
        raise InputError(f"cv must be a whole number >= 2 or 'loo', got {cv!r}")
    check_count("cv", cv)
    if cv < 2:
        raise InputError(f"cv must be at least 2, got {cv}")
    if is_quantity:
        k = min(cv, len(np.unique(apart)))
        if k < 2:
            raise InputError("there are too few participants")
    else:
        classes = np.unique(y)
        per_class = [len(np.unique(apart[y == name])) for name in classes]
        k = min(cv, *per_class)
        if k < 2:
            rare = str(classes[int(np.argmin(per_class))])
            raise InputError(
                f"there is but one graph or participant with the value {shown(rare)}, so that "
                f"it cannot be both learnt and held out{_meant(rare, classes)}"
            )
    splits: list[Split] = []
    for repeat in range(repeats):
        splitter: Any = (
            GroupKFold(k, shuffle=True, random_state=seed + repeat)
            if is_quantity
            else StratifiedGroupKFold(k, shuffle=True, random_state=seed + repeat)
        )
        splits += splitter.split(np.zeros(len(y)), y, apart)
    often = "" if repeats == 1 else f", {repeats} times"
    return splits, f"{k}-fold cross-validation{often}"


def _by_column(
    folds: Sequence[Any], units: NDArray[np.intp] | None, groups: Sequence[Any] | None
) -> tuple[list[Split], str]:
    unknown = [i for i, value in enumerate(folds) if value is None]
    if unknown:
        raise InputError(
            f"folds must say where every graph belongs; {len(unknown)} of {len(folds)} have no "
            "value: complete the column, or leave the graphs out"
        )
    place = _places(folds)
    count = int(place.max()) + 1
    if count < 2:
        raise InputError(f"folds has one value alone, {shown(folds[0])}; two or more are needed")
    if units is not None and groups is not None:
        for u in np.unique(units):
            mine = np.flatnonzero(units == u)
            if len(np.unique(place[mine])) > 1:
                raise InputError(
                    f"graphs of the group {shown(groups[mine[0]])} are in several folds; give "
                    "folds that keep groups together, or leave one of the two out"
                )
    splits = [(np.flatnonzero(place != f), np.flatnonzero(place == f)) for f in range(count)]
    return splits, f"{count} folds by a column"


def _places(values: Any) -> NDArray[np.intp]:
    """Return numbers 0, 1, ... for values, in the order in which they first appear."""
    number: dict[Any, int] = {}
    return np.array(
        [number.setdefault(value, len(number)) for value in list(values)], dtype=np.intp
    )


def _one_to_one(y: NDArray[Any], units: NDArray[np.intp]) -> bool:
    """Tell whether each class is one group, and each group one class."""
    pairs = set(zip(y.tolist(), units.tolist(), strict=True))
    return len(pairs) == len(np.unique(y)) == len(np.unique(units))


def _check(
    y: NDArray[Any], train: NDArray[np.intp], test: NDArray[np.intp], is_quantity: bool
) -> None:
    if len(train) < 2:
        raise InputError("a fold leaves fewer than two graphs to learn from; use fewer folds")
    if is_quantity:
        return
    left = Counter(y[train].tolist())
    if len(left) < 2:
        raise InputError(
            f"where {len(test)} graphs are held out, all others have the value "
            f"{shown(next(iter(left)))}, and nothing can be learnt; choose other folds"
        )


def _meant(rare: str, classes: NDArray[Any]) -> str:
    """Return a question, where a value may be another with a mistake in it."""
    others = {str(name).casefold(): str(name) for name in classes if str(name) != rare}
    close = get_close_matches(rare.casefold(), list(others), 1, cutoff=0.8)
    return f"; is {shown(others[close[0]])} meant?" if close else ""
