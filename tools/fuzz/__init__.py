"""Fuzzing of everything that reads a file: ``python -m tools.fuzz --seconds 600``.

Every reader gets files that the library's own writers made, changed at random; what comes out must
be a result or one of the library's own errors, which names the file. The record is
tests/fuzz/RESULTS.md.
"""
