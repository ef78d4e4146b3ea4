"""The command line: each command from its options to its results, and their shared parts."""

from eigengraphs.cli.main import main

__all__ = ["main"]
