"""Time several methods side by side on a machine that others use too."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = [
    "Ratio",
    "Run",
    "best_seconds",
    "interleave",
    "median_seconds",
    "ratio",
    "timed",
]

T = TypeVar("T")

_LONG = 5  # seconds, from which whoever waits is told
_IN_A_ROW = 3  # runs of a method in a round, of which the one in the middle counts
_ONCE = 10  # seconds, from which a run is long enough to count alone


@dataclass(frozen=True)
class Run(Generic[T]):
    """One run of one method."""

    seconds: float
    answer: T


@dataclass(frozen=True)
class Ratio:
    """Time of a method over the time of another, round by round."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.low:.3g} to {self.high:.3g})"


def timed(method: Callable[[], T]) -> Run[T]:
    """Run a method and take its wall-clock time."""
    start = time.perf_counter()
    answer = method()
    return Run(time.perf_counter() - start, answer)


def interleave(
    methods: Mapping[str, Callable[[], Run[T]]],
    repetitions: int,
    *,
    warm_up: bool = True,
    at_most: Mapping[str, int] | None = None,
    in_a_row: int = _IN_A_ROW,
) -> dict[str, list[Run[T]]]:
    """Run all methods in each of several rounds.

    The methods take turns at being first, so that a busy spell of the machine falls on all of
    them, and so does whatever the first of a round suffers. In a round each
    runs some times in a row, and the run in the middle counts: a short one hits or misses a busy
    moment, and the first after a pause finds that the system took its memory back.

    Parameters
    ----------
    methods
        The methods by name.
    repetitions
        Number of rounds.
    warm_up
        Begin with one round that does not count.
    at_most
        Methods that take part in the first so many rounds alone, because one run takes minutes.
    in_a_row
        Runs of a method in one round.
    """
    names, at_most = list(methods), at_most or {}
    runs: dict[str, list[Run[T]]] = {name: [] for name in names}
    for r in range(-1 if warm_up else 0, repetitions):
        shift = max(r, 0) % len(names)
        for name in names[shift:] + names[:shift]:
            if r >= at_most.get(name, repetitions):
                continue
            run = _in_the_middle(methods[name], in_a_row)
            if run.seconds > _LONG:
                print(f"  round {r + 1}: {name}: {run.seconds:.0f} s", file=sys.stderr, flush=True)
            if r >= 0:
                runs[name].append(run)
    return runs


def _in_the_middle(method: Callable[[], Run[T]], in_a_row: int) -> Run[T]:
    """Return the run of median time of some, or the first if that is long."""
    runs = [method()]
    while runs[0].seconds < _ONCE and len(runs) < in_a_row:
        runs.append(method())
    return sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]


def median_seconds(runs: Sequence[Run[T]]) -> float:
    """Return the median time of the runs."""
    return statistics.median(run.seconds for run in runs)


def best_seconds(runs: Sequence[Run[T]]) -> float:
    """Return the shortest time of the runs."""
    return min(run.seconds for run in runs)


def ratio(runs: Sequence[Run[T]], reference: Sequence[Run[T]]) -> Ratio:
    """Compare runs with the reference's runs of the same rounds; both began with the first."""
    values = [a.seconds / b.seconds for a, b in zip(runs, reference, strict=False)]
    return Ratio(statistics.median(values), min(values), max(values))
