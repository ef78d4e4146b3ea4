"""Which graphs are held out, and from which others their labels are learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, StratifiedGroupKFold

from eigengraphs.errors import InputError
from eigengraphs.fitting.settings import check_count
from eigengraphs.inference.studies.designs import Indices, check_choice
from eigengraphs.inference.studies.designs import words as listed
from eigengraphs.system.labels import shortened

Split: TypeAlias = tuple[Indices, Indices]  # graphs to learn from, and held out


@dataclass(frozen=True)
class Folds:
    """Splits of graphs, made of labels and groups alone: no graph has a part in them."""

    splits: tuple[Split, ...]
    units: Indices  # (m,) graphs of one unit (a person) count together in intervals
    words: str  # how graphs were held out, a clause and further sentences
    apart: bool = False  # whether folds learn from different graphs, and hold out the same
    names: tuple[str, ...] = ()  # of the splits
    notes: tuple[str, ...] = ()  # what differs from what was asked, or cannot be learned

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.units.max()) + 1

    @property
    def ratio(self) -> float:
        """Mean number of graphs held out for one that is learned from."""
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
        How often graphs are split anew.
    groups : (m,), optional
        Graphs of one group are never on both sides. Where each class is one group (people are told
        apart) that cannot be, and groups count for intervals alone.
    folds : (m,), optional
        The fold of each graph, instead of ``cv`` and ``repeats``; None for graphs that are never
        learned from, with ``learn_from="one"``.
    learn_from
        "others": a fold is held out, and all others are learned from. "one": one fold is learned
        from, and all others are held out.
    seed
        Of the splits.

    Raises
    ------
    InputError
        If nothing could be learned.
    """
    check_choice("learn_from", learn_from, ("others", "one"))
    m, is_quantity = len(y), y.dtype.kind == "f"
    of = np.arange(m) if groups is None else numbered(groups)
    alone = _each_class_is_a_group(y, of)
    if folds is None:
        splits, words = _cross_validation(y, np.arange(m) if alone else of, cv, repeats, seed)
        names = tuple(str(i + 1) for i in range(len(splits)))
    else:
        splits, words = _given_folds(folds, None if alone else groups, learn_from == "one")
        names = tuple(str(folds[test[0]]) for _, test in splits)
    notes = []
    if folds is None and cv != "loo" and len(splits) < int(cv) * repeats:
        unit = "graphs" if alone or of.max() + 1 == m else "participants"
        rarest = "" if is_quantity else " of the rarest class"
        notes.append(
            f"{len(splits) // repeats} folds instead of {cv}, the number of {unit}{rarest}"
        )
    if learn_from == "one":
        splits = [(test, train) for train, test in splits]
        words += ", learning from one fold and holding out all others"
    for train, test in splits:
        if len(train) < 2:
            raise InputError("a fold leaves fewer than two graphs to learn from; use fewer folds")
        if not is_quantity and len(np.unique(y[train])) < 2:
            raise InputError(
                f"where {len(test)} graphs are held out, all others have the value "
                f"{shown(y[train][0])}, and nothing can be learned; choose other folds"
            )
    if of.max() + 1 < m:
        words += (
            ". Each class is one participant, whose graphs are shared out among the folds"
            if alone
            else ". Graphs of one participant stay together"
        )
    if not is_quantity:
        notes += _notes_on_classes(y, splits, names)
    return Folds(tuple(splits), of, words, learn_from == "one", names, tuple(notes))


