"""Graph matching: put graphs whose vertices are in unknown orders into one order."""

from eigengraphs.alignment.align_graphs import Alignment, align

__all__ = ["Alignment", "align"]
