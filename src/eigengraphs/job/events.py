"""What a running job says: where it is, how far, and what it found on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Event", "Listener", "silent"]


@dataclass(frozen=True)
class Event:
    """One step of a job."""

    stage: Literal["read", "check", "choose", "fit", "predict", "halves", "draw", "write"]
    text: str
    done: int | None = None
    total: int | None = None


Listener: TypeAlias = Callable[[Event], None]


def silent(event: Event) -> None:
    """Take no notice."""
