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
    function: str = ""  # where the statement is; anywhere in the file, if not said


_SIGNS = "signs are 1 or -1: dividing by them is multiplying by them, exactly"
_SIGMA = "sigma is 1 or -1: dividing by it is multiplying by it, exactly"
_LAST = "n is the last of the lengths and the one at place 1, of (m, n, n) and of (m n, n) alike"

EQUIVALENT = [
    Equivalent(
        "solvers/solution.py",
        "return (H * signs, G * signs)",
        "return (H * signs, G / signs)",
        _SIGNS,
    ),
    Equivalent(
        "solvers/solution.py",
        "return (H * signs, G * signs)",
        "return (H / signs, G * signs)",
        _SIGNS,
    ),
    Equivalent(
        "solvers/solution.py",
        "return H * column_signs(H)",
        "return H / column_signs(H)",
        _SIGNS,
    ),
    Equivalent(
        "solvers/rules.py",
        "if z[a] * sigma[k] <= 0:",
        "if z[a] / sigma[k] <= 0:",
        _SIGMA,
    ),
    Equivalent(
        "solvers/rules.py",
        "z[a] = psi[order[a]] - penalty * sigma[order[a]]",
        "z[a] = psi[order[a]] - penalty / sigma[order[a]]",
        _SIGMA,
    ),
    Equivalent(
        "stack/stack.py",
        "kept, facts, mask = hide_missing(kept, None, shared=False)",
        "kept, facts, mask = hide_missing(kept, None, shared=True)",
        "kept is a CSR matrix, of which shared says nothing",
    ),
    Equivalent(
        "stack/stack.py",
        "return int(self._storage.shape[-1])",
        "return int(self._storage.shape[1])",
        _LAST,
    ),
]


def reason_of(file: str, mutant: Mutant) -> str | None:
    """Return why a mutant cannot change a result; None if it can."""
    for one in EQUIVALENT:
        same = (one.file, one.was, one.becomes) == (file, mutant.was, mutant.becomes)
        if same and one.function in ("", mutant.function):
            return one.reason
    return None
