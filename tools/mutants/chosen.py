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

#: In the order in which they are run; the first failure ends it.
TESTS: dict[str, list[str]] = {
    "solvers/algorithm1.py": _solvers("first_order_details", "step_lengths", "algorithm1"),
    "solvers/ascent.py": [
        *_solvers("ascent", "at_rounding", "rules"),
        "tests/variations/test_ruled_loadings.py",
    ],
    "solvers/block.py": _solvers(
        "block_rules", "core_details", "subspace", "subspace_rounds", "directed_rounds"
    ),
    "solvers/blocks.py": _solvers("core_details", "subspace", "subspace_rounds", "directed_rounds"),
    "solvers/components.py": _solvers("first_order_details", "subspace", "algorithm1", "products"),
    "solvers/core.py": _solvers("core", "core_parts", "subspace"),
    "solvers/core_kernels.py": _solvers("packing", "core", "quotient"),
    "solvers/curvature.py": _solvers("first_order_details", "curvature", "algorithm1"),
    "solvers/deflated.py": _solvers("deflation", "products", "subspace"),
    "solvers/deflation.py": _solvers("basis_details", "deflation", "core", "subspace"),
    "solvers/directions.py": _solvers("basis_details", "subspace", "subspace_rounds", "products"),
    "solvers/loadings.py": _solvers("basis_details", "core_details", "loadings"),
    "solvers/loadings_each.py": _solvers("masked_parts", "masked"),
    "solvers/packing.py": _solvers("packing", "core"),
    "solvers/products.py": _solvers("products", "subspace"),
    "solvers/quotient.py": _solvers("at_rounding", "quotient", "core", "core_parts"),
    "solvers/residuals.py": _solvers("first_order_details", "algorithm1"),
    "solvers/rule_kernels.py": _solvers("rule_steps", "rules"),
    "solvers/ruled.py": [
        *_solvers("ruled_details", "rules"),
        "tests/variations/test_ruled_loadings.py",
    ],
    "solvers/rules.py": [*_solvers("rules"), "tests/variations/test_ruled_loadings.py"],
    "solvers/spectral.py": [
        *_solvers("spectral_details", "basis_details"),
        "tests/variations/test_shared_and_class.py",
    ],
    "solvers/start.py": _solvers("first_order_details", "algorithm1"),
    "solvers/subspace.py": _solvers(
        "gradients_outside", "first_order_details", "subspace", "subspace_rounds"
    ),
    "solvers/symmetric.py": _solvers(
        "basis_details", "gradients_outside", "subspace", "subspace_rounds", "products"
    ),
    "solvers/whole.py": _solvers("basis_details", "whole_details", "subspace", "subspace_rounds"),
    "graphs/stack.py": _STACK,
    "graphs/stack_facts.py": _STACK,
    "graphs/stack_parts.py": [_STACK[0], *_STACK[5:], *_STACK[1:5]],
    "graphs/stack_transforms.py": [_STACK[0], *_STACK[5:], *_STACK[1:5]],
    "graphs/stack_vertices.py": [_STACK[0], *_STACK[5:], *_STACK[1:5]],
}
