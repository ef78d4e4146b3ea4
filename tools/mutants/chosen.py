"""Which files are mutated, and the fast tests that are asked about each."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SOURCE", "TESTS"]

SOURCE = Path("src/eigengraphs")
_SOLVERS = "tests/solvers/test_{}.py"


def _solvers(*names: str) -> list[str]:
    return [_SOLVERS.format(name) for name in names]


_STACK = [
    "tests/stack/test_stack.py", "tests/stack/test_stack_contract.py",
    "tests/stack/test_construction.py", "tests/stack/test_bad_input.py",
    "tests/stack/test_transforms.py", "tests/stack/test_hidden_entries.py",
]  # fmt: skip
_OPERATORS = ["tests/operators/test_contract.py", "tests/operators/test_blocked.py"]
_OBSERVED = ["tests/operators/test_observed.py", "tests/stack/test_hidden_entries.py"]

#: In the order in which they are run; the first failure ends it. Tests of whole fits are left out:
#: they take a hundred times as long.
TESTS: dict[str, list[str]] = {
    "operators/block_by_block.py": ["tests/operators/test_blocked.py"],
    "operators/csr.py": _OPERATORS,
    "operators/degrees.py": ["tests/variations/test_degree_corrected.py"],
    "operators/dense.py": _OPERATORS,
    "operators/means.py": [*_OBSERVED, *_solvers("masked")],
    "operators/observed.py": [*_OBSERVED, *_solvers("masked")],
    "operators/treated.py": _OPERATORS,
    "solvers/algorithm1.py": [*_solvers("algorithm1"), "tests/embedding/test_degenerate.py"],
    "solvers/ascent.py": _solvers("geometry", "core"),
    "solvers/basis.py": _solvers("basis", "subspace"),
    "solvers/core.py": _solvers("core", "subspace"),
    "solvers/full_space.py": _solvers("full_space", "masked"),
    "solvers/geometry.py": _solvers("geometry", "core"),
    "solvers/metric.py": _solvers("core", "basis"),
    "solvers/moments.py": ["tests/store/test_partial_fit.py"],
    "solvers/solution.py": [*_solvers("algorithm1"), "tests/properties/test_fits.py"],
    "solvers/refine.py": _solvers("refine"),
    "solvers/rules.py": _solvers("rules"),
    "solvers/subspace.py": _solvers("subspace", "degenerate_stacks"),
    "stack/stack.py": _STACK,
}
