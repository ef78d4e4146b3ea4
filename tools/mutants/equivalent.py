"""Mutants that cannot change a result, each with the reason; they are not among those tried.

Only where this can be proved from the code: a wrong that no test happens to notice is a survivor.
"""

from __future__ import annotations

from typing import NamedTuple

from tools.mutants.operators import Mutant

__all__ = ["EQUIVALENT", "Equivalent", "reason_of"]


class Equivalent(NamedTuple):
    """One statement of a file, what becomes of it, and why that is the same."""

    file: str
    was: str
    becomes: str
    reason: str


EQUIVALENT = [
    Equivalent(
        "solvers/components.py",
        "return (H * signs, G * signs)",
        "return (H * signs, G / signs)",
        "signs are 1 or -1: dividing by them is multiplying by them, exactly",
    ),
]
_REASONS = {(one.file, one.was, one.becomes): one.reason for one in EQUIVALENT}


def reason_of(file: str, mutant: Mutant) -> str | None:
    """Return why a mutant cannot change a result; None if it can."""
    return _REASONS.get((file, mutant.was, mutant.becomes))
