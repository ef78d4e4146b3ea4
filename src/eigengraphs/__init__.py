"""Joint embedding of graphs: many graphs on one vertex set, embedded together."""

from eigengraphs.graphs import GraphStack

__all__ = ["GraphStack"]
__version__ = "0.1.0.dev0"
