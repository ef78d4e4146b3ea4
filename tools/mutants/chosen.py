"""Which files are mutated, and the fast tests that are asked about each."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SOURCE", "TESTS"]

SOURCE = Path("src/eigengraphs")
_SOLVERS = "tests/solvers/test_{}.py"


def _solvers(*names: str) -> list[str]:
    return [_SOLVERS.format(name) for name in names]


_STACK = [
    "tests/stack/test_stack_details.py",
    "tests/stack/test_stack.py", "tests/stack/test_stack_contract.py",
    "tests/stack/test_construction.py", "tests/stack/test_bad_input.py",
    "tests/stack/test_transforms.py", "tests/stack/test_weights.py",
    "tests/stack/test_hidden_entries.py",
]  # fmt: skip

#: In the order in which they are run; the first failure ends it. Tests of whole fits are left out:
#: they take a hundred times as long.
TESTS: dict[str, list[str]] = {
    "solvers/algorithm1.py": _solvers("algorithm1"),
    "solvers/ascent.py": _solvers("ascent", "at_rounding", "rounding_bounds", "rules"),
    "solvers/block.py": _solvers("block_rules", "core_details"),
    "solvers/blocks.py": _solvers("core_details"),
    "solvers/components.py": _solvers("components", "core_details", "algorithm1"),
    "solvers/core.py": _solvers("core", "core_parts"),
    "solvers/core_kernels.py": _solvers("packing", "core", "quotient"),
    "solvers/deflated.py": _solvers("deflation", "products", "gradients_outside"),
    "solvers/deflation.py": _solvers("basis_details", "deflation", "core", "core_parts"),
    "solvers/directions.py": _solvers("basis_details", "products", "bounds_met"),
    "solvers/loadings.py": _solvers("basis_details", "core_details", "loadings"),
    "solvers/packing.py": _solvers("packing", "core"),
    "solvers/products.py": _solvers("products", "gradients_outside"),
    "solvers/quotient.py": _solvers(
        "at_rounding", "rounding_bounds", "quotient", "core", "core_parts"
    ),
    "solvers/rule_kernels.py": _solvers("rule_steps", "rules", "rule_leaving"),
    "solvers/ruled.py": _solvers("ruled_details"),
    "solvers/rules.py": _solvers("rules", "rule_steps", "ruled_details", "bounds_met"),
    "solvers/spectral.py": _solvers("spectral_details", "basis_details"),
    "solvers/start.py": _solvers("algorithm1"),
    "solvers/subspace.py": _solvers("gradients_outside", "components", "blocks_in_turn"),
    "solvers/symmetric.py": _solvers("basis_details", "gradients_outside"),
    "solvers/whole.py": _solvers("basis_details", "whole_details"),
    "stack/stack.py": _STACK,
}
