"""The command line: one thin file a command."""

from eigengraphs.cli.main import main

__all__ = ["main"]
