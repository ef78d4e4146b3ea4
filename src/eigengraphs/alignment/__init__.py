"""Graph matching: put graphs whose vertices are in unknown orders into one order."""

from eigengraphs.alignment.align import align
from eigengraphs.alignment.result import Alignment

__all__ = ["Alignment", "align"]