def permuted(
    y: NDArray[Any],
    groups: Sequence[Any] | None,
    folds: Sequence[Any] | None,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Return labels in a random order that leaves folds and groups possible, (m,).

    Labels change places within folds that are given. Where groups have one label each, groups
    exchange them; where labels vary within groups, graphs of a group do; where each class is one
    group, all graphs do.
    """
    m, y = len(y), y.copy()
    strata = np.zeros(m, dtype=np.intp) if folds is None else numbered(folds)
    of = np.arange(m) if groups is None else numbered(groups)
    if _each_class_is_a_group(y, of):
        of = np.arange(m)
    first = np.unique(of, return_index=True)[1]  # a graph of each group
    if (y == y[first][of]).all():
        order = np.arange(len(first))
        for stratum in np.unique(strata):
            inside = np.flatnonzero(strata[first] == stratum)
            order[inside] = rng.permutation(inside)
        return np.asarray(y[first][order][of])
    for stratum, group in sorted(set(zip(strata.tolist(), of.tolist(), strict=True))):
        inside = np.flatnonzero((strata == stratum) & (of == group))
        y[inside] = y[rng.permutation(inside)]
    return y


def _each_class_is_a_group(y: NDArray[Any], of: Indices) -> bool:
    """Whether each class is one group, and each group one class."""
    pairs = set(zip(y.tolist(), of.tolist(), strict=True))
    return y.dtype.kind != "f" and len(pairs) == len(np.unique(y)) == len(np.unique(of))


def _notes_on_classes(
    y: NDArray[Any], splits: Sequence[Split], names: Sequence[str]
) -> Iterator[str]:
    """Yield which folds hold one class, and which classes are held out as a whole."""
    one = [name for name, (_, test) in zip(names, splits, strict=True)
           if len(test) > 1 and len(np.unique(y[test])) == 1]  # fmt: skip
    if one:
        yield f"{_folds(one)} one class only, and cannot have all measures"
    whole = {shown(c) for train, test in splits for c in set(y[test]) - set(y[train])}
    if whole:
        which = listed(sorted(whole))
        yield f"all graphs of {which} are held out together, so that none of them can be right"


def _folds(names: Sequence[str]) -> str:
    return f"fold {names[0]} holds" if len(names) == 1 else f"folds {listed(names)} hold"


def _cross_validation(
    y: NDArray[Any], of: Indices, cv: int | str, repeats: int, seed: int
) -> tuple[list[Split], str]:
    n_units = len(np.unique(of))
    check_count("repeats", repeats)
    if cv == "loo" and repeats > 1:
        raise InputError("cv='loo' is the same every time; use repeats=1")
    if cv != "loo" and (not isinstance(cv, int | np.integer) or cv < 2):
        raise InputError(f"cv must be a whole number >= 2 or 'loo', got {cv!r}")
    if n_units < 2:
        raise InputError("all graphs are of one participant, so that none can be held out")
    if isinstance(cv, str):
        one = "graph" if n_units == len(y) else "participant"
        return _one_by_one(of), f"leave-one-{one}-out cross-validation"
    kind, k = GroupKFold, min(cv, n_units)
    if y.dtype.kind != "f":
        kind, classes = StratifiedGroupKFold, np.unique(y)
        per_class = [len(np.unique(of[y == name])) for name in classes]
        k = min(cv, *per_class)
        if k < 2:
            rare = str(classes[int(np.argmin(per_class))])
            raise InputError(
                f"only one graph or participant has the value {shown(rare)}, so that it cannot be "
                f"both learned and held out{_meant(rare, classes)}"
            )
    splits = []
    for repeat in range(repeats):
        splitter: Any = kind(k, shuffle=True, random_state=seed + repeat)
        splits += splitter.split(np.zeros(len(y)), y, of)
    return splits, f"{k}-fold cross-validation{f', {repeats} times' if repeats > 1 else ''}"


def _given_folds(
    folds: Sequence[Any], groups: Sequence[Any] | None, some: bool
) -> tuple[list[Split], str]:
    unknown = sum(value is None for value in folds)
    if unknown and not some:
        raise InputError(
            f"folds must have a value for every graph; {unknown} of {len(folds)} have none: "
            "complete the column, or leave the graphs out"
        )
    place = numbered(folds)
    if not place.any():
        raise InputError(f"folds has only one value, {shown(folds[0])}; two or more are needed")
    first: dict[Any, int] = {}
    for group, fold in zip(place if groups is None else groups, place.tolist(), strict=True):
        if first.setdefault(group, fold) != fold:
            raise InputError(
                f"graphs of the group {shown(group)} are in several folds; give folds that keep "
                "groups together, or leave one of the two out"
            )
    splits = [(train, test) for train, test in _one_by_one(place) if folds[test[0]] is not None]
    return splits, f"{len(splits)} folds by a column"


def _one_by_one(of: Indices) -> list[Split]:
    return list(LeaveOneGroupOut().split(of, groups=of))


def numbered(values: Sequence[Any]) -> Indices:
    """Return numbers 0, 1, ... for values, in the order in which they first appear."""
    number: dict[Any, int] = {}
    return np.array([number.setdefault(value, len(number)) for value in values], dtype=np.intp)


def _meant(rare: str, classes: NDArray[Any]) -> str:
    """Return a question, where a value may be another with a mistake in it."""
    others = {str(name).casefold(): str(name) for name in classes if str(name) != rare}
    close = get_close_matches(rare.casefold(), list(others), 1, cutoff=0.8)
    return f"; is {shown(others[close[0]])} meant?" if close else ""


def shown(value: Any) -> str:
    """Return a value for a message, cut in the middle if it is long."""
    return repr(shortened(str(value)))
