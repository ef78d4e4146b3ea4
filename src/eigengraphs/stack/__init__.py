"""Stacks of vertex-aligned graphs."""

from eigengraphs.stack.stack import GraphStack

__all__ = ["GraphStack"]
