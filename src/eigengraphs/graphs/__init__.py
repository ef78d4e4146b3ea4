"""Stacks of vertex-aligned graphs."""

from eigengraphs.graphs.stack import GraphStack

__all__ = ["GraphStack"]
