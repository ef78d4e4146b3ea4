"""Graphs to try things on, bundled with the package."""

from eigengraphs.datasets.mice import Mice, MouseRegions, load_mice

__all__ = ["Mice", "MouseRegions", "load_mice"]
