"""Mutation testing of the core: ``python -m tools.mutants``; see tests/mutation/RESULTS.md."""
