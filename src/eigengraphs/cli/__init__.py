"""The command line: each command from its options to its results, and what they share."""

from eigengraphs.cli.main import main

__all__ = ["main"]
