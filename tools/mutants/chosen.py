"""Which files are mutated, and the fast tests that are asked about each."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SOURCE", "TESTS"]

SOURCE = Path("src/eigengraphs")
_SOLVERS = "tests/solvers/test_{}.py"


def _solvers(*names: str) -> list[str]:
    return [_SOLVERS.format(name) for name in names]


_STACK = [
    "tests/graphs/test_stack_details.py",
    "tests/graphs/test_stack.py", "tests/graphs/test_stack_contract.py",
    "tests/graphs/test_construction.py", "tests/graphs/test_bad_input.py",
    "tests/graphs/test_transforms.py", "tests/graphs/test_weights.py",
    "tests/graphs/test_hidden_entries.py",
]  # fmt: skip

#: In the order in which they are run; the first failure ends it. Tests of whole fits are left out:
#: they take a hundred times as long.
TESTS: dict[str, list[str]] = {
    "solvers/algorithm1.py": _solvers("first_order_details", "step_lengths", "algorithm1"),
    "solvers/ascent.py": _solvers("ascent", "at_rounding", "rounding_bounds", "rules"),
    "solvers/block.py": _solvers("block_rules", "core_details"),
    "solvers/blocks.py": _solvers("core_details"),
    "solvers/components.py": _solvers("first_order_details", "core_details", "algorithm1"),
    "solvers/core.py": _solvers("core", "core_parts"),
    "solvers/core_kernels.py": _solvers("packing", "core", "quotient"),
    "solvers/curvature.py": _solvers("first_order_details", "curvature", "algorithm1"),
    "solvers/deflated.py": _solvers("deflation", "products", "gradients_outside"),
    "solvers/deflation.py": _solvers("basis_details", "deflation", "core", "core_parts"),
    "solvers/directions.py": _solvers("basis_details", "products", "bounds_met"),
    "solvers/loadings.py": _solvers("basis_details", "core_details", "loadings"),
    "solvers/packing.py": _solvers("packing", "core"),
    "solvers/products.py": _solvers("products", "gradients_outside"),
    "solvers/quotient.py": _solvers(
        "at_rounding", "rounding_bounds", "quotient", "core", "core_parts"
    ),
    "solvers/residuals.py": _solvers("first_order_details", "algorithm1"),
    "solvers/rule_kernels.py": _solvers("rule_steps", "rules", "rule_leaving"),
    "solvers/ruled.py": _solvers("ruled_details"),
    "solvers/rules.py": _solvers("rules", "rule_steps", "ruled_details", "bounds_met"),
    "solvers/spectral.py": _solvers("spectral_details", "basis_details"),
    "solvers/start.py": _solvers("first_order_details", "algorithm1"),
    "solvers/subspace.py": _solvers("gradients_outside", "first_order_details", "blocks_in_turn"),
    "solvers/symmetric.py": _solvers("basis_details", "gradients_outside"),
    "solvers/whole.py": _solvers("basis_details", "whole_details"),
    "graphs/stack.py": _STACK,
    "graphs/stack_facts.py": _STACK,
    "graphs/stack_parts.py": [_STACK[0], *_STACK[5:], *_STACK[1:5]],
    "graphs/stack_transforms.py": [_STACK[0], *_STACK[5:], *_STACK[1:5]],
    "graphs/stack_vertices.py": [_STACK[0], *_STACK[5:], *_STACK[1:5]],
}
