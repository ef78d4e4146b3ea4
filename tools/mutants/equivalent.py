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

_SORTED = "falls are sorted and finalists only grow: who comes later is left out as well"

EQUIVALENT = [
    Equivalent(
        "solvers/components.py",
        "return (H * signs, G * signs)",
        "return (H * signs, G / signs)",
        _SIGNS,
    ),
    Equivalent(
        "solvers/components.py",
        "return (H * signs, G * signs)",
        "return (H / signs, G * signs)",
        _SIGNS,
    ),
    Equivalent(
        "solvers/components.py",
        "return H * column_signs(H)",
        "return H / column_signs(H)",
        _SIGNS,
    ),
    Equivalent(
        "solvers/rule_kernels.py",
        "if z[a] * sigma[k] <= 0:",
        "if z[a] / sigma[k] <= 0:",
        _SIGMA,
    ),
    Equivalent(
        "solvers/rule_kernels.py",
        "if a == first or beta[k] * sigma[k] <= 0:",
        "if a == first or beta[k] / sigma[k] <= 0:",
        _SIGMA,
    ),
    Equivalent(
        "solvers/rule_kernels.py",
        "if z[a] * sigma[order[a]] > 0:",
        "if z[a] / sigma[order[a]] > 0:",
        _SIGMA,
    ),
    Equivalent(
        "solvers/rule_kernels.py",
        "z[a] = psi[order[a]] - penalty * sigma[order[a]]",
        "z[a] = psi[order[a]] - penalty / sigma[order[a]]",
        _SIGMA,
    ),
    Equivalent(
        "solvers/deflation.py",
        "T = linalg.solve_triangular(lower, Psi[:, :d].T, lower=True, unit_diagonal=True).T",
        "T = linalg.solve_triangular(lower, Psi[:, :d].T, lower=True, unit_diagonal=False).T",
        "the diagonal of lower is exactly 1, whether it is read or not",
    ),
    Equivalent(
        "solvers/start.py",
        "n = operator.shape[0]",
        "n = operator.shape[1]",
        "the operators are square: both are made with the shape (n, n)",
    ),
    Equivalent(
        "solvers/subspace.py",
        "resume = resume or Fit(nothing, np.zeros((m, 0)), (), 0)",
        "resume = resume or Fit(nothing, np.zeros((m, 1)), (), 0)",
        "find_blocks takes as many columns as there are stages, none",
    ),
    Equivalent(
        "solvers/subspace.py",
        "resume = resume or Fit(nothing, np.zeros((m, 0)), (), 0)",
        "resume = resume or Fit(nothing, np.zeros((m, 0)), (), 1)",
        "find_blocks does not read the passes of the fit that it resumes",
    ),
    Equivalent(
        "solvers/rule_kernels.py",
        "break",
        "continue",
        "nothing changes in a turn without a component to enter, so that none enters in the next",
        "_active_set",
    ),
    Equivalent(
        "solvers/rule_kernels.py",
        "break",
        "continue",
        "nothing changes in a turn without a component to enter, so that none enters in the next",
        "_pursue_nonnegative",
    ),
    Equivalent(
        "solvers/core_kernels.py",
        "break",
        "continue",
        "y and w stay as they are, and so does what is computed of them in the next step",
        "raise_quotients",
    ),
    Equivalent("solvers/core.py", "break", "continue", _SORTED, "_explore"),
    Equivalent("solvers/ruled.py", "break", "continue", _SORTED, "_best_of"),
    Equivalent(
        "solvers/spectral.py",
        "floor = max((100 * n * _EPS) ** 2 * total, 4 * noise, rounding_share(n) ** 2 * total)",
        "floor = max((100 / n * _EPS) ** 2 * total, 4 * noise, rounding_share(n) ** 2 * total)",
        "rounding_share(n) is 100 n eps: the last of the three is what the first was",
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
