"""Graph matching: put graphs whose vertices are in unknown orders into one order."""

from eigengraphs.alignment.result import Alignment
from eigengraphs.alignment.to_reference import align

__all__ = ["Alignment", "align"]
