"""Mutation testing of the core: ``python -m tools.mutants``; the record is tests/mutation/RESULTS.md."""
